"""What the State view finds by name, and its overview card, over states of real Kafka."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kraftool.decoders.redact import MASK
from kraftool.image.image import EMPTY, MetadataImage
from kraftool.image.topics import TopicImage, TopicsImage
from kraftool.reports.browse import state_finder
from kraftool.reports.browse.state_finder import (
    FoundKind,
    FoundRow,
    find_entities,
    topic_partitions,
)
from kraftool.reports.browse.state_overview import state_overview
from kraftool.reports.browse.state_tree import StateTree
from kraftool.reports.findings.status import Status
from kraftool.reports.state.load import load_state
from kraftool.reports.state.summary import state_counts


@pytest.fixture
def image(fixtures_dir: Path) -> MetadataImage:
    """Its one broker is fenced: nothing is online."""
    return load_state(str(fixtures_dir / "kafka-4.3.0/dynamic-quorum/node-2/data")).image


def test_names_are_found_whole_names_and_beginnings_first(image: MetadataImage) -> None:
    rows = find_entities(image, "ORDERS")
    assert [row.name for row in rows if row.kind is FoundKind.TOPIC] == ["orders-a", "orders-b"]
    assert [row.name for row in find_entities(image, "a-a") if row.kind is FoundKind.TOPIC] == []
    names = [row.name for row in find_entities(image, "safe") if row.kind is FoundKind.TOPIC]
    assert names == ["safe-a"]
    topic = image.topics.by_name["orders-b"]
    assert [row.name for row in find_entities(image, topic.id)] == ["orders-b"]


def test_brokers_are_found_by_number_and_host_and_say_that_they_are_fenced(
    image: MetadataImage,
) -> None:
    for words in ("broker 11", "127.0.0.1"):
        broker = next(row for row in find_entities(image, words) if row.kind is FoundKind.BROKER)
        assert (broker.name, broker.status) == ("11", Status.WARN)
        assert broker.text.startswith("fenced, ")


def test_configs_are_found_by_resource_and_by_name_and_keep_their_secrets(
    image: MetadataImage,
) -> None:
    matches = find_entities(image, "keystore.password")
    assert [(row.name, row.text) for row in matches] == [
        ("broker 11", f"listener.name.sasl.ssl.keystore.password = {MASK}")
    ]
    rows = [row for row in find_entities(image, "payments-a") if row.kind is FoundKind.CONFIG]
    assert {row.text.partition(" =")[0] for row in rows} >= {"retention.ms", "cleanup.policy"}


def test_every_row_is_where_the_tree_has_it(image: MetadataImage) -> None:
    rows = [row for row in find_entities(image, "") if row.path]
    assert len(rows) > 20
    rows += [row for row in topic_partitions(image, "orders-a") if row.path]
    tree = StateTree(image)
    for row in rows:
        tree.reveal(row.path)
        assert row.path in {shown.path for shown in tree.rows()}, row


def test_a_topics_partitions_are_named_with_leader_isr_and_min_isr(image: MetadataImage) -> None:
    heading, columns, first, *rest = topic_partitions(image, "orders-a")
    assert heading.text.startswith("5 partitions, 5 offline, topic id ")
    assert columns.text.split() == ["partition", "leader", "ISR", "replicas", "min", "ISR"]
    assert (first.name, first.status) == ("orders-a-0", Status.BAD)
    assert first.text.split() == ["orders-a-0", "none", "-", "11,12", "1", "offline,", "ELR", "11"]
    assert len(rest) == 4
    assert topic_partitions(image, "no such topic") == ()


def _with_isr(image: MetadataImage, *isrs: tuple[int, ...]) -> MetadataImage:
    """orders-a with a leader, and these ISRs; min.insync.replicas is the brokers' 2."""
    topic = image.topics.by_name["orders-a"]
    partitions = {
        number: topic.partitions[number]._replace(leader=11, isr=isr)
        for number, isr in enumerate(isrs)
    }
    changed = replace(topic, partitions=partitions)
    return replace(
        image,
        topics=TopicsImage(by_id={topic.id: changed}, by_name={topic.name: changed}),
    )


def test_a_partition_has_a_sign_and_a_word_for_its_state(image: MetadataImage) -> None:
    rows = topic_partitions(_with_isr(image, (11, 12), (11,)), "orders-a")[2:]
    assert [(row.status, row.text.split("  ")[-1].strip()) for row in rows] == [
        (Status.GOOD, "in sync"),
        (Status.WARN, "under-replicated"),
    ]


def test_long_lists_are_cut_and_counted(
    image: MetadataImage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(state_finder, "MOST", 2)
    topics = [row for row in find_entities(image, "") if row.kind is FoundKind.TOPIC]
    assert len(topics) == 2
    notes = [row.text for row in find_entities(image, "") if row.kind is FoundKind.HEADING]
    made: list[FoundRow] = []
    row_of = state_finder._topic

    def made_row(*given: Any) -> FoundRow:
        made.append(row_of(*given))
        return made[-1]

    monkeypatch.setattr(state_finder, "_topic", made_row)
    find_entities(image, "")
    assert len(made) == 2, "partitions are counted only for what is listed"
    assert notes[0] == f"… and {len(image.topics.by_id) - 2} more topics: type more of the name"


def test_the_card_has_the_counts_of_the_state_and_never_green_over_what_is_wrong(
    image: MetadataImage,
) -> None:
    counts = state_counts(image)
    lines = {
        label: [(part.status, part.text) for part in parts]
        for label, parts in state_overview(image).lines
    }
    assert (Status.BAD, "1 broker, all fenced") in lines["Nodes"]
    assert (Status.BAD, f"{counts.offline_partitions} offline") in lines["Topics"]
    assert "metadata.version 4.3-IV0" in [text for _, text in lines["Cluster"]]
    good = [text for parts in lines.values() for status, text in parts if status is Status.GOOD]
    assert good == []
    healthy = _with_isr(image, (11, 12), (12, 11))
    parts = dict(state_overview(healthy).lines)["Topics"]
    assert [(part.status, part.text) for part in parts] == [
        (Status.NOTE, "1 topic, 2 partitions"),
        (Status.GOOD, "all in sync"),
    ]


def test_a_card_of_a_damaged_state_is_never_green(image: MetadataImage) -> None:
    healthy = _with_isr(image, (11, 12), (12, 11))
    parts = dict(state_overview(healthy, is_whole=False).lines)["Topics"]
    assert (Status.UNKNOWN, "all in sync") in [(part.status, part.text) for part in parts]


def test_an_empty_state_has_a_card_too() -> None:
    parts = dict(state_overview(EMPTY).lines)
    assert parts["Cluster"][0].status is Status.WARN
    assert parts["Nodes"][0].text == "0 brokers"
    assert find_entities(EMPTY, "") == ()
    lonely = TopicImage(name="a", id="b")
    one = replace(EMPTY, topics=TopicsImage(by_id={"b": lonely}, by_name={"a": lonely}))
    assert [row.text for row in find_entities(one, "a")] == ["0 partitions"]
