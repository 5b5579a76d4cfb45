"""The difference of two states for people: what is compared, then each kind with its changes.

Owns layout and colour. Of each kind so many changes are shown and all are counted, so that two
states that have little in common stay readable. What comes from data goes through `printable`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from rich.table import Table
from rich.text import Text

from kraftool.commands.finding_view import BAD, GOOD, KEY, NAME, QUIET, WARN, text, write_findings
from kraftool.commands.output import Output
from kraftool.image.state_hash import state_hash
from kraftool.reports.state.compare import TwoStates
from kraftool.reports.state.diff import KINDS, Change, ChangeType, identity
from kraftool.reports.state.diff_json import Counts
from kraftool.reports.state.load import LoadedState

_TITLES = {
    "feature": "Features",
    "zkMigration": "ZooKeeper migration",
    "broker": "Brokers",
    "controller": "Controllers",
    "topic": "Topics",
    "partition": "Partitions",
    "config": "Configs",
    "clientQuota": "Client quotas",
    "producerIds": "Producer ids",
    "acl": "ACLs",
    "scramCredential": "SCRAM credentials",
    "delegationToken": "Delegation tokens",
}
_SIGNS = {
    ChangeType.ADDED: ("+", GOOD),
    ChangeType.REMOVED: ("-", BAD),
    ChangeType.CHANGED: ("~", WARN),
}
_LONGEST, _SHORT = 400, 40


def write_diff(
    output: Output, both: TwoStates, changes: Iterable[Change], counts: Counts, limit: int
) -> None:
    """Write it all. Of each kind no more than `limit` changes are kept."""
    kept: dict[str, list[Change]] = {}
    listed: dict[str, int] = {}
    for change in changes:
        counts.add(change)
        if change.with_topic:
            continue
        listed[change.kind] = listed.get(change.kind, 0) + 1
        if not limit or listed[change.kind] <= limit:
            kept.setdefault(change.kind, []).append(change)
    _sides(output, both)
    for kind in KINDS:
        if kind in counts.by_kind:
            output.line()
            _kind(output, kind, kept.get(kind, []), counts, listed.get(kind, 0))
    write_findings(output, both.findings, "")
    output.line()
    output.rich(_verdict(both, counts))


def _sides(output: Output, both: TwoStates) -> None:
    table = Table.grid(padding=(0, 2))
    table.add_column(style=KEY, no_wrap=True)
    table.add_column(overflow="fold")
    for sign, state in (("-", both.old), ("+", both.new)):
        table.add_row(sign, text(state.path, NAME).append_text(_at(state)))
    output.rich(table)
    if both.note:
        output.rich(text(both.note, WARN))


def _at(state: LoadedState) -> Text:
    at = state.image.provenance
    told = Text(f"  at offset {at.offset}, epoch {at.last_epoch}")
    if state.open_transaction is not None:
        told.append(f", before the transaction that is open at {state.end_offset}", style=WARN)
    return told


def _kind(output: Output, kind: str, changes: list[Change], counts: Counts, listed: int) -> None:
    told = ", ".join(f"{count} {word}" for word, count in counts.by_kind[kind].items() if count)
    output.rich(Text(_TITLES[kind], style=NAME).append(f"  {told}", style=QUIET))
    table = Table.grid(padding=(0, 1))
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for change in changes:
        sign, style = _SIGNS[change.type]
        body = text(_name(change), style)
        for line in _details(change):
            short = change.type is not ChangeType.CHANGED and len(line) <= _SHORT
            body.append("  " if short else "\n").append_text(line)
        table.add_row(Text(sign, style=style), body)
    output.rich(table)
    with_topics = sum(counts.by_kind[kind].values()) - listed
    if with_topics:
        output.rich(Text(f"  {with_topics} of topics added or removed", style=QUIET))
    if listed > len(changes):
        left = listed - len(changes)
        output.rich(Text(f"… and {left} more; --limit 0 or -o jsonl has all", style=QUIET))


def _name(change: Change) -> str:
    """What an entity is called, in a line."""
    of = change.entity
    match change.kind:
        case "feature" | "topic":
            return str(of["name"])
        case "broker" | "controller" | "delegationToken":
            return f"{change.kind if change.kind != 'delegationToken' else 'token'} {of['id']}"
        case "partition":
            return f"{of['topic']}-{of['partition']}"
        case "config":
            return f"{of['resourceType']} {of['resourceName'] or 'default'}: {of['name']}"
        case "clientQuota":
            parts = (
                f"{part['type']} {'default' if part['name'] is None else part['name']}"
                for part in of["entity"]
            )
            return f"{', '.join(parts)}: {of['key']}"
        case "scramCredential":
            return f"{of['user']} {of['mechanism']}"
        case "acl":
            return f"ACL {of['id']}" if change.fields else _acl(of)
    return _TITLES[change.kind].lower()


def _acl(of: dict[str, Any]) -> str:
    return (
        f"{of['principal']} from {of['host']}: {of['permissionType']} {of['operation']} on"
        f" {of['resourceType']} {of['resourceName']} ({of['patternType']})"
    )


_QUIET_MEMBERS = frozenset(
    {"state", "masked", "topic", "topicId", "securityProtocolId", "salt", "storedKey", "serverKey"}
)


def _details(change: Change) -> Iterator[Text]:
    """Field by field where it changed; what it was or is in one line where it is on one side."""
    for each in change.fields:
        line = text(f"{each.field} ", KEY).append_text(text(_value(each.old)))
        yield line.append(" → ", style=QUIET).append_text(text(_value(each.new)))
    if change.type is ChangeType.CHANGED or change.kind == "acl":
        return
    known = identity(change.kind, change.entity)
    rest = {
        name: value
        for name, value in change.entity.items()
        if (name not in known or name == "id") and name not in _QUIET_MEMBERS
    }
    if change.kind in ("broker", "controller"):
        rest.pop("id")
        rest.pop("features")
    told = ", ".join(f"{name} {_value(value)}" for name, value in rest.items() if value is not None)
    if told:
        yield text(told if len(told) <= _LONGEST else f"{told[:_LONGEST]}…", QUIET)


def _value(value: object) -> str:
    """A value of a field, short."""
    match value:
        case None:
            return "null"
        case bool():
            return str(value).lower()
        case list() | tuple():
            return f"[{', '.join(_value(each) for each in value)}]"
        case {"name": name, "host": host, "port": port, "securityProtocol": protocol}:
            return f"{name} {host}:{port} {protocol}"
        case {"name": name, "min": least, "max": most}:
            return f"{name} {least} to {most}"
        case dict():
            return json.dumps(value)
    return str(value)


def _verdict(both: TwoStates, counts: Counts) -> Text:
    if counts.by_kind:
        total = sum(sum(of_kind.values()) for of_kind in counts.by_kind.values())
        return Text(f"{total} {'difference' if total == 1 else 'differences'}", style=BAD)
    told = Text("no difference", style=GOOD)
    old = state_hash(both.old.image)
    if old == state_hash(both.new.image):
        told.append(f"\nstate hash  {old}", style=QUIET)
    return told
