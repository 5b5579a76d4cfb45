"""A plan rehearsed on copies: the originals stay, apply is real, and the simulator tells the rest.

What may happen on each way is docs/recover.md's table of the methods, which real Kafka showed.
"""

from __future__ import annotations

import os
import shutil
from collections import namedtuple
from dataclasses import replace
from pathlib import Path

import pytest

from kraftool.decoders.errors import KraftoolError
from kraftool.repair.backup import FOLDER
from kraftool.repair.disk import RepairRefused
from kraftool.repair.plan import Method
from kraftool.repair.rehearsal import RehearsalRequest, rehearse
from kraftool.repair.rehearsal_copies import find_rehearsed, workplace
from tests.repair.directories import APART, EQUAL, Quorum, cut_log
from tests.repair.rehearsing import rehearsed
from tests.repair.repair_cases import apply, bytes_of
from tests.support.places import PARTITION

pytestmark = pytest.mark.slow


def everything(directory: Path) -> dict[str, tuple[bytes, int, int, int]]:
    """Every file with its inode and times: nothing is made, linked, touched or written."""
    return {
        str(path.relative_to(directory)): (
            path.read_bytes() if path.is_file() else b"",
            path.stat().st_ino,
            path.stat().st_nlink,
            path.stat().st_mtime_ns,
        )
        for path in sorted(directory.rglob("*"))
    }


# --- copies and apply ---------------------------------------------------------------------------


def test_the_originals_stay_and_the_copy_becomes_what_apply_makes(tmp_path: Path) -> None:
    quorum = Quorum(tmp_path / "quorum", APART, [2, 3, 4, 11])
    plan = quorum.plan("lost=2,4", "seed=3", nodes=[3, 11])
    before = {node: everything(quorum[node]) for node in (2, 3, 4, 11)}
    rehearsal = rehearsed(plan, quorum, [3, 11, 2, 4], tmp_path / "kept")
    assert {node: everything(quorum[node]) for node in (2, 3, 4, 11)} == before
    assert rehearsal.is_well
    copy = tmp_path / "kept" / "node-3"
    apply(plan, quorum[3])
    theirs = {name: data for name, data in bytes_of(quorum[3]).items() if name in _planned(copy)}
    assert theirs == bytes_of(copy)
    assert set(bytes_of(tmp_path / "kept" / "old-node-2")) <= set(bytes_of(quorum[2]))
    assert (tmp_path / "kept").stat().st_mode & 0o777 == 0o700
    assert all(
        path.stat().st_mode & 0o077 == 0
        for path in (tmp_path / "kept" / "node-11").rglob("*")
        if path.is_file()
    ), "copies hold secrets"


def _planned(copy: Path) -> set[str]:
    """What is copied of a directory: nothing of topics, and no checkpoint of a broker's."""
    return {"meta.properties", "bootstrap.checkpoint"} | {
        str(path.relative_to(copy)) for path in (copy / PARTITION).iterdir() if path.is_file()
    }


def test_a_temporary_folder_is_gone_afterwards_and_a_kept_one_must_be_new(tmp_path: Path) -> None:
    quorum = Quorum(tmp_path / "quorum", EQUAL, [1])
    with workplace("", []) as folder:
        assert os.stat(folder).st_mode & 0o777 == 0o700
    assert not os.path.exists(folder)
    with pytest.raises(RepairRefused, match="is not empty"), workplace(str(quorum[1]), []):
        pass
    inside = str(quorum[1] / "kept")
    with pytest.raises(RepairRefused, match="nothing is"), workplace(inside, [str(quorum[1])]):
        pass
    assert not os.path.exists(inside)


def test_what_apply_would_refuse_is_refused_on_the_copy(tmp_path: Path) -> None:
    quorum = Quorum(tmp_path / "quorum", EQUAL, [1, 11])
    plan = quorum.plan("lost=2,3")
    cut_log(quorum, 1, 1)
    rehearsal = rehearsed(plan, quorum, [1, 11], tmp_path / "kept")
    assert rehearsal.refused is not None
    assert rehearsal.refused.of.name == "node-1"
    assert "is not what it was when the plan was made" in rehearsal.refused.refused
    assert str(quorum[1]) in rehearsal.refused.refused, "the original is named, and not the copy"
    assert rehearsal.elections is None
    assert not rehearsal.is_well


def test_a_source_is_another_directory_that_was_given_or_is_asked_for(tmp_path: Path) -> None:
    """The survivor is behind: the checkpoint is of the broker's state."""
    quorum = Quorum(tmp_path / "quorum", EQUAL, [1, 11])
    cut_log(quorum, 1, 2)
    plan = quorum.plan("lost=2,3")
    assert plan.method is Method.SNAPSHOT_JUMP
    rehearsal = rehearsed(plan, quorum, [1], tmp_path / "one")
    assert rehearsal.refused is not None
    assert "--source node-11=PATH" in rehearsal.refused.hint
    rehearsal = rehearsed(plan, quorum, [1, 11], tmp_path / "two")
    assert rehearsal.is_well
    asked = RehearsalRequest(directories=(str(quorum[1]),), sources={"node-11": str(quorum[11])},
                  seeds=1, with_nodes=False)  # fmt: skip
    with workplace("", asked.paths) as folder:
        rehearsal = rehearse(plan, asked, folder)
    assert rehearsal.refused is None
    assert rehearsal.not_given == ("node-11",)
    asked = replace(asked, sources={**asked.sources, "node-2": str(quorum[11])})
    lines: list[str] = []
    with workplace("", asked.paths) as folder:
        assert rehearse(plan, asked, folder, tell=lines.append).refused is None
    assert "--source node-2 is not used: the rehearsal needs no file of it" in lines


def test_directories_are_known_by_the_plan_or_refused(tmp_path: Path) -> None:
    quorum = Quorum(tmp_path / "quorum", EQUAL, [1, 2, 11])
    plan = quorum.plan("lost=2,3", nodes=[1, 11])
    directories = find_rehearsed(plan, [str(quorum[node]) for node in (1, 2, 11)])
    assert [(directory.name, directory.is_quarantined) for directory in directories] == [
        ("node-1", False), ("old-node-2", True), ("node-11", False),
    ]  # fmt: skip
    again = tmp_path / "again"
    shutil.copytree(quorum[1], again)
    with pytest.raises(RepairRefused, match="are both node-1"):
        find_rehearsed(plan, [str(quorum[1]), str(again)])
    (again / "meta.properties").unlink()
    with pytest.raises(RepairRefused, match="does not show which node it belongs to"):
        find_rehearsed(plan, [str(again)])
    assert find_rehearsed(plan, [f"node-1={again}"])[0].name == "node-1"
    with pytest.raises(RepairRefused, match="no host node-9"):
        find_rehearsed(plan, [f"node-9={again}"])
    (again / "meta.properties").write_text("version=1\nnode.id=77\ncluster.id=x\n")
    with pytest.raises(RepairRefused, match="not for"):
        find_rehearsed(plan, [str(again)])


@pytest.mark.parametrize("kind", ["link", "pipe"])
def test_nothing_is_followed_that_is_no_file(tmp_path: Path, kind: str) -> None:
    """A node that is started on a copy with a link would write what the link leads to."""
    quorum = Quorum(tmp_path / "quorum", EQUAL, [1, 11])
    plan = quorum.plan("lost=2,3")
    strange = quorum.partition(1) / "00000000000000000000.snapshot"
    if kind == "link":
        os.symlink(quorum.segment(11), strange)
    else:
        os.mkfifo(strange)
    with pytest.raises(RepairRefused, match="neither reads nor copies it"):
        rehearsed(plan, quorum, [1, 11], tmp_path / "kept")


def test_too_little_room_is_told_before_anything_is_copied(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    quorum = Quorum(tmp_path / "quorum", EQUAL, [1, 11])
    plan = quorum.plan("lost=2,3")
    free = namedtuple("free", "f_bavail f_frsize")
    monkeypatch.setattr("os.statvfs", lambda path: free(1, 4096))
    with pytest.raises(KraftoolError, match="4096 bytes free, but") as caught:
        rehearsed(plan, quorum, [1, 11], tmp_path / "kept")
    assert "--keep" in caught.value.hint
    assert list((tmp_path / "kept").iterdir()) == []


@pytest.mark.parametrize("is_whole", [False, True])
def test_what_an_earlier_apply_left_is_seen_as_apply_sees_it(
    tmp_path: Path, is_whole: bool
) -> None:
    """A half-applied plan is finished on the copy, and stays half applied."""
    quorum = Quorum(tmp_path / "quorum", EQUAL, [1, 11])
    plan = quorum.plan("lost=2,3")
    apply(plan, quorum[1])
    (folder,) = (quorum.partition(1) / FOLDER).iterdir()
    journal = folder / "journal"
    if not is_whole:
        lines = journal.read_bytes().splitlines(keepends=True)
        journal.write_bytes(b"".join(lines[:-1]))
    before = everything(quorum[1])
    rehearsal = rehearsed(plan, quorum, [1, 11], tmp_path / "kept")
    assert rehearsal.is_well
    assert rehearsal.copies[0].was_applied is is_whole
    assert everything(quorum[1]) == before
    copy = tmp_path / "kept" / "node-1" / PARTITION / FOLDER / folder.name / "journal"
    assert copy.read_bytes().startswith(journal.read_bytes())
