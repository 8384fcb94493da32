"""What reports of different commands have in common: the platform, its nodes, what floats promise."""

import json
import re

from program_case import CHAIN, PIPELINE, ProgramCase, main

SHARED = "two-level:racks=2,hosts=4,oversubscription=4,rate=100Gbps,latency=1us"


class Reports(ProgramCase):
    def makespans(self, platform):
        """Of every command that prints one: its arguments."""
        spec = "chain:ranks=3,bytes=64KiB,block=32KiB"
        noise = ["--noise", "exponential,mean=1us", "--samples", "3"]
        analytic = ["-p", platform, "-e", "analytic"]
        return [["simulate", spec, *analytic], ["simulate", spec, *analytic, *noise],
                ["slack", spec, *analytic], ["slack", spec, *analytic, *noise],
                ["slack", spec, *analytic, "--propagate", "op=1,by=1us"],
                ["slack", spec, *analytic, "--propagate", "by=1us"],
                ["slack", spec, *analytic, "--tolerance", "latency"],
                ["slack", spec, "-p", platform, "--price", "1us"],
                ["slack", spec, "-p", platform, "--slopes"],
                ["slack", spec, "-p", platform, "--suggest"],
                ["validate", spec, "-p", platform, "--on", "analytic", "--ops", "3"],
                ["offload", spec, *analytic, "--emulate", "--timings", "8"]]

    def test_every_makespan_has_the_platforms_figures(self):
        for command in self.makespans("star:rate=40Gbps"):
            text = self.good(*command)
            found = re.search(r"^ *figures +(\S+(?:\n +\S+,?$)*)", text, re.M)
            self.assertIsNotNone(found, text)
            figures = "".join(found[1].split())  # broken into lines behind commas
            for figure in ("rate=40Gbps", "latency=1us", "o_post=0", "gap=0", "nic=serial"):
                self.assertIn(figure, figures)
            # It is what --platform takes, and the same platform.
            self.assertEqual(self.document(*command)["platform_spec"], figures)
            again = [figures if a == "star:rate=40Gbps" else a for a in command]
            self.assertEqual(self.document(*again)["platform_spec"], figures)

    def test_figures_of_a_trace_and_of_advice(self):
        self.good("simulate", CHAIN, "-p", "star:rate=40Gbps", "--trace", "t")
        self.assertIn("  figures      star:nic=serial,rate=40Gbps,latency=1us,",
                      self.good("slack", CHAIN, "--trace", "t"))
        if "with SimGrid" in self.good("--version"):
            few = ["--patterns", "chain", "--blocks", "64KiB", "--samples", "0"]
            self.assertIn("  figures    star:nic=serial,rate=100Gbps,",
                          self.good("advise", "--ranks", 3, "--bytes", "64KiB", *few))

    def test_two_traces_have_their_figures(self):
        self.good("simulate", CHAIN, "-p", "star:rate=40Gbps", "--trace", "a")
        self.good("simulate", CHAIN, "-p", "star:rate=50Gbps", "--trace", "b")
        same, other = self.good("compare", "a", "a"), self.good("compare", "a", "b")
        self.assertRegex(same, r"(?m)^  figures +star:\S*rate=40Gbps,\S*$")
        self.assertRegex(other, r"(?m)^  first on +star:\S*rate=40Gbps,\S*$")
        self.assertRegex(other, r"(?m)^  second on +star:\S*rate=50Gbps,\S*$")

    def test_more_ranks_than_nodes(self):
        enough, many = "chain:ranks=16,bytes=64KiB", "chain:ranks=17,bytes=64KiB"
        self.assertNotIn("  nodes", self.good("simulate", enough, "-p", "fractus"))
        for command in (["simulate"], ["slack"], ["slack", "--tolerance", "latency"],
                        ["simulate", "--noise", "exponential,mean=1us", "--samples", "2"],
                        ["validate", "--ops", "2", "--on", "analytic"]):
            command = [command[0], many, *command[1:], "-p", "fractus"]
            self.assertRegex(self.good(*command), r"\n +nodes +17, but fractus has 16: ")
            found = self.document(*command)
            self.assertEqual((found["nodes"], found["platform_nodes"]), (17, 16))
        # Two to a node: nine of them.
        shared = ["simulate", many, "-p", "fractus:ranks_per_node=2"]
        self.assertNotIn("  nodes", self.good(*shared))
        self.assertEqual(self.document(*shared)["nodes"], 9)
        # Nobody said how many, or the network has no more.
        self.assertIsNone(self.document("simulate", many, "-p", "star:rate=1Gbps")["platform_nodes"])
        self.assertIn("196 hosts", self.bad("simulate", "chain:ranks=197,bytes=1", "-p", "apt"))

    def test_the_list_of_platforms_says_what_is_refused(self):
        listed = {p["name"]: p["nodes"] for p in self.document("list", "platforms")["platforms"]}
        text = self.good("list", "platforms")
        for name, nodes in listed.items():
            self.assertRegex(text, rf"(?m)^{name} +{'any number' if nodes is None else nodes} ")
            found = self.document("simulate", "chain:ranks=2,bytes=1", "-p", name)
            self.assertEqual(found["platform_nodes"], nodes)
        self.assertEqual((listed["apt"], listed["fractus"], listed["local"]), (196, 16, None))
        # No other number of nodes stands beside it.
        self.assertNotRegex(text, r"[\d,]+ nodes.*[\d,]+ nodes")

    def test_floats_are_no_promise_where_links_may_be_shared(self):
        commands = (["slack"], ["slack", "--propagate", "op=1,by=1us"],
                    ["slack", "--propagate", "by=1us"], ["slack", "--tolerance", "latency"],
                    ["slack", "--noise", "exponential,mean=1us", "--samples", "2"],
                    ["validate", "--ops", "3", "--on", "analytic"])
        spec = "binomial-pipeline:ranks=8,bytes=256KiB,block=64KiB"
        for command in commands:
            for platform, said in ((SHARED, True), ("fractus", False), ("fractus:nic=fair", True)):
                call = [command[0], spec, *command[1:], "-p", platform]
                line = self.good(*call).splitlines()[1]
                self.assertEqual("no promise: messages may share links" in line, said, call)
                asks_for_delays = command in (commands[0], commands[1], commands[2])
                self.assertEqual("; --price says" in line, said and asks_for_delays, call)
                found = self.document(*call)
                self.assertEqual(found["of_frozen_run_only"], said)
                self.assertEqual("share links" in (found["of_frozen_run_only_because"] or ""), said)

    def test_floats_are_no_promise_where_rates_change_at_given_times(self):
        # Two chains: the second message of the shorter one may go at a tenth of the rate.
        self.write("two.slackline", """slackline schedule 1
ranks 4
buffer 0 rank 0 bytes 100000
buffer 1 rank 1 bytes 100000
buffer 2 rank 2 bytes 400000
buffer 3 rank 3 bytes 400000
channel 0 from 0 to 1
channel 1 from 2 to 3
rank 0
  0 put on 0 reads 0[0+100000] writes 1[0+100000]
rank 2
  1 put on 1 reads 2[0+400000] writes 3[0+400000]
pre 0[0+100000] value 0
pre 2[0+400000] value 1
""")
        call = ["two.slackline", "-p", "star:rate=8Gbps,latency=1us",
                "--link-rate", "link=host-0.out,rate=800Mbps,at=110us"]
        found = self.document("slack", *call)
        self.assertGreater(found["total_float_s"][0], 290e-6)
        self.assertTrue(found["of_frozen_run_only"])
        self.assertIn("no promise: rates change, or ways are cut, at given times",
                      self.good("slack", *call).splitlines()[1])
        before = self.document("simulate", *call)["makespan_s"]
        after = self.document("simulate", *call, "--delay", "op=0,by=100us")["makespan_s"]
        self.assertGreater(after - before, 600e-6)
        trial = self.document("validate", *call, "--on", "flow", "--ops", "all", "--delay", "100us",
                              code=1)
        self.assertEqual([op["rates_kept"] for op in trial["ops"]], [False, True])

    def test_a_delay_within_the_float_that_costs_time(self):
        if "with SimGrid" not in self.good("--version"):
            self.skipTest("built without SimGrid")
        call = ["double-tree:ranks=8,bytes=2MiB,block=256KiB", "-p", SHARED]
        for engine in ("analytic", "simgrid"):
            found = self.document("slack", *call, "-e", engine)
            self.assertGreater(found["total_float_s"][219], 21.6e-6)
            self.assertTrue(found["of_frozen_run_only"])
            self.assertIn("no promise: messages may share links (rack-0.up is one)",
                          self.good("slack", *call, "-e", engine).splitlines()[1])
        before = self.document("simulate", *call)["makespan_s"]
        after = self.document("simulate", *call, "--delay", "op=219,by=21us")["makespan_s"]
        self.assertGreater(after - before, 10e-6)

    def test_the_rank_with_the_most_operations_without_float_is_first(self):
        # By their medians a leaf would be first.
        spec = "binomial-pipeline:ranks=8,bytes=64MiB,block=1MiB"
        rows = re.findall(r"(?m)^ +(\d+) +\d+ +(\d+) +(\S+ \S+) +\S+ \S+ +\S+ \S+$",
                          self.good("slack", spec, "--all").split("ranks by")[1].split("links")[0])
        self.assertEqual(len(rows), 8)
        without = [int(row[1]) for row in rows]
        self.assertEqual(without, sorted(without, reverse=True))
        least = [row[2] == "0 s" for row in rows]
        self.assertEqual(least, sorted(least, reverse=True))

    def test_a_trace_from_a_shared_network_says_so_too(self):
        self.good("simulate", PIPELINE, "-p", "fractus:nic=fair", "--trace", "t")
        self.assertIn("no promise", self.good("slack", PIPELINE, "--trace", "t").splitlines()[1])

    def test_samples_that_leave_sharing_out_say_so(self):
        noise = ["--noise", "exponential,mean=1us", "--samples", "3", "-p", SHARED]
        spec = "binomial-pipeline:ranks=8,bytes=256KiB,block=64KiB"
        for engine in ("analytic", "event"):
            self.assertIn("may be too short", self.good("simulate", spec, *noise, "-e", engine))
            self.assertTrue(self.document("simulate", spec, *noise, "-e", engine)["may_be_contended"])
        if "with SimGrid" in self.good("--version"):
            self.assertNotIn("too short", self.good("simulate", spec, *noise))
            self.assertFalse(self.document("simulate", spec, *noise)["may_be_contended"])

    def test_offloaded_runs_that_leave_sharing_out_say_so(self):
        spec = "binomial-pipeline:ranks=8,bytes=1MiB,block=64KiB"
        emulate = ["--emulate", "--timings", "8", "-p"]
        asked = [*emulate, SHARED, "-e", "analytic"]
        self.assertIn("times are too short", self.good("offload", spec, *asked))
        self.assertTrue(self.document("offload", spec, *asked)["contended"])
        found = self.document("offload", spec, *emulate, SHARED)  # where no engine is asked for
        self.assertFalse(found["contended"])
        self.assertEqual(found, self.document("offload", spec, *emulate, SHARED, "-e", "flow"))
        self.assertFalse(self.document("offload", spec, *emulate, "star:o_post=1us")["contended"])


if __name__ == "__main__":
    main()
