"""A voter that gave two votes in one epoch: by its quorum-state, and by a LeaderChange.

Kafka writes the vote down before it answers with it. A LeaderChange that lists the node among those
who granted the leader's election, and a vote for somebody else in the quorum-state of that very
epoch, cannot both come from a node that remembered.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kraftool.reports.doctor import tools
from kraftool.reports.doctor.log_statistics import LoggedElection
from kraftool.reports.doctor.model import Diagnosis, Evidence, Examination, ExaminedDirectory
from kraftool.reports.findings.finding import Severity, Stake
from kraftool.reports.findings.kinds import SIGNATURES
from kraftool.reports.text import shell_text

KIND = SIGNATURES.kind(
    "DOUBLE-VOTE",
    Severity.ERROR,
    "A voter voted twice in one epoch, according to its quorum-state and a LeaderChange: it"
    " had forgotten the first vote, or somebody edited a file. Two leaders of that epoch are"
    " possible.",
    "stop all controllers and keep a copy of every directory. Compare all logs of that epoch"
    " before you start any node",
    stake=Stake.TWO_HISTORIES,
    references=("KIP-595",),
)


def find(examination: Examination) -> Iterator[Diagnosis]:
    for directories in examination.clusters():
        for examined in directories:
            election = _other_vote(examined, directories)
            if election is not None:
                yield _diagnosis(examination, examined, election)


def _other_vote(
    examined: ExaminedDirectory, directories: Sequence[ExaminedDirectory]
) -> LoggedElection | None:
    """The election of quorum-state's epoch that the node decided for another than it says."""
    state, node = examined.summary.quorum_state, examined.summary.node
    if state is None or state.voted_id < 0 or node.node_id is None:
        return None
    for one in directories:
        for election in one.statistics.elections:
            if (
                election.epoch == state.leader_epoch
                and election.leader_id != state.voted_id
                and election.had_vote_of(node.node_id, node.directory_id)
            ):
                return election
    return None


def _diagnosis(
    examination: Examination, examined: ExaminedDirectory, election: LoggedElection
) -> Diagnosis:
    state = examined.summary.quorum_state
    assert state is not None, "a quorum-state has a vote"
    file, id = examined.source.quorum_state_file, examined.node_id
    copies = (directory.path for directory in examination.directories if directory.is_read)
    return Diagnosis(
        finding=KIND.at(
            file,
            f"node {id} voted twice in epoch {election.epoch}: for {state.voted_id} by its"
            f" quorum-state, for {election.leader_id} by the LeaderChange of that epoch",
            field="votedId",
            expected=str(election.leader_id),
            found=str(state.voted_id),
        ),
        directory=examined.path,
        evidence=(
            Evidence.of_election(election, with_votes=True),
            Evidence(
                file=file, found=f"leaderEpoch {state.leader_epoch}, votedId {state.voted_id}"
            ),
        ),
        commands=(
            *(shell_text.keep_copy(copy) for copy in copies),
            tools.on_all(examination, "timeline"),
        ),
    )
