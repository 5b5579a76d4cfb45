"""The exit codes of kraftool, and the errors that lead to them."""

from __future__ import annotations

from enum import IntEnum

from kraftool.decoders.errors import KraftoolError


class ExitCode(IntEnum):
    """The exit codes; each member has its meaning, which the man page shows."""

    meaning: str

    def __new__(cls, value: int, meaning: str) -> ExitCode:
        member = int.__new__(cls, value)
        member._value_ = value
        member.meaning = meaning
        return member

    FINE = 0, "Success: no problems found."
    FINDING = (
        1,
        "A finding: verification failed, voters or state differ, no leader, nodes disagree.",
    )
    USAGE = 2, "The command line is wrong."
    UNREADABLE = (
        3,
        "Something asked for could not be read or decoded; the rest is still printed.",
    )
    UNREACHABLE = 4, "No node could be reached."
    REFUSED = 5, "kraftool refused, because the action would not be safe."
    INTERNAL = (
        70,
        "An internal error, or Spark itself failed. stderr names a report file or shows a hint.",
    )
    INTERRUPTED = 130, "Interrupted."


class UsageError(KraftoolError):
    """A command line that cannot be carried out."""


class RefusedError(KraftoolError):
    """A refusal: kraftool does not do this because something could be lost."""


class FailedError(KraftoolError):
    """A failure of something that kraftool depends on; input and command line are right."""


class UnreachableError(KraftoolError):
    """Not one node could be reached."""


def code_of(error: KraftoolError) -> ExitCode:
    """The code with which a run ends that this error ends."""
    if isinstance(error, UsageError):
        return ExitCode.USAGE
    if isinstance(error, UnreachableError):
        return ExitCode.UNREACHABLE
    if isinstance(error, FailedError):
        return ExitCode.INTERNAL
    return ExitCode.REFUSED if isinstance(error, RefusedError) else ExitCode.UNREADABLE
