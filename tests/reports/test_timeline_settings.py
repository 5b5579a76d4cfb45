"""What operators change is in the timeline; each record type is shown, or named as not shown."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kraftool.decoders import schema
from kraftool.reports.timeline.events import Category, Event
from kraftool.reports.timeline.line import NOT_SHOWN, SHOWN
from kraftool.reports.timeline.partitions import MOST_LISTED
from kraftool.reports.timeline.report import TimelineOptions, build
from kraftool.reports.timeline.sources import open_nodes
from kraftool.storage.paths import open_path
from tests.reports.timeline_logs import NOWHERE, TOPIC, Log, nodes_in, timeline
from tests.support.places import ROOT

STATIC = ROOT / "fixtures/kafka-4.3.0/static-single/node-1/data"
SETTINGS = (Category.CONFIGS, Category.QUOTAS, Category.ACLS, Category.USERS, Category.TOKENS)


def events(options: TimelineOptions) -> list[Event]:
    nodes, _ = open_nodes([open_path(str(STATIC))], lambda name, position: None)
    return list(build(nodes, (), options).events)


def at(offset: int) -> str:
    (event,) = events(TimelineOptions(list_topics=True, first_offset=offset, last_offset=offset))
    return event.text


def test_every_record_type_of_the_catalogue_is_shown_or_named_as_not_shown() -> None:
    metadata = set(schema.names("metadata"))
    assert set(SHOWN) - {"LeaderChangeMessage", "VotersRecord", "KRaftVersionRecord"} == (
        metadata - set(NOT_SHOWN)
    )
    assert set(NOT_SHOWN) <= metadata


def test_the_documents_name_every_record_type() -> None:
    text = (ROOT / "docs/what-changed.md").read_text()
    missing = [name for name in schema.names("metadata") if f"`{name}`" not in text]
    assert not missing


@pytest.mark.parametrize(
    ("offset", "words"),
    [
        (32, "config of topic payments-a: segment.ms removed (was 600000)"),
        (46, "ACL added: allow User:alice read on topic orders-a from *"),
        (49, "ACL removed: allow User:bob read on topic prefix orders-a from 10.1.2.3"),
        (50, "quota of client-id app-a, user alice-a: producer_byte_rate=1048576"),
        (54, "quota of user alice-a: producer_byte_rate removed (was 1)"),
        (57, "credential SCRAM-SHA-256 of user alice-a added"),
        (60, "credential SCRAM-SHA-256 of user bob-a removed"),
        (63, "delegation token Ixa9iDkFS0OjT-4vNICzew of User:admin renewed"),
        (64, "delegation token 7jhbnD66TpeUTFQogA3cDg of User:guest removed"),
    ],
)
def test_a_setting_is_told_with_what_it_was(offset: int, words: str) -> None:
    assert at(offset) == words


def test_added_partitions_are_told_and_those_of_new_topics_counted() -> None:
    added = [event for event in events(TimelineOptions()) if event.type == "partitions-added"]
    assert [event.what for event in added] == [
        f"2 partitions added to topic {topic}, which now has 5"
        for topic in ("orders-a", "orders-b")
    ]
    assert added[0].data["partitionIds"] == [3, 4]


def test_no_secret_is_in_an_event() -> None:
    settings = [event for event in events(TimelineOptions()) if event.category in SETTINGS]
    text = json.dumps([[event.text, dict(event.data)] for event in settings])
    assert "[redacted]" in text
    assert "CANARY" not in text
    assert "storedKey" not in text


def test_one_topic_shows_what_is_about_it_and_nothing_else() -> None:
    topic_events = events(TimelineOptions(list_topics=True, topic="payments-a"))
    assert {event.category for event in topic_events} >= {Category.TOPICS, Category.CONFIGS}
    assert all("payments-a" in event.text for event in topic_events)
    mixed = [
        event for event in topic_events if event.type == "leaderless" and event.data["count"] > 3
    ]
    assert mixed
    assert all("of this topic payments-a-" in event.text for event in mixed)
    alone = events(TimelineOptions(topic="orders-a", only=frozenset({Category.ACLS})))
    assert [event.type for event in alone] == ["acl-added", "acl-added", "acl-removed"]


def config(owner: str, value: str | None) -> tuple[str, int, dict[str, Any]]:
    resource = {"resourceType": 2, "resourceName": owner, "name": "segment.ms", "value": value}
    return "ConfigRecord", 0, resource


def quota(user: str | None, value: float) -> tuple[str, int, dict[str, Any]]:
    entity = [{"entityType": "user", "entityName": user}]
    return "ClientQuotaRecord", 0, {"entity": entity, "key": "r", "value": value, "remove": False}


def texts(folder: Path, log: Log, *categories: Category) -> list[str]:
    report = timeline(nodes_in(folder)(1, log), only=frozenset(categories))
    return [event.text for event in report.events]


def test_a_topic_that_was_deleted_leaves_no_configs_to_one_of_its_name(tmp_path: Path) -> None:
    log = Log()
    for id in (TOPIC, NOWHERE):
        log.records(("TopicRecord", 0, {"name": "orders", "topicId": id}))
        log.records(config("orders", "7"))
        log.records(("RemoveTopicRecord", 0, {"topicId": id}))
    assert texts(tmp_path, log, Category.CONFIGS) == ["config of topic orders: segment.ms=7"] * 2


def test_the_default_user_is_not_a_user_of_that_name(tmp_path: Path) -> None:
    log = Log().records(quota(None, 1)).records(quota("default", 2)).records(quota(None, 3))
    assert texts(tmp_path, log, Category.QUOTAS) == [
        "quota of user (default): r=1",
        "quota of user default: r=2",
        "quota of user (default): r=3 (was 1)",
    ]


def test_what_is_set_first_in_a_log_without_its_beginning_may_have_been_there(
    tmp_path: Path,
) -> None:
    credential = {
        "name": "alice", "mechanism": 1, "salt": b"s", "storedKey": b"k", "serverKey": b"k",
        "iterations": 4096,
    }  # fmt: skip
    token = {
        "owner": "User:a", "requester": "User:a", "renewers": [], "issueTimestamp": 1,
        "maxTimestamp": 2, "expirationTimestamp": 2, "tokenId": "t",
    }  # fmt: skip
    log = Log(start=100)
    for _ in range(2):
        log.records(("UserScramCredentialRecord", 0, credential))
        log.records(("DelegationTokenRecord", 0, token))
    unknown = "; the log does not show if it existed before"
    assert texts(tmp_path, log, Category.USERS, Category.TOKENS) == [
        f"credential SCRAM-SHA-256 of user alice added{unknown}",
        f"delegation token t of User:a created{unknown}",
        "credential SCRAM-SHA-256 of user alice changed",
        "delegation token t of User:a renewed",
    ]


def test_a_topic_is_found_among_more_partitions_than_an_event_lists(tmp_path: Path) -> None:
    def leaderless(id: str, partition: int) -> tuple[str, int, dict[str, Any]]:
        change = {"partitionId": partition, "topicId": id, "leader": -1}
        return "PartitionChangeRecord", 0, change

    log = Log()
    for name, id in (("large", NOWHERE), ("small", TOPIC)):
        log.records(("TopicRecord", 0, {"name": name, "topicId": id}))
    log.records(
        *(leaderless(NOWHERE, number) for number in range(MOST_LISTED)), leaderless(TOPIC, 0)
    )
    node = nodes_in(tmp_path)(1, log)
    for topic in ("small", TOPIC, "large"):
        report = timeline(node, topic=topic)
        assert [event.type for event in report.events][-1] == "leaderless", topic
    assert not timeline(node, topic="smaller").events
