"""slackline run over many sizes and for a time: what it says, not how fast it is."""

import itertools
import json
import re
import signal
import subprocess

from program_case import PROGRAM, main
from rank_case import PATIENCE_S, RankCase

CHAIN = "chain:ranks=2,block=16KiB"


class Sweep(RankCase):
    def sweep(self, spec, sizes, *arguments):
        return self.document("run", spec, "--sizes", sizes, *arguments)

    def test_every_size_once(self):
        for transport in ("shm", "tcp"):
            document = self.sweep(CHAIN, "1KiB..64KiB:x4", "--iterations", 3, "-t", transport)
            self.assertEqual([size["bytes"] for size in document["sizes"]],
                             [1024, 4096, 16384, 65536])
            self.assertEqual(document["schedule"], "chain:ranks=2,block=16KiB")
            self.assertTrue(document["bytes_proved"])
            for size in document["sizes"]:
                self.assertEqual(size["iterations"], 3)
                self.assertEqual(size["message_bytes"], size["bytes"])
                self.assertEqual(size["messages"], (size["bytes"] - 1) // 16384 + 1)
                least, most = size["makespan_min_s"], size["makespan_max_s"]
                self.assertGreater(least, 0)
                for key in ("makespan_s", "makespan_mean_s"):
                    self.assertLessEqual(least, size[key] * (1 + 1e-9))
                    self.assertLessEqual(size[key], most * (1 + 1e-9))

    def test_schedules_are_those_of_each_size(self):
        document = self.sweep("chain:ranks=2,bytes=7,block=16KiB", "100,16KiB", "--iterations", 1)
        for size in document["sizes"]:
            compiled = self.document("compile", f"{CHAIN},bytes={size['bytes']}")
            self.assertEqual(size["digest"], compiled["digest"])
            self.assertEqual(size["schedule"], compiled["schedule"])

    def test_figures_follow_from_the_makespan(self):
        for spec, factor in (("chain:ranks=3", 1), ("allreduce:ranks=3", 4 / 3),
                             ("allgather:ranks=3", 2 / 3), ("reduce:ranks=3", 1)):
            document = self.sweep(spec, "8KiB,24KiB", "--iterations", 2)
            for size in document["sizes"]:
                bandwidth = size["message_bytes"] / size["makespan_s"]
                self.assertAlmostEqual(size["bandwidth_bytes_per_s"] / bandwidth, 1)
                self.assertAlmostEqual(size["bus_bandwidth_bytes_per_s"] / bandwidth, factor)
                self.assertAlmostEqual(size["messages_per_s"] * size["makespan_s"],
                                       size["messages"])
                # Loopback and memory have no rate.
                self.assertIsNone(size["line_share"])
        of_all = self.sweep("allgather:ranks=3", "8KiB", "--iterations", 1)["sizes"][0]
        self.assertEqual((of_all["bytes"], of_all["message_bytes"]), (8192, 3 * 8192))

    def test_what_the_number_of_iterations_cannot_tell_is_left_out(self):
        for count, known in ((1, 0), (2, 1), (10, 2), (100, 3)):
            (size,) = self.sweep("chain:ranks=2", "8", "--iterations", count)["sizes"]
            self.assertEqual(size["iterations"], count)
            told = [size[f"makespan_{key}_s"] is not None
                    for key in ("deviation", "p90", "p99", "p999")]
            self.assertEqual(told, [True] * known + [False] * (4 - known), count)

    def test_a_table_has_a_line_for_each_size(self):
        lines = self.good("run", CHAIN, "--sizes", "1KiB..4KiB", "--iterations", 2).splitlines()
        self.assertEqual(lines[0], "chain:ranks=2,block=16KiB, at 3 sizes")
        head = next(i for i, line in enumerate(lines) if line.split()[:2] == ["bytes", "iterations"])
        # Behind the table may stand how long ranks waited for processors.
        table = list(itertools.takewhile(bool, lines[head:]))
        self.assertEqual([re.split(r"  +", line.strip())[:2] for line in table[1:]],
                         [["1 KiB", "2"], ["2 KiB", "2"], ["4 KiB", "2"]])
        # Columns stand under their heads.
        self.assertEqual(len({len(line) for line in table}), 1)

    def test_with_all_it_ends_with_where_ranks_ran(self):
        self.assertRegex(self.good("run", "chain:ranks=2", "--sizes", "8", "--iterations", 1,
                                   "--all"), r"\n  rank  host +process +cores")

    def test_a_line_is_there_as_soon_as_its_size_is_measured(self):
        # A hundred sizes take most of a minute.
        run = subprocess.Popen([PROGRAM, "run", CHAIN, "--sizes", ",".join(["1KiB"] * 100)],
                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=self.folder)
        self.addCleanup(run.stdout.close)
        self.addCleanup(run.wait, PATIENCE_S)
        self.addCleanup(run.kill)
        for line in run.stdout:
            if line.split()[:2] == [b"1", b"KiB"]:
                break
        run.send_signal(signal.SIGTERM)
        self.assertEqual(run.wait(PATIENCE_S), -signal.SIGTERM)

    def test_wrong_bytes_of_calls_are_looked_at_at_each_size(self):
        document = self.sweep("call-buffer:ranks=3,messages=3", "64,4KiB", "--iterations", 2)
        for size in document["sizes"]:
            self.assertEqual((size["contents_checked"], size["contents_findings"]), (True, []))

    def test_ranks_that_are_started_one_by_one_join_once(self):
        ranks = self.start_ranks(3, "circulant:ranks=3", "--sizes", "1KiB,100KiB", "--json",
                                 "-t", "tcp")
        done = [rank.wait() for rank in ranks]
        self.assertEqual([d.code for d in done], [0, 0, 0], done)
        self.assertEqual([d.out for d in done[1:]], ["", ""])
        document = json.loads(done[0].out)
        self.assertEqual([f["process"] for f in document["rank_facts"]], [r.pid for r in ranks])

    def test_ranks_with_different_sizes_do_not_begin(self):
        ranks = self.start_ranks(2, CHAIN, "--iterations", "1",
                                 of_rank=lambda rank: ("--sizes", f"{rank + 1}KiB"))
        for done in [rank.wait() for rank in ranks]:
            self.assertEqual((done.code, done.out), (2, ""), done)
            self.assertIn("ranks disagree: rank 0 has schedule of 1KiB: ", done.err)


class Duration(RankCase):
    def test_it_runs_as_often_as_it_takes(self):
        document = self.document("run", "chain:ranks=2,bytes=1KiB", "--duration", "50ms")
        self.assertEqual(document["iterations"], len(document["makespans_s"]))
        self.assertGreaterEqual(document["iterations"], 2)
        # The trace is of one of them.
        self.assertIn(max(document["rank_finish_s"]), document["makespans_s"])
        out = self.good("run", "chain:ranks=2,bytes=1KiB", "--duration", "50ms")
        self.assertRegex(out, r"iterations  \d+, after 1 to warm up")
        self.assertRegex(out, r"spread      mean .* \(of \d+\)")

    def test_rank_0_says_for_how_long(self):
        ranks = self.start_ranks(
            2, "chain:ranks=2,bytes=1KiB", "--json",
            of_rank=lambda rank: ("--iterations", "7") if rank == 0 else ("--duration", "600s"))
        done = [rank.wait() for rank in ranks]
        self.assertEqual([d.code for d in done], [0, 0], done)
        self.assertEqual(json.loads(done[0].out)["iterations"], 7)


if __name__ == "__main__":
    main()
