"""Options that would change nothing where they stand are refused, or it is said."""

from program_case import CHAIN, PIPELINE, ProgramCase, main

NOISE = ["--noise", "exponential,mean=1us"]


class NoEffect(ProgramCase):
    def test_samples_of_a_run_that_draws_nothing(self):
        for command in ("simulate", "slack"):
            for engine in ("analytic", "event"):
                call = [command, CHAIN, "-e", engine]
                for still in ([], ["--noise", "constant,by=1us"], ["--noise", "uniform,low=1us,high=1us"],
                              ["--delay", "op=1,by=1us"], ["--seed", "3"],
                              ["--noise", "exponential,mean=1us,chance=0"]):
                    said = self.bad(*call, *still, "--samples", "100")
                    self.assertIn("--samples 100: nothing in this run is drawn at random", said)
                    self.good(*call, *still, "--samples", "1")
                for drawn in (NOISE, ["--noise", "constant,by=1us,chance=50%"]):
                    self.assertEqual(self.document(*call, *drawn, "--samples", "3")["samples"], 3)

    def test_samples_of_a_workload_that_draws_nothing(self):
        self.write("w.toml", WORKLOAD)
        self.good("simulate", "--workload", "w.toml", *NOISE, "--samples", "2")
        self.assertIn("nothing in this run is drawn",
                      self.bad("simulate", "--workload", "w.toml", "--samples", "2"))

    def test_samples_of_regions_that_draw(self):
        self.write("r.sched", REGIONS)
        found = self.document("simulate", "r.sched", "-e", "event", "--samples", "30")
        self.assertGreater(len(set(found["makespan_samples_s"])), 1)

    def test_a_seed_that_is_drawn_by_nobody_is_noted(self):
        said = "--seed 7: nothing in this run is drawn at random"
        for command in (["simulate"], ["simulate", "-e", "analytic"], ["slack"]):
            done = self.run_program(command[0], PIPELINE, *command[1:], "--seed", 7)
            self.assertEqual(done.code, 0)
            self.assertIn(said, done.err)
            done = self.run_program(command[0], PIPELINE, *command[1:], *NOISE, "--seed", 7)
            self.assertEqual((done.code, done.err), (0, ""))

    def test_options_that_need_another(self):
        for call, said in (
                (["simulate", CHAIN, "--jobs", 2], "--jobs without --samples"),
                (["slack", CHAIN, "--jobs", 2], "--jobs: there is one run"),
                (["slack", CHAIN, "--propagate", "op=1,by=1us", "--jobs", 2], "--jobs"),
                (["compile", CHAIN, "--format", "json"], "--format"),
                (["validate", CHAIN, "--ops", "all", "--choose", "least"], "--choose"),
                (["advise", "--ranks", 3, "--bytes", "1KiB", "--samples", 0, *NOISE], "--noise"),
                (["advise", "--ranks", 3, "--bytes", "1KiB", "--confirm", "all", "--confirm-ops", 9],
                 "--confirm-ops"),
                (["reproduce", "list", "--quick"], "--quick"),
                (["reproduce", "facts", "--quick"], "--quick"),
                (["reproduce", "list", "--out", "x"], "--out"),
                (["run", CHAIN, "--device", "mlx5_0"], "--device: shm has no RDMA ports")):
            self.assertIn(said, self.bad(*call))
        self.good("slack", CHAIN, "--propagate", "by=1us", "--jobs", 2)
        self.good("simulate", CHAIN, "--samples", 1, "--jobs", 2)

    def test_a_rack_map_that_nobody_needs_is_noted(self):
        if "with SimGrid" not in self.good("--version"):
            self.skipTest("built without SimGrid")
        done = self.run_program("advise", "--ranks", 3, "--bytes", "64KiB", "--patterns", "chain",
                                "--blocks", "64KiB", "--samples", 0, "--rack-map", "r.txt")
        self.assertEqual((done.code, self.files()), (0, []))
        self.assertIn("--rack-map r.txt: not written", done.err)


WORKLOAD = """ranks = 3
[[group]]
name = "a"
ranks = [0, 1, 2]
schedule = "chain:block=100KB"
bytes = "1MB"
messages = 3
"""
REGIONS = """slackline schedule 1
title "retry"
ranks 1
buffer 0 rank 0 bytes 64
rank 0
  0 calc for 1us
region retry entry 0 count 1 attempts 64 p 500000 backoff 2us
"""

if __name__ == "__main__":
    main()
