"""min.insync.replicas above the number of replicas: the topic's own, or the cluster's."""

from __future__ import annotations

from pathlib import Path

from tests.reports.doctor.cases import config, found, one, partition, state, topic

CODE, KEY = "KT-SIG-MIN-ISR", "min.insync.replicas"


def test_a_topics_own_setting_is_named(tmp_path: Path) -> None:
    diagnosis = one(CODE, state(tmp_path / "data", topic(), partition(), config("foo", KEY, "3")))
    assert diagnosis.finding.text == "topic foo has 2 replicas, but its min.insync.replicas is 3"
    assert diagnosis.commands[0].endswith("--entity-name foo --add-config min.insync.replicas=2")


def test_the_clusters_default_counts_where_the_topic_has_none(tmp_path: Path) -> None:
    diagnosis = one(CODE, state(tmp_path / "data", topic(), partition(), config("", KEY, "3", 4)))
    assert "the cluster's" in diagnosis.finding.text
    assert "--entity-type brokers --entity-default" in diagnosis.commands[0]


def test_a_lower_setting_of_the_topic_overrides_it(tmp_path: Path) -> None:
    configs = config("", KEY, "3", 4), config("foo", KEY, "2")
    assert not found(CODE, state(tmp_path / "data", topic(), partition(), *configs))


def test_what_is_no_number_is_passed_over(tmp_path: Path) -> None:
    assert not found(CODE, state(tmp_path / "data", topic(), partition(), config("foo", KEY, "x")))
