"""The program `slackline`, which carries out real runs."""

from __future__ import annotations

import os
import pathlib
import shutil
import subprocess
from typing import Sequence

from slackline import _native, errors

_ERRORS = {1: errors.RunFailed, 2: errors.InputError, 3: errors.EnvironmentError}


def program() -> str:
    """The path of the program: what the environment variable SLACKLINE_PROGRAM says, or else the
    one that was built or installed with this package, or else the one in PATH.

    Raises slackline.EnvironmentError without any.
    """
    said = os.environ.get("SLACKLINE_PROGRAM")
    if said:
        if os.access(said, os.X_OK):
            return said
        raise errors.EnvironmentError(f"SLACKLINE_PROGRAM: {said} cannot be run; expected the path "
                                      "of the program slackline")
    here = pathlib.Path(_native.__file__).resolve().parents
    # BUILD/python/slackline/_native…, and PREFIX/lib/pythonX.Y/dist-packages/slackline/_native…
    for place in (here[2] / "slackline", here[4] / "bin" / "slackline"):
        if place.is_file() and os.access(place, os.X_OK):
            return str(place)
    found = shutil.which("slackline")
    if found:
        return found
    raise errors.EnvironmentError("the program slackline is not here; install it (Debian: "
                                  "slackline), or set SLACKLINE_PROGRAM to its path")


def call(arguments: Sequence[str]) -> str:
    """What the program prints. Raises the error that it ended with. Ctrl-C ends it, too."""
    with subprocess.Popen([program(), *arguments], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE) as child:
        try:
            out, err = child.communicate()
        except BaseException:
            child.terminate()  # it ends its ranks
            child.wait()
            raise
    if child.returncode == 0:
        return out.decode("utf-8", "surrogateescape")
    text = err.decode("utf-8", "replace").strip().removeprefix("slackline: ")
    kind = _ERRORS.get(child.returncode, errors.InternalError)
    raise kind(text or f"slackline {arguments[0]} ended with {child.returncode}")
