"""`testbed`: a platform's network, built of namespaces. Needs root, `ip`, `tc`, `nft` and a kernel
that has what they ask for.
"""

import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import time
import unittest

from program_case import PROGRAM, children_of, main, stat_of
from rank_case import PATIENCE_S, RankCase

STAR = "star:rate=100Mbps"
# 1 MiB at 100 Mb/s.
WIRE_S = 8 * 2**20 / 100e6


def why_not():
    """What this machine lacks for a testbed, or nothing."""
    if os.geteuid() != 0:
        return "needs root"
    missing = [tool for tool in ("ip", "tc", "nft") if shutil.which(tool) is None]
    if missing:
        return f"needs {', '.join(missing)}"
    done = subprocess.run([PROGRAM, "testbed", STAR, "--hosts", "2", "--bare-latency", "--", "run",
                           "chain:ranks=2,bytes=8"], capture_output=True, text=True)
    return f"this kernel lacks something: {done.stderr.strip()}" if done.returncode == 3 else None


WHY_NOT = why_not()


def devices():
    """Those of this network that are called as a testbed's are."""
    return sorted(name for name in os.listdir("/sys/class/net") if re.match(r"[sudp]\d+$", name))


def space_of(pid):
    """The network namespace that a process is in; nothing if there is no such process."""
    try:
        return os.readlink(f"/proc/{pid}/ns/net")
    except OSError:
        return None


def spaces_below(pid):
    """Those of what a process has started, but for its own."""
    found, left = set(), [pid]
    while left:
        children = list(children_of(left.pop()))
        found |= {space_of(child) for child in children}
        left += children
    return found - {None, space_of(pid)}


NOTE = "between host-0 and host-1, which are at different switches"


def all_spaces():
    return {space_of(path.name) for path in pathlib.Path("/proc").glob("[0-9]*")}


class Plan(RankCase):
    def test_without_a_command_it_says_what_it_would_build(self):
        done = self.run_program("testbed", "two-level:racks=2,hosts=2,oversubscription=4,"
                                "rate=100Gbps,latency=1us", "--scale", "400Mbps", "--json")
        self.assertEqual(done.code, 0, done)
        said = json.loads(done.out)
        self.assertEqual((said["hosts"], said["switches"], said["scale"]), (4, 3, 0.004))
        self.assertEqual([(c["of"], c["to"], c["up_bits_per_s"]) for c in said["cables"]], [
            ("host-0", "switch-0", 400_000_000), ("host-1", "switch-0", 400_000_000),
            ("host-2", "switch-1", 400_000_000), ("host-3", "switch-1", 400_000_000),
            ("switch-0", "switch-2", 200_000_000), ("switch-1", "switch-2", 200_000_000)])
        self.assertEqual(said["latency_s"], [0 if src == dst else 250e-6
                                             for src in range(4) for dst in range(4)])

    def test_what_cannot_be_is_refused(self):
        for arguments, word in (
                (("star:rate=1Gbps",), "expected --hosts N"),
                (("stampede",), "stampede has 6400 hosts; expected --hosts N, at most 250"),
                (("torus:dims=4,rate=1Gbps",), "expected a tree of switches"),
                ((STAR + ",ack=64", "--hosts", "2"), "ack: a testbed has acknowledgements of its own"),
                ((STAR, "--hosts", "1"), "--hosts: '1'"),
                (("two-level:racks=2,hosts=2,oversubscription=8,rate=100Gbps", "--scale", "1bps"),
                 "--scale: '1bps': a cable of 25Gbps would have 0.25 bits a second"),
                (("star:rate=100Gbps,latency=1s", "--hosts", "2", "--scale", "1bps"),
                 "--scale: '1bps': a latency of 1s would be 1e+11 s; expected less than 106 days"),
                ((STAR, "--hosts", "2", "--", "simulate", "x"), "'simulate' behind --"),
                ((STAR, "--hosts", "2", "--", "each"), "expected a program behind it"),
                ((STAR, "--hosts", "2", "--", "run", "x", "--rank=1"), "--rank=1 behind --"),
                ((STAR, "--hosts", "2", "--json", "--", "run", "x"), "--json before --")):
            done = self.run_program("testbed", *arguments)
            self.assertEqual((done.code, done.out, done.err.count("\n")), (2, "", 1), done)
            self.assertIn(word, done.err)

    def test_what_virtual_machines_need_is_named(self):
        done = self.run_program("testbed", STAR, "--hosts", "2", "--guests", "none", "--", "run", "x")
        self.assertEqual((done.code, done.out, done.err.count("\n")), (3, "", 1), done)
        if shutil.which("qemu-system-x86_64") is None:
            self.assertIn("no qemu-system-x86_64 here, which --guests needs; install it", done.err)
        elif os.access("/dev/net/tun", os.R_OK | os.W_OK):
            self.assertIn("no vmlinux in none; `scripts/guest --image none`", done.err)


@unittest.skipIf(WHY_NOT, WHY_NOT)
class Testbed(RankCase):
    def on_testbed(self, platform, hosts, *command):
        return self.run_program("testbed", platform, "--hosts", hosts, "--bare-latency", "--",
                                *command)

    def test_a_message_takes_the_time_of_its_cable(self):
        before = devices()
        done = self.on_testbed(STAR, 3, "run", "chain:ranks=3,bytes=1MiB,block=128KiB",
                               "--iterations", 3, "--json")
        self.assertEqual(done.code, 0, done)
        said = json.loads(done.out)
        self.assertTrue(said["bytes_proved"])
        self.assertEqual(said["transport"], "net")
        # Two hops of a pipeline of 8 blocks. A burst of each port may go at once.
        self.assertGreater(said["makespan_s"], 0.8 * WIRE_S)
        self.assertLess(said["makespan_s"], 10 * WIRE_S)
        self.assertEqual(devices(), before)

    def test_racks_have_an_uplink(self):
        # Of a quarter of a cable's rate.
        done = self.on_testbed("two-level:racks=2,hosts=2,oversubscription=8,rate=100Mbps", 4,
                               "run", "chain:ranks=4,bytes=1MiB,block=128KiB", "--json")
        self.assertEqual(done.code, 0, done)
        makespan_s = json.loads(done.out)["makespan_s"]
        self.assertGreater(makespan_s, 0.8 * 4 * WIRE_S)
        self.assertLess(makespan_s, 10 * 4 * WIRE_S)

    def test_hosts_have_names_and_no_shared_memory(self):
        done = self.on_testbed(STAR, 2, "run", "chain:ranks=2,bytes=8", "--transport", "shm")
        self.assertEqual((done.code, done.out), (2, ""), done)
        self.assertIn("rank 0 is on host-0, rank 1 on host-1", done.err)

    def test_an_option_and_its_value_may_be_one_word(self):
        for words, transport in ((["-ttcp;ofi_rxm"], "tcp;ofi_rxm"), (["--transport=tcp"], "net"),
                                 (["-t", "tcp"], "net")):
            done = self.on_testbed(STAR, 2, "run", "chain:ranks=2,bytes=8", "--json", *words)
            self.assertEqual(done.code, 0, done)
            self.assertEqual(json.loads(done.out)["transport"], transport)

    def test_calibrate_finds_the_rate_that_was_set(self):
        done = self.on_testbed("star:rate=200Mbps", 2, "calibrate", "--memory", "4MiB", "--repeats", 4,
                               "--json")
        self.assertEqual(done.code, 0, done)
        self.assertNotIn(NOTE, done.err)
        rate = next(figure for figure in json.loads(done.out)["figures"] if figure["name"] == "rate")
        self.assertEqual(rate["verdict"], "measured", rate)
        # Wide, as others have this machine's processors too.
        self.assertLess(abs(rate["value"] * 8 / 200e6 - 1), 0.15, rate)
        self.assertLess(rate["low"] * 8 / 200e6, 1.1, rate)
        self.assertGreater(rate["high"] * 8 / 200e6, 0.9, rate)

    def test_calibrate_between_racks_says_that_it_is(self):
        done = self.on_testbed("two-level:racks=2,hosts=1,rate=400Mbps", 2, "calibrate", "--memory",
                               "4MiB", "--repeats", 1)
        self.assertEqual(done.code, 0, done)
        self.assertIn(NOTE, done.err)

    def test_a_program_runs_on_each_host(self):
        done = self.on_testbed(STAR, 3, "each", "sh", "-c",
                               'echo "rank $0 of $1 at $2 on $(hostname)"; exit $0', "{rank}",
                               "{ranks}", "{root}")
        self.assertEqual(done.code, 1, done)
        self.assertEqual(sorted(done.out.splitlines()), [
            f"host-{rank}: rank {rank} of 3 at 10.77.0.1:7000 on host-{rank}" for rank in range(3)])
        self.assertIn("note: host-1 ended with 1\n", done.err)

    def test_nothing_is_left_whatever_ends_it(self):
        devices_before = devices()
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGKILL):
            process = subprocess.Popen(
                [PROGRAM, "testbed", STAR, "--hosts", "2", "--bare-latency", "--", "run",
                 "chain:ranks=2,bytes=8MiB,block=1MiB", "--duration", "60s"], cwd=self.folder,
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            self.addCleanup(process.kill)
            end = time.monotonic() + PATIENCE_S
            spaces = set()
            while len(spaces) < 2 and time.monotonic() < end:
                spaces = spaces_below(process.pid)
                time.sleep(0.01)
            self.assertGreaterEqual(len(spaces), 2)
            process.send_signal(number)
            process.communicate(timeout=PATIENCE_S)
            self.assertEqual(process.returncode, -number)
            while spaces & all_spaces() and time.monotonic() < end:
                time.sleep(0.01)
            self.assertEqual(spaces & all_spaces(), set())
            self.assertIsNone(stat_of(process.pid))
        self.assertEqual(devices(), devices_before)


if __name__ == "__main__":
    main()
