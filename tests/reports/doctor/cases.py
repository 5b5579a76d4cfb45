"""Directories to be ill in one way: built from records, or copied from real ones."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from kraftool.decoders.batch import encode_batch
from kraftool.decoders.framing import encode_record
from kraftool.decoders.names import write_checkpoint_name
from kraftool.reports.doctor.model import Diagnosis
from kraftool.reports.doctor.read import examine, locations_of
from kraftool.reports.doctor.report import DoctorReport, diagnose
from kraftool.reports.findings.finding import Severity
from kraftool.reports.findings.mutes import FindingFilter
from tests.reports.state_logs import config
from tests.reports.voter_cases import (
    FOOTER,
    HEADER,
    Control,
    LogBuilder,
    directory_of,
    leader,
    make_node,
    version,
    voter,
    voters,
)
from tests.support.placeholders import assert_pasteable
from tests.support.places import PARTITION

Record = tuple[str, int, dict[str, Any]]
STAMP = 1_700_000_000_000
HOUR = 3_600_000
FOO = "AAAAAAAAAAAAAAAAAAFooA"


class Log(LogBuilder):
    """A metadata log, with data records."""

    def data_batch(self, *records: Record, epoch: int = 1, stamp: int = STAMP) -> Log:
        self.data += encode_batch(
            [(None, encode_record(*record)) for record in records],
            base_offset=self.end,
            epoch=epoch,
            timestamp=stamp,
        )
        self.end += len(records)
        return self

    def copied(self) -> Log:
        other = Log()
        other.data, other.end = self.data, self.end
        return other


def at(id: int, host: str, port: int = 9090, **changes: Any) -> dict[str, Any]:
    """A voter at a host."""
    entry = voter(id, port=port, **changes)
    entry["endpoints"][0]["host"] = host
    return entry


def hosts(*ids: int) -> Control:
    """Voters on machines of their own."""
    return voters(*(at(id, f"c{id}.example") for id in ids))


def begun(*ids: int, stamp: int = STAMP) -> Log:
    """The first batch of a dynamic quorum's first leader."""
    ids = ids or (1, 2, 3)
    log = Log()
    log.control(1, leader(ids[0], ids), version(), hosts(*ids), stamp=stamp)
    return log


def level(of: int = 30, name: str = "metadata.version") -> Record:
    return "FeatureLevelRecord", 0, {"name": name, "featureLevel": of}


def topic(name: str = "foo", id: str = FOO) -> Record:
    return "TopicRecord", 0, {"name": name, "topicId": id}


def partition(number: int = 0, topic_id: str = FOO, **fields: Any) -> Record:
    value = {
        "partitionId": number,
        "topicId": topic_id,
        "replicas": [11, 12],
        "isr": [11, 12],
        "removingReplicas": [],
        "addingReplicas": [],
        "leader": 11,
        "leaderRecoveryState": 0,
        "leaderEpoch": 0,
        "partitionEpoch": 0,
        "directories": ["AAAAAAAAAAAAAAAAAAAAAA"] * len(fields.get("replicas", (11, 12))),
    }
    return "PartitionRecord", 2, {**value, **fields}


def broker(id: int = 11, **fields: Any) -> Record:
    """A broker that runs, on a machine of its own."""
    value = {
        "brokerId": id,
        "incarnationId": f"Incarnation-of-{id:06}A",
        "brokerEpoch": 10,
        "endPoints": [endpoint(f"b{id}.example")],
        "features": [
            {"name": "metadata.version", "minSupportedVersion": 7, "maxSupportedVersion": 30}
        ],
        "rack": None,
        "fenced": False,
        "inControlledShutdown": False,
        "logDirs": [f"Log-dir-of-broker-{id:03}A"],
    }
    return "RegisterBrokerRecord", 3, {**value, **fields}


def endpoint(host: str, port: int = 9092) -> dict[str, Any]:
    return {"name": "PLAIN", "host": host, "port": port, "securityProtocol": 0}


def controller(id: int, **fields: Any) -> Record:
    value = {
        "controllerId": id,
        "incarnationId": f"Incarnation-of-{id:06}A",
        "zkMigrationReady": False,
        "endPoints": [],
        "features": [
            {"name": "metadata.version", "minSupportedVersion": 7, "maxSupportedVersion": 30}
        ],
    }
    return "RegisterControllerRecord", 0, {**value, **fields}


def credential(name: str, mechanism: int = 1) -> Record:
    value = {
        "name": name,
        "mechanism": mechanism,
        "salt": b"salt",
        "storedKey": b"stored",
        "serverKey": b"server",
        "iterations": 4096,
    }
    return "UserScramCredentialRecord", 0, value


def without_credential(name: str, mechanism: int = 1) -> Record:
    return "RemoveUserScramCredentialRecord", 0, {"name": name, "mechanism": mechanism}


def snapshot(path: Path, offset: int, *records: Record, epoch: int = 1, stamp: int = STAMP) -> Path:
    """Add a whole snapshot to a data directory."""
    built = Log()
    built.control(epoch, (HEADER, {"version": 0, "lastContainedLogTimestamp": stamp}), stamp=stamp)
    if records:
        built.data_batch(*records, epoch=epoch, stamp=stamp)
    built.control(epoch, (FOOTER, {"version": 0}), stamp=stamp)
    file = path / PARTITION / write_checkpoint_name(offset, epoch)
    file.write_bytes(built.data)
    return file


def node(path: Path, log: LogBuilder, id: int = 1, **fields: Any) -> Path:
    """A controller's directory with a log."""
    return make_node(path, id, log, **fields)


def state(path: Path, *records: Record, stamp: int = STAMP) -> Path:
    """A controller's directory whose log has these records, in a quorum of one."""
    log = begun(1, stamp=stamp)
    log.data_batch(level(), controller(1), stamp=stamp)
    if records:
        log.data_batch(*records, stamp=stamp)
    return node(path, log)


def doctor(*paths: Path, ignore: Sequence[str] = ()) -> DoctorReport:
    locations, findings = locations_of([str(path) for path in paths])
    left_out = FindingFilter(ignored_codes=frozenset(ignore))
    report = diagnose(examine(locations, findings), left_out)
    assert_pasteable(command for _, command in report.commands)
    assert_pasteable(report.deeper_commands)
    for section in report.sections:
        for diagnosis in section.diagnoses:
            assert_pasteable(diagnosis.commands)
    return report


def found(code: str, *paths: Path) -> list[Diagnosis]:
    """The diagnoses of one code over some directories."""
    report = doctor(*paths)
    return [
        diagnosis
        for one in report.sections
        for diagnosis in one.diagnoses
        if diagnosis.finding.code == code
    ]


def one(code: str, *paths: Path) -> Diagnosis:
    """The only diagnosis of a code, which is complete."""
    diagnoses = found(code, *paths)
    assert len(diagnoses) == 1, (code, [diagnosis.finding.text for diagnosis in diagnoses])
    assert diagnoses[0].finding.text
    return diagnoses[0]


def severities(code: str, *paths: Path) -> list[Severity]:
    return [diagnosis.finding.severity for diagnosis in found(code, *paths)]


__all__ = [
    "FOO", "HOUR", "PARTITION", "STAMP", "Log", "at", "begun", "broker", "config", "controller",
    "credential", "directory_of", "doctor", "endpoint", "found", "hosts", "leader", "level", "node",
    "one", "partition", "severities", "snapshot", "state", "topic", "version", "voter", "voters",
    "without_credential",
]  # fmt: skip
