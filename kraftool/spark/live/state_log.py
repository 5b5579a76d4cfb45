"""The memory of a stream between two micro-batches, in the folder of the option stateLocation.

After a restart Spark gives a Python source only its last offset, which names an entry here. Owns
the files, and refuses to interpret the memory. An entry has the changes since the entry before it.
Now and then an entry has the whole memory, so that a restart reads few entries. An entry is whole
or missing, and never changes. If a run was killed, Spark may not have the offset of the last entry.
The next run continues from the offset that Spark has, and removes later entries. Spark's own file
source keeps such a log in its checkpoint.
"""

from __future__ import annotations

import fcntl
import os
import re
import time
import uuid
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import orjson

from kraftool.decoders.errors import KraftoolError
from kraftool.spark.conditions import INVALID_OPTION, condition
from kraftool.spark.errors import OccupiedError
from kraftool.spark.outputs import own_folder, write_whole

Memory = dict[str, Any]
"""What is known of each log, and of the files of each directory."""
KEPT = 100
"""So many entries can still be asked for: Spark keeps as many offsets, unless it is told to keep
fewer."""
_CHAIN = 50
"""At the latest after so many entries with changes, one has the whole memory."""
_NAME = re.compile(r"(\d{12})-([wd])-[0-9a-f]{12}")
_SUFFIX = ".state"
_VERSION = 1
_PATIENCE_S = 20.0
"""A run that was stopped a moment ago may take so long to end."""


class StateLog:
    """The log of one stream. The first question locks it."""

    def __init__(self, location: str) -> None:
        self._location, self._folder = location, Path(location)
        self._lock: int | None = None
        self._last, self._length, self._size, self._whole = "", 0, 0, 0
        """The last entry, how many it needs, the bytes of their changes, and of their first."""
        self._kept: tuple[str, Memory] = "", {}
        """The memory that was asked for last: Spark asks for it next."""

    def memory(self, name: str) -> Memory:
        """Return the memory after an entry, which nobody may change. Without a name it is that of
        a stream that has not begun."""
        if self._kept[0] != name:
            self._kept = name, self._read_memory(name) if name else {}
        return self._kept[1]

    def _read_memory(self, name: str) -> Memory:
        self._open()
        chain = [self._read(name)]
        while chain[-1]["before"] is not None:
            chain.append(self._read(chain[-1]["before"]))
        sizes = [entry["size"] for entry in chain]
        self._last, self._length = name, len(chain)
        self._size, self._whole = sum(sizes[:-1]), sizes[-1]
        memory: Memory = {}
        for entry in reversed(chain):
            memory |= entry["changed"]
        return _without_forgotten(memory)

    def news(self, name: str) -> dict[str, Any]:
        """Return what the micro-batch of an entry has to read."""
        self._open()
        news: dict[str, Any] = self._read(name)["news"]
        return news

    def append(self, before: str, changed: Mapping[str, Any], news: Mapping[str, Any]) -> str:
        """Write an entry after another one, and return its name when it is on the disk. A key with
        the value None is forgotten.

        The whole memory is written when its changes have taken more room than it did.
        """
        self._open()
        memory = _without_forgotten({**self.memory(before), **changed})
        number = _number(before) if before else -1
        self._forget_beyond(number)
        is_whole = not before or self._last != before or self._length >= _CHAIN
        is_whole = is_whole or self._size > self._whole
        data = _encoded(None if is_whole else before, memory if is_whole else changed, news)
        name = f"{number + 1:012}-{'w' if is_whole else 'd'}-{uuid.uuid4().hex[:12]}"
        self._write(name, data)
        self._last, self._kept = name, (name, memory)
        if is_whole:
            self._length, self._size, self._whole = 1, 0, len(data)
        else:
            self._length, self._size = self._length + 1, self._size + len(data)
        return name

    def forget_before(self, name: str) -> None:
        """Remove what is needed neither for this entry nor for the latest ones before it."""
        self._open()
        oldest = _number(name) - KEPT
        entries = list(self._entries())
        whole = [_number(entry) for entry in entries if entry[13] == "w"]
        needed = max((number for number in whole if number <= oldest), default=0)
        for entry in entries:
            if _number(entry) < needed:
                self._path(entry).unlink(missing_ok=True)

    def _forget_beyond(self, number: int) -> None:
        """Remove what a killed run wrote and Spark does not know. A new stream removes nothing:
        a folder with more than a first entry is another stream's."""
        for entry in self._entries():
            if _number(entry) <= max(number, 0):
                continue
            if number < 0:
                raise OccupiedError(
                    f"{self._folder} is the stateLocation of another stream",
                    hint="name a new folder, or continue with the checkpoint of that stream",
                )
            self._path(entry).unlink(missing_ok=True)

    def _open(self) -> None:
        if self._lock is not None:
            return
        with condition(INVALID_OPTION):
            # Only now, since Spark hides an error of a reader that is being made.
            if not self._location:
                raise KraftoolError(
                    "a stream requires stateLocation, the folder in which it keeps how far it is",
                    hint="give each stream a folder of its own on the driver's machine, next to"
                    ' its checkpoint: .option("stateLocation", "/srv/state")',
                )
        names = own_folder(self._folder)
        unknown = sorted(name for name in names if not _is_ours(name))
        if unknown:
            raise OccupiedError(
                f"{self._folder} contains something other than the state of a stream: {unknown[0]}",
                hint="name a new folder with stateLocation",
            )
        lock = os.open(self._folder / ".lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        deadline = time.monotonic() + _PATIENCE_S
        while True:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except OSError:
                if time.monotonic() < deadline:
                    time.sleep(0.1)
                    continue
                os.close(lock)
                raise OccupiedError(
                    f"another stream is using {self._folder}",
                    hint="stop it, or name a new folder with stateLocation",
                ) from None
        self._lock = lock
        for name in names:
            if name.startswith(".new-"):
                (self._folder / name).unlink(missing_ok=True)

    def close(self) -> None:
        """Let another run take the log."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def _entries(self) -> Iterator[str]:
        for name in os.listdir(self._folder):
            stem = name.removesuffix(_SUFFIX)
            if stem != name and _NAME.fullmatch(stem):
                yield stem

    def _path(self, name: str) -> Path:
        return self._folder / f"{name}{_SUFFIX}"

    def _read(self, name: str) -> dict[str, Any]:
        if not _NAME.fullmatch(name):
            raise KraftoolError(
                f"the checkpoint names {name!r}, which is not an entry of a state log"
            )
        path = self._path(name)
        try:
            data = path.read_bytes()
            entry: dict[str, Any] = orjson.loads(zlib.decompress(data))
            version = entry["version"]
        except FileNotFoundError:
            raise KraftoolError(
                f"{path} is missing, and the checkpoint needs it",
                hint="restore the folder of the checkpoint, or start a new stream with a new one",
            ) from None
        except (OSError, zlib.error, orjson.JSONDecodeError, KeyError, TypeError):
            raise KraftoolError(
                f"{path} is damaged, and the checkpoint needs it",
                hint="restore the file, or start a new stream with a new checkpoint",
            ) from None
        if version != _VERSION:
            raise KraftoolError(f"another version of kraftool wrote {path}")
        return {**entry, "size": len(data)}

    def _write(self, name: str, data: bytes) -> None:
        write_whole(self._path(name), self._folder / f".new-{name}", data)
        folder = os.open(self._folder, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def _encoded(before: str | None, changed: Mapping[str, Any], news: Mapping[str, Any]) -> bytes:
    entry = {"version": _VERSION, "before": before, "changed": changed, "news": news}
    return zlib.compress(orjson.dumps(entry), 1)


def _without_forgotten(memory: Memory) -> Memory:
    return {key: value for key, value in memory.items() if value is not None}


def _number(name: str) -> int:
    return int(name[:12])


def _is_ours(name: str) -> bool:
    return (
        name == ".lock"
        or name.startswith(".new-")
        or _NAME.fullmatch(name.removesuffix(_SUFFIX)) is not None
    )
