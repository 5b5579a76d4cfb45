"""`kraftool backup verify`: backups compared with their manifests."""

from __future__ import annotations

from kraftool.commands.backup_options import BackupOrStore, opened
from kraftool.commands.options import (
    OutputOptions,
    PlainFormat,
    PlainOutput,
)


def verify(
    *,
    backup: BackupOrStore,
    output: PlainOutput = PlainFormat.TABLE,
    printing: OutputOptions,
) -> None:
    """Verify backups: read them back, and compare bytes and state with the manifest.

    \b
    Example: kraftool backup verify /backup/prod
    Example: kraftool backup verify /backup/prod/2026-12-01T00-00-00Z

    kraftool compares the bytes of the checkpoint with the manifest, checks every record as
    verify-snapshot does, and compares the hash of the state. If BACKUP is a STORE, kraftool
    verifies all backups in it.

    The state of an encrypted backup can be read only with KRAFTOOL_AGE_IDENTITY, which names the
    file of an age identity or of an ssh key. Without it kraftool compares the bytes only, and
    exits 3.

    Exits 1 if a backup is not as it was written, and 3 if one cannot be read. Nothing is changed.
    """
    from kraftool.backup.verify import verify_all, verify_one
    from kraftool.commands.finding_options import set_exit_code
    from kraftool.reports.logs.processes import quicken

    quicken()
    to = printing.open()
    files, name = opened(backup)
    if name:
        report = verify_one(files, name)
    else:
        with to.task_progress("backups", unit="backups") as progress:
            report = verify_all(files, progress)
    if output is PlainFormat.JSON:
        to.document(report)
    else:
        from kraftool.commands.finding_view import headline, verdict, write_findings
        from kraftool.reports.text.words import many

        for verified in reversed(report.backups):
            to.rich(headline(verified.name, verified.findings, fine="verified"), unbroken=True)
            write_findings(to, verified.findings, report.store)
        write_findings(to, report.findings, report.store)
        fine = "verified" if report.backups else "no backup to verify"
        checked = many(len(report.backups), "backup")
        has_any = bool(report.backups)
        to.rich(verdict(checked, report.all_findings, fine=fine, is_complete=has_any))
    set_exit_code(to, report.all_findings)
    to.finish()
