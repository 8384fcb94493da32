"""slackline simulate --engine flow, held to exact fair shares that were written from the pages alone"""

import json
import os
import random

import random_programs
from flow_model import FlowModel, TwoLevel
from program_case import ProgramCase, main

FIRST = int(os.environ.get("SLACKLINE_MODEL_FIRST", "0"))
CASES = int(os.environ.get("SLACKLINE_MODEL_CASES", "30"))
# Flows end within a picosecond of each other in one instant, which may add up.
NEAR_PS = 6


def network(draw, figures, ranks):
    """The spec of a network of racks, or of a star, and the model of it."""
    hosts = -(-ranks // figures.get("ranks_per_node", 1))
    rails, byte = figures.get("rails", 1), figures["byte"]
    if draw.random() < 0.3:
        return "star:", TwoLevel(hosts, rails, False, 0, byte, byte)
    of_rack = draw.choice((1, 2, 3))
    optimized = rails > 1 and draw.random() < 0.5
    hop, of_uplink = draw.choice((0, 130_000)), draw.choice((20, 40, 80, 100, 250, 1000))
    spec = (f"two-level:racks={-(-hosts // of_rack)},hosts={of_rack},hop_latency={hop}ps,"
            f"uplink={8_000_000 // of_uplink}Mbps,")
    if optimized:
        spec += "rail_wiring=rail-optimized,"
    return spec, TwoLevel(of_rack, rails, optimized, hop, byte, of_uplink)


class FairShares(ProgramCase):
    def test_times_are_the_models(self):
        compared = 0
        for seed in range(FIRST, FIRST + CASES):
            draw = random.Random(seed)
            program = random_programs.Program(draw, most_ranks=6, most_parts=24)
            spec, figures = random_programs.platform(draw)
            figures_spec = spec.removeprefix("star:nic=serial,").split(",")
            fair = draw.random() < 0.6
            if fair:  # which PCIe is refused with
                figures_spec = [each for each in figures_spec if not each.startswith("pcie")]
                figures = {k: v for k, v in figures.items() if not k.startswith("pcie")}
            options, plan = random_programs.plan(draw, program)
            begin, model = network(draw, figures, program.ranks)
            spec = f"{begin}nic={'fair' if fair else 'serial'},{','.join(figures_spec)}"
            self.write("program.slackline", program.text())
            run = self.run_program("simulate", "program.slackline", "--no-proof", "--platform", spec,
                                   "--engine", "flow", "--trace", "run.trace", *options)
            # 1: what atomics counted was overwritten by puts.
            self.assertIn(run.code, (0, 1), f"seed {seed}: {run}")
            trace = json.loads(self.read("run.trace"))
            of = FlowModel(program.ops, program.channels, figures, plan, model, fair).run()
            for event, times in (("issued", of.issued), ("done", of.done)):
                for op, (expected, got) in enumerate(zip(times, trace[event + "_s"])):
                    self.assertLess(
                        abs(got * 1e12 - float(expected)), NEAR_PS,
                        f"seed {seed}: op {op} ({program.ops[op].kind}) is {event} at "
                        f"{got * 1e12:.0f} ps; the model says {float(expected):.0f}. "
                        f"{spec} {options}")
                    compared += 1
        self.assertGreater(compared, 10 * CASES)


if __name__ == "__main__":
    main()
