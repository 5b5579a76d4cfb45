"""The document of `verify-snapshot -o json`."""

from __future__ import annotations

from dataclasses import dataclass

from kraftool.decoders.json_marks import Count, Ids, Moment
from kraftool.decoders.names import FileState
from kraftool.image.metadata_version import level_name
from kraftool.reports.findings.finding import Finding
from kraftool.reports.text.json_form import form
from kraftool.reports.text.json_forms import FindingCounts, finding_counts
from kraftool.reports.verify.snapshot_values import (
    SnapshotVerification,
    VerifiedDirectory,
    VerifiedSnapshot,
)


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
class VerifySnapshotDocument:
    """The snapshots that were verified, and the findings. Offsets of findings in a snapshot are
    places in that file, or the snapshot's own."""

    verified: tuple[VerifiedDirectory, ...]
    """One for each directory and for each file that was named."""
    findings: tuple[Finding, ...]
    """Those between the snapshots of several PATHs."""
    finding_counts: FindingCounts

    @property
    def rows(self) -> tuple[VerifiedSnapshot, ...]:
        """All snapshots."""
        return tuple(snapshot for one in self.verified for snapshot in one.snapshots)


def verify_snapshot_document(report: SnapshotVerification) -> VerifySnapshotDocument:
    return VerifySnapshotDocument(
        verified=report.directories,
        findings=report.findings,
        finding_counts=finding_counts(report.all_findings),
    )
