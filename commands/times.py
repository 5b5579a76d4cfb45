"""Times on the command line and in tables."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, tzinfo
from typing import TypeVar

from kraftool.commands.exit_code import UsageError
from kraftool.decoders.errors import KraftoolError
from kraftool.reports.text.times import iso, read_time

__all__ = ["as_usage", "iso", "parse_time", "time_zone"]

_Read = TypeVar("_Read")


def parse_time(text: str, option: str) -> int | None:
    """Read a time: ISO-8601 (UTC unless it says otherwise), epoch milliseconds, or `2h` ago."""
    return as_usage(read_time, text, option) if text else None


def as_usage(read: Callable[[str, str], _Read], text: str, option: str) -> _Read:
    """Return what an option says; where it cannot be read, that is an error of the command line."""
    try:
        return read(text, option)
    except KraftoolError as error:
        raise UsageError(error.message, hint=error.hint) from None


def time_zone(name: str) -> tzinfo:
    """The zone of --tz: UTC, local, or a name of the tz database."""
    if name.upper() in ("UTC", "Z"):
        return UTC
    if name == "local":
        return datetime.now().astimezone().tzinfo or UTC
    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise UsageError(
            f"--tz {name!r} is not a time zone", hint="use UTC, local, or a name like Europe/Zurich"
        ) from None
