"""What shells complete: by what the program says, so that each case names only what is tested elsewhere."""

import os
import pathlib
import pty
import select
import shlex
import shutil
import subprocess
import unittest

from program_case import PROGRAM, ProgramCase, main

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "cli/completion/slackline.bash"
# A completion function gets the line, and gives what may stand in the place of its last word.
ASK = """
. {script}
COMP_LINE={line}
COMP_POINT=${{#COMP_LINE}}
_slackline {program}
[ ${{#COMPREPLY[@]}} -eq 0 ] || printf '%s\\n' "${{COMPREPLY[@]}}"
"""


class Completion(ProgramCase):
    def completed(self, line):
        script = ASK.format(script=shlex.quote(str(SCRIPT)), line=shlex.quote(line),
                            program=shlex.quote(str(PROGRAM)))
        done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True,
                              cwd=self.folder)
        self.assertEqual(done.stderr, "")
        return done.stdout.splitlines()

    def listed(self, topic):
        """The names of a list."""
        return [line.split()[0] for line in self.good("list", topic).splitlines()]

    def test_commands(self):
        self.assertEqual(self.completed("slackline sim"), ["simulate"])
        self.assertEqual(self.completed("slackline help va"), ["validate"])
        self.assertEqual(self.completed("slackline simulat.") + self.completed("slackline '"), [])

    def test_options_of_the_command(self):
        self.assertEqual(self.completed("slackline simulate --sa"), ["--samples"])
        self.assertEqual(self.completed("slackline check --sa"), [])

    def test_what_an_option_takes(self):
        platforms = self.listed("platforms") + [name + ":" for name in self.listed("networks")]
        for option in ("--platform ", "-p "):
            self.assertEqual(self.completed("slackline simulate " + option), platforms)
        self.assertEqual(self.completed("slackline simulate -p torus:di"), ["dims="])
        self.assertEqual(self.completed("slackline simulate -p torus:dims=4x4,hop"),
                         ["4x4,hop_latency="])
        self.assertEqual(self.completed("slackline run x --policy re"), ["ready"])
        self.assertEqual(self.completed("slackline simulate -e f"), ["flow", "fluid"])
        self.assertEqual(self.completed("slackline run x -t v"), ["verbs"])
        # What the shell would read in its own way.
        self.assertIn("tcp\\;ofi_rxm", self.completed("slackline run x --transport tc"))
        self.assertEqual(self.completed("slackline export x --to do"), ["dot"])

    def test_lists(self):
        self.assertIn("platforms", self.completed("slackline list "))
        self.assertEqual(self.completed("slackline list options bar"), ["barrier"])
        self.assertEqual(self.completed("slackline list figures tor"), ["torus"])
        self.assertEqual(self.completed("slackline list "),
                         [entry["name"] for entry in self.document("list")["topics"]])

    def test_specs_and_files(self):
        (self.folder / "binary.sched").write_text("")
        self.assertEqual(self.completed("slackline check bina"), ["binary-tree:", "binary.sched"])
        # bash puts what is given in the place of what stands behind the last : or =.
        self.assertEqual(self.completed("slackline check chain:ran"), ["ranks="])
        self.assertEqual(self.completed("slackline check chain:ranks=4,by"), ["4,bytes="])
        # A flag takes nothing, so that a schedule may follow.
        self.assertEqual(self.completed("slackline simulate --json circ"), ["circulant:"])
        self.assertEqual(self.completed("slackline simulate --trace bina"), ["binary.sched"])
        (self.folder / "bin").mkdir()
        self.assertIn("bin/", self.completed("slackline check bi"))


class Shells(ProgramCase):
    """What is typed, with tabs, comes to a command that runs: in a terminal."""

    def environment(self):
        return {"PATH": f"{PROGRAM.parent}:/usr/bin:/bin", "TERM": "dumb", "PS1": "$ ",
                "INPUTRC": "/dev/null", "HOME": str(self.folder), "LC_ALL": "C.UTF-8"}

    def expect(self, terminal, text):
        """Reads on until the shell has printed the text."""
        seen = b""
        while text not in seen:
            ready, _, _ = select.select([terminal], [], [], 120)
            self.assertTrue(ready, f"{text} did not come, but {seen}")
            try:
                seen += os.read(terminal, 4096)
            except OSError:  # as a terminal's end is told
                self.fail(f"{text} did not come, but {seen}")

    def complete_in(self, shell, *arguments, load):
        if shutil.which(shell) is None:
            self.skipTest(f"no {shell} (Debian: {shell})")
        child, terminal = pty.fork()
        if child == 0:
            os.chdir(self.folder)
            os.execvpe(shell, [shell, *arguments, "-i"], self.environment())
        self.addCleanup(os.waitpid, child, 0)
        self.addCleanup(os.close, terminal)
        for typed, comes in [
                (f"{load}; echo lo''aded\n", b"loaded"), ("slackline compi\t", b"le "),
                ("bino\t", b"mial-"), ("pi\t", b"peline:"), ("ran\t", b"ks="), ("2,byt\t", b"es="),
                ("1KiB,blo\t", b"ck="), ("1KiB --jso\t", b"n "),
                ("\n", b'"schedule":"binomial-pipeline:ranks=2,bytes=1KiB,block=1KiB"'),
                ("exit\n", b"exit")]:
            os.write(terminal, typed.encode())
            self.expect(terminal, comes)

    def test_bash(self):
        self.complete_in("bash", "--norc", "--noprofile", load=f". {shlex.quote(str(SCRIPT))}")

    def test_zsh(self):
        self.complete_in("zsh", "-f", load=f"fpath=({shlex.quote(str(SCRIPT.parent))} $fpath); "
                         "autoload -U compinit; compinit -D -u")

    def test_fish(self):
        """Which answers what it would show, as bash's function does."""
        if shutil.which("fish") is None:
            self.skipTest("no fish (Debian: fish)")
        (self.folder / "binary.sched").write_text("")
        for line, found in [
                ("slackline sim", ["simulate"]), ("slackline help va", ["validate"]),
                ("slackline simulate --sa", ["--samples"]),
                ("slackline simulate -p fr", ["fractus"]),
                ("slackline run x --policy re", ["ready"]), ("slackline run x -t v", ["verbs"]),
                ("slackline export x --to do", ["dot"]), ("slackline list pla", ["platforms"]),
                ("slackline list options bar", ["barrier"]),
                ("slackline check bina", ["binary-tree:", "binary.sched"]),
                ("slackline check chain:ranks=4,by", ["chain:ranks=4,bytes="]),
                ("slackline simulate --json circ", ["circulant:"])]:
            script = SCRIPT.with_suffix(".fish")
            done = subprocess.run(
                ["fish", "--no-config", "-c", f"source {shlex.quote(str(script))}; "
                 f"complete --do-complete {shlex.quote(line)}"],
                capture_output=True, text=True, cwd=self.folder, env=self.environment(), check=True)
            with self.subTest(line=line):
                self.assertEqual(done.stderr, "")
                self.assertEqual(sorted(one.split("\t")[0] for one in done.stdout.splitlines()),
                                 found)


if __name__ == "__main__":
    main()
