"""What can go wrong, and whose fault it is.

Every error is one line: what, where, what was expected.
"""

__all__ = ["EnvironmentError", "Error", "InputError", "InternalError", "RunFailed", "Unsupported"]


class Error(Exception):
    """The root of what Slackline raises.

    `exit_code` is what the program `slackline` ends with.
    """

    exit_code = 70


class InputError(Error, ValueError):
    """The input is wrong: an unknown name, a size out of range, a malformed file."""

    exit_code = 2


class Unsupported(Error):
    """The input is sound, but this consumer does not handle it. The message names the operation."""

    exit_code = 2


class EnvironmentError(Error):
    """The machine lacks something. The message says how to get it."""

    exit_code = 3


class InternalError(Error):
    """A defect of Slackline: an invariant that no input may break has been broken."""

    exit_code = 70


class RunFailed(Error):
    """A real run lost a rank, waited in vain, or delivered other bytes than the contract says."""

    exit_code = 1
