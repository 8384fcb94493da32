"""Runs that take long, or will never end: what they wait for shows on a terminal, and they end."""

import os
import pty
import re
import select
import subprocess
import time

from ports import free_port
from program_case import PROGRAM, main
from rank_case import PATIENCE_S, RankCase

# Each rank receives before it sends.
DEADLOCK = """slackline schedule 1
ranks 2
buffer 0 rank 0 bytes 16
buffer 1 rank 1 bytes 16
channel 0 from 0 to 1
channel 1 from 1 to 0
rank 0
  0 recv on 1 writes 0[8+8]
  1 send on 0 reads 0[0+8] after done:0
rank 1
  2 recv on 0 writes 1[8+8]
  3 send on 1 reads 1[0+8] after done:2
pre 0[0+8] value 1
pre 1[0+8] value 2
"""


class OnTerminal:
    """The program with standard error on a terminal."""

    def __init__(self, case, *arguments):
        self.case = case
        self.near, far = pty.openpty()
        self.process = subprocess.Popen([PROGRAM, *map(str, arguments)], cwd=case.folder,
                                        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                        stderr=far)
        os.close(far)
        self.said = ""
        case.addCleanup(self.end)

    def until(self, pattern):
        """Reads until it has said what matches that; answers whether it has before it ended."""
        end = time.monotonic() + PATIENCE_S
        while not re.search(pattern, self.said):
            self.case.assertLess(time.monotonic(), end, f"no {pattern!r} in {self.said!r}")
            if not select.select([self.near], [], [], 1)[0]:
                continue
            try:
                self.said += os.read(self.near, 4096).decode(errors="replace")
            except OSError:  # the other end is closed
                return re.search(pattern, self.said) is not None
        return True

    def end(self):
        self.process.kill()
        self.process.wait()
        os.close(self.near)


class Waiting(RankCase):
    def test_what_a_deadlocked_run_waits_for(self):
        name = self.write("deadlock.sched", DEADLOCK)
        run = OnTerminal(self, "run", name, "--no-proof")
        waits = r"waiting for op 0 \(recv, rank 0\): nothing for {} s, of 30 s"
        # Every second; but on a busy machine one may pass in which it says nothing.
        once, longer = waits.format(r"(\d+)"), waits.format(r"(?!\1 )\d+")
        self.assertTrue(run.until(once), run.said)
        self.assertTrue(run.until(f"(?s){once}.*{longer}"), run.said)

    def test_how_many_ranks_have_come(self):
        port = free_port()
        arguments = ["run", "chain:ranks=3,bytes=1KiB,block=1KiB", "--ranks", 3, "--root",
                     f"127.0.0.1:{port}"]
        root = OnTerminal(self, *arguments, "--rank", 0)
        self.assertTrue(root.until("joining…"), root.said)
        one = OnTerminal(self, *arguments, "--rank", 2)
        self.assertTrue(root.until("2 of 3"), root.said)
        other = OnTerminal(self, *arguments, "--rank", 1)
        self.assertTrue(root.until("3 of 3"), root.said)
        for rank in (root, one, other):
            self.assertEqual(rank.process.wait(PATIENCE_S), 0, rank.said)

    def test_delays_that_nobody_waits_for_are_refused(self):
        said = self.bad("run", "chain:ranks=2,bytes=64KiB,block=1KiB", "--straggler",
                        "rank=0,slowdown=1e9")
        self.assertIn("holds the processor of rank 0", said)
        self.assertIn("at most 600 s", said)


if __name__ == "__main__":
    main()
