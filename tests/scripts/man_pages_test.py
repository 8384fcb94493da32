"""Man pages say what the program says of itself: each command, each option, and what they mean.

Called with the generator, and with the program if there is one.
"""

import gzip
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

GENERATOR = PROGRAM = None

TOP = """Slackline: make and mend things.

usage: slackline COMMAND [SCHEDULE] [options]

  mend       put together
  make       what was not there

SCHEDULE is a file,
or - for standard input.

exit codes: 0 done, 1 the answer is no,
70 a defect
"""
MEND = """put together
Usage: slackline mend [OPTIONS] THING

Positionals:
  THING REQUIRED              what is broken

Options:
  -h,--help                   show this and end
  -g,--glue paper|wood|everything-else
                              which glue; \\n is a new line
  --slowly                    .5 of the pace

How the ranks meet:
  --host ADDRESS              where the others reach
                              this one

Examples:
  slackline mend cup -g wood
"""
MAKE = """what was not there
Behind its own arguments: -- COMMAND
Usage: slackline make [OPTIONS]

Options:
  -h,--help                   show this and end

"""
MEND_PAGE = r""".TH SLACKLINE\-MEND 1 "" "slackline 1.2" "Slackline"
.nh
.ad l
.SH NAME
slackline\-mend \- put together
.SH SYNOPSIS
\fBslackline mend\fR \fI[OPTIONS]\fR \fITHING\fR
.SH ARGUMENTS
.TP
\fITHING\fR
what is broken
.SH OPTIONS
.TP
\fB\-h\fR, \fB\-\-help\fR
show this and end
.TP
\fB\-g\fR, \fB\-\-glue\fR \fIpaper|wood|everything\-else\fR
which glue; \en is a new line
.TP
\fB\-\-slowly\fR
\&.5 of the pace
.SS How the ranks meet
.TP
\fB\-\-host\fR \fIADDRESS\fR
where the others reach this one
.SH EXAMPLES
.nf
slackline mend cup \-g wood
.fi
.SH SEE ALSO
.BR slackline (1),
which has the exit codes.
.PP
The package slackline\-doc has a page on this command:
/usr/share/doc/slackline/docs/commands/mend.md
"""


def pages_in(folder):
    return {path.name: gzip.decompress(path.read_bytes()).decode() for path in folder.iterdir()}


class ManPages(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def generate(self, program):
        pages = self.folder / "man"
        done = subprocess.run([sys.executable, GENERATOR, program, pages], capture_output=True,
                              text=True)
        return done, pages

    def generate_from(self, answers):
        """By a program that answers so: by the words it is called with."""
        for words, answer in answers.items():
            (self.folder / words).write_text(answer)
        program = self.folder / "program"
        program.write_text(f'#!/bin/sh\nexec cat "{self.folder}/$*"\n')
        program.chmod(0o755)
        return self.generate(program)

    def answers(self, **changed):
        answers = {"--version": "slackline 1.2 (with all)\n", "--help": TOP, "mend --help": MEND,
                   "make --help": MAKE}
        return answers | {words.replace("_", " "): text for words, text in changed.items()}

    def test_a_page_to_the_letter(self):
        done, pages = self.generate_from(self.answers())
        self.assertEqual(done.returncode, 0, done.stderr)
        written = pages_in(pages)
        self.assertEqual(set(written), {"slackline.1.gz", "slackline-mend.1.gz", "slackline-make.1.gz"})
        self.assertEqual(written["slackline-mend.1.gz"], MEND_PAGE)
        self.assertIn("\nBehind its own arguments: \\-\\- COMMAND\n", written["slackline-make.1.gz"])
        self.assertIn(".TP\n\\fB70\\fR\na defect\n", written["slackline.1.gz"])

    def test_the_same_bytes_and_no_page_of_before(self):
        _, pages = self.generate_from(self.answers())
        first = {path.name: path.read_bytes() for path in pages.iterdir()}
        (pages / "slackline-gone.1.gz").write_bytes(b"")
        self.generate_from(self.answers())
        self.assertEqual({path.name: path.read_bytes() for path in pages.iterdir()}, first)

    def test_help_of_another_form_is_an_error(self):
        for changed, why in [
                ({"mend --help": MEND.replace("Usage:", "usage:")}, "mend: no 'Usage: '"),
                ({"mend --help": MEND.replace("Options:", "Choices:")}, "mend: headings"),
                ({"mend --help": MEND.replace("  --slowly", "--slowly")}, "mend: '--slowly"),
                ({"--help": TOP.replace("exit codes: ", "")}, "'exit codes: '"),
                ({"--help": TOP.replace("  mend ", "mend ")}, "third paragraph")]:
            with self.subTest(why=why):
                done, _ = self.generate_from(self.answers() | changed)
                self.assertEqual(done.returncode, 1)
                self.assertIn(why, done.stderr)

    def test_each_option_of_the_program_is_there(self):
        if PROGRAM is None:
            self.skipTest("there is no program in this build")
        done, pages = self.generate(PROGRAM)
        self.assertEqual(done.returncode, 0, done.stderr)
        written = pages_in(pages)
        self.assertEqual(len(written), 1 + len(re.findall(r"^\\fBslackline\\-[a-z]+\\fR\(1\)$",
                                                          written["slackline.1.gz"], re.M)))
        for name in set(written) - {"slackline.1.gz"}:
            command = name.removeprefix("slackline-").removesuffix(".1.gz")
            helped = subprocess.run([PROGRAM, command, "--help"], capture_output=True, text=True,
                                    check=True).stdout
            options = re.findall(r"^  (?:-[a-z],)?(--[a-z][a-z-]+)", helped, re.M)
            shown = re.findall(r"^\\fB.*?\\fR(?= \\fI|$)", written[name], re.M)
            shown = [re.search(r"--[a-z-]+", line.replace("\\-", "-")).group() for line in shown
                     if "\\-\\-" in line]
            with self.subTest(command=command):
                self.assertIn("--help", options)
                self.assertEqual(shown, options)

    def test_man_has_nothing_to_say(self):
        if PROGRAM is None or shutil.which("man") is None:
            self.skipTest("no man here (Debian: man-db), or no program in this build")
        _, pages = self.generate(PROGRAM)
        for path in sorted(pages.iterdir()):
            shown = subprocess.run(["man", "--warnings", "-E", "UTF-8", "-l", path], text=True,
                                   capture_output=True, check=True)
            with self.subTest(page=path.name):
                self.assertEqual(shown.stderr, "")


if __name__ == "__main__":
    GENERATOR = sys.argv.pop(1)
    if len(sys.argv) > 1 and pathlib.Path(sys.argv[1]).is_file():
        PROGRAM = sys.argv.pop(1)
    unittest.main()
