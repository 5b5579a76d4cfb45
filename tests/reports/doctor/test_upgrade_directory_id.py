"""A static voter without directory.id, by metadata.version and kraft.version."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from kraftool.reports.doctor.read import examine, locations_of
from kraftool.reports.doctor.rules.upgrade_directory_id import find
from tests.reports.doctor.cases import Log, begun, found, leader, level, node, one


def static(path: Path, metadata_version: int, *, directory: bool = False) -> Path:
    log = Log()
    log.control(1, leader(1, (1, 2, 3)))
    log.data_batch(level(metadata_version))
    return without_directory_id(node(path, log), directory=directory)


def without_directory_id(path: Path, *, directory: bool = False) -> Path:
    meta = path / "meta.properties"
    lines = meta.read_text().splitlines(keepends=True)
    meta.write_text("".join(line for line in lines if directory or "directory" not in line))
    return path


def test_a_static_voter_without_directory_id_is_named(tmp_path: Path) -> None:
    diagnosis = one("KT-SIG-UPGRADE-DIRECTORY-ID", static(tmp_path / "data", 21))
    assert diagnosis.finding.file == str(tmp_path / "data/meta.properties")
    assert diagnosis.evidence[1].offset == 1


def test_an_old_metadata_version_or_a_directory_id_or_a_dynamic_quorum_is_fine(
    tmp_path: Path,
) -> None:
    code = "KT-SIG-UPGRADE-DIRECTORY-ID"
    assert not found(code, static(tmp_path / "a", 19))
    assert not found(code, static(tmp_path / "b", 21, directory=True))
    dynamic = node(tmp_path / "c", begun().data_batch(level(21)))
    assert not found(code, without_directory_id(dynamic))


def test_nothing_is_said_of_a_leader_that_was_asked(tmp_path: Path) -> None:
    """DescribeQuorum has no directory ids while kraft.version is 0; its directory may have one."""
    examination = examine(*locations_of([str(static(tmp_path / "data", 21))]))
    [examined] = examination.directories
    asked = examined.with_source(replace(examined.source, is_live=True))
    assert [*find(examination)]
    assert not [*find(replace(examination, directories=(asked,)))]
