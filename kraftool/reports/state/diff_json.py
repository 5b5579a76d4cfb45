"""The document of `diff-state -o json`, and the lines of `-o jsonl`.

Changes are written as they are found; what they sum up to comes last.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from kraftool.decoders.json_marks import Hidden, Moment, in_json
from kraftool.image.image import Provenance
from kraftool.image.state_hash import state_hash
from kraftool.reports.findings.finding import Finding
from kraftool.reports.state.compare import TwoStates
from kraftool.reports.state.diff import KINDS, ChangeType, EntityChange
from kraftool.reports.state.diff_words import change_name
from kraftool.reports.state.export import StateSource, state_source
from kraftool.reports.state.load import LoadedState
from kraftool.reports.text.json_document import json_line


class Counts:
    """The numbers of added, removed and changed entities of each kind."""

    def __init__(self) -> None:
        self.by_kind: dict[str, dict[ChangeType, int]] = {}

    def add(self, change: EntityChange) -> None:
        of_kind = self.by_kind.setdefault(change.entity_kind, dict.fromkeys(ChangeType, 0))
        of_kind[change.change_type] += 1

    def ordered(self) -> Mapping[str, Mapping[ChangeType, int]]:
        return {kind: self.by_kind[kind] for kind in KINDS if kind in self.by_kind}

    def counting(self, changes: Iterable[EntityChange]) -> Iterator[EntityChange]:
        """The same changes, counted as they pass."""
        for change in changes:
            self.add(change)
            yield change


@dataclass(frozen=True, slots=True, kw_only=True)
class DiffRow:
    """A row of CSV: a field that changed, or an entity that was added or removed."""

    entity_kind: str
    change_type: ChangeType
    name: str
    field: str | None
    old: Any
    new: Any
    last_offset: int | None
    last_timestamp: Moment | None


def diff_rows(change: EntityChange) -> Iterator[DiffRow]:
    """One row for each field, or one for all of an entity."""
    row = partial(
        DiffRow,
        entity_kind=change.entity_kind,
        change_type=change.change_type,
        name=change_name(change),
        last_offset=change.last_offset,
        last_timestamp=change.last_timestamp,
    )
    for field in change.fields:
        yield row(field=field.field, old=field.old, new=field.new)
    if not change.fields:
        is_new = change.change_type is ChangeType.ADDED
        old, new = (None, change.entity) if is_new else (change.entity, None)
        yield row(field=None, old=old, new=new)


@dataclass(frozen=True, slots=True, kw_only=True)
class StateSide:
    """One of the two states."""

    loaded_from: StateSource
    provenance: Provenance
    state_hash: str
    """Equal for equal states, whatever the order of the records."""


def _side(state: LoadedState) -> StateSide:
    return StateSide(
        loaded_from=state_source(state),
        provenance=state.image.provenance,
        state_hash=state_hash(state.image),
    )


@dataclass(frozen=True, kw_only=True)
class TwoStatesObject:
    """The two states that are compared."""

    old: StateSide
    new: StateSide
    note: str | None
    """At which offsets, where that was not said."""
    ignored: tuple[str, ...]
    """Fields that were left out."""


@dataclass(frozen=True, kw_only=True)
class DiffSummary:
    """The totals of the changes."""

    counted: Hidden[Counts]
    findings: tuple[Finding, ...]

    @property
    @in_json
    def counts(self) -> Mapping[str, Mapping[ChangeType, int]]:
        """By the kind of entity."""
        return self.counted.ordered()

    @property
    @in_json
    def is_same(self) -> bool:
        """True if nothing differs, except what was ignored."""
        return not self.counted.by_kind


@dataclass(frozen=True, kw_only=True)
class DiffStateDocument(TwoStatesObject, DiffSummary):
    """The differences between two states. Lines of -o jsonl are the two states, each change, and
    the summary."""

    changes: Iterator[EntityChange]

    @property
    def rows(self) -> Iterator[DiffRow]:
        return (row for change in self.changes for row in diff_rows(change))


def diff_state_document(
    both: TwoStates, changes: Iterable[EntityChange], ignored: Iterable[str], counts: Counts
) -> DiffStateDocument:
    return DiffStateDocument(
        **_head(both, ignored),
        changes=counts.counting(changes),
        findings=both.findings,
        counted=counts,
    )


def _head(both: TwoStates, ignored: Iterable[str]) -> dict[str, Any]:
    return {
        "old": _side(both.old),
        "new": _side(both.new),
        "note": both.note or None,
        "ignored": tuple(sorted(ignored)),
    }


def lines(
    both: TwoStates, changes: Iterable[EntityChange], ignored: Iterable[str], counts: Counts
) -> Iterator[bytes]:
    """One JSON object a line: the two states, each change, then what they sum up to."""
    yield json_line(TwoStatesObject(**_head(both, ignored)), kind="states") + b"\n"
    for change in counts.counting(changes):
        yield json_line(change, kind="change") + b"\n"
    yield json_line(DiffSummary(counted=counts, findings=both.findings), kind="summary") + b"\n"
