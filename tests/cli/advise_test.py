"""slackline advise"""

import csv
import xml.etree.ElementTree

from program_case import ProgramCase, main

SHARED = "two-level:racks=3,hosts=4,oversubscription=4"
FEW = ["--patterns", "chain,binomial-pipeline,hybrid", "--blocks", "64KiB,256KiB"]
# Four fast hosts and four slow ones, with a trunk between them.
SLOW_HOSTS = """<?xml version="1.0"?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <zone id="room" routing="Full">
    <cluster id="fast" prefix="fast-" suffix="" radical="0-3" speed="1Gf"
             bw="100Gbps" lat="500ns" router_id="fast-switch"/>
    <cluster id="slow" prefix="slow-" suffix="" radical="0-3" speed="1Gf"
             bw="25Gbps" lat="500ns" router_id="slow-switch"/>
    <link id="trunk" bandwidth="100Gbps" latency="1us" sharing_policy="SPLITDUPLEX"/>
    <zoneRoute src="fast" dst="slow" gw_src="fast-switch" gw_dst="slow-switch">
      <link_ctn id="trunk" direction="UP"/>
    </zoneRoute>
  </zone>
</platform>
"""


class Advise(ProgramCase):
    def setUp(self):
        super().setUp()
        if "with SimGrid" not in self.good("--version"):
            self.skipTest("built without SimGrid")

    def advise(self, *arguments):
        return self.document("advise", *arguments)

    def test_it_names_the_fastest_of_all(self):
        few = self.advise("--ranks", "11", "--bytes", "1MiB", "-p", SHARED, *FEW)
        every = self.advise("--ranks", "11", "--bytes", "1MiB", "-p", SHARED, *FEW, "--confirm",
                            "all")
        self.assertEqual(few["open"], 0)
        self.assertLess(few["confirmed"], every["confirmed"])
        self.assertEqual(every["confirmed"], len(every["candidates"]))
        best = min(candidate["confirmed_s"] for candidate in every["candidates"])
        self.assertAlmostEqual(few["best_makespan_s"], best, delta=1e-9 * best)
        self.assertEqual(few["candidates"][0]["schedule"], few["best_schedule"])
        for candidate in every["candidates"]:
            self.assertLessEqual(candidate["floor_s"], candidate["confirmed_s"] * (1 + 1e-6))
            if not candidate["contended"]:
                self.assertAlmostEqual(candidate["predicted_s"], candidate["confirmed_s"],
                                       delta=1e-9 * best)

    def test_what_it_prints_is_what_simulate_finds(self):
        for platform, ranks in [("fractus", "9"), (SHARED, "10"),
                                ("apt:hop_latency=1us", "30")]:
            document = self.advise("--ranks", ranks, "--bytes", "300KB", "-p", platform,
                                   "--samples", "0")
            found = self.document("simulate", document["best_schedule"], "-p",
                                  document["best_platform"])
            self.assertAlmostEqual(found["makespan_s"], document["best_makespan_s"],
                                   delta=1e-12)
            self.assertEqual(found["digest"], document["digest"])
            self.assertEqual(found["platform_spec"], document["best_platform_spec"])

    def test_the_table_and_the_picture(self):
        found = self.advise("--ranks", "11", "--bytes", "1MiB", "-p", SHARED, *FEW, "--csv", "a.csv",
                            "--plot", "a.svg")
        with open(self.folder / "a.csv", newline="") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual(len(rows), len(found["candidates"]))
        for row, candidate in zip(rows, found["candidates"]):
            self.assertEqual((row["schedule"], row["placement"], int(row["ops"])),
                             (candidate["schedule"], candidate["placement"], candidate["ops"]))
            self.assertEqual(bool(int(row["contended"])), candidate["contended"])
            for name in ("predicted_s", "floor_s", "confirmed_s", "noise_ratio"):
                self.assertEqual(float(row[name]) if row[name] else None, candidate[name])
        picture = xml.etree.ElementTree.parse(self.folder / "a.svg").getroot()
        bars = [e for e in picture.iter() if e.tag.endswith("}rect") and len(e)]
        shown = found["candidates"][:40]
        self.assertEqual([bar.get("class") for bar in bars],
                         ["dark" if c["confirmed_s"] else "light" for c in shown])
        judged = [c["confirmed_s"] or max(c["predicted_s"], c["floor_s"]) for c in shown]
        for bar, time_s in zip(bars, judged):
            self.assertAlmostEqual(float(bar.get("width")), 640 * time_s / max(judged), delta=0.02)
        self.assertIn("expected a place for each",
                      self.bad("advise", "--ranks", "4", "--bytes", "1MiB", "--csv", "x", "--plot", "x"))

    def test_the_platforms_own_racks_go_to_a_file(self):
        options = ["--ranks", "10", "--bytes", "1MiB", "-p", SHARED, "--patterns", "hybrid",
                   "--blocks", "128KiB", "--placements", "packed"]
        document = self.advise(*options)
        self.assertEqual(document["rack_map"], [0] * 4 + [1] * 4 + [2] * 2)
        self.assertIn("--rack-map racks.txt writes", self.good("advise", *options))
        self.assertEqual(self.files(), [])
        self.good("advise", *options, "--rack-map", "r.txt")
        document = self.advise(*options, "--rack-map", "r.txt")
        self.assertIn("rack-map=r.txt", document["best_schedule"])
        found = self.document("simulate", document["best_schedule"], "-p", SHARED)
        self.assertAlmostEqual(found["makespan_s"], document["best_makespan_s"], delta=1e-12)
        self.assertEqual(found["digest"], document["digest"])

    def test_jobs_do_not_matter(self):
        options = ["--ranks", "12", "--bytes", "512KiB", "-p", SHARED, "--seed", "5"]
        self.assertEqual(self.advise(*options, "--jobs", "1"), self.advise(*options, "--jobs", "3"))

    def test_noise(self):
        options = ["--ranks", "6", "--bytes", "1MiB", "--patterns", "chain,circulant"]
        quiet = self.advise(*options, "--noise", "constant,by=0", "--samples", "5")
        for candidate in quiet["candidates"]:
            self.assertIn(candidate["noise_ratio"], (1, None))
        loud = self.advise(*options, "--noise", "exponential,mean=100us,chance=5%")
        self.assertGreater(loud["candidates"][0]["noise_ratio"], 1.01)
        none = self.advise(*options, "--samples", "0")
        self.assertTrue(all(c["noise_ratio"] is None for c in none["candidates"]))

    def test_one_rank_and_no_bytes(self):
        alone = self.advise("--ranks", "1", "--bytes", "64MiB")
        self.assertEqual(alone["best_makespan_s"], 0)
        self.assertIsNone(alone["candidates"][0]["ratio_to_best"])
        self.good("advise", "--ranks", "1", "--bytes", "64MiB")
        empty = self.advise("--ranks", "6", "--bytes", "0", "-p", SHARED)
        self.assertGreater(empty["best_makespan_s"], 0)
        self.good("advise", "--ranks", "6", "--bytes", "0", "-p", SHARED)
        self.good("advise", "--ranks", "1", "--bytes", "0")

    def test_skipped_candidates_are_told(self):
        document = self.advise("--ranks", "8", "--bytes", "1MiB", "--most-ops", "300")
        self.assertTrue(document["skipped"])
        self.assertTrue(all(c["ops"] > 300 for c in document["skipped"]))
        self.assertTrue(all(c["ops"] <= 300 for c in document["candidates"]))
        self.assertIn("that may have more than 300 ops",
                      self.good("advise", "--ranks", "8", "--bytes", "1MiB", "--most-ops", "300"))
        none = self.document("advise", "--ranks", "8", "--bytes", "1MiB", "--most-ops", "3",
                             code=1)
        self.assertIsNone(none["best_schedule"])
        self.run_well("advise", "--ranks", "8", "--bytes", "1MiB", "--most-ops", "3", code=1)

    def test_operations_are_those_of_the_schedule(self):
        for collective in [], ["--collective", "allgather"], ["--collective", "allreduce"]:
            document = self.advise("--ranks", "5", "--bytes", "64KiB", "--blocks", "16KiB",
                                   "--confirm", "1", "--samples", "0", *collective)
            self.assertGreater(len(document["candidates"]), 5)
            for candidate in document["candidates"]:
                made = self.document("compile", candidate["schedule"])
                self.assertEqual(candidate["ops"], made["ops"], candidate)

    def test_a_placement_that_the_platform_gives_stays(self):
        document = self.advise("--ranks", "6", "--bytes", "1MiB", "-p",
                               SHARED + ",placement=random:9", *FEW)
        self.assertEqual({c["placement"] for c in document["candidates"]}, {"random:9"})
        document = self.advise("--ranks", "6", "--bytes", "1MiB", "-p",
                               SHARED + ",placement=random:9", "--placements", "packed", *FEW)
        self.assertEqual({c["placement"] for c in document["candidates"]}, {"packed"})
        found = self.document("simulate", document["best_schedule"], "-p",
                              document["best_platform"])
        self.assertAlmostEqual(found["makespan_s"], document["best_makespan_s"], delta=1e-12)

    def synthesize(self, collective, *arguments):
        return self.advise("--collective", collective, "--ranks", "8", "--bytes", "256KiB",
                           "--blocks", "32KiB,256KiB", "--samples", "0", "--synthesize",
                           "--attempts", "20", "--improvements", "100", *arguments)

    def test_stripes_over_several_nics(self):
        rails = "star:rate=100Gbps,rails=4,rail=channel"
        document = self.document("advise", "--ranks", 4, "--bytes", "64MiB", "--patterns", "chain",
                                 "-p", rails, "--samples", 0)
        self.assertIn("stripes=4", document["best_schedule"])
        self.assertEqual({one["stripes"] for one in document["candidates"]}, {1, 4})
        alone = self.document("simulate", document["best_schedule"], "-p", rails)
        self.assertEqual(document["best_makespan_s"], alone["makespan_s"])
        once = [one for one in document["candidates"] if one["stripes"] == 1]
        self.assertGreater(min(one["ratio_to_best"] for one in once), 3)
        self.assertRegex(self.good("advise", "--ranks", 2, "--bytes", "1MiB", "-p", rails),
                         r"pattern +block +stripes")
        self.assertNotIn("stripes", self.good("advise", "--ranks", 2, "--bytes", "1MiB", "-p", rails,
                                              "--stripes", 1))
        self.assertIn("--stripes: '0'", self.bad("advise", "--ranks", 2, "--bytes", 1, "--stripes", 0))

    def test_it_synthesizes_what_is_at_least_as_fast(self):
        (self.folder / "slow.xml").write_text(SLOW_HOSTS)
        uneven = ["two-level:racks=2,hosts=4,oversubscription=4", "simgrid:file=slow.xml"]
        faster = set()
        for platform in ["star:latency=1us", "torus:dims=2x4,latency=1us", *uneven]:
            for collective in ["multicast", "allgather", "reduce-scatter", "allreduce"]:
                with self.subTest(platform, collective=collective):
                    found = self.synthesize(collective, "-p", platform, "--out", "s.slackline")
                    self.assertLessEqual(found["synthesized_ratio"], 1 + 1e-9)
                    if found["synthesized_ratio"] < 1 - 1e-6:
                        faster.add((platform, collective))
                    self.assertLessEqual(found["synthesized_makespan_s"],
                                         found["synthesized_greedy_s"])
                    self.assertAlmostEqual(found["synthesized_named_s"], found["best_makespan_s"],
                                           delta=1e-8)
                    self.assertTrue(self.document("check", "s.slackline")["ok"])
                    run = self.document("simulate", "s.slackline", "--engine", "flow", "-p",
                                        found["best_platform"])
                    self.assertAlmostEqual(run["makespan_s"], found["synthesized_makespan_s"],
                                           delta=1e-15)
                    self.assertEqual(run["digest"], found["synthesized_digest"])
        self.assertLessEqual({(uneven[0], "multicast"), (uneven[1], "reduce-scatter")}, faster)

    def test_small_allreduces_are_exchanges(self):
        def of(ranks, *arguments):
            return self.document("advise", "--collective", "allreduce", "--ranks", ranks, "--bytes", "8", "-p",
                                 "star:latency=1us", "--samples", "0", "--synthesize", "--attempts", "4",
                                 "--improvements", "10", "--out", "s.slackline", *arguments)
        even = of("8", "--exact")
        self.assertAlmostEqual(even["synthesized_ratio"], 1, delta=1e-9)
        # As halves a step for each share but one, there and back; as one block log2 n.
        self.assertEqual([(s["steps"], s["at_least"]) for s in even["synthesized_steps"]], [(14, 14), (3, 3)])
        self.assertTrue(self.document("check", "s.slackline")["ok"])
        # Recursive doubling folds two of six ranks, and a step before and after. Threes need no fold.
        odd = of("6", "--patterns", "recursive-doubling")
        self.assertLess(odd["synthesized_ratio"], 0.8)
        self.assertTrue(self.document("check", "s.slackline")["ok"])
        # Two sums at each rank need none for any number of ranks, and cannot be said in moves.
        two = of("7", "--exact", "--nodes", "1000")
        self.assertEqual(two["best_schedule"], "allreduce:ranks=7,bytes=8,block=8,by=bruck")
        self.assertTrue(two["synthesized_as_named"])
        self.assertEqual([(s["steps"], s["at_least"], s["one_sum"]) for s in two["synthesized_steps"]],
                         [(12, 12, False), (4, 4, True)])

    def test_what_is_proved_of_one_sum_says_so(self):
        # Each uplink carries one message a step: more steps than sums need to double.
        arguments = ("advise", "--collective", "allreduce", "--ranks", "6", "--bytes", "8", "-p",
                     "two-level:racks=3,hosts=2,oversubscription=2", "--placements", "packed", "--blocks", "8",
                     "--samples", "0", "--synthesize", "--attempts", "1", "--improvements", "0", "--exact")
        self.assertRegex(self.good(*arguments), "4 in blocks of 8, .*: none in which a rank keeps one sum has fewer")
        steps = self.document(*arguments)["synthesized_steps"]
        self.assertEqual([(s["steps"], s["at_least"], s["one_sum"]) for s in steps],
                         [(10, 10, False), (4, 4, True)])

    def test_it_is_the_named_pattern_where_moves_are_slower(self):
        # A ring buffer is no pattern of moves.
        found = self.advise("--ranks", "4", "--bytes", "8", "-p", "star", "--patterns", "ring-buffer", "--samples",
                            "0", "--synthesize", "--attempts", "1", "--improvements", "0", "--out", "s.slackline")
        self.assertTrue(found["synthesized_as_named"])
        self.assertEqual(found["synthesized_ratio"], 1)
        self.assertEqual(found["synthesized_start"], "ring-buffer")
        self.assertEqual(found["synthesized"], found["best_schedule"])
        self.assertEqual(self.document("check", "s.slackline")["digest"], found["synthesized_digest"])

    def test_what_it_synthesizes_runs_and_is_exported(self):
        found = self.synthesize("allreduce", "--out", "s.slackline")
        self.assertIn("synthesized:allreduce,ranks=8,bytes=256KiB",
                      (self.folder / "s.slackline").read_text())
        self.assertEqual(self.document("export", "s.slackline", "--to", "msccl-xml", "-o",
                                       "s.xml")["digest"], found["synthesized_digest"])
        self.good("simulate", "s.xml", "--chunk", "1KiB")

    def test_synthesis_depends_on_its_seed_alone(self):
        one = self.synthesize("allgather", "-p", SHARED, "--jobs", "1", "--seed", "7")
        self.assertEqual(one, self.synthesize("allgather", "-p", SHARED, "--jobs", "3", "--seed", "7"))
        self.assertIn("seed=7", one["synthesized"])
        self.assertIsNone(self.advise("--ranks", "4", "--bytes", "1MiB", *FEW)["synthesized"])

    def test_it_descends_where_a_delay_costs(self):
        def of(*arguments):
            return self.advise("--ranks", "8", "--bytes", "256KiB", "-p", SHARED, "--patterns", "sequential",
                               "--blocks", "64KiB", "--samples", "0", "--synthesize", "--attempts", "1",
                               "--improvements", "0", *arguments)
        before, after = of(), of("--descend", "400")
        self.assertLessEqual(after["synthesized_makespan_s"], before["synthesized_makespan_s"])
        self.assertEqual(after["synthesized_descent_kept"] != 0,
                         after["synthesized_makespan_s"] < before["synthesized_makespan_s"])
        self.assertLessEqual(after["synthesized_descent_runs"], 400)
        self.assertEqual(after, of("--descend", "400", "--jobs", "1"))
        self.assertFalse(of("--descend", "1")["synthesized_descent_at_end"])

    def test_the_fewest_steps(self):
        def asked(*arguments, ranks="8", blocks="32KiB,64KiB,4KiB"):
            return ("advise", "--ranks", ranks, "--bytes", "256KiB", "--blocks", blocks, "--samples", "0",
                    "--confirm", "1", "--synthesize", "--attempts", "2", "--improvements", "5", "--exact",
                    *arguments)
        star = ("-p", "star:latency=1us", "--patterns", "binomial-pipeline")
        # Those of the binomial pipeline: k - 1 + log2 n. 64 blocks are too many for the search.
        found = self.document(*asked(*star))["synthesized_steps"]
        self.assertEqual([(s["block_bytes"], s["steps"], s["at_least"]) for s in found],
                         [(32768, 10, 10), (65536, 6, 6)])
        told = self.good(*asked(*star))
        self.assertRegex(told, r"fewest steps +10 in blocks of 32KiB, .*: none has fewer")
        self.assertIn("1 block size left out, with more than 64 units of all ranks together", told)
        # One choice is not enough, and that is said.
        ring = ("-p", "torus:dims=6,latency=1us", "--patterns", "sequential")
        (ended,) = self.document(*asked(*ring, "--nodes", "1", ranks="6", blocks="64KiB"))[
            "synthesized_steps"]
        (whole,) = self.document(*asked(*ring, ranks="6", blocks="64KiB"))["synthesized_steps"]
        self.assertLessEqual(ended["at_least"], whole["at_least"])
        self.assertEqual(whole["at_least"], whole["steps"])
        self.assertLessEqual(whole["steps"], ended["steps"])
        self.assertIsNone(self.synthesize("multicast")["synthesized_steps"])
        self.assertIsNone(self.synthesize("multicast")["synthesized_descent_kept"])
        # A share a rank: 2 (n - 1), as the ring has.
        shares = asked("-p", "star:latency=1us", "--collective", "allreduce", blocks="32KiB")
        (both,) = self.document(*shares)["synthesized_steps"]
        self.assertEqual((both["steps"], both["at_least"]), (14, 14))
        self.assertRegex(self.good(*shares), r"fewest steps +14 .*: no reduce-scatter and allgather "
                                             r"have fewer")
        self.assertIn("fewest steps: 9 ranks; expected at most 8",
                      self.bad(*asked(*star, ranks="9", blocks="32KiB")))
        self.assertIn("fewest steps: 512 units of all ranks together",
                      self.bad(*asked(*star, blocks="4KiB")))

    def test_collectives_are_compared(self):
        found = self.advise("--collective", "reduce-scatter", "--ranks", "6", "--bytes", "600KB",
                            "--blocks", "64KiB", "--samples", "0", "--confirm", "all")
        self.assertEqual({c["pattern"] for c in found["candidates"]},
                         {"ring", "recursive-halving", "hierarchical"})
        run = self.document("simulate", found["best_schedule"], "-p", found["best_platform"])
        self.assertAlmostEqual(run["makespan_s"], found["best_makespan_s"], delta=1e-12)
        self.assertEqual(run["digest"], found["digest"])

    def test_refusals(self):
        size = ["--ranks", "4", "--bytes", "1MiB"]
        for arguments, said in [
                (["--bytes", "1MiB"], "--ranks"),
                (["--ranks", "4"], "--bytes"),
                (["--ranks", "0", "--bytes", "1MiB"], "--ranks"),
                ([*size, "--patterns", "chian"], "did you mean 'chain'"),
                ([*size, "--patterns", "chain,"], "--patterns"),
                ([*size, "--blocks", "0"], "--blocks"),
                ([*size, "--placements", "near"], "--placements"),
                ([*size, "--confirm", "0"], "--confirm"),
                ([*size, "--samples", "-1"], "--samples"),
                ([*size, "--noise", "loud"], "loud"),
                ([*size, "--rack-map", "-"], "--rack-map -"),
                ([*size, "--most-ops", "0"], "--most-ops"),
                ([*size, "--collective", "gather"], "unknown collective 'gather'"),
                ([*size, "--collective", "allgather", "--patterns", "rings"],
                 "did you mean 'ring'"),
                ([*size, "--out", "s.slackline"], "--out: without --synthesize"),
                ([*size, "--attempts", "3"], "--attempts: without --synthesize"),
                ([*size, "--exact"], "--exact: without --synthesize"),
                ([*size, "--descend", "5"], "--descend: without --synthesize"),
                ([*size, "--synthesize", "--nodes", "5"], "--nodes: without --exact"),
                ([*size, "--synthesize", "--attempts", "0"], "--attempts"),
                (["--ranks", "13", "--bytes", "1MiB", "-p", SHARED], "13 ranks on 12 hosts"),
        ]:
            with self.subTest(arguments):
                self.assertIn(said, self.bad("advise", *arguments))


if __name__ == "__main__":
    main()
