"""What others would say of a run: models that a prediction is held beside.

Each takes the schedule's spec and the figures of the network, and gives a makespan in seconds.
"""

import csv
import dataclasses
import pathlib
import re
import subprocess
import tempfile


def in_ns(time_s):
    return f"{time_s * 1e9:.0f}ns"


@dataclasses.dataclass(frozen=True)
class Figures:
    """Of a host's port, and of its processor."""
    rate: float          # bytes a second
    latency_s: float
    o_s: float           # of the processor, for a message, at either end
    gap_s: float         # between messages

    def overheads(self):
        """As a part of a platform's spec."""
        return f"o_post={in_ns(self.o_s)},o_complete={in_ns(self.o_s)},gap={in_ns(self.gap_s)}"

    def __str__(self):
        return f"latency={in_ns(self.latency_s)},{self.overheads()}"


def transfers(program, spec):
    text = subprocess.run([program, "export", spec, "--to", "csv"], capture_output=True, text=True,
                          check=True).stdout
    return [{key: int(value) for key, value in row.items()}
            for row in csv.DictReader(text.splitlines())]


def rounds_s(program, spec, network, figures):
    """A model without slack: no message of a step leaves before all of the step before have come.
    A step takes as long as its busiest port or uplink sends, and what one message costs besides."""
    steps = {}
    for row in transfers(program, spec):
        loads = steps.setdefault(row["step"], {})
        for link in network.links(row["src"], row["dst"]):
            loads[link] = loads.get(link, 0) + row["bytes"] / network.share(link)
    of_message = figures.latency_s + 2 * figures.o_s
    return sum(max(loads.values()) / figures.rate + of_message for loads in steps.values())


class LogGOPSim:
    """The folder has its programs `txt2bin` and `LogGOPSim`."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)

    def makespan_s(self, program, spec, figures):
        with tempfile.TemporaryDirectory() as work:
            goal, binary = f"{work}/program.goal", f"{work}/program.bin"
            for command in ([program, "export", spec, "--to", "goal", "-o", goal],
                            [self.folder / "txt2bin", "-i", goal, "-o", binary]):
                subprocess.run(command, capture_output=True, check=True)
            # Nanoseconds; all messages are eager, since each has its receive posted by a credit.
            told = subprocess.run(
                [self.folder / "LogGOPSim", "-f", binary, "-L", f"{figures.latency_s * 1e9:.0f}",
                 "-o", f"{figures.o_s * 1e9:.0f}", "-g", f"{figures.gap_s * 1e9:.0f}",
                 "-G", f"{1e9 / figures.rate:.6g}", "-S", "1000000000"],
                capture_output=True, text=True, check=True).stdout
        return max(int(ns) for ns in re.findall(r"Host \d+: (\d+)", told)) / 1e9
