"""Runs that are ended by a signal at a random moment: to the process that was started, to its whole
group, or to one rank. Whatever it was, nothing stays behind: no process, nothing in shared memory.

Seeded; SLACKLINE_SIGNALS is how many (default: 40), SLACKLINE_SIGNAL_SEED where they begin (1),
SLACKLINE_SIGNAL_TRANSPORT the only transport (each in turn).
"""

import concurrent.futures
import ctypes
import os
import random
import shutil
import signal
import subprocess
import time

from program_case import PROGRAM, children_of, main, stat_of
from rank_case import PATIENCE_S, RankCase

SIGNALS = int(os.environ.get("SLACKLINE_SIGNALS", "40"))
SEED = int(os.environ.get("SLACKLINE_SIGNAL_SEED", "1"))
ONLY = os.environ.get("SLACKLINE_SIGNAL_TRANSPORT")
TRANSPORTS = ("shm", "net", "tcp;ofi_rxm")
if ONLY:
    if ONLY not in TRANSPORTS:
        raise SystemExit(f"SLACKLINE_SIGNAL_TRANSPORT: '{ONLY}'; expected one of "
                         + ", ".join(TRANSPORTS))
    TRANSPORTS = (ONLY,)
# So many at a time, since they wait most of the time.
AT_ONCE = 5
NUMBERS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL)
TARGETS = ("parent", "group", "rank")
SPEC = "binomial-pipeline:ranks={},bytes=256KiB,block=16KiB"
# On a machine that has much else to do, or stands still for a while, a rank may be taken for lost
# before the signal comes: then it is done again, with so many times the patience.
FAILURE_S = 4
MORE = (1, 5, 25)
SLOW = ("silent for ", "stopped for ", "did not come within ")
PR_SET_CHILD_SUBREAPER = 36


def is_gone(pid):
    """Whether it has ended; an orphan is this process's to fetch."""
    try:
        os.waitpid(pid, os.WNOHANG)
    except ChildProcessError:
        pass
    stat = stat_of(pid)
    return stat is None or stat[0] in "ZX"


class Signals(RankCase):
    @classmethod
    def setUpClass(cls):
        # What the parent of a killed run was parent of becomes a child of this process.
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        # Under nohup, and in the background of some shells, signals are ignored, and would be so in
        # the runs. One that has a handler here acts there as it does of itself.
        for number in NUMBERS[:3]:
            if signal.getsignal(number) in (signal.SIG_IGN, None):
                signal.signal(number, lambda *_: None)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, NUMBERS)

    def until(self, holds, what):
        end = time.monotonic() + PATIENCE_S
        while not holds():
            self.assertLess(time.monotonic(), end, what)
            time.sleep(0.01)

    def strike(self, seed, more):
        """False if the run had ended before, for a rank that was too slow."""
        draw = random.Random(seed)
        ranks = draw.randint(2, 4)
        number = NUMBERS[seed % len(NUMBERS)]
        target = TARGETS[seed // len(NUMBERS) % len(TARGETS)]
        transport = TRANSPORTS[seed // (len(NUMBERS) * len(TARGETS)) % len(TRANSPORTS)]
        moment_s = draw.choice((0, draw.uniform(0, 0.15), draw.uniform(0, 0.6)))
        what = f"seed {seed}: {ranks} ranks on {transport}, {number.name} to {target}"
        folder = self.folder / f"{seed}.{more}"
        folder.mkdir()
        since = time.time()
        began = time.monotonic()
        with open(folder / "out", "wb") as out, open(folder / "err", "wb") as err:
            run = subprocess.Popen(
                [PROGRAM, "run", SPEC.format(ranks), "--transport", transport, "--iterations",
                 "1000000", "--failure-timeout", f"{FAILURE_S * more}s"],
                cwd=folder, stdin=subprocess.DEVNULL, stdout=out, stderr=err,
                start_new_session=True)
        try:
            of_group = []

            def all_there():
                nonlocal of_group
                if run.poll() is not None:
                    return True
                # The warden of shared memory goes to another group at once, but not at birth.
                children = children_of(run.pid)
                of_group = sorted(pid for pid, stat in children.items() if stat[2] == run.pid)
                return (len(of_group) == ranks and
                        len(children) == ranks + (transport == "shm"))

            self.until(all_there, what)
            processes = list(children_of(run.pid))
            time.sleep(moment_s)
            if run.poll() is None:
                try:
                    if target == "group":
                        os.killpg(run.pid, number)
                    else:
                        os.kill(run.pid if target == "parent" else draw.choice(of_group), number)
                except ProcessLookupError:
                    pass  # ended meanwhile
            code = run.wait(PATIENCE_S)
            took_s = time.monotonic() - began
            said = (folder / "err").read_text()
            what = f"{what}, ended with {code} after {took_s:.1f} s: {said!r}"
            slow = took_s > FAILURE_S * more and any(words in said for words in SLOW)
            if code == 1 and slow:
                self.assertNotEqual(more, MORE[-1], what)
                return False
            self.until(lambda: all(is_gone(pid) for pid in processes), f"{what}: processes left")
        finally:
            try:
                os.killpg(run.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            run.wait()
        self.assertEqual(code, 1 if target == "rank" else -number, what)
        killed = target != "rank" and number == signal.SIGKILL
        self.assertEqual(said.count("\n"), 0 if killed else 1, what)
        if target == "rank":
            self.assertRegex(said, rf"rank [0-3] was ended by signal {number.value} \(", what)
        elif not killed:
            self.assertIn(f"slackline: ended by signal {number.value} (", said, what)
        self.assertEqual((folder / "out").read_text(), "", what)
        self.assertEqual(self.segments_of([run.pid, *processes], since), [], what)
        shutil.rmtree(folder)
        return True

    def test_nothing_stays_behind(self):
        def strike(seed):
            return any(self.strike(seed, more) for more in MORE)

        with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
            for seed, done in [(seed, pool.submit(strike, seed))
                               for seed in range(SEED, SEED + SIGNALS)]:
                with self.subTest(seed=seed):
                    self.assertTrue(done.result())

    def test_nor_when_all_ranks_were_started_by_hand(self):
        for number in NUMBERS:
            since = time.time()
            ranks = self.start_ranks(3, SPEC.format(3), "--iterations", 1000000)
            pids = [rank.pid for rank in ranks]
            self.until(lambda: len(self.segments_of(pids, since)) == 3
                       or any(rank.process.poll() is not None for rank in ranks), number)
            processes = [pid for rank in pids for pid in children_of(rank)]
            self.assertEqual(len(processes), 3, number)
            for rank in ranks:
                rank.signal(number)
            for rank in ranks:
                done = rank.wait()
                # A later one may have heard of the first's end before its own, and says so first.
                self.assertIn(done.code, (-number, 1), done)
                heard = "is lost" in done.err or "was ended by" in done.err
                self.assertLessEqual(done.err.count("\n"), 1 + heard, done)
            self.until(lambda: all(is_gone(pid) for pid in processes), f"{number}: processes left")
            self.assertEqual(self.segments_of(pids, since), [], number)


if __name__ == "__main__":
    main()
