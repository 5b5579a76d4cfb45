"""The shape of `state -o json` and `-o jsonl`, schemaVersion 1: docs/schemas/state.json has it.

Owns the document's members, and that it is written in pieces: a million partitions never become one
value. One entity stands on one line, and all are sorted, so that a line-by-line comparison of two
exports shows what changed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from typing import Any

import orjson

from kraftool.image.image import Provenance
from kraftool.image.state_hash import state_hash
from kraftool.reports.plain_json import camel, finding_counts, finding_object, plain
from kraftool.reports.state.entities import Aspect, Object, aspects, partition_object, partitions
from kraftool.reports.state.load import LoadedState
from kraftool.reports.state.summary import StateCounts, state_counts

SCHEMA_VERSION = 1
_ARRAYS = {
    "feature": "features",
    "broker": "brokers",
    "controller": "controllers",
    "topic": "topics",
    "config": "configs",
    "clientQuota": "clientQuotas",
    "acl": "acls",
    "scramCredential": "scramCredentials",
    "delegationToken": "delegationTokens",
}


def _line(value: Any) -> bytes:
    """A value that no name from the log can break: texts went through `plain`."""
    return orjson.dumps(value)


def provenance_object(provenance: Provenance) -> Object:
    """Up to where a state goes."""
    return {
        "offset": provenance.offset,
        "lastOffset": provenance.last_offset,
        "lastEpoch": provenance.last_epoch,
        "lastTimestamp": provenance.last_timestamp,
    }


def source_object(state: LoadedState) -> Object:
    """Where a state comes from."""
    opened = state.open_transaction
    return {
        "path": plain(state.path),
        "files": plain(state.files),
        "snapshot": plain(state.snapshot) or None,
        "complete": state.start_offset == 0 or bool(state.snapshot),
        "startOffset": state.start_offset,
        "endOffset": state.end_offset,
        "records": state.records,
        "openTransaction": opened
        and {"offset": opened.offset, "name": plain(opened.name), "records": opened.records},
    }


def head(state: LoadedState) -> Object:
    """What stands before the entities."""
    return {
        "schemaVersion": SCHEMA_VERSION,
        "provenance": provenance_object(state.image.provenance),
        "stateHash": state_hash(state.image),
        "counts": _counts(state_counts(state.image)),
        "zkMigrationState": state.image.features.zk_migration_state,
        "nextProducerId": next_producer_id(state),
    }


def next_producer_id(state: LoadedState) -> int | None:
    """None before the first block of producer ids was given out."""
    following = state.image.producer_ids.next_producer_id
    return following if following >= 0 else None


def _counts(counts: StateCounts) -> Object:
    return {camel(each.name): getattr(counts, each.name) for each in fields(counts)}


def document(state: LoadedState, *, show_secrets: bool) -> Iterator[bytes]:
    """The JSON document, in pieces."""
    opening = b"{"
    for name, value in head(state).items():
        yield b"%s\n  %s: %s" % (opening, _line(name), _line(value))
        opening = b","
    for aspect in aspects(state.image):
        if aspect.kind not in _ARRAYS:
            continue
        yield b",\n  %s: [" % _line(_ARRAYS[aspect.kind])
        before = b"\n    "
        for piece in _entries(aspect, show_secrets=show_secrets):
            yield before + piece if piece[:1] == b"{" else piece
            before = b",\n    "
        yield b"]" if before == b"\n    " else b"\n  ]"
    findings = [finding_object(each) for each in state.findings]
    yield b',\n  "findings": %s' % _line(findings)
    yield b',\n  "findingCounts": %s' % _line(finding_counts(state.findings))
    yield b',\n  "source": %s\n}\n' % _line(source_object(state))


def _entries(aspect: Aspect, *, show_secrets: bool) -> Iterator[bytes]:
    """The entities of an aspect; a topic takes its partitions along, one a line."""
    if aspect.kind != "topic":
        for value in aspect.objects(show_secrets=show_secrets):
            yield _line(value)
        return
    for key in aspect.ordered():
        topic = aspect.items[key]
        yield _line(aspect.make(key, topic, show_secrets))[:-1] + b',"partitions":['
        before = b"\n      "
        for number in sorted(topic.partitions):
            # A piece that does not begin an entry: it goes on with the topic's.
            yield before + _line(partition_object(number, topic.partitions[number]))
            before = b",\n      "
        yield b"]}" if not topic.partitions else b"\n    ]}"


def lines(state: LoadedState, *, show_secrets: bool) -> Iterator[bytes]:
    """One JSON object a line: the state, then each entity, then what was found."""
    yield _line({"kind": "state", **head(state), "source": source_object(state)}) + b"\n"
    for aspect in aspects(state.image):
        if aspect.kind not in _ARRAYS:
            continue
        for key in aspect.ordered():
            item = aspect.items[key]
            told = aspect.make(key, item, show_secrets)
            yield _line({"kind": aspect.kind, **told}) + b"\n"
            if aspect.kind == "topic":
                for each in partitions(item).objects(show_secrets=show_secrets):
                    yield _line({"kind": "partition", **each}) + b"\n"
    for finding in state.findings:
        yield _line({"kind": "finding", **finding_object(finding)}) + b"\n"
