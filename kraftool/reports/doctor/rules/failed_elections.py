"""Epochs that were skipped because nobody won them.

A resigning leader and a node that comes back skip one or two. An epoch that was raised by hand, as
by a recovery, jumps without the time that elections take: that is told as what it is.
"""

from __future__ import annotations

from collections.abc import Iterator

from kraftool.reports.doctor import tools
from kraftool.reports.doctor.log_statistics import LoggedElection
from kraftool.reports.doctor.model import Diagnosis, Evidence, Examination
from kraftool.reports.findings.finding import Severity
from kraftool.reports.findings.kinds import SIGNATURES

KIND = SIGNATURES.kind(
    "FAILED-ELECTIONS",
    Severity.WARNING,
    "Epochs passed without a leader: no node won several elections in a row.",
    "fewer than a majority were reachable at that time, or two candidates kept splitting the"
    " vote. Check the network at that time, and the clocks in the logs of all controllers",
    references=(
        "KIP-595",
        "KIP-996",
    ),
)

_MANY = 10
_FASTEST_ELECTION_MS = 500
"""controller.quorum.election.timeout.ms is a second by default, and doubled at random."""


def find(examination: Examination) -> Iterator[Diagnosis]:
    seen: set[tuple[int, int]] = set()
    for examined in examination.directories:
        for election in examined.statistics.elections:
            skipped = election.epoch - election.before_epoch - 1
            if (
                election.before_epoch < 0
                or skipped < _MANY
                or (election.epoch, election.offset) in seen
            ):
                continue
            seen.add((election.epoch, election.offset))
            gap = max(election.timestamp - election.before_timestamp, 0)
            by_hand = gap < skipped * _FASTEST_ELECTION_MS
            words = (
                f"{skipped} epochs were skipped in {gap / 1000:.1f} s, faster than elections"
                " can run: somebody raised the epoch by hand"
                if by_hand
                else f"{skipped} elections without a winner in {gap / 1000:.1f} s before epoch"
                f" {election.epoch}"
            )
            yield Diagnosis(
                finding=KIND.at(
                    election.file,
                    words,
                    position=election.position,
                    offset=election.offset,
                    expected=f"epoch {election.before_epoch + 1}",
                    found=f"epoch {election.epoch}",
                    severity=Severity.INFO if by_hand else None,
                    advice="" if by_hand else None,
                ),
                directory=examined.path,
                evidence=(_evidence(election),),
                commands=() if by_hand else (tools.on_all(examination, "timeline"),),
            )


def _evidence(election: LoggedElection) -> Evidence:
    return Evidence(
        file=election.file,
        position=election.position,
        offset=election.offset,
        found=f"epoch {election.epoch} of controller {election.leader_id} follows epoch"
        f" {election.before_epoch}",
    )
