"""GOAL programs held against LogGOPSim, where its txt2bin and itself are on PATH."""

import json
import re
import shutil
import subprocess
import unittest

from goal_test import MACHINE, PROGRAMS
from program_case import ProgramCase, main


def loggopsim_s(program, eager):
    """The time of its last rank, or nothing if one never ends; of `program`, bytes."""
    done = subprocess.run(["LogGOPSim", "-f", program, "-L", "2500", "-o", "0", "-g", "0", "-G", "1",
                           "-S", str(eager), "-b"], capture_output=True, text=True, timeout=300)
    times = [int(time) for time in re.findall(r"^(?:Host \d+: |Maximum finishing time at host \d+: )"
                                              r"(\d+)", done.stdout, re.M)]
    return max(times) * 1e-9 if times and "queue on host" not in done.stdout else None


@unittest.skipUnless(shutil.which("txt2bin") and shutil.which("LogGOPSim"),
                     "txt2bin and LogGOPSim are not on PATH")
class Peer(ProgramCase):
    def test_the_bytes_are_those_of_txt2bin(self):
        for program in sorted(PROGRAMS.glob("*.goal")):
            options = ("--eager", "1MiB", "--one-nic")
            self.good("export", program, *options, "--to", "goal", "-o", "x.goal")
            self.good("export", program, *options, "--to", "goal-bin", "-o", "x.bin")
            subprocess.run(["txt2bin", "-i", "x.goal", "-o", "theirs.bin"], cwd=self.folder,
                           stdout=subprocess.DEVNULL, check=True)
            self.assertEqual((self.folder / "x.bin").read_bytes(),
                             (self.folder / "theirs.bin").read_bytes(), program)
            # And what it makes of the program itself is read as the program is.
            subprocess.run(["txt2bin", "-i", program, "-o", "theirs.bin"], cwd=self.folder,
                           stdout=subprocess.DEVNULL, check=True)
            self.assertEqual(self.document("check", "theirs.bin", *options)["digest"],
                             self.document("check", program, *options)["digest"])

    def test_times_on_both_sides_of_the_limit(self):
        for name, limit in (("exchange", 8191), ("exchange", 8192), ("late_receive", 4095),
                            ("late_receive", 4096)):
            program = PROGRAMS / f"{name}.goal"
            self.good("export", program, "--eager", "1MiB", "--to", "goal-bin", "-o", "x.bin")
            theirs = loggopsim_s(self.folder / "x.bin", limit)
            ours = self.run_program("simulate", program, "--eager", limit, *MACHINE, "--json")
            if theirs is None:
                self.assertIn("deadlock", ours.err)
                continue
            # They leave out a byte of each message. A send that waits for its receive is over with
            # it there, and here once that is known.
            known_s = 2.5e-6 if (name, limit) == ("late_receive", 4095) else 0
            self.assertAlmostEqual(json.loads(ours.out)["makespan_s"], theirs + known_s + 1e-9, 15,
                                   (name, limit))

    # A relay of one message takes what the two models have in common: to the last nanosecond.
    def test_compare_asks_it(self):
        said = self.document("compare", "chain:ranks=2,bytes=1MiB,block=1MiB,ready=none", "--with",
                             "event,loggopsim", "-p", "star:rate=8Gbps,latency=2us,interleave=0")
        ours, theirs = (one["makespan_s"] for one in said["simulators"])
        # Ours ends when the sender knows; they leave out a byte.
        self.assertAlmostEqual(ours - 2e-6, theirs + 1e-9, 12)


if __name__ == "__main__":
    main()
