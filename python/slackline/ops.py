"""The operations of a schedule as columns."""

from __future__ import annotations

import functools

import numpy as np

from slackline import _native

__all__ = ["KINDS", "Ops", "Edges"]

KINDS: tuple[str, ...] = _native.op_kinds
"""The kinds of operation, by their codes: `KINDS[code]`."""

_KIND_NAMES = np.array(KINDS)


def _frozen(array: np.ndarray) -> np.ndarray:
    array.flags.writeable = False
    return array[:]  # of which NumPy does not let anybody take that back


class Ops:
    """Columns with an entry for every operation, in the order of their ids. None can be written.

    Operations are grouped by rank, and stand in program order.

    >>> import slackline
    >>> ops = slackline.compile("chain:ranks=2,bytes=1MiB").ops
    >>> list(ops.kind)
    ['recv', 'send', 'recv', 'send']
    >>> ops.bytes[ops.kind == "send"]
    array([1048576,       0], dtype=uint64)
    """

    def __init__(self, native: _native.Schedule):
        self._native = native

    def __len__(self) -> int:
        return self._native.op_count

    def __repr__(self) -> str:
        return f"<Ops: {len(self)} operations>"

    @functools.cached_property
    def kind(self) -> np.ndarray:
        """The kind by its name: "send", "recv", "put", …"""
        return _frozen(_KIND_NAMES[self.kind_code])

    @property
    def kind_code(self) -> np.ndarray:
        """The kind as a number: its place in `KINDS`."""
        return self._native.kind

    @property
    def rank(self) -> np.ndarray:
        """The rank that carries it out."""
        return self._native.rank

    @property
    def step(self) -> np.ndarray:
        """The step of its pattern."""
        return self._native.step

    @property
    def lane(self) -> np.ndarray:
        """The CPU lane of its rank that issues it."""
        return self._native.lane

    @property
    def channel(self) -> np.ndarray:
        """Its channel; −1 without one."""
        return self._native.channel

    @property
    def match(self) -> np.ndarray:
        """Of a message the operation that takes it, and the other way round; −1 without one."""
        return self._native.match

    @functools.cached_property
    def bytes(self) -> np.ndarray:
        """The bytes that it moves over the network, copies or combines."""
        return self._native.op_bytes()

    @functools.cached_property
    def peer(self) -> np.ndarray:
        """The rank at the other end of its message; −1 without one."""
        return self._native.op_peer()


class Edges:
    """What waits for what on one rank, as columns. None can be written."""

    def __init__(self, native: _native.Schedule):
        self._native = native

    def __len__(self) -> int:
        return len(self.pred)

    @property
    def pred(self) -> np.ndarray:
        """The operation that is waited for."""
        return self._native.edge_pred

    @property
    def succ(self) -> np.ndarray:
        """The operation that waits."""
        return self._native.edge_succ

    @property
    def on_done(self) -> np.ndarray:
        """Whether it waits until the other is done; until it is issued where that is False."""
        return self._native.edge_on.view(np.bool_)
