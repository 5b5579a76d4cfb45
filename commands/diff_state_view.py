"""The difference of two states for people: what is compared, then each kind with its changes.

Owns layout and colour. Of each kind so many changes are shown and all are counted, so that two
states that have little in common stay readable. What comes from data goes through `printable`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rich.table import Table
from rich.text import Text

from kraftool.commands.finding_view import (
    BAD,
    GOOD,
    KEY,
    NAME,
    QUIET,
    WARN,
    style_of,
    text,
    write_findings,
)
from kraftool.commands.output import Output
from kraftool.image.state_hash import state_hash
from kraftool.reports.findings.status import overall_status
from kraftool.reports.state.compare import TwoStates
from kraftool.reports.state.diff import KINDS, ChangeType, EntityChange
from kraftool.reports.state.diff_json import Counts
from kraftool.reports.state.diff_words import TITLES, change_name, value_text, what_it_was
from kraftool.reports.state.load import LoadedState
from kraftool.reports.text.times import iso
from kraftool.reports.text.words import many

_SIGNS = {
    ChangeType.ADDED: ("+", GOOD),
    ChangeType.REMOVED: ("-", BAD),
    ChangeType.CHANGED: ("~", WARN),
}
_LONGEST, _SHORT = 400, 40


def write_diff(
    output: Output, both: TwoStates, changes: Iterable[EntityChange], counts: Counts, limit: int
) -> None:
    """Write it all. Of each kind no more than `limit` changes are kept."""
    kept: dict[str, list[EntityChange]] = {}
    listed: dict[str, int] = {}
    for change in changes:
        counts.add(change)
        if change.with_topic:
            continue
        listed[change.entity_kind] = listed.get(change.entity_kind, 0) + 1
        if not limit or listed[change.entity_kind] <= limit:
            kept.setdefault(change.entity_kind, []).append(change)
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
    position = Text(f"  at offset {at.offset}, epoch {at.last_epoch}")
    if state.open_transaction is not None:
        position.append(f", before the transaction that is open at {state.end_offset}", style=WARN)
    return position


def _kind(
    output: Output, kind: str, changes: list[EntityChange], counts: Counts, listed: int
) -> None:
    tally = ", ".join(f"{count} {word}" for word, count in counts.by_kind[kind].items() if count)
    output.rich(Text(TITLES[kind], style=NAME).append(f"  {tally}", style=QUIET))
    table = Table.grid(padding=(0, 1))
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for change in changes:
        sign, style = _SIGNS[change.change_type]
        body = text(change_name(change), style)
        if change.last_offset is not None and change.last_timestamp is not None:
            when = iso(change.last_timestamp)
            body.append(f"  {when} at {change.last_offset}", style=QUIET)
        for line in _details(change):
            short = change.change_type is not ChangeType.CHANGED and len(line) <= _SHORT
            body.append("  " if short else "\n").append_text(line)
        table.add_row(Text(sign, style=style), body)
    output.rich(table)
    with_topics = sum(counts.by_kind[kind].values()) - listed
    if with_topics:
        output.rich(Text(f"  {with_topics} of topics added or removed", style=QUIET))
    if listed > len(changes):
        left = listed - len(changes)
        output.rich(Text(f"… and {left} more; --limit 0 or -o jsonl has all", style=QUIET))


def _details(change: EntityChange) -> Iterator[Text]:
    """Field by field where it changed; what it was or is in one line where it is on one side."""
    for field in change.fields:
        line = text(f"{field.field} ", KEY).append_text(text(value_text(field.old)))
        yield line.append(" → ", style=QUIET).append_text(text(value_text(field.new)))
    summary = what_it_was(change)
    if summary:
        yield text(summary if len(summary) <= _LONGEST else f"{summary[:_LONGEST]}…", QUIET)


def _verdict(both: TwoStates, counts: Counts) -> Text:
    if counts.by_kind:
        total = sum(sum(of_kind.values()) for of_kind in counts.by_kind.values())
        return Text(f"{total} {'difference' if total == 1 else 'differences'}", style=BAD)
    severities = [finding.severity for finding in both.findings]
    style = style_of(overall_status(severities, is_complete=not both.rest))
    conclusion = Text("no difference", style=style)
    if both.rest:
        rest = many(both.rest, "further offset")
        conclusion.append(f" up to offset {both.old.end_offset}; {rest} not compared")
    old = state_hash(both.old.image)
    if old == state_hash(both.new.image):
        conclusion.append(f"\nstate hash  {old}", style=QUIET)
    return conclusion
