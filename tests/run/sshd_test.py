"""Ranks that one process starts by a real ssh, on hosts made of network namespaces with an sshd
each. Needs root, `ip` and sshd. Keys are made for the test and thrown away.
"""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import time
import unittest

from hosts_case import HOSTS, HostsCase, can_make_hosts, ip
from program_case import PROGRAM, Done, main
from rank_case import PATIENCE_S

SSHD = shutil.which("sshd") or (
    "/usr/sbin/sshd" if os.access("/usr/sbin/sshd", os.X_OK) else None)
SPEC = "circulant:ranks=5,bytes=1MiB,block=64KiB"
LONG = ("--iterations", "100000000", "--failure-timeout", "4s")


def may_log_in():
    """Whether this user may log in by key: sshd refuses locked accounts without PAM."""
    try:
        for line in pathlib.Path("/etc/shadow").read_text().splitlines():
            name, password = line.split(":")[:2]
            if name == "root":
                return not password.startswith("!")
    except OSError:
        return False
    return True


@unittest.skipIf(SSHD is None or shutil.which("ssh") is None,
                 "no sshd (Debian: openssh-server openssh-client)")
@unittest.skipUnless(can_make_hosts(), "needs root, `ip` and network namespaces")
@unittest.skipUnless(may_log_in(), "root's account is locked")
class RealSsh(HostsCase):
    def setUp(self):
        super().setUp()
        for name in ("host_key", "user_key"):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f",
                            self.folder / name], check=True, timeout=30)
        shutil.copy(self.folder / "user_key.pub", self.folder / "authorized")
        self.write("sshd_config", f"""Port 22
HostKey {self.folder}/host_key
AuthorizedKeysFile {self.folder}/authorized
PasswordAuthentication no
KbdInteractiveAuthentication no
PermitRootLogin prohibit-password
UsePAM no
UseDNS no
StrictModes no
PidFile none
ClientAliveInterval 1
ClientAliveCountMax 3
""")
        key = " ".join(self.read("host_key.pub").split()[:2])
        self.write("known", "".join(f"{self.address(host)} {key}\n" for host in range(HOSTS)))
        self.write("ssh_config", f"""Host *
IdentityFile {self.folder}/user_key
IdentitiesOnly yes
UserKnownHostsFile {self.folder}/known
GlobalKnownHostsFile /dev/null
StrictHostKeyChecking ask
ConnectTimeout 20
""")
        ssh = self.folder / "ssh"
        ssh.write_text(f'#!/bin/sh\nexec ssh -F "{self.folder}/ssh_config" "$@"\n')
        ssh.chmod(0o755)
        self.daemons = [self.start_sshd(host) for host in range(HOSTS)]
        self.write("hosts.txt", "".join(
            f"{self.address(host)} slots=2 user=root\n" for host in range(HOSTS)))

    def address(self, host):
        return f"{self.subnet}.{host + 1}"

    def start_sshd(self, host):
        """With a name, a /dev/shm and a /run of the host's own; once it listens."""
        own = ('mount -t tmpfs tmpfs /run && mkdir -m 755 /run/sshd && exec "$@"')
        log = open(self.folder / f"sshd.{host}.log", "wb")
        self.addCleanup(log.close)
        daemon = subprocess.Popen(
            ["ip", "netns", "exec", self.hosts[host][0], *self.with_own_memory(host), "sh", "-c",
             own, "sh", SSHD, "-D", "-e", "-f", str(self.folder / "sshd_config")],
            stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        self.addCleanup(daemon.wait)
        self.addCleanup(daemon.kill)
        end = time.monotonic() + PATIENCE_S
        while b"listening" not in (self.folder / f"sshd.{host}.log").read_bytes():
            self.assertIsNone(daemon.poll(), self.read(f"sshd.{host}.log"))
            self.assertLess(time.monotonic(), end)
            time.sleep(0.02)
        return daemon

    def start_run(self, *arguments):
        """On host 0, which reaches itself by ssh too."""
        run = subprocess.Popen(
            ["ip", "netns", "exec", self.hosts[0][0], PROGRAM, "run", SPEC, "--hosts", "hosts.txt",
             "--ssh", self.folder / "ssh", *map(str, arguments)], cwd=self.folder,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(run.stdout.close)
        self.addCleanup(run.stderr.close)
        self.addCleanup(run.wait)
        self.addCleanup(run.kill)
        return run

    def end_of(self, run):
        out, err = run.communicate(timeout=PATIENCE_S)
        return Done(run.returncode, out.decode(), err.decode())

    def agents_and_ranks(self):
        """What sshd's have started."""
        found = set()
        for path in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                words = (path / "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if b"--agent" in words and str(self.folder / "ssh").encode() in words and (
                    words[0] == str(PROGRAM).encode()):
                found.add(int(path.name))
        return found

    def until(self, holds, what):
        end = time.monotonic() + PATIENCE_S
        while not holds():
            self.assertLess(time.monotonic(), end, what)
            time.sleep(0.02)

    def test_bytes_are_proved_on_three_hosts(self):
        for order in ("fill", "cycle"):
            done = self.end_of(self.start_run("--json", "--place", order))
            self.assertEqual((done.code, done.err), (0, ""), done)
            document = json.loads(done.out)
            self.assertTrue(document["bytes_proved"])
            # Each has a /dev/shm of its own.
            self.assertEqual(document["transport"], "net")
            self.assertEqual(len(document["rank_finish_s"]), 5)
        self.until(lambda: not self.agents_and_ranks(), "processes left")

    def launched(self, *launcher):
        """Five ranks on three hosts, started by somebody else's launcher on host 0."""
        done = subprocess.run(
            ["ip", "netns", "exec", self.hosts[0][0], *launcher, PROGRAM, "run", SPEC,
             "--transport", "auto", "--json"], cwd=self.folder, stdin=subprocess.DEVNULL,
            capture_output=True, timeout=PATIENCE_S,
            env=dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1"))
        self.assertEqual(done.returncode, 0, done)
        document = json.loads(done.stdout)
        self.assertTrue(document["bytes_proved"])
        self.assertEqual(document["transport"], "net")

    @unittest.skipIf(shutil.which("mpiexec.hydra") is None, "no Hydra (Debian: mpich)")
    def test_hydra_tells_ranks_of_several_hosts_where_to_meet(self):
        self.launched("mpiexec.hydra", "-launcher", "ssh", "-launcher-exec", self.folder / "ssh",
                      "-localhost", self.address(0), "-hosts",
                      ",".join(f"{self.address(host)}:2" for host in range(HOSTS)), "-n", "5")

    @unittest.skipIf(shutil.which("mpirun.openmpi") is None, "no Open MPI (Debian: openmpi-bin)")
    def test_open_mpi_tells_ranks_of_several_hosts_where_to_meet(self):
        self.launched("mpirun.openmpi", "--mca", "plm_rsh_agent", self.folder / "ssh", "--host",
                      ",".join(f"{self.address(host)}:2" for host in range(HOSTS)), "-np", "5")

    def test_shared_memory_does_not_reach_them(self):
        done = self.end_of(self.start_run("-t", "shm"))
        self.assertEqual((done.code, done.out, done.err.count("\n")), (2, "", 1), done)
        self.assertIn("slack0", done.err)
        self.assertIn("--transport tcp", done.err)

    def test_hosts_that_are_not_reached(self):
        known = self.read("known")
        # Nobody is asked.
        self.write("known", "")
        done = self.end_of(self.start_run())
        self.assertEqual((done.code, done.out, done.err.count("\n")), (3, "", 1), done)
        self.assertIn("cannot be reached: Host key verification failed.", done.err)
        self.write("known", known)
        self.daemons[2].kill()
        self.daemons[2].wait()
        done = self.end_of(self.start_run())
        self.assertEqual((done.code, done.out, done.err.count("\n")), (3, "", 1), done)
        self.assertIn(f"host {self.address(2)} cannot be reached: ssh: connect to host", done.err)
        self.assertIn("Connection refused", done.err)

    def test_a_link_that_goes_away(self):
        run = self.start_run(*LONG)
        self.until(lambda: len(self.agents_and_ranks()) >= HOSTS + 5, "ranks")
        # Most likely the ranks have joined by then; if not, they do not come.
        time.sleep(2)
        name, near = self.hosts[2]
        ip("-n", name, "link", "set", near, "down")
        done = self.end_of(run)
        self.assertIn(done.code, (1, 3), done)
        self.assertEqual((done.out, done.err.count("\n")), ("", 1), done)
        self.assertRegex(done.err, r"rank 4 |host .*\.3 ")
        # Those that nobody reaches any more end too.
        self.until(lambda: not self.agents_and_ranks(), "processes left")

    def test_whatever_ends_this_process_ends_the_ranks(self):
        for number in (signal.SIGTERM, signal.SIGKILL):
            run = self.start_run(*LONG)
            self.until(lambda: len(self.agents_and_ranks()) >= HOSTS + 5, "ranks")
            os.kill(run.pid, number)
            done = self.end_of(run)
            self.assertEqual((done.code, done.out), (-number, ""), done)
            self.until(lambda: not self.agents_and_ranks(), "processes left")


if __name__ == "__main__":
    main()
