"""The differences between two states, as lines: some of each kind, all of them counted.

Owns the bound and the order. What differs is `reports/state/diff.py`, its words `diff_words.py`.
"""

from __future__ import annotations

from dataclasses import dataclass

from kraftool.reports.state.diff import KINDS, EntityChange, changes
from kraftool.reports.state.diff_json import Counts
from kraftool.reports.state.diff_words import TITLES, change_name, value_text, what_it_was
from kraftool.reports.state.load import LoadedState

_KEPT = 2000


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeRow:
    """One line of a difference: a heading, an entity, or a field of one."""

    depth: int
    sign: str = ""
    """`+` added, `-` removed, `~` changed; empty of headings and fields."""
    name: str
    text: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class StateComparison:
    """Two states, compared."""

    old_offset: int
    new_offset: int
    rows: tuple[ChangeRow, ...]
    kept: tuple[EntityChange, ...]
    counts: Counts

    @property
    def total(self) -> int:
        return sum(sum(by_type.values()) for by_type in self.counts.by_kind.values())


def difference(old: LoadedState, new: LoadedState) -> StateComparison:
    """Compare two states."""
    counts = Counts()
    kept: dict[str, list[EntityChange]] = {}
    for change in changes(old.image, new.image):
        counts.add(change)
        of_kind = kept.setdefault(change.entity_kind, [])
        if len(of_kind) < _KEPT:
            of_kind.append(change)
    rows: list[ChangeRow] = []
    for kind in KINDS:
        if kind in kept:
            rows += _of_kind(kind, kept[kind], counts)
    return StateComparison(
        old_offset=old.end_offset,
        new_offset=new.end_offset,
        rows=tuple(rows),
        kept=tuple(entity_change for kind in KINDS for entity_change in kept.get(kind, ())),
        counts=counts,
    )


_SIGNS = {"added": "+", "removed": "-", "changed": "~"}


def _of_kind(kind: str, entity_changes: list[EntityChange], counts: Counts) -> list[ChangeRow]:
    by_type = counts.by_kind[kind]
    text = ", ".join(f"{count} {word}" for word, count in by_type.items() if count)
    rows = [ChangeRow(depth=0, name=TITLES[kind], text=text)]
    for change in entity_changes:
        sign = _SIGNS[change.change_type.value]
        rows.append(
            ChangeRow(depth=1, sign=sign, name=change_name(change), text=what_it_was(change))
        )
        for field in change.fields:
            text = f"{value_text(field.old)} → {value_text(field.new)}"
            rows.append(ChangeRow(depth=2, name=field.field, text=text))
    left = sum(by_type.values()) - len(entity_changes)
    if left:
        rows.append(ChangeRow(depth=1, name=f"… and {left} more"))
    return rows
