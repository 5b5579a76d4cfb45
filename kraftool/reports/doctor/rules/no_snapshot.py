"""A long log without any snapshot."""

from __future__ import annotations

from collections.abc import Iterator

from kraftool.reports.doctor.model import Diagnosis, Evidence, Examination
from kraftool.reports.doctor.snapshot_triggers import overdue, triggers
from kraftool.reports.findings.finding import Severity
from kraftool.reports.findings.kinds import SIGNATURES
from kraftool.reports.text import shell_text

KIND = SIGNATURES.kind(
    "NO-SNAPSHOT",
    Severity.WARNING,
    "There is no snapshot, although the log is long enough for several. Snapshot generation"
    " fails, or a metadata fault switched it off. The log is never cleaned, and each start"
    " reads all of it.",
    "look for errors of SnapshotGenerator and SnapshotEmitter in this node's log. A restart"
    " switches generation on again",
    references=(
        "KIP-630",
        "KIP-876",
    ),
)


def find(examination: Examination) -> Iterator[Diagnosis]:
    for examined in examination.directories:
        log, newest = examined.summary.log, examined.summary.newest_snapshot
        if log is None or (newest is not None and newest.offset > 0):
            continue
        if log.start > 0:
            continue  # a snapshot is missing that was there, which is another matter
        trigger = triggers(examined)
        late = overdue(examined, log, log.first_timestamp)
        if not late and log.size <= trigger.by_bytes:
            continue
        what = f"{late} of log" if late else f"{log.size} bytes of log"
        yield Diagnosis(
            finding=KIND.at(
                examined.path,
                f"{what} but no snapshot",
                expected=f"a snapshot by {trigger.words}",
                found="none",
            ),
            directory=examined.path,
            evidence=(
                Evidence(
                    file=examined.path,
                    found=f"offsets {log.start} to {log.end - 1}, {log.size} bytes in"
                    f" {log.segments} segments",
                ),
            ),
            commands=(
                shell_text.line(
                    "grep", "-n", "SnapshotGenerator\\|SnapshotEmitter\\|FaultHandler", "server.log"
                ),
                shell_text.on(examined.path, "verify-log"),
            ),
        )
