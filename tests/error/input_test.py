"""What is wrong with the user's input ends with 2 and one line: what, where, what was expected.

Nothing reaches standard output, and no file is left behind (ProgramCase.bad sees to both).
"""

import json
import re

from program_case import CHAIN, PIPELINE, ProgramCase, main

USES = (["compile"], ["check"], ["export", "--to", "csv"], ["simulate"], ["slack"])


class Specs(ProgramCase):
    def test_specs(self):
        for spec, part in (
                ("chian:ranks=2,bytes=1MiB", "did you mean 'chain'"),
                ("nonesuch:ranks=2,bytes=1MiB", "unknown pattern 'nonesuch'"),
                ("chain", "ranks: missing"),
                ("chain:", "ranks: missing"),
                ("chain:ranks=2", "bytes: missing"),
                ("chain:ranks=0,bytes=1MiB", "from 1 to"),
                ("chain:ranks=-1,bytes=1MiB", "from 1 to"),
                ("chain:ranks=1.5,bytes=1MiB", "from 1 to"),
                ("chain:ranks=4294967296,bytes=1MiB", "from 1 to"),
                ("chain:ranks=99999999999999999999999,bytes=1MiB", "from 1 to"),
                ("chain:ranks=2,bytes=-1", "bytes: "),
                ("chain:ranks=2,bytes=1MB,bytes=2MB", "bytes: given twice"),
                ("chain:ranks=2,bytes=1XB", "bytes: "),
                ("chain:ranks=2,bytes=0.3", "bytes: "),
                ("chain:ranks=2,bytes=9223372036854775808", "bytes: "),
                ("chain:ranks=2,bytes=99999999999GiB", "bytes: "),
                ("chain:ranks=2,bytes=1e30GiB", "bytes: "),
                ("chain:ranks=2,bytes=1MiB,block=0", "block: "),
                ("chain:ranks=2,bytes=1MiB,block=-4", "block: "),
                ("chain:ranks=2,bytes=4000000000GiB,block=1", "block: "),
                ("chain:ranks=16777216,bytes=1024GiB,block=1", "block: "),
                ("chain:ranks=4,bytes=1MiB,root=4", "from 0 to 3"),
                ("chain:ranks=4,bytes=1MiB,root=-1", "from 0 to 3"),
                ("chain:ranks=4,bytes=1MiB,colour=red", "colour"),
                ("chain:ranks=4,bytes=1MiB,root", "root: no value"),
                ("chain:ranks=4,bytes=1MiB,root=", "root: no value"),
                ("chain:ranks=4,bytes=1MiB,", "comma"),
                ("chain:ranks=4,,bytes=1MiB", "comma"),
                ("chain:ranks=4 ,bytes=1MiB", "ranks"),
                ("chain:ranks=4,bytes=1MiB,window=0", "window"),
                ("chain:ranks=4,bytes=1MiB,lower=pot", "send or put"),
                ("chain:ranks=4,bytes=1MiB,racks=2", "hybrid takes it"),
                ("hybrid:ranks=4,bytes=1MiB,racks=5", "racks"),
                ("hybrid:ranks=4,bytes=1MiB,rack-map=nowhere", "nowhere"),
                ("chain:ranks=4\nbytes=1MiB", "ranks"),
                ("chain:ranks=4,bytes=1MiB,root=\x1b[31m", "root")):
            for use in USES:
                line = self.bad(use[0], spec, *use[1:])
                self.assertIn(part, line, f"{use} {spec}")
                self.assertTrue(line.isprintable(), line)
        self.bad("compile", "")

    def test_options_of_a_spec(self):
        for option, value, part in (("--lower", "x", "send or put"), ("--window", "0", "window"),
                                    ("--ready", "maybe", "send or write or none"),
                                    ("--start", "x", "pairwise or all"),
                                    ("--first-block", "x", "direct or copy"),
                                    ("--in-flight", "-1", "in-flight")):
            self.assertIn(part, self.bad("compile", CHAIN, option, value))
        line = self.bad("compile", f"{CHAIN},lower=put", "--lower", "send")
        self.assertIn("--lower send: the spec says lower=put", line)


class CommandLines(ProgramCase):
    def test_command_lines(self):
        for arguments, part in (
                (["compile"], "SCHEDULE is required"),
                (["compile", CHAIN, "more"], "'more'"),
                (["compile", CHAIN, "--nonesuch"], "'--nonesuch'"),
                (["compile", CHAIN, "-o"], "--output: no value"),
                (["compile", CHAIN, "-o", ""], "--output: empty"),
                (["compile", CHAIN, "-o", "a", "-o", "b"], "--output stands twice"),
                (["compile", CHAIN, "--format", "xml"], "text or json"),
                (["compile", CHAIN, "--json=maybe"], "json"),
                (["check", CHAIN, "--limit", "0"], "--limit"),
                (["export", CHAIN], "no --to"),
                (["export", CHAIN, "--to", "pdf"], "unknown format 'pdf'"),
                (["list"], "TOPIC is required"),
                (["list", "colours"], "unknown topic 'colours'"),
                (["convert", "t"], "no --to"),
                (["convert", "t", "--to", "paje"], "unknown format 'paje'"),
                (["simulate", CHAIN, "--engine", "ns3"], "simgrid or analytic"),
                (["simulate", CHAIN, "--policy", "random"], "in-order, ready or least-slack"),
                (["simulate", CHAIN, "--samples", "0"], "--samples"),
                (["simulate", CHAIN, "--samples", "-3"], "--samples"),
                (["simulate", CHAIN, "--samples", "0"], "--samples"),
                (["simulate", CHAIN, "--seed", "x"], "--seed"),
                (["simulate", CHAIN, "--seed", "18446744073709551616"], "--seed"),
                (["simulate", CHAIN, "--prove", "--no-proof"], "--prove")):
            self.assertIn(part, self.bad(*arguments))
            self.assertIn(part, self.bad(arguments[0], "--json", *arguments[1:]))

    def test_platforms(self):
        self.write("broken.toml", "schema = 1\n[nic\n")
        self.write("newer.toml", "schema = 99\n")
        for platform, part in (("nowhere", "nowhere"), ("nowhere.toml", "nowhere.toml"),
                               ("ring:rate=1Gbps", "ring"), ("star:rate=fast", "rate"),
                               ("star:rate=0Gbps", "rate"), ("star:rate=-1Gbps", "rate"),
                               ("star:latency=1", "latency"), ("star:latency=-1us", "latency"),
                               ("star:colour=1us", "colour"), ("star:rate=1Gbps,rate=1Gbps", "twice"),
                               ("broken.toml", "broken.toml:"), ("newer.toml", "newer.toml:"),
                               (".", "'.'")):
            for command in ("simulate", "slack"):
                self.assertIn(part, self.bad(command, CHAIN, "--platform", platform))

    def test_delays(self):
        self.write("broken.toml", "schema = 1\n[[delay]\n")
        self.write("newer.toml", "schema = 99\n")
        self.write("far.toml", 'schema = 1\n[[delay]]\nop = 99\nby = "1us"\n')
        for delays, part in (("nowhere", "nowhere"), (".", "'.'"), ("broken.toml", "broken.toml:"),
                             ("newer.toml", "newer.toml:"), ("far.toml", "op 99 does not exist")):
            self.assertIn(part, self.bad("simulate", CHAIN, "--delays", delays))
        for delay, part in (("op=1", "no by"), ("by=1us", "op=…"), ("op=1,by=1", "by"),
                            ("op=1,by=-1us", "by"), ("op=-1,by=1us", "op"), ("op=x,by=1us", "op"),
                            ("op=99,by=1us", "op 99 does not exist"),
                            ("op=4294967295,by=1us", "op"), ("op=1,by=1us,of=all", "op or lane"),
                            ("op=1,op=2,by=1us", "twice"), ("colour=1,by=1us", "colour"),
                            ("op=1,step=1,by=1us", "either"), ("rank=1,by=1us", "either"),
                            ("op=1,rank=9,by=1us", "rank"), ("rank=9,step=0,by=1us", "rank 9"),
                            ("rank=0,step=99,by=1us", "step 99"), ("op=1,,by=1us", "''"),
                            ("", "--delay"), ("op=1,by=", "by")):
            self.assertIn(part, self.bad("simulate", CHAIN, "--delay", delay))
        for pair, part in (("src=0,dst=1", "no rate"), ("src=0,rate=1Gbps", "no dst"),
                           ("src=0,dst=9,rate=1Gbps", "rank 9"), ("src=0,dst=1,rate=0Gbps", "rate"),
                           ("src=0,dst=1,rate=1", "rate"), ("src=0,dst=1,speed=1Gbps", "speed")):
            self.assertIn(part, self.bad("simulate", CHAIN, "--slow-pair", pair))


class Files(ProgramCase):
    def schedules(self, name, part):
        for use in USES:
            self.assertIn(part, self.bad(use[0], name, *use[1:]), f"{use} {name}")

    def test_files_that_are_not_there_or_no_schedules(self):
        (self.folder / "folder").mkdir()
        self.write("empty", "")
        self.write("prose", "It was a dark and stormy night.\n")
        self.write("list", "[1, 2]")
        self.schedules("nowhere.sched", "nowhere.sched: ")
        self.schedules("folder/nowhere", "folder/nowhere: ")
        self.schedules("folder", "folder: ")
        for name in ("empty", "prose", "list"):
            self.schedules(name, f"{name}: not a schedule")
        self.assertIn("not a schedule", self.bad("check", "-", stdin="prose"))

    def test_truncated_files(self):
        for format in ("text", "json"):
            whole = self.good("compile", CHAIN, "-o", "-", "--format", format).encode()
            for cut in range(0, len(whole) - 2, max(1, len(whole) // 20)):
                (self.folder / "cut").write_bytes(whole[:cut])
                self.assertIn("cut", self.bad("check", "cut"))
        goal = self.good("export", CHAIN, "--to", "goal").encode()
        for cut in range(0, len(goal) - 3, max(1, len(goal) // 20)):
            (self.folder / "cut").write_bytes(goal[:cut])
            self.assertIn("cut", self.bad("check", "cut"))

    def test_files_with_other_contents(self):
        text = self.good("compile", CHAIN, "-o", "-")
        as_json = self.good("compile", CHAIN, "-o", "-", "--format", "json")
        newer = json.dumps(dict(json.loads(as_json), schema=99))
        for name, contents, part in (
                ("version.sched", text.replace("schedule 1", "schedule 99", 1), "version.sched:1"),
                ("version.json", newer, "version.json: schema"),
                ("digest.sched", re.sub("(?m)^digest .", "digest f0"[:8], text), "digest"),
                ("changed.sched", text.replace("step 1", "step 2", 1), "digest"),
                ("binary.sched", text.replace("rank 0\n", "rank 0\n\0\x01\x02\n", 1),
                 "binary.sched:"),
                ("huge.sched", "slackline schedule 1\nranks 4294967295\n", "huge.sched:"),
                ("op.sched", re.sub("after done:[0-9]+", "after done:4000000000", text, 1),
                 "op.sched:")):
            self.assertNotEqual(contents, text, name)
            self.write(name, contents)
            self.schedules(name, part)

    def test_traces(self):
        self.good("simulate", CHAIN, "--trace", "t")
        whole = self.read("t")
        trace = json.loads(whole)
        for name, contents in (("empty", ""), ("prose", "once"), ("list", "[]"),
                               ("newer", json.dumps(dict(trace, schema=99))),
                               ("short", json.dumps(dict(trace, cause=[]))),
                               ("negative", json.dumps(dict(trace, done_s=[-1.0] * 16))),
                               ("cut", whole[:len(whole) // 2]),
                               ("far", json.dumps(dict(trace, cause=[99] * len(trace["cause"]))))):
            self.write(name, contents)
            for command in (["convert", name, "--to", "csv"], ["slack", CHAIN, "--trace", name]):
                self.assertIn(name, self.bad(*command))
        for name in ("nowhere", "."):
            self.assertIn(name, self.bad("convert", name, "--to", "chrome"))
            self.assertIn(name, self.bad("slack", CHAIN, "--trace", name))
        for key, value in (("platform", "ring:"), ("delays", "[[")):
            self.write("odd", json.dumps(dict(trace, **{key: value})))
            self.bad("slack", CHAIN, "--trace", "odd")

    def test_output_that_cannot_be_written(self):
        (self.folder / "folder").mkdir()
        self.write("file", "as it was")
        self.good("simulate", CHAIN, "--trace", "t")
        for place in ("nowhere/x", "folder", "folder/", "file/x", "x" * 300, "/dev/full"):
            for command in (["compile", CHAIN, "-o", place], ["compile", CHAIN, "--json", "-o", place],
                            ["export", CHAIN, "--to", "dot", "-o", place],
                            ["simulate", CHAIN, "--trace", place],
                            ["convert", "t", "--to", "csv", "-o", place]):
                line = self.bad(*command)
                self.assertIn(f"{place}: cannot write: ", line)
        self.assertEqual(self.read("file"), "as it was")


class Unsupported(ProgramCase):
    def test_what_a_format_cannot_say_names_the_operation(self):
        line = self.bad("export", f"{PIPELINE},first-block=copy,ready=write", "--to", "goal")
        self.assertRegex(line, r"op \d+")

    def test_dynamic_schedules_name_the_operation(self):
        text = re.sub(r"\ndigest .*", "", self.good("compile", CHAIN, "-o", "-"))
        self.write("retry", text.replace("\npre ", "\nregion retry entry 1 count 1 p 500000\npre ", 1))
        for use in USES:
            self.assertRegex(self.bad(use[0], "retry", *use[1:]), r"op 1\b")
        self.assertIn("retry", self.good("compile", "retry", "--no-proof", "-o", "-"))


if __name__ == "__main__":
    main()
