"""The program as a whole: help, list, and how it gets along with pipes and terminals."""

import fcntl
import os
import pty
import re
import shutil
import struct
import subprocess
import termios

from program_case import CHAIN, PATTERNS, PROGRAM, ProgramCase, main

COMMANDS = ("list", "compile", "check", "export", "simulate", "run", "compare", "slack", "offload",
            "convert", "calibrate", "report", "view")


class Program(ProgramCase):
    def test_help(self):
        out = self.good("--help")
        self.assertEqual(out, self.good("-h"))
        self.assertEqual(out, self.good("help"))
        for command in COMMANDS:
            self.assertIn(f"\n  {command} ", out)
            text = self.good(command, "--help")
            self.assertIn(f"slackline {command}", text)
            self.assertIn("--json", text)
            self.assertEqual(text, self.good("help", command))
            for line in text.partition("Examples:")[0].splitlines():
                # A word of its own line may be longer.
                self.assertTrue(len(line) <= 80 or " " not in line.strip(), line)
            # Explanations stand in one column, whatever an option's name is written with.
            for name, gap in re.findall(r"^(  (?:-\S|[A-Z])\S*(?: \S+)*)( {2,})\S", text, re.M):
                self.assertEqual(len(name + gap), 30, name)
        self.assertLessEqual(max(map(len, out.splitlines())), 80)

    def test_version(self):
        self.assertRegex(self.good("--version"), r"^slackline \d+\.\d+\.\d+ \(with(out)? SimGrid\)\n$")

    def test_commands_that_are_not_there(self):
        for words in (["runn"], ["offlaod"], ["simulat"], [""], ["help", "simulat"]):
            line = self.bad(*words)
            for command in COMMANDS:
                self.assertIn(command, line)
        self.assertIn("before the command", self.bad("--json", "compile", CHAIN))
        self.bad()

    def test_options_that_are_not_there(self):
        for given, meant in (("--platfrom", "--platform"), ("--sede=3", "--seed")):
            self.assertIn(f"'{given}' is not an argument of it: did you mean '{meant}'?; see ",
                          self.bad("simulate", CHAIN, given))
        for given in ("--nothing-like-it", "-x", "fractus"):
            self.assertIn(f"'{given}' is not an argument of it; see ",
                          self.bad("simulate", CHAIN, given))

    def test_lists(self):
        topics = [entry["name"] for entry in self.document("list")["topics"]]
        self.assertEqual(len(self.good("list").splitlines()), len(topics))
        self.assertLessEqual({"patterns", "options", "platforms", "networks", "figures", "engines",
                              "transports", "formats"}, set(topics))
        for topic in topics:
            lines = self.good("list", topic).splitlines()
            entries = self.document("list", topic)[topic]
            self.assertEqual(len(lines), max(1, len(entries)), topic)
            for line, entry in zip(lines, entries):
                self.assertTrue(line.startswith(entry["name"]), line)
        names = [e["name"] for e in self.document("list", "options")["options"]]
        self.assertEqual(len(names), len(set(names)))
        names = [e["name"] for e in self.document("list", "patterns")["patterns"]]
        self.assertEqual(names[:len(PATTERNS)], list(PATTERNS))
        self.assertEqual(len(names), len(set(names)))
        self.assertTrue({"allreduce", "barrier", "call-return", "broadcast-buffer"} < set(names))
        self.assertIn("fractus", self.good("list", "platforms"))

    def test_options_of_a_pattern(self):
        everything = {e["name"] for e in self.document("list", "options")["options"]}
        for pattern in self.document("list", "patterns")["patterns"]:
            options = self.document("list", "options", pattern["name"])["options"]
            names = [e["name"] for e in options]
            self.assertEqual(len(names), len(set(names)), pattern)
            self.assertLessEqual(set(names), everything)
            self.assertEqual(len(self.good("list", "options", pattern["name"]).splitlines()),
                             len(names))
        ways = {p: e["values"] for p in ("call", "queue")
                for e in self.document("list", "options", p)["options"] if e["name"] == "via"}
        self.assertEqual(ways, {"call": "write|send", "queue": "rdma|am"})

    def test_figures_of_a_network(self):
        everything = {e["name"] for e in self.document("list", "figures")["figures"]}
        for network in self.document("list", "networks")["networks"]:
            figures = self.document("list", "figures", network["name"])["figures"]
            names = [e["name"] for e in figures]
            self.assertEqual(len(names), len(set(names)), network)
            self.assertLessEqual(set(names), everything)
            for entry in figures:
                self.assertTrue(entry["summary"] and entry["values"], entry)
        # A preset takes what its network does.
        self.assertEqual(self.good("list", "figures", "fractus"), self.good("list", "figures", "star"))
        self.assertIn("unknown network or platform 'ring'", self.bad("list", "figures", "ring"))

    def test_every_listed_platform_can_be_had(self):
        for entry in self.document("list", "platforms")["platforms"]:
            self.document("simulate", CHAIN, "--platform", entry["name"])

    def test_a_reader_that_goes_away_is_no_error(self):
        # More than a pipe holds, so that the writer is sure to notice.
        command = [PROGRAM, "export", "chain:ranks=50,bytes=1MiB,block=1KiB", "--to", "text"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            self.assertEqual(process.stdout.readline(), b"slackline schedule 1\n")
            process.stdout.close()
            self.assertEqual(process.stderr.read(), b"")
            self.assertEqual(process.wait(), 0)

    def test_a_full_disk_is_an_error(self):
        with open("/dev/full", "w") as full:
            done = subprocess.run([PROGRAM, "list", "patterns"], stdout=full,
                                  stderr=subprocess.PIPE)
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"slackline: standard output cannot be written: ", done.stderr)

    def test_a_file_that_is_none(self):
        self.assertIn("ranks", self.good("compile", CHAIN, "-o", "/dev/null"))
        self.assertTrue(os.path.exists("/dev/null"))

    def on_terminal(self, *arguments, columns=None, locale="C.UTF-8"):
        """What it writes to a terminal as its standard error."""
        ours, theirs = pty.openpty()
        if columns is not None:
            fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        with subprocess.Popen([PROGRAM, *arguments], stdout=subprocess.DEVNULL, stderr=theirs,
                              cwd=self.folder, env=dict(os.environ, LC_ALL=locale)) as process:
            os.close(theirs)
            written = b""
            while True:
                try:
                    piece = os.read(ours, 4096)
                except OSError:
                    break
                if not piece:
                    break
                written += piece
            process.wait()
        os.close(ours)
        return written.decode()

    def test_phases_are_for_terminals(self):
        for engine in ("analytic", self.document("simulate", CHAIN)["engine"]):
            written = self.on_terminal("simulate", CHAIN, "--prove", "-e", engine)
            for phase in ("compiling", "proving", "simulating"):
                self.assertIn(f"{phase}…\r\x1b[K", written)
            self.assertTrue(written.endswith("\x1b[K"), written)
            self.assertNotIn("\n", written)
    def test_progress_fits_the_terminal(self):
        arguments = ["simulate", CHAIN, "-e", "event", "--noise", "exponential,mean=1us", "--samples", "300"]
        for columns in (200, 40, 12, 3):
            for locale in ("C.UTF-8", "C"):
                written = self.on_terminal(*arguments, columns=columns, locale=locale)
                shown = written.split("\r\x1b[K")
                self.assertIn("simulating", "".join(shown) if columns > 14 else "simulating")
                self.assertLess(max(map(len, shown)), columns, shown)
                self.assertEqual(written.isascii(), locale == "C", written)
        self.assertIn("[===", self.on_terminal(*arguments, columns=200))

    def test_the_environment_changes_no_byte(self):
        """Whatever the locale, and without a home, a terminal's kind or a path."""
        commands = (["simulate", "chain:ranks=40,bytes=1MiB", "-p", "fractus"],
                    ["slack", CHAIN, "--json"], ["list", "platforms"], ["help", "run"],
                    ["simulate", CHAIN, "--delay", "op=99,by=1.5us"])

        def said(command, environment):
            done = subprocess.run([PROGRAM, *command], cwd=self.folder, capture_output=True,
                                  env=environment)
            return done.returncode, done.stdout, done.stderr

        locales = ["C", "POSIX", "C.UTF-8", "tr_TR.UTF-8", "de_DE.ISO-8859-1", "no such locale", ""]
        made = {}
        if shutil.which("localedef"):  # one whose decimal point is a comma
            made = {"LOCPATH": str(self.folder)}
            subprocess.run(["localedef", "-i", "de_DE", "-f", "UTF-8", str(self.folder / "de_DE.UTF-8")],
                           capture_output=True)
            locales.append("de_DE.UTF-8")
        for command in commands:
            expected = said(command, dict(os.environ))
            for locale in locales:
                self.assertEqual(said(command, {"LC_ALL": locale, **made}), expected, locale)
            self.assertEqual(said(command, {"TERM": "dumb", "NO_COLOR": "1", "COLUMNS": "40"}), expected)

    def test_an_error_stands_on_a_terminal(self):
        written = self.on_terminal("simulate", "chain:ranks=2,bytes=1MiB", "--delay", "op=99,by=1us")
        self.assertEqual(written.count("\n"), 1)
        self.assertIn("\x1b[Kslackline: ", written)


if __name__ == "__main__":
    main()
