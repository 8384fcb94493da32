"""Hosts made of network namespaces that a bridge joins. Needs root and `ip`."""

import os
import random
import shutil
import subprocess

from rank_case import RankCase

HOSTS = 3


def ip(*arguments, check=True):
    return subprocess.run(["ip", *arguments], check=check, capture_output=True, timeout=30)


def can_make_hosts():
    """Whether this process may make network namespaces."""
    if shutil.which("ip") is None or os.geteuid() != 0:
        return False
    name = f"slackline-probe-{os.getpid()}"
    made = ip("netns", "add", name, check=False).returncode == 0
    pair = made and ip("link", "add", "name", f"sp{os.getpid() % 99999}", "type", "bridge",
                       check=False).returncode == 0
    ip("link", "del", f"sp{os.getpid() % 99999}", check=False)
    ip("netns", "del", name, check=False)
    return pair


class HostsCase(RankCase):
    """`hosts`: the namespace and the interface of each."""

    def setUp(self):
        super().setUp()
        number = os.getpid() % 99999
        self.bridge = f"sb{number}"
        self.subnet = f"10.{random.randrange(100, 250)}.{random.randrange(1, 250)}"
        # In a namespace of its own, so that nothing here is touched but the bridge's ends.
        self.switch = f"slackline-{os.getpid()}-switch"
        self.add_namespace(self.switch)
        ip("-n", self.switch, "link", "add", "name", self.bridge, "type", "bridge")
        ip("-n", self.switch, "link", "set", self.bridge, "up")
        self.hosts = []
        for host in range(HOSTS):
            name = f"slackline-{os.getpid()}-{host}"
            self.add_namespace(name)
            near, far = f"sn{number}-{host}", f"sf{number}-{host}"
            ip("-n", name, "link", "add", "name", near, "type", "veth", "peer", "name", far,
               "netns", self.switch)
            ip("-n", self.switch, "link", "set", far, "master", self.bridge, "up")
            ip("-n", name, "addr", "add", f"{self.subnet}.{host + 1}/24", "dev", near)
            ip("-n", name, "link", "set", near, "up")
            ip("-n", name, "link", "set", "lo", "up")
            self.hosts.append((name, near))

    def add_namespace(self, name):
        ip("netns", "add", name)
        self.addCleanup(ip, "netns", "del", name, check=False)

    def with_own_memory(self, host):
        """Runs what follows with a name and a /dev/shm of the host's own."""
        return ("unshare", "--mount", "--uts", "sh", "-c",
                'hostname "$0" && mount -t tmpfs tmpfs /dev/shm && exec "$@"', f"slack{host}")
