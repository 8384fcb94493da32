"""What astra-sim says, where its analytical program is on PATH."""

import shutil
import unittest

from program_case import ProgramCase, main

STAR = "star:rate=100Gbps,latency=2us"
MIB = 1 << 20


def message_s(size):
    """It passes the NIC and the switch whole, each with half the latency, in whole nanoseconds."""
    return 2 * int(size / 12.5 + 1000) * 1e-9


@unittest.skipUnless(shutil.which("AstraSim_Analytical_Congestion_Aware"),
                     "AstraSim_Analytical_Congestion_Aware is not on PATH")
class Peer(ProgramCase):
    def said_s(self, spec, platform=STAR):
        said = self.document("compare", spec, "--with", "astra-sim", "-p", platform)
        return said["simulators"][0]["makespan_s"]

    def test_a_message_alone(self):
        for size in (13, 1000, 4 * MIB):
            self.assertAlmostEqual(
                self.said_s(f"chain:ranks=2,bytes={size}B,block={size}B,ready=none"),
                message_s(size), 12, size)

    def test_messages_one_after_another(self):
        """So many of 1 MiB follow each other; binomial-tree and stripes have joins."""
        for spec, messages in (("chain:ranks=8,bytes=16MiB", 16 + 6),
                               ("binomial-pipeline:ranks=8,bytes=16MiB", 16 + 2),
                               ("binomial-tree:ranks=8,bytes=1MiB", 3),
                               ("allgather:ranks=8,bytes=1MiB,by=ring", 7),
                               ("alltoall:ranks=8,bytes=1MiB", 7),
                               ("chain:ranks=2,bytes=2MiB,block=2MiB,stripes=2", 2)):
            self.assertAlmostEqual(self.said_s(f"{spec},ready=none"), messages * message_s(MIB), 12,
                                   spec)

    def test_what_it_aborts_on_is_refused(self):
        self.write("idle.goal", "num_ranks 3\nrank 0 {\nsend 99b to 1\n}\nrank 1 {\n"
                   "recv 99b from 0\n}\nrank 2 {\n}\n")
        for spec in ("chain:ranks=2,bytes=1MiB", "chain:ranks=2,bytes=12B,ready=none",
                     "chain:ranks=1,bytes=1MiB,ready=none", "idle.goal"):
            self.assertIsNone(self.said_s(spec), spec)


if __name__ == "__main__":
    main()
