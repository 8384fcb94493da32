"""The machine that a schedule runs on."""

from __future__ import annotations

from typing import Optional, Union

from slackline import _native

__all__ = ["Platform"]


class Platform:
    """A machine as every engine is told it: its network, and what its NICs and CPUs take.

    `text` is the name of a preset (`platforms()` lists them), the path of a TOML file, or a
    topology with its figures. Further figures may be given by name.

    >>> Platform("fractus").rate_bps
    100000000000
    >>> Platform("fractus", latency="2us").latency_s
    2e-06
    >>> Platform("fat-tree:arity=4").nodes
    16
    """

    def __init__(self, text: str = "fractus", **figures: Union[str, int]):
        said = ",".join(f"{key}={value}" for key, value in figures.items())
        if said:
            text = f"{text}{',' if ':' in text else ':'}{said}"
        self._native = _native.Platform(text)

    @classmethod
    def _of(cls, native: _native.Platform) -> Platform:
        platform = cls.__new__(cls)
        platform._native = native
        return platform

    @property
    def name(self) -> str:
        """What it was made from."""
        return self._native.name

    @property
    def spec(self) -> str:
        """Every figure, as text from which the same platform is made."""
        return self._native.spec

    @property
    def topology(self) -> str:
        """The network's kind: "star", "fat-tree", …"""
        return self.spec.partition(":")[0]

    @property
    def figures(self) -> dict[str, str]:
        """Every figure that `spec` says, by its key, as text in its unit. One that is not said is
        that of a platform that says nothing of it (`o_poll`, `poll_for`, …).

        >>> Platform("fractus", poll_for="50ms").figures["poll_for"]
        '50ms'
        """
        figures = self.spec.partition(":")[2]
        return dict(figure.split("=", 1) for figure in figures.split(",") if "=" in figure)

    @property
    def nodes(self) -> Optional[int]:
        """How many nodes there are to put ranks on; None where there are as many as one likes."""
        return self._native.nodes

    @property
    def rate_bps(self) -> int:
        """Of a NIC, each way, in bits per second."""
        return self._native.rate_bps

    @property
    def latency_s(self) -> float:
        """One way, in seconds."""
        return self._native.latency_s

    @property
    def o_post_s(self) -> float:
        """The time of a CPU to post an operation, in seconds."""
        return self._native.o_post_s

    @property
    def o_complete_s(self) -> float:
        """From an event at the NIC until the program has seen it, in seconds."""
        return self._native.o_complete_s

    @property
    def gap_s(self) -> float:
        """Between the starts of two messages of one NIC, in seconds."""
        return self._native.gap_s

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Platform) and self.spec == other.spec

    def __hash__(self) -> int:
        return hash(self.spec)

    def __repr__(self) -> str:
        return f"Platform({self.spec!r})"


def native_platform(platform: Union[Platform, str]) -> _native.Platform:
    return (platform if isinstance(platform, Platform) else Platform(platform))._native
