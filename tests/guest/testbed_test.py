"""`testbed --guests`: ranks in virtual machines, each with a kernel of its own, and Soft-RoCE between
them. Needs root, QEMU, and what a testbed needs.

SLACKLINE_GUESTS is how many machines there are (default: 2). Each boots with one emulated processor,
which takes longest here: so what can share a boot does.
"""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import time
import unittest

from program_case import PROGRAM, ProgramCase, children_of, main, stat_of

GUESTS = int(os.environ.get("SLACKLINE_GUESTS", "2"))
STAR = "star:rate=100Mbps"
SCRIPT = pathlib.Path(__file__).parents[2] / "scripts/guest"
# The examples of groups and of calls.
EXAMPLES = pathlib.Path(os.environ.get("SLACKLINE_EXAMPLES", PROGRAM.parent / "examples"))
IMAGE = str(pathlib.Path(os.environ.get("SLACKLINE_GUEST_IMAGE",
                                        PROGRAM.parent / "guest-image")).resolve())
# How long a test waits before it takes something for stuck: machines boot in 8 s when all is quiet.
PATIENCE_S = 300


def why_not():
    """What this machine lacks, or nothing; makes what the machines boot."""
    if os.geteuid() != 0:
        return "needs root"
    missing = [tool for tool in ("ip", "tc", "nft") if shutil.which(tool) is None]
    if missing:
        return f"needs {', '.join(missing)}"
    made = subprocess.run([SCRIPT, "--image", IMAGE], capture_output=True, text=True)
    if made.returncode == 77:
        return made.stderr.strip()
    if made.returncode != 0:
        raise RuntimeError(made.stderr)
    done = subprocess.run([PROGRAM, "testbed", STAR, "--hosts", "2", "--bare-latency", "--", "each",
                           "true"], capture_output=True, text=True)
    return f"this kernel lacks something: {done.stderr.strip()}" if done.returncode == 3 else None


WHY_NOT = why_not()


def machines_of(pid):
    """The processes of QEMU below a process, by their hosts' names."""
    found = {}
    for shell in children_of(pid):
        for machine in children_of(shell):
            try:
                words = pathlib.Path(f"/proc/{machine}/cmdline").read_bytes().split(b"\0")
            except OSError:  # it has ended, as what helps the shell does
                continue
            if words[0].endswith(b"qemu-system-x86_64"):
                mac = next(w for w in words if b"mac=" in w).decode().split("mac=")[1]
                found[f"host-{int(mac.split(',')[0].split(':')[-1], 16) - 1}"] = machine
    return found


def sent_by(machine):
    """Bytes that a machine has sent to its network."""
    for line in pathlib.Path(f"/proc/{machine}/net/dev").read_text().splitlines():
        name, _, figures = line.partition(":")
        if name.strip() == "tap0":
            return int(figures.split()[0])
    raise AssertionError(f"no tap0 where process {machine} is")


@unittest.skipIf(WHY_NOT, WHY_NOT)
class Guests(ProgramCase):
    def start(self, *command, network=(STAR, "--bare-latency"), hosts=GUESTS):
        """A testbed, on which the command runs."""
        with open(self.folder / "out", "wb") as out, open(self.folder / "err", "wb") as err:
            process = subprocess.Popen(
                [PROGRAM, "testbed", *network, "--hosts", str(hosts), "--guests", IMAGE, "--",
                 *map(str, command)], cwd=self.folder, stdin=subprocess.DEVNULL, stdout=out, stderr=err)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def wait_for(self, what, ask):
        """What `ask` says once that is something."""
        end = time.monotonic() + PATIENCE_S
        while not (found := ask()):
            self.assertLess(time.monotonic(), end, f"{what}; {self.read('out')}{self.read('err')}")
            time.sleep(0.05)
        return found

    def machines(self, process):
        def all_of_them():
            self.assertIsNone(process.poll(), f"ended early: {self.read('err')}")
            found = machines_of(process.pid)
            return found if len(found) == GUESTS else None

        return self.wait_for("no machines", all_of_them)

    def assert_gone(self, machines):
        self.wait_for("machines are left",
                      lambda: all(stat_of(machine) is None for machine in machines.values()))

    def test_ranks_of_verbs_have_a_kernel_each(self):
        # Each block ends with a packet of 100 bytes, and the last one has no more, behind another
        # of its queue pair: none of these may overtake what is before it.
        done = self.start("run", f"chain:ranks={GUESTS},bytes=1049476,block=131172,in-flight=2",
                          "--iterations", 2, "--trace", "real.trace", "--json")
        machines = self.machines(done)
        done.wait(PATIENCE_S)
        self.assertEqual(done.returncode, 0, self.read("err"))
        said = json.loads(self.read("out"))
        self.assertEqual((said["transport"], said["bytes_proved"]), ("verbs", True))
        self.assertGreater(said["makespan_s"], 0.8 * 8 * 2**20 / 100e6)
        # Rank 0's machine has written it by its own kernel.
        self.assertTrue((self.folder / "real.trace").exists())
        self.assert_gone(machines)

    def test_a_way_takes_the_platforms_latency(self):
        done = self.start("run", f"sequential:ranks={GUESTS},bytes=8,ready=none", "--iterations", 3,
                          "--json", network=(f"{STAR},latency=20ms",))
        done.wait(PATIENCE_S)
        self.assertEqual(done.returncode, 0, self.read("err"))
        # A send is done when it is acknowledged. An emulated processor may take as long again.
        self.assertGreater(json.loads(self.read("out"))["makespan_s"], 39e-3)

    def test_calibrate_finds_the_cables_rate(self):
        # Of few points, on an emulated processor. Where other programs have it meanwhile, they say
        # too little.
        for repeats in (1, 4):
            done = self.start("calibrate", "--memory", "4MiB", "--repeats", repeats, "--base",
                              f"{STAR},latency=0ns,o_post=0ns,o_complete=0ns,gap=0ns", "--name", "bed",
                              "-o", f"bed-{repeats}.toml", "--json")
            done.wait(PATIENCE_S)
            self.assertEqual(done.returncode, 0, self.read("err"))
            figures = json.loads(self.read("out"))["figures"]
            rate = next(figure for figure in figures if figure["name"] == "rate")
            if rate["verdict"] == "measured":
                break
        self.assertEqual(rate["verdict"], "measured", rate)
        self.assertLess(abs(rate["value"] * 8 / 100e6 - 1), 0.25, rate)

    def test_groups_and_calls_work_between_kernels(self):
        (self.folder / "file").write_bytes(os.urandom(3_000_001))
        (self.folder / "got").mkdir()
        self.write("work.sh", f"""
rank=$1 ranks=$2 root=$3
cat /proc/sys/kernel/random/boot_id
{EXAMPLES}/replicate_file file --output got --transport verbs --rank $rank --ranks $ranks \\
  --root $root || exit 1
{EXAMPLES}/distributed_hash_table --keys 50 --transport verbs --rank $rank --ranks $ranks \\
  --root $root || exit 1
""")
        process = self.start("each", "sh", "work.sh", "{rank}", "{ranks}", "{root}")
        process.wait(PATIENCE_S)
        said = self.read("out")
        self.assertEqual(process.returncode, 0, said + self.read("err"))
        kernels = [line.split(": ")[1] for line in said.splitlines() if line.count("-") == 5]
        self.assertEqual(len(set(kernels)), GUESTS, said)
        for receiver in range(1, GUESTS):
            self.assertEqual((self.folder / f"got/receiver-{receiver}").read_bytes(),
                             (self.folder / "file").read_bytes())
        there = f"{50 * GUESTS} keys of {GUESTS} ranks: all are there, with their values, and nothing"
        self.assertIn(f"host-0: calls: {there}", said)
        self.assertIn(f"host-0: one-sided: {there}", said)

    def test_a_multicast_leaves_the_root_once_and_is_repaired(self):
        # Three members and the switch's process. Then the root's network loses what goes to groups.
        self.write("work.sh", f"""
sent() {{ cat /sys/class/net/eth0/statistics/tx_bytes; }}
for network in sound lossy; do
  if [ $network$1 = lossy0 ]; then
    tc -batch - <<END || exit 1
qdisc add dev eth0 root handle 1: prio bands 2 priomap 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
qdisc add dev eth0 parent 1:2 netem loss 20% duplicate 5% delay 2ms reorder 20%
filter add dev eth0 parent 1: u32 match ip dst 239.0.0.0/8 flowid 1:2
END
  fi
  before=$(sent)
  {PROGRAM} run switch-multicast:ranks=$2,bytes=2MiB,block=64KiB --transport verbs --multicast ud \\
    --completion interrupt --iterations 2 --join-timeout 120s --rank $1 --ranks $2 --root $3 --json \\
    >$network.$1 || exit 1
  echo $(($(sent) - before)) >$network.bytes.$1
done
""")
        process = self.start("each", "sh", "work.sh", "{rank}", "{ranks}", "{root}", hosts=4)
        process.wait(PATIENCE_S)
        self.assertEqual(process.returncode, 0, self.read("out") + self.read("err"))
        # Of 4096 bytes, of which 24 say what it is: 17 a block, in each of three iterations.
        packets = 3 * 32 * 17
        for network in ("sound", "lossy"):
            said = json.loads(self.read(f"{network}.0"))
            self.assertTrue(said["bytes_proved"])
            self.assertEqual(said["multicast_sent"], packets)
            self.assertGreaterEqual(said["multicast_repaired"],
                                    3 * packets - said["multicast_received"])
        self.assertGreater(said["multicast_repaired"], 0)
        self.assertGreater(said["multicast_repeated"], 0)
        # In messages, of which there were three. Without multicast the switch sends two of each.
        root, *members, switch = [int(self.read(f"sound.bytes.{rank}")) / (3 * 2**21)
                                  for rank in range(4)]
        self.assertGreater(root, 1)
        self.assertLess(root, 1.4)
        self.assertLess(switch, 0.4)
        self.assertLess(max(members), 0.4)

    def test_machines_that_are_gone_are_named(self):
        self.write("work.sh", f"""
for fault in cut paused killed; do
  {PROGRAM} run chain:ranks=$2,bytes=1MiB,block=128KiB --transport verbs --completion interrupt \\
    --duration 120s --join-timeout 120s --failure-timeout 4s --rank $1 --ranks $2 --root $3 \\
    >$fault.$1 2>&1
  echo "status $?" >>$fault.$1
done
""")
        process = self.start("each", "sh", "work.sh", "{rank}", "{ranks}", "{root}")
        machines = self.machines(process)
        struck = machines[f"host-{GUESTS - 1}"]
        port = ["nsenter", f"--net=/proc/{struck}/ns/net", "ip", "link", "set", "eth0"]

        def strike(fault, begin, end):
            before = sent_by(machines["host-0"])
            self.wait_for(f"{fault}: nothing is sent",
                          lambda: sent_by(machines["host-0"]) > before + 4 * 2**20)
            begin()
            for rank in range(GUESTS - 1):
                path = self.folder / f"{fault}.{rank}"
                self.wait_for(f"{fault}: rank {rank} goes on",
                              lambda: path.exists() and "status" in path.read_text())
                with self.subTest(fault=fault, rank=rank):
                    words = path.read_text()
                    self.assertIn("status 1\n", words)
                    self.assertIn(f"rank {GUESTS - 1} ", words)
                    self.assertEqual(words.count("\n"), 2, words)
            end()

        strike("cut", lambda: subprocess.run([*port, "down"], check=True),
               lambda: subprocess.run([*port, "up"], check=True))
        strike("paused", lambda: os.kill(struck, signal.SIGSTOP),
               lambda: os.kill(struck, signal.SIGCONT))
        strike("killed", lambda: os.kill(struck, signal.SIGKILL), lambda: None)
        process.wait(PATIENCE_S)
        self.assertEqual(process.returncode, 1)
        self.assertIn(f"host-{GUESTS - 1}: signal 9 ended its virtual machine\n", self.read("out"))
        self.assert_gone(machines)

    def test_nothing_is_left_whatever_ends_it(self):
        for number in (signal.SIGTERM, signal.SIGKILL):
            process = self.start("run", f"chain:ranks={GUESTS},bytes=8MiB,block=1MiB", "--duration",
                                 "60s")
            machines = self.machines(process)
            # One that is stopped hears of nothing.
            os.kill(machines["host-1"], signal.SIGSTOP)
            process.send_signal(number)
            process.wait(PATIENCE_S)
            self.assertEqual(process.returncode, -number)
            self.assert_gone(machines)


if __name__ == "__main__":
    main()
