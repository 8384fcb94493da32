"""`slackline reproduce`: the facts of a paper's figures, and the figures."""

import csv
import json
import os
import shutil
import unittest

from program_case import ProgramCase, main

HAS_GNUPLOT = shutil.which("gnuplot") is not None


class Reproduce(ProgramCase):
    def names(self):
        return [e["name"] for e in self.document("reproduce", "list")["figures"]]

    def test_the_list(self):
        names = self.names()
        self.assertIn("rdmc-fig8", names)
        listed = self.good("reproduce", "list")
        self.assertEqual([line.split()[0] for line in listed.splitlines()], names)

    def test_every_figure_holds_or_says_why_not(self):
        for name in self.names():
            with self.subTest(figure=name):
                done = self.run_program("reproduce", name, "--quick", "--json")
                if "without SimGrid" in self.good("--version") and done.code == 3:
                    self.assertIn("libsimgrid-dev", done.err)
                    continue
                self.assertIn(done.code, (0, 1), done)
                document = json.loads(done.out)
                self.assertEqual(document["figure"], name)
                holds = document["holds"]
                self.assertTrue(holds)
                for fact in holds:
                    for key in ("fact", "expected", "got", "ok"):
                        self.assertIn(key, fact)
                    if not fact["ok"]:
                        self.assertIn("known_gap", fact)
                self.assertEqual(document["ok"], all(fact["ok"] for fact in holds))
                self.assertEqual(done.code, 0 if document["ok"] else 1)

    def test_facts_are_told_without_a_run(self):
        figures = {f["name"]: f for f in self.document("reproduce", "facts")["figures"]}
        self.assertEqual(list(figures), self.names())
        facts = {f["id"]: f for f in figures["seriema-table2"]["facts"]}
        self.assertEqual(facts["writes-range[8 B]"]["expected"], "4.4 to 4.8")
        self.assertIn("Before: ", facts["writes-by-row[8 B]"]["history"][0]["change"])
        text = self.good("reproduce", "facts")
        self.assertIn("255 copies against 127", text)
        self.assertIn("[derived; identity]", text)

    def test_the_history_of_a_fact_is_printed(self):
        text = self.run_well("reproduce", "seriema-table2", "--quick", code=1)
        self.assertIn("FAILS  8 B: million writes a second: expected 4.4 to 4.8", text)
        self.assertIn("2026-11-21: The range became 10 % of each row", text)

    def test_a_figure_that_holds_ends_with_0(self):
        text = self.good("reproduce", "rdmc-fig8", "--quick", "--out", "f")
        self.assertIn("facts: 4 of 4 hold", text)
        self.assertIn("binomial pipeline", text)

    def test_a_fact_that_fails_ends_with_1_and_its_reason(self):
        text = self.run_well("reproduce", "rdmc-fig12", "--quick", code=1)
        self.assertIn("FAILS", text)
        gaps = [f["known_gap"] for f in self.document("reproduce", "rdmc-fig12", "--quick",
                                                      code=1)["holds"] if not f["ok"]]
        for gap in gaps:
            self.assertIn(gap, text)

    @unittest.skipUnless(HAS_GNUPLOT, "without gnuplot")
    def test_figures_are_drawn_the_same_each_time(self):
        files = self.document("reproduce", "rdmc-fig4", "--quick", "--out", "a/b")["figures"]
        self.assertEqual(self.files(), ["a", "a/b", "a/b/rdmc-fig4-256mb.csv", "a/b/rdmc-fig4-256mb.svg",
                                        "a/b/rdmc-fig4-8mb.csv", "a/b/rdmc-fig4-8mb.svg"])
        for figure in files:
            svg = self.read(figure["file"])
            for label in (figure["title"], figure["x_axis"], figure["y_axis"],
                          *(s["name"] for s in figure["series"])):
                self.assertIn(label, svg)
        self.good("reproduce", "rdmc-fig4", "--quick")
        for name in ("rdmc-fig4-256mb.svg", "rdmc-fig4-8mb.svg", "rdmc-fig4-8mb.csv"):
            self.assertEqual(self.read(f"figures/{name}"), self.read(f"a/b/{name}"))

    @unittest.skipUnless(HAS_GNUPLOT, "without gnuplot")
    def test_a_folder_that_nobody_named_and_that_cannot_be_made_is_noted(self):
        self.write("figures", "")
        done = self.run_program("reproduce", "rdmc-fig4", "--quick")
        self.assertEqual(done.code, 0, done)
        self.assertIn("note: no figure: --out: 'figures' cannot be made a folder", done.err)
        self.assertEqual(self.files(), ["figures"])

    def without_gnuplot(self, *arguments):
        return self.run_program(*arguments, environment={**os.environ, "PATH": str(self.folder)})

    def test_without_gnuplot(self):
        done = self.without_gnuplot("reproduce", "rdmc-fig8", "--quick")
        self.assertEqual(done.code, 0, done)
        self.assertIn("facts: 4 of 4 hold", done.out)
        self.assertIn("note: no pictures, only their numbers: ", done.err)
        self.assertEqual(done.err.count("gnuplot-nox"), 1)
        numbers = [name for name in self.files() if name != "figures"]
        self.assertTrue(numbers)
        for name in numbers:
            self.assertTrue(name.endswith(".csv"))
            self.assertIn(f"numbers {name}\n", done.out)
        done = self.without_gnuplot("reproduce", "rdmc-fig8", "--quick", "--out", "f", "--json")
        self.assertEqual(done.code, 0, done)
        self.assertIn("gnuplot-nox", done.err)
        for figure in json.loads(done.out)["figures"]:
            self.assertIsNone(figure["file"])
            with open(self.folder / figure["numbers"], newline="") as file:
                rows = list(csv.DictReader(file))
            points = [(series["name"], x, y) for series in figure["series"]
                      for x, y in zip(series["x"], series["y"])]
            self.assertEqual([(row["series"], float(row["x"]), float(row["y"])) for row in rows], points)

    def test_what_is_refused(self):
        self.assertIn("did you mean 'rdmc-fig8'?", self.bad("reproduce", "rdmc-fig88"))
        self.bad("reproduce")
        self.write("f", "")
        self.assertIn("expected a folder",
                      self.bad("reproduce", "rdmc-fig3", "--out", "f"))
        self.assertIn("expected a folder",
                      self.bad("reproduce", "rdmc-fig3", "--out", "f/g"))


if __name__ == "__main__":
    main()
