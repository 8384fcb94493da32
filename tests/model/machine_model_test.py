"""slackline simulate, held to a simulator that was written from docs/architecture.md alone"""

import json
import os
import random

import random_programs
from machine_model import Model
from program_case import ProgramCase, main

FIRST = int(os.environ.get("SLACKLINE_MODEL_FIRST", "0"))
CASES = int(os.environ.get("SLACKLINE_MODEL_CASES", "40"))
# Times of the trace are seconds in double precision.
NEAR_PS = 0.6


class MachineModel(ProgramCase):
    def test_times_are_the_models(self):
        for seed in range(FIRST, FIRST + CASES):
            draw = random.Random(seed)
            program = random_programs.Program(draw)
            if not program.ops:
                continue
            spec, figures = random_programs.platform(draw)
            options, plan = random_programs.plan(draw, program)
            figures["policy"] = draw.choice(("in-order", "in-order", "ready"))
            figures["sends_in_flight"] = draw.choice((0, 0, 0, 1, 2))
            self.write("program.slackline", program.text())
            run = self.run_program(
                "simulate", "program.slackline", "--no-proof", "--platform", spec, "--engine",
                "event", "--policy", figures["policy"], "--sends-in-flight",
                str(figures["sends_in_flight"]), "--trace", "run.trace", *options)
            model = Model(program.ops, program.channels, figures, plan).run()
            if None in model.done:
                # A bound of sends may keep back what another waits for.
                self.assertRegex(run.err, r"op (\d+) .* never finishes", f"seed {seed}: {run}")
                continue
            # 1: what atomics counted was overwritten by puts.
            self.assertIn(run.code, (0, 1), f"seed {seed}: {run}")
            trace = json.loads(self.read("run.trace"))
            for event, times in (("issued", model.issued), ("done", model.done)):
                for op, (expected, got) in enumerate(zip(times, trace[event + "_s"])):
                    self.assertIsNotNone(expected, f"seed {seed}: op {op} is never {event}")
                    self.assertLess(
                        abs(got * 1e12 - expected), NEAR_PS,
                        f"seed {seed}: op {op} ({program.ops[op].kind}) is {event} at "
                        f"{got * 1e12:.0f} ps; the model says {expected}. {spec} {options}")


if __name__ == "__main__":
    main()
