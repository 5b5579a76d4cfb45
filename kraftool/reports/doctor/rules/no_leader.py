"""A node that has been electing for ever: its quorum-state is far beyond its log.

A recovery plan writes such a quorum-state too. Until the node starts, that is as planned.
"""

from __future__ import annotations

from collections.abc import Iterator

from kraftool.reports.doctor import tools
from kraftool.reports.doctor.model import Diagnosis, Evidence, Examination, ExaminedDirectory
from kraftool.reports.findings.finding import Severity, Stake
from kraftool.reports.findings.kinds import SIGNATURES
from kraftool.reports.text.times import utc

KIND = SIGNATURES.kind(
    "NO-LEADER",
    Severity.ERROR,
    "quorum-state is many epochs ahead of the log: this node has held elections for a long"
    " time and found no majority. Kafka does not report this. It only tries again.",
    "start the other voters, or find out why they do not answer: endpoints, certificates,"
    " cluster id, a directory that was formatted again",
    stake=Stake.NO_QUORUM,
    references=(
        "KIP-595",
        "KIP-996",
    ),
)

_MANY = 10
"""Epochs beyond the log; a few come from elections that were lost and from resigning leaders."""


def find(examination: Examination) -> Iterator[Diagnosis]:
    for examined in examination.directories:
        state, log = examined.summary.quorum_state, examined.summary.log
        if state is None or log is None or log.last_epoch is None:
            continue
        if examined.source.begins_planned_epoch:
            continue
        ahead = state.leader_epoch - log.last_epoch
        if ahead < _MANY or state.leader_id >= 0 or _led_later(examination, examined):
            continue
        since = _time(log.last_timestamp)
        file = examined.source.quorum_state_file
        yield Diagnosis(
            finding=KIND.at(
                file,
                f"{ahead} epochs without a leader: this node has held elections since {since}",
                field="leaderEpoch",
                expected=f"{log.last_epoch}, the log's last epoch, or slightly more",
                found=str(state.leader_epoch),
            ),
            directory=examined.path,
            evidence=(
                Evidence(
                    file=file,
                    found=f"leaderEpoch {state.leader_epoch}, leaderId {state.leader_id}, votedId"
                    f" {state.voted_id}",
                ),
                Evidence(
                    file=examined.path,
                    offset=log.end - 1,
                    found=f"the last record is of epoch {log.last_epoch}, {since}",
                ),
            ),
            commands=(
                tools.quorum(examination, examined, "describe", "--status"),
                tools.on_all(examination, "diff-voters"),
            ),
        )


def _led_later(examination: Examination, examined: ExaminedDirectory) -> bool:
    """True if another node has records of such a late epoch: the quorum went on without this."""
    state = examined.summary.quorum_state
    epoch = state.leader_epoch if state is not None else 0
    logs = [
        directory.summary.log
        for directory in examination.directories
        if examination.same_cluster(directory.source, examined.source)
    ]
    return any(log is not None and (log.last_epoch or -1) >= epoch for log in logs)


def _time(timestamp: int | None) -> str:
    if timestamp is None or not 0 <= timestamp < 1 << 47:
        return "an unknown time"
    return f"{utc(timestamp)} UTC"
