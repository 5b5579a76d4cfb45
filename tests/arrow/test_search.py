"""The search for a fleet: the result is the same whoever looks, one thread, several, or a job."""

import os
import pickle
import shutil
import threading
from collections.abc import Sequence
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest

from kraftool.arrow import search
from kraftool.arrow.fleet import Fleet
from kraftool.arrow.local_folders import LocalFiles
from kraftool.arrow.search import explored, find_fleet, find_fleets
from kraftool.arrow.search_steps import FolderStep, PathStep, SearchResult, SearchStep
from kraftool.decoders.errors import KraftoolError
from tests.support.places import FIXTURES

QUORUM = FIXTURES / "kafka-4.3.0/dynamic-quorum"
ROOTS = [str(path) for path in sorted(QUORUM.glob("node-*"))]
NODE = FIXTURES / "kafka-4.3.0/static-single/node-1/data"


class CountingJob:
    """A job of another process: steps and results travel as pickles."""

    def __init__(self) -> None:
        self.steps: list[SearchStep] = []

    def __call__(self, steps: Sequence[SearchStep]) -> list[SearchResult]:
        self.steps += steps
        results: list[SearchResult] = pickle.loads(
            pickle.dumps(explored(pickle.loads(pickle.dumps(steps))))
        )
        return results


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Directories at several depths, one of them under two names, empty ones, and two folders that
    cannot be listed."""
    root = tmp_path / "fleet"
    for name in ("a/1", "a/2", "b/deep/er/3", "zone"):
        shutil.copytree(NODE, root / name, dirs_exist_ok=True)
    (root / "b/deep/link").symlink_to(root / "a")
    (root / "loop").symlink_to(root)
    for name in ("a/new", "c/lost+found", "b/refused", "zone/__cluster_metadata-0/x"):
        (root / name).mkdir(parents=True)
    (root / "d").mkdir()
    shutil.copytree(NODE / "__cluster_metadata-0", root / "d/__cluster_metadata-0")
    shutil.copytree(NODE, root / "e/refused-below")
    listed = LocalFiles.listed

    def refused(files: LocalFiles, path: str = "") -> Any:
        shown = files.shown(path)
        if shown.endswith(("/refused", "/refused-below/__cluster_metadata-0")):
            raise KraftoolError(f"{shown}: permission denied", hint="run it as the user of Kafka")
        return listed(files, path)

    monkeypatch.setattr(LocalFiles, "listed", refused)
    return root


def test_roots_are_looked_at_together_with_the_same_result(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = [*ROOTS, str(tmp_path / "none")]
    alone = list(find_fleets(paths))
    together = Barrier(len(paths))
    found = PathStep.found

    def meeting(step: PathStep) -> SearchResult:
        together.wait(60)
        return found(step)

    monkeypatch.setattr(PathStep, "found", meeting)
    monkeypatch.setattr(search, "is_far", lambda step: True)
    *fleets, error = find_fleets(paths)
    assert fleets == alone[:-1]
    assert all(isinstance(far_fleet, Fleet) and far_fleet.files for far_fleet in fleets)
    assert isinstance(error, KraftoolError)
    assert "no such file or directory" in error.message


def test_folders_of_one_root_are_looked_into_at_the_same_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    together = Barrier(2)
    found = FolderStep.found

    def meeting(step: FolderStep) -> SearchResult:
        if step.path in ("node-2", "node-3"):
            together.wait(60)  # else it breaks: nobody else is looking
        return found(step)

    monkeypatch.setattr(FolderStep, "found", meeting)
    monkeypatch.setattr(search, "is_far", lambda step: True)
    assert find_fleet([str(QUORUM)]).files


@pytest.mark.parametrize("waits", [False, True])
def test_local_folders_take_threads_only_after_one_that_had_to_wait(
    monkeypatch: pytest.MonkeyPatch, *, waits: bool
) -> None:
    """A folder of this machine takes a fraction of a millisecond; threads would cost more."""
    found, others = FolderStep.found, set[str]()

    def noted(step: FolderStep) -> SearchResult:
        if threading.current_thread() is not threading.main_thread():
            others.add(step.path)
        return found(step)

    monkeypatch.setattr(FolderStep, "found", noted)
    monkeypatch.setattr(search, "_WAITED_S", -1 if waits else 3600)
    assert find_fleet([str(QUORUM)]).files
    assert bool(others) == waits


@pytest.mark.parametrize("patterns", [[""], ["/*"], ["/*/*", "/a/1"], ["/[a-e]/**", ""]])
def test_threads_and_a_job_find_what_one_thread_finds(
    tree: Path, monkeypatch: pytest.MonkeyPatch, patterns: list[str]
) -> None:
    paths = [f"{tree}{pattern}" for pattern in patterns]
    with monkeypatch.context() as patch:
        patch.setattr(search, "THREADS", 1)
        alone = find_fleet(paths)
    assert len({file.directory.name for file in alone.files}) >= 3
    assert alone.problems or patterns == ["/*/*", "/a/1"]
    monkeypatch.setattr(search, "is_far", lambda step: True)
    assert find_fleet(paths) == alone
    for most in (1, 2, 5):
        monkeypatch.setattr(search, "JOB_FROM", most)
        job = CountingJob()
        assert find_fleet(paths, job=job) == alone
        assert len(job.steps) >= most


def test_a_tree_has_each_directory_once_and_each_problem(tree: Path) -> None:
    fleet = find_fleet([str(tree)])
    names = {os.path.relpath(file.directory.name, tree) for file in fleet.files}
    in_folder = "d/__cluster_metadata-0" if "d" not in names else "d"
    assert names == {"a/1", "a/2", "b/deep/er/3", "zone", in_folder, "e/refused-below"}
    assert len({os.path.realpath(file.name) for file in fleet.files}) == len(fleet.files)
    refused = {os.path.relpath(problem.name, tree) for problem in fleet.problems}
    assert refused == {"b/refused", "e/refused-below/__cluster_metadata-0"}
    empty = {os.path.relpath(folder.name, tree) for folder in fleet.empty}
    assert empty == {"a/new", "b/deep/link/new", "c"}, "under each of their names"


def test_a_job_lists_only_from_so_many_folders_on(
    tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    widest = len([path for path in (tree).iterdir() if path.name != "loop"])
    monkeypatch.setattr(search, "is_far", lambda step: True)
    monkeypatch.setattr(search, "JOB_FROM", widest + 10)
    job = CountingJob()
    find_fleet([str(tree)], job=job)
    assert not job.steps
    monkeypatch.setattr(search, "JOB_FROM", widest)
    find_fleet([str(tree)], job=job)
    assert {step.path for step in job.steps if isinstance(step, FolderStep)} == set("abcde") | {
        "zone"
    }


def test_folders_of_this_machine_are_no_work_for_a_job(
    tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search, "JOB_FROM", 1)
    job = CountingJob()
    find_fleet([str(tree)], job=job)
    assert not job.steps


@pytest.mark.parametrize("pattern", ["/**", "/*", "/__cluster_metadata-0"])
def test_a_folder_whose_files_were_found_before_is_not_called_empty(
    tmp_path: Path, pattern: str
) -> None:
    data = tmp_path / "data"
    shutil.copytree(NODE, data)
    assert find_fleet([str(data), f"{data}{pattern}"]).empty == ()


def test_a_pattern_whose_matches_are_all_gone_leads_nowhere(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "gone")
    with pytest.raises(KraftoolError) as error:
        find_fleet([f"{tmp_path}/*"])
    assert error.value.message == f"{tmp_path}/*: no such file or directory"


def test_a_folder_that_cannot_be_listed_is_an_error_only_if_nothing_was_found_before_it(
    tree: Path,
) -> None:
    refused = str(tree / "b/refused")
    with pytest.raises(KraftoolError, match="permission denied"):
        find_fleet([refused, ROOTS[0]])
    assert [problem.name for problem in find_fleet([ROOTS[0], refused]).problems] == [refused]


def test_a_match_that_cannot_be_looked_at_does_not_hide_the_others(tmp_path: Path) -> None:
    shutil.copytree(NODE, tmp_path / "data")
    (tmp_path / "one").symlink_to(tmp_path / "other")
    (tmp_path / "other").symlink_to(tmp_path / "one")
    fleet = find_fleet([f"{tmp_path}/*"])
    assert {file.directory.name for file in fleet.files} == {str(tmp_path / "data")}
    assert [problem.name for problem in fleet.problems] == [
        str(tmp_path / "one"),
        str(tmp_path / "other"),
    ]
    assert "symbolic links" in fleet.problems[0].reason
