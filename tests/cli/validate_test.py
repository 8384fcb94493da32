"""slackline validate"""

import csv

from program_case import CHAIN, PATTERNS, PIPELINE, ProgramCase, main

SMALL = "ranks=5,bytes=300KiB,block=100KiB"
SHARED = "two-level:racks=4,hosts=4,oversubscription=8"


class Validate(ProgramCase):
    def validate(self, *arguments, code=0):
        return self.document("validate", *arguments, code=code)

    def has_simgrid(self):
        return "with SimGrid" in self.good("--version")

    def test_no_error_on_a_star_wherever_the_order_is_kept(self):
        for pattern in PATTERNS:
            if pattern in ("ring-buffer", "table-multicast"):
                continue
            document = self.validate(f"{pattern}:{SMALL}", "--ops", "all", "--on", "analytic",
                                     "--delay", "1us")
            self.assertTrue(document["ok"], pattern)
            self.assertLessEqual(document["max_abs_error_s"],
                                 1e-9 * document["makespan_s"] + 1e-11, pattern)
            self.assertEqual(document["median_rel_error"], 0, pattern)
            self.assertEqual(document["checked"], len(document["ops"]))

    def test_the_document(self):
        document = self.validate(PIPELINE, "--ops", "20", "--choose", "random", "--seed", "7",
                                 "--on", "analytic", "--delay", "30us")
        self.assertEqual(document["checked"], 20)
        slack = self.document("slack", PIPELINE)["total_float_s"]
        for op in document["ops"]:
            self.assertEqual(op["total_float_s"], slack[op["op"]])
            self.assertAlmostEqual(op["predicted_shift_s"], max(0, 30e-6 - slack[op["op"]]),
                                   delta=1e-15)
            self.assertAlmostEqual(op["error_s"], op["measured_shift_s"] - op["predicted_shift_s"],
                                   delta=1e-14)
        self.assertEqual(document["max_abs_error_s"],
                         max(abs(op["error_s"]) for op in document["ops"]))
        again = self.validate(PIPELINE, "--ops", "20", "--choose", "random", "--seed", "7",
                              "--on", "analytic", "--delay", "30us", "--jobs", "3")
        self.assertEqual(document, again)
        other = self.validate(PIPELINE, "--ops", "20", "--choose", "random", "--seed", "8",
                              "--on", "analytic")
        self.assertNotEqual([op["op"] for op in document["ops"]],
                            [op["op"] for op in other["ops"]])

    def test_each_run_is_the_one_of_simulate(self):
        document = self.validate(CHAIN, "--ops", "all", "--on", "analytic", "--delay", "40us")
        makespan = self.document("simulate", CHAIN, "-e", "analytic")["makespan_s"]
        self.assertEqual(document["makespan_s"], makespan)
        for op in document["ops"]:
            delayed = self.document(
                "simulate", CHAIN, "-e", "analytic", "--delay",
                f"op={op['op']},by=40us" + (",of=lane" if op["of_lane"] else ""))["makespan_s"]
            self.assertAlmostEqual(op["measured_shift_s"], delayed - makespan, delta=1e-15)

    def test_choices_and_multiples(self):
        slack = self.document("slack", PIPELINE)["total_float_s"]
        least = self.validate(PIPELINE, "--choose", "least", "--ops", "9", "--on", "analytic")
        self.assertEqual({op["total_float_s"] for op in least["ops"]}, {0})
        most = self.validate(PIPELINE, "--choose", "most", "--ops", "9", "--on", "analytic",
                             "--delay", "x2")
        self.assertEqual(sorted(op["total_float_s"] for op in most["ops"]), sorted(slack)[-9:])
        for op in most["ops"]:
            self.assertAlmostEqual(op["delay_s"], 2 * op["total_float_s"], delta=1e-12)
            self.assertAlmostEqual(op["predicted_shift_s"], op["total_float_s"], delta=1e-12)

    def test_beyond_the_tolerance_the_answer_is_no(self):
        spec = "double-tree:ranks=8,bytes=8MiB,block=1MiB"
        options = [spec, "--ops", "all", "--on", "analytic", "--delay", "100us"]
        self.assertTrue(self.validate(*options)["ok"])
        strict = self.validate(*options, "--tolerance", "1e-9", code=1)
        self.assertFalse(strict["ok"])
        self.assertGreater(strict["beyond_tolerance"], 0)
        off = [op for op in strict["ops"] if abs(op["error_s"]) > 1e-9 * strict["makespan_s"]]
        self.assertEqual(len(off), strict["beyond_tolerance"])
        self.assertFalse(any(op["order_kept"] for op in off))
        text = self.run_well("validate", *options, "--tolerance", "1e-9", code=1)
        self.assertIn("beyond it", text)
        self.assertIn("worst first", text)
        self.assertIn("(send, rank ", text)
        self.assertTrue(self.validate(*options, "--tolerance", "1")["ok"])

    def test_files(self):
        self.good("validate", PIPELINE, "--ops", "10", "--on", "analytic", "--csv", "v.csv")
        rows = list(csv.DictReader(self.read("v.csv").splitlines()))
        document = self.validate(PIPELINE, "--ops", "10", "--on", "analytic")
        self.assertEqual([int(row["op"]) for row in rows], [op["op"] for op in document["ops"]])
        for row, op in zip(rows, document["ops"]):
            self.assertEqual(float(row["measured_s"]), op["measured_shift_s"])
            self.assertEqual(float(row["error_s"]), op["error_s"])
        done = self.run_program("validate", PIPELINE, "--ops", "10", "--on", "analytic", "--plot",
                                "v.svg")
        if done.code == 3:
            self.assertIn("gnuplot", done.err)
        else:
            self.assertIn("</svg>", self.read("v.svg"))

    def test_on_simgrid_with_shared_links(self):
        if not self.has_simgrid():
            self.skipTest("without SimGrid")
        document = self.validate(PIPELINE, "-p", SHARED, "--ops", "30")
        self.assertEqual(document["on"], "simgrid")
        self.assertGreater(document["shared"], 0)
        self.assertEqual(document, self.validate(PIPELINE, "-p", SHARED, "--ops", "30", "--jobs",
                                                 "1"))
        self.assertGreater(document["max_abs_error_s"], 1e-9 * document["makespan_s"])
        self.validate(PIPELINE, "-p", SHARED, "--ops", "30", "--tolerance", "0", code=1)
        for engine in ("simgrid", "flow"):
            star = self.validate(PIPELINE, "--on", engine, "--ops", "30", "--delay", "100us")
            self.assertLessEqual(star["max_abs_error_s"], 1e-9 * star["makespan_s"])
        by_flow = self.validate(PIPELINE, "-p", SHARED, "--on", "flow", "--ops", "30")
        self.assertEqual(by_flow["shared"], document["shared"])
        self.assertAlmostEqual(by_flow["max_abs_error_s"], document["max_abs_error_s"], delta=1e-8)

    def test_a_delay_is_foreseen_by_the_flow_engine_where_frozen_runs_are_off(self):
        if not self.has_simgrid():
            self.skipTest("without SimGrid")
        options = ("double-tree:ranks=16,bytes=1MiB,block=128KiB", "-p", SHARED, "--ops", "60",
                   "--delay", "20us")
        document = self.validate(*options, "--on", "simgrid")
        first, _, flow = document["predictions"]
        self.assertEqual(flow["name"], "each delay run by the flow engine")
        self.assertGreater(first["max_rel_error"], 0.1)
        # SimGrid rounds to some nanoseconds where links are shared.
        self.assertLess(flow["max_abs_error_s"], 5e-9)
        self.assertEqual([p["name"] for p in self.validate(*options, "--on", "flow")["predictions"]],
                         [p["name"] for p in document["predictions"][:-1]])
        self.good("validate", *options, "--on", "simgrid", "--csv", "v.csv")
        for row in csv.DictReader(self.read("v.csv").splitlines()):
            self.assertEqual(row["total_float_s_3"], "")
            self.assertAlmostEqual(float(row["predicted_s_3"]), float(row["measured_s"]), delta=5e-9)

    def test_a_run_that_never_ends_is_foreseen_by_the_flow_engine(self):
        if not self.has_simgrid():
            self.skipTest("without SimGrid")
        arguments = ("chain:ranks=4,bytes=64KiB,block=16KiB", "--platform", "star", "--fail",
                     "rank=3,at=20us", "--ops", "all", "--delay", "100us")
        frozen, foreseen = self.validate(*arguments, code=1)["predictions"]
        self.assertIsNone(frozen["max_abs_error_s"])
        self.assertEqual((foreseen["max_abs_error_s"], foreseen["max_rel_error"]), (0, 0))
        for word in self.run_well("validate", *arguments, code=1).split():
            self.assertNotIn(word, ("inf", "nan"))

    def test_one_rank(self):
        document = self.validate("chain:ranks=1,bytes=1MiB", "--on", "analytic")
        self.assertEqual((document["ok"], document["checked"], document["max_abs_error_s"],
                          document["ops"]), (True, 0, 0, []))
        self.good("validate", "chain:ranks=1,bytes=1MiB", "--ops", "all", "--on", "analytic")

    def test_refusals(self):
        for arguments, said in [
                (["--on", "run", "--jobs", "2"], "--jobs with --on run"),
                (["--on", "run", "--repeats", "0"], "--repeats"),
                (["--on", "run", "-t", "pigeon"], "no 'pigeon'"),
                (["--on", "run", "--ranks", "3"], "--ranks stands there without --rank"),
                (["--on", "run", "--slow-pair", "src=0,dst=1,rate=1Gbps"], "cannot apply"),
                (["--repeats", "3"], "--repeats without --on run"),
                (["--transport", "shm"], "--transport without --on run"),
                (["--on", "sim"], "--on: 'sim'"),
                (["--ops", "0"], "--ops"),
                (["--ops", "some"], "--ops"),
                (["--choose", "best"], "--choose: 'best'"),
                (["--delay", "10"], "--delay"),
                (["--delay", "0"], "--delay"),
                (["--delay", "x0"], "--delay"),
                (["--delay", "xx"], "--delay"),
                (["--tolerance", "-1"], "--tolerance"),
                (["--tolerance", "nan"], "--tolerance"),
                (["--jobs", "0"], "--jobs"),
                (["--csv", "-"], "--csv -"),
                (["--plot", "-"], "--plot -"),
                (["--csv", "nowhere/v.csv"], "nowhere/v.csv"),
        ]:
            with self.subTest(arguments):
                tail = [] if "--on" in arguments else ["--on", "analytic"]
                self.assertIn(said, self.bad("validate", CHAIN, *arguments, *tail))
        self.assertIn("not complete", self.bad("validate", CHAIN, "--on", "analytic", "--fail",
                                             "rank=1,at=10us"))


if __name__ == "__main__":
    main()
