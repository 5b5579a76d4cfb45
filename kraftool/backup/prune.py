"""Which backups go, and how: the manifest first, so that what is interrupted leaves no half one.

Owns that the newest backup that verifies is never removed, and no checkpoint that a backup needs.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from kraftool.backup.manifest import Manifest, Unread, read_all
from kraftool.backup.verify import Progress, findings_of, verify
from kraftool.reports.findings.finding import Finding
from kraftool.storage.backup_files import MANIFEST, BackupFiles

DAY_MS = 86_400_000
_UNFINISHED_MS = DAY_MS
"""What has no manifest for so long is written by nobody any more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Retention:
    """Which backups to keep: those that one of the two covers."""

    newest: int | None
    """So many."""
    days: float | None
    """Those that are not older."""
    now_ms: int

    def keeps(self, manifest: Manifest, rank: int) -> bool:
        """True if a backup stays; `rank` is 0 for the newest one."""
        is_young = self.days is not None and self.now_ms - manifest.created <= self.days * DAY_MS
        return is_young or (self.newest is not None and rank < self.newest)


@dataclass(frozen=True, slots=True, kw_only=True)
class PruneReport:
    """Which backups went, and which stayed."""

    store: str
    is_dry_run: bool
    removed: tuple[str, ...]
    """The oldest first."""
    kept: tuple[str, ...]
    """The oldest first."""
    newest_verified: str | None
    """The newest backup that verifies, which always stays. null if none does; then all stay."""
    removed_unfinished: tuple[str, ...]
    """Folders of backups that were begun more than a day ago and not finished."""
    findings: tuple[Finding, ...]


def prune(
    files: BackupFiles, retention: Retention, progress: Progress, *, dry_run: bool
) -> PruneReport:
    """Remove the backups that need not be kept. If none verifies, nothing is removed."""
    manifests, unread = read_all(files)
    findings = [*findings_of(files, manifests, unread)]
    verified: str | None = None
    for number, manifest in enumerate(reversed(manifests)):
        progress(manifest.name, number, len(manifests))
        backup = verify(files, manifest)
        findings += backup.findings
        if backup.is_whole:
            verified = manifest.name
            break
    ranks = range(len(manifests) - 1, -1, -1)
    kept = [
        manifest
        for manifest, rank in zip(manifests, ranks, strict=True)
        if verified is None or manifest.name == verified or retention.keeps(manifest, rank)
    ]
    removed = [manifest for manifest in manifests if manifest not in kept]
    old = [] if verified is None else list(_old(unread, retention.now_ms))
    if not dry_run:
        needed = {manifest.checkpoint.path for manifest in kept}
        _remove(files, removed, needed)
        for one in old:
            for name in files.files_of(one.name):
                files.remove(f"{one.name}/{name}")
    return PruneReport(
        store=files.shown,
        is_dry_run=dry_run,
        removed=tuple(manifest.name for manifest in removed),
        kept=tuple(manifest.name for manifest in kept),
        newest_verified=verified,
        removed_unfinished=tuple(one.name for one in old),
        findings=tuple(findings),
    )


def _remove(files: BackupFiles, removed: Sequence[Manifest], needed: Collection[str]) -> None:
    for manifest in removed:
        files.remove(f"{manifest.name}/{MANIFEST}")
    for path in {manifest.checkpoint.path for manifest in removed} - set(needed):
        files.remove(path)


def _old(unread: Sequence[Unread], now_ms: int) -> Iterator[Unread]:
    """Those that nobody finishes any more."""
    for one in unread:
        begun = datetime.strptime(one.name[:20], "%Y-%m-%dT%H-%M-%SZ").replace(tzinfo=UTC)
        if one.is_unfinished and now_ms - begun.timestamp() * 1000 > _UNFINISHED_MS:
            yield one
