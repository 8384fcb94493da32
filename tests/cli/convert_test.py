"""slackline convert, and slackline export"""

import csv
import io
import json
import shutil
import subprocess
import xml.etree.ElementTree

from program_case import CHAIN, PIPELINE, PROGRAM, ProgramCase, main


class Convert(ProgramCase):
    def rows(self, *arguments):
        return list(csv.DictReader(io.StringIO(self.good("convert", *arguments, "--to", "csv"))))

    def test_csv(self):
        document = self.document("simulate", CHAIN, "--trace", "t")
        rows = self.rows("t")
        self.assertEqual(len(rows), self.document("compile", CHAIN)["ops"])
        self.assertEqual(max(float(row["done_s"]) for row in rows), document["makespan_s"])
        self.assertEqual({int(row["rank"]) for row in rows}, {0, 1, 2})

    def test_chrome(self):
        self.good("simulate", PIPELINE, "--trace", "t")
        out = self.good("convert", "t", "--to", "chrome", "-o", "t.json")
        self.assertTrue(out.startswith("t.json: "))
        events = json.loads(self.read("t.json"))["traceEvents"]
        self.assertEqual({event["pid"] for event in events}, set(range(16)))

    def test_several_nics_have_tracks_of_their_own(self):
        def tracks(spec, platform):
            self.good("simulate", spec, "-e", "event", "-p", platform, "--trace", "t")
            self.good("convert", "t", "--to", "chrome", "-o", "t.json")
            self.good("compare", "t", "t", "--chrome", "both.json")
            events = json.loads(self.read("t.json"))["traceEvents"]
            both = json.loads(self.read("both.json"))["traceEvents"]
            named = [{(event["pid"] // runs, event["args"]["name"]) for event in all_events
                      if event["name"] == "thread_name"
                      and ("nic" in event["args"]["name"] or "scale-up" in event["args"]["name"])}
                     for runs, all_events in ((1, events), (2, both))]
            self.assertEqual(*named)
            return named[0]

        two = "chain:ranks=2,bytes=2MiB,stripes=2,ready=none"
        self.assertEqual(tracks(two, "star"), {(0, "nic out"), (1, "nic in")})
        self.assertEqual(tracks(two, "star:rails=2,rail=channel"),
                         {(0, "nic 0 out"), (0, "nic 1 out"), (1, "nic 0 in"), (1, "nic 1 in")})
        self.assertEqual(tracks(two, "star:rails=2"), {(0, "nic 0 out"), (1, "nic 0 in")})
        four = tracks("chain:ranks=4,bytes=2MiB,ready=none", "star:rails=2,ranks_per_node=2")
        self.assertLessEqual({(1, "nic 1 out"), (2, "nic 0 in")}, four)
        self.assertNotIn((1, "nic 0 out"), four)
        self.assertEqual(tracks("chain:ranks=4,bytes=2MiB,ready=none",
                                "star:ranks_per_node=2,scale_up_rate=400Gbps"),
                         {(0, "scale-up out"), (1, "scale-up in"), (1, "nic 0 out"), (2, "nic 0 in"),
                          (2, "scale-up out"), (3, "scale-up in")})

    def test_perfetto(self):
        self.good("simulate", PIPELINE, "--trace", "t")
        out = self.good("convert", "t", "--to", "perfetto", "-o", "t.pftrace")
        self.assertTrue(out.startswith("t.pftrace: "))
        written = (self.folder / "t.pftrace").read_bytes()
        for name in (b"rank 15", b"nic out", b"post send"):
            self.assertIn(name, written)
        document = self.document("convert", "t", "--to", "perfetto", "-o", "u.pftrace")
        self.assertEqual((document["file"], document["file_bytes"]), ("u.pftrace", len(written)))
        self.assertEqual((self.folder / "u.pftrace").read_bytes(), written)
        piped = subprocess.run([PROGRAM, "convert", "t", "--to", "perfetto"], cwd=self.folder,
                               capture_output=True, check=True)
        self.assertEqual(piped.stdout, written)
        self.assertEqual(self.bad("convert", "t", "--to", "perfetto", "--json"),
                         "slackline: --json: perfetto is no text; expected a file, --output")

    def test_paje_by_a_reader_of_others(self):
        if shutil.which("pj_dump") is None:
            self.skipTest("pj_dump is missing (Debian: pajeng)")
        self.good("simulate", PIPELINE, "--trace", "t")
        self.good("convert", "t", "--to", "paje", "-o", "t.paje")
        done = subprocess.run(["pj_dump", "--user-defined", "--float-precision=12", "t.paje"],
                              cwd=self.folder, capture_output=True, text=True, check=True)
        self.assertEqual(done.stderr, "")
        rows = [line.split(", ") for line in done.stdout.splitlines()]
        states = [row for row in rows if row[0] == "State"]
        links = [row for row in rows if row[0] == "Link"]
        traced = self.rows("t")
        shown = {(state[7], state[8]): state for state in states}
        self.assertEqual(len(shown), len(states))
        for row in traced:
            post = shown.pop(("post " + row["kind"], row["op"]))
            self.assertAlmostEqual(float(post[4]), float(row["issued_s"]), delta=1e-11)
            on_nic = shown.pop((row["kind"], row["op"]))
            self.assertAlmostEqual(float(on_nic[4]), float(row["done_s"]), delta=1e-11)
        self.assertEqual(shown, {})
        sends = {row["op"]: row for row in traced if row["kind"] == "send"}
        self.assertEqual({link[9] for link in links}, set(sends))
        for link in links:
            self.assertAlmostEqual(float(link[3]), float(sends[link[9]]["wire_s"]), delta=1e-11)

    def test_svg(self):
        self.compiled(CHAIN, "a & <b>.sched")
        self.good("simulate", "a & <b>.sched", "--trace", "t")
        picture = xml.etree.ElementTree.fromstring(self.good("convert", "t", "--to", "svg"))
        texts = [element.text for element in picture.iter() if element.text]
        self.assertIn("a & <b>.sched", texts)
        for rank in range(3):
            self.assertIn(f"rank {rank}", texts)

    def test_the_document(self):
        digest = self.document("simulate", CHAIN, "--trace", "t")["digest"]
        document = self.document("convert", "t", "--to", "csv")
        self.assertEqual((document["digest"], document["proved"], document["file"]),
                         (digest, False, None))
        self.assertEqual(document["content"], self.good("convert", "t", "--to", "csv"))
        to_file = self.document("convert", "t", "--to", "csv", "-o", "t.csv")
        self.assertEqual(to_file["file"], "t.csv")
        self.assertEqual(self.read("t.csv"), document["content"])
        self.assertEqual(to_file["file_bytes"], len(document["content"]))

    def test_where_the_schedule_comes_from(self):
        self.compiled(CHAIN, "x.sched")
        self.good("simulate", "x.sched", "--trace", "t")
        rows = self.rows("t")
        (self.folder / "x.sched").rename(self.folder / "y.sched")
        self.assertIn("expected --schedule", self.bad("convert", "t", "--to", "csv"))
        self.assertEqual(self.rows("t", "--schedule", "y.sched"), rows)
        self.assertEqual(self.rows("t", "--schedule", CHAIN), rows)
        self.assertIn("the trace is of schedule",
                      self.bad("convert", "t", "--to", "csv", "--schedule", PIPELINE))
        self.compiled(PIPELINE, "x.sched")
        self.assertIn("another one now", self.bad("convert", "t", "--to", "csv"))
        # Both have gone elsewhere together.
        (self.folder / "kept").mkdir()
        (self.folder / "y.sched").rename(self.folder / "kept" / "x.sched")
        (self.folder / "x.sched").unlink()
        (self.folder / "t").rename(self.folder / "kept" / "t")
        self.assertEqual(self.rows("kept/t"), rows)
        for name in ("t", "x.sched"):
            (self.folder / "kept" / name).rename(self.folder / name)
        (self.folder / "x.sched").rename(self.folder / "y.sched")
        # From a pipe the schedule's own title has to do.
        self.good("simulate", "-", "--trace", "u", stdin=self.read("y.sched"))
        self.assertEqual(self.rows("u"), rows)
        # A trace from elsewhere need not say.
        trace = json.loads(self.read("t"))
        del trace["title"]
        self.write("v", json.dumps(trace))
        self.assertIn("expected --schedule", self.bad("convert", "v", "--to", "csv"))
        self.assertEqual(self.rows("v", "--schedule", CHAIN), rows)


class Export(ProgramCase):
    def test_every_listed_format(self):
        names = [entry["name"] for entry in self.document("list", "formats")["formats"]
                 if entry["by"] == "export"]
        self.assertLessEqual({"text", "json", "dot", "graphml", "goal", "csv", "msccl-xml",
                              "mscclpp-json"},
                             set(names))
        names.remove("goal-bin")  # no text: tests/cli/goal_test.py
        names.remove("chakra")  # a file of each rank: tests/cli/chakra_test.py
        for name in ("loggopsim", "htsim", "astra-sim"):  # tests/cli/other_simulators_test.py
            names.remove(name)
        for name in names:
            spec = f"{CHAIN},ready=none"
            out = self.good("export", spec, "--to", name)
            self.assertTrue(out)
            self.assertTrue(self.good("export", spec, "--to", name, "-o", "f").startswith("f: "))
            self.assertEqual(self.read("f"), out)
            document = self.document("export", spec, "--to", name)
            self.assertEqual((document["content"], document["format"]), (out, name))

    def test_what_others_would_read(self):
        rows = list(csv.reader(io.StringIO(self.good("export", CHAIN, "--to", "csv"))))
        self.assertEqual(rows[0], ["step", "src", "dst", "offset", "bytes", "block"])
        self.assertEqual(len(rows) - 1, 4)
        tree = xml.etree.ElementTree.fromstring(self.good("export", CHAIN, "--to", "graphml"))
        self.assertTrue(tree.tag.endswith("graphml"))
        document = json.loads(self.good("export", CHAIN, "--to", "json"))
        self.assertEqual(document["digest"], self.document("compile", CHAIN)["digest"])
        self.assertEqual(self.good("export", CHAIN, "--to", "text"),
                         self.good("compile", CHAIN, "-o", "-"))

    def test_proof(self):
        self.assertIs(self.document("export", CHAIN, "--to", "csv")["proved"], False)
        self.assertIs(self.document("export", CHAIN, "--to", "csv", "--prove")["proved"], True)
        self.compiled(CHAIN)
        self.assertIs(self.document("export", "x.sched", "--to", "csv")["proved"], True)


if __name__ == "__main__":
    main()
