"""What other people have published, where there is any: each file opens, or is refused by name.

SLACKLINE_GOAL_PROGRAMS names a folder of GOAL programs (*.goal, *.bin), SLACKLINE_MSCCL_ALGORITHMS one
of MSCCL algorithms (*.xml), SLACKLINE_CHAKRA_TRACES one of Chakra's traces (*.et), SLACKLINE_NCCL_TOPOLOGIES
one of NCCL's topologies (*.xml), SLACKLINE_MSCCLPP_PLANS one of MSCCL++'s plans (*.json), at any depth. What is printed is what docs/guide/other-tools.md tells.
"""

import json
import os
import pathlib
import re
import shutil
import unittest

from goal_peer_test import loggopsim_s
from goal_test import MACHINE
from program_case import ProgramCase, main

EAGER = 65535  # LogGOPSim's own -S


def published(variable, *suffixes):
    folder = os.environ.get(variable)
    if not folder:
        raise unittest.SkipTest(f"{variable} names no folder")
    found = sorted(path for path in pathlib.Path(folder).rglob("*") if path.suffix in suffixes)
    assert found, f"no {suffixes} in {folder}"
    return found


class Published(ProgramCase):
    def test_goal_programs(self):
        for program in published("SLACKLINE_GOAL_PROGRAMS", ".goal", ".bin"):
            done = self.run_program("simulate", program, "--eager", EAGER, *MACHINE, "--engine",
                                    "event", "--json")
            self.assertIn(done.code, (0, 2), done)
            if done.code == 2:
                self.assertIn(str(program), done.err)
                print(f"{program.name}: refused: {done.err.strip().partition(str(program))[2]}")
                continue
            ours = json.loads(done.out)["makespan_s"]
            theirs = None
            if program.suffix == ".bin" and shutil.which("LogGOPSim"):
                theirs = loggopsim_s(program, EAGER)
            slack = self.document("slack", program, "--eager", EAGER, *MACHINE)
            floats = slack["total_float_s"]
            free = sum(spare > 0 for spare in floats)
            print(f"{program.name}: {ours} s" + (f", LogGOPSim {theirs} s" if theirs else "") +
                  f"; {free} of {len(floats)} operations have float")
            # One message is received by nobody.
            self.good("export", program, "--eager", EAGER, "--to", "goal", "-o", "whole.goal")
            spoilt, receives = re.subn(r"recv \d+b from .*", "calc 0",
                                       (self.folder / "whole.goal").read_text(), count=1)
            if receives:
                self.write("spoilt.goal", spoilt)
                self.assertRegex(self.bad("check", "spoilt.goal", "--eager", EAGER),
                                 r"^slackline: spoilt.goal:\d+: .* has no matching recv")

    def test_msccl_algorithms(self):
        for algorithm in published("SLACKLINE_MSCCL_ALGORITHMS", ".xml"):
            done = self.run_program("check", algorithm)
            self.assertEqual(done.code, 0, done)
            print(f"{algorithm.name}: {done.out.strip()}")
            # What its first step sends is another chunk.
            text = algorithm.read_text()
            step = re.search(r'type="s" srcbuf="(.)" srcoff="(\d+)"', text)
            chunk = 0 if step[2] != "0" else 1
            self.write("spoilt.xml", text[:step.start()] +
                       f'type="s" srcbuf="{step[1]}" srcoff="{chunk}"' + text[step.end():])
            self.assertIn(self.run_program("check", "spoilt.xml").code, (1, 2), algorithm)

    def test_chakra_traces(self):
        for trace in published("SLACKLINE_CHAKRA_TRACES", ".et"):
            if not trace.name.endswith(".0.et"):
                continue
            prefix = str(trace)[:-len(".0.et")]
            options = ()
            done = self.run_program("check", trace)
            enough = re.search(r"or --eager (\d+)", done.err)
            if enough:
                print(f"{prefix}: {done.err.strip()}")
                options = ("--eager", enough[1])
                done = self.run_program("check", trace, *options)
            self.assertIn(done.code, (0, 2), done)
            print(f"{prefix}: {done.out.strip() or done.err.strip()}")
            if done.code == 2:
                self.assertIn(prefix, done.err)
                continue
            # The first rank leaves out its last node.
            for path in pathlib.Path(prefix).parent.glob(f"{pathlib.Path(prefix).name}.*.et"):
                shutil.copy(path, self.folder)
            spoilt = self.folder / trace.name
            spoilt.write_bytes(without_last_message(spoilt.read_bytes()))
            self.assertIn(self.run_program("check", spoilt.name, *options).code, (1, 2), prefix)


    def test_mscclpp_plans(self):
        for plan in published("SLACKLINE_MSCCLPP_PLANS", ".json"):
            done = self.run_program("check", plan)
            self.assertIn(done.code, (0, 1, 2), done)
            print(f"{plan.name}: {done.out.strip() or done.err.strip()}")
            if done.code == 2:
                self.assertIn(str(plan), done.err)
                continue
            # The first wait of the first GPU waits for nothing.
            spoilt = json.loads(plan.read_text())
            ops = spoilt["gpus"][0]["threadblocks"][0]["ops"]
            next(op for op in ops if op["name"].endswith("wait"))["channel_ids"] = []
            self.write("spoilt.json", json.dumps(spoilt))
            self.assertIn(self.run_program("check", "spoilt.json").code, (1, 2), plan)

    def test_nccl_topologies(self):
        for topology in published("SLACKLINE_NCCL_TOPOLOGIES", ".xml"):
            spec = "allreduce:ranks=8,bytes=1MiB,by=ring"
            done = self.run_program("simulate", spec, "--engine", "event", "-p", topology)
            self.assertIn(done.code, (0, 2), done)
            figures = re.search(r"figures +(.*)", done.out)
            print(f"{topology.name}: {figures[1] if figures else done.err.strip()}")
            if done.code == 2:
                self.assertIn(str(topology), done.err)
            if "<system" not in topology.read_text():
                continue
            # What the file lacks, figures say; a number that is none is found.
            self.good("simulate", spec, "--engine", "event", "-p",
                      f"{topology}:rate=100Gbps,copy_rate=1000Gbps")
            self.write("spoilt.xml", re.sub(r'link_width="', 'link_width="x', topology.read_text()))
            self.assertIn("spoilt.xml:", self.bad("simulate", spec, "-p", "spoilt.xml"))


def without_last_message(trace):
    """The length-delimited messages of a trace, all but the last."""
    at = last = 0
    while at < len(trace):
        last, length, shift = at, 0, 0
        while True:
            byte = trace[at]
            at, length, shift = at + 1, length | (byte & 0x7f) << shift, shift + 7
            if byte < 0x80:
                break
        at += length
    return trace[:last]


if __name__ == "__main__":
    main()
