"""Times as people write and read them.

Owns both ways. Which words a message about a wrong time begins with is for whoever asked.
"""

from __future__ import annotations

import re
import time
from datetime import UTC, datetime, timedelta, tzinfo
from functools import lru_cache

from kraftool.decoders.errors import KraftoolError

_AGO = re.compile(r"([0-9]{1,12})\s*(ms|s|m|h|d)\Z")
_UNITS = {"ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}
_MILLISECONDS = range(10**11, 10**13)
"""Years 1973 to 2286. Fewer digits are seconds or 20300101, more are 20300101120000 or finer."""
_SHOWN = 40
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def read_time(text: str, what: str) -> int:
    """Read a time: ISO-8601 (UTC unless it says otherwise), epoch milliseconds, or `2h` ago.

    Raises KraftoolError, in whose sentence `what` stands for the place where it was written.
    """
    if re.fullmatch("[0-9]+", text):
        if len(text) > 16 or int(text) not in _MILLISECONDS:
            raise KraftoolError(
                f"{what} {_shown(text)} is not a time: epoch milliseconds have 13 digits",
                hint="write a date as 2030-01-01",
            )
        return int(text)
    if ago := _AGO.match(text):
        return int(time.time() * 1000) - int(ago[1]) * _UNITS[ago[2]]
    try:
        moment = datetime.fromisoformat(text)
    except (ValueError, OverflowError):
        raise KraftoolError(
            f"{what} {_shown(text)} is not a time",
            hint="use 2026-11-21T06:00:00Z, epoch milliseconds, or 90m, 2h, 7d for a time ago",
        ) from None
    return round((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() * 1000)


def is_relative(text: str) -> bool:
    """True for a time that counts back from now, such as `2h`."""
    return _AGO.match(text) is not None


def _shown(text: str) -> str:
    return repr(text if len(text) <= _SHOWN else text[:_SHOWN] + "…")


def utc(milliseconds: int, form: str = "%Y-%m-%d %H:%M:%S") -> str:
    """A time in UTC by strftime's form; empty if it is negative or no calendar has it."""
    try:
        moment = _EPOCH + timedelta(milliseconds=milliseconds)
    except OverflowError:
        return ""
    return moment.strftime(form) if milliseconds >= 0 else ""


@lru_cache(maxsize=64)
def _second(seconds: int, zone: tzinfo) -> tuple[str, str]:
    moment = (_EPOCH + timedelta(seconds=seconds)).astimezone(zone)
    # isoformat has an offset as +05:30, which ISO-8601 wants beside extended times.
    text = moment.isoformat()
    return text[:19], "Z" if zone is UTC else text[19:]


def iso(milliseconds: int, zone: tzinfo = UTC) -> str:
    """A time of the log as ISO-8601; what no calendar has comes out as a number."""
    if milliseconds == -1:
        return "none"
    try:
        text, offset = _second(milliseconds // 1000, zone)
    except (OverflowError, ValueError):
        return f"{milliseconds}ms"
    return f"{text}.{milliseconds % 1000:03}{offset}"
