"""slackline slack"""

import fractions
import json

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

    def test_without_relays_there_is_no_step_slack(self):
        document = self.slack("sequential:ranks=4,bytes=1MiB")
        self.assertIsNone(document["average_step_slack"])
        self.assertIn("no step slack", self.good("slack", "sequential:ranks=4,bytes=1MiB"))
        alone = self.slack("chain:ranks=1,bytes=1MiB")
        self.assertEqual((alone["makespan_s"], alone["critical_path"], alone["total_float_s"]),
                         (0, [], []))
        self.good("slack", "chain:ranks=1,bytes=1MiB")

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

    def test_simgrid_has_the_same_floats(self):
        if "with SimGrid" not in self.good("--version"):
            self.skipTest("built without SimGrid")
        by_simgrid = self.slack(PIPELINE, "-e", "simgrid")
        by_analytic = self.slack(PIPELINE, "-e", "analytic")
        self.assertEqual(by_simgrid["answered_by"], "simgrid")
        for a, b in zip(by_simgrid["total_float_s"], by_analytic["total_float_s"]):
            self.assertAlmostEqual(a, b, delta=1e-9 * by_analytic["makespan_s"])


if __name__ == "__main__":
    main()
