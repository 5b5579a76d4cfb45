"""The files of a node's copy as they go into a bundle: those that fit, without their secrets."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import IO

from kraftool.bundle.masking import Masks, masked_log
from kraftool.bundle.text_masking import masked_small_file
from kraftool.decoders.errors import KraftoolError
from kraftool.decoders.kinds import HEAD_SIZE, FileKind, detect, kind_by_name
from kraftool.decoders.names import METADATA_FOLDER, parse_checkpoint_name, parse_segment_name
from kraftool.directory.file_report import ReadOptions, read_file
from kraftool.reports.files.file_findings import file_findings
from kraftool.storage.directory import file_entry
from kraftool.storage.files import Files
from kraftool.storage.repair_journal import FOLDER, entries_at
from kraftool.storage.repair_journal import NAME as JOURNAL
from kraftool.storage.source import FileSource, chunks_of

_LOGS = (FileKind.LOG, FileKind.CHECKPOINT, FileKind.BOOTSTRAP_CHECKPOINT)
_SMALL = 1 << 20
_TEXT = re.compile(rb"[\x20-\x7e]{6,}")


@dataclass(frozen=True, slots=True)
class CopiedFile:
    """A file of a copy: where it is, its path on the node, its size, and how much is masked."""

    here: str
    path: str
    size: int
    masked_bytes: int = 0


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
    # Of a file that is not Kafka's nothing is kept but its name and size.
    size = sum(file.size for file in files if kind_by_name(os.path.basename(file.path)) is not None)
    if size <= most:
        return list(files), []
    left_out = _superseded(files)
    if size - sum(file.size for file in left_out) > most:
        left_out = [file for file in files if _is_of_log(file)]
    return [file for file in files if file not in left_out], left_out


def has_log(files: Sequence[CopiedFile]) -> bool:
    return any(map(_is_of_log, files))


def _is_of_log(file: CopiedFile) -> bool:
    return _segment(file) is not None or _snapshot(file) is not None


def _superseded(files: Sequence[CopiedFile]) -> list[CopiedFile]:
    """Older snapshots, and the segments before the one that goes on from the newest."""
    newest = max((offset for file in files if (offset := _snapshot(file)) is not None), default=0)
    starts = [
        start
        for file in files
        if file.path.endswith(".log") and (start := _segment(file)) is not None
    ]
    first = max((start for start in starts if start <= newest), default=0)
    return [
        file
        for file in files
        if ((start := _segment(file)) is not None and start < first)
        or ((offset := _snapshot(file)) is not None and offset < newest)
    ]


def _segment(file: CopiedFile) -> int | None:
    folder, name = os.path.split(file.path)
    parsed = parse_segment_name(name) if os.path.basename(folder) == METADATA_FOLDER else None
    return None if parsed is None else parsed.base_offset


def _snapshot(file: CopiedFile) -> int | None:
    folder, name = os.path.split(file.path)
    parsed = parse_checkpoint_name(name) if os.path.basename(folder) == METADATA_FOLDER else None
    return None if parsed is None else parsed.offset


def mask(file: CopiedFile, masks: Masks) -> int:
    """Mask a file of a copy where it is. Return how many bytes are others now."""
    other = f"{file.here}.masked"
    status = os.stat(file.here)
    with FileSource(file.here) as source, open(other, "xb") as out:
        masked = _write_masked(file, source, out, masks)
    os.utime(other, ns=(status.st_atime_ns, status.st_mtime_ns))
    os.replace(other, file.here)
    return masked


def _write_masked(file: CopiedFile, source: FileSource, out: IO[bytes], masks: Masks) -> int:
    name = os.path.basename(file.here)
    kind = detect(name, source.read_at(0, HEAD_SIZE), file.size).kind
    if kind in _LOGS:
        return masked_log(source, out, masks)
    if _is_journal(file):
        is_sound = _is_sound_journal(file)
        return _copied(source, out) if is_sound else _masked_whole(source, out, masks)
    if kind_by_name(name) is None:
        # Names say what a file is to Kafka. Content alone makes nothing harmless.
        out.truncate(file.size)
        return file.size
    if kind in _BINARY:
        is_sound = _is_sound(file.here)
        return _copied(source, out) if is_sound else _masked_texts(source, out, masks)
    if file.size <= _SMALL:
        data = source.read_at(0, file.size)
        is_raw = kind is FileKind.OFFSET_CHECKPOINT and _is_sound(file.here)
        shown = data if is_raw else masked_small_file(data, kind)
        out.write(shown)
        return sum(before != after for before, after in zip(data, shown, strict=True))
    return _masked_whole(source, out, masks)


_BINARY = (FileKind.OFFSET_INDEX, FileKind.TIME_INDEX, FileKind.TXN_INDEX, FileKind.PRODUCER_STATE)


def _is_journal(file: CopiedFile) -> bool:
    """True for the journal of a recovery plan: names, sizes and hashes of files."""
    parts = file.path.split("/")
    return parts[-1] == JOURNAL and parts[-4:-2] == [METADATA_FOLDER, FOLDER]


def _is_sound_journal(file: CopiedFile) -> bool:
    try:
        return bool(entries_at(Files(), file.here))
    except KraftoolError:
        return False


def _is_sound(path: str) -> bool:
    """True if Kafka's reader takes all of the file."""
    return not list(file_findings(read_file(file_entry(path), ReadOptions())))


def _copied(source: FileSource, out: IO[bytes]) -> int:
    for chunk in chunks_of(source):
        out.write(chunk)
    return 0


def _masked_texts(source: FileSource, out: IO[bytes], masks: Masks) -> int:
    """Write a damaged file of numbers without the texts that it never has."""
    masked = 0
    for chunk in chunks_of(source):
        shown = _TEXT.sub(lambda text: masks.of(text[0]), chunk)
        out.write(shown)
        masked += sum(map(len, _TEXT.findall(chunk)))
    return masked


def _masked_whole(source: FileSource, out: IO[bytes], masks: Masks) -> int:
    masked = 0
    for chunk in chunks_of(source):
        out.write(masks.of(chunk))
        masked += len(chunk)
    return masked
