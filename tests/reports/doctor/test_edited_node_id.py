"""A node.id that is not the one under which the broker registered the directory."""

from __future__ import annotations

from pathlib import Path

from tests.reports.doctor.cases import found, one

CODE = "KT-DIR-NODE-ID-EDITED"


def test_the_log_knows_the_directory_under_another_node_id(combined: Path) -> None:
    """A sole node with static voters, whose log names no directory id of a voter."""
    assert not found(CODE, combined)
    meta = combined / "meta.properties"
    meta.write_text(meta.read_text().replace("node.id=1", "node.id=77"))
    finding = one(CODE, combined).finding
    assert (finding.file, finding.expected, finding.found) == (str(meta), "1", "77")
    assert "broker 1's" in finding.text


def test_kafka_starts_with_no_negative_node_id(combined: Path) -> None:
    meta = combined / "meta.properties"
    meta.write_text(meta.read_text().replace("node.id=1", "node.id=-4"))
    assert "negative" in one("KT-DIR-META", combined).finding.text
