"""The files that a plan may name.

Owns the fixed list of their kinds, under names that such a file can have, so that nothing outside
of a data directory can be meant.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from kraftool.decoders import checkpoint_files, quorum_state
from kraftool.decoders.names import (
    BOOTSTRAP_CHECKPOINT,
    META_PROPERTIES,
    METADATA_FOLDER,
    FileState,
    parse_checkpoint_name,
    parse_segment_name,
)
from kraftool.repair.document import DocumentError
from kraftool.reports.logs.file_names import misnamed

_OTHER_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._~+-]{0,199}\Z")


class PlanFileKind(StrEnum):
    """The files of a data directory that a plan may name."""

    META_PROPERTIES = "meta.properties"
    BOOTSTRAP = "bootstrap.checkpoint"
    SEGMENT = "segment"
    INDEX = "index"
    TIME_INDEX = "timeindex"
    TRANSACTION_INDEX = "txnindex"
    PRODUCER_STATE = "producer-state"
    SNAPSHOT = "snapshot"
    QUORUM_STATE = "quorum-state"
    LEADER_EPOCHS = "leader-epoch-checkpoint"
    PARTITION_METADATA = "partition.metadata"
    OTHER = "other"
    """Leftovers in the metadata partition's folder: `.deleted`, `.part`, `.cleaned`, misnamed ones.
    They can be read from and removed, never written."""


_FIXED = {
    PlanFileKind.META_PROPERTIES: META_PROPERTIES,
    PlanFileKind.BOOTSTRAP: BOOTSTRAP_CHECKPOINT,
    PlanFileKind.QUORUM_STATE: quorum_state.FILE_NAME,
    PlanFileKind.LEADER_EPOCHS: checkpoint_files.LEADER_EPOCH_CHECKPOINT,
    PlanFileKind.PARTITION_METADATA: checkpoint_files.PARTITION_METADATA,
}
_SUFFIX = {
    PlanFileKind.SEGMENT: ".log",
    PlanFileKind.INDEX: ".index",
    PlanFileKind.TIME_INDEX: ".timeindex",
    PlanFileKind.TRANSACTION_INDEX: ".txnindex",
    PlanFileKind.PRODUCER_STATE: ".snapshot",
}
_IN_DATA_DIRECTORY = frozenset({PlanFileKind.META_PROPERTIES, PlanFileKind.BOOTSTRAP})


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanFile:
    """A file, by its kind and its name in the folder where files of the kind are."""

    kind: PlanFileKind
    name: str

    def __post_init__(self) -> None:
        if not self._fits():
            raise DocumentError(f"{self.name[:200]!r} is not a name of a {self.kind.value}")

    def _fits(self) -> bool:
        if self.kind in _IN_DATA_DIRECTORY:
            return self.name == _FIXED[self.kind]
        return kind_of(self.name) is self.kind and (
            self.kind is not PlanFileKind.OTHER or _OTHER_NAME.match(self.name) is not None
        )

    @property
    def path(self) -> str:
        """Below the data directory."""
        if self.kind in _IN_DATA_DIRECTORY:
            return self.name
        return f"{METADATA_FOLDER}/{self.name}"


def kind_of(name: str) -> PlanFileKind:
    """The kind of a file by its name in the metadata partition's folder."""
    for kind, fixed in _FIXED.items():
        if name == fixed and kind not in _IN_DATA_DIRECTORY:
            return kind
    snapshot = parse_checkpoint_name(name)
    if snapshot is not None and snapshot.state is FileState.LIVE and snapshot.canonical:
        return PlanFileKind.SNAPSHOT
    segment = parse_segment_name(name)
    if segment is not None and segment.state is FileState.LIVE and segment.padded:
        return next(kind for kind, suffix in _SUFFIX.items() if suffix == segment.suffix)
    return PlanFileKind.OTHER


def is_acted_on(name: str) -> bool:
    """True if a start of Kafka takes a file in the metadata partition's folder, by its name, for a
    part of the log, or ends there. What it only mends or removes (indexes, `.deleted`, `.part`)
    does nothing, nor does any other name."""
    if misnamed(name) is not None:
        return True
    snapshot = parse_checkpoint_name(name)
    if snapshot is not None:
        return snapshot.state is FileState.LIVE
    segment = parse_segment_name(name)
    if segment is None:
        return False
    is_log = segment.state is FileState.LIVE and segment.suffix == ".log"
    return is_log or segment.state in (FileState.SWAP, FileState.CLEANED)


def target_of(name: str) -> PlanFile:
    """The target that a file in the metadata partition's folder is. Raises DocumentError for a name
    that no plan may have."""
    return PlanFile(kind=kind_of(name), name=name)
