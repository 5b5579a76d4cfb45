"""The document of `state -o json`, and the lines of `-o jsonl`.

Owns that it is written in pieces: a million partitions never become one value. One entity stands on
one line, and all are sorted, so that a line-by-line comparison of two exports shows what changed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from kraftool.decoders.json_marks import Count
from kraftool.image.image import Provenance
from kraftool.image.state_hash import state_hash
from kraftool.reports.findings.finding import Finding
from kraftool.reports.state.entities import Aspect, aspects, partition_object, partitions
from kraftool.reports.state.entity_objects import (
    AclEntity,
    BrokerEntity,
    ClientQuotaEntity,
    ConfigEntity,
    ControllerEntity,
    DelegationTokenEntity,
    FeatureEntity,
    ScramCredentialEntity,
    TopicWithPartitions,
)
from kraftool.reports.state.load import LoadedState
from kraftool.reports.state.summary import StateCounts, state_counts
from kraftool.reports.text.json_document import JsonLines, json_line, plain_line
from kraftool.reports.text.json_forms import FindingCounts, finding_counts


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenTransactionObject:
    """A transaction without an end: its records are not in the state."""

    offset: int
    name: str
    records: Count


@dataclass(frozen=True, slots=True, kw_only=True)
class StateSource:
    """The origin of a state."""

    path: str
    file_names: tuple[str, ...]
    """The files that were read, in order."""
    snapshot: str | None
    """The checkpoint that it begins with; null where the log is whole from 0."""
    is_complete: bool
    """False where the log begins later and no snapshot has what came before."""
    start_offset: int
    """The first offset replayed from the log."""
    end_offset: int
    """One beyond the last record replayed, an open transaction's included."""
    records: Count
    """Metadata records that were replayed."""
    open_transaction: OpenTransactionObject | None


def state_source(state: LoadedState) -> StateSource:
    opened = state.open_transaction
    return StateSource(
        path=state.path,
        file_names=tuple(state.files),
        snapshot=state.snapshot or None,
        is_complete=state.start_offset == 0 or bool(state.snapshot),
        start_offset=state.start_offset,
        end_offset=state.end_offset,
        records=state.records,
        open_transaction=None
        if opened is None
        else OpenTransactionObject(offset=opened.offset, name=opened.name, records=opened.records),
    )


def next_producer_id(state: LoadedState) -> int | None:
    """None before the first block of producer ids was given out."""
    following = state.image.producer_ids.next_producer_id
    return following if following >= 0 else None


@dataclass(frozen=True, slots=True, kw_only=True)
class StateHead:
    """A state as a whole."""

    provenance: Provenance
    state_hash: str
    """Equal for equal states, whatever the order of the records."""
    counts: StateCounts
    zk_migration_state: int | None
    next_producer_id: int | None
    """null before the first block of producer ids was given out."""
    loaded_from: StateSource


@dataclass(frozen=True, slots=True, kw_only=True)
class StateDocument(StateHead):
    """A state, one entity a line, sorted. A line of -o jsonl is one entity with its kind."""

    features: JsonLines[FeatureEntity]
    brokers: JsonLines[BrokerEntity]
    controllers: JsonLines[ControllerEntity]
    topics: JsonLines[TopicWithPartitions]
    configs: JsonLines[ConfigEntity]
    client_quotas: JsonLines[ClientQuotaEntity]
    acls: JsonLines[AclEntity]
    scram_credentials: JsonLines[ScramCredentialEntity]
    delegation_tokens: JsonLines[DelegationTokenEntity]
    findings: tuple[Finding, ...]
    finding_counts: FindingCounts


_ARRAYS = {
    "feature": "features",
    "broker": "brokers",
    "controller": "controllers",
    "topic": "topics",
    "config": "configs",
    "clientQuota": "client_quotas",
    "acl": "acls",
    "scramCredential": "scram_credentials",
    "delegationToken": "delegation_tokens",
}


def state_head(state: LoadedState) -> StateHead:
    return StateHead(**_head(state))


def _head(state: LoadedState) -> dict[str, Any]:
    return {
        "provenance": state.image.provenance,
        "state_hash": state_hash(state.image),
        "counts": state_counts(state.image),
        "zk_migration_state": state.image.features.zk_migration_state,
        "next_producer_id": next_producer_id(state),
        "loaded_from": state_source(state),
    }


def state_document(state: LoadedState, *, show_secrets: bool) -> StateDocument:
    lists: dict[str, Any] = {
        _ARRAYS[aspect.kind]: JsonLines[Any](_entries(aspect, show_secrets=show_secrets))
        for aspect in aspects(state.image)
        if aspect.kind in _ARRAYS
    }
    return StateDocument(
        **_head(state),
        **lists,
        findings=state.findings,
        finding_counts=finding_counts(state.findings),
    )


def _entries(aspect: Aspect, *, show_secrets: bool) -> Iterator[bytes]:
    """The entities of an aspect; a topic takes its partitions along, one a line."""
    if aspect.kind != "topic":
        for value in aspect.objects(show_secrets=show_secrets):
            yield plain_line(value)
        return
    for key in aspect.ordered():
        topic = aspect.items[key]
        yield plain_line(aspect.make(key, topic, show_secrets))[:-1] + b',"partitions":['
        before = b"\n      "
        for number in sorted(topic.partitions):
            yield before + plain_line(partition_object(number, topic.partitions[number]))
            before = b",\n      "
        yield b"\n    ]}" if topic.partitions else b"]}"


def lines(state: LoadedState, *, show_secrets: bool) -> Iterator[bytes]:
    """One JSON object a line: the state, then each entity, then what was found."""
    yield json_line(state_head(state), kind="state") + b"\n"
    for aspect in aspects(state.image):
        if aspect.kind not in _ARRAYS:
            continue
        for key in aspect.ordered():
            item = aspect.items[key]
            made = aspect.make(key, item, show_secrets)
            yield plain_line(made, kind=aspect.kind) + b"\n"
            if aspect.kind == "topic":
                for partition in partitions(item).objects(show_secrets=show_secrets):
                    yield plain_line(partition, kind="partition") + b"\n"
    for finding in state.findings:
        yield json_line(finding, kind="finding") + b"\n"
