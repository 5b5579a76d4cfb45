"""The generated fleet: healthy where nothing was planted; faults are what they are said to be."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))

from fleets.build import KINDS, FleetPlan, build
from fleets.faults import MANIFEST, Planted
from fleets.template import templates

from kraftool.reports.doctor.read import examine, locations_of
from kraftool.reports.doctor.report import diagnose
from kraftool.reports.findings.finding import Finding, Severity
from kraftool.reports.state.load import load_state
from kraftool.reports.verify.log import verify_logs
from kraftool.reports.verify.snapshot import verify_snapshots
from kraftool.storage.paths import open_path
from tests.support.places import PARTITION, ROOT

pytestmark = pytest.mark.slow

ONLY_AUDIT_TELLS = {"before-upgrade"}


def told(*directories: Path) -> Iterator[Finding]:
    """What the direct commands say of directories that they are given together."""
    paths = [str(directory) for directory in directories]
    locations, unread = locations_of(paths)
    assert not unread
    yield from diagnose(examine(locations, unread, lambda _name, _size: None)).findings
    yield from verify_logs([open_path(path) for path in paths]).rows
    yield from verify_snapshots([open_path(path) for path in paths]).all_findings


def weighty(*directories: Path) -> list[tuple[str, str, str]]:
    """Findings from warning up."""
    return [
        (finding.code, finding.file, finding.text)
        for finding in told(*directories)
        if finding.severity is not Severity.INFO
    ]


def clusters(fleet: Path) -> list[list[Path]]:
    return [sorted(path.iterdir()) for path in sorted(fleet.iterdir()) if path.is_dir()]


def contents(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


@pytest.fixture(scope="module")
def healthy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    fleet = tmp_path_factory.mktemp("healthy")
    build(fleet, FleetPlan(clusters=2 * len(templates()), seed=3))
    return fleet


def test_the_direct_commands_find_nothing_in_a_fleet_without_faults(healthy: Path) -> None:
    for directories in clusters(healthy):
        assert weighty(*directories) == []
        for directory in directories:
            assert weighty(directory) == []


def test_its_clusters_are_not_all_alike(healthy: Path) -> None:
    every = clusters(healthy)
    assert all(len(cluster) == 3 for cluster in every)
    states = {
        directory: load_state(str(directory)) for directories in every for directory in directories
    }
    levels = {state.image.features.metadata_version for state in states.values()}
    assert levels == {template.levels[-1] for template in templates()}
    assert len({path.read_bytes() for path in healthy.glob("*/*/meta.properties")}) == len(states)
    voters = {len(list(path.glob(f"{PARTITION}/*-0000000000.checkpoint"))) for path in states}
    assert voters == {0, 1}
    cleaned = [path for path in states if not (path / PARTITION / f"{0:020}.log").exists()]
    assert 0 < len(cleaned) < len(states)
    assert any(len(list(path.glob(f"{PARTITION}/*.log"))) > 2 for path in states)
    behind = [
        len({states[directory].end_offset for directory in directories}) > 1
        for directories in every
    ]
    assert set(behind) == {True, False}
    epochs = {state.image.provenance.last_epoch for state in states.values()}
    assert len(epochs) > 3


def test_a_seed_makes_the_same_bytes_again_and_another_one_others(tmp_path: Path) -> None:
    plan = FleetPlan(clusters=5, seed=7, faults=3, huge=300_000)
    build(tmp_path / "one", plan)
    build(tmp_path / "again", plan)
    build(tmp_path / "other", FleetPlan(clusters=5, seed=8, faults=3, huge=300_000))
    assert contents(tmp_path / "one") == contents(tmp_path / "again")
    assert contents(tmp_path / "one") != contents(tmp_path / "other")


def test_a_large_cluster_is_as_large_as_asked_for_and_healthy_too(tmp_path: Path) -> None:
    build(tmp_path, FleetPlan(clusters=2, seed=2, huge=3_000_000))
    small, large = clusters(tmp_path)
    size = sum(path.stat().st_size for path in large[0].glob(f"{PARTITION}/*.log"))
    assert 2_900_000 < size < 3_500_000
    assert size > 10 * sum(path.stat().st_size for path in small[0].glob(f"{PARTITION}/*.log"))
    # Its snapshots are reckoned, not replayed: verify-snapshot compares them with the log.
    compared = verify_snapshots([open_path(str(large[0]))])
    assert len([snapshot for snapshot in compared.rows if snapshot.compared_with]) > 2
    assert weighty(*large) == []


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_a_planted_fault_is_answered_where_it_is_and_by_nothing_else(
    kind: str, tmp_path: Path
) -> None:
    (planted,) = build(tmp_path, FleetPlan(clusters=1, seed=21, faults=1, kinds=(kind,)))
    (directories,) = clusters(tmp_path)
    expected = KINDS[kind]
    findings = list(told(*directories))
    if kind not in ONLY_AUDIT_TELLS:
        answers = [finding for finding in findings if finding.code in expected.codes]
        assert answers
        assert any(is_there(answer, planted) for answer in answers), answers
    explained = {*expected.codes, *expected.follow}
    assert not [
        (finding.code, finding.file, finding.text)
        for finding in findings
        if finding.severity is not Severity.INFO and finding.code not in explained
    ]
    if expected.alone:
        own = told(planted.cluster.path(planted.voter))
        assert any(finding.code in expected.codes and is_there(finding, planted) for finding in own)


def is_there(finding: Finding, planted: Planted) -> bool:
    """Whether a finding names the place that the manifest names."""
    place = planted.place
    if place.position is not None and place.end is not None and finding.position is not None:
        return place.position <= finding.position <= place.end
    if place.offset is not None and finding.offset is not None:
        return finding.offset == place.offset
    return True


def test_the_manifest_names_what_was_planted(tmp_path: Path) -> None:
    plan = FleetPlan(clusters=30, seed=4, faults=len(KINDS))
    planted = build(tmp_path, plan)
    document = json.loads((tmp_path / MANIFEST).read_text())
    assert [fault["kind"] for fault in document["planted"]] == list(KINDS)
    assert len({fault["cluster"] for fault in document["planted"]}) == len(planted)
    for fault in document["planted"]:
        directory = tmp_path / fault["directory"]
        assert directory.is_dir()
        assert fault["codes"]
        if fault["kind"] != "missing-meta":
            assert (directory / fault["file"]).exists()
        else:
            assert not (directory / fault["file"]).exists()


def test_the_tool_refuses_a_folder_with_something_in_it(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("")
    command = [sys.executable, str(ROOT / "tools" / "fleet.py"), str(tmp_path), "--clusters", "1"]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.returncode == 2
    assert "not empty" in ran.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]
