"""Runs over hosts of two NICs: network namespaces that two bridges join, each with shaped links. Needs
root, `ip` and `tc`."""

import json
import os
import random
import shutil
import subprocess
import unittest

from hosts_case import can_make_hosts, ip
from program_case import main
from rank_case import Rank, RankCase

HOSTS = 2
RAILS = 2
PORT = 7000
BYTES = 8 << 20


@unittest.skipUnless(can_make_hosts() and shutil.which("tc"),
                     "needs root, `ip`, `tc` and network namespaces")
class Rails(RankCase):
    """`hosts`: the namespace of each; its interface of rail r is `rail-r`."""

    def setUp(self):
        super().setUp()
        number = os.getpid() % 99999
        second = random.randrange(100, 250)
        self.subnets = [f"10.{second}.{10 + rail}" for rail in range(RAILS)]
        switch = f"slackline-{os.getpid()}-switch"
        self.add_namespace(switch)
        for rail in range(RAILS):
            ip("-n", switch, "link", "add", "name", f"rb{number}-{rail}", "type", "bridge")
            ip("-n", switch, "link", "set", f"rb{number}-{rail}", "up")
        self.hosts = []
        for host in range(HOSTS):
            name = f"slackline-{os.getpid()}-{host}"
            self.add_namespace(name)
            ip("-n", name, "link", "set", "lo", "up")
            for rail in range(RAILS):
                far = f"rf{number}-{host}{rail}"
                ip("-n", name, "link", "add", "name", f"rail-{rail}", "type", "veth", "peer",
                   "name", far, "netns", switch)
                ip("-n", switch, "link", "set", far, "master", f"rb{number}-{rail}", "up")
                ip("-n", name, "addr", "add", f"{self.subnets[rail]}.{host + 1}/24", "dev",
                   f"rail-{rail}")
                ip("-n", name, "link", "set", f"rail-{rail}", "up")
                subprocess.run(["ip", "netns", "exec", name, "tc", "qdisc", "add", "dev",
                                f"rail-{rail}", "root", "tbf", "rate", "400mbit", "burst", "64kb",
                                "latency", "400ms"], check=True, capture_output=True, timeout=30)
            self.hosts.append(name)

    def add_namespace(self, name):
        ip("netns", "add", name)
        self.addCleanup(ip, "netns", "del", name, check=False)

    def run_with(self, *arguments, interfaces=("rail-0,rail-1",) * HOSTS):
        """A rank on each host; what each came to."""
        ranks = []
        for rank, name in enumerate(self.hosts):
            ranks.append(Rank(self.folder, rank, [
                "run", *arguments, "--transport", "tcp", "--interface", interfaces[rank], "--rank",
                rank, "--ranks", HOSTS, "--root", f"{self.subnets[0]}.1:{PORT}"],
                prefix=("ip", "netns", "exec", name)))
            self.addCleanup(ranks[-1].end)
        return [rank.wait() for rank in ranks]

    def sent(self):
        """What host 0 has sent on each rail so far."""
        return [int(subprocess.run(
            ["ip", "netns", "exec", self.hosts[0], "cat",
             f"/sys/class/net/rail-{rail}/statistics/tx_bytes"],
            check=True, capture_output=True, text=True, timeout=30).stdout)
            for rail in range(RAILS)]

    def carried(self, spec, platform, **more):
        """Runs it once, without warm-up; the bytes that each rail of host 0 carried meanwhile."""
        before = self.sent()
        done = self.run_with(spec, "--platform", platform, "--iterations", 1, "--warm-up", 0,
                             "--json", **more)
        self.assertEqual([d.code for d in done], [0] * HOSTS, done)
        self.assertTrue(json.loads(done[0].out)["bytes_proved"])
        return [after - old for after, old in zip(self.sent(), before)]

    def test_stripes_go_over_both_rails(self):
        spec = f"chain:ranks=2,bytes={BYTES},block=1MiB,stripes=2"
        each = self.carried(spec, "star:rails=2,rail=channel")
        for rail in range(RAILS):
            self.assertGreater(each[rail], BYTES // 2, each)
            self.assertLess(each[rail], BYTES * 3 // 4, each)

    def test_a_trace_shows_each_rail(self):
        done = self.run_with(f"chain:ranks=2,bytes={BYTES},block=1MiB,stripes=2", "--platform",
                             "star:rails=2,rail=channel", "--trace", "run.trace")
        self.assertEqual([d.code for d in done], [0] * HOSTS, done)
        self.assertEqual(json.loads(self.read("run.trace"))["engine"],
                         "run:net,rails=2,rail=channel,ranks_per_node=1")
        self.run_well("convert", "run.trace", "--to", "chrome", "-o", "run.json")
        names = {event["args"]["name"] for event in json.loads(self.read("run.json"))["traceEvents"]
                 if event["name"] == "thread_name"}
        self.assertLessEqual({"nic 0 out", "nic 1 out", "nic 0 in", "nic 1 in"}, names)
        self.run_well("report", "run.trace", "-o", "run.html")

    def test_a_channel_stays_on_one_rail(self):
        spec = f"chain:ranks=2,bytes={BYTES},block=1MiB"
        # Ranks 0 and 1 and their first channel: 1, added.
        each = self.carried(spec, "star:rails=2,rail=pair")
        self.assertGreater(each[1], BYTES, each)
        self.assertLess(each[0], BYTES // 4, each)
        # The first rank of its host has the first NIC.
        each = self.carried(spec, "star:rails=2")
        self.assertGreater(each[0], BYTES, each)
        self.assertLess(each[1], BYTES // 4, each)

    def test_ranks_that_do_not_agree_are_told(self):
        done = self.run_with("chain:ranks=2,bytes=1MiB", "--platform", "star:rails=2", "--join-timeout", "3s",
                             interfaces=("rail-0,rail-1", "rail-0"))
        self.assertEqual(done[1].code, 2, done)
        self.assertIn("--interface: 1 of them, and rails=2", done[1].err)

    def test_an_interface_that_is_not_there(self):
        done = self.run_with("chain:ranks=2,bytes=1MiB", "--join-timeout", "3s",
                             interfaces=("rail-7", "rail-7"))
        for one in done:
            self.assertEqual(one.code, 3, done)
            self.assertIn("interface rail-7", one.err)


if __name__ == "__main__":
    main()
