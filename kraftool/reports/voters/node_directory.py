"""One data directory as one value: its files, who the node is, who voted when, and what was found.

Owns what is known of a directory once its files were read, for every report. What is not known is
None or empty. It refuses to read, and to find anything.
"""

from __future__ import annotations

from collections.abc import Iterator

from kraftool.decoders.dataclass import dataclass
from kraftool.decoders.kinds import FileKind
from kraftool.reports.files.file_report import FileReport
from kraftool.reports.files.metadata_summary import MetadataSummary
from kraftool.reports.findings.finding import Finding
from kraftool.reports.voters.history import NO_HISTORY, VoterHistory
from kraftool.reports.voters.model import QuorumSettings
from kraftool.storage.entry import EntryPlace, FolderCounts
from kraftool.storage.lock import Lock, LockState


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeDirectory:
    """One data directory, or a metadata partition by itself."""

    path: str
    files: tuple[FileReport, ...] = ()
    summary: MetadataSummary = MetadataSummary()
    history: VoterHistory = NO_HISTORY
    """Who voted when, by the control records of log and snapshots."""
    folders: FolderCounts = FolderCounts()
    lock: Lock = Lock(LockState.UNKNOWN)
    settings: QuorumSettings | None = None
    """Those of the properties file that was the PATH."""
    is_live: bool = False
    """True if a running node said this, which has no small files beside its log."""
    is_whole: bool = True
    """True if the data directory itself was read, and not only its partition."""
    is_unlisted: bool = False
    """True if the metadata partition exists, but its files could not be listed."""
    cut: frozenset[str] = frozenset()
    """The files that an archive ends inside of, which is told already."""
    planned: frozenset[str] = frozenset()
    """Checkpoints that a recovery plan made."""
    was_repaired: bool = False
    """True if the folder of a recovery plan is here."""
    findings: tuple[Finding, ...] = ()

    @property
    def is_running(self) -> bool:
        """True if another process holds the lock: the files then differ by when each was read."""
        return self.lock.state is LockState.HELD

    @property
    def was_used(self) -> bool:
        """True if a metadata partition is here that was used, not only formatted."""
        return self.summary.log is not None or any(
            snapshot.offset > 0 for snapshot in self.summary.snapshots
        )

    @property
    def has_partition(self) -> bool:
        return any(file.place is EntryPlace.PARTITION for file in self.files)

    def plays(self, role: str) -> bool | None:
        """True if the node has a role; None if no settings show it."""
        return role in self.settings.roles if self.settings and self.settings.roles else None

    def all_of(self, kind: FileKind) -> Iterator[FileReport]:
        """The files of a kind that Kafka uses."""
        return (file for file in self.files if file.kind is kind and file.is_live)

    def one(self, kind: FileKind) -> FileReport | None:
        return next(self.all_of(kind), None)
