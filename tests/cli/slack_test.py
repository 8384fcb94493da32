"""slackline slack"""

import fractions
import json
import shutil

from program_case import CHAIN, PIPELINE, ProgramCase, main


class Slack(ProgramCase):
    def slack(self, *arguments):
        return self.document("slack", *arguments)

    def test_the_average_of_the_pipeline_is_the_published_one(self):
        for l in range(2, 7):
            n = 1 << l
            exact = 2 * (1 - fractions.Fraction(l - 1, n - 2))
            spec = f"binomial-pipeline:ranks={n},bytes=12KiB,block=1KiB"
            document = self.slack(spec)
            self.assertEqual(document["average_step_slack"], float(exact))
            self.assertEqual(document["average_step_slack_exact"], str(exact))
            self.assertEqual(document["smallest_step_slack"], 1)
            shown = f"average step slack {float(exact):.11g}"
            if exact.denominator != 1:
                shown += f" ({exact})"
            self.assertIn(f"{shown} over steady steps ", self.good("slack", spec))

    def test_the_document(self):
        document = self.slack(PIPELINE)
        ops = self.document("compile", PIPELINE)["ops"]
        for key in ("total_float_s", "free_float_s"):
            self.assertEqual(len(document[key]), ops)
            self.assertTrue(all(value >= 0 for value in document[key]))
        for free, total in zip(document["free_float_s"], document["total_float_s"]):
            self.assertLessEqual(free, total)
        self.assertEqual(min(document["total_float_s"]), 0)
        self.assertTrue(document["critical_path"])
        simulated = self.document("simulate", PIPELINE, "-e", "analytic")
        self.assertAlmostEqual(document["makespan_s"], simulated["makespan_s"], delta=1e-15)
        self.assertEqual(document["engine"], "analytic")
        self.assertEqual(document["platform"], "fractus")

    def test_it_says_whether_a_delay_may_cost_more_than_itself(self):
        spec = "binomial-pipeline:ranks=8,bytes=8MiB,block=1MiB"
        star = ["-p", "star:rate=100Gbps,latency=1us"]
        fixed = self.slack(spec, *star)
        self.assertIs(fixed["one_delay_costs_at_most_itself"], True)
        self.assertIsNone(fixed["order_open_at"])
        self.assertEqual(fixed["order_open_ops"], [])
        self.assertIn("a delay of one operation costs at most itself", self.good("slack", spec, *star))

        tree = "binomial-tree:ranks=4,bytes=320KiB,block=64KiB,window=1,in-flight=0"
        opened = self.slack(tree, *star)
        self.assertIs(opened["one_delay_costs_at_most_itself"], False)
        self.assertEqual(opened["order_open_at"], "out-port")
        first, second = opened["order_open_ops"]
        self.assertIn(f"a delay may cost more than itself: no arc fixes that op {first} comes before "
                      f"op {second} at a NIC's out-port", self.good("slack", tree, *star))

        changing = self.slack(spec, *star, "--link-rate", "link=host-1.out,rate=20Gbps,at=10us")
        self.assertEqual((changing["order_open_at"], changing["order_open_ops"]), ("rates", []))

    def test_without_relays_there_is_no_step_slack(self):
        document = self.slack("sequential:ranks=4,bytes=1MiB")
        self.assertIsNone(document["average_step_slack"])
        self.assertIn("no step slack", self.good("slack", "sequential:ranks=4,bytes=1MiB"))
        alone = self.slack("chain:ranks=1,bytes=1MiB")
        self.assertEqual((alone["makespan_s"], alone["critical_path"], alone["total_float_s"]),
                         (0, [], []))
        self.assertIn("total float  there is no operation\n",
                      self.good("slack", "chain:ranks=1,bytes=1MiB"))

    def test_a_delay_within_the_float_costs_nothing_and_beyond_it_the_rest(self):
        # Without overheads nothing can overtake on a chain, so what is predicted is what comes.
        spec = "chain:ranks=4,bytes=400KB,block=100KB,ready=none"
        star = ["-p", "star:rate=80Gbps,latency=1us", "-e", "analytic"]
        found = self.slack(spec, *star)
        makespan = found["makespan_s"]
        for op, slack in enumerate(found["total_float_s"]):
            for delay_ns in (int(slack * 1e9), int(slack * 1e9) + 5000):
                delayed = self.document("simulate", spec, *star, "--delay",
                                        f"op={op},by={delay_ns}ns")["makespan_s"]
                expected = makespan + max(0, delay_ns * 1e-9 - slack)
                self.assertAlmostEqual(delayed, expected, delta=1e-12, msg=f"op {op} {delay_ns} ns")

    def test_a_trace_has_the_answer_of_its_run(self):
        options = ["-p", "star:rate=40Gbps,latency=3us,o_post=100ns", "--delay", "op=9,by=7us",
                   "--slow-pair", "src=1,dst=2,rate=10Gbps", "-e", "analytic"]
        self.good("simulate", CHAIN, *options, "--trace", "t")
        by_run = self.slack(CHAIN, *options)
        by_trace = self.slack(CHAIN, "--trace", "t")
        for key in ("digest", "makespan_s", "critical_path", "total_float_s", "free_float_s",
                    "platform_spec", "average_step_slack"):
            self.assertEqual(by_run[key], by_trace[key], key)
        self.assertEqual(by_trace["engine"], by_run["answered_by"])
        self.good("slack", CHAIN, "--trace", "t")

    def test_a_trace_of_another_schedule_is_refused(self):
        self.good("simulate", CHAIN, "--trace", "t")
        self.assertIn("the trace is of schedule", self.bad("slack", PIPELINE, "--trace", "t"))
        trace = json.loads(self.read("t"))
        trace["done_s"][2] = None
        self.write("u", json.dumps(trace))
        self.assertIn("never finished", self.bad("slack", CHAIN, "--trace", "u"))
        trace.update(platform="", engine="run:shm")
        self.write("u", json.dumps(trace))
        self.assertIn("u: of a real run", self.bad("slack", CHAIN, "--trace", "u"))
        for option in (["-p", "fractus"], ["-e", "analytic"], ["--policy", "ready"],
                       ["--delay", "op=1,by=1us"], ["--delays", "d"],
                       ["--slow-pair", "src=0,dst=1,rate=1Gbps"]):
            self.assertIn("beside --trace", self.bad("slack", CHAIN, "--trace", "t", *option))

    def test_the_tables(self):
        short = self.good("slack", PIPELINE)
        whole = self.good("slack", PIPELINE, "--all")
        self.assertIn("(--all shows every one)", short)
        self.assertIn("… and 8 more ranks", short)
        path = self.slack(PIPELINE)["critical_path"]
        table = whole.split(f"critical path, {len(path)} entries:\n")[1]
        self.assertEqual([int(row.split()[0]) for row in table.splitlines()[1:]], path)

    def test_tolerance_is_what_the_run_with_more_of_the_figure_takes(self):
        # On a chain of whole blocks the order is the same whatever the figures.
        spec = "chain:ranks=4,bytes=400KB,block=100KB,ready=none"
        star = "star:rate=80Gbps,latency={latency}ns,o_post={overhead}ns,o_complete={completion}ns"
        now = {"latency": 1000, "overhead": 100, "completion": 200}
        run = ["-e", "analytic"]
        document = self.slack(spec, "-p", star.format(**now), *run, "--tolerance",
                              "latency,overhead", "--tolerance", "completion")
        self.assertEqual([found["figure"] for found in document["tolerances"]],
                         ["latency", "overhead", "completion"])
        for found in document["tolerances"]:
            self.assertEqual(found["unit"], "s")
            self.assertAlmostEqual(found["piece_from"][0], -now[found["figure"]] * 1e-9, delta=1e-20)
            for more_ns in (-50, 0, 300, 2000):
                figures = dict(now)
                figures[found["figure"]] += more_ns
                really = self.document("simulate", spec, "-p", star.format(**figures), *run)
                piece = max(i for i, at in enumerate(found["piece_from"]) if at <= more_ns * 1e-9)
                foretold = (found["piece_makespan_s"][piece] + found["piece_slope"][piece] *
                            (more_ns * 1e-9 - found["piece_from"][piece]))
                self.assertAlmostEqual(foretold, really["makespan_s"], delta=1e-14,
                                       msg=f"{found['figure']} {more_ns}")

    def test_tolerance_of_every_figure(self):
        figures = ["latency", "overhead", "completion", "gap", "links", "link=host-0.out", "rank=1",
                   "slowdown=1", "op=5"]
        document = self.slack(CHAIN, "--tolerance", ",".join(figures))
        self.assertEqual([found["figure"] for found in document["tolerances"]], figures)
        for found in document["tolerances"]:
            bearable = [found[f"bearable_{percent}_percent"] for percent in (1, 2, 5)]
            self.assertEqual(bearable, sorted(bearable))
            self.assertEqual(found["piece_slope"], sorted(set(found["piece_slope"])))
        self.assertEqual({found["unit"] for found in document["tolerances"]},
                         {"s", "s_per_byte", "1"})
        table = self.good("slack", CHAIN, "--tolerance", ",".join(figures))
        for figure in figures:
            self.assertIn(f"\n  {figure} ", table)
        # Nothing costs anything where nothing happens.
        alone = self.slack("chain:ranks=1,bytes=1MiB", "--tolerance", "latency")
        self.assertIsNone(alone["tolerances"][0]["bearable_5_percent"])
        self.assertIn(" any ", self.good("slack", "chain:ranks=1,bytes=1MiB", "--tolerance",
                                         "latency"))

    def test_tolerance_refuses_what_there_is_not(self):
        for figure, said in (("speed", "no figure of a run"), ("gap,", "no figure of a run"),
                             ("rank=", "no figure of a run"), ("rank=x", "whole number"),
                             ("rank=3", "rank 3 does not exist; expected 0 to 2"),
                             ("op=99", "op 99 does not exist"),
                             ("link=rack-1.up", "has no link 'rack-1.up'"),
                             ("gap,gap", "gap given twice")):
            self.assertIn(said, self.bad("slack", CHAIN, "--tolerance", figure), figure)
        self.assertIn("beside --propagate", self.bad("slack", CHAIN, "--tolerance", "gap",
                                                     "--propagate", "op=1,by=1us"))

    def test_simgrid_has_the_same_floats(self):
        if "with SimGrid" not in self.good("--version"):
            self.skipTest("built without SimGrid")
        by_simgrid = self.slack(PIPELINE, "-e", "simgrid")
        by_analytic = self.slack(PIPELINE, "-e", "analytic")
        self.assertEqual(by_simgrid["answered_by"], "simgrid")
        for a, b in zip(by_simgrid["total_float_s"], by_analytic["total_float_s"]):
            self.assertAlmostEqual(a, b, delta=1e-9 * by_analytic["makespan_s"])

    def test_links_and_ranks(self):
        document = self.slack(PIPELINE, "-p", "two-level:racks=4,hosts=4,rate=40Gbps")
        total = document["total_float_s"]
        self.assertEqual(min(document["rank_least_float_s"]), min(total))
        self.assertEqual(len(document["rank_median_float_s"]), 16)
        links = {link["link"]: link for link in document["links"]}
        for link in links.values():
            self.assertGreater(link["messages"], 0)
            self.assertLessEqual(link["least_float_s"], link["median_float_s"])
            self.assertLessEqual(link["median_float_s"], link["most_float_s"])
        self.assertIn("rack-0.up", links)
        self.assertNotIn("host-0.in", links)  # the root receives nothing but credits
        sends = [f for f in document["message_float_s"] if f is not None]
        self.assertEqual(min(link["least_float_s"] for link in links.values()), min(sends))
        self.assertIn("links by the least total float of the messages that pass them", self.good(
            "slack", PIPELINE))
        # What has no bytes passes no link.
        self.assertNotIn("links by", self.good("slack", "chain:ranks=3,bytes=0"))

    def test_contention(self):
        if "with SimGrid" not in self.good("--version"):
            self.skipTest("built without SimGrid")
        racks = ["-p", "two-level:racks=4,hosts=4,oversubscription=4,rate=40Gbps,latency=1us,"
                       "o_post=200ns,placement=round-robin"]
        contended = self.slack(PIPELINE, *racks, "-e", "simgrid")
        self.assertEqual(contended["wire_times"], "run")
        self.assertLess(contended["unexplained_s"], 1e-9 * contended["makespan_s"])
        simulated = self.document("simulate", PIPELINE, *racks)["makespan_s"]
        self.assertAlmostEqual(contended["makespan_s"], simulated, delta=1e-9 * simulated)
        self.assertIn("wire times", self.good("slack", PIPELINE, *racks, "-e", "simgrid"))
        by_model = self.slack(PIPELINE, *racks, "-e", "simgrid", "--wire", "model")
        self.assertEqual(by_model["wire_times"], "model")
        self.assertGreater(by_model["unexplained_s"], 0.1 * simulated)
        self.assertIn("floats are off", self.good("slack", PIPELINE, *racks, "-e", "simgrid",
                                                  "--wire", "model"))
        self.assertIn("--engine flow has slack with it",
                      self.good("slack", PIPELINE, *racks, "-e", "analytic"))
        by_flow = self.slack(PIPELINE, *racks, "-e", "flow")
        # Who asks for no engine is not told the time without sharing.
        self.assertEqual(self.slack(PIPELINE, *racks), by_flow)
        noise = ("--noise", "exponential,mean=1us", "--samples", "3")
        self.assertEqual(self.slack(PIPELINE, *racks, *noise), self.slack(PIPELINE, *racks, *noise, "-e", "flow"))
        self.assertEqual(self.slack(PIPELINE)["engine"], "analytic")
        self.assertIn("--wire model", self.bad("slack", PIPELINE, *racks, "--tolerance", "links"))
        self.assertEqual(by_flow["wire_times"], "run")
        self.assertAlmostEqual(by_flow["makespan_s"], simulated, delta=5e-9)
        self.good("simulate", PIPELINE, *racks, "-e", "flow", "--trace", "f")
        by_trace = self.slack(PIPELINE, "--trace", "f")
        self.assertEqual(by_trace["total_float_s"], by_flow["total_float_s"])
        # From its trace it is the same, and where nothing is shared the model explains the run.
        self.good("simulate", PIPELINE, *racks, "--trace", "t")
        by_trace = self.slack(PIPELINE, "--trace", "t")
        self.assertEqual(by_trace["total_float_s"], contended["total_float_s"])
        self.assertEqual(self.slack(PIPELINE, "-e", "simgrid")["wire_times"], "model")
        self.assertIn("expected model or run", self.bad("slack", PIPELINE, "--wire", "x"))

    def test_a_propagated_delay(self):
        spec = "chain:ranks=4,bytes=400KB,block=100KB,ready=none"
        star = ["-p", "star:rate=80Gbps,latency=1us", "-e", "analytic"]
        base = self.document("simulate", spec, *star)
        for op in range(len(self.slack(spec, *star)["total_float_s"])):
            found = self.slack(spec, *star, "--propagate", f"op={op},by=7us")
            delayed = self.document("simulate", spec, *star, "--delay", f"op={op},by=7us")
            self.assertTrue(found["as_foretold"])
            self.assertEqual((found["delay_op"], found["delay_of"]), (op, "op"))
            self.assertAlmostEqual(found["makespan_later_s"],
                                   delayed["makespan_s"] - base["makespan_s"], delta=1e-12)
            for foretold, before, after in zip(found["rank_later_s"], base["rank_finish_s"],
                                               delayed["rank_finish_s"]):
                self.assertAlmostEqual(foretold, after - before, delta=1e-12)
        every = self.slack(spec, *star, "--propagate", "by=7us")
        for op, later in enumerate(every["op_makespan_later_s"]):
            one = self.slack(spec, *star, "--propagate", f"op={op},by=7us")
            self.assertAlmostEqual(later, one["makespan_later_s"], delta=1e-15)
            self.assertAlmostEqual(every["op_rank_later_mean_s"][op],
                                   sum(one["rank_later_s"]) / 4, delta=1e-15)
        self.assertEqual(every, self.slack(spec, *star, "--propagate", "by=7us", "--jobs", "1"))
        report = self.good("slack", spec, *star, "--propagate", "op=0,by=7us,of=lane")
        self.assertIn("the run that is really delayed is the one foretold", report)
        self.assertIn("ops by what their delay costs", self.good("slack", spec, *star,
                                                                 "--propagate", "by=7us"))

    def test_a_delay_that_changes_the_order_shows_the_difference(self):
        if "with SimGrid" not in self.good("--version"):
            self.skipTest("built without SimGrid")
        racks = ["-p", "two-level:racks=4,hosts=4,oversubscription=4,rate=40Gbps,latency=1us,"
                       "o_post=200ns,placement=round-robin", "-e", "simgrid"]
        found = self.slack(PIPELINE, *racks, "--propagate", "op=20,by=100us")
        self.assertFalse(found["as_foretold"])
        self.assertGreater(found["largest_difference_s"], 1e-9)
        self.assertIn("operations up to", self.good("slack", PIPELINE, *racks, "--propagate",
                                                    "op=20,by=100us"))
        # What neither model nor run tells: others take the share of the link that it left.
        self.assertGreater(found["makespan_later_s"], 90e-6)
        self.assertLess(found["makespan_really_later_s"], 10e-6)

    def test_a_trace_can_be_delayed_if_it_can_be_had_again(self):
        self.good("simulate", CHAIN, "-e", "analytic", "--trace", "t")
        self.assertEqual(self.slack(CHAIN, "--trace", "t", "--propagate", "op=2,by=5us"),
                         self.slack(CHAIN, "--propagate", "op=2,by=5us") | {
                             "engine": "longest-path",
                             "platform_nodes": None,  # a trace has figures, and no name
                             "platform": self.slack(CHAIN, "--trace", "t")["platform"]})
        # A trace does not tell the policy that its run had.
        spec = "sequential:ranks=4,bytes=4MiB,block=1MiB,in-flight=0"
        self.good("simulate", spec, "-e", "analytic", "--sends-in-flight", "1", "--trace", "u")
        found = self.slack(spec, "--trace", "u", "--propagate", "op=2,by=5us")
        self.assertIsNone(found["makespan_really_later_s"])
        self.assertIsNone(found["as_foretold"])
        self.assertIn("cannot be had again",
                      self.good("slack", spec, "--trace", "u", "--propagate", "op=2,by=5us"))

    def test_a_price_is_what_the_delayed_run_costs(self):
        racks = ["-p", "two-level:racks=4,hosts=4,oversubscription=4,rate=40Gbps,latency=1us,"
                       "o_post=200ns,placement=round-robin"]
        spec = "double-tree:ranks=8,bytes=512KiB,block=128KiB"
        priced = self.slack(spec, *racks, "--price", "20us")
        self.assertEqual(priced["engine"], "flow")
        self.assertAlmostEqual(priced["delay_by_s"], 20e-6, delta=1e-20)
        undelayed = self.document("simulate", spec, *racks, "-e", "flow")["makespan_s"]
        self.assertEqual(priced["makespan_s"], undelayed)
        self.assertEqual(len(priced["op_cost_s"]), self.document("compile", spec)["ops"])
        for op in range(0, len(priced["op_cost_s"]), 9):
            delayed = self.document("simulate", spec, *racks, "-e", "flow", "--delay",
                                    f"op={op},by=20us,of=lane")["makespan_s"]
            self.assertAlmostEqual(priced["op_cost_s"][op], delayed - undelayed,
                                   delta=1e-12 * undelayed)
        for jobs in (1, 3):
            self.assertEqual(priced, self.slack(spec, *racks, "--price", "20us", "--jobs", jobs))
        report = self.good("slack", spec, *racks, "--price", "20us", "--all")
        listed = report.split("most first:\n")[1].split("\n\n")[0].splitlines()[1:]
        self.assertEqual(len(listed), len(priced["op_cost_s"]))
        nothing = sum(abs(cost) < 1e-15 for cost in priced["op_cost_s"])
        self.assertIn(f"costs nothing            at {nothing} of {len(listed)} ops", report)
        for said in ("costs less than nothing", "costs more than itself",
                     "ranks by what a delay of their ops costs on average"):
            self.assertIn(said, report)

    def test_a_price_is_the_foretold_cost_where_nothing_is_shared(self):
        spec = "chain:ranks=4,bytes=400KB,block=100KB,ready=none"
        star = ["-p", "star:rate=80Gbps,latency=1us"]
        foretold = self.slack(spec, *star, "--propagate", "by=7us")["op_makespan_later_s"]
        priced = self.slack(spec, *star, "--price", "7us")["op_cost_s"]
        slopes = self.slack(spec, *star, "--slopes")
        floats = self.slack(spec, *star)["total_float_s"]
        for later, cost, slope, slack in zip(foretold, priced, slopes["op_slope"], floats):
            self.assertAlmostEqual(later, cost, delta=1e-14)
            self.assertEqual(slope, 1 if slack < 1e-12 else 0)
        self.assertEqual(set(slopes["op_at_once_s"]), {0})
        self.assertIn("gains          at 0 ops\n", self.good("slack", spec, *star, "--slopes"))
        found = self.slack(spec, *star, "--suggest")
        self.assertEqual((found["suggested"], found["confirmed_by"]), ([], None))
        self.assertEqual(found["makespan_with_s"], found["makespan_s"])
        self.assertIn("no delay that was tried", self.good("slack", spec, *star, "--suggest"))

    def test_suggested_delays_make_it_faster(self):
        racks = ["-p", "two-level:racks=4,hosts=4,oversubscription=4,placement=round-robin"]
        spec = "binomial-pipeline:ranks=16,bytes=4MiB,block=1MiB"
        found = self.slack(spec, *racks, "--suggest")
        self.assertTrue(found["suggested"])
        self.assertLess(found["makespan_with_s"], found["makespan_s"])
        options = " ".join(delay["option"] for delay in found["suggested"]).split()
        again = self.document("simulate", spec, *racks, "-e", "flow", *options)["makespan_s"]
        self.assertAlmostEqual(again, found["makespan_with_s"], delta=1e-12 * again)
        if found["confirmed_by"] is not None:
            self.assertAlmostEqual(found["confirmed_with_s"], again, delta=5e-9)
            self.assertLess(found["confirmed_with_s"], found["confirmed_without_s"])
        report = self.good("slack", spec, *racks, "--suggest")
        for delay in found["suggested"]:
            self.assertIn(f"\n  {delay['option']}\n", report)
        gains = [op for op, (slope, at_once) in enumerate(zip(
            *(self.slack(spec, *racks, "--slopes")[key] for key in ("op_slope", "op_at_once_s"))))
                 if at_once < 0 or at_once == 0 and slope < 0]
        self.assertIn(f"gains          at {len(gains)} ops",
                      self.good("slack", spec, *racks, "--slopes"))

    def test_an_exact_float_is_the_largest_delay_that_costs_nothing(self):
        racks = ("-p", "two-level:racks=2,hosts=4,oversubscription=4,rate=40Gbps,latency=1us")
        spec = "double-tree:ranks=8,bytes=512KiB,block=128KiB"
        found = self.slack(spec, *racks, "--exact-float", "all")
        self.assertEqual(found["op"], list(range(self.document("compile", spec)["ops"])))
        floats = self.slack(spec, *racks, "-e", "flow")["total_float_s"]
        self.assertEqual(found["frozen_float_s"], floats)
        for op in range(0, len(found["op"]), 11):
            for key, costs in (("free_until_s", False), ("costs_from_s", True),
                               ("largest_free_s", False)):
                delay = round(found[key][op] * 1e12)
                if delay == 0:
                    continue
                priced = self.slack(spec, *racks, "--price", f"{delay}ps")["op_cost_s"][op]
                self.assertEqual(priced > 1e-12 * found["makespan_s"], costs, (op, key))
        some = self.slack(spec, *racks, "--exact-float", "7,3", "--jobs", "1")
        self.assertEqual(some["op"], [7, 3])
        self.assertEqual(some["free_until_s"], [found["free_until_s"][op] for op in (7, 3)])
        report = self.good("slack", spec, *racks, "--exact-float", "all", "--all")
        self.assertEqual(len(report.split("least first:\n")[1].splitlines()) - 1,
                         len(found["op"]))

    def test_what_a_better_link_saves(self):
        racks = "two-level:racks=2,hosts=4,oversubscription=4,rate=40Gbps,latency=1us"
        spec = "double-tree:ranks=8,bytes=512KiB,block=128KiB"
        found = self.slack(spec, "-p", racks, "--what-if")
        undelayed = self.document("simulate", spec, "-p", racks, "-e", "flow")["makespan_s"]
        self.assertEqual(found["makespan_s"], undelayed)
        links = {link["link"]: link for link in found["links"]}
        up = links["rack-0.up"]
        for rate, key in ((up["rate_bits_per_s"] * 101 // 100, "makespan_1_percent_faster_s"),
                          (up["rate_bits_per_s"] * 99 // 100, "makespan_1_percent_slower_s"),
                          (up["rate_bits_per_s"] * 2, "makespan_twice_as_fast_s")):
            really = self.document("simulate", spec, "-p", racks, "-e", "flow", "--link-rate",
                                   f"link=rack-0.up,rate={rate / 1e9:.9f}Gbps")["makespan_s"]
            self.assertAlmostEqual(up[key], really, delta=1e-12 * really)
        self.assertGreater(up["makespan_1_percent_slower_s"], undelayed)
        self.assertAlmostEqual(up["nearer_by_s"], 10e-9, delta=1e-20)
        self.assertLessEqual(up["makespan_nearer_s"], undelayed)
        for jobs in (1, 3):
            self.assertEqual(found, self.slack(spec, "-p", racks, "--what-if", "--jobs", jobs))
        report = self.good("slack", spec, "-p", racks, "--what-if", "--all")
        of_links, of_ranks = report.split("what less costs:\n")[1].split("\n\n")
        self.assertEqual(len(of_links.splitlines()) - 1, len(links))
        self.assertEqual(len(of_ranks.splitlines()) - 2, 8)

    def test_what_a_slower_rank_costs(self):
        figures = "star:rate=40Gbps,latency=1us,o_post=2us"
        found = self.slack(CHAIN, "-p", figures, "--what-if")
        self.assertEqual([rank["rank"] for rank in found["ranks"]],
                         list(range(len(found["ranks"]))))
        for rank in found["ranks"]:
            for slowdown, key in ((1.01, "makespan_1_percent_slower_s"),
                                  (2, "makespan_twice_as_slow_s")):
                really = self.document("simulate", CHAIN, "-p", figures, "--straggler",
                                       f"rank={rank['rank']},slowdown={slowdown}")["makespan_s"]
                self.assertAlmostEqual(rank[key], really, delta=1e-9 * really)
        self.assertGreater(found["ranks"][0]["makespan_twice_as_slow_s"], found["makespan_s"])

    def test_what_really_delays_refuses_what_it_has_no_use_for(self):
        self.good("simulate", CHAIN, "-e", "analytic", "--trace", "t")
        for option in (["--price", "1us"], ["--slopes"], ["--exact-float", "all"], ["--suggest"],
                       ["--what-if"]):
            for other in (["--trace", "t"], ["--wire", "run"], ["--propagate", "by=1us"],
                          ["--tolerance", "gap"], ["--samples", "2"], ["--chrome", "c"],
                          ["--heat-map", "h"]):
                self.assertIn(f"{other[0]} beside {option[0]}; expected one of them",
                              self.bad("slack", CHAIN, *option, *other))
            self.assertIn("expected --engine flow",
                          self.bad("slack", CHAIN, *option, "-e", "analytic"))
            if option != ["--slopes"]:
                self.assertIn("--report beside", self.bad("slack", CHAIN, *option, "--report",
                                                          "r"))
            self.good("slack", CHAIN, *option, "-e", "flow", "--jobs", "1")
        self.assertIn("--slopes beside --price", self.bad("slack", CHAIN, "--price", "1us",
                                                          "--slopes"))
        self.assertIn("--suggest beside --slopes", self.bad("slack", CHAIN, "--suggest",
                                                            "--slopes"))
        self.assertIn("--what-if beside --price", self.bad("slack", CHAIN, "--what-if", "--price",
                                                           "1us"))
        for time in ("0", "0us", "x", "-1us"):
            self.assertIn("--price", self.bad("slack", CHAIN, "--price", time))
        for ops in ("", "x", "1,,2", "-1"):
            self.assertIn("--exact-float", self.bad("slack", CHAIN, "--exact-float", ops))
        self.assertIn("'x'; expected numbers of operations, as 3,17, or all",
                      self.bad("slack", CHAIN, "--exact-float", "3,x"))
        self.assertIn("op 4000000 does not exist",
                      self.bad("slack", CHAIN, "--exact-float", "4000000"))
        self.assertIn("never ends", self.bad("slack", CHAIN, "--price", "1us", "--fail",
                                             "rank=1,at=1us"))
        alone = self.slack("chain:ranks=1,bytes=1MiB", "--price", "1us")
        self.assertEqual((alone["makespan_s"], alone["op_cost_s"]), (0, []))
        self.good("slack", "chain:ranks=1,bytes=1MiB", "--price", "1us")
        self.good("slack", "chain:ranks=1,bytes=1MiB", "--slopes")
        self.good("slack", "chain:ranks=1,bytes=1MiB", "--exact-float", "all")
        self.good("slack", "chain:ranks=1,bytes=1MiB", "--suggest")
        alone = self.slack("chain:ranks=1,bytes=1MiB", "--what-if")
        self.assertEqual((alone["links"], len(alone["ranks"])), ([], 1))
        self.good("slack", "chain:ranks=1,bytes=1MiB", "--what-if")

    def test_criticality(self):
        noise = ["--noise", "exponential,mean=20us,chance=10%", "--samples", "50"]
        found = self.slack(PIPELINE, *noise)
        ops = self.document("compile", PIPELINE)["ops"]
        self.assertEqual((len(found["op_criticality"]), len(found["rank_criticality"])), (ops, 16))
        self.assertEqual(len(found["makespan_samples_s"]), 50)
        self.assertTrue(all(0 <= share <= 1 for share in found["op_criticality"]))
        self.assertGreater(max(found["op_criticality"]), 0.5)
        for jobs in (1, 3):
            self.assertEqual(found, self.slack(PIPELINE, *noise, "--jobs", jobs))
        # The samples are those of simulate.
        simulated = self.document("simulate", PIPELINE, "-e", "analytic", *noise)
        self.assertEqual(found["makespan_samples_s"], simulated["makespan_samples_s"])
        self.assertIn("share of samples", self.good("slack", PIPELINE, *noise))
        # Without noise every sample is the run itself.
        shares = self.slack(CHAIN, "--samples", 1)["op_criticality"]
        path = set(self.slack(CHAIN)["critical_path"])
        self.assertEqual(shares, [1 if op in path else 0 for op in range(len(shares))])
        self.assertIn("never finished", self.bad("slack", CHAIN, *noise, "--fail",
                                                 "rank=1,at=1us"))

    def test_criticality_with_simulators(self):
        if "with SimGrid" not in self.good("--version"):
            self.skipTest("built without SimGrid")
        noise = ["--noise", "exponential,mean=20us,chance=10%", "--samples", "8"]
        by_analytic = self.slack(CHAIN, *noise)
        for engine in ("simgrid", "flow"):
            by_simulator = self.slack(CHAIN, *noise, "-e", engine)
            for key in ("op_criticality", "rank_criticality"):
                self.assertEqual(by_simulator[key], by_analytic[key], engine)

    def test_pictures(self):
        before = self.good("slack", PIPELINE)
        self.assertEqual(before, self.good("slack", PIPELINE, "--chrome", "c.json"))
        document = self.slack(PIPELINE)
        seen = set()
        for event in json.loads(self.read("c.json"))["traceEvents"]:
            if event["ph"] != "X":
                continue
            op = event["args"]["op"]
            seen.add(op)
            for key, name in (("total_float_us", "total_float_s"),
                              ("free_float_us", "free_float_s")):
                self.assertAlmostEqual(event["args"][key], document[name][op] * 1e6, delta=1e-9)
        self.assertEqual(seen, set(range(len(document["total_float_s"]))))
        if shutil.which("gnuplot"):
            self.good("slack", PIPELINE, "--heat-map", "h.svg")
            svg = self.read("h.svg")
            for text in ("</svg>", "least total float", "rank", "step", "no float"):
                self.assertIn(text, svg)

    def test_edge_cases(self):
        nothing = "chain:ranks=1,bytes=1MiB"
        self.good("slack", nothing)
        self.assertEqual(self.slack(nothing)["links"], [])
        self.assertEqual(self.slack(nothing)["rank_least_float_s"], [None])
        every = self.slack(nothing, "--propagate", "by=1us")
        self.assertEqual((every["op_makespan_later_s"], every["makespan_s"]), ([], 0))
        self.good("slack", nothing, "--propagate", "by=1us")
        self.assertIn("op 0", self.bad("slack", nothing, "--propagate", "op=0,by=1us"))
        sampled = self.slack(nothing, "--samples", 1)
        self.assertEqual((sampled["op_criticality"], sampled["rank_criticality"],
                          sampled["makespan_mean_s"]), ([], [0], 0))
        self.good("slack", nothing, "--samples", 1)
        self.good("slack", nothing, "--chrome", "n.json")
        if shutil.which("gnuplot"):
            self.good("slack", nothing, "--heat-map", "n.svg")
            self.good("slack", "chain:ranks=2,bytes=0", "--heat-map", "z.svg")

    def test_what_does_not_go_together(self):
        self.good("simulate", CHAIN, "--trace", "t")
        for option in (["--trace", "t"], ["--wire", "run"], ["--propagate", "by=1us"],
                       ["--heat-map", "x"], ["--chrome", "x"]):
            self.assertIn("beside --samples", self.bad("slack", CHAIN, "--samples", 2, *option))
        for option in ("--heat-map", "--chrome"):
            self.assertIn("beside --propagate",
                          self.bad("slack", CHAIN, "--propagate", "by=1us", option, "x"))
            self.assertIn("expected a file", self.bad("slack", CHAIN, option, "-"))
        self.assertIn("--samples", self.bad("slack", CHAIN, "--samples", 0))
        self.assertIn("--propagate", self.bad("slack", CHAIN, "--propagate", "op=1"))
        self.assertIn("op 999", self.bad("slack", CHAIN, "--propagate", "op=999,by=1us"))


if __name__ == "__main__":
    main()
