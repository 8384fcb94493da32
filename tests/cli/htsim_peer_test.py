"""What htsim says, where ATLAHS's `htsim_uec` is on PATH."""

import re
import shutil
import unittest

from program_case import ProgramCase, main

RACKS = "two-level:racks=2,hosts=4,oversubscription={},rate=100Gbps,latency=2us,hop_latency=500ns"


@unittest.skipUnless(shutil.which("htsim_uec"), "htsim_uec is not on PATH")
class Peer(ProgramCase):
    def makespan_s(self, spec, platform):
        said = self.document("compare", spec, "--with", "htsim", "-p", platform)
        return said["simulators"][0]["makespan_s"]

    def test_a_message_alone(self):
        """Its packets have 4160 bytes; its window, which grows, leaves pauses between them."""
        for platform in ("star:rate=100Gbps,latency=2us", "star:rate=40Gbps,latency=2us"):
            byte_s = 8e-9 / int(re.search(r"rate=(\d+)", platform)[1])
            found_s = self.makespan_s("chain:ranks=2,bytes=4MiB,block=4MiB,ready=none", platform)
            packets_s = (4 << 20) / 4096 * 4160 * byte_s
            self.assertGreater(found_s, packets_s)
            self.assertLess(found_s, 2 * packets_s)

    def test_racks_share_their_uplinks(self):
        spec = "alltoall:ranks=8,bytes=8MiB,ready=none"
        self.assertGreater(self.makespan_s(spec, RACKS.format(2)),
                           1.2 * self.makespan_s(spec, RACKS.format(1)))


if __name__ == "__main__":
    main()
