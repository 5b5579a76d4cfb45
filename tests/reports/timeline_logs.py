"""Logs and directories built for the tests of the timeline."""

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from kraftool.decoders import control
from kraftool.decoders.batch import encode_batch
from kraftool.decoders.control import ControlRecordType
from kraftool.decoders.framing import encode_record
from kraftool.reports.timeline.events import Event, Timeline
from kraftool.reports.timeline.report import TimelineOptions, build
from kraftool.reports.timeline.sources import open_nodes
from kraftool.storage.paths import open_path

START = 1_795_234_288_000
FIRST, SECOND = "3FTLKdJCRwqNMkl3-Vr8mQ", "zWj3b8mxReqS-bdjduyYUA"
TOPIC = "l4qsXSS7RFqO8OvE0g6xSw"
NOWHERE = "AAAAAAAAAAAAAAAAAAAAAA"


class Log:
    """A log in the making; every call appends one batch."""

    def __init__(self, start: int = 0) -> None:
        self.end, self.epoch, self.time = start, 1, START
        self.base, self.data = start, b""

    def records(self, *records: tuple[str, int, dict[str, Any]], after: int = 100) -> "Log":
        values: list[tuple[bytes | None, bytes]] = [
            (None, encode_record(*record)) for record in records
        ]
        return self._append(values, control=False, after=after)

    def leader(
        self, leader: int, epoch: int, after: int = 100, voters: Iterable[int] = (1, 2, 3)
    ) -> "Log":
        self.epoch = epoch
        message = {
            "version": 0,
            "leaderId": leader,
            "voters": [{"voterId": voter, "voterDirectoryId": NOWHERE} for voter in voters],
            "grantingVoters": [{"voterId": leader, "voterDirectoryId": NOWHERE}],
        }
        return self.control(ControlRecordType.LEADER_CHANGE, message, after)

    def control(self, kind: ControlRecordType, message: dict[str, Any], after: int = 100) -> "Log":
        pair = (control.encode_key(kind), control.encode_value(kind, message))
        return self._append([pair], control=True, after=after)

    def idle(self, count: int = 1) -> "Log":
        for _ in range(count):
            self.records(("NoOpRecord", 0, {}), after=500)
        return self

    def _append(
        self, pairs: list[tuple[bytes | None, bytes]], *, control: bool, after: int
    ) -> "Log":
        self.time += after
        self.data += encode_batch(
            pairs, base_offset=self.end, epoch=self.epoch, timestamp=self.time, control=control
        )
        self.end += len(pairs)
        return self

    def copy(self) -> "Log":
        other = Log()
        other.__dict__.update(self.__dict__)
        return other


def broker(id: int, incarnation: str, epoch: int, **other: Any) -> tuple[str, int, dict[str, Any]]:
    value = {
        "brokerId": id,
        "incarnationId": incarnation,
        "brokerEpoch": epoch,
        "endPoints": [{"name": "B", "host": "h", "port": 9092, "securityProtocol": 0}],
        "features": [],
        "rack": None,
        "fenced": True,
        **other,
    }
    return "RegisterBrokerRecord", 1, value


def change(id: int, epoch: int, version: int = 3, **fields: Any) -> tuple[str, int, dict[str, Any]]:
    value = {
        "brokerId": id,
        "brokerEpoch": epoch,
        "fenced": 0,
        "inControlledShutdown": 0,
        "logDirs": [],
        "cordonedLogDirs": None,
        **fields,
    }
    return "BrokerRegistrationChangeRecord", version, value


def feature(name: str, level: int) -> tuple[str, int, dict[str, Any]]:
    return "FeatureLevelRecord", 0, {"name": name, "featureLevel": level}


BEGIN = ("BeginTransactionRecord", 0, {"name": "Bootstrap records"})
END: tuple[str, int, dict[str, Any]] = ("EndTransactionRecord", 0, {})
ABORT = ("AbortTransactionRecord", 0, {"reason": "Controller failover"})

Node = Callable[..., Path]


def nodes_in(folder: Path) -> Node:
    """What makes a node's directory below a folder."""

    def make(id: int, *logs: Log, cluster: str = "c", epoch: int = -1) -> Path:
        partition = folder / f"node-{id}" / "__cluster_metadata-0"
        partition.mkdir(parents=True)
        for log in logs:
            (partition / f"{log.base:020}.log").write_bytes(log.data)
        (partition.parent / "meta.properties").write_text(
            f"version=1\ncluster.id={cluster}\nnode.id={id}\n"
        )
        if epoch >= 0:
            state = {
                "leaderId": -1,
                "leaderEpoch": epoch,
                "votedId": 2,
                "votedDirectoryId": NOWHERE,
                "data_version": 1,
            }
            (partition / "quorum-state").write_text(json.dumps(state))
        return partition.parent

    return make


def timeline(*paths: Path, **options: Any) -> Timeline:
    nodes, findings = open_nodes([open_path(str(path)) for path in paths], lambda name, at: None)
    return build(nodes, findings, TimelineOptions(**options))


def of_type(report: Timeline, *types: str) -> list[Event]:
    return [event for event in report.events if event.type in types]


def one(report: Timeline, type: str) -> Event:
    (event,) = of_type(report, type)
    return event


def codes(report: Timeline) -> set[str]:
    return {finding.code for finding in report.findings}
