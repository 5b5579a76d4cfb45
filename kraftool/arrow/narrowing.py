"""The options that choose the rows of a source.

Owns the options' words and what they select: files by their owner, batches by their header, and
records by dump-log's own selection. Options narrow records and batches. Problems stay, unless
`kind` leaves them out, so that nobody hides damage by accident. It refuses Spark's own filter
pushdown, which returns wrong rows: see docs/observed.md.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

import orjson

from kraftool.arrow.columns import BATCHES, RECORDS, record_of
from kraftool.arrow.fleet import FleetDirectory
from kraftool.decoders.batch import RecordBatch
from kraftool.decoders.errors import KraftoolError
from kraftool.decoders.names import METADATA_TOPIC
from kraftool.reports.logs.dump import Selection, type_words
from kraftool.reports.logs.query import offset_range, record_types
from kraftool.reports.text.printable import file_text
from kraftool.reports.text.times import is_relative, read_time

FIRST_MS = -62_135_596_800_000
LAST_MS = 253_402_300_799_999
"""Of the years 1 to 9999, which is as far as Python and Spark agree on."""

CHOICES = {
    "type": "only records of these types, spelled as for dump-log --type",
    "kind": "only rows of these kinds: record, batch, problem, change",
    "cluster": "only directories of these cluster ids",
    "node": "only directories of these node ids",
    "directory": "only this directory, as the column shows it, or a JSON list of several",
    "offsets": "only offsets A..B, both included; A.., ..B and A are ranges too",
    "epoch": "only leader epochs A..B, both included; A.., ..B and A are ranges too",
    "since": "only records from this time on, as dump-log reads it",
    "until": "only records up to this time",
}
"""The options that choose rows."""

_Value = TypeVar("_Value")
_OF_FILES = frozenset({"cluster", "node", "directory"})
_OF_RECORDS = frozenset({"offsets", "epoch", "since", "until"})
_UNDERSTOOD = {
    RECORDS: frozenset(CHOICES),
    BATCHES: _OF_FILES | {"kind", "offsets", "epoch"},
}
_KINDS = {RECORDS: ("record", "problem", "change"), BATCHES: ("batch", "problem")}


@dataclass(frozen=True, slots=True, kw_only=True)
class Narrowing:
    """The selection that the options make; without any, everything. Travels to the workers."""

    clusters: frozenset[str] | None = None
    nodes: frozenset[int] | None = None
    directories: frozenset[str] | None = None
    kinds: frozenset[str] | None = None
    epochs: tuple[int | None, int | None] = (None, None)
    selection: Selection = field(default_factory=Selection)
    """Of records: types, offsets and times."""

    def wants_owner(self, owner: FleetDirectory) -> bool:
        """True if rows of a directory are wanted. One without an id matches no id."""
        return (
            (self.clusters is None or owner.cluster_id in self.clusters)
            and (self.nodes is None or owner.node_id in self.nodes)
            and (self.directories is None or file_text(owner.name) in self.directories)
        )

    def wants_kind(self, kind: str) -> bool:
        """True if rows of a kind are wanted."""
        return self.kinds is None or kind in self.kinds

    def may_hold(self, batch: RecordBatch, *, sound: bool) -> bool:
        """True if a batch can have records that are wanted, by its header.

        The last offset and the time in a header are believed only of a sound batch.
        """
        first, last = self.epochs
        epoch = batch.header.partition_leader_epoch
        if (first is not None and epoch < first) or (last is not None and epoch > last):
            return False
        return not sound or self.selection.may_hold(batch)


def narrowing_of(given: Mapping[str, str], source: str) -> Narrowing:
    """Read the options of a source. `given` has their names in lower case. Raises KraftoolError."""
    given = _as_choices(given)
    chosen = [name for name in CHOICES if name in given]
    own = _OF_FILES if record_of(source) is None else _OF_FILES | _OF_RECORDS
    understood = _UNDERSTOOD.get(source, own)
    for name in chosen:
        if name not in understood:
            known = ", ".join(choice for choice in CHOICES if choice in understood)
            raise KraftoolError(
                f"{source} has no option {name}", hint=f"its rows can be chosen by {known}"
            )
        if not given[name].strip():
            raise KraftoolError(f"the option {name} has no value", hint=CHOICES[name])
    first, last = offset_range(given.get("offsets", "").strip(), "offsets")
    since, until = _times(given)
    if since is not None and until is not None and until < since:
        raise KraftoolError("until is before since")
    return Narrowing(
        clusters=_several(given, "cluster", str),
        nodes=_several(given, "node", _node),
        directories=_directories(given),
        kinds=_kinds(given, source),
        epochs=offset_range(given.get("epoch", "").strip(), "epoch"),
        selection=Selection(
            types=_types(given, source),
            first_offset=first,
            last_offset=last,
            since=since,
            until=until,
        ),
    )


def _as_choices(given: Mapping[str, str]) -> dict[str, str]:
    """The options with those that have the names of Spark's Kafka source as our own."""
    first = _offset(given.get("startingoffsets", "earliest"), "startingOffsets")
    end = _offset(given.get("endingoffsets", "latest"), "endingOffsets")
    kafkas: dict[str, str] = {}
    if first is not None or end is not None:
        if end is not None and end <= (first or 0):
            raise KraftoolError("endingOffsets is no later than startingOffsets")
        last = "" if end is None else str(end - 1)
        kafkas["offsets"] = f"{'' if first is None else first}..{last}"
    for name, kafkas_name in (("since", "startingtimestamp"), ("until", "endingtimestamp")):
        if kafkas_name in given:
            kafkas[name] = given[kafkas_name]
    for name in kafkas:
        if name in given:
            raise KraftoolError(f"{name} and the option with its name in Spark are both given")
    return {**given, **kafkas}


def _offset(text: str, name: str) -> int | None:
    """An offset as Spark's Kafka source has it; None for the earliest and the latest."""
    text = text.strip()
    if text in ("earliest", "latest"):
        if name == "endingOffsets" and text == "earliest":
            raise KraftoolError("endingOffsets is latest or an offset, not earliest")
        return None
    if text.startswith("{"):
        try:
            number = str(orjson.loads(text)[METADATA_TOPIC]["0"])
        except (orjson.JSONDecodeError, KeyError, TypeError):
            number = "something else"
        text = {"-2": "earliest", "-1": "latest"}.get(number, number)
        if text in ("earliest", "latest"):
            return _offset(text, name)
    if not re.fullmatch(r"[0-9]{1,19}", text, re.ASCII):
        raise KraftoolError(
            f"{name} is earliest, latest or an offset, not {text}",
            hint=f'as JSON: {{"{METADATA_TOPIC}": {{"0": 1000}}}}',
        )
    return int(text)


def _several(
    given: Mapping[str, str], name: str, read: Callable[[str], _Value]
) -> frozenset[_Value] | None:
    if name not in given:
        return None
    return frozenset(read(part.strip()) for part in given[name].split(",") if part.strip())


def _node(text: str) -> int:
    if not re.fullmatch(r"[0-9]{1,10}", text, re.ASCII):
        raise KraftoolError(f"node {text!r} is not a node id", hint="use 1 or 1,2,3")
    return int(text)


def _directories(given: Mapping[str, str]) -> frozenset[str] | None:
    text = given.get("directory")
    if text is None:
        return None
    if not text.startswith("["):
        return frozenset({text})
    try:
        listed = orjson.loads(text)
    except orjson.JSONDecodeError:
        listed = None
    if not isinstance(listed, list) or not all(isinstance(name, str) for name in listed):
        raise KraftoolError("directory is not a JSON list of names", hint='["/data/1", "/data/2"]')
    return frozenset(listed)


def _kinds(given: Mapping[str, str], source: str) -> frozenset[str] | None:
    if source not in _KINDS:
        # A source of one record type has no rows of another kind.
        return None if record_of(source) is None else frozenset({"record"})
    kinds = _several(given, "kind", str)
    for kind in sorted(kinds or ()):
        if kind not in _KINDS[source]:
            raise KraftoolError(
                f"kind {kind!r} is not a kind of {source}", hint=f"use {', '.join(_KINDS[source])}"
            )
    return kinds


def _types(given: Mapping[str, str], source: str) -> frozenset[str]:
    record = record_of(source)
    if record is not None:
        return type_words(record)
    names = _several(given, "type", lambda text: record_types(text, "type"))
    return frozenset().union(*(names or ()))


def _times(given: Mapping[str, str]) -> tuple[int | None, int | None]:
    """The first time and the last one. The end by Spark's name is not included."""
    since = _time(given, "startingTimestamp" if "startingtimestamp" in given else "since")
    if "endingtimestamp" not in given:
        return since, _time(given, "until")
    end = _time(given, "endingTimestamp")
    return since, None if end is None else end - 1


def _time(given: Mapping[str, str], name: str) -> int | None:
    text = given.get(name.lower(), "").strip()
    if not text:
        return None
    if is_relative(text):
        raise KraftoolError(
            f"{name} {text!r} changes while a DataFrame is used again",
            hint="give a date or a time, for example 2026-11-21T06:00:00Z",
        )
    return read_time(text, name)
