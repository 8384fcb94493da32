"""slackline check"""

import re

from program_case import CHAIN, PATTERNS, ProgramCase, block, main

# Rank 0 sends one block twice to the same place; all in order.
TWICE = """slackline schedule 1
ranks 2
message 1KiB
buffer 0 rank 0 bytes 1KiB
buffer 1 rank 1 bytes 1KiB
channel 0 from 0 to 1
rank 0
  0 send on 0 reads 0[0+1KiB]
  1 send on 0 reads 0[0+1KiB] after done:0
rank 1
  2 recv on 0 writes 1[0+1KiB]
  3 recv on 0 writes 1[0+1KiB] after done:2
pre 0[0+1KiB] value 0
post 1[0+1KiB] value 0
"""

DEADLOCK = """slackline schedule 1
ranks 2
channel 0 from 0 to 1
channel 1 from 1 to 0
rank 0
  0 recv on 1
  1 send on 0 after done:0
rank 1
  2 recv on 0
  3 send on 1 after done:2
"""


class Check(ProgramCase):
    def test_every_pattern_is_proved(self):
        for pattern in PATTERNS:
            for ranks in (1, 2, 5, 8):
                spec = f"{pattern}:ranks={ranks},bytes=10000{block(pattern, 3000)}"
                out = self.good("check", spec)
                self.assertRegex(out.splitlines()[-1],
                                 rf"^proved {ranks} ranks?, \d+ ops, digest [0-9a-f]{{32}}")
                document = self.document("check", spec)
                self.assertIs(document["ok"], True)
                self.assertIs(document["proved"], True)
                self.assertFalse([d for d in document["diagnostics"] if d["severity"] == "error"])

    def defects(self, text):
        """The codes found in a schedule; the table and the document agree on them."""
        self.write("x.sched", text)
        done = self.run_program("check", "x.sched")
        document = self.document("check", "x.sched", code=done.code)
        self.assertEqual(done.err, "")
        self.assertEqual(document["ok"], done.code == 0)
        self.assertEqual(document["proved"], document["ok"])
        lines = done.out.splitlines()[:-1]
        self.assertEqual(len(lines), len(document["diagnostics"]), done.out)
        for line, diagnostic in zip(lines, document["diagnostics"]):
            self.assertTrue(line.startswith(f"{diagnostic['code']}: {diagnostic['message']}"), line)
            self.assertIsInstance(diagnostic["op"], (int, type(None)))
        return done.code, [d["code"] for d in document["diagnostics"]], done.out

    def test_defects(self):
        good = re.sub(r"\ndigest .*", "", self.good("compile", CHAIN, "-o", "-"))
        self.assertEqual(self.defects(good)[:2], (0, []))
        for code, pattern, replacement in (
                ("truncate", r"writes (\d+)\[0\+1MiB\]", r"writes \1[0+512KiB]"),
                ("post", r"(?m)^post .*value 0$", "post 1[0+2MiB] value 1"),
                ("deadlock", None, DEADLOCK)):
            broken = replacement if pattern is None else re.sub(pattern, replacement, good, count=1)
            with self.subTest(code=code):
                status, codes, out = self.defects(broken)
                self.assertEqual(status, 1, out)
                self.assertIn(code, codes)
                self.assertRegex(out.splitlines()[-1], r"^\d+ errors? and \d+ warnings?$")

    def test_a_warning_does_not_fail(self):
        status, codes, out = self.defects(TWICE)
        self.assertEqual((status, codes), (0, ["duplicate"]), out)
        self.assertIn("(warning)", out)
        self.assertRegex(out.splitlines()[-1], "^proved 2 ranks, 4 ops, digest .*, 0 errors and 1 w")

    def test_the_search_can_be_limited(self):
        good = re.sub(r"\ndigest .*", "", self.good("compile", CHAIN, "-o", "-"))
        self.write("x.sched", re.sub(r"(?m)^pre .*\n", "", good))
        found = self.document("check", "x.sched", code=1)["diagnostics"]
        self.assertGreater(len(found), 1)
        for limit, ended in ((1, True), (len(found) + 1, False)):
            document = self.document("check", "x.sched", "--limit", str(limit), code=1)
            self.assertEqual(document["ended_by_limit"], ended)
        limited = self.run_program("check", "x.sched", "--limit", "1")
        self.assertEqual(limited.code, 1)
        self.assertEqual(len(limited.out.splitlines()), 2)
        self.assertIn("before --limit ended the search", limited.out)

    def test_elsewhere_a_broken_schedule_is_an_error_of_one_line(self):
        self.write("x.sched", DEADLOCK)
        for command in (["compile", "x.sched"], ["export", "x.sched", "--to", "csv"],
                        ["simulate", "x.sched"], ["slack", "x.sched"]):
            self.assertIn("x.sched: the schedule is broken: deadlock: ", self.bad(*command))
        # Without the proof, engines still do not hang.
        self.bad("simulate", "x.sched", "--no-proof")
        self.good("export", "x.sched", "--to", "dot", "--no-proof")


if __name__ == "__main__":
    main()
