"""Which data directories doctor takes for a folder above them."""

from __future__ import annotations

from pathlib import Path

import pytest

from kraftool.reports.doctor.parents import with_directories_below
from kraftool.reports.findings.finding import Severity
from kraftool.storage import directory


def node(root: Path, name: str) -> str:
    path = root / name
    (path / "__cluster_metadata-0").mkdir(parents=True)
    return str(path)


def test_a_folder_stands_for_the_directories_up_to_three_folders_below_it(tmp_path: Path) -> None:
    near, far = node(tmp_path, "a"), node(tmp_path, "b/c/data")
    node(tmp_path, "d/e/f/data")
    node(tmp_path, "a/orders-0")
    (tmp_path / "link").symlink_to(near)
    paths, parents, findings = with_directories_below([str(tmp_path), near, "-", "gone"])
    assert paths == [near, far, near, "-", "gone"]
    assert [(parent.path, parent.directories) for parent in parents] == [
        (str(tmp_path), (near, far))
    ]
    assert not findings


def test_directories_that_may_have_been_left_out_are_a_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = node(tmp_path, "a")
    node(tmp_path, "b")
    monkeypatch.setattr(directory, "_MOST_FOUND", 1)
    paths, _, findings = with_directories_below([str(tmp_path)])
    assert paths == [first]
    assert [(finding.severity, finding.file) for finding in findings] == [
        (Severity.WARNING, str(tmp_path))
    ]
