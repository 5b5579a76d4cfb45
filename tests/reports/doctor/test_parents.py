"""Which data directories doctor takes for a folder above them."""

from __future__ import annotations

import os
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


def test_a_link_to_a_data_directory_counts_once_and_another_link_is_a_note(tmp_path: Path) -> None:
    """Otherwise doctor finds no problem in a cluster of which it left out a node."""
    root, elsewhere = tmp_path / "cluster", tmp_path / "disk"
    real = node(root, "b")
    near = root / "c"
    near.symlink_to(node(elsewhere, "data"))
    (root / "a").symlink_to(real)
    (root / "same").symlink_to(near)
    (root / "around").symlink_to(root)
    (root / "self").symlink_to(root / "self")
    (root / "gone").symlink_to(tmp_path / "gone")
    (root / "far").symlink_to(elsewhere)
    paths, _, findings = with_directories_below([str(root)])
    assert paths == [real, str(near)]
    (finding,) = findings
    assert finding.severity is Severity.INFO
    assert finding.text == f"kraftool did not follow 1 link below it: {root / 'far'}"


def test_a_folder_that_cannot_be_read_is_a_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = node(tmp_path, "a")
    closed = tmp_path / "closed"
    closed.mkdir()
    scandir = os.scandir

    def refuse(path: str) -> object:
        if path == str(closed):
            raise PermissionError(path)
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refuse)
    paths, _, findings = with_directories_below([str(tmp_path)])
    assert paths == [first]
    assert [finding.text for finding in findings] == [
        "kraftool read only 1 data directory below it. There may be more"
    ]


def test_a_search_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(5):
        (tmp_path / f"{number}").mkdir()
    last = node(tmp_path, "5")
    monkeypatch.setattr(directory, "_MOST_FOLDERS", 5)
    assert not directory.data_directories_below(str(tmp_path)).is_whole
    monkeypatch.setattr(directory, "_MOST_FOLDERS", 7)  # with the empty folders' and the last one
    assert directory.data_directories_below(str(tmp_path)).directories == (last,)


def test_a_data_directory_is_taken_itself_also_with_others_below_it(tmp_path: Path) -> None:
    node(tmp_path, "data")
    node(tmp_path, "data/backup")
    assert with_directories_below([str(tmp_path / "data")]) == ([str(tmp_path / "data")], (), ())
