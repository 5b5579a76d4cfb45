"""The journal of a repair: what is about to be done, durable before it is done.

Owns the file's form: a line an entry, the CRC-32C of its JSON before it, and which entry begins
which stage, so that any report can tell how far a repair is. A line that a crash cut short at the
end is none, and the next one takes its place. Anything else that does not check is damage, and
nothing is guessed of it: the originals lie beside the journal, to be put back by hand. What the
entries say of files is `repair/record.py`'s.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from typing import Any

from kraftool.decoders.checksum import crc32c
from kraftool.decoders.errors import KraftoolError
from kraftool.storage.files import Files, OpenFile

FOLDER = ".kraftool-recover"
"""In the metadata partition's folder; in it a folder for each plan."""
NAME = "journal"
MOST_BYTES = 16 << 20
"""A plan has at most some thousand steps, of some hundred bytes each."""

Entry = Mapping[str, Any]


class Stage(StrEnum):
    """The stage of a plan."""

    NONE = "not begun"
    BEGUN = "begun, nothing changed"
    CHANGING = "half applied"
    APPLIED = "applied"
    UNDOING = "half undone"
    UNDONE = "undone"


BEGINS = {
    "begin": Stage.BEGUN,
    "ready": Stage.CHANGING,
    "applied": Stage.APPLIED,
    "undo": Stage.UNDOING,
    "undone": Stage.UNDONE,
}
"""The entries after which a plan is at another stage."""


class JournalDamaged(KraftoolError):
    """A journal that a crash alone cannot have left."""


class Journal:
    """An open journal; every entry is on the disk when `note` returns."""

    def __init__(self, files: Files, path: str) -> None:
        """Open it, or begin it. The name of a new one is its folder's to keep."""
        self.path = path
        self._file = _opened(files, path)
        try:
            data = self._file.read_at(0, MOST_BYTES + 1)
            self.entries, self._end = read(data, path)
            if self._end < len(data):  # what comes next must not be followed by what was cut short
                self._file.truncate(self._end)
                self._file.sync()
        except BaseException:
            self._file.close()
            raise

    def note(self, kind: str, **facts: Any) -> None:
        """Write an entry down, durably."""
        entry = {"kind": kind, **facts}
        line = encode(entry)
        self._file.write_at(self._end, line)
        self._file.sync()
        self._end += len(line)
        self.entries.append(entry)

    def close(self) -> None:
        self._file.close()


def encode(entry: Entry) -> bytes:
    text = json.dumps(entry, separators=(",", ":"), sort_keys=True).encode()
    return b"%08x %s\n" % (crc32c(text), text)


def read(data: bytes, path: str) -> tuple[list[Entry], int]:
    """The entries, and where the next one goes."""
    if len(data) > MOST_BYTES:
        raise JournalDamaged(f"{path} is larger than any journal")
    entries: list[Entry] = []
    end = 0
    for line in _lines(data):
        entry = _entry(line)
        if entry is None:
            # A write that was cut short leaves part of a line, or zeros where its bytes never
            # reached the disk; either way nothing whole follows.
            if any(
                _entry(later_line) is not None for later_line in _lines(data[end + len(line) :])
            ):
                raise JournalDamaged(
                    f"{path}, line {len(entries) + 1}: its checksum does not match",
                    hint="the originals lie beside it, in old/; once it is known that nothing is"
                    " half done, move its folder away",
                )
            break
        entries.append(entry)
        end += len(line)
    return entries, end


def stage_of(entries: Iterable[Entry]) -> Stage:
    """Return how far a journal's plan is."""
    stages = [BEGINS[entry["kind"]] for entry in entries if entry["kind"] in BEGINS]
    return stages[-1] if stages else Stage.NONE


def folders_in(partition: str) -> list[str]:
    """Every plan's folder in a metadata partition's. Raises OSError where it cannot be read."""
    above = os.path.join(partition, FOLDER)
    try:
        with os.scandir(above) as items:
            names = sorted(item.name for item in items if item.is_dir(follow_symlinks=False))
    except (FileNotFoundError, NotADirectoryError):
        return []
    return [os.path.join(above, name) for name in names]


def entries_at(files: Files, path: str) -> list[Entry]:
    """Return what a journal says that is only read; nothing where there is none."""
    try:
        file = files.open_to_read(path)
    except FileNotFoundError:
        return []
    try:
        return read(file.read_at(0, MOST_BYTES + 1), path)[0]
    finally:
        file.close()


def _opened(files: Files, path: str) -> OpenFile:
    try:
        return files.open(path)
    except FileNotFoundError:
        return files.create(path, 0o600)


def _lines(data: bytes) -> Iterator[bytes]:
    start = 0
    while start < len(data):
        end = data.find(b"\n", start)
        end = len(data) if end < 0 else end + 1
        yield data[start:end]
        start = end


def _entry(line: bytes) -> Entry | None:
    if len(line) < 10 or line[8:9] != b" " or not line.endswith(b"\n"):
        return None
    text = line[9:-1]
    try:
        if int(line[:8], 16) != crc32c(text):
            return None
        entry = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return entry if isinstance(entry, dict) and isinstance(entry.get("kind"), str) else None
