"""The files of a node's copy, as they go into a bundle."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import IO

from kraftool.bundle.masking import Masks, masked_log
from kraftool.decoders.kinds import HEAD_SIZE, FileKind, detect
from kraftool.decoders.names import (
    METADATA_FOLDER,
    SEGMENT_SUFFIXES,
    parse_checkpoint_name,
    parse_segment_name,
)
from kraftool.storage.repair_journal import NAME as JOURNAL
from kraftool.storage.source import FileSource

_LOGS = (FileKind.LOG, FileKind.CHECKPOINT, FileKind.BOOTSTRAP_CHECKPOINT)
_CHUNK = 1 << 20


@dataclass(frozen=True, slots=True)
class CopiedFile:
    """A file of a copy: where it is, its path on the node, and its size."""

    here: str
    path: str
    size: int


def files_below(root: str) -> list[CopiedFile]:
    """The regular files of a copy, in the order of their paths."""
    found = []
    for folder, _, names in os.walk(root):
        for name in names:
            here = os.path.join(folder, name)
            if os.path.isfile(here) and not os.path.islink(here):
                size = os.stat(here).st_size
                found.append(CopiedFile(here, here.removeprefix(root), size))
    return sorted(found, key=lambda file: file.path)


def fitting(files: Sequence[CopiedFile], most: int) -> tuple[list[CopiedFile], list[CopiedFile]]:
    """Return the files that fit into so many bytes, and those that are left out.

    What the newest snapshot and the log behind it make unnecessary goes first. If the rest is still
    too large, all of the log goes: half of it would show damage that the node does not have.
    """
    left_out: list[CopiedFile] = []
    for candidates in (_superseded(files), _log(files)):
        if sum(file.size for file in files) - sum(file.size for file in left_out) <= most:
            break
        left_out = [*candidates]
    return [file for file in files if file not in left_out], left_out


def _log(files: Sequence[CopiedFile]) -> list[CopiedFile]:
    return [file for file in files if _segment(file) is not None or _snapshot(file) is not None]


def _superseded(files: Sequence[CopiedFile]) -> list[CopiedFile]:
    """Older snapshots, and the segments before the one that goes on from the newest."""
    newest = max((offset for file in files if (offset := _snapshot(file)) is not None), default=0)
    starts = {start for file in files if (start := _segment(file)) is not None}
    first = max((start for start in starts if start <= newest), default=0)
    return [
        file
        for file in files
        if ((start := _segment(file)) is not None and start < first)
        or ((offset := _snapshot(file)) is not None and offset < newest)
    ]


def _segment(file: CopiedFile) -> int | None:
    folder, name = os.path.split(file.path)
    if os.path.basename(folder) != METADATA_FOLDER or not name.endswith(SEGMENT_SUFFIXES):
        return None
    parsed = parse_segment_name(name)
    return None if parsed is None else parsed.base_offset


def _snapshot(file: CopiedFile) -> int | None:
    folder, name = os.path.split(file.path)
    parsed = parse_checkpoint_name(name)
    if os.path.basename(folder) != METADATA_FOLDER or parsed is None:
        return None
    return parsed.offset


def write_masked(file: CopiedFile, out: IO[bytes], masks: Masks | None) -> int:
    """Write a file without its secrets; all of it without `masks`. Return the masked bytes."""
    with FileSource(file.here) as source:
        if masks is not None:
            head = source.read_at(0, HEAD_SIZE)
            name = os.path.basename(file.here)
            kind = detect(name, head, file.size).kind
            if kind in _LOGS:
                return masked_log(source, out, masks)
            if kind in (FileKind.UNKNOWN, FileKind.PROPERTIES) and name != JOURNAL:
                return _copy(source, out, masks)
        return _copy(source, out, None)


def _copy(source: FileSource, out: IO[bytes], masks: Masks | None) -> int:
    masked = 0
    for chunk in _chunks(source):
        out.write(chunk if masks is None else masks.of(chunk))
        masked += len(chunk) if masks is not None else 0
    return masked


def _chunks(source: FileSource) -> Iterator[bytes]:
    position = 0
    while chunk := source.read_at(position, _CHUNK):
        yield chunk
        position += len(chunk)
