"""The records that an image is written back as are those of Kafka's own snapshot.

Aspect by aspect in Kafka's order, and equal as a multiset within each, since Kafka goes through
hash maps.
"""

from __future__ import annotations

from collections import Counter
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest

from kraftool.decoders.batch import RecordBatch
from kraftool.decoders.framing import decode_record, encode_record
from kraftool.decoders.names import parse_checkpoint_name
from kraftool.decoders.segment import scan
from kraftool.image.writer import snapshot_records
from kraftool.reports.state.load import load_state
from tests.support.places import FIXTURES

SNAPSHOTS = sorted(
    path
    for path in FIXTURES.glob("*/*/node-*/data*/__cluster_metadata-0/*.checkpoint")
    if path.parts[-6] != "damaged" and int(path.name[:20])
)
ASPECTS = {
    "FeatureLevelRecord": "features",
    "ZkMigrationStateRecord": "features",
    "RegisterBrokerRecord": "cluster",
    "RegisterControllerRecord": "cluster",
    "TopicRecord": "topics",
    "PartitionRecord": "topics",
    "ConfigRecord": "configs",
    "ClientQuotaRecord": "quotas",
    "ProducerIdsRecord": "producer ids",
    "AccessControlEntryRecord": "ACLs",
    "UserScramCredentialRecord": "SCRAM",
    "DelegationTokenRecord": "tokens",
}
Record = tuple[str, int, dict[str, Any]]


def of_kafka(path: Path) -> list[Record]:
    data = path.read_bytes()
    return [
        decode_record(record.value or b"")
        for batch in scan(lambda at, size: data[at : at + size])
        if isinstance(batch, RecordBatch) and not batch.is_control
        for record in batch.records()
    ]


def of_kraftool(path: Path) -> list[Record]:
    state = load_state(str(path))
    assert not state.findings, path
    # What is written and read again has the defaults of fields that are left out.
    return [
        decode_record(encode_record(*snapshot_record))
        for snapshot_record in snapshot_records(state.image)
    ]


def aspects(records: list[Record]) -> list[tuple[str, Counter[str]]]:
    """The runs of records of one aspect, in the order that they come in."""
    return [
        (aspect, Counter(plain(record) for record in run))
        for aspect, run in groupby(records, key=lambda record: ASPECTS[record[0]])
    ]


def plain(record: Record) -> str:
    """A record as text; lists that Kafka takes from a hash map are sorted."""
    name, version, value = record
    ordered = {
        key: sorted(field, key=repr)
        if key in ("endPoints", "features", "renewers", "entity")
        else field
        for key, field in value.items()
    }
    return f"{name} {version} {sorted(ordered.items())}"


def mended(path: Path, records: list[Record]) -> list[Record]:
    """Kafka's records without what old versions wrote and a state does not hold."""
    version = path.relative_to(FIXTURES).parts[0]
    kept = []
    for name, number, value in records:
        if version == "kafka-3.3.2" and name == "ProducerIdsRecord":
            # A controller of 3.3.2 keeps who asked for the last block; its brokers do not.
            assert (value["brokerId"] >= 0) == (int(path.parts[-4].removeprefix("node-")) < 10)
            value = {**value, "brokerId": -1, "brokerEpoch": -1}
        if name == "FeatureLevelRecord" and value["name"] == "kraft.version":
            assert (version, path.parts[-5]) == ("kafka-3.9.1", "upgrade"), path
            assert value["featureLevel"] == 1
            continue
        kept.append((name, number, value))
    return kept


@pytest.mark.parametrize(
    "path", SNAPSHOTS, ids=lambda path: "/".join((*path.relative_to(FIXTURES).parts[:3], path.name))
)
def test_the_records_of_an_image_are_those_of_kafkas_snapshot(path: Path) -> None:
    theirs, ours = of_kafka(path), of_kraftool(path)
    assert aspects(ours) == aspects(mended(path, theirs))
    assert ours[0][2]["name"] == theirs[0][2]["name"] == "metadata.version"


def test_the_fixtures_hold_every_aspect_but_tokens() -> None:
    seen = {ASPECTS[name] for path in SNAPSHOTS for name, _, _ in of_kafka(path)}
    assert seen >= set(ASPECTS.values()) - {"tokens"}
    assert len(SNAPSHOTS) > 100
    assert all(parse_checkpoint_name(path.name) for path in SNAPSHOTS)


def test_what_old_versions_wrote_besides_is_there() -> None:
    versions = {
        path.relative_to(FIXTURES).parts[0]
        for path in SNAPSHOTS
        if mended(path, of_kafka(path)) != of_kafka(path)
    }
    assert versions == {"kafka-3.3.2", "kafka-3.9.1"}
