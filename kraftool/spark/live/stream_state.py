"""The memory of a stream between two micro-batches, and the offsets that lead to it.

Owns the form of an offset. After a restart Spark gives a Python source only its last offset, so an
offset has the whole memory, packed. With the option `stateLocation` the memory is in a log of its
own (`state_log.py`), and an offset names the entry to read. It refuses to interpret the memory.
"""

from __future__ import annotations

import base64
import binascii
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import orjson

from kraftool.decoders.errors import KraftoolError
from kraftool.spark.live.state_log import StateLog

Offset = dict[str, Any]
Memory = dict[str, Any]
"""What is known of each log, and of the files of each directory."""
VERSION = 2
_NEW_STREAM = "start a new stream with a new checkpoint"


class StreamState:
    """The memories that offsets name. It keeps the last one: Spark asks for it next."""

    def __init__(self, location: str = "") -> None:
        self._log = StateLog(Path(location)) if location else None
        self._kept: tuple[Offset, Memory] | None = None

    def empty(self) -> Offset:
        """Return the offset of a stream that has not begun."""
        return {"version": VERSION, "begun": False, "behind": 0}

    def first(self, memory: Memory) -> Offset:
        """Return the offset of a stream that begins with a memory. Spark never writes it down."""
        return {"version": VERSION, "begun": True, "behind": 0, "memory": _packed(memory)}

    def memory(self, offset: Offset) -> Memory:
        """Return the memory to which an offset leads. Nobody may change it."""
        check_version(offset)
        if self._kept is None or self._kept[0] != offset:
            self._kept = (offset, self._read(offset))
        return self._kept[1]

    def _read(self, offset: Offset) -> Memory:
        if "entry" in offset:
            return self._log_of().memory(str(offset["entry"]))
        return _unpacked(offset["memory"]) if "memory" in offset else {}

    def _log_of(self) -> StateLog:
        if self._log is None:
            raise KraftoolError(
                "the checkpoint was written with the option stateLocation, which is missing",
                hint="continue with the same stateLocation",
            )
        return self._log

    def news(self, offset: Offset) -> dict[str, Any]:
        """Return what the micro-batch that ends at an offset has to read."""
        check_version(offset)
        if "entry" in offset:
            return self._log_of().news(str(offset["entry"]))
        news: dict[str, Any] = offset.get("news", {})
        return news

    def save(
        self, start: Offset, changed: Mapping[str, Any], news: Mapping[str, Any], behind: int
    ) -> Offset:
        """Return the offset after a change of the memory; a key with the value None is forgotten.

        `behind` are the bytes of the logs that the micro-batch leaves for later ones.
        """
        memory = {**self.memory(start), **changed}
        memory = {key: value for key, value in memory.items() if value is not None}
        offset: Offset = {"version": VERSION, "begun": True, "behind": behind}
        if self._log is None:
            offset |= {"memory": _packed(memory), "news": dict(news)}
        else:
            offset["entry"] = self._log.append(start.get("entry"), changed, memory, news)
        self._kept = (offset, memory)
        return offset

    def done(self, offset: Offset) -> None:
        """Forget what no later question needs: the micro-batch of this offset is committed."""
        if self._log is not None and "entry" in offset:
            self._log.forget_before(str(offset["entry"]))

    def close(self) -> None:
        """Let another run take the state."""
        if self._log is not None:
            self._log.close()


def check_version(offset: Offset) -> None:
    """Raise KraftoolError for an offset of another version of kraftool."""
    version = offset.get("version")
    if version != VERSION:
        raise KraftoolError(
            f"another version of kraftool wrote the checkpoint: its offsets have version {version},"
            f" and this kraftool reads version {VERSION}",
            hint=f"{_NEW_STREAM}; startingOffsets latest skips all old records",
        )


def _packed(memory: Memory) -> str:
    return base64.b64encode(zlib.compress(orjson.dumps(memory), 1)).decode()


def _unpacked(text: str) -> Memory:
    try:
        memory: Memory = orjson.loads(zlib.decompress(base64.b64decode(text, validate=True)))
    except (binascii.Error, zlib.error, orjson.JSONDecodeError):
        raise KraftoolError("the checkpoint has a damaged offset", hint=_NEW_STREAM) from None
    return memory
