"""Runs over several hosts: network namespaces that a bridge joins. Needs root and `ip`."""

import json
import time
import unittest

from hosts_case import HOSTS, HostsCase, can_make_hosts, ip
from program_case import main
from rank_case import PATIENCE_S, Rank

PORT = 7000


@unittest.skipUnless(can_make_hosts(), "needs root, `ip` and network namespaces")
class Hosts(HostsCase):
    def start(self, *arguments, root=None, hosts=range(HOSTS), inside=lambda host: ()):
        """A rank on each of `hosts`, by way of the command `inside` there."""
        ranks = []
        for rank, host in enumerate(hosts):
            ranks.append(Rank(self.folder, rank, [
                "run", *arguments, "--rank", rank, "--ranks", len(hosts), "--root",
                f"{root or self.subnet + '.1'}:{PORT}"],
                prefix=("ip", "netns", "exec", self.hosts[host][0], *inside(host))))
            self.addCleanup(ranks[-1].end)
        return ranks

    def with_names(self, host):
        """Runs what follows where slack0 is host 0: by loopback there, as Debian has it."""
        address = "127.0.1.1" if host == 0 else f"{self.subnet}.1"
        names = self.write(f"hosts.{host}", f"127.0.0.1 localhost\n{address} slack0\n")
        return ("unshare", "--mount", "sh", "-c", 'mount --bind "$0" /etc/hosts && exec "$@"', names)

    def test_bytes_are_proved_over_the_bridge(self):
        for transport in ("tcp", "tcp;ofi_rxm"):
            ranks = self.start("binomial-pipeline:ranks=3,bytes=3000001,block=64KiB", "--transport",
                               transport, "--iterations", 3, "--json")
            done = [rank.wait() for rank in ranks]
            self.assertEqual([d.code for d in done], [0] * HOSTS, done)
            self.assertTrue(json.loads(done[0].out)["bytes_proved"])

    def test_shared_memory_does_not_reach_other_hosts(self):
        ranks = self.start("chain:ranks=3,bytes=1MiB,block=64KiB", inside=self.with_own_memory)
        for rank in ranks:
            done = rank.wait()
            self.assertEqual((done.code, done.out, done.err.count("\n")), (2, "", 1), done)
            self.assertIn("rank 0 is on slack0, rank 1 on slack1, rank 2 on slack2", done.err)
            self.assertIn("--transport tcp", done.err)

    def test_auto_takes_what_reaches_all(self):
        ranks = self.start("chain:ranks=3,bytes=1MiB,block=64KiB", "--transport", "auto", "--json",
                           inside=self.with_own_memory)
        done = [rank.wait() for rank in ranks]
        self.assertEqual([d.code for d in done], [0] * HOSTS, done)
        self.assertEqual(json.loads(done[0].out)["transport"], "net")

    def test_a_root_that_is_loopback_to_itself(self):
        # Two ranks on its host, who meet over loopback: the third must reach both.
        ranks = self.start("circulant:ranks=3,bytes=1MiB,block=64KiB", "--transport", "tcp", "--json",
                           root="slack0", hosts=(0, 0, 1), inside=self.with_names)
        done = [rank.wait() for rank in ranks]
        self.assertEqual([d.code for d in done], [0] * 3, done)
        self.assertTrue(json.loads(done[0].out)["bytes_proved"])

    def test_a_link_that_goes_away_is_noticed_on_both_sides(self):
        ranks = self.start("chain:ranks=3,bytes=1MiB,block=64KiB", "--transport", "tcp",
                           "--iterations", 1000000, "--failure-timeout", "1s")
        time.sleep(2)
        self.assertEqual([rank.process.poll() for rank in ranks], [None] * HOSTS)
        name, near = self.hosts[1]
        ip("-n", name, "link", "set", near, "down")
        done = [rank.wait(PATIENCE_S) for rank in ranks]
        self.assertEqual([d.code for d in done], [1] * HOSTS, done)
        for rank in (0, 2):
            self.assertIn("rank 1 ", done[rank].err)
            self.assertEqual(done[rank].err.count("\n"), 1, done[rank])
        # It sees all others go; it says of itself what it can.
        self.assertEqual(done[1].err.count("\n"), 1, done[1])


if __name__ == "__main__":
    main()
