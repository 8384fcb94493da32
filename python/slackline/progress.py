"""How far long work is: a bar of tqdm, where that is installed."""

from __future__ import annotations

import contextlib
from typing import Callable, Iterator, Optional

ProgressCall = Callable[[int], None]


@contextlib.contextmanager
def bar(what: str, total: int, wanted: Optional[bool]) -> Iterator[Optional[ProgressCall]]:
    """What to call with the number that is done; None where nobody wants to see it.

    `wanted` None: only on a terminal.
    """
    try:
        import tqdm
    except ImportError:
        yield None
        return
    with tqdm.tqdm(total=total, desc=what, disable=None if wanted is None else not wanted) as shown:
        yield None if shown.disable else lambda done: shown.update(done - shown.n)
