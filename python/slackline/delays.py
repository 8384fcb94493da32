"""What goes wrong in a run: delays, slow pairs and links, stragglers, noise, failures.

A run takes a list of these, or a `DelayPlan`.
"""

from __future__ import annotations

import dataclasses
import os
from typing import Iterable, Optional, Sequence, Union

from slackline import _native
from slackline.quantities import Rate, Time, number_text, rate_text, time_text, whole

__all__ = ["Delay", "DelayPlan", "Failure", "LinkRate", "Noise", "SlowPair", "StepDelay",
           "Straggler"]


@dataclasses.dataclass(frozen=True)
class Delay:
    """One operation is delayed once.

    Its issue comes `by` later. With `lane` its CPU lane is held that much longer, as a preemption
    does, and all that is behind it on the lane waits too.

    >>> Delay(op=17, by="10us")
    Delay(op=17, by='10us', lane=False)
    """

    op: int
    by: Time
    lane: bool = False

    def _add_to(self, plan: _native.DelayPlan) -> None:
        plan.add_op(whole(self.op, f"{self!r}: op"), time_text(self.by), self.lane, repr(self))


@dataclasses.dataclass(frozen=True)
class StepDelay:
    """All that a rank initiates at a step is delayed once, credits left out."""

    rank: int
    step: int
    by: Time
    lane: bool = False

    def _add_to(self, plan: _native.DelayPlan) -> None:
        plan.add_step(whole(self.rank, f"{self!r}: rank"), whole(self.step, f"{self!r}: step"),
                      time_text(self.by), self.lane, repr(self))


@dataclasses.dataclass(frozen=True)
class SlowPair:
    """Messages from `src` to `dst` have this rate where it is below the NIC's."""

    src: int
    dst: int
    rate: Rate

    def _add_to(self, plan: _native.DelayPlan) -> None:
        plan.add_pair(whole(self.src, f"{self!r}: src"), whole(self.dst, f"{self!r}: dst"),
                      rate_text(self.rate), repr(self))


@dataclasses.dataclass(frozen=True)
class Straggler:
    """What the lanes of a rank do takes `slowdown` times as long, and `by` more."""

    rank: int
    slowdown: float = 1
    by: Time = 0

    def _add_to(self, plan: _native.DelayPlan) -> None:
        plan.add_straggler(whole(self.rank, f"{self!r}: rank"), self.slowdown, time_text(self.by),
                           repr(self))


class Noise:
    """Random delays of operations that hold a lane.

    `kind` is constant (figure: `by`), uniform (`low`, `high`), exponential (`mean`), lognormal
    (`median`, `sigma`) or trace (`values`, a list of times). Each operation of `ranks` (all, if
    that is empty) is struck by `chance`. Without `lane` it becomes ready later, and its lane is free.

    >>> Noise("exponential", mean="2us", chance=0.1)
    Noise('exponential', mean='2us', chance=0.1)
    """

    def __init__(self, kind: str, *, chance: Union[float, str] = 1, ranks: Sequence[int] = (),
                 lane: bool = True, values: Sequence[Time] = (), **figures: Union[float, str]):
        self.kind = kind
        self.figures = figures
        self.values = tuple(values)
        self.chance = chance
        self.ranks = tuple(ranks)
        self.lane = lane

    def __repr__(self) -> str:
        said = dict(self.figures)
        if self.values:
            said["values"] = list(self.values)
        if self.chance != 1:
            said["chance"] = self.chance
        if self.ranks:
            said["ranks"] = list(self.ranks)
        if not self.lane:
            said["lane"] = False
        return f"Noise({', '.join([repr(self.kind), *(f'{k}={v!r}' for k, v in said.items())])})"

    def _add_to(self, plan: _native.DelayPlan) -> None:
        figures = [(key, number_text(value) if key == "sigma" else time_text(value))
                   for key, value in self.figures.items()]
        plan.add_noise(self.kind, figures, [time_text(value) for value in self.values],
                       [whole(rank, f"{self!r}: rank") for rank in self.ranks], number_text(self.chance), self.lane, repr(self))


@dataclasses.dataclass(frozen=True)
class LinkRate:
    """From the time `at` on, a link of the network has this rate."""

    link: str
    rate: Rate
    at: Time = 0

    def _add_to(self, plan: _native.DelayPlan) -> None:
        plan.add_link_rate(self.link, rate_text(self.rate), time_text(self.at), repr(self))


@dataclasses.dataclass(frozen=True)
class Failure:
    """A link, or the whole host of a rank, is gone from the time `at` on. Exactly one is given."""

    link: str = ""
    rank: int = -1
    at: Time = 0

    def _add_to(self, plan: _native.DelayPlan) -> None:
        rank = whole(self.rank, f"{self!r}: rank", low=-1) % 2**32
        plan.add_failure(self.link, rank, time_text(self.at), repr(self))


Item = Union[Delay, StepDelay, SlowPair, Straggler, Noise, LinkRate, Failure]


class DelayPlan:
    """Delays together, with the seed of what is drawn at random.

    >>> plan = DelayPlan([Delay(op=3, by="1us")], seed=7)
    >>> print(plan.text)
    schema = 1
    <BLANKLINE>
    [[delay]]
    op = 3
    by = "1us"
    of = "op"
    <BLANKLINE>
    """

    def __init__(self, items: Iterable[Item] = (), seed: int = 0):
        self._native = _native.DelayPlan()
        for item in items:
            item._add_to(self._native)
        self._native.seed = whole(seed, "seed", 2**64)

    @classmethod
    def _of(cls, native: _native.DelayPlan) -> DelayPlan:
        plan = cls()
        plan._native = native
        return plan

    @classmethod
    def parse(cls, text: str) -> DelayPlan:
        """The plan that a text in TOML says, as `text` writes it."""
        return cls._of(_native.read_delays(text, "delays"))

    @classmethod
    def read(cls, path: Union[str, os.PathLike[str]]) -> DelayPlan:
        """The plan of a file in TOML."""
        return cls._of(_native.load_delays(os.fspath(path)))

    def with_seed(self, seed: int) -> DelayPlan:
        """The same with another seed."""
        native = _native.DelayPlan(self._native)
        native.seed = whole(seed, "seed", 2**64)
        return DelayPlan._of(native)

    @property
    def seed(self) -> int:
        """Of the noise. A sample's seed is this and its number."""
        return self._native.seed

    @property
    def text(self) -> str:
        """The canonical text (TOML), which `parse` reads back. Empty for an empty plan."""
        return self._native.text

    def __bool__(self) -> bool:
        return not self._native.empty

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DelayPlan) and self.text == other.text and self.seed == other.seed

    def __repr__(self) -> str:
        return f"DelayPlan.parse({self.text!r})"


Delays = Union[DelayPlan, Iterable[Item], None]
"""What a run is told of delays: a plan, a list of items, or nothing."""


def plan_of(delays: Delays, seed: Optional[int]) -> _native.DelayPlan:
    plan = delays if isinstance(delays, DelayPlan) else DelayPlan(delays or ())
    return (plan if seed is None else plan.with_seed(seed))._native
