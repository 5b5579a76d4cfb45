"""Faults planted into copies of a real quorum: each is told once, with all directories named."""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("pyspark")

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))

from fleets.build import FleetPlan, build
from fleets.template import PARTITION

from kraftool.reports.findings.mutes import FindingFilter
from kraftool.spark.audit import examine as examine_module
from tests.spark.audit_cases import (
    LOG,
    VOTERS,
    Told,
    audited,
    batches,
    cut,
    edit_meta,
    quorum,
    replace_batch,
)
from tests.support.places import FIXTURES

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

OTHER, SITES = "AAAAAAAAAAAAAAAAAAAAAw", "AAAAAAAAAAAAAAAAAAAABA"
_IDS = {
    name: f"{number:02}fleetOfTestsAAAAAAAAw"
    for number, name in enumerate(
        (
            "healthy", "same-epoch", "other-epoch", "twice", "three-ways", "directory-id",
            "node-id", "cluster-id", "no-id", "one-id", "behind", "damaged",
        )
    )
}  # fmt: skip


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One cluster for each fault, and some whose directories were mixed up."""
    root = tmp_path_factory.mktemp("fleet")
    for name, id in _IDS.items():
        quorum(root / name, id)
    replace_batch(root / "same-epoch/node-3" / LOG, 60)
    replace_batch(root / "other-epoch/node-3" / LOG, -1, same_epoch=False)
    replace_batch(root / "twice/node-3" / LOG, 60)
    replace_batch(root / "twice/node-4" / LOG, 80)
    replace_batch(root / "three-ways/node-3" / LOG, 60)
    for _ in range(2):
        replace_batch(root / "three-ways/node-4" / LOG, 60)
    shutil.copy(root / "directory-id/node-2/meta.properties", root / "directory-id/node-3")
    edit_meta(root / "directory-id/node-3", "node.id", "3")
    edit_meta(root / "node-id/node-3", "node.id", "2")
    edit_meta(root / "cluster-id/node-3", "cluster.id", OTHER)
    (root / "no-id/node-3/meta.properties").unlink()
    shutil.copytree(root / "one-id", root / "one-id-again")
    cut(root / "behind/node-3" / LOG, 5)
    log = root / "damaged/node-3" / LOG
    data = bytearray(log.read_bytes())
    data[batches(log)[50].position + 70] ^= 1
    log.write_bytes(bytes(data))
    (root / "damaged/node-4/__cluster_metadata-0/quorum-state").write_text("{")
    for number, version in enumerate(("kafka-3.7.2", "kafka-4.1.1")):
        site = root / f"sites/{number}/node-1"
        shutil.copytree(FIXTURES / version / "static-single/node-1/data", site)
        edit_meta(site, "cluster.id", SITES)
    _mixed_up(root / "mixed-up")
    return root


def _mixed_up(root: Path) -> None:
    """Generated clusters, whose logs have nothing in common, with directories mixed up."""
    build(root, FleetPlan(clusters=6, seed=5))
    names = [sorted((root / f"cluster-{number:04}").iterdir()) for number in range(6)]
    edit_meta(names[1][2], "cluster.id", _id_of(names[0][0]))
    one, other = names[2][1], names[3][1]
    (one / PARTITION).rename(root / "aside")
    (other / PARTITION).rename(one / PARTITION)
    (root / "aside").rename(other / PARTITION)
    shutil.copytree(root / "cluster-0004", root / "cluster-0004.bak")


@pytest.fixture(scope="module")
def told(spark: SparkSession, fleet: Path) -> Told:
    return audited(spark, fleet)


def _codes(audit: Told, folder: Path) -> list[str]:
    return [finding["code"] for finding in audit.of(folder)]


def _nodes(folder: Path, *ids: int) -> list[str]:
    return [str(folder / f"node-{id}") for id in ids]


def test_a_healthy_quorum_has_no_finding_between_its_nodes(told: Told, fleet: Path) -> None:
    assert _codes(told, fleet / "healthy") == []


def test_other_bytes_in_the_same_epoch_are_located(told: Told, fleet: Path) -> None:
    (finding,) = told.of(fleet / "same-epoch")
    batch = batches(fleet / "same-epoch/node-3" / LOG)[60]
    assert finding["code"] == "KT-SIG-SAME-PLACE"
    assert (finding["offset"], finding["position"]) == (batch.header.base_offset, batch.position)
    assert finding["file"] == str(fleet / "same-epoch/node-3" / LOG)
    assert finding["paths"] == _nodes(fleet / "same-epoch", 2, 3, 4)
    (divergence,) = [
        divergence
        for divergence in told.document["divergences"]
        if divergence["cluster"] == _IDS["same-epoch"]
    ]
    assert (divergence["firstOffset"], divergence["lastOffset"]) == (
        batch.header.base_offset, batch.last_offset,
    )  # fmt: skip
    assert [side["paths"] for side in divergence["sides"]] == [
        _nodes(fleet / "same-epoch", 2, 4), _nodes(fleet / "same-epoch", 3),
    ]  # fmt: skip
    assert (divergence["isSameEpoch"], divergence["isOpen"]) == (True, False)


def test_records_of_another_epoch_are_a_divergence(told: Told, fleet: Path) -> None:
    (finding,) = told.of(fleet / "other-epoch")
    assert finding["code"] == "KT-LOG-DIVERGED"
    assert "do not agree again" in finding["reason"]


def test_two_divergences_of_one_cluster_are_two_findings(told: Told, fleet: Path) -> None:
    assert _codes(told, fleet / "twice") == ["KT-SIG-SAME-PLACE"] * 2
    files = {finding["file"] for finding in told.of(fleet / "twice")}
    assert files == {str(fleet / f"twice/node-{id}" / LOG) for id in (3, 4)}


def test_three_different_logs_are_three_sides(told: Told, fleet: Path) -> None:
    assert _codes(told, fleet / "three-ways") == ["KT-SIG-SAME-PLACE"]
    (divergence,) = [
        divergence
        for divergence in told.document["divergences"]
        if divergence["cluster"] == _IDS["three-ways"]
    ]
    assert len(divergence["sides"]) == 3


@pytest.mark.parametrize(
    ("name", "code", "nodes"),
    [
        ("directory-id", "KT-DIR-SAME-DIRECTORY-ID", (2, 3)),
        ("node-id", "KT-DIR-SAME-NODE-ID", (2, 3)),
        ("cluster-id", "KT-DIR-CLUSTER-ID", (2, 3)),
    ],
)
def test_an_id_that_is_another_ones_is_told_once(
    told: Told, fleet: Path, name: str, code: str, nodes: tuple[int, ...]
) -> None:
    (finding,) = told.of(fleet / name)
    assert finding["code"] == code
    assert finding["paths"] == _nodes(fleet / name, *nodes)


def test_a_directory_without_a_cluster_id_is_compared_with_its_cluster(
    told: Told, fleet: Path
) -> None:
    (cluster,) = [
        cluster for cluster in told.document["clusters"] if cluster["name"] == _IDS["no-id"]
    ]
    assert cluster["directoryCount"] == 3
    assert _codes(told, fleet / "no-id") == []


def test_a_copied_cluster_is_told_once_and_not_mixed_with_the_first(
    told: Told, fleet: Path
) -> None:
    (finding,) = told.of(fleet / "one-id")
    assert (finding["code"], finding["severity"]) == ("KT-FLEET-SAME-CLUSTER-ID", "warning")
    assert len(finding["paths"]) == 6
    names = [cluster["name"] for cluster in told.document["clusters"]]
    assert {_IDS["one-id"], f"{_IDS['one-id']} (2)"} <= set(names)


def test_a_voter_that_lacks_changes_is_told(told: Told, fleet: Path) -> None:
    codes = _codes(told, fleet / "behind")
    assert "KT-DIR-VOTERS-BEHIND" in codes
    (cluster,) = [
        cluster for cluster in told.document["clusters"] if cluster["name"] == _IDS["behind"]
    ]
    assert cluster["lag"] > 0


def test_damage_is_no_divergence(told: Told, fleet: Path) -> None:
    of = [
        finding["code"]
        for finding in told.findings()
        if any(one.startswith(str(fleet / "damaged")) for one in finding["paths"])
    ]
    assert {"KT-LOG-CRC", "KT-DIR-QUORUM-STATE"} <= set(of)
    assert not {"KT-SIG-SAME-PLACE", "KT-LOG-DIVERGED"} & set(of)
    assert told.document["counts"]["undecodedCount"] > 0


def test_two_clusters_that_were_formatted_with_one_id(told: Told, fleet: Path) -> None:
    sites = fleet / "sites"
    (finding,) = told.of(sites)
    assert (finding["code"], finding["severity"]) == ("KT-FLEET-SAME-CLUSTER-ID", "error")
    assert finding["paths"] == [str(sites / f"{site}/node-1") for site in (0, 1)]


def _id_of(node: Path) -> str:
    (cluster_id,) = re.findall(r"(?m)^cluster.id=(.*)$", (node / "meta.properties").read_text())
    return str(cluster_id)


def test_a_node_under_the_id_of_another_cluster_is_compared_with_its_own(
    told: Told, fleet: Path
) -> None:
    root = fleet / "mixed-up"
    (finding,) = told.of(root / "cluster-0001")
    nodes = sorted((root / "cluster-0001").iterdir())
    owner = sorted((root / "cluster-0000").iterdir())
    assert (finding["code"], finding["severity"]) == ("KT-DIR-CLUSTER-ID", "error")
    assert (finding["expected"], finding["found"]) == (_id_of(nodes[0]), _id_of(owner[0]))
    assert finding["paths"] == [str(nodes[0]), str(nodes[2])]
    assert str(owner[0]) in finding["reason"]
    assert "Do not format it" in finding["advice"]
    assert told.of(root / "cluster-0000") == []
    sizes = {cluster["name"]: cluster["directoryCount"] for cluster in told.document["clusters"]}
    assert (sizes[_id_of(nodes[0])], sizes[_id_of(owner[0])]) == (3, 3)


def test_a_log_of_another_cluster_is_said_to_be_that_ones(told: Told, fleet: Path) -> None:
    root = fleet / "mixed-up"
    for mine, other in (("cluster-0002", "cluster-0003"), ("cluster-0003", "cluster-0002")):
        (finding,) = told.of(root / mine)
        assert finding["code"] == "KT-FLEET-OTHER-LOG"
        assert finding["directory"] == str(sorted((root / mine).iterdir())[1])
        assert str(root / other) in finding["reason"]
        assert "delete nothing" in finding["advice"]
        cluster = _id_of(sorted((root / mine).iterdir())[0])
        assert [
            divergence
            for divergence in told.document["divergences"]
            if divergence["cluster"] == cluster
        ] == []


def test_a_backup_is_not_to_be_formatted(told: Told, fleet: Path) -> None:
    (finding,) = told.of(fleet / "mixed-up/cluster-0004")
    assert (finding["code"], finding["severity"]) == ("KT-FLEET-SAME-CLUSTER-ID", "warning")
    assert "Never start it" in finding["advice"]
    assert "format" not in finding["advice"]


@pytest.fixture(scope="module")
def odd_roots(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Told]:
    """One cluster under several names, of which a fault is ignored, and roots that lead nowhere."""
    folder = tmp_path_factory.mktemp("odd-roots")
    quorum(folder / "cluster")
    replace_batch(folder / "cluster/node-3" / LOG, 60)
    (folder / "link").symlink_to(folder / "cluster")
    (folder / "empty").mkdir()
    again = ("cluster", "link", "cluster/../cluster/node-3")
    roots = ("gone", "empty", "cluster/node-2/__cluster_metadata-0", *again)
    left_out = FindingFilter(ignored_codes=frozenset({"KT-SIG-SAME-PLACE"}))
    return folder, audited(spark, *(folder / root for root in roots), left_out=left_out)


def test_a_directory_given_twice_is_looked_at_once(odd_roots: tuple[Path, Told]) -> None:
    folder, audit = odd_roots
    assert audit.document["counts"]["directoryCount"] == 3
    assert audit.of(folder / "cluster") == []


def test_a_root_that_leads_nowhere_is_a_finding_and_the_rest_goes_on(
    odd_roots: tuple[Path, Told],
) -> None:
    folder, audit = odd_roots
    assert [(finding["code"], finding["file"]) for finding in audit.between()] == [
        ("KT-DIR-EMPTY", str(folder / "empty")), ("KT-DIR-READ", str(folder / "gone")),
    ]  # fmt: skip
    assert all(finding["isUndecoded"] for finding in audit.between())
    assert audit.document["counts"]["directoryCount"] == 3


def test_where_there_is_nothing_the_finding_is_all(spark: SparkSession, tmp_path: Path) -> None:
    audit = audited(spark, tmp_path / "gone")
    assert [finding["code"] for finding in audit.findings()] == ["KT-DIR-READ"]
    assert (audit.document["clusters"], audit.document["directories"]) == ([], [])


def test_what_nobody_expected_in_one_directory_is_a_finding(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from kraftool.spark.audit.roots import find

    quorum(tmp_path / "cluster")

    def failing(path: str, progress: object) -> None:
        raise ZeroDivisionError("secret")

    monkeypatch.setattr(examine_module, "read_once", failing)
    (item, *_) = find([str(tmp_path)]).directories
    examined = examine_module.examine(item)
    (finding,) = examined.findings
    assert (finding.finding.code, finding.finding.undecoded) == ("KT-FLEET-FAILED", True)
    assert "ZeroDivisionError" in finding.finding.text
    assert "secret" not in finding.finding.text
    assert examined.summary.finding_counts.error == 1


def test_ignored_codes_are_left_out_and_counted(odd_roots: tuple[Path, Told]) -> None:
    _, audit = odd_roots
    assert "KT-SIG-SAME-PLACE" not in {finding["code"] for finding in audit.findings()}
    assert audit.document["divergences"] != []
    assert audit.document["counts"]["ignoredCount"] == 1


def test_a_damaged_directory_is_not_taken_into_a_complete_clone(
    spark: SparkSession, tmp_path: Path
) -> None:
    """Two clusters from one template (`cp -a`: the same ids and first batches) that diverged; of
    the first only one directory is left, damaged and without meta.properties."""
    clone = quorum(tmp_path / "clone")
    lost = clone / "lost"
    shutil.copytree(clone / "node-2", lost)
    (lost / "meta.properties").unlink()
    for id in VOTERS:
        log = clone / f"node-{id}" / LOG
        for number in range(5, len(batches(log))):
            replace_batch(log, number)
    middle = batches(lost / LOG)[len(batches(lost / LOG)) // 2]
    data = bytearray((lost / LOG).read_bytes())
    data[middle.position + middle.size - 1] ^= 1
    (lost / LOG).write_bytes(bytes(data))
    audit = audited(spark, tmp_path)
    cluster_of = {
        directory["name"]: directory["cluster"] for directory in audit.document["directories"]
    }
    assert len(cluster_of) == 4
    assert cluster_of[str(lost)] not in {cluster_of[str(clone / f"node-{id}")] for id in VOTERS}
    assert not _whole_copies(audit)


def _whole_copies(audit: Told) -> list[dict[str, Any]]:
    return [
        finding
        for finding in audit.findings(weighty=False)
        if finding["code"] == "KT-SIG-WHOLE-COPY"
    ]
