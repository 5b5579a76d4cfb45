"""The log of a running node: lines of text or of JSON on stderr."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import re
import time
import traceback
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import orjson

from kraftool.commands.log_repeats import Repeats
from kraftool.reports.text.printable import printable
from kraftool.reports.text.times import iso

_PLAIN = re.compile(r'[^\s"]+')
"""What needs no quotes."""


def handler(
    tell: Callable[[str], None], *, as_json: bool, repeats: Repeats | None = None
) -> NodeHandler:
    """A handler that formats records with their fields, and tells them."""
    made = NodeHandler(tell, repeats or Repeats())
    made.setFormatter(_Json() if as_json else _Text())
    return made


def json_line(level: int, message: str, hint: str) -> str:
    """A line of JSON for what is no record: notes before the start, and why the run failed."""
    record = logging.LogRecord("kraftool", level, "", 0, "%s", (message,), None)
    record.fields = {"hint": hint} if hint else {}
    return _Json().format(record)


class NodeHandler(logging.Handler):
    """Writes records, and counts repeats; `finish` writes the counts that are left."""

    def __init__(self, tell: Callable[[str], None], repeats: Repeats) -> None:
        super().__init__()
        self._tell, self._repeats = tell, repeats
        self._timer: asyncio.TimerHandle | None = None

    def emit(self, record: logging.LogRecord) -> None:
        self._write(self._repeats.take(record, time.monotonic()))

    def finish(self) -> None:
        with self._locked():
            self._write(self._repeats.close())

    def _write(self, records: Iterable[logging.LogRecord]) -> None:
        for record in records:
            self._tell(self.format(record))
        self._set_timer()

    def _set_timer(self) -> None:
        """Have a count written when it is due, also if no other line comes."""
        end_s = self._repeats.next_end_s
        if end_s is None or self._timer is not None:
            return
        # A thread has no loop; the next line of the loop sets the timer.
        with contextlib.suppress(RuntimeError):
            wait_s = max(end_s - time.monotonic(), 0.0)
            self._timer = asyncio.get_running_loop().call_later(wait_s, self._count)

    def _count(self) -> None:
        with self._locked():
            self._timer = None
            self._write(self._repeats.due(time.monotonic()))

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        self.acquire()
        try:
            yield
        finally:
            self.release()


def _time(record: logging.LogRecord) -> str:
    return iso(int(record.created * 1000))


def _fields(record: logging.LogRecord) -> dict[str, Any]:
    fields: dict[str, Any] = getattr(record, "fields", {})
    if record.exc_info and record.exc_info[0] is not None:
        shown = "".join(traceback.format_exception(*record.exc_info))
        return {**fields, "traceback": shown.rstrip("\n")}
    return fields


class _Text(logging.Formatter):
    """`2026-01-01T00:00:00.000Z INFO Follower epoch=5 leader=2`; what is None is left out."""

    def format(self, record: logging.LogRecord) -> str:
        pairs = (
            f"{key}={_word(value)}" for key, value in _fields(record).items() if value is not None
        )
        # A line stays one line, whatever a message of a library or a name holds.
        return printable(" ".join([_time(record), record.levelname, record.getMessage(), *pairs]))


def _word(value: Any) -> str:
    is_plain = isinstance(value, str) and _PLAIN.fullmatch(value) is not None
    return value if is_plain else _json(value)


def _json(value: Any) -> str:
    """Return JSON; text that is not UTF-8, which orjson refuses, is escaped."""
    try:
        return orjson.dumps(value).decode()
    except TypeError:
        return json.dumps(value)


class _Json(logging.Formatter):
    """One object a line."""

    def format(self, record: logging.LogRecord) -> str:
        document = {
            "time": _time(record),
            "level": record.levelname,
            "message": record.getMessage(),
            **_fields(record),
        }
        return _json(document)
