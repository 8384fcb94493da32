"""slackline steal"""

from program_case import ProgramCase, main

SMALL = ("T1", "--depth", "4", "--ranks", "4", "--work", "20us", "--engine", "event")


class Steal(ProgramCase):
    def test_the_schedule_is_one_like_any_other(self):
        found = self.document("steal", *SMALL, "-o", "stolen.sched")
        self.assertEqual(found["ranks"], 4)
        self.assertEqual(found["file"], "stolen.sched")
        self.assertGreater(found["moved"], 0)
        self.assertAlmostEqual(found["ideal_s"], 20e-6 * found["vertices"] / 4, delta=1e-12)
        self.assertAlmostEqual(found["over_ideal"], found["makespan_s"] / found["ideal_s"])
        again = self.document("simulate", "stolen.sched", "--engine", "event")
        self.assertEqual(again["digest"], found["digest"])
        self.assertLess(abs(again["makespan_s"] / found["makespan_s"] - 1), 1e-9)
        self.assertIs(self.document("check", "stolen.sched")["proved"], True)
        for transport in ("shm", "net"):
            ran = self.document("run", "stolen.sched", "--transport", transport)
            self.assertEqual(ran["digest"], found["digest"])

    def test_the_same_line_decides_the_same(self):
        digests = [self.document("steal", *SMALL, *more)["digest"]
                   for more in ((), (), ("--draw", "2"), ("--give", "chunk", "--chunk", "2"),
                                ("--look", "1"), ("--rest", "9us"), ("-p", "cori"))]
        self.assertEqual(digests[0], digests[1])
        self.assertEqual(len(set(digests)), 6)
        self.assertEqual(self.document("steal", *SMALL[:-1], "flow")["digest"], digests[0])

    def test_a_slow_rank(self):
        late = self.document("steal", *SMALL, "--straggler", "rank=2,slowdown=4", "-o", "s.sched")
        # The other three, and a quarter of one.
        self.assertAlmostEqual(late["ideal_s"], 20e-6 * late["vertices"] / 3.25, delta=1e-12)
        again = self.document("simulate", "s.sched", "--engine", "event", "--straggler",
                              "rank=2,slowdown=4")
        self.assertLess(abs(again["makespan_s"] / late["makespan_s"] - 1), 1e-9)

    def test_it_says_what_its_engine_leaves_out(self):
        slow = ("-p", "star:nic=fair,rate=1Mbps,interleave=0")
        for engine, contended in (("event", True), ("flow", False)):
            found = self.document("steal", *SMALL[:-1], engine, *slow, "-o", "s.sched")
            self.assertIs(found["contended"], contended)
            again = self.document("simulate", "s.sched", "--engine", engine, *slow)
            self.assertIs(again["contended"], contended)
        self.assertIs(self.document("steal", *SMALL, "-p", "star:rate=1Mbps,interleave=0")["contended"], False)
        self.assertIn("which this engine leaves out", self.good("steal", *SMALL, *slow))

    def test_people_and_standard_output(self):
        out = self.good("steal", *SMALL)
        self.assertRegex(out, r"over ideal +1\.[0-9]{4}\n")
        for ranks in ("1", "2"):
            idle = ("steal", "T1", "--depth", "2", "--ranks", ranks, "--work", "0", "--engine", "event")
            self.assertRegex(self.good(*idle), r"over ideal +–\n")
            self.assertIsNone(self.document(*idle)["over_ideal"])
        self.assertTrue(self.good("steal", *SMALL, "-o", "-").startswith("slackline schedule 1"))

    def test_errors(self):
        for line, expected in (
                (("T9",), "'T9'; expected T1, T5, T2, T3, T1L or T2L"),
                (("T3", "--depth", "4"), "--depth: 4 of T3, which is binomial"),
                (("T1", "--ranks", "0"), "--ranks"),
                (("T1", "--depth", "3", "--chunk", "4"), "--chunk: without --give chunk"),
                (("T1", "--depth", "3", "--give", "all"), "--give: 'all'"),
                (("T1", "--depth", "3", "--policy", "ready"), "an order of posts"),
                (("T1", "--depth", "3", "-p", "star:ack=64"), "acknowledgements that use the ports"),
                (("T1", "--depth", "3", "--noise", "constant,by=1us"), "expected stragglers alone")):
            self.assertIn(expected, self.bad("steal", *line))


if __name__ == "__main__":
    main()
