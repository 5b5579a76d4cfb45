"""What operators change is in the timeline; each record type is shown, or named as not shown."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kraftool.decoders import schema
from kraftool.reports.timeline.events import Category, Event
from kraftool.reports.timeline.line import NOT_SHOWN, SHOWN
from kraftool.reports.timeline.report import TimelineOptions, build
from kraftool.reports.timeline.sources import open_nodes
from kraftool.storage.paths import open_path

ROOT = Path(__file__).parents[2]
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
    added = [each for each in events(TimelineOptions()) if each.type == "partitions-added"]
    assert [each.what for each in added] == [
        f"2 partitions added to topic {topic}, which now has 5"
        for topic in ("orders-a", "orders-b")
    ]
    assert added[0].data["partitionIds"] == [3, 4]


def test_no_secret_is_in_an_event() -> None:
    told = [each for each in events(TimelineOptions()) if each.category in SETTINGS]
    text = json.dumps([[each.text, dict(each.data)] for each in told])
    assert "[redacted]" in text
    assert "CANARY" not in text
    assert "storedKey" not in text


def test_one_topic_shows_what_is_about_it_and_nothing_else() -> None:
    told = events(TimelineOptions(list_topics=True, topic="payments-a"))
    assert {each.category for each in told} >= {Category.TOPICS, Category.CONFIGS}
    named = [each.text for each in told if "partitions" not in each.data]  # which names a few
    assert named
    assert all("payments-a" in text for text in named)
    alone = events(TimelineOptions(topic="orders-a", only=frozenset({Category.ACLS})))
    assert [each.type for each in alone] == ["acl-added", "acl-added", "acl-removed"]
