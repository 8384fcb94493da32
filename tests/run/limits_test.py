"""Runs on a host that has too little of something: refused before a rank starts, in figures."""

import os
import shutil
import subprocess
import unittest

from program_case import PROGRAM, Done, main
from rank_case import PATIENCE_S, RankCase

SPEC = "chain:ranks={},bytes=64KiB,block=16KiB"


def can_mount():
    return shutil.which("unshare") is not None and os.geteuid() == 0 and subprocess.run(
        ["unshare", "--mount", "mount", "-t", "tmpfs", "tmpfs", "/dev/shm"],
        capture_output=True).returncode == 0


def can_unshare_network():
    return shutil.which("unshare") is not None and os.geteuid() == 0 and subprocess.run(
        ["unshare", "--net", "true"], capture_output=True).returncode == 0


class Limits(RankCase):
    def run_after(self, shell, *arguments):
        """Runs the program in a shell that has carried out `shell` before."""
        done = subprocess.run(["sh", "-c", f'{shell} && exec "$0" "$@"', PROGRAM, "run",
                               *map(str, arguments)],
                              cwd=self.folder, stdin=subprocess.DEVNULL, capture_output=True,
                              timeout=PATIENCE_S)
        return Done(done.returncode, done.stdout.decode(), done.stderr.decode())

    def assert_refused(self, done, *parts):
        self.assertEqual((done.code, done.out, done.err.count("\n")), (3, "", 1), done)
        for part in parts:
            self.assertIn(part, done.err)

    def test_open_files(self):
        # As few as libraries can still be loaded with, and hardly fewer than are needed.
        for limit, ranks in ((10, 4), (40, 30)):
            for transport in ("shm", "net"):
                done = self.run_after(f"ulimit -n {limit}", SPEC.format(ranks), "--transport",
                                      transport)
                self.assert_refused(done, "open files", f"and {limit} are allowed", "ulimit -n")

    def test_open_files_of_ranks_that_others_started(self):
        done = self.run_after("ulimit -n 40", SPEC.format(100), "--transport", "net", "--rank", 1,
                              "--ranks", 100, "--root", "127.0.0.1:1")
        self.assert_refused(done, "a rank of 100", "ulimit -n")

    def test_a_soft_limit_is_none(self):
        done = self.run_after("ulimit -S -n 14", SPEC.format(3), "--transport", "net")
        self.assertEqual(done.code, 0, done)

    def test_addresses(self):
        for kibibytes in (120000, 190000):
            done = self.run_after(f"ulimit -v {kibibytes}", SPEC.format(4))
            self.assert_refused(done, "of addresses", "ulimit -v")

    def test_cores(self):
        done = self.run_after("true", "chain:ranks=4000,bytes=1KiB,block=1KiB", "--transport", "net")
        self.assert_refused(done, "4000 ranks on one host", "messages a second",
                            "--failure-timeout")

    @unittest.skipUnless(shutil.which("taskset"), "needs `taskset`")
    def test_cores_that_this_process_may_run_on(self):
        core = min(os.sched_getaffinity(0))
        done = subprocess.run(["taskset", "-c", str(core), PROGRAM, "run",
                               "chain:ranks=120,bytes=1KiB,block=1KiB", "--transport", "net"],
                              cwd=self.folder, stdin=subprocess.DEVNULL, capture_output=True,
                              timeout=PATIENCE_S)
        done = Done(done.returncode, done.stdout.decode(), done.stderr.decode())
        self.assert_refused(done, "120 ranks on one host", "its 1 core handles")

    def test_memory(self):
        with open("/proc/meminfo") as file:
            kibibytes = next(int(line.split()[1]) for line in file if line.startswith("MemTotal:"))
        spec = f"sequential:ranks=32,bytes={kibibytes // 8}KiB,block={kibibytes // 8}KiB"
        done = self.run_after("true", spec, "--transport", "net")
        self.assert_refused(done, "32 ranks on one host", "of memory", "are free")

    def run_with_shm(self, options):
        done = subprocess.run(
            ["unshare", "--mount", "sh", "-c",
             f'mount -t tmpfs -o {options} tmpfs /dev/shm && exec "$0" "$@"', PROGRAM, "run",
             SPEC.format(4)], cwd=self.folder, stdin=subprocess.DEVNULL, capture_output=True,
            timeout=PATIENCE_S)
        return Done(done.returncode, done.stdout.decode(), done.stderr.decode())

    @unittest.skipUnless(can_mount(), "needs root and mount namespaces")
    def test_shared_memory(self):
        self.assert_refused(self.run_with_shm("size=9m"), "4 ranks",
                            "9 MiB of its 9 MiB are free", "--transport tcp")

    @unittest.skipUnless(can_mount(), "needs root and mount namespaces")
    def test_shared_memory_that_may_only_be_read(self):
        self.assert_refused(self.run_with_shm("ro,size=1g"), "no file can be made in /dev/shm",
                            "Read-only file system", "remount,rw", "--transport tcp")

    @unittest.skipUnless(can_mount(), "needs root and mount namespaces")
    def test_shared_memory_of_few_files(self):
        self.assert_refused(self.run_with_shm("size=1g,nr_inodes=4"), "4 ranks need a file each",
                            "3 more may be made", "nr_inodes=", "--transport tcp")

    @unittest.skipUnless(can_unshare_network(), "needs root and network namespaces")
    def test_loopback(self):
        done = subprocess.run(
            ["unshare", "--net", PROGRAM, "run", SPEC.format(2)], cwd=self.folder,
            stdin=subprocess.DEVNULL, capture_output=True, timeout=PATIENCE_S)
        done = Done(done.returncode, done.stdout.decode(), done.stderr.decode())
        self.assert_refused(done, "rank 1 cannot reach rank 0 at 127.0.0.1:", "`ip link set lo up`")


if __name__ == "__main__":
    main()
