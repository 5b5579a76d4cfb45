"""The values of the report of `verify-snapshot`.

Owns no reading and no judgement.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from kraftool.decoders.names import FileState
from kraftool.reports.findings.finding import Finding, in_order
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
    """All PATHs."""

    directories: tuple[VerifiedDirectory, ...]
    findings: tuple[Finding, ...] = ()
    """Those between the PATHs."""

    @property
    def snapshots(self) -> tuple[VerifiedSnapshot, ...]:
        return tuple(snapshot for one in self.directories for snapshot in one.snapshots)

    @property
    def all_findings(self) -> tuple[Finding, ...]:
        return (
            *self.findings,
            *(finding for one in self.directories for finding in one.all_findings),
        )
