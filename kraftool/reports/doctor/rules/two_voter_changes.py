"""Two changes of the voters in a running leader's log, neither of which is committed."""

from __future__ import annotations

from collections.abc import Iterator

from kraftool.reports.doctor import tools
from kraftool.reports.doctor.model import Diagnosis, Evidence, Examination
from kraftool.reports.findings.finding import Severity, Stake
from kraftool.reports.findings.kinds import SIGNATURES

KIND = SIGNATURES.kind(
    "TWO-VOTER-CHANGES",
    Severity.WARNING,
    "A running leader has written two changes of the voters, and has committed neither. Raft"
    " allows one at a time: the majorities of the first and the last voter set need not share a"
    " voter. A second try after REQUEST_TIMED_OUT can write it (KAFKA-20740).",
    "add and remove no voter now, and stop no node. Bring back the voters that do not fetch,"
    " so that both changes are committed",
    stake=Stake.TWO_HISTORIES,
)


def find(examination: Examination) -> Iterator[Diagnosis]:
    for examined in examination.directories:
        source = examined.source
        mark = source.high_watermark
        if mark is None or mark < 0:
            continue
        pending = [
            entry
            for entry in source.voter_sets
            if entry.offset >= mark and not entry.with_leader_change
        ]
        if len(pending) < 2:
            continue
        offsets = ", ".join(str(entry.offset) for entry in pending)
        yield Diagnosis(
            finding=KIND.at(
                examined.path,
                f"voter changes at offsets {offsets}, and the leader has committed up to {mark}",
                offset=pending[0].offset,
            ),
            directory=examined.path,
            evidence=tuple(
                Evidence(
                    file=entry.file,
                    offset=entry.offset,
                    found=f"voters {', '.join(str(voter.id) for voter in entry.voters or ())}",
                )
                for entry in pending
            ),
            commands=(tools.quorum(examination, examined, "describe", "--replication"),),
        )
