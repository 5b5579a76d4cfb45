"""Backups compared with their manifests: the bytes, then the state.

Owns what makes a backup one that can be relied on. What an encrypted one holds is not known without
an identity: its bytes are compared, and a finding says that its state was not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from kraftool.backup.create import NotWholeError, digest_of
from kraftool.backup.manifest import (
    BackupCheckpoint,
    Manifest,
    UnreadBackup,
    read_all,
    read_manifest,
)
from kraftool.decoders.errors import KraftoolError
from kraftool.decoders.json_marks import in_json
from kraftool.reports.findings.finding import Finding, Severity, in_order
from kraftool.reports.findings.kinds import backup as kinds
from kraftool.reports.text.json_forms import FindingCounts, finding_counts
from kraftool.reports.verify.snapshot import verify_snapshots
from kraftool.storage.age import NoIdentityError
from kraftool.storage.backup_files import MANIFEST, BackupFiles
from kraftool.storage.paths import Location, backup_location

_Checkpoint = tuple[Sequence[Finding], set[str] | None]
"""What was found in a checkpoint, and the hashes of its state; None where that was not read."""
_Known = dict[BackupCheckpoint, _Checkpoint]
Progress = Callable[[str, int, int], None]
"""Is told what is verified, how many are done, and of how many."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifiedBackup:
    """A backup, and what was found in it."""

    name: str
    manifest: Manifest | None
    """null where it cannot be read."""
    findings: tuple[Finding, ...]

    @property
    @in_json
    def is_verified(self) -> bool:
        """True if its bytes are those that were written, and its state is that of the manifest. The
        state of an encrypted backup counts only if it could be decrypted."""
        return not any(map(_speaks_against, self.findings))

    @property
    def is_whole(self) -> bool:
        """True if nothing is wrong with it, as far as could be seen without its key."""
        return all(one.severity is not Severity.ERROR for one in self.findings)


@dataclass(frozen=True, slots=True, kw_only=True)
class BackupVerification:
    """Backups in one place, compared with their manifests."""

    store: str
    backups: tuple[VerifiedBackup, ...]
    """The oldest first."""
    findings: tuple[Finding, ...]
    """Of the place, and of folders that are no backup."""

    @property
    def all_findings(self) -> tuple[Finding, ...]:
        return (*(one for backup in self.backups for one in backup.findings), *self.findings)

    @property
    @in_json
    def finding_counts(self) -> FindingCounts:
        return finding_counts(self.all_findings)


def verify_one(files: BackupFiles, name: str) -> BackupVerification:
    """Verify one backup."""
    try:
        verified = verify(files, read_manifest(files, name))
    except KraftoolError as error:
        unread = UnreadBackup(name=name, is_unfinished=False, reason=error.message)
        verified = VerifiedBackup(
            name=name, manifest=None, findings=(unread_finding(files, unread),)
        )
    return BackupVerification(store=files.shown, backups=(verified,), findings=())


def verify_all(files: BackupFiles, progress: Progress) -> BackupVerification:
    """Verify every backup of a place."""
    manifests, unread = read_all(files)
    backups: list[VerifiedBackup] = []
    known: _Known = {}
    for number, manifest in enumerate(manifests):
        progress(manifest.name, number, len(manifests))
        backups.append(verify(files, manifest, known))
    return BackupVerification(
        store=files.shown,
        backups=tuple(backups),
        findings=findings_of(files, manifests, unread),
    )


def findings_of(
    files: BackupFiles, manifests: Sequence[Manifest], unread: Sequence[UnreadBackup]
) -> tuple[Finding, ...]:
    """Return the findings of a place as a whole, without a look at any checkpoint."""
    findings = [unread_finding(files, one) for one in unread]
    if not manifests:
        findings.append(kinds.NONE.at(files.shown, "no backup is there"))
    return in_order(findings)


def unread_finding(files: BackupFiles, unread: UnreadBackup) -> Finding:
    """A folder without a usable manifest, as a finding."""
    if unread.is_unfinished:
        return kinds.UNFINISHED.at(files.shown_path(unread.name), unread.reason)
    return kinds.MANIFEST.at(files.shown_path(f"{unread.name}/{MANIFEST}"), unread.reason)


def verify(files: BackupFiles, manifest: Manifest, known: _Known | None = None) -> VerifiedBackup:
    """Compare the bytes of a backup and its state with the manifest.

    `known`: the checkpoints that were looked at; several backups may have one checkpoint.
    """
    known = {} if known is None else known
    checkpoint = manifest.checkpoint
    if checkpoint not in known:
        known[checkpoint] = _looked_at(files, checkpoint)
    findings, hashes = [*known[checkpoint][0]], known[checkpoint][1]
    if hashes is not None and hashes != {manifest.state_hash}:
        state = kinds.STATE.at(
            backup_location(files, checkpoint.path).path,
            "its state is another one",
            field="state hash",
            expected=manifest.state_hash,
            found=", ".join(filter(None, hashes)) or "none",
        )
        findings.append(state)
    return VerifiedBackup(name=manifest.name, manifest=manifest, findings=in_order(findings))


def verified_checkpoint(files: BackupFiles, manifest: Manifest) -> Location:
    """The checkpoint of a backup that verifies. Raises NotWholeError for another one."""
    wrong = next(filter(_speaks_against, verify(files, manifest).findings), None)
    if wrong is not None:
        name = files.shown_path(manifest.name)
        raise NotWholeError(f"{name} cannot be restored: {wrong.sentence()}", hint=wrong.advice)
    return backup_location(files, manifest.checkpoint.path)


def _speaks_against(finding: Finding) -> bool:
    """True if a backup with this finding does not verify. A note says nothing against it."""
    return finding.severity is Severity.ERROR or finding.undecoded


def _looked_at(files: BackupFiles, checkpoint: BackupCheckpoint) -> _Checkpoint:
    findings = [*_of_bytes(files, checkpoint)]
    if findings:
        return findings, None
    where = files.shown_path(checkpoint.path)
    try:
        report = verify_snapshots([backup_location(files, checkpoint.path)])
    except NoIdentityError as error:
        reason = error.message.replace(where, "it", 1)
        return [kinds.ENCRYPTED.at(where, reason, advice=error.hint)], None
    except KraftoolError as error:
        return [kinds.CHECKPOINT.at(where, error.message, advice=error.hint or None)], None
    return report.all_findings, {snapshot.state_hash for snapshot in report.rows}


def _of_bytes(files: BackupFiles, checkpoint: BackupCheckpoint) -> Iterator[Finding]:
    path = checkpoint.path
    name = files.shown_path(path)
    if not files.has(path):
        yield kinds.CHECKPOINT.at(name, "it is missing")
        return
    try:
        sha256, size = digest_of(files, path)
    except KraftoolError as error:
        yield kinds.CHECKPOINT.at(name, error.message, advice=error.hint or None)
        return
    if size != checkpoint.size:
        expected, found = str(checkpoint.size), str(size)
        yield kinds.CHECKPOINT.at(name, "it has another size", expected=expected, found=found)
    elif sha256 != checkpoint.sha256:
        yield kinds.CHECKPOINT.at(
            name,
            "the bytes are not those that were written",
            field="SHA-256",
            expected=checkpoint.sha256,
            found=sha256,
        )
