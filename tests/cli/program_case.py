"""What the tests of the program share: a folder of their own, and running the program in it.

The program's path comes from the environment variable SLACKLINE.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

PROGRAM = pathlib.Path(os.environ.get("SLACKLINE", "build/release/slackline")).resolve()
# The user's own secret is made here, and not in the home directory of whoever runs the tests.
_CONFIG = tempfile.TemporaryDirectory()
os.environ["XDG_CONFIG_HOME"] = _CONFIG.name

PIPELINE = "binomial-pipeline:ranks=16,bytes=8MiB,block=1MiB"
CHAIN = "chain:ranks=3,bytes=2MiB,block=1MiB"
# Those that cut a message into blocks and take the options of how blocks are sent.
BLOCK_PATTERNS = ("sequential", "chain", "binomial-tree", "binomial-pipeline", "circulant", "hybrid",
                  "scatter-allgather", "binary-tree", "double-tree")
PATTERNS = BLOCK_PATTERNS + ("ring-buffer", "table-multicast")


def block(pattern, size):
    """The option `block`, for a spec of a pattern that takes it."""
    return f",block={size}" if pattern in BLOCK_PATTERNS else ""


def stat_of(pid):
    """State, parent and process group of a process; nothing if there is none."""
    try:
        fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return None
    return fields[0], int(fields[1]), int(fields[2])


def children_of(parent):
    """The processes whose parent it is, each with its stat_of()."""
    found = {}
    for path in pathlib.Path("/proc").glob("[0-9]*"):
        stat = stat_of(path.name)
        if stat and stat[1] == parent:
            found[int(path.name)] = stat
    return found


class Done:
    """How a run of the program ended."""

    def __init__(self, code, out, err):
        self.code, self.out, self.err = code, out, err

    def __repr__(self):
        return f"exit code {self.code}, standard output {self.out[:400]!r}, error {self.err!r}"


class ProgramCase(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_program(self, *arguments, stdin=None, environment=None):
        """Runs it with a list of arguments; `stdin` is text, `environment` a dictionary."""
        done = subprocess.run([PROGRAM, *map(str, arguments)], cwd=self.folder,
                              input=None if stdin is None else stdin.encode(),
                              stdin=subprocess.DEVNULL if stdin is None else None,
                              env=environment, capture_output=True, timeout=120)
        return Done(done.returncode, done.stdout.decode(), done.stderr.decode())

    def run_well(self, *arguments, code=0, stdin=None):
        """Its standard output; it must end with `code` and say nothing else, but for notes."""
        done = self.run_program(*arguments, stdin=stdin)
        said = [line for line in done.err.splitlines() if not line.startswith("slackline: note: ")]
        self.assertEqual((done.code, said), (code, []), f"{arguments}: {done}")
        return done.out

    def good(self, *arguments, stdin=None):
        """The same of a run that ends with 0."""
        return self.run_well(*arguments, stdin=stdin)

    def document(self, *arguments, code=0, stdin=None):
        """The one JSON document that it prints with --json."""
        document = json.loads(self.run_well(*arguments, "--json", code=code, stdin=stdin))
        for key in ("schema", "digest", "proved"):
            self.assertIn(key, document)
        self.assertEqual(document["schema"], 1)
        return document

    def bad(self, *arguments, code=2, stdin=None):
        """The error's one line; nothing on standard output and no new file."""
        before = self.files()
        done = self.run_program(*arguments, stdin=stdin)
        self.assertEqual(done.code, code, f"{arguments}: {done}")
        self.assertEqual(done.out, "", f"{arguments}: {done}")
        self.assertTrue(done.err.startswith("slackline: ") and done.err.endswith("\n"),
                        f"{arguments}: {done}")
        self.assertEqual(done.err.count("\n"), 1, f"{arguments}: {done}")
        self.assertEqual(self.files(), before, f"{arguments} left a file behind")
        return done.err.rstrip("\n")

    def files(self):
        return sorted(p.relative_to(self.folder).as_posix() for p in self.folder.rglob("*"))

    def write(self, name, text):
        path = self.folder / name
        path.write_text(text)
        return name

    def read(self, name):
        return (self.folder / name).read_text()

    def compiled(self, spec, name="x.sched"):
        self.good("compile", spec, "-o", name)
        return name


def main():
    """Runs the tests; ends with 77 if any could not run here, so that it is not taken for passed."""
    result = unittest.main(exit=False).result
    sys.exit(1 if not result.wasSuccessful() else 77 if result.skipped else 0)
