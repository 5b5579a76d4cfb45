"""Timelines of several nodes: where they are held to disagree, and what of them is shown."""

from dataclasses import replace
from pathlib import Path

import pytest

from kraftool.reports.timeline.event_words import duration
from kraftool.reports.timeline.events import Category
from tests.reports.timeline_logs import (
    FIRST,
    START,
    Log,
    Node,
    broker,
    codes,
    feature,
    nodes_in,
    of_type,
    one,
    timeline,
)


@pytest.fixture
def node(tmp_path: Path) -> Node:
    return nodes_in(tmp_path)


def test_a_log_that_cannot_be_read_is_not_called_absent(node: Node) -> None:
    path = node(1, Log().leader(1, 1))
    partition = path / "__cluster_metadata-0"
    for file in partition.iterdir():
        file.unlink()
    (path / "meta.properties").unlink()
    (partition / f"{0:020}.log").symlink_to("/nowhere/disk-1")
    assert codes(timeline(path)) == {"KT-DIR-READ"}


# --- several nodes --------------------------------------------------------------------------------


def test_what_all_nodes_have_is_one_event(node: Node) -> None:
    log = Log().leader(1, 1).records(broker(11, FIRST, 1)).idle(3)
    report = timeline(node(1, log), node(2, log), node(3, log))
    assert one(report, "broker-registered").nodes == (0, 1, 2)
    assert not report.disagreements


def test_a_log_that_is_merely_behind_disagrees_with_nobody(node: Node) -> None:
    log = Log().leader(1, 1).idle(3)
    behind = log.copy()
    log.leader(2, 2).records(broker(11, FIRST, 1))
    report = timeline(node(1, log), node(2, behind, epoch=3))
    assert not report.disagreements
    assert not report.findings
    assert one(report, "broker-registered").nodes == (0,)
    end = next(event for event in of_type(report, "log-end") if event.nodes == (1,))
    assert end.offset == behind.end
    assert end.data["behind"] == 2
    assert "2 epochs ahead of the log" in end.text
    assert not any(event.disputed for event in report.events)


def test_a_log_that_begins_later_disagrees_with_nobody(node: Node) -> None:
    log = Log().leader(1, 1).idle(3)
    cleaned = log.copy()
    cleaned.base, cleaned.data = log.end, b""
    for part in (log, cleaned):
        part.leader(2, 2).records(broker(11, FIRST, 1))
    report = timeline(node(1, log), node(2, cleaned))
    assert not report.disagreements
    assert one(report, "log-start").offset == 4
    assert one(report, "log-start").nodes == (1,)
    assert one(report, "broker-registered").nodes == (0, 1)


def test_another_epoch_at_the_same_offset_is_a_disagreement_from_there_on(node: Node) -> None:
    log = Log().leader(1, 1).idle(3)
    other = log.copy()
    log.records(broker(11, FIRST, 4)).idle(2)
    other.leader(2, 2).records(broker(12, FIRST, 5))
    report = timeline(node(1, log), node(2, other))
    (parted,) = report.disagreements
    assert parted.offset == 4
    assert [(side.nodes, side.epoch) for side in parted.sides] == [((0,), 1), ((1,), 2)]
    (finding,) = report.findings
    assert (finding.code, finding.offset) == ("KT-LOG-DIVERGED", 4)
    assert "the log of 2 wins an election" in finding.text
    first, second = of_type(report, "broker-registered")
    assert (first.nodes, second.nodes) == ((0,), (1,))
    assert first.disputed
    assert second.disputed
    assert not one(replace(report, events=report.events[:1]), "leader-elected").disputed


def test_where_logs_part_neither_is_behind_the_other(node: Node) -> None:
    log = Log().leader(1, 1).idle(3)
    other, short = log.copy(), log.copy()
    log.idle(5)
    other.leader(2, 2)
    report = timeline(node(1, log), node(2, other), node(3, other.copy().idle()), node(4, short))
    ends = {event.nodes: event for event in of_type(report, "log-end")}
    assert {nodes: end.data["behind"] for nodes, end in ends.items() if nodes != (3,)} == {
        (0,): 0,
        (1,): 1,
        (2,): 0,
    }
    assert "behind" not in ends[0,].text


def test_different_records_in_one_epoch_are_worse_than_a_lost_election(node: Node) -> None:
    log = Log().leader(1, 1)
    other = log.copy()
    report = timeline(
        node(1, log.records(broker(11, FIRST, 1))), node(2, other.records(broker(12, FIRST, 1)))
    )
    assert "One leader never writes that" in report.findings[0].text


def test_three_nodes_of_which_two_agree_part_once(node: Node) -> None:
    log = Log().leader(1, 1).idle()
    other = log.copy()
    log.idle(5)
    other.leader(3, 2).idle(5)
    report = timeline(node(1, log), node(2, other), node(3, other))
    (parted,) = report.disagreements
    assert [side.nodes for side in parted.sides] == [(0,), (1, 2)]
    assert one(replace(report, events=report.events), "diverged").nodes == (0, 1, 2)


def test_batches_that_overlap_are_a_disagreement(node: Node) -> None:
    log = Log().leader(1, 1)
    other = log.copy()
    log.records(feature("group.version", 1), feature("share.version", 1)).idle()
    other.records(feature("group.version", 1)).records(feature("share.version", 1)).idle()
    report = timeline(node(1, log), node(2, other))
    assert "KT-LOG-DIVERGED" in codes(report)
    assert report.disagreements[0].offset == 1


def test_a_log_that_begins_inside_a_batch_of_another_disagrees_with_it(node: Node) -> None:
    log = Log().leader(1, 1)
    later = Log(start=2)
    later.time = log.time + 100
    log.records(feature("group.version", 1), feature("share.version", 1)).idle(2)
    later.records(feature("share.version", 1), after=0).idle(2)
    report = timeline(node(1, log), node(2, later))
    assert [disagreement.offset for disagreement in report.disagreements] == [2]
    assert "other bounds" in report.findings[0].text


def test_a_log_that_jumps_into_a_batch_of_another_disagrees_with_it(node: Node) -> None:
    log = Log().leader(1, 1)
    jumping = log.copy()
    log.records(feature("group.version", 1), feature("share.version", 1))
    jumping.end = 2
    jumping.records(feature("share.version", 1)).idle(2)
    report = timeline(node(1, log), node(2, jumping))
    assert codes(report) == {"KT-LOG-GAP", "KT-LOG-DIVERGED"}
    assert [disagreement.offset for disagreement in report.disagreements] == [2]


def test_damage_on_one_node_is_no_disagreement(node: Node) -> None:
    log = Log().leader(1, 1).idle(3).records(broker(11, FIRST, 1)).idle(2)
    broken = log.copy()
    at = log.data.index(b"\x00\x01h") - 10
    broken.data = log.data[:at] + bytes([log.data[at] ^ 1]) + log.data[at + 1 :]
    report = timeline(node(1, log), node(2, broken))
    assert not report.disagreements
    assert codes(report) == {"KT-LOG-CRC"}
    event = one(report, "damage")
    assert (event.offset, event.nodes) == (4, (1,))
    assert one(report, "broker-registered").nodes == (0,)


def test_a_torn_tail_is_told_where_the_log_ends(node: Node) -> None:
    log = Log().leader(1, 1).idle(3)
    log.data = log.data[:-5]
    report = timeline(node(1, log))
    assert codes(report) == {"KT-LOG-TORN-TAIL"}
    assert one(report, "damage").offset == 3


def test_a_segment_that_is_torn_before_another_is_damage(node: Node) -> None:
    log = Log().leader(1, 1).idle(3)
    second = Log(start=log.end)
    log.data = log.data[:-5]
    report = timeline(node(1, log, second.idle()))
    assert codes(report) == {"KT-LOG-DAMAGE", "KT-LOG-GAP"}


def test_offsets_that_jump_over_a_segment_border_are_a_gap(node: Node) -> None:
    log = Log().leader(1, 1).idle(3)
    second = Log(start=log.end + 2)
    assert codes(timeline(node(1, log, second.idle()))) == {"KT-LOG-GAP"}


def test_nodes_of_one_id_are_named_by_their_paths(node: Node, tmp_path: Path) -> None:
    log = Log().leader(1, 1)
    first = node(1, log)
    copy = tmp_path / "copy"
    first.rename(copy)
    report = timeline(node(1, log), copy)
    assert {view.label for view in report.nodes} == {str(tmp_path / "node-1"), str(copy)}


def test_segments_named_one_by_one_are_one_log(node: Node) -> None:
    log = Log().leader(1, 1).idle(3)
    path = node(1, log, Log(start=log.end).idle(3))
    report = timeline(*sorted((path / "__cluster_metadata-0").glob("*.log")))
    (only,) = report.nodes
    assert (only.label, only.start_offset, only.end_offset) == ("1", 0, 7)


# --- selection ------------------------------------------------------------------------------------


def test_only_offsets_and_times_leave_out_what_is_not_asked_for(node: Node) -> None:
    log = Log().leader(1, 1).records(broker(11, FIRST, 1)).leader(2, 2, after=60_000)
    path = node(1, log)
    only = timeline(path, only=frozenset({Category.ELECTIONS}))
    assert {event.category for event in only.events} == {Category.ELECTIONS}
    assert [event.offset for event in timeline(path, first_offset=1, last_offset=1).events] == [1]
    late = timeline(path, since=START + 30_000, only=frozenset({Category.ELECTIONS}))
    assert [event.epoch for event in late.events] == [2]
    assert late.statistics.elections == 1


def test_damage_is_told_whatever_is_asked_for(node: Node) -> None:
    log = Log().leader(1, 1).idle(3)
    log.data = log.data[:-5]
    report = timeline(node(1, log), only=frozenset({Category.VOTERS}))
    assert [event.type for event in report.events] == ["damage"]


@pytest.mark.parametrize(
    ("milliseconds", "words"),
    [
        (0, "0 ms"),
        (999, "999 ms"),
        (1_000, "1.0 s"),
        (59_949, "59.9 s"),
        (59_951, "1 min"),
        (61_000, "1 min 1 s"),
        (3_600_000, "1 h"),
        (93_600_000, "1 d 2 h"),
    ],
)
def test_durations_are_said_in_two_units_at_most(milliseconds: int, words: str) -> None:
    assert duration(milliseconds) == words
