"""Recall: each kind of damage to a node of a quorum of one and of three, audited below Spark."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

pytest.importorskip("pyspark")

from kraftool.reports.findings.finding import Severity
from kraftool.spark.audit.cluster import ClusterMembers, compare, in_company
from kraftool.spark.audit.examine import examine
from kraftool.spark.audit.roots import find
from tests.spark.damage_kinds import KINDS
from tests.support.places import FIXTURES

Place = tuple[object, ...]
QUORUMS = {
    "one": ("kafka-4.3.0/static-single", (1,)),
    "one of 3.9": ("kafka-3.9.1/static-single", (1,)),
    "three, dynamic": ("kafka-4.3.0/dynamic-quorum", (2, 3, 4)),
    "three, upgraded": ("kafka-4.3.0/upgrade", (1, 2, 3)),
}
SILENT = {"meta.properties: another cluster.id"}
"""Nothing in the directory of a sole node shows it, and Kafka starts as another cluster."""


def _quorum(into: Path, name: str) -> Path:
    scenario, ids = QUORUMS[name]
    for id in ids:
        shutil.copytree(FIXTURES / scenario / f"node-{id}/data", into / f"node-{id}")
    for path in into.rglob("*"):
        path.chmod(0o755 if path.is_dir() else 0o644)
    return into


def _weighty(folder: Path) -> set[Place]:
    """The places of errors and warnings, as the audit has them."""
    items = find([str(folder)])
    members = tuple(in_company([examine(item) for item in items.directories]))
    several = (*(member.findings for member in members), items.findings)
    compared = compare(ClusterMembers(name="cluster", members=members)).findings
    return {
        (one.finding.code, one.finding.severity, one.finding.where().replace(str(folder), ""))
        for findings in (*several, compared)
        for one in findings
        if one.finding.severity is not Severity.INFO
    }


@pytest.mark.soak
@pytest.mark.parametrize("name", QUORUMS)
def test_each_kind_of_damage_is_an_error_or_a_warning(name: str, tmp_path: Path) -> None:
    assert len(KINDS) >= 120
    healthy = _quorum(tmp_path / "healthy", name)
    before = _weighty(healthy)
    missed = set()
    for kind, damage in KINDS.items():
        damaged = tmp_path / "damaged"
        shutil.copytree(healthy, damaged)
        nodes = sorted(damaged.iterdir())
        damage(nodes[len(nodes) // 2])
        if not _weighty(damaged) - before:
            missed.add(kind)
        shutil.rmtree(damaged)
    assert missed == (SILENT if len(QUORUMS[name][1]) == 1 else set())


@pytest.mark.parametrize("kind", ["meta.properties: node.id 77", "partition: second"])
def test_the_audit_sees_what_it_missed(kind: str, tmp_path: Path) -> None:
    """Two of the kinds at each run, so that the edits themselves stay right."""
    healthy = _quorum(tmp_path / "healthy", "one")
    before = _weighty(healthy)
    KINDS[kind](healthy / "node-1")
    assert _weighty(healthy) - before
