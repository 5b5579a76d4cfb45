"""A state for people: what it is the state of, what is finalized, what is not well, the nodes.

Owns layout and colour of the overview; tables of everything are `state_tables.py`. What comes from
data goes through `printable` into Text, which knows no markup.
"""

from __future__ import annotations

import os
from datetime import tzinfo

from rich.text import Text

from kraftool.commands.block_view import LabelledRows
from kraftool.commands.finding_view import (
    BAD,
    GOOD,
    KEY,
    NAME,
    QUIET,
    WARN,
    headline,
    text,
    write_findings,
)
from kraftool.commands.output import Output
from kraftool.commands.state_tables import TableOptions, write_section
from kraftool.commands.times import iso
from kraftool.image.features import zk_migration_name
from kraftool.image.image import MetadataImage
from kraftool.image.metadata_version import METADATA_VERSION, level_name
from kraftool.image.scram import MECHANISMS
from kraftool.image.state_hash import state_hash
from kraftool.reports.state.load import LoadedState
from kraftool.reports.state.summary import tally
from kraftool.reports.text.words import many, span


def write_overview(output: Output, state: LoadedState, zone: tzinfo, limit: int) -> None:
    """Write the overview: the summary, what was found, the nodes."""
    image = state.image
    # Without findings the files are whole, which does not say that the cluster is well.
    title = headline(state.path, state.findings) if state.findings else text(state.path, NAME)
    output.rich(title, unbroken=True)
    rows = LabelledRows()
    _source(rows, state, zone)
    _features(rows, image)
    _nodes(rows, image)
    _topics(rows, image)
    _rest(rows, image)
    output.rich(rows.table)
    output.rich(Text("state hash  ", style=KEY).append(state_hash(image), style=QUIET))
    write_findings(output, state.findings, state.path)
    options = TableOptions(limit=limit, zone=zone, brief=True)
    for name, there in (
        ("brokers", image.cluster.brokers),
        ("controllers", image.cluster.controllers),
    ):
        if there:
            output.line()
            write_section(output, state, name, options)


def _source(rows: LabelledRows, state: LoadedState, zone: tzinfo) -> None:
    at = state.image.provenance
    rows.add(
        "state",
        "at offset ",
        text(at.offset, NAME),
        f", epoch {at.last_epoch}, {iso(at.last_timestamp, zone)}"
        if at.last_offset >= 0
        else ", before the first record",
    )
    read = []
    if state.snapshot:
        name = os.path.basename(state.snapshot).removesuffix(".checkpoint")
        read.append(f"snapshot {name}")
    if state.end_offset > state.start_offset:
        read.append(f"log offsets {span(state.start_offset, state.end_offset - 1)}")
    rows.add("read", text(", ".join(read) or "nothing"), f": {many(state.records, 'record')}")
    opened = state.open_transaction
    if opened is not None:
        name = f" {opened.name!r}" if opened.name else ""
        words = f"open{name} since offset {opened.offset}; its {many(opened.records, 'record')}"
        rows.add("transaction", text(f"{words} are not shown", WARN))


def _features(rows: LabelledRows, image: MetadataImage) -> None:
    level = image.features.metadata_version
    if level is None:
        rows.add(METADATA_VERSION, Text("none", style=QUIET))
    else:
        release = level_name(level) or "of a newer Kafka"
        rows.add(METADATA_VERSION, text(level, NAME), f" ({release})")
    finalized = image.features.finalized
    if finalized:
        rows.add(
            "features", text(", ".join(f"{name} {finalized[name]}" for name in sorted(finalized)))
        )
    if image.features.zk_migration_state is not None:
        state = zk_migration_name(image.features.zk_migration_state)
        rows.add("ZooKeeper", f"migration state {state}")


def _nodes(rows: LabelledRows, image: MetadataImage) -> None:
    brokers = image.cluster.brokers.values()
    fenced = [broker.id for broker in brokers if broker.fenced]
    leaving = [
        broker.id for broker in brokers if broker.in_controlled_shutdown and not broker.fenced
    ]
    parts = [text(len(brokers), NAME)]
    for ids, word in ((fenced, "fenced"), (leaving, "shutting down")):
        if ids:
            shown = ", ".join(map(str, sorted(ids)[:20])) + (", …" if len(ids) > 20 else "")
            count = "all" if len(ids) == len(brokers) else len(ids)
            parts.append(Text(f", {count} {word}: {shown}", style=WARN))
    if brokers and not fenced and not leaving:
        parts.append(Text(", all unfenced", style=GOOD))
    rows.add("brokers", *parts)
    rows.add("controllers", text(len(image.cluster.controllers), NAME))


def _topics(rows: LabelledRows, image: MetadataImage) -> None:
    counts = tally(image)
    rows.add("topics", text(len(image.topics.by_id), NAME))
    worries = [(word, count) for word, count in counts.words() if count]
    parts = [text(counts.partitions, NAME)]
    for word, count in worries:
        parts.append(Text(f", {count} {word}", style=BAD if word == "offline" else WARN))
    if counts.partitions and not worries:
        parts.append(Text(", all in sync", style=GOOD))
    rows.add("partitions", *parts)


def _rest(rows: LabelledRows, image: MetadataImage) -> None:
    configs = image.configs.resources
    keys = sum(map(len, configs.values()))
    rows.add("configs", f"{keys} of {many(len(configs), 'resource')}" if keys else "none")
    quotas = image.client_quotas.entities
    values = sum(map(len, quotas.values()))
    rows.add("client quotas", f"{values} of {_entities(len(quotas))}" if values else "none")
    rows.add("ACLs", str(len(image.acls.by_id) or "none"))
    users = [
        f"{name} {many(len(image.scram.mechanisms[number]), 'user')}"
        for number, name in MECHANISMS.items()
        if image.scram.mechanisms.get(number)
    ]
    rows.add("SCRAM", ", ".join(users) or "none")
    rows.add("tokens", str(len(image.delegation_tokens.tokens) or "none"))
    following = image.producer_ids.next_producer_id
    rows.add("next producer id", str(following) if following >= 0 else "none given out yet")


def _entities(count: int) -> str:
    return "1 entity" if count == 1 else f"{count} entities"
