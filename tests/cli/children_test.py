"""Processes that the program starts end with it, whatever ends it."""

import os
import select
import signal
import subprocess

from program_case import PROGRAM, ProgramCase, children_of, main

LONG = "binomial-pipeline:ranks=32,bytes=64MiB,block=64KiB"


def end(process):
    try:
        os.kill(process, signal.SIGKILL)
    except ProcessLookupError:
        pass


class Children(ProgramCase):
    def ended_by(self, number, *arguments):
        """Ends a run of the program by a signal once it has a child, and waits until nobody has its
        standard output any more."""
        ours, theirs = os.pipe()
        with subprocess.Popen([PROGRAM, *arguments], stdin=subprocess.DEVNULL, stdout=theirs,
                              stderr=subprocess.DEVNULL, cwd=self.folder) as process:
            os.close(theirs)
            self.addCleanup(process.kill)
            while not (children := children_of(process.pid)):
                if process.poll() is not None:
                    self.fail(f"{arguments} ended before it had a child")
            for child in children:
                self.addCleanup(end, child)
            process.send_signal(number)
            self.assertEqual(process.wait(), -number)
        # Readable with nothing to read: at the end, which comes with the last child's. The limit is for
        # children that stay.
        self.assertTrue(select.select([ours], [], [], 60)[0], f"{arguments}: a child stays")
        self.assertEqual(os.read(ours, 1), b"")
        os.close(ours)

    def test_simulators(self):
        if "without SimGrid" in self.good("--version"):
            self.skipTest("without SimGrid")
        for number in (signal.SIGTERM, signal.SIGKILL):
            self.ended_by(number, "simulate", LONG, "-e", "simgrid", "--noise",
                          "exponential,mean=1us", "--samples", "1000000")
            self.ended_by(number, "validate", LONG, "--on", "simgrid", "--ops", "all", "--delay", "1us")


if __name__ == "__main__":
    main()
