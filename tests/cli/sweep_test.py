"""`slackline sweep`: a study's points, each answered once, whatever ends a sweep."""

import csv
import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import time
import unittest

from program_case import PROGRAM, ProgramCase, main

STUDY = """
schedule = ["binomial-pipeline:ranks={ranks},bytes=1MiB,block={block}",
            "chain:ranks={ranks},bytes=1MiB,block={block}"]
platform = ["fractus", "two-level:racks=2,hosts=8,oversubscription={over}"]
engine = ["analytic", "flow", "simgrid"]

[values]
ranks = { from = 2, to = 16, times = 2 }
block = ["64KiB", "128KiB"]
over = [1, 4]

[[skip]]
engine = "simgrid"
over = { above = 1 }
"""
POINTS = 2 * 4 * 2 * (3 + 3 + 2)
# Each of them takes some 10 ms.
SLOW = """
schedule = "binomial-pipeline:ranks={ranks},bytes=64MiB,block=256KiB"
engine = "event"
[values]
ranks = { from = 20, to = 59 }
"""


class Sweep(ProgramCase):
    def setUp(self):
        super().setUp()
        (self.folder / "study.toml").write_text(STUDY)

    def sweep(self, *arguments, study="study.toml", out="out"):
        return self.document("sweep", study, "-o", out, *arguments)

    def rows(self, out="out", sql="SELECT * FROM points JOIN makespans USING(key)"):
        with sqlite3.connect(self.folder / out / "results.sqlite") as database:
            database.row_factory = sqlite3.Row
            return [dict(row) for row in database.execute(sql)]

    def results(self, out="out"):
        return (self.folder / out / "results.sqlite").read_bytes()

    def test_every_point_is_what_simulate_says(self):
        said = self.sweep("--csv", "rows.csv")
        self.assertEqual((said["points"], said["answered"], said["answered_now"], said["failed"],
                          said["left"]), (POINTS, POINTS, POINTS, 0, 0))
        rows = self.rows()
        self.assertEqual(len(rows), POINTS)
        for row in random.Random(1).sample(rows, 12):
            simulated = self.document("simulate", row["schedule"], "-p", row["platform"], "-e",
                                      row["engine"])
            self.assertEqual(row["median_s"], simulated["makespan_s"], row)
        with open(self.folder / "rows.csv", newline="") as file:
            lines = list(csv.DictReader(file))
        self.assertEqual(len(lines), POINTS)
        of_key = {(row["schedule"], row["platform"], row["engine"]): row["median_s"]
                  for row in rows}
        for line in lines:
            self.assertEqual(float(line["median_s"]),
                             of_key[line["schedule"], line["platform"], line["engine"]])
            self.assertIn(f"ranks={line['ranks']},", line["schedule"])

    def test_what_is_there_is_not_answered_again(self):
        self.sweep()
        before = self.results()
        self.assertEqual(self.sweep()["answered_now"], 0)
        self.assertEqual(self.results(), before)
        # A larger study takes over what it knows.
        (self.folder / "study.toml").write_text(STUDY.replace("to = 16, times = 2", "to = 16, step = 2"))
        larger = self.sweep()
        self.assertEqual(larger["answered_now"], larger["points"] - POINTS)
        self.assertEqual(larger["left"], 0)

    def test_shares_and_cores_change_no_byte(self):
        self.sweep("--jobs", 1)
        self.sweep("--jobs", 3, out="other")
        self.assertEqual(self.results("other"), self.results())
        for shard in (2, 0, 1):
            self.sweep("--shard", f"{shard}/3", out="shards")
        merged = self.sweep("--merge", out="shards")
        self.assertEqual((merged["answered_now"], merged["left"]), (0, 0))
        self.assertEqual(self.results("shards"), self.results())

    def test_a_merge_says_what_is_missing(self):
        self.sweep("--shard", "0/3")
        done = self.run_program("sweep", "study.toml", "-o", "out", "--merge", "--json")
        self.assertEqual(done.code, 1, done)
        self.assertEqual(json.loads(done.out)["left"], POINTS - -(-POINTS // 3))

    def test_a_point_that_fails_is_a_row(self):
        (self.folder / "study.toml").write_text("""
schedule = ["chain:ranks={ranks},bytes=1MiB", "no-such-pattern:ranks={ranks}"]
platform = "two-level:racks=2,hosts=2"
[values]
ranks = [2, 4, 8]
""")
        done = self.run_program("sweep", "study.toml", "-o", "out", "--json")
        self.assertEqual(done.code, 1, done)
        said = json.loads(done.out)
        self.assertEqual((said["points"], said["failed"], said["left"]), (6, 4, 0))
        errors = self.rows(sql="SELECT * FROM points JOIN errors USING(key)")
        self.assertEqual(len(errors), 4)
        for row in errors:
            done = self.run_program("simulate", row["schedule"], "-p", row["platform"], "-e",
                                    "analytic")
            self.assertEqual(done.code, row["exit_code"])
            self.assertIn(row["message"], done.err)
        self.assertEqual(len(self.rows()), 2)

    def test_what_kills_it_costs_what_was_under_way(self):
        (self.folder / "slow.toml").write_text(SLOW)
        dice = random.Random(3)
        kills = 0
        answered = 0
        while kills < 20:
            process = subprocess.Popen([PROGRAM, "sweep", "slow.toml", "-o", "out", "--jobs", "2"],
                                       cwd=self.folder, stdin=subprocess.DEVNULL,
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(dice.uniform(0.005, 0.06))
            process.send_signal(signal.SIGKILL)
            process.wait()
            kills += 1
            shown = json.loads(self.run_program("sweep", "slow.toml", "-o", "out", "--show",
                                                "--json").out)
            self.assertGreaterEqual(shown["answered"], answered)
            answered = shown["answered"]
        done = self.sweep(study="slow.toml")
        self.assertEqual((done["left"], done["answered_now"]), (0, done["points"] - answered))
        self.sweep(study="slow.toml", out="whole")
        self.assertEqual(self.results(), self.results("whole"))

    def test_two_in_one_folder_do_no_harm(self):
        (self.folder / "slow.toml").write_text(SLOW)
        both = [subprocess.Popen([PROGRAM, "sweep", "slow.toml", "-o", "out", "--jobs", "1"],
                                 cwd=self.folder, stdin=subprocess.DEVNULL,
                                 stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
                for _ in range(2)]
        for process in both:
            _, error = process.communicate(timeout=100)
            self.assertEqual((process.returncode, error), (0, b""))
        self.sweep(study="slow.toml", out="whole")
        self.assertEqual(self.sweep("--merge", study="slow.toml")["left"], 0)
        self.assertEqual(self.results(), self.results("whole"))

    def test_how_far_it_is(self):
        (self.folder / "slow.toml").write_text(SLOW)
        process = subprocess.Popen([PROGRAM, "sweep", "slow.toml", "-o", "out", "--jobs", "1"],
                                   cwd=self.folder, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(process.kill)
        seen = []
        while process.poll() is None:
            done = self.run_program("sweep", "slow.toml", "-o", "out", "--show", "--json")
            seen.append(json.loads(done.out))
        self.assertEqual(process.returncode, 0)
        answered = [each["answered"] for each in seen]
        self.assertEqual(answered, sorted(answered))
        under_way = [each for each in seen if each["sweeps"]]
        self.assertTrue(under_way)
        for each in under_way:
            self.assertEqual(each["points"], 40)
        after = self.sweep("--show", study="slow.toml")
        self.assertEqual((after["sweeps"], after["left"], after["to_go_s"]), (0, 0, None))

    @unittest.skipIf(os.geteuid() != 0, "not root: only root can become somebody else")
    def test_how_far_it_is_may_be_asked_by_who_may_only_read(self):
        self.sweep()
        for path in (self.folder, self.folder / "out"):
            path.chmod(0o755)
        try:
            done = subprocess.run([PROGRAM, "sweep", "study.toml", "-o", "out", "--show", "--json"],
                                  cwd=self.folder, capture_output=True, timeout=100, user=65534)
        except PermissionError:
            self.skipTest("nobody else may run the program where it stands")
        self.assertEqual(done.returncode, 0, done)
        self.assertEqual(json.loads(done.stdout)["answered"], POINTS)

    def test_what_it_does_not_take(self):
        for arguments, said in (
                (("study.toml",), "--output: missing"),
                (("none.toml", "-o", "out"), "none.toml"),
                (("study.toml", "-o", "study.toml"), "study.toml"),
                (("study.toml", "-o", "out", "--shard", "3/3"), "expected which of how many"),
                (("study.toml", "-o", "out", "--shard", "auto"), "no launcher numbers"),
                (("study.toml", "-o", "out", "--merge", "--shard", "0/2"), "--shard beside --merge"),
                (("study.toml", "-o", "out", "--show", "--csv", "x"), "beside --show"),
                (("study.toml", "-o", "out", "--merge", "--jobs", "2"), "--jobs beside --merge"),
                (("study.toml", "-o", "out", "--submit", "lsf"), "--submit"),
                (("study.toml", "-o", "out", "--submit", "slurm"), "expected how many"),
                (("study.toml", "-o", "out", "--shards", "4"), "without --submit"),
                (("study.toml", "-o", "out", "--submit", "slurm", "--shards", "0"), "--shards"),
                (("study.toml", "-o", "out", "--jobs", "0"), "--jobs")):
            self.assertIn(said, self.bad("sweep", *arguments))
        (self.folder / "out").mkdir()
        (self.folder / "out" / "part-0.sqlite").write_text("no database, and longer than nothing")
        self.assertIn("part-0.sqlite", self.bad("sweep", "study.toml", "-o", "out"))

    def test_the_best_is_found_by_fewer_runs(self):
        """Each engine sees what the cheaper one let through; all of it is found again."""
        study = """
schedule = ["chain:ranks=8,bytes={bytes},block={block}", "circulant:ranks=8,bytes={bytes},block={block}"]
platform = "two-level:racks=2,hosts=4,oversubscription=4"
engine = ["analytic", "simgrid"]
[values]
bytes = ["1MiB", "8MiB"]
block = ["16KiB", "64KiB", "256KiB", "1MiB"]
"""
        (self.folder / "all.toml").write_text(study)
        (self.folder / "best.toml").write_text(study + '[optimise]\neach = "bytes"\nkeep = 0.5\n')
        self.sweep(study="all.toml", out="all")
        best = self.sweep(study="best.toml")
        self.assertEqual((best["points"], best["left"]), (16 + 8, 0))
        rows = self.rows("all")
        for found in best["best"]:
            of_size = [row["median_s"] for row in rows if row["engine"] == "simgrid"
                       and f"bytes={found['bytes']}," in row["schedule"]]
            self.assertEqual(found["median_s"], min(of_size))
            self.assertEqual(found["engine"], "simgrid")
        self.assertEqual({row["schedule"] for row in self.rows(
            sql="SELECT * FROM points JOIN best USING(key)")},
            {found["schedule"] for found in best["best"]})
        # What another study answered is not answered again, and the answer is the same.
        again = self.sweep(study="best.toml", out="all")
        self.assertEqual((again["answered_now"], again["best"]), (0, best["best"]))
        self.assertIn("in shares", self.bad("sweep", "best.toml", "-o", "out", "--shard", "0/2"))
        self.assertIn("in shares", self.bad("sweep", "best.toml", "-o", "out", "--submit", "slurm",
                                            "--shards", "2"))

    def test_slack_is_what_slack_says(self):
        (self.folder / "slack.toml").write_text("""
schedule = ["binomial-pipeline:ranks={ranks},bytes=1MiB,block=128KiB", "chain:ranks={ranks},bytes=1MiB"]
platform = ["fractus", "two-level:racks=2,hosts=4,oversubscription=4"]
engine = ["analytic", "flow"]
answers = ["makespan", "slack"]
delays = ["", "changes.toml", "cut.toml"]
[values]
ranks = [3, 8]
""")
        (self.folder / "changes.toml").write_text("""
schema = 1
[[link_rate]]
link = "host-0.out"
rate = "1Gbps"
at = "10us"
""")
        (self.folder / "cut.toml").write_text("""
schema = 1
[[failure]]
link = "host-0.out"
at = "10s"
""")
        self.sweep(study="slack.toml", *("--csv", "slack.csv", "--report", "slack.html"))
        rows = self.rows(sql="SELECT * FROM points JOIN makespans USING(key) JOIN slack USING(key)")
        self.assertEqual(len(rows), 48)
        for row in rows:
            said = self.document("slack", row["schedule"], "-p", row["platform"], "-e",
                                 row["engine"], *(["--delays", row["delays"]] * bool(row["delays"])))
            floats = sorted(said["total_float_s"])
            # `slack` says that of the run computed again.
            self.assertAlmostEqual(row["median_s"], said["makespan_s"], delta=1e-12 * row["median_s"])
            self.assertEqual((row["least_float_s"], row["median_float_s"], row["most_float_s"]),
                             (floats[0], floats[(len(floats) - 1) // 2], floats[-1]), row)
            self.assertEqual(row["ops"], len(floats))
            # An operation may stand twice on the path: with its post and with its end.
            self.assertEqual(row["critical_ops"], len(set(said["critical_path"])))
            self.assertEqual(bool(row["frozen_only"]), said["of_frozen_run_only"])
        self.assertEqual({(row["delays"], row["frozen_only"]) for row in rows},
                         {("", 0), ("", 1), ("changes.toml", 1), ("cut.toml", 1)})
        with open(self.folder / "slack.csv", newline="") as file:
            lines = list(csv.DictReader(file))
        self.assertEqual(sorted(float(line["median_float_s"]) for line in lines),
                         sorted(row["median_float_s"] for row in rows))
        # Without slack these are other points, and the table is not there.
        (self.folder / "slack.toml").write_text(
            (self.folder / "slack.toml").read_text().replace('"makespan", "slack"', '"makespan"'))
        self.assertEqual(self.sweep(study="slack.toml")["answered_now"], 48)
        self.assertEqual(self.rows(sql="SELECT * FROM sqlite_schema WHERE name = 'slack'"), [])
        for answers, said in (('"floats"', "expected makespan, slack or both"),
                              ('"slack"\nsamples = 10', "slack of 10 samples")):
            (self.folder / "bad.toml").write_text(
                f'schedule = "chain:ranks=2,bytes=1"\nanswers = {answers}\n')
            self.assertIn(said, self.bad("sweep", "bad.toml", "-o", "out"))

    def test_points_that_are_carried_out_for_real(self):
        (self.folder / "real.toml").write_text("""
schedule = ["chain:ranks={ranks},bytes=64KiB", "chain:ranks=2,bytes=64KiB,typo=1"]
engine = ["analytic", "run:shm", "run:no-such-transport"]
samples = 3
[values]
ranks = [2, 3]
[[skip]]
engine = "analytic"
""")
        done = self.run_program("sweep", "real.toml", "-o", "out", "--json")
        self.assertEqual(done.code, 1, done)
        rows = self.rows()
        self.assertEqual({row["schedule"] for row in rows},
                         {"chain:ranks=2,bytes=64KiB", "chain:ranks=3,bytes=64KiB"})
        for row in rows:
            self.assertLess(0, row["least_s"])
            self.assertLessEqual(row["least_s"], row["median_s"])
            self.assertLessEqual(row["median_s"], row["most_s"])
        failures = {(row["engine"], row["schedule"]): row["message"]
                    for row in self.rows(sql="SELECT * FROM points JOIN errors USING(key)")}
        self.assertEqual(len(failures), 4)
        self.assertIn("typo", failures["run:shm", "chain:ranks=2,bytes=64KiB,typo=1"])
        self.assertIn("no-such-transport",
                      failures["run:no-such-transport", "chain:ranks=2,bytes=64KiB"])

    @unittest.skipUnless(shutil.which("gnuplot"), "without gnuplot")
    def test_curves(self):
        self.sweep("--plot", "all.svg", "--axes", "ranks,median_s,pattern,platform")
        drawn = (self.folder / "all.svg").read_text()
        for text in ("fractus", "two-level:racks=2,hosts=8,oversubscription=4", "binomial-pipeline",
                     "chain", "median makespan", "ranks"):
            self.assertIn(text, drawn)
        # Three platforms, each with a curve for each pattern.
        self.assertEqual(drawn.count(">binomial-pipeline<"), 3)
        self.sweep("--plot", "one.svg")
        self.assertIn("fractus", (self.folder / "one.svg").read_text())
        # What has no place along an axis is left out, and that is said.
        (self.folder / "texts.toml").write_text(
            'schedule = "chain:ranks={n},bytes=1MiB,ready={how}"\n[values]\nn = [2, 4]\nhow = ["send", "write"]\n')
        done = self.run_program("sweep", "texts.toml", "-o", "texts", "--plot", "t.svg", "--axes",
                                "how,median_s,n")
        self.assertIn("4 points left out", done.err)
        self.assertIn("nothing is drawn", done.err)
        self.assertFalse((self.folder / "t.svg").exists())
        for axes, said in (("ranks", "expected X,Y"), ("ranks,no_such", "'no_such' is no column"),
                           ("ranks,median_s,median_s", "'median_s' is no column to draw a curve"),
                           ("platform,median_s", "'platform' is no column to draw along"),
                           ("ranks,most_float_s", "'most_float_s' is no column")):
            self.assertIn(said, self.bad("sweep", "study.toml", "-o", "out", "--plot", "x.svg",
                                         "--axes", axes))
        self.assertIn("without --plot", self.bad("sweep", "study.toml", "-o", "out", "--axes", "x,y"))

    def test_its_page_has_the_points(self):
        self.sweep("--report", "page.html")
        page = (self.folder / "page.html").read_text()
        facts = page.split('id="facts">')[1].split("</script>")[0]
        points = json.loads(facts)["answer"]["points"]
        self.assertEqual(len(points), POINTS)
        self.assertEqual({point["block"] for point in points}, {65536, 131072})


if __name__ == "__main__":
    main()
