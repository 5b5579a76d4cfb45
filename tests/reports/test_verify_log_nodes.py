"""What verify-log and dump say of voters, and of several nodes' logs, beside diff-voters."""

from __future__ import annotations

from pathlib import Path

import pytest

from kraftool.reports.directory.report import read_location
from kraftool.reports.directory.voter_sources import read_sources
from kraftool.reports.findings.finding import Finding, Severity
from kraftool.reports.timeline.report import build
from kraftool.reports.timeline.sources import open_nodes
from kraftool.reports.verify.log import LogVerification, verify_logs
from kraftool.reports.verify.snapshot import verify_snapshots
from kraftool.reports.voters.diff import diff_voters
from kraftool.reports.voters.judged_directory import JudgedDirectory
from kraftool.storage.paths import Location, open_path
from tests.reports.log_node import VOTERS, Node
from tests.reports.voter_cases import (
    LogBuilder,
    add_snapshot,
    copied,
    leader,
    make_node,
    server,
    started,
    version,
    voters,
)


def locations(*paths: Path) -> list[Location]:
    return [open_path(str(path)) for path in paths]


def verified(*paths: Path) -> LogVerification:
    return verify_logs(locations(*paths))


def dumped(path: Path) -> JudgedDirectory:
    (directory,) = read_location(open_path(str(path))).directories
    return directory


def of(code: str, findings: tuple[Finding, ...]) -> list[Finding]:
    return [finding for finding in findings if finding.code == code]


# --- one rule for every report ------------------------------------------------------------------


def test_a_swapped_voter_is_the_same_finding_in_every_report(
    fixtures_dir: Path, tmp_path: Path
) -> None:
    path = copied(fixtures_dir / "kafka-4.3.0/dynamic-quorum/node-2", tmp_path / "n") / "data"
    value = Node(path).voters()
    kept = [voter for voter in value["voters"] if voter["voterId"] != 4]
    swapped = {**value["voters"][0], "voterId": 9, "voterDirectoryId": "9Zz9f7_tnXU2JaSjHqPdiQ"}
    Node(path).control((VOTERS, {**value, "voters": [*kept, swapped]}))
    code = "KT-LOG-VOTERS-JUMP"
    (one,) = of(code, dumped(path).findings)
    assert (one.severity, one.expected, one.found) == (Severity.WARNING, "2, 3, 4", "2, 3, 9")
    assert of(code, verified(path).rows) == [one]
    assert of(code, diff_voters(read_sources([str(path)])).findings) == [one]


def test_a_snapshot_with_other_voters_is_the_same_finding_in_every_report(tmp_path: Path) -> None:
    path = make_node(tmp_path / "n", 1, started())
    add_snapshot(path, 7, 1, version(), voters(1, 2))
    code = "KT-SNAP-LOG-VOTERS"
    (one,) = of(code, dumped(path).findings)
    assert (one.severity, one.offset, one.expected, one.found) == (
        Severity.ERROR,
        6,
        "voters 1, 2, 3",
        "voters 1, 2",
    )
    assert of(code, verified(path).rows) == [one]
    assert of(code, diff_voters(read_sources([str(path)])).findings) == [one]
    report = verify_snapshots([open_path(str(path))])
    assert of(code, report.all_findings) == [one]


def test_voters_that_a_format_told_and_no_log_are_no_contradiction(tmp_path: Path) -> None:
    """Before Kafka 4 no leader copied the 0-0 checkpoint into the log; it may be gone since."""
    path = make_node(tmp_path / "n", 1, LogBuilder().control(1, leader(1, (1, 2, 3))).noops(1, 5))
    add_snapshot(path, 5, 1, version(), voters(1, 2, 3))
    for findings in (dumped(path).findings, diff_voters(read_sources([str(path)])).findings):
        assert not of("KT-SNAP-LOG-VOTERS", findings)


def test_a_removed_controller_and_one_to_be_added_are_info_in_every_report(
    fixtures_dir: Path, tmp_path: Path
) -> None:
    folder = fixtures_dir / "kafka-4.3.0/dynamic-quorum"
    code = "KT-DIR-NOT-A-VOTER"
    removed = folder / "node-1/data"
    for findings in (dumped(removed).findings, verified(removed).rows):
        assert [finding.severity for finding in of(code, findings)] == [Severity.INFO]
    stranger = make_node(tmp_path / "9", 9, started())
    settings = server(tmp_path / "s.properties", 9, log_dirs=str(stranger))
    for report in (_dump, _verify, _diff):
        (finding,) = of(code, report(settings))
        assert finding.severity is Severity.INFO
        assert "controller 9 is not among the voters 1, 2, 3" in finding.text


def _dump(path: Path) -> tuple[Finding, ...]:
    return dumped(path).findings


def _verify(path: Path) -> tuple[Finding, ...]:
    return verified(path).rows


def _diff(path: Path) -> tuple[Finding, ...]:
    return diff_voters(read_sources([str(path)])).findings


def test_a_log_with_too_many_voters_to_compare_says_so_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = started().control(1, voters(1, 2, 3, 4)).control(1, voters(1, 2, 3))
    path = make_node(tmp_path / "n", 1, log)
    monkeypatch.setattr("kraftool.directory.voter_records.MOST_KEPT", 20)
    for report in (_dump, _verify, _diff):
        (finding,) = of("KT-LOG-NOT-CHECKED", report(path))
        assert finding.offset == 8
        assert "too many" in finding.text


# --- several nodes ------------------------------------------------------------------------------


def test_logs_of_several_paths_that_part_are_told_as_timeline_tells_them(tmp_path: Path) -> None:
    common = started((2, 3, 4))
    lost = common.copy().noops(1, 3)
    won = common.copy().control(2, leader(3, (2, 3, 4))).noops(2, 1)
    paths = [
        make_node(tmp_path / "2", 2, lost, leader_id=2),
        make_node(tmp_path / "3", 3, won, epoch=2, leader_id=3),
        make_node(tmp_path / "4", 4, won, epoch=2, leader_id=3),
    ]
    (finding,) = of("KT-LOG-DIVERGED", verified(*paths).findings)
    assert (finding.severity, finding.offset) == (Severity.INFO, 8), "the tail of a stopped leader"
    assert "2 has epoch 1; 3, 4 has epoch 2" in finding.text
    nodes, _ = open_nodes(locations(*paths), lambda name, position: None)
    assert of("KT-LOG-DIVERGED", build(nodes).findings) == [finding]


def test_a_log_that_only_ends_earlier_does_not_part(tmp_path: Path) -> None:
    first = make_node(tmp_path / "1", 1, started())
    second = make_node(tmp_path / "2", 2, started().noops(1, 4))
    assert not of("KT-LOG-DIVERGED", verified(first, second).findings)


def test_logs_of_different_clusters_are_not_compared(tmp_path: Path) -> None:
    first = make_node(tmp_path / "1", 1, started())
    other = make_node(tmp_path / "2", 2, started((2, 3)), cluster="AnotherClusterIdAAAAAA")
    codes = [finding.code for finding in verified(first, other).findings]
    assert codes == ["KT-DIR-CLUSTER-ID"]


def test_a_directory_that_names_no_cluster_is_held_against_most_others(tmp_path: Path) -> None:
    """As after meta.properties was lost: the first directory named may be the odd one."""
    odd = make_node(tmp_path / "odd", 1, started(), cluster="AnotherClusterOfThree00")
    whole = [make_node(tmp_path / f"n{id}", id, started().noops(2, 2)) for id in (2, 3)]
    nameless = make_node(tmp_path / "n4", 4, started().noops(3, 2), epoch=3)
    (nameless / "meta.properties").unlink()
    (finding,) = of("KT-LOG-DIVERGED", verified(odd, *whole, nameless).findings)
    assert str(nameless) in f"{finding.file} {finding.text}"
