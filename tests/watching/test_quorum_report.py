"""What is told of quorums as real ones answered: who leads, how much may fail, who disagrees."""

from __future__ import annotations

import os
from dataclasses import replace

import pytest

from kraftool.client.model import QuorumView
from kraftool.raft.names import ReplicaKey
from kraftool.reports.findings.finding import Severity
from kraftool.reports.text.csv_text import csv_rows, csv_text
from kraftool.reports.text.json_document import json_object, json_value
from kraftool.watching import summary
from kraftool.watching.directory_reading import DirectoryReading
from kraftool.watching.document import watch_document
from kraftool.watching.export import json_text
from kraftool.watching.picture import Picture
from kraftool.watching.poll_history import MOST_ELECTIONS, MOST_SAMPLES, Remembering
from kraftool.watching.quorum import QuorumReport, ReplicaStatus, quorum_report
from kraftool.watching.trends import DOWN, is_steady
from kraftool.watching.voter_state import Commit
from tests.client.views import described, gone, node, replica, view, well, without_controller
from tests.tui.recording import pictures


def _last(name: str) -> QuorumReport:
    return quorum_report(pictures(name)[-1])


def _row(report: QuorumReport, node_id: int) -> ReplicaStatus:
    return next(
        replica_status for replica_status in report.replicas if replica_status.id == node_id
    )


def _picture(*views: QuorumView, every_ms: int = 1000) -> Picture:
    """The last of some looks, with the history of all."""
    remembering = Remembering()
    for number, quorum_view in enumerate(views):
        history = remembering.take(1_000_000 + number * every_ms, quorum_view, ())
    return Picture(at_ms=1_000_000 + (len(views) - 1) * every_ms, view=views[-1], history=history)


# --- as real quorums answered -----------------------------------------------------------------


def test_a_healthy_quorum_has_nothing_to_say() -> None:
    report = _last("healthy")
    assert (report.leader_id, report.epoch) == (2, 1)
    assert report.high_watermark == report.leader_end == 41
    assert report.rate == pytest.approx(2.0, abs=0.05), "a no-op every 500 ms"
    assert is_steady(report.rate_trend), "nothing to draw"
    assert [(replica.id, replica.role) for replica in report.replicas] == [
        (1, "voter"), (2, "leader"), (3, "voter"), (4, "observer"), (11, "observer"),
    ]  # fmt: skip
    assert report.voters.commit is Commit.COMMITTED
    assert report.tolerance.failures == 1
    assert report.elections_seen == 0
    assert [statement.code for statement in report.statements] == ["KT-LIVE-STANDBY"]
    assert all(
        replica_status.restart and replica_status.restart.is_safe
        for replica_status in report.replicas
    )
    assert not _row(report, 11).is_asked, "brokers are the leader's word only"


def test_a_killed_leader_is_told_until_the_next_one_leads() -> None:
    seen = [quorum_report(picture) for picture in pictures("leader-killed")]
    without = [report for report in seen if report.leader_id is None]
    assert without, "a look fell between the two"
    assert without[0].statements[0].reason == (
        "No node leads. The others still take node 2 for the leader, which cannot be reached."
    )
    assert sorted(voter.id for voter in without[0].voters.now) == [1, 2, 3]
    assert without[0].voters.source == "history"
    assert without[0].tolerance.reason == "2 of 3 voters are reached, enough to elect a leader"
    last = seen[-1]
    assert (last.leader_id, last.epoch, last.elections_seen) == (3, 2, 1)
    assert [(election.epoch, election.leader_id) for election in last.elections] == [(2, 3)]
    assert last.tolerance.failures == 0
    assert last.tolerance.reason == "2 of 3 voters are ready, 2 are needed"
    safe = {
        replica_status.id: replica_status.restart.is_safe
        for replica_status in last.replicas
        if replica_status.restart
    }
    assert safe == {1: False, 2: True, 3: False, 4: True, 11: True}
    assert not _row(last, 2).is_reached
    reasons = {statement.code: statement.reason for statement in last.statements}
    assert reasons["KT-LIVE-UNREACHED"].startswith("Node 2 (127.0.0.1:")
    assert reasons["KT-LIVE-UNREACHED"].endswith("): connection refused.")
    assert reasons["KT-LIVE-NO-SPARE"] == (
        "No voter can be lost: 2 of 3 voters are ready, 2 are needed."
    )
    advice = {statement.code: statement.advice for statement in last.statements}
    assert advice["KT-LIVE-NO-SPARE"] == "do not restart voter 1 or 3; bring back voter 2"


def test_without_a_majority_it_is_said_what_must_come_back() -> None:
    report = _last("no-leader")
    assert report.leader_id is None
    assert report.high_watermark is None
    assert report.tolerance.is_lost
    assert report.tolerance.reason == (
        "1 of 3 voters is reached, 2 are needed to elect a leader: 1 more must come back"
    )
    assert _row(report, 1).last_known_end_offset == 56, "what the last leader knew"
    assert _row(report, 11).role == "observer", "also of those that nobody asks"
    safe = {
        replica_status.id: replica_status.restart.is_safe
        for replica_status in report.replicas
        if replica_status.restart
    }
    assert safe == {1: False, 2: True, 3: True}, "the one that is up is needed"


def test_a_voter_whose_record_is_not_committed_is_told_as_such() -> None:
    seen = [quorum_report(picture) for picture in pictures("uncommitted-voter")]
    assert seen[0].voters.commit is Commit.COMMITTED
    changed = next(report for report in seen if len(report.voters.now) == 4)
    last = seen[-1]
    for report in (changed, last):
        assert report.voters.is_uncommitted
        assert [voter.id for voter in report.voters.joining] == [4]
        assert sorted(voter.id for voter in report.voters.before) == [1, 2, 3]
        assert _row(report, 4).is_joining
    assert last.tolerance.is_lost
    texts = [statement.reason for statement in last.statements]
    assert texts[0].startswith("No majority: 2 of 4 voters keep up, 3 are needed")
    assert last.statements[0].advice == "bring back voters 1 and 2"
    assert texts[1].startswith("The leader wrote 4 records in 1.6 s, but committed none")
    assert any(
        text.startswith("A voter change that adds node 4 is not committed") for text in texts
    )
    trend = [lag for lag in _row(last, 1).trend if lag is not None]
    assert {*trend[1:]} == {DOWN}, "it did not answer"
    assert _row(last, 1).lag == 23


# --- as quorums may be ------------------------------------------------------------------------


def test_a_voter_change_is_committed_when_the_mark_passes_it() -> None:
    three = [replica(number) for number in (1, 2, 3)]
    four = [replica(number, end=110) for number in (1, 2, 3, 4)]
    others = [node(number) for number in (2, 3)]
    before = view(described(three, mark=100), *others)
    for mark, expected in (
        (100, Commit.UNCOMMITTED),
        (105, Commit.UNKNOWN),
        (110, Commit.COMMITTED),
    ):
        now = view(described(four, mark=mark), *others)
        assert quorum_report(_picture(before, now)).voters.commit is expected, mark


def test_a_first_look_knows_of_a_commit_only_where_nothing_is_open() -> None:
    others = [node(number) for number in (2, 3)]
    voters = [replica(number, end=100) for number in (1, 2, 3)]
    first = quorum_report(_picture(view(described(voters, mark=99), *others)))
    assert first.voters.commit is Commit.UNKNOWN
    assert quorum_report(_picture(view(described(voters), *others))).voters.commit is (
        Commit.COMMITTED
    )


def test_static_voters_have_no_record() -> None:
    voters = [replace(replica(n), replica=ReplicaKey(n, None)) for n in (1, 2, 3)]
    report = quorum_report(_picture(view(described(voters), node(2), node(3))))
    assert report.voters.commit is Commit.STATIC


def test_opinions_that_differ_are_said_in_words() -> None:
    other = node(3, leader=2, epoch=4)
    unknowing = node(2, leader=None, epoch=6)
    quorum = described([replica(n) for n in (1, 2, 3)], epoch=7)
    texts = [
        statement.reason
        for statement in quorum_report(_picture(view(quorum, unknowing, other))).statements
    ]
    assert texts == [
        "Node 2 (ctl-2:9093): reports no leader of epoch 6, but node 1 leads epoch 7.",
        "Node 3 (ctl-3:9093): reports leader 2 of epoch 4, but node 1 leads epoch 7.",
        (
            "No voter can be lost: 1 of 3 voters is ready, 2 are needed; voter 2 does not count: it"
            " knows no leader of epoch 6; voter 3 does not count: it knows leader 2 of epoch 4."
        ),
    ]


def test_two_leaders_of_one_epoch_are_an_error_and_of_two_a_warning() -> None:
    mine = described([replica(n) for n in (1, 2, 3)], epoch=5)
    for epoch, severity in ((5, Severity.ERROR), (6, Severity.WARNING)):
        theirs = described([replica(n) for n in (1, 2, 3)], epoch=epoch, leader=2)
        both = view(mine, replace(node(2, quorum=theirs, epoch=epoch), leader_id=2), node(3))
        statements = [
            statement
            for statement in quorum_report(_picture(both)).statements
            if statement.code == "KT-LIVE-TWO-LEADERS"
        ]
        assert [statement.severity for statement in statements] == [severity]


def test_nodes_of_two_clusters_are_an_error() -> None:
    stray = replace(node(3), cluster_id="another")
    quorum = described([replica(n) for n in (1, 2, 3)])
    first = quorum_report(_picture(view(quorum, node(2), stray))).statements[0]
    assert first.severity is Severity.ERROR
    assert first.reason.startswith("The nodes are of different clusters: ")


def test_epochs_that_move_without_a_leader_are_an_election() -> None:
    electing = QuorumView(nodes=(node(1, leader=None, epoch=8), node(2, leader=None, epoch=9)))
    text = quorum_report(_picture(electing)).statements[0].reason
    assert text == "No node leads. Nodes are in epochs 8 and 9: they are electing."


def test_the_last_two_voters_must_not_be_restarted_and_a_dead_one_may() -> None:
    silent = replica(3, fetched=0)
    quorum = described([replica(1), replica(2), silent])
    report = quorum_report(_picture(view(quorum, node(2), gone(3))))
    restarts = {replica_status.id: replica_status.restart for replica_status in report.replicas}
    assert restarts[1] is not None
    assert not restarts[1].is_safe
    assert restarts[2] is not None
    assert restarts[2].reason == "1 of 3 voters is ready without node 2, but 2 are needed"
    assert restarts[3] is not None
    assert restarts[3].is_safe


def test_a_leader_without_a_controller_is_red_and_said_in_words() -> None:
    report = quorum_report(_picture(without_controller()))
    assert report.leader_runs_controller is False
    assert report.tolerance.failures == 0
    [statement] = report.statements
    assert statement.severity is Severity.ERROR
    assert statement.reason == (
        "Node 3 (ctl-3:9093): it leads, but runs no controller: its ApiVersions lacks CreateTopics."
    )
    assert statement.advice.startswith("wait: node 3 hands leadership to a controller")
    words = {line.label: line.parts for line in summary.lines(report)}
    assert words["Leader"][0] == ("✖ node 3, without a controller", "bad")
    assert words["Can lose"][0] == ("✖ 0 voters", "bad")
    cells = summary.cells(report, _row(report, 3))
    assert cells[summary.ROLE] == ("◌ leader", "bad")
    assert cells[summary.RESTART] == ("✓ yes", "good")
    safe = {
        replica_status.id: replica_status.restart.is_safe
        for replica_status in report.replicas
        if replica_status.restart
    }
    assert safe == {1: False, 2: False, 3: True, 4: False}, "a broker that starts exits"
    meanings = {part.meaning for parts in words.values() for part in parts}
    assert "good" not in meanings


def test_a_witness_that_follows_is_shown_as_one() -> None:
    report = quorum_report(_picture(without_controller(leader=1)))
    assert report.leader_runs_controller is True
    assert report.statements == ()
    assert report.tolerance.failures == 1
    assert summary.cells(report, _row(report, 3))[summary.ROLE] == ("◌ witness", "warn")
    assert [replica_status.is_witness for replica_status in report.replicas] == [
        False,
        False,
        True,
        None,
    ]
    document = json_value(watch_document(report))
    assert [entry["isWitness"] for entry in document["replicas"]] == [False, False, True, None]
    assert document["hasActiveController"] is True


def test_a_kafka_among_witnesses_is_not_to_be_restarted() -> None:
    quorum = described([replica(number) for number in (1, 2, 3)])
    witnesses = [node(number, runs_controller=False) for number in (2, 3)]
    report = quorum_report(_picture(view(quorum, *witnesses)))
    assert report.tolerance.failures == 0
    assert report.tolerance.reason == (
        "3 of 3 voters are ready, 2 are needed; only node 1 is known to run a controller"
    )
    safe = {
        replica_status.id: replica_status.restart.is_safe
        for replica_status in report.replicas
        if replica_status.restart
    }
    assert safe == {1: False, 2: True, 3: True}


def test_witnesses_alone_elect_no_controller() -> None:
    electing = [node(node_id, leader=None, epoch=8, runs_controller=False) for node_id in (2, 3)]
    now = QuorumView(nodes=(gone(1), *electing))
    report = quorum_report(_picture(well(), now))
    assert report.tolerance.is_lost
    assert report.tolerance.reason == (
        "2 of 3 voters are reached, and no one of them runs a controller: a voter that runs Kafka"
        " must come back"
    )


def test_a_directory_whose_name_is_no_utf_8_can_be_exported() -> None:
    look = DirectoryReading(path=os.fsdecode(b"data-\xff"), at_ms=0, problem="it is gone")
    report = quorum_report(Picture(at_ms=0, directories=(look,)))
    assert report.statements
    document = watch_document(report)
    for text in (json_text(json_object(document)), csv_text(csv_rows(document))):
        assert b"data-\\" in text.encode()


def test_history_is_bounded_and_counts_elections_once() -> None:
    remembering = Remembering()
    for number in range(1000):
        epoch = 5 + number // 2
        quorum = described([replica(n, end=number) for n in (1, 2, 3)], epoch=epoch, mark=number)
        history = remembering.take(number * 1000, view(quorum, node(2), node(3)), ())
    assert len(history.samples) == MOST_SAMPLES
    assert len(history.elections) == MOST_ELECTIONS
    assert history.elections_seen == 499


@pytest.mark.parametrize("looks", [1, MOST_SAMPLES + 1])
def test_a_leader_that_answers_again_is_no_election(looks: int) -> None:
    remembering = Remembering()
    away = QuorumView(nodes=(gone(1), node(2), node(3)))
    for at, look in enumerate((well(), *[away] * looks, well(mark=110))):
        history = remembering.take(1000 + at, look, ())
    assert history.elections_seen == 0
    assert history.elections == ()
