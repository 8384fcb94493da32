"""Runs: when each operation was ready, issued and done; and what comes of that."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Iterable, NamedTuple, Optional, Union

import numpy as np

from slackline import _native
from slackline.delays import DelayPlan
from slackline.optional import needed
from slackline.platform import Platform
from slackline.progress import bar
from slackline.quantities import Time, picoseconds_of, whole
from slackline.samples import Samples, jobs_of
from slackline.slack import Slack

if TYPE_CHECKING:
    import pandas

    from slackline.schedule import Schedule

__all__ = ["Run", "Slopes"]

MOST_DRAWN_OPS = 2000
"""Of a schedule whose runs a notebook draws by themselves. `Run.export` draws larger ones, too."""


class Slopes(NamedTuple):
    """What small delays of operations cost. A delay ε of up to `up_to_s` costs
    `at_once_s + slope * ε` seconds. All are not a number where no small delays agree.
    """

    slope: np.ndarray
    at_once_s: np.ndarray
    within: np.ndarray
    """Up to how much the slope may be off by rounding."""
    up_to_s: np.ndarray


class Run:
    """A run of a schedule. Arrays have an entry for every operation, and cannot be written: they
    show the run's own memory, and keep it as long as they are there. Times are in seconds.
    """

    def __init__(self, native: _native.Run, schedule: Schedule):
        self._native = native
        self.schedule = schedule

    @property
    def makespan_s(self) -> float:
        """When the last operation was done; infinite if one never was."""
        return self._native.makespan_s

    @property
    def ready_s(self) -> np.ndarray:
        """When all that the operation waits for was there."""
        return self._native.ready_s

    @property
    def issued_s(self) -> np.ndarray:
        """When the operation was posted."""
        return self._native.issued_s

    @property
    def wire_s(self) -> np.ndarray:
        """When its message began to leave its NIC; `issued_s` where there is no message."""
        return self._native.wire_s

    @property
    def done_s(self) -> np.ndarray:
        """When the operation was done."""
        return self._native.done_s

    @property
    def attempts(self) -> np.ndarray:
        """How often the operation ran; 0 if it was passed over."""
        return self._native.attempts

    @property
    def cause(self) -> np.ndarray:
        """The operation whose event it waited for last; −1 at the start."""
        return self._native.cause

    @property
    def rank_finish_s(self) -> np.ndarray:
        """By rank: when it was done with all that it has to do."""
        return self._native.rank_finish_s()

    @property
    def engine(self) -> str:
        """Who answered: "flow", "event", "longest-path", "simgrid", "run:tcp", …"""
        return self._native.engine

    @property
    def complete(self) -> bool:
        """Whether every operation was done."""
        return self._native.complete

    @property
    def contended(self) -> bool:
        """Whether messages shared links or ports, and the engine left that out."""
        return self._native.contended

    @property
    def seed(self) -> int:
        """Of what was drawn at random."""
        return self._native.seed

    @property
    def platform(self) -> Platform:
        """The machine. Of a real run the one by which its stragglers were reckoned."""
        return Platform._of(self._native.platform)

    @property
    def delays(self) -> DelayPlan:
        """What went wrong."""
        return DelayPlan._of(self._native.delays)

    def __repr__(self) -> str:
        return (f"<{type(self).__name__} of {self.schedule.title!r} by {self.engine}: "
                f"{self.makespan_s:.6g} s>")

    def slack(self, wire: str = "auto") -> Slack:
        """Where the run has slack, with the order on lanes and ports as it was.

        `wire` says where the times on the wire are from: the machine model, this run, or (auto)
        what explains the run. Raises Unsupported for dynamic schedules.
        """
        return Slack(_native.slack(self._native, wire), _native.why_no_promise(self._native))

    def slopes(self, ops: Optional[Iterable[int]] = None, *, jobs: Optional[int] = None,
               progress: Optional[bool] = None) -> Slopes:
        """What small delays of operations really cost, in runs of their own. Of a run of the flow
        engine; all operations unless `ops` are given.

        >>> import slackline
        >>> run = slackline.compile("chain:ranks=3,bytes=1MiB").simulate("fractus")
        >>> run.slopes([0, 1]).slope
        array([0., 1.])
        """
        which = self._which(ops)
        with bar("slopes", len(which), progress) as told:
            return Slopes(*_native.slopes(self._native, which, jobs_of(jobs), told))

    def prices_s(self, by: Time, ops: Optional[Iterable[int]] = None, *,
                 jobs: Optional[int] = None, progress: Optional[bool] = None) -> np.ndarray:
        """How much later the run ends if an operation alone is delayed by so much: for each of
        `ops`, or of all. Of a run of the flow engine. Below 0 where it ends earlier.
        """
        which = self._which(ops)
        with bar("delayed runs", len(which), progress) as told:
            return _native.prices(self._native, which, picoseconds_of(by, "by"),
                                  jobs_of(jobs), told)

    def _which(self, ops: Optional[Iterable[int]]) -> list[int]:
        return [whole(op, "op") for op in (range(len(self.schedule)) if ops is None else ops)]

    def to_pandas(self) -> pandas.DataFrame:
        """A row for every operation: what it is, and its times.

        >>> import slackline
        >>> frame = slackline.compile("chain:ranks=3,bytes=1MiB").simulate("fractus").to_pandas()
        >>> frame[frame.kind == "send"].bytes.sum()
        2097152
        """
        with needed("pandas"):
            import pandas

        frame = self.schedule.to_pandas()
        for name in ("ready_s", "issued_s", "wire_s", "done_s", "attempts", "cause"):
            frame[name] = pandas.Series(getattr(self, name), frame.index)
        return frame

    def report(self, path: Union[str, os.PathLike[str], None] = None, *,
               beside: Optional[Run] = None, samples: Optional[Samples] = None) -> str:
        """The run as a page for a browser, with its slack: one file, which needs nothing else.

        Writes it to `path`, if that is given, whole or not at all, and returns it. `beside` is a second run of the same
        schedule, `samples` are many.
        """
        runs = [(run._label(), run._native) for run in (self, beside) if run is not None]
        page = _native.page(self.schedule.title, runs, samples._native if samples else None)
        if path is not None:
            _native.write_file(os.fspath(path), page)
        return page.decode("utf-8")

    def _label(self) -> str:
        return "simulated"

    def export(self, format: str) -> str:
        """The run as a timeline in the format of another tool: svg, chrome, perfetto, paje, csv,
        events-dot or events-graphml, as the program's `convert` writes them. What is no text, as
        perfetto, comes back as bytes by .encode("utf-8", "surrogateescape").

        >>> import slackline
        >>> run = slackline.compile("chain:ranks=3,bytes=1MiB").simulate("fractus")
        >>> run.export("svg").endswith("</svg>\\n")
        True
        """
        return self._native.export(format).decode("utf-8", "surrogateescape")

    def _repr_svg_(self) -> Optional[str]:
        """What a notebook shows of the run: its timeline, if it is small enough for one."""
        return self.export("svg") if len(self.schedule) <= MOST_DRAWN_OPS else None

    def write(self, path: Union[str, os.PathLike[str]]) -> None:
        """Writes it to a file, a trace, which `read_run` and the program read. It is there whole, or
        not at all. Raises InputError for a place that cannot be written.
        """
        _native.write_file(os.fspath(path), self._native.trace_file())
