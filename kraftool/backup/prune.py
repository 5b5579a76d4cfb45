"""Removal of old backups: the manifest first, so that an interrupted one leaves no half backup.

Owns that the newest backup that verifies is never removed, and no checkpoint that a backup needs.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime

from kraftool.backup.manifest import Manifest, UnreadBackup, read_all
from kraftool.backup.verify import Progress, findings_of, verify
from kraftool.decoders.errors import KraftoolError
from kraftool.reports.findings.finding import Finding
from kraftool.reports.findings.kinds import backup as kinds
from kraftool.storage.backup_files import MANIFEST, BackupFiles

DAY_MS = 86_400_000
_UNFINISHED_MS = DAY_MS
"""No backup takes so long to write."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Retention:
    """The rule of which backups stay: those that one of the two numbers covers."""

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
    """The backups that were removed, and those that stayed."""

    store: str
    is_dry_run: bool
    removed_backups: tuple[str, ...]
    """The oldest first."""
    kept_backups: tuple[str, ...]
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
        # Usually nobody who prunes has the identity. The bytes were compared.
        findings += (one for one in backup.findings if one.code != kinds.ENCRYPTED.code)
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
        _remove(
            files, removed, {manifest.checkpoint.path for manifest in kept} | _named(files, unread)
        )
        for one in old:
            for name in files.files_of(one.name):
                files.remove(f"{one.name}/{name}")
            files.remove_if_empty(one.name)
    return PruneReport(
        store=files.shown,
        is_dry_run=dry_run,
        removed_backups=tuple(manifest.name for manifest in removed),
        kept_backups=tuple(manifest.name for manifest in kept),
        newest_verified=verified,
        removed_unfinished=tuple(one.name for one in old),
        findings=tuple(findings),
    )


def _remove(files: BackupFiles, removed: Sequence[Manifest], needed: Collection[str]) -> None:
    for manifest in removed:
        files.remove(f"{manifest.name}/{MANIFEST}")
    for path in {manifest.checkpoint.path for manifest in removed} - set(needed):
        files.remove(path)
    for manifest in removed:
        for name in (manifest.name, manifest.checkpoint.path.partition("/")[0]):
            files.remove_if_empty(name)


def _named(files: BackupFiles, unread: Sequence[UnreadBackup]) -> set[str]:
    """The checkpoints that damaged manifests name: somebody may still repair these."""
    paths = set()
    for one in unread:
        with suppress(KraftoolError):
            paths.add(files.checkpoint_of(files.manifest(one.name), one.name))
    return paths


def _old(unread: Sequence[UnreadBackup], now_ms: int) -> Iterator[UnreadBackup]:
    """Those that nobody finishes any more."""
    for one in unread:
        with suppress(ValueError):  # the name of no time
            begun = datetime.strptime(one.name[:20], "%Y-%m-%dT%H-%M-%SZ").replace(tzinfo=UTC)
            if one.is_unfinished and now_ms - begun.timestamp() * 1000 > _UNFINISHED_MS:
                yield one
