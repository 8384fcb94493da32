"""What the tests of the package share."""

import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import slackline

PROGRAM = os.environ["SLACKLINE"]
SOURCE = pathlib.Path(os.environ["SLACKLINE_SOURCE"])

PIPELINE = "binomial-pipeline:ranks=16,bytes=8MiB,block=1MiB"
CHAIN = "chain:ranks=3,bytes=2MiB,block=1MiB"


def program(*arguments, cwd=None):
    """What the program prints. It must end with 0."""
    return subprocess.run([PROGRAM, *arguments], check=True, capture_output=True, cwd=cwd).stdout


def program_json(*arguments):
    return json.loads(program(*arguments, "--json"))


def needs(module):
    """Skips a test where a package is missing that users need not have."""
    return unittest.skipUnless(importlib.util.find_spec(module), f"{module} is not installed")


class PackageCase(unittest.TestCase):
    """Each test has an empty folder of its own, `self.folder`."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)


def main():
    """As unittest.main(), but for its status: 77 if every test was skipped."""
    ended = unittest.main(exit=False).result
    if not ended.wasSuccessful():
        sys.exit(1)
    sys.exit(77 if ended.testsRun and len(ended.skipped) == ended.testsRun else 0)
