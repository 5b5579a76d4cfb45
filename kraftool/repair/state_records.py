"""The state of a directory as a checkpoint's records, and the checkpoint that a plan makes of them.

Owns one thing that two machines must do alike: `recover collect` hashes the records, on the host
whose state it is; apply computes them again there and writes them under the plan's frame. The same
files give the same bytes. It refuses to write a file.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from kraftool.decoders.errors import KraftoolError
from kraftool.decoders.framing import encode_record
from kraftool.decoders.snapshot import encode_snapshot
from kraftool.image.image import MetadataImage
from kraftool.image.writer import snapshot_records
from kraftool.raft.names import OffsetAndEpoch, ReplicaKey, VersionRange, Voter, VoterSet
from kraftool.repair.plan import PlannedVoter, SnapshotRecipe
from kraftool.reports.state.load import load_state
from kraftool.storage.snapshots import frame_of


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordsDigest:
    """How many records, and the SHA-256 of all, each behind its length in four bytes."""

    count: int
    sha256: str


def records_of(image: MetadataImage) -> Iterator[bytes]:
    """An image's records in the order and the versions of its own metadata.version."""
    for name, version, value in snapshot_records(image):
        yield encode_record(name, version, value)


def digest_of(records: Iterable[bytes]) -> RecordsDigest:
    count, found = 0, hashlib.sha256()
    for each in records:
        count += 1
        found.update(len(each).to_bytes(4, "big"))
        found.update(each)
    return RecordsDigest(count=count, sha256=found.hexdigest())


def snapshot_of(recipe: SnapshotRecipe, directory: str) -> Iterator[bytes]:
    """The bytes of the checkpoint that a plan asks for, in pieces, of a directory's state.

    Raises KraftoolError before the first piece where the directory has not the state that the plan
    was made for.
    """
    records = list(records_of(load_state(directory, at=recipe.state_offset).image))
    found = digest_of(records)
    if (found.count, found.sha256) != (recipe.records, recipe.records_sha256):
        raise KraftoolError(
            f"{directory}: the state at offset {recipe.state_offset} is not the one that the plan"
            f" was made for ({found.count} records, {recipe.records} planned)",
            hint="the directory changed since, or another kraftool made the plan: collect and plan"
            " again",
        )
    frame = frame_of(
        OffsetAndEpoch(recipe.offset, recipe.epoch),
        recipe.last_contained_log_timestamp_ms,
        recipe.kraft_version,
        voter_set_of(recipe.voters) if recipe.voters else None,
        recipe.timestamp_ms,
    )
    return encode_snapshot(records, frame)


def voter_set_of(planned: Iterable[PlannedVoter]) -> VoterSet:
    """A plan's voters as the protocol has them."""
    return VoterSet.of(
        *(
            Voter(
                key=ReplicaKey(each.id, each.directory_id or None),
                endpoints={one.listener: one.address for one in each.endpoints},
                kraft_version=VersionRange(each.min_kraft_version, each.max_kraft_version),
            )
            for each in planned
        )
    )
