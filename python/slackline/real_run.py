"""Real runs: a schedule carried out by processes that send its bytes.

They are the program's, `slackline run`, and not this process's. The ranks of a run are forks of the
process that starts them, which must have no threads then. An interpreter with NumPy has some.
"""

from __future__ import annotations

import json
import os
import pathlib
import tempfile
from typing import TYPE_CHECKING, Any, Dict, List, Optional, Sequence

import numpy as np

from slackline import _native
from slackline.delays import Delays, plan_of
from slackline.errors import InternalError, Unsupported
from slackline.program import call
from slackline.run import Run
from slackline.slack import Slack

if TYPE_CHECKING:
    from slackline.schedule import Schedule

__all__ = ["RealRun"]


class RealRun(Run):
    """A run by real processes. The arrays are of the iteration with the median makespan."""

    def __init__(self, native: _native.Run, schedule: Schedule, figures: Dict[str, Any]):
        super().__init__(native, schedule)
        self.figures = figures
        """All that `slackline run --json` tells."""

    @property
    def transport(self) -> str:
        """What moved the bytes."""
        return self.figures["transport"]

    @property
    def bytes_proved(self) -> bool:
        """Whether the bytes that arrived were looked at. Wrong ones raise RunFailed."""
        return self.figures["bytes_proved"]

    @property
    def makespans_s(self) -> np.ndarray:
        """Of every iteration."""
        return np.asarray(self.figures["makespans_s"])

    @property
    def processor_wait_share(self) -> np.ndarray:
        """Of each rank: the share of the time in which it was ready to run and had no processor, 0 to
        1; NaN where the kernel does not count. Much of it, and times are those of a loaded host."""
        return np.asarray([np.nan if share is None else share
                           for share in self.figures["processor_wait_share"]])

    def _label(self) -> str:
        return f"run over {self.transport}"

    def slack(self, wire: str = "auto") -> Slack:
        """Raises Unsupported: a real run does not say what its machine would do otherwise."""
        raise Unsupported(f"slack of a real run ({self.engine}); expected one that was simulated")


def carried_out(schedule: Schedule, transport: str, iterations: int, warm_up: int, delays: Delays,
                seed: Optional[int], options: Sequence[str]) -> RealRun:
    with tempfile.TemporaryDirectory(prefix="slackline-") as folder:
        place = pathlib.Path(folder)
        arguments: List[str] = []
        if schedule._spec is not None:
            arguments.append(schedule._spec)
        else:
            schedule.write(place / "schedule.sched")
            arguments.append(str(place / "schedule.sched"))
        plan = plan_of(delays, seed)
        if not plan.empty:
            (place / "delays.toml").write_text(plan.text, encoding="utf-8")
            arguments += ["--delays", str(place / "delays.toml")]
        trace = place / "run.trace"
        arguments += ["--transport", transport, "--iterations", str(iterations), "--warm-up",
                      str(warm_up), "--trace", str(trace), *options]
        figures = json.loads(call(["run", *arguments, "--json"]))
        if figures["digest"] != schedule.digest:
            raise InternalError(f"the program ran schedule {figures['digest']}, expected "
                                f"{schedule.digest}; it is another version than this package")
        native = _native.run_of_trace(schedule._native, _native.load_trace(os.fspath(trace)),
                                      "the run's trace")
    return RealRun(native, schedule, figures)
