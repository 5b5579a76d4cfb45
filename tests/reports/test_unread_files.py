"""The report on a directory with a file that may not be read."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from kraftool.decoders.errors import KraftoolError
from kraftool.reports.directory.report import read_location
from kraftool.storage.paths import open_path
from tests.support.copies import writable
from tests.support.places import PARTITION


@pytest.fixture
def dynamic(fixtures_dir: Path, tmp_path: Path) -> Path:
    return writable(fixtures_dir / "kafka-4.3.0/dynamic-quorum/node-2/data", tmp_path / "data")


def test_a_file_that_may_not_be_read_is_reported_and_the_rest_is_shown(dynamic: Path) -> None:
    if os.geteuid() == 0:
        (dynamic / PARTITION / "quorum-state").unlink()
        os.mkfifo(dynamic / PARTITION / "quorum-state")
    else:
        (dynamic / PARTITION / "quorum-state").chmod(0)
    report = read_location(open_path(str(dynamic)))
    assert "KT-DIR-READ" in [finding.code for finding in report.all_findings]
    assert report.directories[0].directory.summary.log is not None


def test_a_log_that_may_not_be_read_is_not_called_missing(
    dynamic: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Root may read every file, so the test simulates the refusal."""
    opened = os.open

    def refuse(path: str, *rest: int, **more: int) -> int:
        if str(path).endswith(".log"):
            raise PermissionError(13, "Permission denied", path)
        return opened(path, *rest, **more)

    monkeypatch.setattr("os.open", refuse)
    codes = [finding.code for finding in read_location(open_path(str(dynamic))).all_findings]
    assert "KT-DIR-READ" in codes
    assert "KT-LOG-MISSING" not in codes


def test_a_link_to_a_disk_that_is_not_mounted_says_so(tmp_path: Path) -> None:
    (tmp_path / "data").symlink_to("/nowhere/disk-1")
    with pytest.raises(KraftoolError) as refused:
        read_location(open_path(str(tmp_path / "data")))
    assert "a symbolic link to /nowhere/disk-1" in refused.value.hint


def test_an_empty_meta_properties_is_called_empty(dynamic: Path) -> None:
    (dynamic / "meta.properties").write_bytes(b"")
    (finding,) = (
        one
        for one in read_location(open_path(str(dynamic))).all_findings
        if one.code == "KT-DIR-META"
    )
    assert finding.text.startswith("the file is empty: ")
