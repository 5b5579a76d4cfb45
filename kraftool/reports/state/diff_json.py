"""The shape of `diff-state -o json` and `-o jsonl`, schemaVersion 1: docs/schemas/diff-state.json.

Owns the document's members. Changes are written as they are found; what they sum up to comes last.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import orjson

from kraftool.image.state_hash import state_hash
from kraftool.reports.plain_json import finding_object, plain
from kraftool.reports.state.compare import TwoStates
from kraftool.reports.state.diff import KINDS, ChangeType, EntityChange
from kraftool.reports.state.entities import Object
from kraftool.reports.state.export import provenance_object, source_object
from kraftool.reports.state.load import LoadedState

SCHEMA_VERSION = 1


class Counts:
    """How much was added, removed and changed of each kind."""

    def __init__(self) -> None:
        self.by_kind: dict[str, dict[str, int]] = {}

    def add(self, change: EntityChange) -> None:
        of_kind = self.by_kind.setdefault(change.kind, {each.value: 0 for each in ChangeType})
        of_kind[change.type.value] += 1

    def ordered(self) -> Mapping[str, Mapping[str, int]]:
        return {kind: self.by_kind[kind] for kind in KINDS if kind in self.by_kind}


def head(both: TwoStates, ignored: Iterable[str]) -> Object:
    """What stands before the changes."""
    return {
        "schemaVersion": SCHEMA_VERSION,
        "old": _side(both.old),
        "new": _side(both.new),
        "note": plain(both.note) or None,
        "ignored": sorted(ignored),
    }


def _side(state: LoadedState) -> Object:
    return {
        "source": source_object(state),
        "provenance": provenance_object(state.image.provenance),
        "stateHash": state_hash(state.image),
    }


def change_object(change: EntityChange) -> Object:
    """A change: what one added or removed was, or the fields of one changed."""
    return {
        "kind": change.kind,
        "change": change.type.value,
        "entity": change.entity,
        "fields": [
            {"field": each.field, "old": each.old, "new": each.new} for each in change.fields
        ],
    }


def document(
    both: TwoStates, changes: Iterable[EntityChange], ignored: Iterable[str], counts: Counts
) -> Iterator[bytes]:
    """The JSON document, in pieces."""
    opening = b"{"
    for name, value in head(both, ignored).items():
        yield b"%s\n  %s: %s" % (opening, _line(name), _line(value))
        opening = b","
    yield b',\n  "changes": ['
    before = b"\n    "
    for change in changes:
        counts.add(change)
        yield before + _line(change_object(change))
        before = b",\n    "
    yield b"]" if before == b"\n    " else b"\n  ]"
    yield b',\n  "counts": %s' % _line(counts.ordered())
    yield b',\n  "same": %s' % _line(not counts.by_kind)
    yield b',\n  "findings": %s\n}\n' % _line(_findings(both))


def lines(
    both: TwoStates, changes: Iterable[EntityChange], ignored: Iterable[str], counts: Counts
) -> Iterator[bytes]:
    """One JSON object a line: the two states, each change, then what they sum up to."""
    yield _line({"kind": "states", **head(both, ignored)}) + b"\n"
    for change in changes:
        counts.add(change)
        told = change_object(change)
        yield _line({"kind": "change", "of": told.pop("kind"), **told}) + b"\n"
    summary = {"counts": counts.ordered(), "same": not counts.by_kind}
    yield _line({"kind": "summary", **summary, "findings": _findings(both)}) + b"\n"


def _findings(both: TwoStates) -> list[Object]:
    return [finding_object(each) for each in both.findings]


def _line(value: Any) -> bytes:
    return orjson.dumps(value)
