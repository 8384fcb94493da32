"""Times, rates and shares as users give them: text with a unit, or a number in the base unit.

What comes of it is text, which the libraries read. So there is one reader, and one wording of what
is wrong.
"""

from __future__ import annotations

import operator
from typing import SupportsIndex, Union

from slackline import _native
from slackline.errors import InputError

Time = Union[float, str]
"""Seconds, or text with a unit: `1e-6` is `"1us"`. Rounded to a picosecond."""

Rate = Union[float, str]
"""Bits per second, or text with a unit: `1e11` is `"100Gbps"`."""

Bytes = Union[int, str]
"""Bytes, or text with a unit: `1048576` is `"1MiB"`."""


def whole(value: SupportsIndex, what: str, end: int = 2**32, low: int = 0) -> int:
    """A number from `low` to `end` − 1. Raises TypeError for what is none, InputError for others.

    >>> whole(3, "rank")
    3
    """
    number = operator.index(value)
    if not low <= number < end:
        raise InputError(f"{what}: {number} is out of range; expected {low} to {end - 1}")
    return number


def time_text(value: Time) -> str:
    """
    >>> time_text("10us"), time_text(1e-6)
    ('10us', '1000000ps')
    """
    return value if isinstance(value, str) else f"{value * 1e12:.0f}ps"


def rate_text(value: Rate) -> str:
    """
    >>> rate_text("100Gbps"), rate_text(1e11)
    ('100Gbps', '100000000.000Kbps')
    """
    return value if isinstance(value, str) else f"{value / 1e3:.3f}Kbps"


def number_text(value: Union[float, str]) -> str:
    """
    >>> number_text("1%"), number_text(0.25)
    ('1%', '0.25')
    """
    return value if isinstance(value, str) else repr(value)


def bytes_of(value: Bytes) -> int:
    """
    >>> bytes_of("1MiB"), bytes_of(17)
    (1048576, 17)
    """
    return _native.parse_bytes(value, "bytes") if isinstance(value, str) else whole(value, "bytes", 2**64)


def picoseconds_of(value: Time, what: str) -> int:
    """
    >>> picoseconds_of("1us", "calc")
    1000000
    """
    return _native.parse_time(time_text(value), what)
