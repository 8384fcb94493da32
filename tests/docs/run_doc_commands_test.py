"""run_doc_commands.py runs what a document shows and fails when a command does."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import textwrap
import unittest

SCRIPT = pathlib.Path(__file__).with_name("run_doc_commands.py")

# Ends with its first argument; `keep FILE` makes a file, `need FILE…` ends with 1 without them,
# `print LINE…` prints them.
FAKE = """#!/bin/bash
echo "$@" >> "$(dirname "$(readlink -f "$0")")/log"
case "$1" in
  keep) touch "$2" ;;
  print) shift; printf '%s\\n' "$@" ;;
  need) shift; for f in "$@"; do [ -e "$f" ] || exit 1; done ;;
  *) exit "$1" ;;
esac
"""


class RunDocCommands(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.root = pathlib.Path(self.folder.name)
        self.program = self.root / "fake"
        self.program.write_text(FAKE)
        self.program.chmod(0o755)

    def run_documents(self, *texts):
        """Exit code, output, and the arguments of each call of the program."""
        names = []
        for i, text in enumerate(texts):
            names.append(self.root / f"{i}.md")
            names[-1].write_text(textwrap.dedent(text))
        done = subprocess.run([sys.executable, SCRIPT, self.program, *names],
                              capture_output=True, text=True)
        log = self.root / "log"
        return done.returncode, done.stdout, log.read_text().splitlines() if log.exists() else []

    def test_commands_run_in_order_in_one_folder(self):
        code, output, calls = self.run_documents("""
            Text with `$ slackline 9` in it.
            ```console
            $ slackline keep a
            $ slackline need a
            $ scripts/test
            ```
            ```sh
            $ slackline 8
            ```
            ```console
            $ build/release/slackline need \\
                a
            ```
            """)
        self.assertEqual(code, 0, output)
        self.assertEqual(calls, ["keep a", "need a", "need a"])
        self.assertIn("3 commands run, 0 failures", output)

    def test_launchers_run_where_they_are(self):
        launcher = self.root / "mpirun"
        launcher.write_text('#!/bin/bash\n[ "$1" = -n ] && shift 2\n"$@"; "$@"\n')
        launcher.chmod(0o755)
        document = """
            ```console
            $ mpirun -n 2 slackline 0
            $ srun slackline 0
            ```
            """
        path = os.environ["PATH"]
        for found, ran in ((f"{self.root}:/usr/bin:/bin", 2), ("/nowhere", 0)):
            os.environ["PATH"] = found
            try:
                code, output, calls = self.run_documents(document)
            finally:
                os.environ["PATH"] = path
            self.assertEqual((code, len(calls)), (0, ran), output)
            # There may be one, but no cluster behind it.
            self.assertIn("skipped, no srun: $ srun slackline 0", output)
            (self.root / "log").unlink(missing_ok=True)

    def test_a_failure_is_named(self):
        code, output, calls = self.run_documents("""
            ```console
            $ slackline 0
            $ slackline 4
            $ slackline 0
            ```
            """)
        self.assertEqual(code, 1)
        self.assertIn("0.md:4: ended with 4, expected 0", output)
        self.assertEqual(len(calls), 3)

    def test_a_failure_inside_a_pipe_counts(self):
        self.assertEqual(self.run_documents("```console\n$ slackline 1 | cat\n```\n")[0], 1)

    def test_a_status_may_be_shown(self):
        shown = "```console\n$ slackline 1\n$ echo $?\n{}\n```\n"
        self.assertEqual(self.run_documents(shown.format(1))[0], 0)
        self.assertEqual(self.run_documents(shown.format(2))[0], 1)

    def test_a_status_is_the_one_that_bash_prints(self):
        # (the command, what is asked for, what is shown, whether that is so)
        for command, asked, shown, code in (
                ("slackline 1 | cat", "$?", 1, 1), ("slackline 1 | cat", "$?", 0, 1),
                ("slackline 0 | cat", "$?", 0, 0), ("slackline 0 | slackline 3", "$?", 3, 0),
                ("slackline 3 | slackline 3", "$?", 3, 1),
                ("slackline 1 | cat", "${PIPESTATUS[0]}", 1, 0),
                ("slackline 1 | cat", "${PIPESTATUS[0]}", 0, 1),
                ("slackline 1", "${PIPESTATUS[0]}", 1, 0)):
            with self.subTest(command=command, asked=asked, shown=shown):
                text = f"```console\n$ {command}\n$ echo {asked}\n{shown}\n```\n"
                self.assertEqual(self.run_documents(text)[0], code)

    def test_a_command_that_bash_refuses_fails(self):
        self.assertEqual(self.run_documents("```console\n$ slackline 0 |\n```\n")[0], 1)
        self.assertEqual(self.run_documents("```console\n$ slackline 'a\n```\n")[0], 1)

    def test_what_is_shown_is_what_is_printed(self):
        for shown, code in (("a b\nc\n", 0), ("a b\n", 1), ("a b\n…\n", 0), ("…\nc\n", 0),
                            ("…\nd\n", 1), ("a b\nc\nd\n", 1), ("a.b\nc\n", 1), ("", 0)):
            with self.subTest(shown=shown):
                text = "```console\n$ slackline print 'a b' c\n" + shown + "```\n"
                self.assertEqual(self.run_documents(text)[0], code)

    def test_what_is_measured_may_differ_in_its_numbers_alone(self):
        for printed, code in (("makespan  1.5 ms", 0), ("makespan    12 us", 0), ("makespan  ms", 1),
                              ("finish  1.5 ms", 1), ("makespan  1.5 MiB", 1), ("makespan  2e", 1)):
            with self.subTest(printed=printed):
                text = (f"```console measured\n$ slackline print '{printed}'\nmakespan  3.25 s\n"
                        "```\n")
                self.assertEqual(self.run_documents(text)[0], code)
                exact = text.replace(" measured", "")
                self.assertEqual(self.run_documents(exact)[0], 1)

    def test_documents_do_not_share_a_folder(self):
        keep = "```console\n$ slackline keep a\n```\n"
        need = "```console\n$ slackline need a\n```\n"
        self.assertEqual(self.run_documents(keep, need)[0], 1)

    def test_files_are_written(self):
        code, output, _ = self.run_documents("""
            ```toml file=d/x.toml
            a = 1
            ```
            ```console
            $ slackline need d/x.toml
            ```
            """)
        self.assertEqual(code, 0, output)

    def test_what_could_hide_a_command_fails(self):
        for text in ("```console\n$ sl4ckline\n```\n", "```console\nslackline 0\n```\n",
                     "```console\n$ slackline 0\n"):
            with self.subTest(text=text):
                self.assertEqual(self.run_documents(text)[0], 1)


if __name__ == "__main__":
    unittest.main()
