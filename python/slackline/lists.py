"""What there is: patterns, platforms, engines, formats."""

from __future__ import annotations

import dataclasses
from typing import Dict, Tuple

from slackline import _native

__all__ = ["PatternOption", "engines", "formats", "pattern_options", "patterns", "platforms"]


@dataclasses.dataclass(frozen=True)
class PatternOption:
    """An option of a pattern's spec."""

    values: str
    """Which values it takes, for people."""
    meaning: str
    """What it means, and its default."""


def patterns() -> Dict[str, str]:
    """The patterns that `compile` takes, each with a line about it.

    >>> patterns()["chain"]
    'each rank relays every block to the next'
    """
    return dict(_native.patterns())


def pattern_options(pattern: str) -> Dict[str, PatternOption]:
    """The options of a pattern, by their names.

    >>> pattern_options("chain")["ranks"].values
    '1 to 16777216'
    """
    return {key: PatternOption(values, meaning)
            for key, values, meaning in _native.pattern_options(pattern)}


def platforms() -> Dict[str, str]:
    """The platforms that come with Slackline, each with a line about it.

    >>> "fractus" in platforms()
    True
    """
    return dict(_native.platforms())


def engines() -> Dict[str, str]:
    """The engines of this build, each with a line about it.

    >>> "flow" in engines()
    True
    """
    return dict(_native.engines())


def formats() -> Dict[str, str]:
    """The formats that `Schedule.export` writes, each with a line about it.

    >>> "graphml" in formats()
    True
    """
    return dict(_native.formats())
