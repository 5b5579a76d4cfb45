"""What a running node says, as lines of text or of JSON on stderr."""

from __future__ import annotations

import json
import logging
import re
import traceback
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import orjson

from kraftool.reports.printable import printable

_PLAIN = re.compile(r'[^\s"]+')
"""What needs no quotes."""


def handler(tell: Callable[[str], None], *, as_json: bool) -> logging.Handler:
    """A handler that formats records with their fields, and tells them."""
    made = _Handler(tell)
    made.setFormatter(_Json() if as_json else _Text())
    return made


def json_line(level: int, message: str, hint: str) -> str:
    """A line of JSON for what is no record: notes before the start, and why the run failed."""
    record = logging.LogRecord("kraftool", level, "", 0, "%s", (message,), None)
    record.fields = {"hint": hint} if hint else {}
    return _Json().format(record)


class _Handler(logging.Handler):
    def __init__(self, tell: Callable[[str], None]) -> None:
        super().__init__()
        self._tell = tell

    def emit(self, record: logging.LogRecord) -> None:
        self._tell(self.format(record))


def _time(record: logging.LogRecord) -> str:
    return datetime.fromtimestamp(record.created, UTC).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"


def _fields(record: logging.LogRecord) -> dict[str, Any]:
    found: dict[str, Any] = getattr(record, "fields", {})
    if record.exc_info and record.exc_info[0] is not None:
        shown = "".join(traceback.format_exception(*record.exc_info))
        return {**found, "traceback": shown.rstrip("\n")}
    return found


class _Text(logging.Formatter):
    """`2026-01-01T00:00:00.000Z INFO Follower epoch=5 leader=2`; what is None is left out."""

    def format(self, record: logging.LogRecord) -> str:
        told = (
            f"{key}={_word(value)}" for key, value in _fields(record).items() if value is not None
        )
        # A line stays one line, whatever a message of a library or a name holds.
        return printable(" ".join([_time(record), record.levelname, record.getMessage(), *told]))


def _word(value: Any) -> str:
    is_plain = isinstance(value, str) and _PLAIN.fullmatch(value) is not None
    return value if is_plain else _json(value)


def _json(value: Any) -> str:
    """What others name may be no UTF-8, which orjson refuses; it is escaped then."""
    try:
        return orjson.dumps(value).decode()
    except TypeError:
        return json.dumps(value)


class _Json(logging.Formatter):
    """One object a line."""

    def format(self, record: logging.LogRecord) -> str:
        told = {
            "time": _time(record),
            "level": record.levelname,
            "message": record.getMessage(),
            **_fields(record),
        }
        return _json(told)
