"""slackline compile"""

import itertools
import json
import re

from program_case import BLOCK_PATTERNS, CHAIN, PIPELINE, ProgramCase, main


# Two ranks spin for a lock at the third: a word that is swapped from 0 to 1.
LOCK = """slackline schedule 1
ranks 3
buffer 0 rank 2 bytes 8
channel 0 from 0 to 2
channel 1 from 1 to 2
rank 0
  0 compare_swap on 0 reads 0[0+8] writes 0[0+8] operand 1 compare 0
  1 calc for 10us after done:0
  2 fetch_and on 0 reads 0[0+8] writes 0[0+8] operand 0 after done:1
rank 1
  3 compare_swap on 1 reads 0[0+8] writes 0[0+8] operand 1 compare 0
  4 fetch_and on 1 reads 0[0+8] writes 0[0+8] operand 0 after done:3
region retry entry 0 count 1 attempts 100 outcome actual
region retry entry 3 count 1 attempts 100 outcome actual
"""
MAYBE = """slackline schedule 1
ranks 1
rank 0
  0 calc for 1us
region retry entry 0 count 1 attempts 100 p 200000
"""


class Compile(ProgramCase):
    def test_what_ran_is_written_out(self):
        (self.folder / "lock.slackline").write_text(LOCK)
        for engine in ("simgrid", "analytic"):
            done = self.run_program("simulate", "lock.slackline", "--engine", engine, "--trace", "t",
                                    "--platform", "fractus", "--json")
            self.assertEqual(done.code, 0, done)
            self.assertIn("not proved", done.err)
            self.assertFalse(json.loads(done.out)["proved"])
            if engine == "analytic":  # the best case
                continue
            makespan_s = json.loads(done.out)["makespan_s"]
            self.assertTrue(self.document("compile", "lock.slackline", "--realise", "t", "-o",
                                          "ran.slackline")["proved"])
            again = self.document("simulate", "ran.slackline", "--platform", "fractus")
            self.assertAlmostEqual(again["makespan_s"], makespan_s, delta=1e-9 * makespan_s)
            self.assertGreater(makespan_s, 10e-6)
            self.good("slack", "ran.slackline", "--platform", "fractus")

    def test_chance_is_written_out(self):
        (self.folder / "maybe.slackline").write_text(MAYBE)
        ops = {self.document("compile", "maybe.slackline", "--unroll", seed)["ops"]
               for seed in range(20)}
        self.assertGreater(len(ops), 3)
        self.assertEqual(self.good("compile", "maybe.slackline", "--unroll", 7, "-o", "-"),
                         self.good("compile", "maybe.slackline", "--unroll", 7, "-o", "-"))
        for bad in (("--unroll", 1, "--realise", "t"), ("--unroll", "x"), ("--realise", "t")):
            self.assertEqual(self.run_program("compile", "maybe.slackline", *bad).code, 2, bad)

    def test_the_table(self):
        out = self.good("compile", "binomial-pipeline:ranks=16,bytes=256MiB,block=1MiB")
        for name, value in (("ranks", "16"), ("blocks", "256"), ("steps", "259"),
                            ("bytes", r"268435456 \(256 MiB\)"), ("digest", "[0-9a-f]{32}"),
                            ("proved", "yes")):
            self.assertRegex(out, rf"(?m)^  {name} +{value}$")

    def test_the_document(self):
        document = self.document("compile", "binomial-pipeline:ranks=16,bytes=256MiB,block=1MiB")
        self.assertRegex(document["digest"], "^[0-9a-f]{32}$")
        self.assertEqual({key: document[key] for key in
                          ("proved", "ranks", "blocks", "steps", "ops", "bytes")},
                         {"proved": True, "ranks": 16, "blocks": 256, "steps": 259,
                          "ops": 15 * 256 * 4, "bytes": 256 << 20})

    def test_steps_as_published(self):
        k = 4
        for n in range(2, 20):
            log = (n - 1).bit_length()
            for pattern, steps in (("sequential", k * (n - 1)), ("chain", k + n - 2),
                                   ("binomial-pipeline", k - 1 + log), ("circulant", k - 1 + log),
                                   ("binomial-tree", k * log)):
                spec = f"{pattern}:ranks={n},bytes=4KiB,block=1KiB"
                self.assertEqual(self.document("compile", spec)["steps"], steps, spec)

    def test_one_rank_and_no_bytes(self):
        for pattern in BLOCK_PATTERNS:
            alone = self.document("compile", f"{pattern}:ranks=1,bytes=5MiB")
            self.assertEqual((alone["steps"], alone["ops"], alone["blocks"]), (0, 0, 5), pattern)
            empty = self.document("compile", f"{pattern}:ranks=4,bytes=0")
            self.assertEqual((empty["blocks"], empty["bytes"]), (1, 0), pattern)
            self.assertTrue(empty["proved"])

    def test_compile_of_what_was_compiled_is_the_identity(self):
        lowerings = ("lower=send", "lower=put", "ready=write", "ready=none",
                     "window=3,in-flight=2", "first-block=copy,start=all")
        for pattern, lowering, format in itertools.product(BLOCK_PATTERNS, lowerings, ("text", "json")):
            spec = f"{pattern}:ranks=6,bytes=10000,block=4KiB,root=2,{lowering}"
            with self.subTest(spec=spec, format=format):
                first = self.good("compile", spec, "-o", "-", "--format", format)
                again = self.good("compile", "-", "-o", "-", "--format", format, stdin=first)
                self.assertEqual(first, again)

    def test_both_forms_are_the_same_schedule(self):
        text = self.good("compile", PIPELINE, "-o", "-")
        as_json = self.good("compile", "-", "-o", "-", "--format", "json", stdin=text)
        self.assertEqual(self.good("compile", "-", "-o", "-", stdin=as_json), text)
        digest = json.loads(as_json)["digest"]
        self.assertIn(f"\ndigest {digest}\n", text)

    def test_a_file_says_what_the_spec_said(self):
        document = self.document("compile", PIPELINE, "-o", "p.sched")
        self.assertEqual(document["file"], "p.sched")
        again = self.document("compile", "p.sched", "-o", "q.sched")
        for key in ("digest", "proved", "ranks", "blocks", "steps", "ops", "bytes"):
            self.assertEqual(document[key], again[key], key)
        self.assertEqual(self.read("p.sched"), self.read("q.sched"))
        self.assertEqual(self.files(), ["p.sched", "q.sched"])

    def test_blocks_of_a_file_follow_from_its_messages(self):
        # A short last block, credits that are writes of their own, a first block that is copied.
        for options in ("block=3000", "block=3000,ready=write", "block=3000,first-block=copy",
                        "block=100000"):
            spec = f"chain:ranks=3,bytes=10000,{options}"
            document = self.document("compile", spec, "-o", "x")
            self.assertEqual(self.document("compile", "x")["blocks"], document["blocks"], spec)
        self.compiled("chain:ranks=1,bytes=1MiB", "alone")
        self.assertIsNone(self.document("compile", "alone")["blocks"])

    def test_the_digest_is_the_schedule_and_not_how_it_was_asked_for(self):
        keys = ["ranks=6", "bytes=10000", "block=1000", "root=3", "lower=put", "window=2"]
        digests = {self.document("compile", "circulant:" + ",".join(order))["digest"]
                   for order in list(itertools.permutations(keys))[::37]}
        self.assertEqual(len(digests), 1)
        by_option = self.document("compile", "circulant:ranks=6,bytes=10000,block=1000,root=3",
                                  "--window", "2", "--lower", "put")
        self.assertEqual({by_option["digest"]}, digests)
        self.assertNotEqual(self.document("compile", CHAIN)["digest"], by_option["digest"])

    def test_options_stand_for_keys(self):
        for key, value in (("lower", "put"), ("ready", "write"), ("start", "all"),
                           ("window", "2"), ("first-block", "copy"), ("in-flight", "0")):
            spec = f"{CHAIN},{key}={value}"
            expected = self.document("compile", spec)
            self.assertEqual(self.document("compile", CHAIN, f"--{key}", value), expected)
            self.assertEqual(self.document("compile", spec, f"--{key}", value), expected)
            self.assertIn(key, self.bad("compile", f"{CHAIN},{key}=x", f"--{key}", value))
            self.assertIn("is a file", self.bad("compile", "p.sched", f"--{key}", value))

    def test_standard_output_holds_the_schedule_alone(self):
        out = self.good("compile", CHAIN, "-o", "-")
        self.assertTrue(out.startswith("slackline schedule 1\n"))
        document = self.document("compile", CHAIN, "-o", "-")
        self.assertEqual(document["content"], out)
        self.assertIsNone(document["file"])

    def test_goal(self):
        self.good("export", CHAIN, "--to", "goal", "-o", "x.goal")
        document = self.document("compile", "x.goal", "-o", "x.sched")
        self.assertTrue(document["proved"])
        self.assertEqual(document["ranks"], 3)
        self.assertEqual(self.document("compile", "x.sched")["digest"], document["digest"])

    def test_without_proof(self):
        document = self.document("compile", CHAIN, "--no-proof")
        self.assertFalse(document["proved"])
        self.assertEqual(document["digest"], self.document("compile", CHAIN)["digest"])
        self.assertRegex(self.good("compile", CHAIN, "--no-proof"), r"proved +no")

    def test_a_broken_file_is_refused(self):
        text = re.sub(r"\ndigest .*", "", self.good("compile", CHAIN, "-o", "-"))
        broken = re.sub(r"writes (\d+)\[0\+1MiB\]", r"writes \1[0+1MB]", text)
        self.assertNotEqual(text, broken)
        self.write("broken", broken)
        self.write("old", "as it was")
        self.assertIn("broken: the schedule is broken: ", self.bad("compile", "broken", "-o", "x"))
        self.bad("compile", "broken", "-o", "old")
        self.assertEqual(self.read("old"), "as it was")
        self.assertFalse(self.document("compile", "broken", "--no-proof", "-o", "x")["proved"])


if __name__ == "__main__":
    main()
