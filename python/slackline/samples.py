"""Many runs of a schedule that differ in their noise."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Optional

import numpy as np

from slackline import _native
from slackline.optional import needed
from slackline.progress import bar
from slackline.quantities import whole

if TYPE_CHECKING:
    import pandas

__all__ = ["Samples"]

_MOST = 2**24  # as of `slackline simulate --samples`


def jobs_of(jobs: Optional[int]) -> int:
    """How many run at a time: so many, or all cores that this process may use."""
    return whole(jobs, "jobs", low=1) if jobs is not None else len(os.sched_getaffinity(0))


class Samples:
    """What many runs came to. Arrays cannot be written; times are in seconds."""

    def __init__(self, native: _native.Samples):
        self._native = native

    def __len__(self) -> int:
        return len(self.makespan_s)

    @property
    def makespan_s(self) -> np.ndarray:
        """Of every sample; infinite where a failure kept a rank from finishing."""
        return self._native.makespan_s

    @property
    def rank_finish_s(self) -> np.ndarray:
        """When each rank was done: a row for every sample, a column for every rank."""
        return self._native.rank_finish_s

    def to_pandas(self) -> pandas.DataFrame:
        """A row for every sample: its makespan, and when each rank was done."""
        with needed("pandas"):
            import pandas

        frame = pandas.DataFrame(self.rank_finish_s).add_prefix("finish_s_")
        frame.insert(0, "makespan_s", self.makespan_s)
        return frame.rename_axis("sample")


def sampled(schedule: _native.Schedule, platform: _native.Platform, delays: _native.DelayPlan,
            engine: str, policy: str, sends_in_flight: int, count: int, jobs: Optional[int],
            progress: Optional[bool]) -> Samples:
    count = whole(count, "count", _MOST + 1, 1)
    sends_in_flight = whole(sends_in_flight, "sends_in_flight")
    with bar("simulating", count, progress) as told:
        return Samples(_native.samples(schedule, platform, delays, engine, policy, sends_in_flight,
                                       count, jobs_of(jobs), told))
