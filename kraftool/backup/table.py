"""The table of backups, for people."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import tzinfo

from kraftool.backup.manifest import Manifest
from kraftool.reports.text.blocks import Cell, Column, Phrase, TableBlock, TableRow
from kraftool.reports.text.times import iso
from kraftool.reports.text.words import size


def backup_table(manifests: Sequence[Manifest], zone: tzinfo) -> TableBlock:
    """A row for each backup, the newest first."""
    columns = (
        Column("Backup", is_whole=True),
        Column("Offset", is_right=True),
        Column("Epoch", is_right=True, from_width=90),
        Column("Last record", from_width=120),
        Column("Topics", is_right=True),
        Column("ACLs", is_right=True, from_width=70),
        Column("Secrets", from_width=80),
        Column("Checkpoint"),
    )
    rows = [TableRow(manifest.name, _cells(manifest, zone)) for manifest in reversed(manifests)]
    return TableBlock(title="", columns=columns, rows=rows)


def _cells(manifest: Manifest, zone: tzinfo) -> Sequence[Cell]:
    return (
        Phrase(manifest.name, "name"),
        Phrase(str(manifest.offset)),
        Phrase(str(manifest.epoch)),
        Phrase(iso(manifest.last_timestamp, zone)),
        Phrase(str(manifest.topics)),
        Phrase(str(manifest.acls)),
        Phrase(secret_words(manifest)),
        Phrase(checkpoint_words(manifest), "" if manifest.has_own_checkpoint else "quiet"),
    )


def secret_words(manifest: Manifest) -> str:
    """Return whether it has secrets, and who can read them."""
    if not manifest.has_secrets:
        return "left out"
    return "encrypted" if manifest.is_encrypted else "included"


def checkpoint_words(manifest: Manifest) -> str:
    """Return the size of a backup's checkpoint, or whose it is."""
    if manifest.has_own_checkpoint:
        return size(manifest.checkpoint.size)
    return f"as in {manifest.checkpoint.path.partition('/')[0]}"
