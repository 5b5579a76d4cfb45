"""Two leaders of one epoch, by quorum-state files and by LeaderChange records of several nodes.

Every directory that says so is named, and a leader whose own directory was not given as well.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kraftool.reports.doctor import tools
from kraftool.reports.doctor.model import Diagnosis, Evidence, Examination, ExaminedDirectory
from kraftool.reports.findings.finding import Severity, Stake
from kraftool.reports.findings.kinds import SIGNATURES
from kraftool.reports.text import shell_text

KIND = SIGNATURES.kind(
    "SPLIT-BRAIN",
    Severity.ERROR,
    "Two nodes lead, or led, in one epoch: one of them had forgotten its vote, or somebody"
    " edited its log. Each may have acknowledged records that the other does not have.",
    "stop all controllers and keep a copy of every directory. Then start only the nodes of"
    " one side",
    stake=Stake.TWO_HISTORIES,
    references=("KIP-595",),
)

_MOST_NAMED = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class _Claim:
    """A leader of an epoch, by what one directory says."""

    examined: ExaminedDirectory
    evidence: Evidence


_Claims = dict[int, list[_Claim]]
"""By leader."""


def find(examination: Examination) -> Iterator[Diagnosis]:
    for directories in examination.clusters():
        led: dict[int, _Claims] = {}
        for examined in directories:
            for epoch, leader, evidence in _claims(examined):
                claims = led.setdefault(epoch, {}).setdefault(leader, [])
                if not claims or claims[-1].examined is not examined:
                    claims.append(_Claim(examined=examined, evidence=evidence))
        for epoch, leaders in sorted(led.items()):
            if len(leaders) > 1:
                yield _diagnosis(examination, directories, epoch, leaders)


def _claims(examined: ExaminedDirectory) -> Iterator[tuple[int, int, Evidence]]:
    for election in examined.statistics.elections:
        yield election.epoch, election.leader_id, Evidence.of_election(election)
    state = examined.summary.quorum_state
    if state is not None and state.leader_id >= 0:
        yield (
            state.leader_epoch,
            state.leader_id,
            Evidence(
                file=examined.source.quorum_state_file,
                found=f"leaderEpoch {state.leader_epoch}, leaderId {state.leader_id}",
            ),
        )


def _diagnosis(
    examination: Examination, directories: Sequence[ExaminedDirectory], epoch: int, leaders: _Claims
) -> Diagnosis:
    given = {directory.node_id for directory in directories}
    claims_by_id = {id: _own_first(id, claims) for id, claims in sorted(leaders.items())}
    first, second, *_ = (claims[0].evidence for claims in claims_by_id.values())
    by = "; ".join(_words(id, claims, is_given=id in given) for id, claims in claims_by_id.items())
    copies = tuple(
        shell_text.keep_copy(directory.path) for directory in directories if directory.is_read
    )
    return Diagnosis(
        finding=KIND.at(
            second.file,
            f"epoch {epoch} has several leaders: {by}",
            position=second.position,
            offset=second.offset,
            expected=first.found,
            found=second.found,
        ),
        evidence=tuple(
            claim.evidence for claims in claims_by_id.values() for claim in claims[:_MOST_NAMED]
        ),
        commands=(
            *copies,
            tools.on_all(examination, "timeline"),
            tools.on_all(examination, "diff-voters"),
        ),
    )


def _own_first(id: int, claims: Sequence[_Claim]) -> list[_Claim]:
    """Return the claims, the leader's own report first."""
    return sorted(claims, key=lambda claim: claim.examined.node_id != id)


def _words(id: int, claims: Sequence[_Claim], *, is_given: bool) -> str:
    names = [claim.examined.path for claim in claims]
    more = len(names) - _MOST_NAMED
    listed = " and ".join(names[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
    absent = "" if is_given else " (its own directory is not given)"
    return f"{id}{absent} by {listed}"
