"""Every healthy fixture is given a clean bill, but for what is truly there.

Real Kafka wrote them, restarts and unclean kills included. What is truly there, by scenario:
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from kraftool.reports.findings.finding import Severity
from tests.reports.doctor.cases import doctor, found
from tests.support.places import FIXTURES

SCENARIOS = sorted(
    path.parent.relative_to(FIXTURES).as_posix()
    for root in ("kafka-*", "built")
    for path in FIXTURES.glob(f"{root}/*/node-1")
)

UNREGISTERED = {"KT-SIG-LOST-REPLICAS"}
"""Broker 12 was unregistered while it had the only replica of some partitions."""
SCRAM = {"KT-SNAP-SCRAM-LOST"}
"""Kafka's own bug: snapshots of these nodes lack a user that the log has."""
FALSE_UPGRADE = {"KT-LOG-FALSE-UPGRADE"}
"""Kafka 3.9.1 writes a kraft.version that the control records do not bear out."""

TRULY_THERE: dict[str, dict[str, set[str]]] = {
    "kafka-3.3.2/static-quorum": dict.fromkeys(["1", "2", "3", "11"], UNREGISTERED),
    "kafka-3.7.2/static-quorum": {
        **dict.fromkeys(["1", "3", "11"], UNREGISTERED),
        "2": UNREGISTERED | SCRAM,
    },
    "kafka-3.9.1/dynamic-quorum": {
        **dict.fromkeys(["1", "4", "11"], UNREGISTERED),
        "3": UNREGISTERED | SCRAM,
    },
    "kafka-3.9.1/upgrade": {
        **dict.fromkeys(["1", "3", "11"], FALSE_UPGRADE),
        "2": FALSE_UPGRADE | SCRAM,
    },
    "kafka-4.1.1/dynamic-quorum": dict.fromkeys(["2", "3", "4", "11"], UNREGISTERED),
    "kafka-4.3.0/dynamic-quorum": {
        **dict.fromkeys(["2", "3", "11"], UNREGISTERED),
        "4": UNREGISTERED | SCRAM,
        "12": SCRAM,
    },
    "kafka-4.4.0/dynamic-quorum": dict.fromkeys(["2", "3", "4", "11"], UNREGISTERED),
    "kafka-4.4.0/upgrade": {"2": SCRAM},
}


def serious(*paths: Path) -> set[str]:
    return {
        finding.code for finding in doctor(*paths).findings if finding.severity is not Severity.INFO
    }


def test_there_are_scenarios() -> None:
    assert len(SCENARIOS) >= 18
    assert set(TRULY_THERE) <= set(SCENARIOS)


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_each_node_by_itself(scenario: str) -> None:
    for node in sorted((FIXTURES / scenario).glob("node-*")):
        expected = TRULY_THERE.get(scenario, {}).get(node.name.removeprefix("node-"), set())
        metadata = [partition.parent for partition in node.glob("data*/__cluster_metadata-0")]
        assert metadata
        for path in (*metadata, node / "server.properties"):
            assert serious(path) == expected, path


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_all_nodes_together(scenario: str) -> None:
    settings = sorted((FIXTURES / scenario).glob("node-*/server.properties"))
    expected = set().union(*TRULY_THERE.get(scenario, {}).values())
    assert serious(*settings) == expected


def test_a_torn_tail_after_a_kill_is_the_one_warning(real: Callable[..., Path]) -> None:
    path = real(1, "kafka-4.3.0/static-single")
    log = path / "__cluster_metadata-0" / f"{0:020}.log"
    log.write_bytes(log.read_bytes()[:-20])
    assert serious(path) == {"KT-LOG-TORN-TAIL"}
    assert len(found("KT-LOG-TORN-TAIL", path)) == 1


def test_a_removed_voters_directory_is_a_note(fixtures_dir: Path) -> None:
    path = fixtures_dir / "kafka-4.3.0/dynamic-quorum/node-1/data"
    diagnoses = found("KT-DIR-NOT-A-VOTER", path)
    assert [diagnosis.finding.severity for diagnosis in diagnoses] == [Severity.INFO]
