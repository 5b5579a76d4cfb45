"""A backup for people: what it is of, and what a restore of it will not bring back."""

from __future__ import annotations

from datetime import UTC, tzinfo

from rich.table import Table
from rich.text import Text

from kraftool.backup.manifest import Manifest
from kraftool.backup.table import checkpoint_words, secret_words
from kraftool.commands.block_view import LabelledRows
from kraftool.commands.finding_view import KEY, QUIET
from kraftool.commands.output import printable
from kraftool.commands.times import iso
from kraftool.image.metadata_version import level_name
from kraftool.reports.text.words import listed, many

_MOST_CONFIGS = 5


def summary(manifest: Manifest, zone: tzinfo = UTC) -> tuple[Table, Text]:
    """The facts of a manifest."""
    rows, level = LabelledRows(), manifest.metadata_version
    committed = ", all committed" if manifest.is_committed else ""
    rows.add("state", f"offset {manifest.offset}, epoch {manifest.epoch}{committed}")
    rows.add("last record", iso(manifest.last_timestamp, zone))
    rows.add("cluster", printable(manifest.cluster_id or "not known"))
    rows.add("read from", printable(f"{manifest.source}, by {manifest.host}"))
    named = level_name(level)
    name = f"{named} ({level})" if named else str(level)
    rows.add("levels", f"metadata.version {name}, kraft.version {manifest.kraft_version}")
    rows.add(
        "voters",
        printable(", ".join(map(str, manifest.voter_keys)) or "in the settings of the nodes"),
    )
    counts = (
        many(manifest.topics, "topic"),
        many(manifest.partitions, "partition"),
        many(manifest.configs, "config"),
        many(manifest.acls, "ACL"),
        many(manifest.client_quotas, "quota"),
        many(manifest.scram_credentials, "SCRAM credential"),
        many(manifest.delegation_tokens, "delegation token"),
    )
    rows.add("metadata", ", ".join(counts))
    rows.add("secrets", secret_words(manifest))
    rows.add("checkpoint", checkpoint_words(manifest))
    hash_line = Text("state hash  ", style=KEY).append(manifest.state_hash, style=QUIET)
    return rows.table, hash_line


def left_out_words(manifest: Manifest) -> str:
    """Return what a restore will not bring back, in a sentence; empty if everything is there."""
    if manifest.has_secrets:
        return ""
    shown = manifest.left_out_configs[:_MOST_CONFIGS]
    more = len(manifest.left_out_configs) - len(shown)
    configs = listed([*shown, *([f"{more} more"] if more else [])])
    credentials = manifest.left_out_scram_credentials
    parts = [many(credentials, "SCRAM credential")] if credentials else []
    parts += [f"the values of {configs}"] if shown else []
    if not parts:
        return "There were no secrets to leave out."
    return printable(f"A restore will not bring back {listed(parts)}: they were left out.")
