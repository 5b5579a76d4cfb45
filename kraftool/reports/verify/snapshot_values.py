"""The values of the report of `verify-snapshot`.

Owns no reading and no judgement.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from kraftool.decoders.json_marks import Count, Ids, Moment, in_json
from kraftool.decoders.names import FileState
from kraftool.image.metadata_version import level_name
from kraftool.reports.findings.finding import Finding, in_order
from kraftool.reports.text.json_form import form
from kraftool.reports.text.json_forms import FindingCounts, finding_counts
from kraftool.reports.verify.snapshot_check import SnapshotControls
from kraftool.storage.entry import Entry


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifiedSnapshot:
    """One snapshot, and what was found in it."""

    file: str
    offset: int
    epoch: int
    state: FileState = FileState.LIVE
    is_bootstrap: bool = False
    """True if it is a bootstrap.checkpoint, which has no offset."""
    size: int = 0
    batches: int = 0
    records: int = 0
    """Metadata records, without control records."""
    controls: SnapshotControls = field(default_factory=SnapshotControls)
    metadata_version: int | None = None
    state_hash: str = ""
    """Empty where the state is not known, since the file is damaged."""
    compared_with: tuple[str, ...] = ()
    """Whose logs gave a state for this offset, equal or not."""
    scram_removals: frozenset[int] | None = None
    """The mechanisms of which the log up to here removes a credential; None where that is not
    known, since the snapshot was not compared with a log from its beginning."""
    findings: tuple[Finding, ...] = ()
    entry: Entry = field(repr=False, compare=False)
    broker_epochs: Mapping[int, int] = field(default_factory=dict, repr=False)
    next_producer_id: int = -1

    @property
    def is_state(self) -> bool:
        """True if Kafka would start from it: no bootstrap, no leftover."""
        return self.state is FileState.LIVE and not self.is_bootstrap and self.offset > 0

    def with_findings(self, *more: Finding) -> VerifiedSnapshot:
        return replace(self, findings=in_order((*self.findings, *more))) if more else self


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifiedSnapshotObject:
    """A snapshot, and what was found in it."""

    file: str
    offset: int | None
    """Everything below it is covered; null for a bootstrap.checkpoint."""
    epoch: int | None
    state: FileState
    """By the file's name; those that are not live are listed only."""
    size: int
    batches: Count
    records: Count
    """Metadata records, without control records."""
    last_contained_log_timestamp: Moment | None
    """From the header."""
    kraft_version: int
    voters: Ids | None
    """null where the snapshot has none."""
    metadata_version: int | None
    metadata_version_name: str
    """Empty where the level has no name."""
    state_hash: str | None
    """Equal for equal states, whatever the order of the records; null where the state is not
    known."""
    compared_with: tuple[str, ...]
    """The logs that gave a state for this offset, equal or not."""
    findings: tuple[Finding, ...]


@form
def verified_snapshot_object(snapshot: VerifiedSnapshot) -> VerifiedSnapshotObject:
    level, voters = snapshot.metadata_version, snapshot.controls.voters
    return VerifiedSnapshotObject(
        file=snapshot.file,
        offset=None if snapshot.is_bootstrap else snapshot.offset,
        epoch=None if snapshot.is_bootstrap else snapshot.epoch,
        state=snapshot.state,
        size=snapshot.size,
        batches=snapshot.batches,
        records=snapshot.records,
        last_contained_log_timestamp=snapshot.controls.timestamp,
        kraft_version=snapshot.controls.kraft_version,
        voters=tuple(one["voterId"] for one in voters["voters"]) if voters is not None else None,
        metadata_version=level,
        metadata_version_name=level_name(level) if level is not None else "",
        state_hash=snapshot.state_hash or None,
        compared_with=snapshot.compared_with,
        findings=snapshot.findings,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifiedDirectory:
    """The snapshots of a directory, or one file by itself."""

    path: str
    cluster_id: str | None = None
    """From meta.properties; None where that was not read."""
    is_live: bool = False
    """True if another process holds the directory's lock."""
    snapshots: tuple[VerifiedSnapshot, ...] = ()
    findings: tuple[Finding, ...] = ()
    """Those that are of no single snapshot."""

    @property
    def all_findings(self) -> tuple[Finding, ...]:
        return (*self.findings, *(one for snapshot in self.snapshots for one in snapshot.findings))


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotVerification:
    """The snapshots that were verified, and the findings. Offsets of findings in a snapshot are
    places in that file, or the snapshot's own."""

    verified: tuple[VerifiedDirectory, ...]
    """One for each directory and for each file that was named."""
    findings: tuple[Finding, ...] = ()
    """Those between the snapshots of several PATHs."""

    @property
    @in_json
    def finding_counts(self) -> FindingCounts:
        return finding_counts(self.all_findings)

    @property
    def rows(self) -> tuple[VerifiedSnapshot, ...]:
        return tuple(snapshot for one in self.verified for snapshot in one.snapshots)

    @property
    def all_findings(self) -> tuple[Finding, ...]:
        return (
            *self.findings,
            *(finding for one in self.verified for finding in one.all_findings),
        )
