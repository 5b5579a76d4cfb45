"""Configs of a topic that does not exist, in a snapshot as real Kafka leaves them."""

from __future__ import annotations

from pathlib import Path

from tests.reports.doctor.cases import (
    begun,
    config,
    found,
    level,
    node,
    one,
    partition,
    snapshot,
    topic,
)

CODE = "KT-SNAP-TOPIC-CONFIG"


def test_configs_without_their_topic_are_named(tmp_path: Path) -> None:
    path = node(tmp_path / "data", begun(1))
    file = snapshot(path, 3, level(), config("gone", "retention.ms", "1"))
    diagnosis = one(CODE, path)
    assert diagnosis.finding.text == "topic gone does not exist but has configs: retention.ms"
    assert diagnosis.evidence[0].file == str(file)
    assert diagnosis.commands[0].endswith("--create --topic gone")


def test_configs_of_a_topic_or_a_broker_are_fine(tmp_path: Path) -> None:
    path = node(tmp_path / "data", begun(1))
    configs = config("foo", "retention.ms", "1"), config("7", "log.cleaner.threads", "1", 4)
    snapshot(path, 3, level(), topic(), partition(), *configs)
    assert not found(CODE, path)
