"""What a running node says, as lines of text or of JSON on stderr."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import orjson


def handler(tell: Callable[[str], None], *, as_json: bool) -> logging.Handler:
    """A handler that formats records with their fields, and tells them."""
    made = _Handler(tell)
    made.setFormatter(_Json() if as_json else _Text())
    return made


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
    return found


class _Text(logging.Formatter):
    """`2026-01-01T00:00:00.000Z INFO Follower epoch=5 leader=2`; what is None is left out."""

    def format(self, record: logging.LogRecord) -> str:
        told = (
            f"{key}={_word(value)}" for key, value in _fields(record).items() if value is not None
        )
        return " ".join([_time(record), record.levelname, record.getMessage(), *told])


def _word(value: Any) -> str:
    return value if isinstance(value, str) and value and " " not in value else _json(value)


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
