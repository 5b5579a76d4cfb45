"""What is reported to have happened between one poll and the next."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from kraftool.client.model import QuorumView
from kraftool.client.thresholds import LAG_RECORDS, SILENT_MS
from kraftool.raft.messages import ReplicaState
from kraftool.raft.names import OffsetAndEpoch
from kraftool.reports.findings.status import Status
from kraftool.storage.lock import LockState
from kraftool.watching.directory import DirectoryWatch
from kraftool.watching.directory_reading import DirectoryReading
from kraftool.watching.events import EventDetector
from kraftool.watching.number_words import age
from kraftool.watching.picture import Picture
from kraftool.watching.poll_history import MOST_EVENTS, MOST_SAMPLES, Remembering
from kraftool.watching.quorum import quorum_report
from tests.client.views import NOW, described, gone, node, replica, view, well, without_controller
from tests.tui.recording import pictures

_BEGIN = (Status.GOOD, "watching begins: node 1 leads epoch 5")


def _events(*views: QuorumView) -> list[tuple[Status, str]]:
    """All events of looks that are a second apart."""
    detector = EventDetector()
    return [
        (event.status, event.reason)
        for number, quorum_view in enumerate(views)
        for event in detector.take(number * 1000, quorum_view, ())
    ]


def _readings(*looks: DirectoryReading) -> list[str]:
    detector = EventDetector()
    return [event.reason for look in looks for event in detector.take(look.at_ms, None, [look])]


# --- live quorums -----------------------------------------------------------------------------


def test_a_real_leader_that_is_killed_and_its_successor_are_events_in_their_order() -> None:
    events = pictures("leader-killed")[-1].history.events
    assert [(event.status, event.reason) for event in events] == [
        (Status.GOOD, "watching begins: node 2 leads epoch 1"),
        (Status.WARN, "node 2 stopped answering: connection refused"),
        (Status.BAD, "node 2 leads no longer, and no other node leads"),
        (Status.GOOD, "node 3 elected, epoch 2 (2.0 s without a leader)"),
    ]


def test_a_quorum_where_nothing_happens_has_one_event() -> None:
    assert _events(well(), well(mark=101), well(mark=110)) == [_BEGIN]


def test_a_leader_that_answers_again_was_not_elected_again() -> None:
    away = QuorumView(nodes=(gone(1), node(2), node(3)))
    assert _events(well(), away, away, well()) == [
        _BEGIN,
        (Status.WARN, "node 1 stopped answering: refused"),
        (Status.BAD, "node 1 leads no longer, and no other node leads"),
        (Status.GOOD, "node 1 answers again, after 2.0 s"),
        (Status.GOOD, "node 1 leads again, epoch 5 (2.0 s without a leader)"),
    ]


def test_watching_may_begin_without_a_leader_or_with_a_node_down() -> None:
    assert _events(QuorumView(nodes=(gone(1), node(2, leader=None)))) == [
        (Status.WARN, "node 1 does not answer: refused"),
        (Status.BAD, "watching begins: no node leads"),
    ]


def test_a_leader_without_a_controller_is_never_good_news() -> None:
    assert _events(without_controller()) == [
        (Status.BAD, "watching begins: node 3 leads epoch 5, without a controller")
    ]


def test_voters_come_and_go_by_name() -> None:
    three = well()
    four = view(described([replica(number) for number in (1, 2, 3, 4)]), node(2), node(3))
    other = replace(replica(3), replica=replica(3).replica._replace(directory_id="another"))
    moved = view(described([replica(1), replica(2), other]), node(2), node(3))
    assert _events(three, four, three, moved)[1:] == [
        (Status.NOTE, "voter 4 was added"),
        (Status.NOTE, "voter 4 was removed"),
        (Status.NOTE, "voter 3 has another directory id"),
    ]


def test_observers_of_a_new_leader_are_not_lost_before_they_fetch() -> None:
    voters = [replica(number) for number in (1, 2, 3)]
    before = view(described(voters, [replica(4)]), node(2), node(3))
    elected = view(described(voters, epoch=6), node(2, epoch=6), node(3, epoch=6))
    fetching = view(described(voters, [replica(4)], epoch=6), node(2, epoch=6), node(3, epoch=6))
    assert _events(before, elected, fetching)[1:] == [(Status.GOOD, "node 1 elected, epoch 6")]
    assert _events(fetching, elected)[1:] == [
        (Status.WARN, "observer 4 is gone: it fetches no longer")
    ]


def test_an_observer_that_no_new_leader_hears_of_is_gone_once_it_had_time_to_find_it() -> None:
    voters = [replica(number) for number in (1, 2, 3)]
    before = view(described(voters, [replica(4)]), node(2), node(3))
    elected = view(described(voters, epoch=6), node(2, epoch=6), node(3, epoch=6))
    seconds = SILENT_MS // 1000
    events = _events(before, *[elected] * (seconds + 1))
    assert events[1:] == [(Status.GOOD, "node 1 elected, epoch 6")], "it still looks for the leader"
    events = _events(before, *[elected] * (seconds + 5))
    assert events[2:] == [(Status.WARN, "observer 4 is gone: it fetches no longer")], "said once"


def test_an_observer_is_not_new_because_watching_began_without_a_leader() -> None:
    voters = [replica(number) for number in (1, 2, 3)]
    leaderless = QuorumView(nodes=(node(1, leader=None), node(2, leader=None)))
    led = view(described(voters, [replica(4)]), node(2), node(3))
    assert [words for _, words in _events(leaderless, led)] == [
        "watching begins: no node leads",
        "node 1 leads epoch 5 (1.0 s without a leader)",
    ]


def test_a_node_is_down_for_as_long_as_it_is_however_few_looks_are_remembered() -> None:
    remembering = Remembering()
    down = view(described([replica(number) for number in (1, 2, 3)]), gone(2), node(3))
    for number in range(MOST_SAMPLES + 100):
        at_ms = 1_000 + number * 1_000
        history = remembering.take(at_ms, down, ())
    report = quorum_report(Picture(at_ms=at_ms, view=down, history=history))
    downs = {replica.id: replica.down_ms for replica in report.replicas}
    assert downs == {1: None, 2: at_ms - 1_000, 3: None}
    back = remembering.take(at_ms + 1_000, well(), ())
    assert back.down_since_ms == {}


@pytest.mark.parametrize(
    ("worse", "words", "again"),
    [
        (replica(3, fetched=NOW - SILENT_MS - 1), "voter 3 stopped fetching 6.0 s ago",
         "voter 3 fetches again"),
        (replica(3, end=100 - LAG_RECORDS - 1), "voter 3 fell 1,001 records behind",
         "voter 3 caught up"),
    ],
)  # fmt: skip
def test_a_replica_that_falls_back_is_told_once_and_when_it_is_back(
    worse: ReplicaState, words: str, again: str
) -> None:
    behind = view(described([replica(1), replica(2), worse]), node(2), node(3))
    assert _events(well(), behind, behind, well())[1:] == [
        (Status.WARN, words),
        (Status.GOOD, again),
    ]


def test_a_lost_majority_is_an_event_and_so_is_its_return() -> None:
    silent = [replica(number, fetched=NOW - SILENT_MS - 1) for number in (2, 3)]
    lost = view(described([replica(1), *silent]), node(2), node(3))
    events = _events(well(), lost, well())
    assert (Status.BAD, "only 1 of 3 voters keep up: nothing can be committed") in events
    assert events[-1] == (Status.GOOD, "a majority of the voters keeps up again")


def test_a_feature_that_is_upgraded_is_an_event() -> None:
    now = well()
    leader = now.nodes[0]
    offered = replace(leader.offered, finalized={"kraft.version": 1, "metadata.version": 31})
    upgraded = QuorumView(nodes=(replace(leader, offered=offered), *now.nodes[1:]))
    assert _events(now, upgraded)[1:] == [
        (Status.NOTE, "metadata.version went from level 30 to 31")
    ]


def test_events_are_bounded_and_the_newest_stay() -> None:
    remembering = Remembering()
    for number in range(1000):
        voters = [replica(voter) for voter in (1, 2, 3)]
        look = view(described(voters, epoch=5 + number), node(2), node(3))
        history = remembering.take(number * 1000, look, ())
    assert len(history.events) == MOST_EVENTS
    assert history.events[-1].reason == "node 1 elected, epoch 1004"


# --- directories ------------------------------------------------------------------------------


def test_elections_of_a_real_log_are_events_the_newest_first(fixtures_dir: Path) -> None:
    path = fixtures_dir / "kafka-4.3.0/dynamic-quorum/node-2/data"
    look = DirectoryWatch(str(path)).read()
    history = Remembering().take(look.at_ms, None, (look,))
    report = quorum_report(Picture(at_ms=look.at_ms, directories=(look,), history=history))
    assert [event.reason for event in report.events] == [
        "node 2 elected, epoch 3 (by the log)",
        "node 3 elected, epoch 2 (by the log)",
        "node 2 elected, epoch 1 (by the log)",
    ]


def test_what_happens_in_a_directory_is_told() -> None:
    first = DirectoryReading(path="data", at_ms=1, log_end_offset=200, lock=LockState.HELD)
    stopped = replace(first, lock=LockState.FREE)
    cut = replace(stopped, log_end_offset=150)
    broken = replace(cut, problem="its log is damaged")
    assert _readings(first, first) == []
    assert _readings(first, stopped, cut, broken, cut, replace(cut, lock=LockState.HELD)) == [
        "data: its process exited, nobody holds its lock",
        "data: its log end went back from 200 to 150",
        "data: its log is damaged",
        "data can be read again",
        "data: a process holds its lock now",
    ]


def test_a_directory_that_comes_back_has_no_new_snapshot() -> None:
    """It was unreadable for a look, and its snapshots are the old ones."""
    snapshots = (OffsetAndEpoch(0, 0), OffsetAndEpoch(80, 1))
    first = DirectoryReading(path="data", at_ms=1, log_end_offset=200, snapshots=snapshots)
    away = DirectoryReading(path="data", at_ms=2, problem="permission denied", is_readable=False)
    newer = replace(first, snapshots=(*snapshots, OffsetAndEpoch(190, 1)))
    assert _readings(first, away, replace(first, at_ms=3)) == [
        "data: permission denied",
        "data can be read again",
    ]
    assert _readings(first, away, newer)[-1] == "data: new snapshot at offset 190"


def test_no_age_is_negative() -> None:
    """The clocks of two machines differ."""
    assert age(-1_500) == "0 ms"
