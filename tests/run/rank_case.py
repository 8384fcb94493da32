"""What tests of real runs share: ranks as processes that the test starts itself, so that it knows
which one is which.
"""

import os
import pathlib
import re
import subprocess

from ports import free_port
from program_case import PROGRAM, Done, ProgramCase

# How long a test waits before it takes a run for stuck. Never waited for when all is well.
PATIENCE_S = 60


# A machine that has much else to do may keep a rank, or an agent, that does come for longer than it is
# waited for: then a test does it again, with so many times the patience.
MORE = (1, 4, 16)


def with_patience(attempt, late):
    """What `attempt(more)` comes to with patience enough: with as little as may be of MORE, so that
    its ends, a list of Done, blame nobody for being late with words that match `late`."""
    for more in MORE:
        ends = attempt(more)
        if not any(re.search(late, end.err) for end in ends):
            break
    return more, ends


def cores_of(text):
    """The cores of a list as "0-3,8"."""
    found = []
    for part in text.split(","):
        first, _, last = part.partition("-")
        found += range(int(first), int(last or first) + 1)
    return found


class Rank:
    """One rank of a run. What it prints goes to files, so that it never waits for a reader."""

    def __init__(self, folder, rank, arguments, prefix=()):
        self.rank = rank
        self.out, self.err = folder / f"out.{rank}", folder / f"err.{rank}"
        with open(self.out, "wb") as out, open(self.err, "wb") as err:
            self.process = subprocess.Popen([*prefix, PROGRAM, *map(str, arguments)], cwd=folder,
                                            stdin=subprocess.DEVNULL, stdout=out, stderr=err)
        self.pid = self.process.pid

    def signal(self, number):
        os.kill(self.pid, number)

    def wait(self, seconds=PATIENCE_S):
        self.process.wait(timeout=seconds)
        return Done(self.process.returncode, self.out.read_text(), self.err.read_text())

    def end(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()


class RankCase(ProgramCase):
    def start_ranks(self, count, *arguments, port=None, of_rank=lambda rank: (), ranks=None,
                    folder=None, prefix_of=lambda rank: ()):
        """Starts `count` ranks that join each other on loopback, in the test's folder or the given
        one; they are ended with the test. `prefix_of` a rank: the command that runs it, if any."""
        root = f"127.0.0.1:{port or free_port()}"
        started = []
        for rank in range(count):
            started.append(Rank(folder or self.folder, rank, [
                "run", *arguments, "--rank", rank, "--ranks", ranks or count, "--root", root,
                *of_rank(rank)], prefix=prefix_of(rank)))
            self.addCleanup(started[-1].end)
        return started

    def segments_of(self, pids, since):
        """What processes left in shared memory after a time: segments' names begin with the number
        of their process, and an older process may have had the same number."""
        owners = {str(pid) for pid in pids}
        left = []
        for path in pathlib.Path("/dev/shm").glob("*"):
            try:
                if path.name.split(":")[0] in owners and path.stat().st_mtime >= since:
                    left.append(path.name)
            except FileNotFoundError:
                pass
        return left

    def assert_gone(self, pids, since):
        for pid in pids:
            self.assertFalse(pathlib.Path(f"/proc/{pid}").exists(), f"process {pid} is still there")
        self.assertEqual(self.segments_of(pids, since), [])
