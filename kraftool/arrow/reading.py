"""The rows of one source as Arrow batches: planned in parts, each read by itself.

Owns the way from options to rows. Spark reads each part in a task of its own. `table.py`, which
works without Spark, reads one after the other.
"""

from __future__ import annotations

import gc
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

from kraftool.arrow import rows
from kraftool.arrow.chunks import ChunkReader, fields_for
from kraftool.arrow.columns import (
    BATCHES,
    FILES,
    FINDINGS,
    OF_FRAMES,
    RECORDS,
    STATE,
    is_of_files,
    is_state,
    record_of,
)
from kraftool.arrow.entries import EntryReader
from kraftool.arrow.file_rows import file_rows, finding_rows
from kraftool.arrow.fleet import Fleet, FleetDirectory, FleetFile, Unread, with_batches
from kraftool.arrow.native_columns import NativeColumns, can_read
from kraftool.arrow.newest import newest_directories
from kraftool.arrow.rows import Maker
from kraftool.arrow.search import find_fleet
from kraftool.arrow.settings import SourceOptions
from kraftool.arrow.splits import Split, by_directory, packed, plan
from kraftool.arrow.state_rows import state_rows
from kraftool.arrow.untyped import ArrowBatch, ArrowSchema
from kraftool.decoders import schema
from kraftool.decoders.errors import Fault
from kraftool.storage.entry import EntryPlace


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """Ranges of files that are read together, or the folders that could not be listed."""

    splits: tuple[Split, ...] = ()
    unread: tuple[Unread, ...] = ()
    newest: frozenset[FleetDirectory] = frozenset()
    """Of states: those of the directories that have the newest one of their cluster."""


def parts_of(source: str, settings: SourceOptions) -> list[Part]:
    """Plan a source: ranges of large files, small files together.

    Raises KraftoolError for a PATH that leads nowhere.
    """
    fleet = find_fleet(settings.paths, depth=settings.depth, options=settings.storage)
    parts = [Part(splits=tuple(splits)) for splits in _splits(source, settings, fleet)]
    if is_state(source) and (not settings.columns or "newest" in map(str.strip, settings.columns)):
        newest = newest_directories(fleet.files)
        for number, part in enumerate(parts):
            own = newest & {split.file.directory for split in part.splits}
            parts[number] = replace(part, newest=own)
    unread = tuple(_unread(source, settings, fleet))
    if unread:
        parts.append(Part(unread=unread))
    return parts


def _unread(source: str, settings: SourceOptions, fleet: Fleet) -> Iterator[Unread]:
    """The folders that could not be listed, if they are rows of a source."""
    wanted = settings.narrowing
    if source in (RECORDS, BATCHES):
        if not wanted.wants_kind("problem"):
            return
    elif source not in (FINDINGS, STATE):
        return
    yield from (problem for problem in fleet.problems if wanted.wants_owner(problem.owner))


def _splits(source: str, settings: SourceOptions, fleet: Fleet) -> Iterable[Sequence[Split]]:
    if is_of_files(source) or is_state(source):
        files: Iterable[FleetFile] = fleet.files
    else:
        files = with_batches(fleet, snapshots=settings.snapshots)
    wanted = [file for file in files if settings.narrowing.wants_owner(file.directory)]
    if is_state(source):
        return by_directory(wanted)
    if is_of_files(source):
        # A file is judged as a whole: by offsets that follow on each other, for one.
        total = sum(file.size for file in wanted)
        return packed((Split(file=file) for file in wanted), max(total // 16, 1 << 20))
    return plan(wanted, fleet.files, settings.split_bytes)


def read_part(
    source: str,
    arrow: ArrowSchema,
    settings: SourceOptions,
    part: Part,
    makers: Mapping[str, Maker] = rows.NO_MAKERS,
) -> Iterator[ArrowBatch]:
    """Read one part. Files that are damaged or cannot be read are rows, never an error."""
    batches = _batches_of(source, arrow, settings, part, makers)
    while True:
        # The caller's own code runs between two batches.
        with without_collector():
            batch = next(batches, None)
        if batch is None:
            return
        yield batch


def _batches_of(
    source: str,
    arrow: ArrowSchema,
    settings: SourceOptions,
    part: Part,
    makers: Mapping[str, Maker],
) -> Iterator[ArrowBatch]:
    if source == FINDINGS:
        yield from finding_rows(arrow, part.splits, part.unread)
    elif source == FILES:
        yield from file_rows(arrow, part.splits, findings=settings.findings)
    elif is_state(source):
        secrets = settings.show_secrets
        yield from state_rows(
            source, arrow, part.splits, part.unread, newest=part.newest, show_secrets=secrets
        )
    else:
        yield from rows_of_batches(source, arrow, settings, part.splits, part.unread, makers)


def _nowhere(place: Unread) -> Split:
    """A range that stands for a folder."""
    return Split(
        file=FleetFile(
            directory=place.owner,
            root="",
            path="",
            name=place.name,
            relative="",
            place=EntryPlace.LOOSE,
            size=0,
        )
    )


def rows_of_batches(
    source: str,
    arrow: ArrowSchema,
    settings: SourceOptions,
    splits: Sequence[Split],
    unread: Sequence[Unread] = (),
    makers: Mapping[str, Maker] = rows.NO_MAKERS,
) -> Iterator[ArrowBatch]:
    """The rows of a source that come from batches, range after range; a problem for each folder
    that is unread."""
    problems = [(Fault(reason=place.reason), _nowhere(place)) for place in unread]
    for chunk in _chunk_reader(source, arrow, settings, makers).read(splits, problems):
        if chunk.has_rows:
            yield chunk.batch(source, arrow, makers)


def _chunk_reader(
    source: str, arrow: ArrowSchema, settings: SourceOptions, makers: Mapping[str, Maker]
) -> ChunkReader:
    secrets, narrowing = settings.show_secrets, settings.narrowing
    if source == BATCHES:
        return ChunkReader(EntryReader(narrowing, batches_only=True), batches_only=True)
    # What is wrong in a record is known only when it is decoded.
    frames_only = (
        source == RECORDS
        and OF_FRAMES.issuperset(arrow.names)
        and not narrowing.wants_kind("problem")
    )
    names, record = frozenset(arrow.names), record_of(source)
    native = None
    if can_read(narrowing) and (record is None or record in schema.names("metadata")):
        native = NativeColumns(
            narrowing,
            masked=not secrets,
            full_rows=rows.ROWS,
            full_bytes=rows.PAYLOAD,
            payloads=not names.isdisjoint({"payload", *makers}),
            frames_only=frames_only,
            chosen=None if record is None else {record: fields_for(record, names)},
        )
    entries = EntryReader(narrowing, show_secrets=secrets, frames_only=frames_only, native=native)
    return ChunkReader(entries, show_secrets=secrets)


@contextmanager
def without_collector() -> Iterator[None]:
    """Look for no reference cycles meanwhile: decoding makes many objects and no cycles. A worker
    runs other code afterwards."""
    before = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if before:
            gc.enable()
