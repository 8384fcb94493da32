"""Chakra's traces: out to files of each rank, back as the same program, and refused by name."""

import shutil
import subprocess

from program_case import CHAIN, ProgramCase, main

# A byte takes a nanosecond, and a message 2.5 us; posting takes time, too.
MACHINE = ("--platform", "star:rate=1GBps,latency=2500ns,o_post=200ns,o_complete=300ns,gap=50ns")
# Without credits, whose arrival frees a window that a trace does not know.
SPECS = ("chain:ranks=4,bytes=1MiB,block=256KiB,ready=none",
         "binomial-pipeline:ranks=8,bytes=2MiB,block=256KiB,ready=none,in-flight=2",
         "double-tree:ranks=6,bytes=1MiB,block=128KiB,ready=none",
         "scatter:ranks=7,bytes=64KiB,ready=none,in-flight=0",
         "allgather:ranks=6,bytes=64KiB,by=ring,ready=none,in-flight=2")


class Chakra(ProgramCase):
    def makespan_s(self, schedule, engine, *more):
        return self.document("simulate", schedule, *MACHINE, "--engine", engine, *more)["makespan_s"]

    def test_there_and_back_takes_as_long(self):
        for spec in SPECS:
            self.good("export", spec, "--to", "chakra", "-o", "t")
            for engine in ("event", "flow"):
                self.assertAlmostEqual(self.makespan_s("t.0.et", engine) / self.makespan_s(spec, engine), 1,
                                       9, (spec, engine))
            self.good("check", "t.0.et")
            for path in self.folder.glob("t.*.et"):
                path.unlink()

    def test_a_file_of_each_rank(self):
        document = self.document("export", CHAIN, "--to", "chakra", "-o", "t")
        self.assertEqual(self.files(), ["t.0.et", "t.1.et", "t.2.et"])
        self.assertEqual(document["files"], 3)
        self.assertEqual(document["file_bytes"],
                         sum((self.folder / name).stat().st_size for name in self.files()))
        digests = {self.document("check", name)["digest"] for name in ("t.0.et", "t.2.et", "t", ".")}
        self.assertEqual(len(digests), 1)
        self.assertIn("chakra is a file of each rank; expected the beginning of their names, --output PREFIX",
                      self.bad("export", CHAIN, "--to", "chakra"))

    def test_others_read_the_bytes(self):
        protoc = shutil.which("protoc")
        if not protoc:
            self.skipTest("protoc is not there (Debian: protobuf-compiler)")
        self.good("export", CHAIN, "--to", "chakra", "-o", "t")
        trace = (self.folder / "t.1.et").read_bytes()
        messages, at = [], 0
        while at < len(trace):
            length = trace[at]
            self.assertLess(length, 128)
            messages.append(subprocess.run([protoc, "--decode_raw"], input=trace[at + 1:at + 1 + length],
                                           capture_output=True, check=True).stdout.decode())
            at += 1 + length
        self.assertIn('1: "1.0.0"', messages[0])
        # Of two blocks a receive and a send each, with a credit for either.
        self.assertEqual(len(messages), 1 + 2 * 4)

    def test_the_options_are_for_traces(self):
        self.good("export", CHAIN, "--to", "chakra", "-o", "t")
        self.compiled(CHAIN)
        self.assertIn("--ctrl-deps: x.sched has another form; expected a Chakra trace",
                      self.bad("check", "x.sched", "--ctrl-deps"))
        self.assertIn("--one-nic: t.0.et has another form; expected a GOAL program",
                      self.bad("check", "t", "--one-nic"))
        self.good("check", "t", "--ctrl-deps", "--eager", "1KiB")

    def test_a_rank_is_missing(self):
        self.good("export", CHAIN, "--to", "chakra", "-o", "t")
        (self.folder / "t.1.et").unlink()
        self.assertIn("t.1.et: it is missing, and t.2.et is there", self.bad("check", "t"))


if __name__ == "__main__":
    main()
