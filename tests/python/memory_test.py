"""Repeated use leaks nothing: the process stays as large as it was."""

import gc
import os
import unittest

import slackline
from package_case import main

SIMULATIONS = 100_000
# What an allocator may keep back. Of a leak of 100 bytes a simulation nine tenths would be 9 MiB.
BOUND = 3 << 20


def resident_bytes():
    gc.collect()
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


class Memory(unittest.TestCase):
    def test_simulations(self):
        s = slackline.compile("chain:ranks=2,bytes=1KiB")
        platform = slackline.Platform("fractus")
        after_a_tenth = 0
        for i in range(SIMULATIONS):
            s.simulate(platform).done_s.max()
            if i == SIMULATIONS // 10:
                after_a_tenth = resident_bytes()
        self.assertLess(resident_bytes() - after_a_tenth, BOUND)

    def test_all_else(self):
        def work():
            s = slackline.compile("chain:ranks=3,bytes=1MiB")
            run = s.simulate(delays=[slackline.Delay(op=1, by="1us")])
            run.slack().total_float_s.sum()
            run.slopes([0])
            s.ops.bytes.sum()
            s.ops.peer.sum()
            s.check()
            s.export("json")
            s.samples(count=2, jobs=1, delays=[slackline.Noise("exponential", mean="1us")])
            try:
                slackline.compile("nonsense")
            except slackline.InputError:
                pass

        for _ in range(100):
            work()
        before = resident_bytes()
        for _ in range(1000):
            work()
        self.assertLess(resident_bytes() - before, BOUND)


if __name__ == "__main__":
    main()
