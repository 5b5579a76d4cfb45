"""The lines that a node sends before its tar stream, as values that can be relied on.

Owns what a head may say: numbers that can be true, absolute paths, and settings of the quorum, each
one line by itself. A node may be hostile. Its paths are names on that node: they are compared and
joined to the folder of its copies, and never opened here as they are.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass

from kraftool.commands.remote_script import SETTINGS
from kraftool.decoders import properties
from kraftool.decoders.errors import KraftoolError
from kraftool.decoders.names import BOOTSTRAP_CHECKPOINT, META_PROPERTIES
from kraftool.reports.text.printable import file_text, printable
from kraftool.storage.entry import METADATA_PARTITION
from kraftool.storage.node_copy import NodePlaces
from kraftool.storage.repair_journal import FOLDER, NAME

_MOST_DIGITS = 15
_DEEPEST = 64
"""Folders in a path. No data directory is deeper, and removing a deep tree takes recursion."""
_TAR_PER_FILE = 8 << 10
"""Most bytes of headers and padding that tar adds to a file, with the longest name."""
_LEAST_GROWTH = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoteHead(NodePlaces):
    """The lines before the tar stream. Its settings are those of SETTINGS, unless it is for a
    bundle."""

    files: int = 0
    total: int = 0
    """Bytes of the files to come."""
    is_for_bundle: bool = False
    logs: tuple[tuple[str, int], ...] = ()
    """The server's logs that come before the tar stream: path, and bytes."""
    others: tuple[str, ...] = ()
    """Files beside the metadata that are not sent."""
    listing: tuple[bytes, ...] = ()
    """The lines of ls."""

    @property
    def log_bytes(self) -> int:
        return sum(size for _, size in self.logs)

    @property
    def most_content(self) -> int:
        """Bytes that the files may have: what was announced, and what Kafka writes meanwhile."""
        return self.total + self.total // 4 + _LEAST_GROWTH

    @property
    def most_stream(self) -> int:
        """Bytes that the tar stream may have."""
        return self.log_bytes + self.most_content + self.files * _TAR_PER_FILE

    def asks_for(self, path: str) -> bool:
        """True if the script sends a path: a node's metadata in one of the log directories."""
        return any(
            path.startswith(f"{log_dir}/") and self._sends(path.removeprefix(f"{log_dir}/"))
            for log_dir in self.log_dirs
        )

    def _sends(self, relative: str) -> bool:
        return _is_metadata(relative) or (self.is_for_bundle and "/" not in relative)


def _is_metadata(relative: str) -> bool:
    match relative.split("/"):
        case [name]:
            return name in (META_PROPERTIES, BOOTSTRAP_CHECKPOINT, METADATA_PARTITION)
        case [folder, _]:
            return folder == METADATA_PARTITION
        case [folder, journals, _, name]:
            return (folder, journals, name) == (METADATA_PARTITION, FOLDER, NAME)
    return False


def normalized(path: str) -> str:
    """An absolute path without empty parts, `.` and `..`, as tar's members have it."""
    return os.path.normpath("/" + path.lstrip("/"))


def read_head(data: bytes, *, is_for_bundle: bool = False) -> RemoteHead:
    """Return the head. Lines of an unknown kind, and settings that the script does not send, are
    ignored. Raises KraftoolError if it lacks a line or says what cannot be true."""
    lines: dict[bytes, list[bytes]] = {}
    for line in data.split(b"\n"):
        kind, _, value = line.partition(b" ")
        lines.setdefault(kind, []).append(value)

    def first(kind: bytes) -> bytes:
        return lines.get(kind, [b""])[0]

    def paths(kind: bytes) -> tuple[str, ...]:
        return tuple(dict.fromkeys(_path(value) for value in lines.get(kind, ())))

    return RemoteHead(
        files=_number(first(b"files")),
        total=_number(first(b"total")),
        directory=_path(first(b"directory")),
        log_dirs=paths(b"log-dir"),
        properties=_path(first(b"properties")) if b"properties" in lines else "",
        settings=_settings(lines.get(b"setting", []), are_all=is_for_bundle),
        folders=paths(b"folder"),
        pipes=paths(b"pipe"),
        running=paths(b"running"),
        is_for_bundle=is_for_bundle,
        logs=tuple(map(_log, lines.get(b"log", ()))) if is_for_bundle else (),
        others=paths(b"other"),
        listing=tuple(lines.get(b"listing", ())),
    )


def _log(value: bytes) -> tuple[str, int]:
    size, _, path = value.partition(b" ")
    return _path(path), _number(size)


def _number(value: bytes) -> int:
    if not (value.isdigit() and len(value) <= _MOST_DIGITS):
        raise KraftoolError(f"its head has {_shown(value)} where a number belongs")
    return int(value)


def _path(value: bytes) -> str:
    path = _text(value)
    if not path.startswith("/") or "\0" in path or path.count("/") > _DEEPEST:
        raise KraftoolError(f"its head has {_shown(value)}, which cannot be a path there")
    return normalized(path)


def _shown(value: bytes) -> str:
    return printable(file_text(_text(value[:80]))) or "an empty line"


def _text(value: bytes) -> str:
    return value.decode("utf-8", "surrogateescape")


def _settings(lines: Iterable[bytes], *, are_all: bool) -> tuple[bytes, ...]:
    """The last line of each setting, as Kafka takes it: of those of the quorum, or of all.

    A line that has an effect on others, or is more than one property, is left out: a file of these
    lines says of each setting what its own line says, and nothing else.
    """
    kept: dict[str, bytes] = {}
    for line in lines:
        is_continued = (len(line) - len(line.rstrip(b"\\"))) % 2 == 1
        if is_continued or b"\r" in line.removesuffix(b"\r"):
            continue
        entries = properties.decode(line)[0].entries
        if len(entries) == 1 and (are_all or entries[0].key in SETTINGS):
            kept[entries[0].key] = line
    return tuple(kept.values())
