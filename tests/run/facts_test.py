"""slackline run says where and on what each rank ran."""

import os
import pathlib

from program_case import main
from rank_case import RankCase, cores_of


class Facts(RankCase):
    def test_where_every_rank_ran(self):
        allowed = sorted(os.sched_getaffinity(0))
        for transport, provider in (("shm", "shm"), ("tcp", "net")):
            document = self.document("run", "chain:ranks=3,bytes=1KiB", "-t", transport)
            self.assertIn(document["version"], self.good("--version"))
            self.assertEqual(len(document["rank_facts"]), 3)
            self.assertEqual(len({f["process"] for f in document["rank_facts"]}), 3)
            for facts in document["rank_facts"]:
                self.assertEqual(facts["host"], os.uname().nodename)
                self.assertEqual(facts["kernel"], os.uname().release)
                self.assertEqual(cores_of(facts["cores"]), allowed)
                self.assertIn(facts["core"], allowed)
                self.assertEqual(facts["provider"], provider)
                self.assertRegex(facts["library"], r"^libfabric \d+\.\d+$")
                self.assertIsNone(facts["gid"])
            if transport == "tcp":
                self.assertEqual(facts["device"], "lo")
                mtu = int(pathlib.Path("/sys/class/net/lo/mtu").read_text())
                self.assertEqual(facts["mtu_bytes"], mtu)

    def test_with_all_they_are_in_the_text(self):
        out = self.good("run", "chain:ranks=2,bytes=1KiB", "--all")
        self.assertRegex(out, r"\n  rank  host +process +cores")
        self.assertNotIn("GID", out)
        self.assertNotIn("rank  host", self.good("run", "chain:ranks=2,bytes=1KiB"))


if __name__ == "__main__":
    main()
