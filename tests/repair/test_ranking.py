"""The order in which directories can give the state."""

from __future__ import annotations

from pathlib import Path

from kraftool.raft.names import VoterSet
from kraftool.repair.ranking import hosts_of, ranked
from tests.repair.directories import EQUAL, Quorum, cut_log


def order(quorum: Quorum) -> list[tuple[str, bool]]:
    """The hosts, best first, and whether each is a voter's."""
    hosts = hosts_of([quorum.survey(node) for node in quorum.directories], {})
    voters = VoterSet.of(*quorum.survey(1).voters)
    return [(host.host, host.voter) for host in ranked(hosts, voters)]


def test_the_longer_log_ranks_first_and_a_voter_only_among_equals(tmp_path: Path) -> None:
    quorum = Quorum(tmp_path, EQUAL, [11, 1])
    assert order(quorum) == [("node-1", True), ("node-11", False)]
    cut_log(quorum, 1, 20)
    assert order(quorum) == [("node-11", False), ("node-1", True)]
