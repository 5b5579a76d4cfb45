"""The proof by a snapshot that voters lost what they confirmed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from kraftool.repair.shortfall import unconfirmed
from kraftool.repair.surveyed_quorum import SurveyedQuorum, with_surveys
from tests.repair.directories import EQUAL, Quorum, cut_log, surveyed


def with_snapshot_epoch(known: SurveyedQuorum, name: str, epoch: int) -> SurveyedQuorum:
    """The same, with the newest snapshot of a host as one of another epoch."""
    (survey,) = [host.survey for host in known.hosts if host.name == name]
    newest = max(survey.snapshots, key=lambda snapshot: snapshot.offset)
    snapshots = [
        replace(snapshot, epoch=epoch) if snapshot is newest else snapshot
        for snapshot in survey.snapshots
    ]
    return with_surveys(known, {name: replace(survey, snapshots=tuple(snapshots))})


def test_a_snapshot_of_the_leader_s_log_proves_what_a_majority_lost(tmp_path: Path) -> None:
    """One of a later epoch than the leader's log is of another log, and proves nothing of it."""
    quorum = Quorum(tmp_path, EQUAL, [1, 2, 3])
    for node in (2, 3):
        cut_log(quorum, node, 40)
    known = surveyed(quorum)
    assert known.leader.name == "node-1"
    epoch = known.leader.survey.end.epoch
    ((risks, _),) = unconfirmed(known)
    assert "node-1 has a snapshot at 144" in risks[0].text
    ahead = replace(
        with_snapshot_epoch(known, "node-1", epoch + 1),
        leader=known.leader,
    )
    assert not list(unconfirmed(ahead))
