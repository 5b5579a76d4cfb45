"""The backups of a place, by their manifests alone."""

from __future__ import annotations

from dataclasses import dataclass

from kraftool.backup.manifest import Manifest, read_all
from kraftool.backup.verify import findings_of
from kraftool.decoders.json_marks import in_json
from kraftool.reports.findings.finding import Finding
from kraftool.reports.text.json_forms import FindingCounts, finding_counts
from kraftool.storage.backup_files import BackupFiles


@dataclass(frozen=True, slots=True, kw_only=True)
class BackupList:
    """The backups in one place."""

    store: str
    backups: tuple[Manifest, ...]
    """The oldest first."""
    findings: tuple[Finding, ...]

    @property
    def rows(self) -> tuple[Manifest, ...]:
        """The rows of CSV."""
        return self.backups

    @property
    @in_json
    def finding_counts(self) -> FindingCounts:
        return finding_counts(self.findings)


def list_backups(place: str) -> BackupList:
    """List the backups of a folder or URL."""
    files = BackupFiles(place)
    manifests, unread = read_all(files)
    return BackupList(
        store=files.shown,
        backups=tuple(manifests),
        findings=findings_of(files, manifests, unread),
    )
