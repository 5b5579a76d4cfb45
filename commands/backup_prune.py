"""`kraftool backup prune`: which backups to keep, by number and by age."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated

from typer import Option

from kraftool.commands.backup_options import Store
from kraftool.commands.exit_code import UsageError
from kraftool.commands.options import (
    OutputOptions,
    PlainFormat,
    PlainOutput,
)
from kraftool.commands.output import Output, printable

if TYPE_CHECKING:
    from kraftool.backup.prune import PruneReport


def prune(
    *,
    store: Store,
    keep: Annotated[
        int | None,
        Option("--keep", metavar="N", min=1, help="Keep the newest N backups."),
    ] = None,
    keep_days: Annotated[
        float | None,
        Option("--keep-days", metavar="DAYS", min=0, help="Keep backups that are not older."),
    ] = None,
    dry_run: Annotated[
        bool, Option("--dry-run", help="Report what would be removed. Change nothing.")
    ] = False,
    output: PlainOutput = PlainFormat.TABLE,
    printing: OutputOptions,
) -> None:
    """Remove old backups.

    \b
    Example: kraftool backup prune /backup/prod --keep 10 --keep-days 30
    Example: kraftool backup prune /backup/prod --keep 10 --dry-run

    A backup stays if --keep or --keep-days covers it. The newest backup that verifies always stays,
    and so does every checkpoint that a kept backup needs. If no backup verifies, kraftool removes
    nothing. Of an encrypted backup the bytes have to be those that were written; its state counts
    if KRAFTOOL_AGE_IDENTITY lets kraftool read it.

    Backups that were begun more than a day ago and not finished are removed, too. Exits 1 if a
    backup that kraftool verified is not as it was written.
    """
    if keep is None and keep_days is None:
        raise UsageError("nothing says what to keep", hint="name --keep, --keep-days or both")

    from kraftool.backup.prune import Retention
    from kraftool.backup.prune import prune as prune_backups
    from kraftool.commands.finding_options import set_exit_code
    from kraftool.storage.backup_files import BackupFiles

    to = printing.open()
    retention = Retention(newest=keep, days=keep_days, now_ms=int(time.time() * 1000))
    with to.task_progress("backups", unit="backups") as progress:
        report = prune_backups(BackupFiles(store), retention, progress, dry_run=dry_run)
    if output is PlainFormat.JSON:
        to.document(report)
    else:
        _write(to, report)
    set_exit_code(to, report.findings)
    to.finish()


def _write(to: Output, report: PruneReport) -> None:
    from kraftool.commands.finding_view import write_findings
    from kraftool.reports.text.words import many

    write_findings(to, report.findings, report.store)
    would = "would be removed" if report.is_dry_run else "removed"
    for name in report.removed_backups:
        to.line(f"{name}  {would}")
    for name in report.removed_unfinished:
        to.line(f"{name}  {would}: it was never finished")
    if report.newest_verified is None:
        to.line("No backup verifies: nothing is removed.")
        return
    to.line(printable(f"{many(len(report.removed_backups), 'backup')} {would},"
                      f" {len(report.kept_backups)} kept. The newest that verifies is"
                      f" {report.newest_verified}."))  # fmt: skip
