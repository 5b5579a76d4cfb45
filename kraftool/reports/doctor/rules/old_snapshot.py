"""A newest snapshot that is far older than the log's end."""

from __future__ import annotations

from collections.abc import Iterator

from kraftool.reports.doctor.model import Diagnosis, Evidence, Examination
from kraftool.reports.doctor.snapshot_triggers import overdue, triggers
from kraftool.reports.findings.finding import Severity
from kraftool.reports.findings.kinds import SIGNATURES
from kraftool.reports.text import shell_text
from kraftool.reports.text.times import utc

KIND = SIGNATURES.kind(
    "OLD-SNAPSHOT",
    Severity.WARNING,
    "The newest snapshot is much older than the settings allow. Snapshot generation has"
    " stopped, as after a fault while metadata was loaded.",
    "if the node was down, or started a short time ago, look again after another"
    " metadata.log.max.snapshot.interval.ms. If there is no newer snapshot then, look for errors of"
    " SnapshotGenerator and SnapshotEmitter in this node's log. A restart switches generation on"
    " again",
    references=(
        "KIP-630",
        "KIP-876",
    ),
)


def _moment(timestamp_ms: int | None) -> str:
    return "an unknown time" if timestamp_ms is None else f"{utc(timestamp_ms)} UTC"


def find(examination: Examination) -> Iterator[Diagnosis]:
    for examined in examination.directories:
        log, newest = examined.summary.log, examined.summary.newest_snapshot
        if log is None or newest is None or newest.offset == 0:
            continue
        late = overdue(examined, log, newest.timestamp)
        if not late or newest.offset >= log.end:
            continue
        yield Diagnosis(
            finding=KIND.at(
                newest.file,
                f"the newest snapshot is {late} older than the log's last record",
                offset=newest.offset,
                expected=f"a newer one by {triggers(examined).words}",
                found=f"{log.end - newest.offset} records since",
            ),
            directory=examined.path,
            evidence=(
                Evidence(
                    file=newest.file,
                    found=f"offset {newest.offset}, of records up to {_moment(newest.timestamp)}",
                ),
                Evidence(
                    file=examined.path,
                    offset=log.end - 1,
                    found=f"the last record, written {_moment(log.last_timestamp)}",
                ),
            ),
            commands=(
                shell_text.line(
                    "grep", "-n", "SnapshotGenerator\\|SnapshotEmitter\\|FaultHandler", "server.log"
                ),
                shell_text.on(examined.path, "verify-log"),
            ),
        )
