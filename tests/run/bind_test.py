"""slackline run --bind: which cores ranks take."""

import json
import os

from program_case import main
from rank_case import RankCase, cores_of


class Bind(RankCase):
    ALLOWED = sorted(os.sched_getaffinity(0))

    def cores(self, *arguments):
        return [cores_of(f["cores"]) for f in self.document("run", *arguments)["rank_facts"]]

    def test_ranks_take_cores_in_turn(self):
        ranks = min(len(self.ALLOWED), 4)
        self.assertEqual(self.cores(f"chain:ranks={ranks},bytes=1KiB", "--bind", "core"),
                         [[core] for core in self.ALLOWED[:ranks]])
        document = self.document("run", "chain:ranks=1,bytes=1KiB", "--bind", "core")
        self.assertEqual(document["rank_facts"][0]["core"], self.ALLOWED[0])
        self.assertEqual(self.cores(f"chain:ranks={ranks},bytes=1KiB", "--bind", "none"),
                         [self.ALLOWED] * ranks)

    def test_to_a_node(self):
        for cores in self.cores("chain:ranks=1,bytes=1KiB", "--bind", "numa"):
            self.assertLessEqual(set(cores), set(self.ALLOWED))

    def test_more_ranks_than_cores_are_told_once(self):
        ranks = len(self.ALLOWED) + 1
        if ranks > 64:
            self.skipTest("more cores than this test starts ranks")
        done = self.run_program("run", f"chain:ranks={ranks},bytes=1KiB", "--bind", "core")
        self.assertEqual(done.code, 0, done)
        self.assertEqual(done.err.count("\n"), 1, done)
        self.assertRegex(done.err, rf"note: --bind core: {ranks} ranks share {ranks - 1} cores? of ")
        self.assertEqual(self.run_program("run", "chain:ranks=1,bytes=1KiB", "--bind", "core").err,
                         "")

    def test_ranks_that_a_launcher_has_bound_stay_there(self):
        last = self.ALLOWED[-1]
        ranks = self.start_ranks(2, "chain:ranks=2,bytes=1KiB", "--bind", "core", "--json",
                                 prefix_of=lambda rank: ("taskset", "-c", str(last)))
        done = [rank.wait() for rank in ranks]
        self.assertEqual([d.code for d in done], [0, 0], done)
        self.assertEqual([f["cores"] for f in json.loads(done[0].out)["rank_facts"]],
                         [str(last)] * 2)

    def test_ranks_agree_on_it(self):
        ranks = self.start_ranks(2, "chain:ranks=2,bytes=1KiB",
                                 of_rank=lambda rank: ("--bind", "core") if rank else ())
        for done in [rank.wait() for rank in ranks]:
            self.assertEqual(done.code, 2, done)
            self.assertIn("bind: core", done.err)

    def test_other_commands_take_it(self):
        self.good("calibrate", "--repeats", "1", "--bind", "core")
        done = self.run_program("validate", "chain:ranks=2,bytes=64KiB", "--on", "run", "--ops", "1",
                                "--repeats", "1", "--bind", "numa")
        self.assertIn(done.code, (0, 1), done)


if __name__ == "__main__":
    main()
