"""A finalized level outside a registered node's range, and at its edge."""

from __future__ import annotations

from pathlib import Path

from kraftool.reports.findings.finding import Severity
from tests.reports.doctor.cases import broker, found, level, one, severities, state


def ranged(highest: int) -> list[dict[str, object]]:
    return [{"name": "metadata.version", "minSupportedVersion": 7, "maxSupportedVersion": highest}]


def test_a_broker_of_an_older_release_is_named_with_the_record(tmp_path: Path) -> None:
    diagnosis = one("KT-SIG-FEATURE-RANGE", state(tmp_path / "data", broker(features=ranged(27))))
    assert diagnosis.finding.text == (
        "broker 11 supports metadata.version 7 to 27, but 30 (4.3-IV0) is finalized"
    )
    assert diagnosis.evidence[0].found == "FeatureLevelRecord metadata.version 30"
    assert diagnosis.evidence[0].offset == 3
    assert (
        diagnosis.commands[0] == "kafka-features.sh --bootstrap-controller c1.example:9090 describe"
    )


def test_a_fenced_one_is_a_warning(tmp_path: Path) -> None:
    path = state(tmp_path / "data", broker(features=ranged(27), fenced=True))
    assert severities("KT-SIG-FEATURE-RANGE", path) == [Severity.WARNING]


def test_the_edge_of_the_range_is_fine(tmp_path: Path) -> None:
    assert not found("KT-SIG-FEATURE-RANGE", state(tmp_path / "data", broker(features=ranged(30))))


def test_a_feature_that_a_node_does_not_mention_is_fine(tmp_path: Path) -> None:
    path = state(tmp_path / "data", broker(), level(1, "share.version"))
    assert not found("KT-SIG-FEATURE-RANGE", path)
