"""All voters' directories are there, and with most of them Kafka cannot vote.

Said only where every voter's directory was given: of one that was not, nothing is known.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kraftool.directory.voter_set import matches
from kraftool.raft.names import Voter
from kraftool.reports.doctor import tools
from kraftool.reports.doctor.model import Diagnosis, Evidence, Examination, ExaminedDirectory
from kraftool.reports.findings.finding import Severity, Stake
from kraftool.reports.findings.kinds import SIGNATURES

KIND = SIGNATURES.kind(
    "NO-MAJORITY",
    Severity.ERROR,
    "Kafka cannot vote on a majority of the voters' directories, and every voter's directory"
    " was given. No leader can be elected.",
    "repair the voters named until a majority can vote. Until then neither add-controller nor"
    " remove-controller works, because both need a leader",
    stake=Stake.NO_QUORUM,
    references=(
        "KIP-595",
        "KIP-853",
    ),
)


def find(examination: Examination) -> Iterator[Diagnosis]:
    for directories in examination.clusters():
        voters = examination.voters_of(directories[0])
        if voters is None or len(voters.voters) < 2:
            continue
        given = [_of(voter, directories) for voter in voters.voters]
        if not all(given):
            continue
        troubles = [
            (voter, examined, trouble)
            for voter, several in zip(voters.voters, given, strict=True)
            for examined, trouble in [_best(voter, several)]
            if trouble
        ]
        if len(voters.voters) - len(troubles) >= voters.voters.majority:
            continue
        ids = ", ".join(str(voter.id) for voter, _, _ in troubles)
        yield Diagnosis(
            finding=KIND.at(
                voters.file,
                f"of {len(voters.voters)} voters, {ids} cannot vote: no leader can be elected",
                offset=voters.offset,
                expected=f"{voters.voters.majority} voters that can",
                found=str(len(voters.voters) - len(troubles)),
            ),
            evidence=tuple(
                Evidence(file=examined.path, found=f"voter {voter.id}: {trouble}")
                for voter, examined, trouble in troubles
            ),
            commands=(tools.on_all(examination, "diff-voters"),),
        )


def _of(voter: Voter, directories: Sequence[ExaminedDirectory]) -> list[ExaminedDirectory]:
    return [
        directory
        for directory in directories
        if directory.is_read and directory.node_id == voter.id
    ]


def _best(voter: Voter, directories: Sequence[ExaminedDirectory]) -> tuple[ExaminedDirectory, str]:
    """The directory of a voter that can vote, or the first with what keeps it from that."""
    troubles = [(directory, _trouble(voter, directory)) for directory in directories]
    return next((trouble for trouble in troubles if not trouble[1]), troubles[0])


def _trouble(voter: Voter, examined: ExaminedDirectory) -> str:
    directory_id = examined.summary.node.directory_id
    if not matches(voter, directory_id):
        return f"its directory.id is {directory_id}, but the voter set has {voter.directory_id}"
    refused = examined.judged.keeps_from_starting
    return f"Kafka refuses to start: {refused.text} ({refused.code})" if refused else ""
