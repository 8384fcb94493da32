"""slackline simulate"""

import csv
import json
import re
import shutil
import statistics
import unittest
import xml.etree.ElementTree

from program_case import CHAIN, PATTERNS, PIPELINE, ProgramCase, block, main

STAR = "star:rate=80Gbps,latency=1us"  # 10 GB/s, no overheads


class Simulate(ProgramCase):
    def simulate(self, *arguments):
        return self.document("simulate", *arguments)

    def test_a_time_known_by_hand(self):
        # Two blocks of 1 MB over two hops at 10 GB/s: three block times of 100 us, and two
        # latencies; the last acknowledgement takes one more.
        document = self.simulate("chain:ranks=3,bytes=2MB,block=1MB,ready=none,in-flight=0",
                                 "-p", STAR, "-e", "analytic")
        self.assertAlmostEqual(document["makespan_s"], 303e-6, delta=1e-15)
        self.assertAlmostEqual(document["rank_finish_s"][2], 302e-6, delta=1e-15)
        self.assertAlmostEqual(document["bandwidth_bytes_per_s"], 2e6 / document["makespan_s"],
                               delta=1e-3)
        self.assertEqual(document["nic_out_bytes"], [2000000, 2000000, 0])
        self.assertEqual(document["nic_in_bytes"], [0, 2000000, 2000000])
        for way in ("out", "in"):
            for bytes, share in zip(document[f"nic_{way}_bytes"],
                                    document[f"nic_{way}_utilisation"]):
                self.assertAlmostEqual(share, bytes / 1e10 / document["makespan_s"], delta=1e-12)

    def test_what_of_a_delay_plan_changes_nothing_is_named(self):
        spec = "chain:ranks=4,bytes=4MiB,block=1MiB"
        none = ("--delay", "op=3,by=0", "--delay", "rank=3,step=1,by=10us",
                "--straggler", "rank=3,slowdown=4", "--noise", "constant,by=1us,chance=0",
                "--slow-pair", "src=0,dst=3,rate=1Gbps", "--slow-pair", "src=1,dst=2,rate=500Gbps",
                "--link-rate", "link=switch-1-0.up-0,rate=1Gbps", "--fail", "rank=3,at=1s")
        platform = ("-p", "fat-tree:down=4x4,up=1x2")
        plain = self.simulate(spec, *platform)
        self.assertEqual(plain["delays_without_effect"], [])
        document = self.simulate(spec, *platform, *none)
        self.assertEqual(document["rank_finish_s"], plain["rank_finish_s"])
        named = document["delays_without_effect"]
        self.assertEqual(len(named), len(none) // 2)
        self.assertEqual([each["why"] for each in named if each["entry"].startswith("slow pair")],
                         ["no message goes that way", "its rate is not below the NIC's"])
        samples = self.simulate(spec, *platform, *none, "--noise", "exponential,mean=1us", "--samples", "2")
        left_out = ("noise", "failure")  # which samples differ in
        self.assertEqual(samples["delays_without_effect"],
                         [each for each in named if not each["entry"].startswith(left_out)])
        of_validate = none[4:]  # whose own --delay is another
        for command, plan, expected in ((("slack",), none, named), (("slack", "--price", "1us"), none, named),
                                        (("validate", "--delay", "1us"), of_validate, named[2:])):
            document = self.document(*command, spec, *platform, *plan)
            self.assertEqual(document["delays_without_effect"], expected, command)
        # What comes after the end of the run may stop one that is delayed.
        for command, code in (("slack", "--price"), 0), (("validate", "--delay"), 1):
            document = self.document(*command, "20s", spec, *platform, *none[-2:], code=code)
            self.assertEqual(document["delays_without_effect"], [], command)
        # On a platform on which posts take time the straggler is slow.
        document = self.simulate(spec, "-p", STAR + ",o_post=1us", "--straggler", "rank=3,slowdown=4")
        self.assertEqual(document["delays_without_effect"], [])

    def test_the_answer_does_not_depend_on_whether_the_trace_is_kept(self):
        for spec, platform in ((PIPELINE, "fractus"), (PIPELINE, "fat-tree:arity=4,rate=100Gbps,latency=600ns"),
                               (CHAIN, "star:rate=80Gbps,latency=1us,rails=2"),
                               ("allreduce:ranks=6,bytes=1MiB,block=64KiB", "fractus"),
                               ("hash-table:ranks=4,operations=20", "fdr-4node")):
            arguments = (spec, "-p", platform, "-e", "simgrid", "--noise", "exponential,mean=1us", "--seed", "3")
            bare, whole = self.simulate(*arguments), self.simulate(*arguments, "--trace", "run.trace")
            self.assertEqual(whole.pop("trace"), "run.trace")
            bare.pop("trace", None)
            self.assertEqual(bare, whole)

    def test_the_processors_time_is_told(self):
        parts = ("posts_s", "work_s", "looks_s", "blocks_s", "interrupts_s", "delays_s", "polling_s", "asleep_s")
        for poll_for, asleep in (("", False), (":poll_for=0", True)):
            document = self.simulate(CHAIN, "-p", "fractus" + poll_for, "-e", "event", "--cpu")
            self.assertEqual([rank["rank"] for rank in document["cpu"]], [0, 1, 2])
            for rank in document["cpu"]:
                self.assertAlmostEqual(sum(rank[part] for part in parts), document["makespan_s"], delta=1e-12)
                self.assertAlmostEqual(rank["busy"], 1 - rank["asleep_s"] / document["makespan_s"], delta=1e-9)
                self.assertEqual(rank["asleep_s"] > 0, asleep)
                self.assertGreater(rank["posts_s"], 0)
        self.assertNotIn("cpu", self.simulate(CHAIN, "-e", "event"))
        # A switch has no program that polls.
        on_switch = self.simulate("switch-multicast:ranks=3,bytes=1MiB", "-p", "star:switches=switch", "-e", "event",
                                  "--cpu")["cpu"]
        self.assertEqual([round(rank["busy"], 9) for rank in on_switch], [1, 1, 0])
        self.assertIn("--samples 3 with --cpu", self.bad("simulate", CHAIN, "--noise", "exponential,mean=1us",
                                                         "--samples", "3", "--cpu"))

    def test_links_of_messages_that_choose_their_way_are_not_told(self):
        self.assertIn("--links: routing=adaptive", self.bad(
            "simulate", CHAIN, "-e", "flow", "--links", "links.csv", "-p",
            "fat-tree:down=4x5,up=1x2,routing=adaptive"))

    def test_a_stream_is_the_schedule(self):
        for spec in (PIPELINE, CHAIN, "double-tree:ranks=2,bytes=3MB,block=100KB",
                     "binomial-tree:ranks=7,bytes=3MB,block=100KB,first-block=copy"):
            slow = ("-e", "analytic", "--straggler", "rank=1,slowdown=1.01")
            streamed = self.simulate(spec, *slow)
            proved = self.simulate(spec, *slow, "--prove")
            self.assertEqual(streamed["answered_by"], "stream")
            self.assertIn(proved["answered_by"], ("longest-path", "event"))
            for key in ("makespan_s", "rank_finish_s", "nic_out_bytes", "nic_in_bytes", "bytes"):
                self.assertEqual(streamed[key], proved[key], key)

    def test_one_rank_of_a_collective_stands_for_all(self):
        for spec in ("allreduce:ranks=8,bytes=1MiB,by=ring,adders=2",
                     "allgather:ranks=7,bytes=100KB", "alltoall:ranks=6,bytes=20KB",
                     "barrier:ranks=5"):
            with self.subTest(spec=spec):
                streamed = self.simulate(spec, "-e", "analytic")
                proved = self.simulate(spec, "-e", "analytic", "--prove")
                self.assertEqual(streamed["answered_by"], "stream")
                self.assertIn(proved["answered_by"], ("longest-path", "event"))
                for key in ("makespan_s", "rank_finish_s", "nic_out_bytes", "nic_in_bytes",
                            "bytes"):
                    self.assertEqual(streamed[key], proved[key], key)
        for spec in ("allreduce:ranks=8,bytes=1000001,by=ring", "alltoall:ranks=8,bytes=1KiB"):
            with self.subTest(spec=spec):
                self.assertIn(self.simulate(spec, "-e", "analytic")["answered_by"],
                              ("longest-path", "event"))

    def test_a_stream_hides_no_bad_placement(self):
        self.write("one.txt", "host-0\n")
        for engine in ("analytic", "simgrid"):
            with self.subTest(engine=engine):
                done = self.run_program("simulate", CHAIN, "-e", engine,
                                        "-p", "fractus:placement=file:one.txt")
                if engine == "simgrid" and done.code == 3:
                    self.skipTest("built without SimGrid")
                self.assertEqual(done.code, 2)
                self.assertIn("1 hosts for 3 ranks", done.err)

    def test_approximate_samples(self):
        spec = "binomial-pipeline:ranks=16,bytes=1MiB,block=32KiB"
        noisy = (spec, "-e", "analytic", "--noise", "uniform,low=0,high=1us", "--samples", "20")
        exact = self.simulate(*noisy)
        near = self.simulate(*noisy, "--approximate")
        self.assertNotIn("inexact", exact)
        self.assertGreater(near["inexact"], 0)
        self.assertEqual(near["compared"], min(4, near["inexact"]))
        self.assertLess(near["worst_difference"], 0.05)
        self.assertAlmostEqual(near["makespan_mean_s"], exact["makespan_mean_s"],
                               delta=0.05 * exact["makespan_mean_s"])
        self.assertEqual(self.simulate(*noisy, "--approximate", "--jobs", "1"), near)
        for more, why in ((("-e", "simgrid"), "--engine analytic"), (("-p", "apt"), "no star"),
                          (("--policy", "ready"), "in-order"), (("--prove",), "--prove")):
            done = self.run_program("simulate", spec, "--approximate",
                                    *(("-e", "analytic") if more[0] != "-e" else ()), *more)
            self.assertEqual(done.code, 2)
            self.assertIn(why, done.err)

    def test_the_document(self):
        document = self.simulate(PIPELINE, "--engine", "analytic")
        self.assertEqual(document["engine"], "analytic")
        self.assertEqual(document["answered_by"], "stream")
        self.assertIsNone(document["digest"])
        self.assertEqual(document["platform"], "fractus")
        self.assertTrue(document["platform_spec"].startswith("star:"))
        self.assertIs(document["proved"], False)
        self.assertIs(document["contended"], False)
        self.assertEqual(len(document["rank_finish_s"]), 16)
        self.assertEqual(max(document["rank_finish_s"]), document["makespan_s"])
        self.assertIs(self.simulate(PIPELINE, "--prove")["proved"], True)
        self.compiled(PIPELINE)
        from_file = self.simulate("x.sched", "--engine", "analytic")
        self.assertIs(from_file["proved"], True)
        self.assertIs(self.simulate("x.sched", "--no-proof")["proved"], False)
        for key in ("makespan_s", "rank_finish_s", "nic_out_bytes"):
            self.assertEqual(from_file[key], document[key], key)

    def test_the_engines_agree(self):
        if "with SimGrid" not in self.good("--version"):
            self.skipTest("built without SimGrid")
        self.assertEqual(self.simulate(CHAIN)["engine"], "simgrid")
        for pattern in PATTERNS:
            spec = f"{pattern}:ranks=7,bytes=500KB{block(pattern, '64KiB')}"
            for more in ([], ["--delay", "op=3,by=40us,of=lane"], ["--policy", "ready"],
                         ["--slow-pair", "src=0,dst=1,rate=5Gbps"]):
                by_analytic = self.simulate(spec, "-e", "analytic", *more)
                for engine in ("simgrid", "flow"):
                    simulated = self.simulate(spec, "-e", engine, *more)
                    for a, b in zip(simulated["rank_finish_s"], by_analytic["rank_finish_s"]):
                        self.assertAlmostEqual(a, b, delta=1e-9 * b, msg=f"{spec} {more}")

    def test_an_empty_run_has_no_bandwidth(self):
        for engine in ("analytic", self.simulate(CHAIN)["engine"]):
            document = self.simulate("chain:ranks=1,bytes=1MiB", "-e", engine)
            self.assertEqual(document["makespan_s"], 0)
            self.assertIsNone(document["bandwidth_bytes_per_s"])
            self.assertEqual(document["rank_finish_s"], [0])

    def test_delays_from_a_file_and_from_the_command_line(self):
        self.write("d.toml", """schema = 1
            [[delay]]
            op = 3
            by = "10us"
            of = "lane"
            [[delay]]
            rank = 1
            step = 1
            by = "30us"
            [[slow_pair]]
            src = 1
            dst = 2
            rate = "10Gbps"
            """)
        inline = ["--delay", "op=3,by=10us,of=lane", "--delay", "rank=1,step=1,by=30us",
                  "--slow-pair", "src=1,dst=2,rate=10Gbps"]
        undelayed = self.simulate(CHAIN)["makespan_s"]
        by_file = self.simulate(CHAIN, "--delays", "d.toml")
        self.assertGreater(by_file["makespan_s"], undelayed + 30e-6)
        self.assertEqual(self.simulate(CHAIN, *inline), by_file)
        split = self.simulate(CHAIN, "--delays", "d.toml", "--delay", "op=3,by=5us")
        whole = self.simulate(CHAIN, *inline, "--delay", "op=3,by=5us")
        self.assertEqual(split, whole)

    def test_a_delay_of_the_last_send_is_the_delay_of_the_whole(self):
        spec = "chain:ranks=2,bytes=1MiB,ready=none"
        before = self.simulate(spec, "-e", "analytic")["makespan_s"]
        after = self.simulate(spec, "-e", "analytic", "--delay", "op=0,by=1ms")["makespan_s"]
        self.assertAlmostEqual(after - before, 1e-3, delta=1e-12)

    def test_the_seed_is_noted(self):
        first, second = (self.simulate(CHAIN, "--seed", seed) for seed in ("0", "7"))
        self.assertEqual(second.pop("seed"), 7)
        self.assertEqual(first.pop("seed"), 0)
        self.assertEqual(first, second)

    def test_samples_do_not_depend_on_how_many_run_at_once(self):
        noise = ["--noise", "exponential,mean=1us"]
        for engine in ("analytic", self.simulate(CHAIN)["engine"]):
            alone, together = (
                self.simulate(CHAIN, "-e", engine, *noise, "--samples", "7", "--jobs", jobs)
                for jobs in ("1", "3"))
            self.assertEqual(alone, together)
            self.assertEqual(len(alone["makespan_samples_s"]), 7)
            self.assertEqual(alone["makespan_samples_s"][0],
                             self.simulate(CHAIN, "-e", engine, *noise)["makespan_s"])
        self.assertIn("--trace", self.bad("simulate", CHAIN, "--samples", "2", "--trace", "t"))

    def test_how_samples_are_distributed(self):
        noise = ["--noise", "exponential,mean=1us", "--samples", "40"]
        for engine in ("event", "analytic"):  # of which the second is streamed
            found = self.simulate(CHAIN, "-e", engine, *noise, "--csv", "d.csv", "--plot", "d.svg")
            with open(self.folder / "d.csv", newline="") as file:
                rows = list(csv.DictReader(file))
            self.assertEqual(list(rows[0]), ["share", "makespan_s", "rank_0_s", "rank_1_s", "rank_2_s"])
            columns = {name: [float(row[name]) for row in rows] for name in rows[0]}
            self.assertEqual(columns["share"], [(i + 1) / 40 for i in range(40)])
            self.assertEqual(columns["makespan_s"], sorted(found["makespan_samples_s"]))
            for rank in range(3):
                times = columns[f"rank_{rank}_s"]
                self.assertEqual(times, sorted(times))
                for key, place in (("min", 0), ("p5", 1), ("p95", 37), ("p99", 39), ("max", 39)):
                    self.assertEqual(found[f"rank_finish_{key}_s"][rank], times[place], key)
                self.assertEqual(found["rank_finish_median_s"][rank], statistics.median(times))
                self.assertAlmostEqual(found["rank_finish_mean_s"][rank], sum(times) / 40)
                self.assertGreater(found["rank_finish_deviation_s"][rank], 0)
            picture = xml.etree.ElementTree.parse(self.folder / "d.svg").getroot()
            paths = [e for e in picture.iter() if e.tag.endswith("}path")]
            self.assertEqual([next(iter(path)).text for path in paths],
                             ["rank 2", "rank 1", "rank 0", "makespan"])
            texts = {e.text for e in picture.iter() if e.tag.endswith("}text")}
            self.assertLessEqual({"makespan", "each rank's end", "time", "share of runs"}, texts)
            steps = re.findall(r"H([0-9.]+)V([0-9.]+)", paths[-1].get("d"))
            self.assertEqual(len(steps), 40)
            low, high = min(columns["rank_0_s"]), max(columns["makespan_s"])
            for (x, y), time_s, share in zip(steps, columns["makespan_s"], columns["share"]):
                self.assertAlmostEqual(float(x), 60 + 640 * (time_s - low) / (high - low), delta=0.02)
                self.assertAlmostEqual(float(y), 72 + 360 * (1 - share), delta=0.02)

    def test_samples_of_which_some_never_end(self):
        done = self.run_program("simulate", CHAIN, "-e", "event", "--fail", "rank=2,at=200us", "--noise",
                                "exponential,mean=1us", "--samples", "9", "--csv", "d.csv", "--plot", "d.svg")
        self.assertEqual(done.code, 1)
        self.assertIn(",inf", self.read("d.csv"))
        xml.etree.ElementTree.parse(self.folder / "d.svg")

    def test_samples_of_which_none_ends(self):
        arguments = ["simulate", "chain:ranks=3,bytes=2MiB,block=1MiB", "-e", "event", "--fail",
                     "rank=2,at=200us", "--noise", "exponential,mean=1us", "--samples", "9"]
        found = self.document(*arguments, code=1)
        self.assertEqual(found["never_ended"], 9)
        self.assertIsNone(found["makespan_median_s"])
        # Rank 0 does all of its part, rank 1 waits for ever, rank 2 is gone.
        first, *others = found["rank_finish_median_s"]
        self.assertGreater(first, 170e-6)
        self.assertEqual(others, [None, None])
        lines = self.run_program(*arguments).out.split("\n")
        for name in "makespan", "rank 1", "rank 2":
            line = next(line for line in lines if line.startswith("  " + name))
            self.assertEqual(set(line[len(name) + 2:].split()), {"–"}, line)

    def test_one_run_has_no_distribution(self):
        for option in ("--csv", "--plot"):
            self.assertIn("without --samples", self.bad("simulate", CHAIN, option, "x"))
        self.assertIn("expected a place for each",
                      self.bad("simulate", CHAIN, "--noise", "exponential,mean=1us", "--samples", "3",
                               "--csv", "x", "--plot", "x"))

    def test_a_bound_on_sends_in_flight(self):
        # One after another: an acknowledgement lies between two sends.
        spec = "sequential:ranks=3,bytes=1MB,block=1MB,ready=none,in-flight=0"
        free = self.simulate(spec, "-p", STAR, "-e", "analytic")["makespan_s"]
        for policy in ("in-order", "ready", "least-slack"):
            one = self.simulate(spec, "-p", STAR, "-e", "analytic", "--sends-in-flight", "1",
                                "--policy", policy)["makespan_s"]
            self.assertAlmostEqual(free, 202e-6, delta=1e-12)
            self.assertAlmostEqual(one, 204e-6, delta=1e-12)

    def test_a_failed_host_ends_in_a_report(self):
        self.write("f.toml", """[[failure]]
            rank = 2
            at = "150us"
            """)
        spec = "chain:ranks=4,bytes=4MB,block=1MB,ready=none"
        for engine in ("analytic", self.simulate(CHAIN)["engine"]):
            command = ("simulate", spec, "-p", STAR, "-e", engine, "--delays", "f.toml")
            document = self.document(*command, code=1)
            self.assertIsNone(document["makespan_s"])
            self.assertIs(document["complete"], False)
            self.assertEqual([rank["fate"] for rank in document["ranks"]],
                             ["complete", "stranded", "gone", "cut off"])
            self.assertEqual(document["ranks"][3]["delivered_bytes"], 0)
            self.assertEqual(document["ranks"][3]["expected_bytes"], 4000000)
            # What never left its sender counts on no NIC, and nothing is a share of no makespan.
            self.assertEqual(document["nic_out_bytes"], [4000000, 1000000, 0, 0])
            self.assertEqual(document["nic_in_bytes"], [0, 4000000, 1000000, 0])
            for way in ("out", "in"):
                self.assertEqual(document[f"nic_{way}_utilisation"], [None] * 4)
            self.assertIn("cut off", self.run_well(*command, code=1))

    def test_the_trace(self):
        document = self.simulate(PIPELINE, "--trace", "t", "--seed", "9")
        self.assertEqual(document["trace"], "t")
        trace = json.loads(self.read("t"))
        self.assertEqual(trace["schedule"], document["digest"])
        self.assertEqual(trace["platform"], document["platform_spec"])
        self.assertEqual(trace["engine"], document["answered_by"])
        self.assertEqual(trace["seed"], 9)
        self.assertEqual(max(trace["done_s"]), document["makespan_s"])
        self.assertEqual(self.good("simulate", PIPELINE, "--trace", "-", "--seed", "9"),
                         self.read("t"))
        self.bad("simulate", PIPELINE, "--trace", "-", "--json")

    def test_the_same_command_prints_the_same_bytes(self):
        for arguments in ([PIPELINE], [PIPELINE, "--json"], [PIPELINE, "--trace", "-"]):
            self.assertEqual(self.good("simulate", *arguments), self.good("simulate", *arguments))

    def test_the_table(self):
        out = self.good("simulate", PIPELINE)
        for name in ("platform +fractus", "engine", "makespan", "bandwidth .*Gb/s", "busiest NIC"):
            self.assertRegex(out, f"(?m)^  {name}")
        self.assertEqual(len(out.split("\n\n")[1].splitlines()), 17)
        large = "binomial-pipeline:ranks=40,bytes=1MiB"
        self.assertIn("and 24 more ranks; rank", self.good("simulate", large))
        self.assertEqual(len(self.good("simulate", large, "--all").split("\n\n")[1].splitlines()),
                         41)
        self.assertIn("delays       1 delay",
                      self.good("simulate", CHAIN, "--delay", "op=3,by=1us"))

    def test_shared_nics_are_owned_up_to(self):
        # Two thirds of the ranks send at once; the analytic engine lets each have its full rate.
        spec = "binomial-pipeline:ranks=12,bytes=4MiB,block=1MiB"
        fair = self.simulate(spec, "-p", f"{STAR},nic=fair", "-e", "analytic")
        out = self.good("simulate", spec, "-p", f"{STAR},nic=fair", "-e", "analytic")
        self.assertEqual("messages shared a NIC" in out, fair["contended"])

    def test_platform_files(self):
        self.write("p.toml", 'schema = 1\nname = "mine"\n[nic]\nrate = "80Gbps"\n')
        document = self.simulate(CHAIN, "--platform", "p.toml")
        self.assertEqual(document["platform"], "mine")
        self.assertIn("rate=80Gbps", document["platform_spec"])


class Congestion(ProgramCase):
    """Queues, marks and pauses of the fluid engine."""

    def test_patterns_on_three_networks(self):
        spec = "scatter-allgather:ranks=8,bytes=4MiB,block=512KiB,in-flight=0"
        for network in ("star:", "two-level:racks=3,hosts=3,", "fat-tree:arity=4,"):
            plain = f"{network}nic=fair,rate=40Gbps,latency=2us"
            flow = self.document("simulate", spec, "-p", plain, "-e", "flow")
            off = self.document("simulate", spec, "-p", plain, "-e", "fluid")
            self.assertEqual((off["engine"], off["answered_by"]), ("fluid", "flow"))
            self.assertEqual(off["makespan_s"], flow["makespan_s"])
            self.assertNotIn("congestion", off)
            for control in ("pfc", "dcqcn", "dcqcn+pfc"):
                on = f"{plain},congestion={control}"
                document = self.document("simulate", spec, "-p", on, "-e", "fluid")
                self.assertEqual(document["answered_by"], "fluid")
                self.assertIn(f"congestion={control}", document["platform_spec"])
                self.assertTrue(document["complete"])
                self.assertGreaterEqual(document["makespan_s"], 4 * 2**20 / 5e9)
                links = {link["link"]: link for link in document["congestion"]}
                self.assertTrue({"host-0.out", "host-1.in"} <= set(links))
                for link in links.values():
                    self.assertLessEqual(link["mean_queue_bytes"], link["largest_queue_bytes"])
                    self.assertLessEqual(link["paused_s"], document["makespan_s"])
                    self.assertEqual(link["pauses"] == 0, link["paused_s"] == 0)
                    if control == "pfc":
                        self.assertEqual(link["marked_packets"], 0)
                    if control == "dcqcn":
                        self.assertEqual(link["pauses"], 0)

    def test_the_table(self):
        # Two ranks send to a third: under PFC each link in holds XOFF of 24475 bytes.
        self.write("incast", "slackline schedule 1\nranks 3\nbuffer 0 rank 0 bytes 4MB\n"
                             "buffer 1 rank 1 bytes 4MB\nbuffer 2 rank 2 bytes 8MB\n"
                             "channel 0 from 0 to 2\nchannel 1 from 1 to 2\nrank 0\n"
                             "  0 put on 0 reads 0[0+4000000] writes 2[0+4000000]\nrank 1\n"
                             "  1 put on 1 reads 1[0+4000000] writes 2[4000000+4000000]\n")
        run = ("simulate", "incast", "-p",
               "star:nic=fair,rate=40Gbps,latency=2us,congestion=pfc", "-e", "fluid", "--no-proof")
        text = self.good(*run)
        self.assertRegex(text, r"link +largest queue +mean queue +marked packets +pauses +stopped for")
        self.assertRegex(text, r"host-2\.in +\S+ KiB +\S+ KiB +0 +0 +0 s")
        self.assertEqual(text, self.good(*run))
        links = {link["link"]: link for link in self.document(*run)["congestion"]}
        self.assertGreater(links["host-2.in"]["largest_queue_bytes"], 2 * 24475 - 1)
        self.assertGreater(links["host-0.out"]["pauses"], 100)
        self.assertRegex(self.good(*run, "--noise", "uniform,low=0,high=5us", "--samples", "3"),
                         r"samples +3, seeds")

    def incast(self, senders):
        """A file: they all send to the rank behind them."""
        each = 400_000
        text = f"slackline schedule 1\nranks {senders + 1}\n"
        for rank in range(senders):
            text += f"buffer {rank} rank {rank} bytes {each}\n"
        text += f"buffer {senders} rank {senders} bytes {senders * each}\n"
        for rank in range(senders):
            text += f"channel {rank} from {rank} to {senders}\n"
        for rank in range(senders):
            text += (f"rank {rank}\n  {rank} put on {rank} reads {rank}[0+{each}] "
                     f"writes {senders}[{rank * each}+{each}]\n")
        self.write("many", text)
        return "many", "--no-proof"

    def test_queues_and_rates_over_time(self):
        spec = self.incast(3)
        run = ("simulate", *spec, "-p", "star:nic=fair,rate=40Gbps,latency=2us,congestion=dcqcn+pfc",
               "-e", "fluid")
        document = self.document(*run, "--queues", "queues.csv", "--rates", "rates.csv")
        queues = list(csv.DictReader(self.read("queues.csv").splitlines()))
        self.assertEqual(list(queues[0]), ["link", "begin_s", "end_s", "mean_bytes",
                                           "largest_bytes"])
        for link in document["congestion"]:
            rows = [row for row in queues if row["link"] == link["link"]]
            self.assertEqual(max((round(float(row["largest_bytes"])) for row in rows), default=0),
                             link["largest_queue_bytes"], link)
        rates = list(csv.DictReader(self.read("rates.csv").splitlines()))
        self.assertEqual(list(rates[0]), ["channel", "from", "to", "begin_s", "end_s",
                                          "bytes_per_s", "allowed_bytes_per_s"])
        out = {}
        for row in rates:
            width_s = float(row["end_s"]) - float(row["begin_s"])
            out[row["from"]] = out.get(row["from"], 0) + float(row["bytes_per_s"]) * width_s
            self.assertLessEqual(float(row["bytes_per_s"]), 5e9 * (1 + 1e-6))
        for link in document["congestion"]:
            if link["link"].endswith(".out"):
                rank = link["link"][len("host-"):-len(".out")]
                self.assertAlmostEqual(out[rank] / link["bytes"], 1, delta=1e-6)
        # A run that nobody watches is the same.
        self.assertEqual(self.document(*run)["makespan_s"], document["makespan_s"])
        self.assertIn("--queues: this run has no queues; expected --engine fluid",
                      self.bad("simulate", *spec, "--queues", "queues.csv"))
        self.assertIn("--rates: this run has no queues",
                      self.bad("simulate", *spec, "-e", "fluid", "--rates", "rates.svg"))
        self.assertIn("--queues and --rates both go to x.csv",
                      self.bad(*run, "--queues", "x.csv", "--rates", "x.csv"))
        self.assertIn("--samples 2 with --rates",
                      self.bad(*run, "--noise", "uniform,low=0,high=5us", "--samples", "2",
                               "--rates", "x.csv"))

    @unittest.skipUnless(shutil.which("gnuplot"), "needs gnuplot")
    def test_queues_and_rates_are_drawn(self):
        self.good("simulate", *self.incast(9), "-p", "star:nic=fair,rate=40Gbps,congestion=dcqcn",
                  "-e", "fluid", "--queues", "queues.svg", "--rates", "rates.svg")
        for name, title in (("queues.svg", "largest queue before each link<"),
                            ("rates.svg", "what each channel sent (8 of 9 channels with the most)<")):
            self.assertTrue(title in self.read(name), name)

    def test_who_else_refuses(self):
        on = "star:nic=fair,congestion=dcqcn"
        for engine in ("flow", "event", "analytic", "simgrid"):
            self.assertIn("congestion=dcqcn: this engine has no queues, marks and pauses; expected "
                          "--engine fluid", self.bad("simulate", CHAIN, "-p", on, "-e", engine))
        for command in (("slack", CHAIN, "-e", "fluid"),
                        ("simulate", CHAIN, "-e", "fluid", "--report", "r.html")):
            self.assertIn("congestion=dcqcn, with which a message's time depends on all others",
                          self.bad(*command, "-p", on))
        self.assertIn("offload: ", self.bad("offload", f"{CHAIN},ready=none", "-p", on, "--emulate", "-e", "fluid"))
        self.assertIn("testbed: congestion=dcqcn", self.bad("testbed", on, "--hosts", "2"))


class Contents(ProgramCase):
    def test_what_data_structures_hold_is_looked_at(self):
        for spec in ("hash-table:ranks=4,operations=20", "queue:ranks=4,operations=20,level=checksum",
                     "hash-table:ranks=3,operations=9,via=am", "queue:ranks=3,operations=9,via=am"):
            for engine in ("event", "flow", "simgrid"):
                done = self.run_program("simulate", spec, "--engine", engine, "--json")
                self.assertEqual(done.code, 0, done)
                document = json.loads(done.out)
                self.assertEqual((document["contents_checked"], document["contents_findings"]),
                                 (True, []), spec)
                self.assertIn("should leave them", self.run_program("simulate", spec, "--engine",
                                                                    engine).out)
        adds = self.document("simulate", "random-access:ranks=4,accesses=50,by=fetch-add")
        self.assertTrue(adds["contents_checked"])
        self.assertFalse(self.document("simulate", CHAIN, "--engine", "event")["contents_checked"])


if __name__ == "__main__":
    main()
