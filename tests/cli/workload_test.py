#!/usr/bin/env python3
"""`slackline simulate --workload`: many multicasts over time."""

import csv
import io

from program_case import ProgramCase, main

REPLICAS = """schema = 1
ranks = 7
seed = 3
[[groups]]
choose = 3
from = "1-6"
root = 0
schedule = "binomial-pipeline:block=64KiB"
sizes = { distribution = "lognormal", median = "200KB", mean = "300KB", min = "100B", max = "2MB" }
writes = 60
arrivals = { distribution = "exponential", mean = "50us" }
"""
TWO = """ranks = 6
[[group]]
name = "a, first"
ranks = [0, 1, 2]
schedule = "chain:block=100KB"
bytes = "1MB"
messages = 3
[[group]]
name = "b"
ranks = [5, 4, 3]
schedule = "sequential:block=100KB"
bytes = "500KB"
start = "1ms"
"""


class Workload(ProgramCase):
    def setUp(self):
        super().setUp()
        self.write("w.toml", REPLICAS)
        self.write("two.toml", TWO)

    def simulate(self, *arguments):
        return self.document("simulate", "-e", "analytic", *arguments)

    def test_the_document(self):
        document = self.simulate("--workload", "w.toml")
        self.assertEqual(document["schedule"], "w.toml")
        self.assertIs(document["proved"], False)
        self.assertEqual((document["messages"], document["messages_lost"]), (60, 0))
        self.assertEqual(document["workload_seed"], 3)
        self.assertEqual(len(document["groups"]), 20)
        self.assertEqual(document["groups"][0]["name"], "1+2+3")
        self.assertEqual(document["groups"][0]["ranks"], [0, 1, 2, 3])
        self.assertEqual(sum(g["messages"] for g in document["groups"]), 60)
        self.assertEqual(sum(g["bytes"] for g in document["groups"]), document["message_bytes"])
        self.assertEqual(document["bytes"], document["message_bytes"])
        self.assertEqual(document["delivered_bytes"], 3 * document["message_bytes"])
        self.assertAlmostEqual(document["delivered_bytes_per_s"] * document["span_s"],
                               document["delivered_bytes"], delta=1)
        order = [document[f"latency_{k}_s"] for k in ("min", "median", "p90", "p99", "max")]
        self.assertEqual(order, sorted(order))
        self.assertLess(document["span_s"], document["makespan_s"])  # credits, acknowledgements
        for group in document["groups"]:
            self.assertEqual(group["latency_max_s"] is None, group["messages"] == 0)
        self.assertIs(self.simulate("--workload", "w.toml", "--prove")["proved"], True)

    def test_the_messages(self):
        document = self.simulate("--workload", "w.toml", "--messages", "m.csv")
        self.assertEqual(document["messages_file"], "m.csv")
        rows = list(csv.DictReader(io.StringIO(self.read("m.csv"))))
        self.assertEqual(len(rows), 60)
        arrivals = [float(row["arrival_s"]) for row in rows]
        self.assertEqual(arrivals, sorted(arrivals))
        latencies = [float(row["latency_s"]) for row in rows]
        self.assertAlmostEqual(max(latencies), document["latency_max_s"], delta=1e-15)
        self.assertAlmostEqual(sum(latencies) / 60, document["latency_mean_s"], delta=1e-12)
        self.assertEqual(sum(int(row["bytes"]) for row in rows), document["message_bytes"])
        for row in rows:
            self.assertEqual(row["receivers"], "3")
            self.assertGreaterEqual(float(row["latency_s"]), int(row["bytes"]) / 12.5e9)
        self.assertEqual(self.good("simulate", "-e", "analytic", "--workload", "w.toml",
                                   "--messages", "-"), self.read("m.csv"))

    def test_groups_apart_take_their_own_time(self):
        document = self.simulate("--workload", "two.toml")
        alone = [self.simulate("chain:ranks=3,bytes=1MB,block=100KB"),
                 self.simulate("sequential:ranks=3,bytes=500KB,block=100KB")]
        # Receivers are ready before their message is there.
        self.assertLessEqual(document["groups"][1]["latency_max_s"], alone[1]["makespan_s"])
        self.assertGreater(document["groups"][1]["latency_max_s"], 2 * 500e3 / 12.5e9)
        self.assertGreater(document["makespan_s"], 1e-3)
        self.assertEqual(document["groups"][0]["messages"], 3)
        self.assertLess(document["groups"][0]["latency_min_s"], alone[0]["makespan_s"])
        rows = self.good("simulate", "--workload", "two.toml", "--messages", "-").splitlines()
        self.assertTrue(rows[1].startswith('0,"a, first",1000000,2,0'), rows[1])

    def test_the_engines_agree(self):
        if "with SimGrid" not in self.good("--version"):
            self.skipTest("built without SimGrid")
        engines = ("simgrid", "flow", "analytic")
        for engine in engines:
            self.good("simulate", "-e", engine, "--workload", "w.toml", "--messages", engine)
        one, two, other = ([float(row["done_s"])
                            for row in csv.DictReader(io.StringIO(self.read(e)))] for e in engines)
        for a, b, c in zip(one, two, other):
            self.assertAlmostEqual(a, c, delta=1e-9 * c)
            self.assertAlmostEqual(b, c, delta=1e-9 * c)

    def test_the_table(self):
        out = self.good("simulate", "-e", "analytic", "--workload", "w.toml")
        for line in ("messages +60 in 20 groups, seed 3", "sent .*each message once",
                     "delivered .*once for each receiver", "latency +messages", "all +60 "):
            self.assertRegex(out, f"(?m)^  {line}")
        self.assertIn("and 4 more groups", out)
        self.assertNotIn("more group", self.good("simulate", "-e", "analytic", "--workload",
                                                 "w.toml", "--all"))

    def test_a_seed_draws_another_workload(self):
        first = self.simulate("--workload", "w.toml")
        self.assertEqual(self.simulate("--workload", "w.toml", "--seed", "3")["digest"],
                         first["digest"])
        second = self.simulate("--workload", "w.toml", "--seed", "4")
        self.assertEqual(second["workload_seed"], 4)
        self.assertNotEqual(second["digest"], first["digest"])

    def test_a_trace_and_delays(self):
        document = self.simulate("--workload", "w.toml", "--trace", "t", "--delay",
                                 "rank=0,step=0,by=1ms")
        self.assertIn(document["digest"], self.read("t"))
        self.assertGreater(document["latency_max_s"],
                           self.simulate("--workload", "w.toml")["latency_max_s"] + 1e-3)

    def test_what_is_wrong(self):
        chain = "chain:ranks=2,bytes=1"
        for arguments, part in (
                ([chain, "--workload", "w.toml"], "stands beside --workload"),
                ([], "neither SCHEDULE nor --workload"),
                (["--lower", "put"], "neither SCHEDULE nor --workload"),
                (["--workload", "w.toml", "--lower", "put"], "--lower: the specs stand in"),
                (["--workload", "none.toml"], "none.toml"),
                ([chain, "--messages", "m"], "there is no --workload"),
                (["--workload", "w.toml", "--messages", "-", "--json"], "alone"),
                (["--workload", "w.toml", "--samples", "2", "--messages", "m"], "--messages"),
                (["--workload", "w.toml", "--prove", "--no-proof"], "--no-proof")):
            self.assertIn(part, self.bad("simulate", *arguments))
        for text, part in (
                ("ranks = 4\n", "w.toml:1: no group"),
                ("ranks = 4\n[[group]]\nranks = [0, 4]\n", "w.toml:3: group.ranks: 4 is no rank"),
                ("ranks = 4\n[[group]]\nranks = [0, 0]\n", "stands twice")):
            self.write("w.toml", text)
            self.assertIn(part, self.bad("simulate", "--workload", "w.toml"))


if __name__ == "__main__":
    main()
