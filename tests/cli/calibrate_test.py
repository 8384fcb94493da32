"""slackline calibrate"""

import csv
import random

from program_case import ProgramCase, main

HEAD = "kind,bytes,messages,seconds\n"
TRUTH = {"o_post": 210e-9, "o_complete": 260e-9, "gap": 95e-9, "latency": 900e-9, "rate": 7e9,
         "atomic_service": 330e-9, "copy_rate": 9e9}
BASE = "star:rate=17Gbps,latency=11us,o_post=13ns,o_complete=17ns,gap=19ns,atomic_service=23ns"


def points(noise=0.0, seed=1, repeat=3):
    """(kind, bytes, messages, seconds) of a machine with the figures of TRUTH."""
    post, complete, gap, latency, rate, atomic, copy = TRUTH.values()
    rng = random.Random(seed)
    found = []

    def add(kind, size, messages, seconds):
        found.append((kind, size, messages, seconds * rng.gauss(1, noise)))

    for _ in range(repeat):
        for m in (16, 64):
            add("post", 8, m, m * post)
        for b in (8, 4096, 1048576):
            w = b / rate
            there = post + w + latency + complete
            back = there + latency
            add("pingpong", b, 2, 2 * there)
            add("send", b, 1, back)
            add("get", b, 3, 3 * back)
            add("stream", b, 32, back + 31 * max(post, gap, w))
            add("burst", b, 8, back + 7 * max(gap, w))
            add("copy", b, 4, 4 * b / copy)
        for m in (1, 4):
            add("atomic", 8, m, m * (post + 8 / rate + 2 * latency + complete + atomic))
        for b in (64, 4096, 5000, 65536):
            add("behind", b, 1, (b + (1048576 if b > 4096 else 0)) / rate + 3e-6)
    return found


def csv_of(rows):
    return HEAD + "".join(f"{k},{b},{m},{s!r}\n" for k, b, m, s in rows)


class Calibrate(ProgramCase):
    def calibrated(self, rows, *options):
        self.write("points.csv", csv_of(rows))
        document = self.document("calibrate", "--points", "points.csv", *options)
        return document, {figure["name"]: figure for figure in document["figures"]}

    def test_exact_points_give_the_figures(self):
        document, figures = self.calibrated(points(), "--base", BASE)
        for name, truth in TRUTH.items():
            self.assertEqual(figures[name]["verdict"], "measured", name)
            self.assertAlmostEqual(figures[name]["value"] / truth, 1, delta=1e-9, msg=name)
        self.assertEqual(figures["interleave"]["value"], 4096)
        self.assertEqual(figures["interleave"]["high"], 4999)
        self.assertEqual(figures["rate"]["unit"], "bytes/s")
        self.assertEqual(figures["gap"]["unit"], "s")
        self.assertEqual(document["platform_spec"],
                         "star:nic=serial,rate=56Gbps,latency=900ns,o_post=210ns,o_complete=260ns,"
                         "gap=95ns,atomic_service=330ns,copy_rate=72Gbps,poll_cost=0,"
                         "interrupt_cost=0,interleave=4KiB")
        self.assertEqual(document["outlier_lines"], [])
        self.assertLess(document["worst_residual"], 1e-9)

    def test_the_platform_is_read_back(self):
        self.write("points.csv", csv_of(points(0.01)))
        out = self.good("calibrate", "--points", "points.csv", "-o", "mine.toml", "--name", "mine \"1\"")
        self.assertIn("o_post", out)
        self.assertIn('name = "mine \\"1\\""', self.read("mine.toml"))
        spec = self.document("calibrate", "--points", "points.csv")["platform_spec"]
        used = self.document("simulate", "chain:ranks=3,bytes=2MiB", "-p", "mine.toml")
        self.assertEqual(used["platform_spec"], spec)
        self.assertEqual(used["platform"], 'mine "1"')
        again = self.good("calibrate", "--points", "points.csv", "--base", "mine.toml", "-o", "-")
        self.assertTrue(again.startswith("schema = 1\n"))
        document = self.document("calibrate", "--points", "points.csv", "-o", "x.toml")
        self.assertEqual(document["file"], "x.toml")
        self.assertNotIn("content", document)

    def test_outliers_are_named_by_line(self):
        rows = points(0.005)
        struck = [i for i in range(4, len(rows), 13) if rows[i][0] != "behind"]
        for i in struck:
            kind, size, messages, seconds = rows[i]
            rows[i] = (kind, size, messages, 30 * seconds)
        document, figures = self.calibrated(rows)
        self.assertEqual(document["outlier_lines"], [i + 2 for i in struck])
        for name, truth in TRUTH.items():
            if name in ("o_complete", "atomic_service"):
                continue  # small parts of what they are measured by
            self.assertAlmostEqual(figures[name]["value"] / truth, 1, delta=0.03, msg=name)
        out = self.good("calibrate", "--points", "points.csv", "--all")
        for i in struck:
            self.assertIn(f"outlier: line {i + 2}, {rows[i][0]} of", out)

    def test_what_is_not_determined_is_kept_and_said(self):
        rows = [row for row in points(0.005) if row[0] == "pingpong"]
        document, figures = self.calibrated(rows, "--base", "fractus")
        self.assertEqual(figures["rate"]["verdict"], "measured")
        self.assertEqual(figures["o_post"]["verdict"], "together")
        self.assertEqual(figures["o_post"]["together_with"], "o_complete, latency")
        self.assertEqual(figures["gap"]["verdict"], "no-points")
        self.assertIsNone(figures["gap"]["value"])
        self.assertIn("o_post=200ns", document["platform_spec"])
        out = self.good("calibrate", "--points", "points.csv", "-o", "mine.toml")
        self.assertIn("kept from fractus", out)
        self.assertIn("known only together with o_complete, latency", out)
        self.assertIn("# kept from fractus: no points\ngap = \"20ns\"", self.read("mine.toml"))

    def test_a_bound_that_the_kept_figure_breaks_is_said(self):
        rows = [row for row in points() if row[0] not in ("burst", "behind")]
        out = self.good("calibrate", "--points", self.write("p.csv", csv_of(rows)), "--base",
                        "star:gap=1us")
        self.assertIn("kept from star:gap=1us, which has more", out)
        self.assertIn("not determined: at most 210 ns", out)
        self.assertIn("the platform does not fit ", out)

    def test_residuals(self):
        rows = points(0.01)
        self.write("points.csv", csv_of(rows))
        self.good("calibrate", "--points", "points.csv", "--residuals", "r.csv")
        with open(self.folder / "r.csv", newline="") as file:
            found = list(csv.DictReader(file))
        self.assertEqual(len(found), len(rows))
        for i, (row, line) in enumerate(zip(rows, found)):
            self.assertEqual((line["kind"], int(line["line"]), float(line["seconds"])),
                             (row[0], i + 2, row[3]))
            if row[0] == "behind":
                self.assertEqual(line["fitted_s"], "")
            else:
                self.assertAlmostEqual(float(line["residual"]),
                                       row[3] / float(line["fitted_s"]) - 1, delta=1e-12)

    def test_errors(self):
        self.write("points.csv", csv_of(points()))
        good = ["calibrate", "--points", "points.csv"]
        self.assertIn("'nowhere.csv'", self.bad("calibrate", "--points", "nowhere.csv"))
        for option, value in (("--transport", "shm"), ("--repeats", "3"), ("--rank", "0"),
                              ("--memory", "8MiB"), ("--save-points", "s.csv")):
            self.assertIn(f"{option} beside --points", self.bad(*good, option, value))
        self.assertIn("no 'pigeon'", self.bad("calibrate", "--transport", "pigeon"))
        self.assertIn("--repeats", self.bad("calibrate", "--repeats", "0"))
        self.assertIn("from 4MiB to 64GiB", self.bad("calibrate", "--memory", "1MiB"))
        self.assertIn("expected a file", self.bad("calibrate", "--save-points", "-"))
        self.assertIn("--name", self.bad("calibrate", "--name", "two\nlines"))
        self.assertIn("expected a file", self.bad(*good, "--residuals", "-"))
        self.assertIn("--name", self.bad(*good, "--name", "two\nlines"))
        self.assertIn("nonesuch", self.bad(*good, "--base", "nonesuch"))
        self.bad(*good, "-o", "nowhere/x.toml")
        self.write("empty.csv", "")
        self.assertIn("empty.csv:1: no points", self.bad("calibrate", "--points", "empty.csv"))
        self.write("wrong.csv", HEAD + "send,8,1,1e-6\nsend,8,1,2us\n")
        self.assertIn("wrong.csv:3: seconds: '2us' is no time",
                      self.bad("calibrate", "--points", "wrong.csv"))


class OtherBenchmarks(ProgramCase):
    def test_a_table_of_osu_tells_the_rate(self):
        rows = "".join(f"{1 << n}  {(1.6e-6 + (1 << n) / 12.5e9) * 1e6:.2f}\n" for n in range(3, 23))
        self.write("osu.txt", "# OSU MPI Latency Test v7.4\n# Size          Latency (us)\n" + rows)
        self.good("calibrate", "--points", "osu.txt", "-o", "osu.toml")
        found = self.document("simulate", "chain:ranks=2,bytes=1GiB,block=1GiB", "-p", "osu.toml")
        self.assertAlmostEqual(found["makespan_s"], (1 << 30) / 12.5e9, delta=0.01 * found["makespan_s"])

    def test_what_is_refused(self):
        self.write("osu.txt", "# OSU MPI Allreduce Latency Test v7.4\n# Size  Avg Latency(us)\n8  1\n")
        self.assertIn("osu.txt:1: ", self.bad("calibrate", "--points", "osu.txt"))
        self.write("a.json", '{"test_info": {"test": "RDMA_Read_BW_Test"}, "results": {}}')
        self.assertIn("a.json: document 1: test_info.test: ",
                      self.bad("calibrate", "--points", "a.json"))


if __name__ == "__main__":
    main()
