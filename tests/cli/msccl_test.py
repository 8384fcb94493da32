"""MSCCL algorithms as schedules of the commands."""

import pathlib

from program_case import ProgramCase, main

ALGORITHMS = pathlib.Path(__file__).resolve().parents[1] / "data" / "msccl"


class Msccl(ProgramCase):
    def test_each_is_proved_and_simulated(self):
        for algorithm in sorted(ALGORITHMS.glob("*.xml")):
            self.assertIn("proved 3 ranks", self.good("check", algorithm))
            for engine in ("event", "flow", "analytic"):
                self.good("simulate", algorithm, "--engine", engine)

    def test_a_chunk_has_as_many_bytes_as_is_said(self):
        # Two hops of a ring, each of a chunk at a byte a nanosecond, and 1 us on the way.
        machine = ("--platform", "star:rate=1GBps,latency=1us,o_post=0,o_complete=0,gap=0,"
                                 "copy_rate=8Tbps")
        for option, chunk in (((), 4096), (("--chunk", "1MiB"), 1 << 20)):
            document = self.document("simulate", ALGORITHMS / "allgather_ring.xml", *option, *machine,
                                     "--engine", "event")
            self.assertAlmostEqual(document["makespan_s"], 2 * (chunk * 1e-9 + 1e-6), 12)
        self.assertIn("--chunk: 0 bytes; expected at least 1",
                      self.bad("check", ALGORITHMS / "allgather_ring.xml", "--chunk", "0"))

    def test_what_is_wrong_is_told(self):
        text = (ALGORITHMS / "allreduce_pairs.xml").read_text()
        self.write("late.xml", text.replace('depid="2" deps="0"', 'depid="-1" deps="-1"', 1))
        told = self.run_well("check", "late.xml", code=1)
        self.assertRegex(told, "^(raw|waw|war|uninit)[a-z]*: op ")
        self.write("mute.xml", text.replace('hasdep="1"', 'hasdep="0"', 1))
        self.assertRegex(self.bad("check", "mute.xml"),
                         r"mute.xml:\d+: it waits for step 2 of thread block 0 \(line 7\), which tells "
                         r"nobody of its end")

    def test_what_was_exported_comes_back(self):
        self.good("export", "chain:ranks=4,bytes=64KiB,block=16KiB", "--to", "msccl-xml", "-o",
                  "x.xml")
        self.good("check", "x.xml")
        self.assertEqual(self.good("export", "x.xml", "--to", "msccl-xml"), self.read("x.xml"))

    def test_an_exported_plan_comes_back(self):
        for spec in ("chain:ranks=4,bytes=64KiB,block=16KiB", "allreduce:ranks=4,bytes=1MiB,by=ring",
                     "allgather:ranks=5,bytes=64KiB,by=ring"):
            self.good("export", spec, "--to", "mscclpp-json", "-o", "x.json")
            self.assertIn("proved", self.good("check", "x.json"))
            again = self.good("export", "x.json", "--to", "mscclpp-json")
            self.assertIn('"gpus"', again)
        self.assertIn("mscclpp-json: op 0 (calc, rank 0) has no counterpart in MSCCL++",
                      self.bad("export", "-", "--to", "mscclpp-json",
                               stdin="slackline schedule 1\nranks 1\nrank 0\n0 calc for 1us\n"))


if __name__ == "__main__":
    main()
