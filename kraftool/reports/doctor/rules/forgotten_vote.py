"""A voter whose quorum-state is of an earlier epoch than one that it is known to have voted in.

A node writes its epoch and its vote down before it answers, and its quorum-state never goes back. A
LeaderChange lists who granted the vote that won, so any log of the cluster shows that an older copy
of a directory took the place of the one that voted. Where the node's own log is of a later epoch
Kafka takes that one at its start, and the vote is of no use any more.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kraftool.reports.doctor import tools
from kraftool.reports.doctor.log_statistics import LoggedElection
from kraftool.reports.doctor.model import Diagnosis, Evidence, Examination, ExaminedDirectory
from kraftool.reports.findings.finding import Severity, Stake
from kraftool.reports.findings.kinds import SIGNATURES
from kraftool.reports.findings.kinds import directory as dir_kinds
from kraftool.reports.voters.stale import is_stale

KIND = SIGNATURES.kind(
    "FORGOTTEN-VOTE",
    Severity.ERROR,
    "A voter's quorum-state has an earlier epoch than one that the voter led or voted in: an"
    " older copy replaced its directory. The vote is forgotten, so the node may vote twice in"
    " one epoch. Records may be missing from its log too.",
    "do not start it like this: put its own, newer directory back. If there is none, write"
    " quorum-state with the highest epoch of all voters + 1 and no vote before it starts. If"
    " the directories were copied one after another from running nodes, copy this one again",
    stake=Stake.TWO_HISTORIES,
    references=(
        "KIP-595",
        "KIP-853",
    ),
    tells_better=frozenset({dir_kinds.QUORUM_STATE_BEHIND.code}),
)


def find(examination: Examination) -> Iterator[Diagnosis]:
    for directories in examination.clusters():
        for examined in directories:
            election = _newest_vote(examined, directories)
            state = examined.summary.quorum_state
            if election is None or state is None or _is_stale(examined, examination):
                continue
            if election.epoch > max(state.leader_epoch, _started_epoch(examined) - 1):
                yield _diagnosis(examination, examined, election, state.leader_epoch)


def _is_stale(examined: ExaminedDirectory, examination: Examination) -> bool:
    """True if the voters have another directory for its node: this one has no vote to forget."""
    voters = examination.voters_of(examined)
    return voters is not None and is_stale(examined.source, voters)


def _newest_vote(
    examined: ExaminedDirectory, directories: Sequence[ExaminedDirectory]
) -> LoggedElection | None:
    """The election of the highest epoch that this node led or gave its vote in."""
    node = examined.summary.node
    if node.node_id is None:
        return None
    voted = [
        election
        for one in directories
        for election in one.statistics.elections
        if election.had_vote_of(node.node_id, node.directory_id)
    ]
    return max(voted, key=lambda election: election.epoch, default=None)


def _started_epoch(examined: ExaminedDirectory) -> int:
    """The epoch that Kafka takes from log and snapshots when it starts here."""
    log, newest = examined.summary.log, examined.summary.newest_snapshot
    last = log.last_epoch if log is not None else None
    return max(last if last is not None else 0, newest.epoch if newest is not None else 0)


def _diagnosis(
    examination: Examination, examined: ExaminedDirectory, election: LoggedElection, epoch: int
) -> Diagnosis:
    id = examined.node_id
    did = "led" if election.leader_id == id else f"gave {election.leader_id} its vote in"
    file = examined.source.quorum_state_file
    live = examined.is_live
    return Diagnosis(
        finding=KIND.at(
            file,
            f"voter {id} {did} epoch {election.epoch}, but its quorum-state has epoch {epoch}:"
                " an older copy replaced this directory",
            field="leaderEpoch",
            expected=f"{election.epoch} or more",
            found=str(epoch),
            severity=Severity.INFO if live else None,
            advice="its Kafka is running: the files were read at different times" if live else None,
        ),
        directory=examined.path,
        evidence=(
            Evidence.of_election(election, with_votes=True),
            Evidence(file=file, found=f"leaderEpoch {epoch}"),
        ),
        commands=() if live else (*tools.epoch_to_write(examination),
                                  tools.on_all(examination, "timeline")),
    )  # fmt: skip
