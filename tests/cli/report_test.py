"""slackline report, and --report: what they read, refuse and write; tests/report has the pages."""

import json
import os
import re

from program_case import CHAIN, PIPELINE, ProgramCase, main


def facts_of(page):
    """The facts that a page is given."""
    return json.loads(re.search(r'id="facts">(.*?)</script>', page, re.S)[1])


class Report(ProgramCase):
    def traces(self):
        self.good("simulate", CHAIN, "--trace", "a")
        self.good("simulate", CHAIN, "--delay", "op=0,by=10us", "--trace", "b")

    def test_the_page_and_the_document(self):
        self.traces()
        self.assertRegex(self.good("report", "a", "-o", "r.html"), r"^r\.html: \d+(\.\d+)? KiB\n$")
        page = self.read("r.html")
        self.assertTrue(page.startswith("<!DOCTYPE html>"))
        self.assertEqual(self.good("report", "a"), page)
        document = self.document("report", "a", "-o", "s.html")
        self.assertEqual((document["runs"], document["file"], document["file_bytes"]),
                         (1, "s.html", len(page.encode())))
        self.assertEqual(self.read("s.html"), page)
        facts = facts_of(page)
        self.assertEqual(facts["schedule"]["digest"], document["digest"])
        self.assertEqual([run["label"] for run in facts["runs"]], ["a"])

    def test_two_runs(self):
        self.traces()
        facts = facts_of(self.good("report", "a", "b"))
        self.assertEqual([run["label"] for run in facts["runs"]], ["a", "b"])
        self.assertGreater(facts["runs"][1]["makespan"], facts["runs"][0]["makespan"])
        self.good("simulate", PIPELINE, "--trace", "c")
        self.assertIn("expected one of schedule", self.bad("report", "a", "c"))

    def test_every_digit_of_a_seed(self):
        for seed, told in (("18446744073709551615", "18446744073709551615"), ("0", "")):
            self.good("simulate", CHAIN, "--noise", "exponential,mean=1us", "--seed", seed, "--report", "r.html")
            self.assertEqual(facts_of(self.read("r.html"))["runs"][0]["seed"], told)

    def test_where_the_schedule_comes_from(self):
        self.compiled(CHAIN, "x.sched")
        self.good("simulate", "x.sched", "--trace", "t")
        (self.folder / "x.sched").rename(self.folder / "y.sched")
        self.assertIn("expected --schedule", self.bad("report", "t"))
        self.assertIn("<!DOCTYPE html>", self.good("report", "t", "--schedule", "y.sched"))

    def test_what_is_no_trace(self):
        self.write("x", "{}")
        self.bad("report", "x")
        self.bad("report", "none")
        self.assertEqual(self.bad("report", CHAIN),
                         f"slackline: {CHAIN}: a schedule, and no run of it; expected what "
                         "`simulate --trace` or `run --trace` wrote")
        self.bad("report")

    def test_from_the_commands_that_run(self):
        self.good("simulate", CHAIN, "--report", "r.html")
        simulated = facts_of(self.read("r.html"))
        self.assertEqual(simulated["runs"][0]["engine"], self.document("simulate", CHAIN)["engine"])
        self.good("slack", CHAIN, "--report", "r.html")
        self.assertEqual(facts_of(self.read("r.html"))["runs"][0]["makespan"],
                         simulated["runs"][0]["makespan"])
        self.good("validate", CHAIN, "--on", "analytic", "--ops", "5", "--report", "r.html")
        self.assertEqual(facts_of(self.read("r.html"))["validation"]["delays"], 5)
        self.good("simulate", CHAIN, "--noise", "exponential,mean=1us", "--samples", "7",
                  "--report", "r.html")
        self.assertEqual(facts_of(self.read("r.html"))["columns"]["sample.makespan"]["count"], 7)

    def test_a_real_run_names_no_platform(self):
        self.good("simulate", CHAIN, "--trace", "t")
        trace = json.loads(self.read("t"))
        trace.update(platform="", engine="run:shm")
        self.write("real", json.dumps(trace))
        facts = facts_of(self.good("report", "real"))
        self.assertTrue(facts["runs"][0]["measured"])
        self.assertIn("run0.total_float", facts["columns"])
        self.assertNotIn("run0.path.op", facts["columns"])

    def test_of_a_dynamic_schedule(self):
        self.good("simulate", "hash-table:ranks=2", "--report", "r.html")
        self.assertIn("dynamic", facts_of(self.read("r.html"))["runs"][0]["no_slack"])

    def test_what_does_not_go_together(self):
        for command in (("simulate", CHAIN), ("slack", CHAIN), ("validate", CHAIN), ("run", CHAIN)):
            self.assertIn("standard output", self.bad(*command, "--report", "-"))
        self.assertIn("both go to", self.bad("simulate", CHAIN, "--trace", "t", "--report", "t"))
        self.assertIn("both go to", self.bad("run", CHAIN, "--trace", "t", "--report", "t"))
        self.assertIn("--sizes", self.bad("run", CHAIN, "--sizes", "1KiB", "--report", "r.html"))
        self.assertIn("--no-timestamps", self.bad("run", CHAIN, "--no-timestamps", "--report", "r"))
        for other in (("--samples", "2", "--noise", "exponential,mean=1us"),
                      ("--tolerance", "latency"), ("--propagate", "op=1,by=1us"),
                      ("--price", "1us")):
            self.assertIn("--report", self.bad("slack", CHAIN, *other, "--report", "r.html"))


class View(ProgramCase):
    def opener(self, text):
        """Puts a program of that text where xdg-open would be, and temporary files beside it."""
        path = self.folder / "xdg-open"
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)
        return {**os.environ, "PATH": f"{self.folder}:/usr/bin:/bin", "TMPDIR": str(self.folder)}

    def test_the_page_is_opened(self):
        self.good("simulate", CHAIN, "--trace", "t")
        environment = self.opener('echo "$1" > opened')
        done = self.run_program("view", "t", environment=environment)
        self.assertEqual((done.code, done.err), (0, ""), done)
        file = self.read("opened").strip()
        self.assertTrue(done.out.startswith(f"{file}: "), done)
        self.assertRegex(file, r"/slackline-\w{6}\.html$")
        self.assertEqual(os.stat(file).st_mode & 0o777, 0o600)
        with open(file, encoding="utf-8") as page:
            self.assertEqual(page.read(), self.good("report", "t"))

    def test_without_a_browser(self):
        self.good("simulate", CHAIN, "--trace", "t")
        done = self.run_program("view", "t", environment=self.opener("exit 3"))
        self.assertEqual(done.code, 3, done)
        self.assertIn("ended with 3", done.err)
        self.assertIn(".html", done.err)
        environment = self.opener("")
        (self.folder / "xdg-open").unlink()
        environment["PATH"] = str(self.folder)
        self.assertEqual(self.run_program("view", "t", environment=environment).code, 3)
        environment["TMPDIR"] = "/none"
        self.assertIn("TMPDIR", self.run_program("view", "t", environment=environment).err)


if __name__ == "__main__":
    main()
