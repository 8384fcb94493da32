"""Where a run has slack."""

from __future__ import annotations

from typing import TYPE_CHECKING, Optional

import numpy as np

from slackline import _native
from slackline.optional import needed

if TYPE_CHECKING:
    import pandas

__all__ = ["Slack"]


class Slack:
    """Floats of a run with its order frozen. Arrays have an entry for every operation, and cannot
    be written. Times are in seconds.

    >>> import slackline
    >>> run = slackline.compile("binomial-pipeline:ranks=4,bytes=4MiB").simulate("fractus")
    >>> slack = run.slack()
    >>> slack.total_float_s.min(), len(slack.critical_path)
    (0.0, 20)
    """

    def __init__(self, native: _native.Slack, no_promise: Optional[str]):
        self._native = native
        self.no_promise = no_promise
        """Why a delay within its float may cost time all the same; None where it never does."""

    def __repr__(self) -> str:
        floats = self.total_float_s
        return f"<Slack: {int((floats == 0).sum())} of {len(floats)} operations have no float>"

    @property
    def total_float_s(self) -> np.ndarray:
        """How far the operation's issue can slip, and the schedule still ends on time."""
        return self._native.total_float_s

    @property
    def free_float_s(self) -> np.ndarray:
        """How far it can slip, and no event of any other operation moves."""
        return self._native.free_float_s

    @property
    def message_float_s(self) -> np.ndarray:
        """How far the first byte on the wire can slip; not a number where nothing is sent."""
        return self._native.message_float_s

    @property
    def critical_path(self) -> np.ndarray:
        """One chain of operations without slack, from the start to the last event."""
        return self._native.critical_path

    def to_pandas(self) -> pandas.DataFrame:
        """A row for every operation: its floats."""
        with needed("pandas"):
            import pandas

        names = ("total_float_s", "free_float_s", "message_float_s")
        return pandas.DataFrame({name: getattr(self, name) for name in names}).rename_axis("op")

    @property
    def unexplained_s(self) -> float:
        """The largest difference between the run and the same computed again in its order."""
        return self._native.unexplained_s

    @property
    def wire(self) -> str:
        """Where the times on the wire are from: "model", or "run"."""
        return self._native.wire
