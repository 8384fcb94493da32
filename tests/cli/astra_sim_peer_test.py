"""What astra-sim says, where its analytical program is on PATH."""

import shutil
import unittest

from program_case import ProgramCase, main


@unittest.skipUnless(shutil.which("AstraSim_Analytical_Congestion_Aware"),
                     "AstraSim_Analytical_Congestion_Aware is not on PATH")
class Peer(ProgramCase):
    def test_a_message_alone(self):
        """It passes the NIC and the switch whole, and then its latencies."""
        said = self.document("compare", "chain:ranks=2,bytes=4MiB,block=4MiB,ready=none", "--with",
                             "astra-sim", "-p", "star:rate=100Gbps,latency=2us")
        self.assertAlmostEqual(said["simulators"][0]["makespan_s"],
                               2 * (4 << 20) * 8e-11 + 2e-6, 8)


if __name__ == "__main__":
    main()
