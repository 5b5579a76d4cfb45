"""Clusters for the tests of features: built from records, as a controller would write them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from kraftool.decoders.batch import encode_batch
from kraftool.decoders.framing import encode_record
from kraftool.image.metadata_version import (
    METADATA_VERSION,
    RELEASE_RANGES,
    register_broker_version,
)
from kraftool.reports.features.model import ClusterFeatures
from kraftool.reports.features.read import read_features
from tests.reports.voter_cases import LogBuilder, make_node, server

Written = tuple[str, int, dict[str, Any]]
STAMP = 1_700_000_000_000
INCARNATION = "AAAAAAAAAAAAAAAAAAAInc"
DIRECTORY = "RlGsKpAMTTKnsaRtAXfYRg"
OTHER_DIRECTORY = "SlGsKpAMTTKnsaRtAXfYRg"
FOO = "AAAAAAAAAAAAAAAAAAAFoo"


def level(name: str, value: int) -> Written:
    return "FeatureLevelRecord", 0, {"name": name, "featureLevel": value}


def _ranges(release: str, changes: Mapping[str, tuple[int, int]]) -> list[dict[str, Any]]:
    ranges = {**RELEASE_RANGES[release], **changes}
    return [
        {"name": name, "minSupportedVersion": low, "maxSupportedVersion": high}
        for name, (low, high) in sorted(ranges.items())
    ]


def broker(
    id: int,
    release: str = "4.3",
    *,
    at: int = 30,
    fenced: bool = False,
    directories: Sequence[str] = (DIRECTORY,),
    cordoned: Sequence[str] | None = None,
    **changes: tuple[int, int],
) -> Written:
    """A registration of a broker of some release, written at some metadata.version."""
    version = register_broker_version(at)
    value: dict[str, Any] = {
        "brokerId": id,
        "incarnationId": INCARNATION,
        "brokerEpoch": 10,
        "endPoints": [],
        "features": _ranges(release, _dotted(changes)),
        "rack": None,
        "fenced": fenced,
        "inControlledShutdown": False,
    }
    if version >= 2:
        value["isMigratingZkBroker"] = False
    if version >= 3:
        value["logDirs"] = list(directories)
    if version >= 4:
        value["cordonedLogDirs"] = None if cordoned is None else list(cordoned)
    return "RegisterBrokerRecord", version, value


def _dotted(changes: Mapping[str, tuple[int, int]]) -> dict[str, tuple[int, int]]:
    return {name.replace("_", "."): change for name, change in changes.items()}


def controller(id: int, release: str = "4.3", **changes: tuple[int, int]) -> Written:
    value = {
        "controllerId": id,
        "incarnationId": INCARNATION,
        "zkMigrationReady": False,
        "endPoints": [],
        "features": _ranges(release, _dotted(changes)),
    }
    return "RegisterControllerRecord", 0, value


class Log(LogBuilder):
    """A metadata log with records of any kind."""

    def data_records(self, *records: Written, epoch: int = 1, stamp: int = STAMP) -> Log:
        encoded = [(None, encode_record(name, version, value)) for name, version, value in records]
        self.data += encode_batch(encoded, base_offset=self.end, epoch=epoch, timestamp=stamp)
        self.end += len(records)
        return self


def node(path: Path, *records: Written, voters: str = "", id: int = 1) -> str:
    """A node with these records in its log; with static voters, the PATH is its properties file."""
    make_node(path / "data", id, Log().data_records(*records))
    if not voters:
        return str(path / "data")
    lines = {"controller_quorum_voters": voters, "controller_quorum_bootstrap_servers": ""}
    return str(server(path / "server.properties", id, log_dirs="data", **lines))


TOPIC: Written = ("TopicRecord", 0, {"name": "foo", "topicId": FOO})


def cluster_of(path: Path, *records: Written, voters: str = "") -> ClusterFeatures:
    return read_features([node(path, *records, voters=voters)])


def at(path: Path, metadata_version: int, *records: Written, voters: str = "") -> ClusterFeatures:
    return cluster_of(path, level(METADATA_VERSION, metadata_version), *records, voters=voters)


def partition(version: int = 2, **fields: object) -> Written:
    value = {
        "partitionId": 0, "topicId": FOO, "replicas": [1], "isr": [1], "removingReplicas": [],
        "addingReplicas": [], "leader": 1, "leaderRecoveryState": 0, "leaderEpoch": 0,
        "partitionEpoch": 0, "directories": [DIRECTORY],
    }  # fmt: skip
    if version == 2:
        value |= {"eligibleLeaderReplicas": None, "lastKnownElr": None}
    return "PartitionRecord", version, {**value, **fields}
