"""The tables of a state, one for each section, and the partitions of single topics.

Owns which columns there are and how much of a large table is shown. Values come from the entities
that the JSON export has too, so that both say the same.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, tzinfo
from itertools import islice

from rich.text import Text

from kraftool.commands.block_view import plain_table
from kraftool.commands.exit_code import UsageError
from kraftool.commands.finding_view import BAD, GOOD, NAME, QUIET, WARN, text, write_findings
from kraftool.commands.output import Output
from kraftool.commands.times import iso
from kraftool.image.image import MetadataImage
from kraftool.image.topics import TopicImage
from kraftool.reports.state.entities import Object, aspects, partition_object
from kraftool.reports.state.load import LoadedState
from kraftool.reports.state.summary import MinIsr, PartitionCounts

_WIDE = 110
_SURE = 2.0**53
"""Below it every whole number has a double of its own."""

_FRACTION = re.compile(r"\.\d+")

Cells = Sequence[str | Text]


@dataclass(frozen=True, slots=True, kw_only=True)
class TableOptions:
    """The options of tables. `brief` leaves out the columns for which an overview has no room."""

    limit: int = 1000
    zone: tzinfo = UTC
    show_secrets: bool = False
    brief: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class _Shown:
    """A table before it is laid out."""

    title: str
    columns: Sequence[str]
    rows: Iterable[Cells]
    total: int
    right: Sequence[str] = ()
    unbroken: Sequence[str] = ()
    """Columns that are never wrapped: numbers and words that one reads as a whole."""


def write_sections(
    output: Output,
    state: LoadedState,
    sections: Sequence[str],
    topics: Sequence[str],
    options: TableOptions,
) -> None:
    """Write these tables, then the partitions of these topics, then what was found."""
    wanted = [_topic(state.image, name) for name in topics]
    if wanted:  # which say whose partitions are meant
        sections = [section for section in sections if section != "partitions"]
    for number, name in enumerate(sections):
        if number:
            output.line()
        write_section(output, state, name, options)
    for number, topic in enumerate(wanted):
        if sections or number:
            output.line()
        words = f"Partitions of {topic.name}, topic id {topic.id}"
        _write(output, _partitions(state.image, [topic], output, title=words), options)
    write_findings(output, state.findings, state.path)


def _topic(image: MetadataImage, name: str) -> TopicImage:
    topic = image.topics.by_name.get(name) or image.topics.by_id.get(name)
    if topic is None:
        raise UsageError(
            f"--topic {name!r}: there is no such topic in this state",
            hint="--section topics lists them; a topic's id is taken too",
        )
    return topic


def write_section(output: Output, state: LoadedState, name: str, options: TableOptions) -> None:
    """Write the table of a section."""
    _write(output, _SECTIONS[name](state.image, output, options), options)


def _write(output: Output, shown: _Shown, options: TableOptions) -> None:
    if not shown.total:
        output.rich(Text(f"{shown.title}: none", style=NAME))
        return
    table = plain_table(shown.title, *shown.columns, right=shown.right)
    for column in table.columns:
        column.no_wrap = str(column.header) in shown.unbroken
    rows = islice(shown.rows, options.limit) if options.limit else shown.rows
    for cells in rows:
        table.add_row(*(cell if isinstance(cell, Text) else text(cell) for cell in cells))
    output.rich(table)
    if options.limit and shown.total > options.limit:
        left = shown.total - options.limit
        output.rich(Text(f"… and {left} more; --limit 0 or -o jsonl has all", style=QUIET))


def _objects(image: MetadataImage, kind: str, *, show_secrets: bool = False) -> Iterator[Object]:
    aspect = next(aspect for aspect in aspects(image) if aspect.kind == kind)
    return aspect.objects(show_secrets=show_secrets)


def _count(image: MetadataImage, kind: str) -> int:
    return len(next(aspect for aspect in aspects(image) if aspect.kind == kind).items)


def _listeners(node: Object) -> Text:
    return Text("\n").join(text(_listener(listener)) for listener in node["listeners"])


def _listener(listener: Object) -> str:
    name, protocol = listener["listener"], listener["securityProtocol"]
    address = f"{name} {listener['host']}:{listener['port']}"
    return address if name == protocol else f"{address} {protocol}"


def _row(*cells: str | Text) -> Cells:
    return cells


def _lines(items: Iterable[object]) -> Text:
    return Text("\n").join(text(item) for item in items)


_STATES = {"fenced": WARN, "shutting down": WARN, "unfenced": GOOD}


def _brokers(image: MetadataImage, output: Output, options: TableOptions) -> _Shown:
    more = not options.brief
    wide = output.width >= _WIDE

    def rows() -> Iterator[Cells]:
        for broker in _objects(image, "broker"):
            state = broker["state"]
            if broker["isFenced"] and broker["isInControlledShutdown"]:
                state = "fenced, shut down"
            cells: list[str | Text] = [
                text(broker["id"], NAME),
                text(state, _STATES[broker["state"]]),
                str(broker["epoch"]),
                text(broker["rack"]) if broker["rack"] is not None else Text("-", style=QUIET),
                _listeners(broker),
            ]
            if more:
                cells.append(_lines(broker["directoryIds"]))
                cells += [broker["incarnationId"]] if wide else []
            yield cells

    columns = ["id", "state", "epoch", "rack", "listeners"]
    if more:
        columns += ["directories", *(["incarnation id"] if wide else [])]
    return _Shown(
        title="Brokers", columns=columns, rows=rows(), total=len(image.cluster.brokers),
        right=("id", "epoch"), unbroken=("id", "state", "epoch", "directories", "incarnation id"),
    )  # fmt: skip


def _controllers(image: MetadataImage, output: Output, options: TableOptions) -> _Shown:
    rows = (
        _row(
            text(controller["id"], NAME),
            controller["incarnationId"],
            _listeners(controller),
        )
        for controller in _objects(image, "controller")
    )
    return _Shown(
        title="Controllers", columns=("id", "incarnation id", "listeners"), rows=rows,
        total=len(image.cluster.controllers), right=("id",), unbroken=("id", "incarnation id"),
    )  # fmt: skip


def _features(image: MetadataImage, output: Output, options: TableOptions) -> _Shown:
    rows = (
        _row(feature["name"], str(feature["level"]), feature["release"] or "")
        for feature in _objects(image, "feature")
    )
    return _Shown(
        title="Features", columns=("feature", "level", "release"), rows=rows,
        total=_count(image, "feature"), right=("level",),
    )  # fmt: skip


def _topics(image: MetadataImage, output: Output, options: TableOptions) -> _Shown:
    least = MinIsr(image)

    def rows() -> Iterator[Cells]:
        by_id = image.topics.by_id
        for topic in sorted(by_id.values(), key=lambda topic: (topic.name, topic.id)):
            counts = PartitionCounts()
            partitions = list(topic.partitions.values())
            counts.add_all(topic.name, partitions, least)
            factors = {len(partition.replicas) for partition in partitions}
            worries = ", ".join(f"{count} {word}" for word, count in counts.words() if count)
            style = BAD if counts.offline else WARN
            yield [
                text(topic.name, NAME),
                topic.id,
                str(counts.partitions),
                "/".join(map(str, sorted(factors))),
                Text(worries, style=style) if worries else Text("in sync", style=GOOD),
            ]

    return _Shown(
        title="Topics", columns=("topic", "topic id", "partitions", "replicas", "state"),
        rows=rows(), total=len(image.topics.by_id), right=("partitions", "replicas"),
        unbroken=("topic id", "partitions", "replicas"),
    )  # fmt: skip


def _all_partitions(image: MetadataImage, output: Output, options: TableOptions) -> _Shown:
    topics = sorted(image.topics.by_id.values(), key=lambda topic: (topic.name, topic.id))
    return _partitions(image, topics, output, title="Partitions")


def _partitions(
    image: MetadataImage, topics: Sequence[TopicImage], output: Output, *, title: str
) -> _Shown:
    wide = output.width >= _WIDE
    least = MinIsr(image)

    def rows() -> Iterator[Cells]:
        for topic in topics:
            for number in sorted(topic.partitions):
                partition = topic.partitions[number]
                partition_fields = partition_object(number, partition)
                one = PartitionCounts()
                one.add(partition, least.of(topic.name, partition.leader))
                cells: list[str | Text] = [
                    text(f"{topic.name}-{number}", NAME),
                    Text("none", style=BAD) if one.offline else str(partition_fields["leaderId"]),
                    f"{partition_fields['leaderEpoch']}/{partition_fields['partitionEpoch']}",
                    _ids(partition_fields["replicaIds"]),
                    Text(_ids(partition_fields["isr"]), style=WARN if one.under_replicated else ""),
                    _remarks(partition_fields, one),
                ]
                yield cells + ([_lines(partition_fields["directoryIds"])] if wide else [])

    columns = ["partition", "leader", "epochs", "replicas", "isr"]
    return _Shown(
        title=title, columns=[*columns, "state", *(["directories"] if wide else [])], rows=rows(),
        total=sum(len(topic.partitions) for topic in topics),
        right=("leader",),
        unbroken=("leader", "epochs", "directories"),
    )  # fmt: skip


def _ids(ids: Iterable[int]) -> str:
    return ",".join(map(str, ids))


def _remarks(partition: Object, counts: PartitionCounts) -> Text:
    remarks = [word for word, count in counts.words() if count and word != "being reassigned"]
    remarks += [
        f"{word} {_ids(partition[name])}"
        for name, word in (
            ("elr", "ELR"),
            ("lastKnownElr", "last known ELR"),
            ("addingReplicaIds", "adding"),
            ("removingReplicaIds", "removing"),
        )
        if partition[name]
    ]
    if partition["leaderRecoveryState"] != "RECOVERED":
        remarks.append("leader recovering")
    if not remarks:
        return Text("in sync", style=GOOD)
    return text(", ".join(remarks), BAD if counts.offline else WARN)


def _resource_type(config: Object) -> str:
    named: str = config["resourceType"]
    return named if named != "UNKNOWN" else f"type {config['resourceTypeId']}"


def _configs(image: MetadataImage, output: Output, options: TableOptions) -> _Shown:
    rows = (
        _row(
            text(f"{_resource_type(config)} ").append_text(
                text(config["resourceName"])
                if config["resourceName"]
                else Text("default", style=QUIET)
            ),
            text(config["name"], NAME),
            text(config["value"], QUIET if config["isMasked"] else ""),
        )
        for config in _objects(image, "config", show_secrets=options.show_secrets)
    )
    return _Shown(
        title="Configs", columns=("resource", "config", "value"), rows=rows,
        total=_count(image, "config"),
    )  # fmt: skip


def _quotas(image: MetadataImage, output: Output, options: TableOptions) -> _Shown:
    rows = (
        _row(
            _lines(
                f"{part['type']} {'default' if part['name'] is None else part['name']}"
                for part in quota["entityParts"]
            ),
            text(quota["key"], NAME),
            _number(quota["quota"]),
        )
        for quota in _objects(image, "clientQuota")
    )
    return _Shown(
        title="Client quotas", columns=("entity", "quota", "value"), rows=rows,
        total=_count(image, "clientQuota"), right=("value",),
    )  # fmt: skip


def _number(value: float | str) -> str:
    whole = isinstance(value, float) and value.is_integer() and abs(value) < _SURE
    return str(int(value)) if whole else str(value)


def _acls(image: MetadataImage, output: Output, options: TableOptions) -> _Shown:
    wide = output.width >= _WIDE

    def rows() -> Iterator[Cells]:
        for acl in _objects(image, "acl"):
            prefixed = "*" if acl["patternType"] == "PREFIXED" else ""
            resource = text(f"{acl['resourceType']} ").append_text(
                text(acl["resourceName"] + prefixed, NAME)
            )
            if prefixed:
                resource.append(" (PREFIXED)", style=QUIET)
            yield [
                resource,
                text(acl["principal"]),
                text(acl["host"]),
                text(acl["permissionType"], BAD if acl["permissionType"] == "DENY" else ""),
                text(acl["operation"]),
                *([acl["aclId"]] if wide else []),
            ]

    columns = ["resource", "principal", "host", "permission", "operation"]
    return _Shown(
        title="ACLs", columns=[*columns, *(["id"] if wide else [])], rows=rows(),
        total=len(image.acls.by_id), unbroken=("permission", "id"),
    )  # fmt: skip


def _scram(image: MetadataImage, output: Output, options: TableOptions) -> _Shown:
    secret = ("salt", "storedKey", "serverKey") if options.show_secrets else ()
    rows = (
        _row(
            text(credential["user"], NAME),
            text(credential["mechanism"]),
            str(credential["iterationCount"]),
            *(text(credential[name]) for name in secret),
        )
        for credential in _objects(image, "scramCredential", show_secrets=options.show_secrets)
    )
    return _Shown(
        title="SCRAM credentials", columns=("user", "mechanism", "iterations", *secret), rows=rows,
        total=_count(image, "scramCredential"), right=("iterations",),
    )  # fmt: skip


def _tokens(image: MetadataImage, output: Output, options: TableOptions) -> _Shown:
    wide = output.width >= _WIDE

    def time(milliseconds: int) -> str:
        timestamp = iso(milliseconds, options.zone)
        return timestamp if wide else _FRACTION.sub("", timestamp)

    rows = (
        _row(
            text(token["tokenId"], NAME),
            text(token["owner"]),
            text(", ".join(token["renewers"])),
            *([time(token["issueTimestampMs"])] if wide else []),
            time(token["expirationTimestampMs"]),
        )
        for token in _objects(image, "delegationToken")
    )
    columns = ["id", "owner", "renewers", *(["issued"] if wide else []), "expires"]
    return _Shown(
        title="Delegation tokens", columns=columns, rows=rows,
        total=len(image.delegation_tokens.tokens), unbroken=("id", "issued", "expires"),
    )  # fmt: skip


_SECTIONS: dict[str, Callable[[MetadataImage, Output, TableOptions], _Shown]] = {
    "topics": _topics,
    "partitions": _all_partitions,
    "brokers": _brokers,
    "controllers": _controllers,
    "features": _features,
    "configs": _configs,
    "quotas": _quotas,
    "acls": _acls,
    "scram": _scram,
    "tokens": _tokens,
}
