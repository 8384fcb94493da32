"""Packages that only some methods need."""

from __future__ import annotations

import contextlib
from typing import Iterator

from slackline import errors


@contextlib.contextmanager
def needed(package: str) -> Iterator[None]:
    """For the import of a package that is Debian's python3-PACKAGE. Raises
    slackline.EnvironmentError where it is missing."""
    try:
        yield
    except ImportError as error:
        raise errors.EnvironmentError(f"{package} cannot be imported: {error}; install it "
                                      f"(Debian: python3-{package})") from error
