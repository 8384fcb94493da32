"""What the tests share in which ranks are killed or stopped at random moments: the others name
them, in time, and leave.

Seeded; SLACKLINE_FAULTS is how many of a kind (default: 100), SLACKLINE_FAULT_SEED where they begin.
"""

import concurrent.futures
import os
import random
import shutil
import signal
import time

from ports import free_port
from rank_case import MORE, RankCase

FAULTS = int(os.environ.get("SLACKLINE_FAULTS", "100"))
SEED = int(os.environ.get("SLACKLINE_FAULT_SEED", "1"))
PATTERNS = ("sequential", "chain", "binomial-tree", "binomial-pipeline", "circulant", "binary-tree",
            "double-tree", "scatter-allgather")
# How long ranks wait for one that is silent, and for one to join. Where a rank that was not struck is
# kept from speaking for so long, it is done again, and all others, with MORE patience.
TIMEOUT_S = 1.0
JOIN_S = 4.0
GRACE_S = 45.0
# So many at a time, since most of the time all ranks wait.
AT_ONCE = 4
# What is said of a rank that is taken for lost because it was slow.
SLOW = ("silent for ", "stopped for ", "did not come within ")


class FaultsCase(RankCase):
    @staticmethod
    def was_slow(done):
        """Whether a rank blamed another one, or itself, for being slow."""
        return done.code == 1 and any(words in done.err for words in SLOW)

    def strike(self, seed, stopped, more):
        """False if a rank was too slow for the others, and was blamed for it."""
        draw = random.Random(seed)
        ranks = draw.randint(2, 6)
        struck = draw.randrange(ranks)
        spec = (f"{draw.choice(PATTERNS)}:ranks={ranks},bytes={draw.randint(0, 1 << 20)},"
                f"block={draw.choice((1000, 16384, 65536))}")
        transport = draw.choice(("shm", "net", "net", "shm", "tcp;ofi_rxm"))
        # From joining on to the midst of many iterations.
        moment_s = draw.uniform(0, 0.9)
        what = (f"seed {seed}: {spec} on {transport}, rank {struck} "
                f"{'stopped' if stopped else 'killed'} after {moment_s:.3f} s")
        port = free_port()
        since = time.time()
        folder = self.folder / f"{seed}.{more}"
        folder.mkdir()
        started = self.start_ranks(
            ranks, spec, "--transport", transport, "--iterations", 1000000,
            "--join-timeout", f"{JOIN_S * more:g}s", "--failure-timeout", f"{TIMEOUT_S * more:g}s",
            "--trace", "trace", port=port, folder=folder)
        patience_s = (JOIN_S + TIMEOUT_S) * more + GRACE_S
        try:
            time.sleep(moment_s)
            ended = [rank.wait() for rank in started if rank.process.poll() is not None]
            if more != MORE[-1] and any(map(self.was_slow, ended)):
                return False
            self.assertEqual(ended, [], f"{what}: ended before")
            started[struck].signal(signal.SIGSTOP if stopped else signal.SIGKILL)
            survivors = [rank for rank in started if rank.rank != struck]
            ends = [rank.wait(patience_s) for rank in survivors]
            if more != MORE[-1] and any(
                    self.was_slow(done) and f"rank {struck} " not in done.err for done in ends):
                return False
            for rank, done in zip(survivors, ends):
                self.assertEqual(done.code, 1, f"{what}: rank {rank.rank}: {done}")
                self.assertEqual(done.out, "", what)
                self.assertEqual(done.err.count("\n"), 1, f"{what}: rank {rank.rank}: {done}")
                self.assertIn(f"rank {struck} ", done.err, f"{what}: rank {rank.rank}: {done}")
                for other in range(ranks):
                    if other not in (struck, rank.rank):
                        self.assertNotIn(f"rank {other} is lost", done.err, what)
            if stopped:
                # Who goes on again sees that nobody waited, and leaves as well.
                started[struck].signal(signal.SIGCONT)
                done = started[struck].wait(patience_s)
                self.assertEqual((done.code, done.out, done.err.count("\n")), (1, "", 1),
                                 f"{what}: {done}")
        finally:
            for rank in started:
                rank.end()
            shutil.rmtree(folder)
        self.assert_gone([rank.pid for rank in started], since)
        return True

    def strike_all(self, stopped):
        more = list(MORE)

        def strike_in_time(seed):
            while not self.strike(seed, stopped, tried := more[0]):
                if more[0] == tried:
                    more.pop(0)

        seeds = range(SEED, SEED + FAULTS)
        with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
            for seed, done in [(seed, pool.submit(strike_in_time, seed)) for seed in seeds]:
                with self.subTest(seed=seed):
                    done.result()
