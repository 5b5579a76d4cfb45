"""What the events of a timeline say, over logs built for it."""

from pathlib import Path
from typing import Any

import pytest

from kraftool.decoders.control import ControlRecordType
from kraftool.reports.findings.finding import Severity
from kraftool.reports.timeline.events import Category, Visibility
from tests.reports.timeline_logs import (
    ABORT,
    BEGIN,
    END,
    FIRST,
    NOWHERE,
    SECOND,
    TOPIC,
    Log,
    Node,
    broker,
    change,
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


# --- elections ------------------------------------------------------------------------------------


def test_an_election_tells_the_gap_the_epochs_skipped_and_the_reign_before(node: Node) -> None:
    log = Log().leader(1, 1).idle(4).leader(3, 5, after=1_700)
    first, second = of_type(timeline(node(1, log)), "leader-elected")
    assert first.data["epochsSkipped"] == 0
    assert first.data["previousLedMs"] is None
    assert second.data["epochsSkipped"] == 3
    assert second.data["gapMs"] == 1_700
    assert second.data["previousLedMs"] == 4 * 500
    assert second.data["previousLeader"] == 1
    assert "1.7 s after the last record of epoch 1" in second.text
    assert "epochs 2 to 4 left no record" in second.text
    assert "granted by 3 of voters 1, 2, 3" in second.text


def test_epoch_0_never_has_a_leader_and_is_not_skipped(node: Node) -> None:
    assert one(timeline(node(1, Log().leader(1, 1))), "leader-elected").data["epochsSkipped"] == 0


def test_a_first_leader_of_a_later_epoch_had_failed_elections_before(node: Node) -> None:
    event = one(timeline(node(1, Log().leader(3, 3))), "leader-elected")
    assert event.data["epochsSkipped"] == 2


def test_what_a_log_that_was_cleaned_does_not_show_is_not_claimed(node: Node) -> None:
    log = Log(start=100)
    event = one(timeline(node(1, log.leader(3, 7))), "leader-elected")
    assert event.data["epochsSkipped"] is None
    assert event.data["previousEpoch"] is None
    assert "skipped" not in event.text


def test_two_elections_within_an_hour_worry_and_one_does_not(node: Node) -> None:
    calm = Log().leader(1, 1).leader(2, 2).leader(3, 3, after=3_700_000)
    hasty = Log().leader(1, 1).leader(2, 2).leader(3, 3, after=3_500_000)
    first, second = timeline(node(1, calm)).statistics, timeline(node(2, hasty)).statistics
    assert (first.most_elections_in_an_hour, first.is_worrying) == (1, False)
    assert (second.most_elections_in_an_hour, second.is_worrying) == (2, True)
    assert first.elections == second.elections == 3
    assert first.elections_won_by_leader == {1: 1, 2: 1, 3: 1}


def test_an_epoch_without_its_leader_change_is_told(node: Node) -> None:
    log = Log().leader(1, 1).idle()
    log.epoch = 2
    event = one(timeline(node(1, log.idle())), "epoch-began")
    assert (event.epoch, event.offset) == (2, 2)


# --- voters, features -----------------------------------------------------------------------------


def voter(id: int, directory: str = NOWHERE, port: int = 9093) -> dict[str, Any]:
    return {
        "voterId": id,
        "voterDirectoryId": directory,
        "endpoints": [{"name": "C", "host": "h", "port": port}],
        "kRaftVersionFeature": {"minSupportedVersion": 0, "maxSupportedVersion": 1},
    }


def test_voters_are_told_by_what_changed(node: Node) -> None:
    log = Log().leader(1, 1)
    for voters in (
        [voter(1), voter(2)],
        [voter(2), voter(1), voter(3)],
        [voter(2), voter(3, port=9999)],
        [voter(3, port=9999), voter(2)],
    ):
        log.control(ControlRecordType.KRAFT_VOTERS, {"version": 0, "voters": voters})
    events = of_type(timeline(node(1, log)), "voters")
    assert [event.what for event in events] == [
        "voters 1, 2",
        "voter 3 at h:9093 added",
        "voter 1 removed, voter 3 updated: endpoints h:9093 → h:9999",
        "voters repeated, unchanged",
    ]
    assert events[2].data["removed"] == [1]
    assert events[2].data["updated"] == [3]


def test_a_metadata_version_is_named_by_its_release(node: Node) -> None:
    log = Log().leader(1, 1).records(feature("metadata.version", 21))
    log.records(feature("metadata.version", 30)).records(feature("metadata.version", 99))
    events = of_type(timeline(node(1, log)), "feature-level")
    assert [event.what for event in events] == [
        "metadata.version 3.9-IV0 (21)",
        "metadata.version 3.9-IV0 (21) → 4.3-IV0 (30)",
        "metadata.version 4.3-IV0 (30) → of a newer Kafka (99)",
    ]


def test_a_feature_level_record_of_kraft_version_is_told_as_the_false_claim_it_is(
    node: Node,
) -> None:
    event = one(
        timeline(node(1, Log().leader(1, 1).records(feature("kraft.version", 1)))), "feature-level"
    )
    assert "Kafka ignores" in event.text
    assert event.severity is Severity.WARNING


def test_the_states_of_a_zookeeper_migration_have_kafkas_names(node: Node) -> None:
    """As a migration with Kafka 3.9.1 went: 2, 1, 3; and a number that no Kafka wrote."""
    log = Log().leader(1, 1)
    for state in (2, 1, 3, 9):
        log.records(("ZkMigrationStateRecord", 0, {"zkMigrationState": state}))
    report = timeline(node(1, log))
    assert [event.text for event in report.events if event.type == "zk-migration"] == [
        f"ZooKeeper migration state {name}"
        for name in ("PRE_MIGRATION (2)", "MIGRATION (1)", "POST_MIGRATION (3)", "9")
    ]


# --- brokers --------------------------------------------------------------------------------------


def test_a_new_incarnation_is_a_restart_and_the_same_one_an_amendment(node: Node) -> None:
    moved = [{"name": "B", "host": "h", "port": 9999, "securityProtocol": 0}]
    log = Log().leader(1, 1).records(broker(11, FIRST, 1))
    log.records(broker(11, FIRST, 2, endPoints=moved)).records(broker(11, SECOND, 3, rack="r1"))
    report = timeline(node(1, log))
    assert [event.type for event in report.events if event.category is Category.BROKERS] == [
        "broker-registered",
        "broker-amended",
        "broker-restarted",
    ]
    assert "endpoints h:9092 → h:9999" in one(report, "broker-amended").text
    assert "in rack r1" in one(report, "broker-restarted").text


def test_both_kinds_of_fencing_records_are_told(node: Node) -> None:
    log = Log().leader(1, 1).records(broker(11, FIRST, 1))
    log.records(("UnfenceBrokerRecord", 0, {"id": 11, "epoch": 1}), after=250)
    log.records(change(11, 1, inControlledShutdown=1)).records(change(11, 1, fenced=1))
    log.records(("FenceBrokerRecord", 0, {"id": 11, "epoch": 1}))
    log.records(change(11, 1, fenced=-1), after=4_000)
    report = timeline(node(1, log))
    assert [event.type for event in report.events if event.category is Category.BROKERS][1:] == [
        "broker-unfenced",
        "broker-controlled-shutdown",
        "broker-fenced",
        "broker-fenced",
        "broker-unfenced",
    ]
    first, last = of_type(report, "broker-unfenced")
    assert "fenced for 250 ms" in first.text
    assert "fenced for 4" in last.text
    shutdown, again = of_type(report, "broker-fenced")
    assert "at the end of its controlled shutdown" in shutdown.text
    assert again.text == "broker 11 fenced; it was fenced already"


def test_the_time_that_a_broker_was_fenced_includes_the_time_before_its_restart(
    node: Node,
) -> None:
    log = Log().leader(1, 1).records(broker(11, FIRST, 1)).records(change(11, 1, fenced=-1))
    log.records(change(11, 1, fenced=1)).records(broker(11, SECOND, 2), after=60_000)
    log.records(change(11, 2, fenced=-1), after=3_000)
    assert "fenced for 1 min 3 s" in of_type(timeline(node(1, log)), "broker-unfenced")[-1].text


def test_log_directories_that_are_gone_and_cordoned_ones_are_told(node: Node) -> None:
    log = Log().leader(1, 1)
    name, _, value = broker(11, FIRST, 1, logDirs=[FIRST, SECOND])
    log.records((name, 3, value)).records(change(11, 1, cordonedLogDirs=[]))
    log.records(change(11, 1, logDirs=[FIRST])).records(change(11, 1, cordonedLogDirs=[FIRST]))
    log.records(change(11, 1, cordonedLogDirs=[]))
    report = timeline(node(1, log))
    assert one(report, "broker-directories").data["gone"] == [SECOND]
    cordoned = of_type(report, "broker-cordoned")
    assert [event.data["cordonedLogDirs"] for event in cordoned] == [[FIRST], []]


def test_an_unregistered_controller_is_told(node: Node) -> None:
    record = ("UnregisterControllerRecord", 0, {"controllerId": 4})
    log = Log().leader(1, 1).records(record)
    assert one(timeline(node(1, log)), "controller-unregistered").data["controller"] == 4


# --- transactions ---------------------------------------------------------------------------------


def test_events_of_an_open_transaction_are_marked_as_not_visible(node: Node) -> None:
    log = Log().leader(1, 1).records(BEGIN).records(feature("group.version", 1)).idle()
    report = timeline(node(1, log))
    assert one(report, "feature-level").visibility is Visibility.OPEN
    event = one(report, "transaction-open")
    assert event.data == {"name": "Bootstrap records", "begin": 1, "records": 2}
    assert "KT-LOG-TXN-OPEN" in codes(report)


def test_an_aborted_transaction_is_taken_back(node: Node) -> None:
    log = Log().leader(1, 1).records(feature("group.version", 1), broker(11, FIRST, 1))
    log.records(BEGIN, feature("group.version", 0), broker(11, SECOND, 2), ABORT)
    log.records(feature("group.version", 1), broker(11, FIRST, 3))
    report = timeline(node(1, log))
    features = of_type(report, "feature-level")
    assert [event.visibility for event in features] == [
        Visibility.VISIBLE,
        Visibility.ABORTED,
        Visibility.VISIBLE,
    ]
    assert features[2].data["from"] == 1
    assert one(report, "broker-amended").offset == 8
    aborted = one(report, "transaction-aborted")
    assert aborted.data["records"] == 2
    assert "reason: Controller failover" in aborted.text
    assert not codes(report)


def test_a_control_record_between_is_no_record_of_the_transaction(node: Node) -> None:
    log = Log().leader(1, 1).records(BEGIN, feature("group.version", 1)).leader(2, 2).records(END)
    report = timeline(node(1, log))
    assert one(report, "transaction-committed").data["records"] == 1
    assert all(event.visibility is Visibility.VISIBLE for event in report.events)


def test_a_log_that_is_merely_behind_has_no_open_transaction(node: Node) -> None:
    log = Log().leader(1, 1).records(BEGIN)
    behind = log.copy()
    report = timeline(node(1, log.records(END)), node(2, behind))
    assert not codes(report)
    assert one(report, "transaction-committed").nodes == (0,)
    assert one(report, "transaction-began").nodes == (0, 1)


# --- partitions, topics, gaps ---------------------------------------------------------------------


def leader_of(partition: int, **fields: Any) -> tuple[str, int, dict[str, Any]]:
    value = {
        "partitionId": partition,
        "topicId": TOPIC,
        "isr": None,
        "leader": -2,
        "replicas": None,
        "removingReplicas": None,
        "addingReplicas": None,
        "leaderRecoveryState": -1,
        **fields,
    }
    return "PartitionChangeRecord", 0, value


def test_partitions_that_lose_their_leader_are_one_event_a_batch(node: Node) -> None:
    log = Log().leader(1, 1).records(("TopicRecord", 0, {"name": "orders", "topicId": TOPIC}))
    log.records(*(leader_of(partition, leader=-1) for partition in range(5)))
    log.records(leader_of(0, leader=12, isr=[12], leaderRecoveryState=1), leader_of(1, leader=12))
    report = timeline(node(1, log))
    event = one(report, "leaderless")
    assert event.what == "5 partitions without a leader: orders-0, orders-1, orders-2 and 2 more"
    assert len(event.data["partitions"]) == 5
    unclean = one(report, "unclean-election")
    assert unclean.text.startswith("1 unclean leader election: orders-0; led by 12; ISR [12]")
    assert unclean.severity is Severity.ERROR


def test_topics_are_counted_and_listed_only_when_asked_for(node: Node) -> None:
    log = Log().leader(1, 1).records(("TopicRecord", 0, {"name": "orders", "topicId": TOPIC}))
    log.records(("RemoveTopicRecord", 0, {"topicId": TOPIC}))
    path = node(1, log)
    report = timeline(path)
    assert not of_type(report, "topic-created", "topic-deleted")
    assert (report.statistics.created_topics, report.statistics.deleted_topics) == (1, 1)
    assert one(timeline(path, list_topics=True), "topic-deleted").what == "topic orders deleted"


def test_a_gap_claims_no_active_controller_only_where_idle_records_came_before(node: Node) -> None:
    quiet = Log().leader(1, 1).records(feature("group.version", 1))
    busy = Log().leader(1, 1).idle(3)
    first = one(timeline(node(1, quiet.leader(2, 2, after=30_000))), "gap")
    second = one(timeline(node(2, busy.leader(2, 2, after=30_000))), "gap")
    assert "may or may not have been an active controller" in first.text
    assert "idle records were 500 ms apart at most before it" in second.text
    assert (first.severity, second.severity) == (Severity.INFO, Severity.WARNING)
    assert first.data["milliseconds"] == second.data["milliseconds"] == 30_000
    assert second.data["newEpoch"]


def test_a_pause_such_as_idle_records_let_wait_is_not_held_against_anybody(node: Node) -> None:
    log = Log().leader(1, 1)
    for _ in range(3):
        log.records(("NoOpRecord", 0, {}), after=9_000)
    event = one(timeline(node(1, log.leader(2, 2, after=12_000))), "gap")
    assert event.severity is Severity.INFO
    assert event.data["idleWaitMs"] == 9_000


def test_other_records_between_do_not_make_idle_records_seem_more_frequent(node: Node) -> None:
    log = Log().leader(1, 1)
    for number in range(8):
        log.records(feature("group.version", number % 2 + 1), after=3_900)
        log.records(("NoOpRecord", 0, {}), after=100)
    event = one(timeline(node(1, log.leader(2, 2, after=11_000))), "gap")
    assert (event.data["idleWaitMs"], event.severity) == (4_000, Severity.INFO)


def test_a_pause_no_longer_than_asked_for_is_no_gap(node: Node) -> None:
    path = node(1, Log().leader(1, 1).idle().leader(2, 2, after=10_000))
    assert not of_type(timeline(path), "gap")
    assert of_type(timeline(path, gaps_ms=9_999), "gap")


def test_a_clock_that_is_set_back_is_told(node: Node) -> None:
    log = Log().leader(1, 1).leader(2, 2, after=-5_000)
    assert one(timeline(node(1, log)), "clock-back").data["milliseconds"] == -5_000
