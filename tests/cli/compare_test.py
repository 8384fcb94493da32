"""slackline compare"""

import json
import os

from program_case import CHAIN, PIPELINE, ProgramCase, main


class Compare(ProgramCase):
    def trace(self, name, spec, *arguments):
        self.good("simulate", spec, *arguments, "--trace", name)
        return json.loads(self.read(name))

    def test_engines_that_agree(self):
        self.trace("a", PIPELINE, "-e", "analytic")
        self.trace("b", PIPELINE, "-e", "analytic", "--delay", "op=0,by=0s")
        document = self.document("compare", "a", "b", "--within", "0")
        self.assertEqual((document["ok"], document["within"]), (True, 0))
        self.assertEqual(document["makespan_difference_s"], 0)
        self.assertEqual((document["scale"], document["offset_s"]), (1, 0))
        self.assertEqual(document["done_order_pairs"], document["done_order_same"])
        self.assertEqual(document["digest"], self.document("compile", PIPELINE)["digest"])
        self.assertEqual(document["never_done"], [])
        text = self.good("compare", "a", "b")
        self.assertIn("second = 1 × first; beyond it median 0 s, 90 % 0 s, most 0 s", text)
        self.assertNotIn("ops that differ most", text)

    def test_a_late_rank(self):
        first = self.trace("a", PIPELINE)
        second = self.trace("b", PIPELINE, "--delay", "op=200,by=1ms")
        document = self.document("compare", "a", "b", "--ops", "all")
        differences = [b - a for a, b in zip(first["done_s"], second["done_s"])]
        self.assertEqual([op["difference_s"] for op in document["ops"]],
                         sorted(differences, key=abs, reverse=True))
        for op in document["ops"]:
            self.assertEqual(op["difference_s"], differences[op["op"]])
        self.assertEqual(sum(kind["ops"] for kind in document["kinds"]), len(differences))
        self.assertEqual([trace["makespan_s"] for trace in document["traces"]],
                         [max(first["done_s"]), max(second["done_s"])])
        self.assertEqual(len(document["ranks"]), 16)
        few = self.document("compare", "a", "b")
        self.assertEqual(few["ops"], document["ops"][:10])
        self.assertEqual(dict(few, ops=[]), dict(document, ops=[]))
        text = self.good("compare", "a", "b", "--ops", "3")
        self.assertIn("… and 8 more ranks; --all shows them", text)
        self.assertEqual(text, self.good("compare", "a", "b", "--ops", "3"))
        self.assertEqual(len(self.good("compare", "a", "b", "--all").splitlines()),
                         len(self.good("compare", "a", "b").splitlines()) + 7)
        for op in document["ops"][:4]:
            shown = f"op {op['op']} ({op['kind']}, rank {op['rank']})"
            self.assertEqual(shown in text, op != document["ops"][3], shown)

    def test_within(self):
        self.trace("a", CHAIN)
        self.trace("b", CHAIN, "-p", "fractus:rate=95Gbps")
        self.assertRegex(self.good("compare", "a", "b", "--within", "10%"), r"within +10 %: yes")
        self.assertRegex(self.run_well("compare", "a", "b", "--within", "0.01", code=1),
                         r"within +1 %: no")
        self.assertFalse(self.document("compare", "a", "b", "--within", "1%", code=1)["ok"])
        self.assertIn("another", self.good("compare", "a", "b"))

    def test_a_run_that_never_ended(self):
        whole = self.trace("a", CHAIN)
        kept = len(whole["done_s"]) - 2
        for key in ("ready_s", "issued_s", "wire_s", "done_s"):
            whole[key][kept:] = [None] * 2
        self.write("b", json.dumps(whole))
        document = self.document("compare", "a", "b", "--within", "50%", code=1)
        self.assertEqual([op["op"] for op in document["never_done"]], [kept, kept + 1])
        self.assertEqual([trace["ops_done"] for trace in document["traces"]], [kept + 2, kept])
        self.assertIsNone(document["traces"][1]["makespan_s"])
        self.assertIsNone(document["makespan_difference_s"])
        self.assertEqual(document["scale"], 1)
        text = self.good("compare", "a", "b")
        self.assertIn(f"never done in the second: 2 ops: op {kept} (", text)
        self.assertIn("not done", text)
        self.assertIn("never done in the first: 2 ops", self.good("compare", "b", "a"))
        self.assertIn("never done in either: 2 ops", self.good("compare", "b", "b"))

    def test_both_in_one_timeline(self):
        self.trace("a", CHAIN)
        other = self.trace("b", CHAIN, "--delay", "op=0,by=1ms")
        other["engine"] = 'a "machine"'
        self.write("b", json.dumps(other))
        self.good("compare", "a", "b", "--chrome", "both.json")
        events = json.loads(self.read("both.json"))["traceEvents"]
        names = {event["pid"]: event["args"]["name"] for event in events
                 if event["name"] == "process_name"}
        self.assertEqual(len(names), 6)
        self.assertEqual([names[4], names[5]],
                         [f'rank 2, first: {self.engine("a")}', 'rank 2, second: a "machine"'])
        # Each run's part is what convert shows of it.
        for run, name in enumerate(("a", "b")):
            alone = json.loads(self.good("convert", name, "--to", "chrome"))["traceEvents"]
            shown = [dict(event, pid=event["pid"] // 2) for event in events
                     if event["pid"] % 2 == run and event["name"] != "process_name"]
            for event in shown:
                if "id" in event:
                    self.assertEqual(event["id"] % 2, run)
                    event["id"] //= 2
            self.assertEqual(shown, [event for event in alone if event["name"] != "process_name"])

    def engine(self, name):
        return json.loads(self.read(name))["engine"]

    def test_what_simulators_say_of_a_schedule(self):
        racks = "two-level:racks=2,hosts=8,oversubscription=4"
        document = self.document("compare", PIPELINE, "--with", "flow,analytic,event", "-p", racks)
        said = {one["simulator"]: one for one in document["simulators"]}
        self.assertEqual(list(said), ["flow", "analytic", "event"])
        for name, one in said.items():
            alone = self.document("simulate", PIPELINE, "-e", name, "-p", racks)
            self.assertEqual(one["makespan_s"], alone["makespan_s"], name)
            self.assertAlmostEqual(one["against_first"],
                                   one["makespan_s"] / said["flow"]["makespan_s"] - 1, 12)
        self.assertEqual(said["event"]["remark"], "messages do not share links, as rack-0.up")
        self.assertRegex(self.run_well("compare", PIPELINE, "--with", "flow,event", "-p", racks,
                                       "--within", "1%", code=1), r"within +1 %: no")
        text = self.good("compare", PIPELINE, "--with", "event,flow", "--within", "0.001%")
        self.assertRegex(text, r"within +0.001 %: yes")
        self.assertRegex(text, r"flow +\S+ us +the same")
        every = self.document("compare", PIPELINE, "--with", "all")["simulators"]
        self.assertTrue({"flow", "analytic", "event"} <= {one["simulator"] for one in every})

    def test_what_one_of_them_refuses(self):
        document = self.document("compare", "hash-table:ranks=3", "--with", "event,loggopsim")
        self.assertEqual(document["simulators"][1]["makespan_s"], None)
        self.assertIn("refused: goal-bin takes static schedules only",
                      document["simulators"][1]["remark"])

    # A program in LogGOPSim's place, which tells what it was given.
    def test_how_loggopsim_is_asked(self):
        stand_in = self.folder / "bin" / "LogGOPSim"
        stand_in.parent.mkdir()

        def ask(answer, platform, code=0):
            stand_in.write_text(f"#!/bin/sh\necho \"$@\" > {self.folder}/asked\n"
                                f"cp \"$3\" {self.folder}/asked.bin\n{answer}\n")
            stand_in.chmod(0o755)
            done = self.run_program(
                "compare", CHAIN, "--with", "loggopsim", "-p", platform, "--json",
                environment=dict(os.environ, PATH=f"{stand_in.parent}:{os.environ['PATH']}"))
            self.assertEqual(done.code, code, done)
            return done

        finished = "echo 'Maximum finishing time at host 3: 2500000 (0.0025 s)'"
        # In femtoseconds: 80 a byte at 100 Gb/s, which is more than the gap.
        done = ask(finished, "star:rate=100Gbps,latency=600ns,o_post=200ns")
        self.assertEqual(json.loads(done.out)["simulators"][0]["makespan_s"], 2.5e-9)
        self.assertRegex(self.read("asked"), r"^-b -f \S+ -L 600000000 -o 200000000 -g 80000 "
                                             r"-G 80000 -O 0 -S 1000000000$")
        # What 31 bits do not hold is told in a coarser unit.
        done = ask(finished, "star:rate=1Gbps,latency=50ms,gap=20ns")
        self.assertEqual(json.loads(done.out)["simulators"][0]["makespan_s"], 2.5e-4)
        self.assertIn("-L 500000000 -o 0 -g 200 -G 80 ", self.read("asked"))
        self.assertIn("LogGOPSim did not say when", ask("echo hello", "star", code=3).err)
        self.assertIn("put LogGOPSim", ask("exit 7", "star", code=3).err)
        program = (self.folder / "asked.bin").read_bytes()
        self.good("export", CHAIN, "--to", "goal-bin", "-o", "exported.bin")
        self.assertEqual(program, (self.folder / "exported.bin").read_bytes())

    def test_bad_input(self):
        first = self.trace("a", CHAIN)
        other = self.trace("b", PIPELINE)
        line = self.bad("compare", "a", "b")
        self.assertEqual(line, f"slackline: b: of schedule {other['schedule']}; expected one of "
                         f"schedule {first['schedule']}, as a is")
        self.write("short", json.dumps(dict(first, **{key: value[:-1]
                                                      for key, value in first.items()
                                                      if isinstance(value, list)})))
        self.write("untitled", json.dumps({key: value for key, value in first.items()
                                           if key != "title"}))
        self.write("cut", self.read("a")[:100])
        for arguments, part in (
                (["a"], "SECOND: none; expected another trace, or --with"),
                (["a", "b", "--with", "flow"], "b: beside --with nothing is read but a schedule"),
                (["a", "b", "--platform", "apt"], "--platform without --with"),
                ([CHAIN, "--with", "flow", "--ops", "3"], "--ops beside --with"),
                ([CHAIN, "--with", "flow,astra"], "--with: 'astra'; expected a list of simgrid,"),
                ([CHAIN, "--with", "flow,flow"], "--with: flow twice"),
                ([CHAIN, "--with", "flow", "-p", "nowhere"], "no such preset or file"),
                (["nowhere.sched", "--with", "flow"], "nowhere.sched: "),
                (["a", "short"], "operations"),
                (["a", "cut"], "cut: "),
                (["nowhere", "a"], "nowhere: "),
                (["a", "nowhere"], "nowhere: "),
                (["untitled", "a"], "expected --schedule"),
                (["a", "a", "--schedule", PIPELINE], "the trace is of schedule"),
                (["a", "a", "--ops", "-1"], "--ops"),
                (["a", "a", "--ops", "few"], "--ops"),
                (["a", "a", "--within", "5 %"], "--within: '5 %'; expected a share of the first"),
                (["a", "a", "--within", "-1%"], "--within"),
                (["a", "a", "--within", "nan"], "--within"),
                (["a", "a", "--within", "%"], "--within"),
                (["a", "a", "--chrome", "-"], "--chrome -"),
                (["a", "a", "--chrome", "nowhere/x"], "nowhere/x: cannot write")):
            self.assertIn(part, self.bad("compare", *arguments))
            self.assertIn(part, self.bad("compare", *arguments, "--json"))
        self.good("compare", "untitled", "a", "--schedule", CHAIN)


if __name__ == "__main__":
    main()
