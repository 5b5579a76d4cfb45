"""`kraftool backup info`: one backup, by its manifest."""

from __future__ import annotations

from kraftool.commands.backup_options import BackupOrStore, opened
from kraftool.commands.options import (
    OutputOptions,
    PlainFormat,
    PlainOutput,
    TimeZone,
)
from kraftool.commands.output import printable


def info(
    *,
    backup: BackupOrStore,
    output: PlainOutput = PlainFormat.TABLE,
    tz: TimeZone = "UTC",
    printing: OutputOptions,
) -> None:
    """Show what a backup has, and what a restore will not bring back.

    Example: kraftool backup info /backup/prod

    If BACKUP is a STORE, kraftool shows its newest backup. Reads only the manifest, which is what
    -o json prints. Nothing is changed.
    """
    from kraftool.backup.manifest import newest
    from kraftool.commands.times import time_zone

    zone = time_zone(tz)
    to = printing.open()
    files, name = opened(backup)
    manifest = newest(files, name)
    if output is PlainFormat.JSON:
        to.document(manifest)
    else:
        from kraftool.commands.backup_view import left_out_words, summary

        to.line(printable(files.shown_path(manifest.name)))
        to.rich(*summary(manifest, zone))
        if words := left_out_words(manifest):
            to.line(words)
    to.finish()
