"""slackline run --metrics: what Prometheus reads of a run that goes on."""

import os
import re
import subprocess
import time
import unittest

from program_case import PROGRAM, main
from rank_case import PATIENCE_S, RankCase

NAME = re.compile(r"[a-z_]+")
LABELS = re.compile(r'\{((?:[a-z_]+="(?:[^"\\\n]|\\["\\n])*",?)*)\}')
LABEL = re.compile(r'([a-z_]+)="((?:[^"\\\n]|\\["\\n])*)"')
NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?(e[+-][0-9]+)?")
SPEC = "chain:ranks=2,bytes=64KiB,block=16KiB"


def parsed(text):
    """The metrics of a file: {name: (type, labels, value)}. Strict: each with its help and type."""
    if not text.endswith("\n"):
        raise ValueError("the last line has no end")
    lines = text[:-1].split("\n")
    if len(lines) % 3:
        raise ValueError("expected help, type and value of each")
    found = {}
    for described, typed, line in zip(lines[::3], lines[1::3], lines[2::3]):
        hash_, word, name, explanation = described.split(" ", 3)
        if (hash_, word) != ("#", "HELP") or not explanation.endswith(".") or not NAME.fullmatch(name):
            raise ValueError(described)
        kind = typed.removeprefix(f"# TYPE {name} ")
        if kind not in ("counter", "gauge"):
            raise ValueError(typed)
        labels = LABELS.match(line, len(name))
        if not line.startswith(name) or not labels or line[labels.end()] != " ":
            raise ValueError(line)
        number = line[labels.end() + 1:]
        if not NUMBER.fullmatch(number) or name in found:
            raise ValueError(line)
        if (kind == "counter") != name.endswith("_total"):
            raise ValueError(f"{name} is a {kind}")
        found[name] = (kind, dict(LABEL.findall(labels.group(1))), float(number))
    return found


def values(text):
    return {name.removeprefix("slackline_run_"): value for name, (_, _, value) in parsed(text).items()}


class Metrics(RankCase):
    def test_of_a_run_that_is_through(self):
        before = time.time()
        document = self.document("run", SPEC, "--iterations", 7, "--warm-up", 2, "--metrics", "m.prom")
        metrics = parsed(self.read("m.prom"))
        for name, (_, labels, _) in metrics.items():
            self.assertTrue(name.startswith("slackline_run_"))
            self.assertEqual((labels["digest"], labels["transport"]), (document["digest"], "shm"))
        self.assertIn("chain:ranks=2", metrics["slackline_run_info"][1]["schedule"])
        found = values(self.read("m.prom"))
        self.assertEqual((found["iterations_total"], found["warm_up_iterations_total"],
                          found["ranks"], found["finished"]), (7, 2, 2, 1))
        makespans = document["makespans_s"]
        for name, value in (("makespan_seconds", makespans[-1]), ("makespan_min_seconds", min(makespans)),
                            ("makespan_max_seconds", max(makespans)),
                            ("makespan_seconds_total", sum(makespans)),
                            ("late_start_max_seconds", document["late_start_s"])):
            self.assertAlmostEqual(found[name], value, delta=1e-9)
        self.assertLessEqual(before - 1, found["start_timestamp_seconds"])
        self.assertLessEqual(found["start_timestamp_seconds"], found["last_iteration_timestamp_seconds"])
        self.assertEqual(self.files(), ["m.prom"])

    def test_before_the_first_iteration_ends_nothing_stands_there_of_another_run(self):
        path = self.folder / "m.prom"
        self.good("run", SPEC, "--metrics", "m.prom")
        before = values(path.read_text())
        self.assertEqual(before["finished"], 1)
        with subprocess.Popen([PROGRAM, "run", SPEC, "--delay", "rank=0,step=0,by=500s",
                               "--warm-up", "0", "--metrics", path], cwd=self.folder,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as run:
            end = time.time() + PATIENCE_S
            while values(path.read_text()) == before and time.time() < end:
                time.sleep(0.01)
            run.terminate()
        found = values(path.read_text())
        self.assertEqual((found["iterations_total"], found["finished"]), (0, 0))
        self.assertNotIn("makespan_seconds", found)
        self.assertLess(before["start_timestamp_seconds"], found["start_timestamp_seconds"])

    def test_while_it_runs_each_look_is_a_whole_file(self):
        path = self.folder / "m.prom"
        with subprocess.Popen([PROGRAM, "run", SPEC, "--duration", "2s", "--metrics", path],
                              cwd=self.folder, stdout=subprocess.DEVNULL) as run:
            seen = []
            while run.poll() is None:
                if path.exists():
                    found = values(path.read_text())
                    if not seen or found != seen[-1]:
                        seen.append(found)
            self.assertEqual(run.wait(PATIENCE_S), 0)
        seen.append(values(path.read_text()))
        self.assertGreater(len(seen), 2)
        for before, after in zip(seen, seen[1:]):
            for name in ("iterations_total", "warm_up_iterations_total", "makespan_seconds_total"):
                self.assertLessEqual(before[name], after[name])
        self.assertEqual([each["finished"] for each in seen[:2]], [0, 0])
        self.assertEqual(seen[-1]["finished"], 1)

    def test_a_name_that_has_quotes(self):
        self.compiled("chain:ranks=2,bytes=64KiB,block=16KiB", 'a"\\ b.sched')
        self.good("run", 'a"\\ b.sched', "--metrics", "m.prom")
        schedule = parsed(self.read("m.prom"))["slackline_run_info"][1]["schedule"]
        self.assertIn('a\\"', schedule)

    def test_a_run_goes_on_where_they_cannot_be_written(self):
        (self.folder / "gone").mkdir()
        (self.folder / "gone" / "m.prom").write_text("")
        with subprocess.Popen([PROGRAM, "run", SPEC, "--duration", "2s", "--metrics", "gone/m.prom"],
                              cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True) as run:
            while not (self.folder / "gone" / "m.prom").read_text():
                time.sleep(0.01)
            os.rename(self.folder / "gone", self.folder / "elsewhere")
            out, err = run.communicate(timeout=PATIENCE_S)
        self.assertEqual(run.returncode, 0)
        self.assertIn("proved at every rank", out)
        self.assertEqual(err.count("note: --metrics: gone/m.prom: cannot write"), 1)

    def test_places(self):
        self.assertIn("expected a place for each",
                      self.bad("run", SPEC, "--trace", "x", "--metrics", "x"))
        self.assertIn("cannot write", self.bad("run", SPEC, "--metrics", "none/m.prom"))
        self.assertIn("--sizes", self.bad("run", SPEC, "--sizes", "1KiB", "--metrics", "x"))


if __name__ == "__main__":
    main()
