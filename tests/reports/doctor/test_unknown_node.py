"""A controller's directory of a static quorum under the node.id of nobody."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tests.reports.doctor.cases import found, one

CODE = "KT-SIG-UNKNOWN-NODE"


def renumber(data: Path) -> Path:
    meta = data / "meta.properties"
    lines = [line for line in meta.read_text().splitlines() if not line.startswith("node.id")]
    meta.write_text("\n".join([*lines, "node.id=77", ""]))
    return data


def test_a_controller_under_a_node_id_of_nobody_was_edited(real: Callable[..., Path]) -> None:
    """Kafka 3.9.1: node id 77 must be included in the set of voters."""
    data = real(2, "kafka-3.7.2/static-quorum")
    assert not found(CODE, data)
    finding = one(CODE, renumber(data)).finding
    assert (finding.file, finding.found) == (str(data / "meta.properties"), "77")
    assert finding.expected == "one of 1, 2, 3"


def test_a_broker_may_not_have_registered_yet(real: Callable[..., Path]) -> None:
    data = real(2, "kafka-3.7.2/static-quorum")
    (renumber(data) / "recovery-point-offset-checkpoint").write_text("0\n0\n")
    assert not found(CODE, data)


def test_a_dynamic_quorum_has_observers(real: Callable[..., Path]) -> None:
    assert not found(CODE, renumber(real(2)))
