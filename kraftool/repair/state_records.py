"""The state of a directory as a checkpoint's records, and the checkpoint that a plan makes of them.

Owns one thing that two machines must do alike: `recover collect` hashes the records, on the host
whose state it is; apply computes them again there and writes them under the plan's frame. The same
files give the same bytes.
"""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from kraftool.decoders.errors import KraftoolError
from kraftool.decoders.framing import encode_record
from kraftool.decoders.snapshot import encode_snapshot
from kraftool.image.image import MetadataImage
from kraftool.image.writer import snapshot_records
from kraftool.raft.names import OffsetAndEpoch
from kraftool.repair.plan import Piece, SnapshotRecipe
from kraftool.repair.restored_file import Openers, pieced_opener, with_content
from kraftool.reports.logs.source import LogFile
from kraftool.reports.state.files import StateFiles, open_state
from kraftool.reports.state.load import load_from
from kraftool.storage.snapshots import frame_of


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordsDigest:
    """The number of records, and the SHA-256 of all, each behind its length in four bytes."""

    count: int
    sha256: str


def records_of(image: MetadataImage) -> Iterator[bytes]:
    """An image's records in the order and the versions of its own metadata.version."""
    framed = deque[bytes]()
    for name, version, value in snapshot_records(image, take_framed=framed.extend):
        # The partitions of a topic come before the next record that is not framed.
        yield from _taken(framed)
        yield encode_record(name, version, value)
    yield from _taken(framed)


def _taken(framed: deque[bytes]) -> Iterator[bytes]:
    while framed:
        yield framed.popleft()


def digest_of(records: Iterable[bytes]) -> RecordsDigest:
    count, digest = 0, hashlib.sha256()
    for record in records:
        count += 1
        digest.update(len(record).to_bytes(4, "big"))
        digest.update(record)
    return RecordsDigest(count=count, sha256=digest.hexdigest())


def snapshot_of(recipe: SnapshotRecipe, directory: str, restored: Openers) -> Iterator[bytes]:
    """The bytes of the checkpoint that a plan asks for, in pieces, of a directory's state. Damaged
    files of it are read as they are restored.

    Raises KraftoolError before the first piece where the directory has not the state that the plan
    was made for.
    """
    files = _with_content(open_state(directory), restored)
    if recipe.log_start is not None:
        files = beginning_at(files, recipe.log_start)
    records = list(records_of(load_from(files, at=recipe.state_offset).image))
    records_digest = digest_of(records)
    if (records_digest.count, records_digest.sha256) != (recipe.records, recipe.records_sha256):
        raise KraftoolError(
            f"{directory}: the state at offset {recipe.state_offset} is not the one that the"
            f" plan was made for ({records_digest.count} records, {recipe.records} planned)",
            hint="the directory has changed since, or another kraftool version made the plan:"
            " collect and plan again",
        )
    frame = frame_of(
        OffsetAndEpoch(recipe.offset, recipe.epoch),
        recipe.last_contained_log_timestamp_ms,
        recipe.kraft_version,
        recipe.voters or None,
        recipe.timestamp_ms,
    )
    return encode_snapshot(records, frame)


def _with_content(files: StateFiles, openers: Openers) -> StateFiles:
    def changed(files: tuple[LogFile, ...]) -> tuple[LogFile, ...]:
        return tuple(replace(file, entry=with_content(file.entry, openers)) for file in files)

    return replace(files, snapshots=changed(files.snapshots), segments=changed(files.segments))


def beginning_at(files: StateFiles, start: Piece) -> StateFiles:
    """The files of a log that begins with a slice of a segment. What is before it is left out."""
    assert start.file is not None, "a log begins in a segment"
    name = start.file.name
    first, *later = [segment for segment in files.segments if segment.entry.basename >= name]
    opener = pieced_opener(name, (start,), lambda piece: first.entry.open())
    begun = replace(first, entry=with_content(first.entry, {name: opener}))
    return replace(files, segments=(begun, *later))
