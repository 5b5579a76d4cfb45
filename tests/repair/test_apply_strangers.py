"""Files that came after a plan was made, of which it knows nothing, and locks that are no files."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from kraftool.decoders.errors import KraftoolError
from kraftool.repair.apply import Apply
from kraftool.repair.disk import RepairRefused
from kraftool.repair.plan import Plan
from kraftool.repair.undo import Undo
from tests.repair.directories import EQUAL, Quorum
from tests.repair.repair_cases import (
    NOW,
    FailingFiles,
    apply,
    bytes_of,
    contents,
    unchanged,
    undo,
    without,
)
from tests.support.places import PARTITION

SNAPSHOT = f"{2_000_000:020}-{2_000:010}.checkpoint"


@contextmanager
def refused(plan: Plan, directory: Path, words: str) -> Iterator[None]:
    """By apply as by its dry run."""
    yield
    with pytest.raises(RepairRefused, match=words):
        Apply(plan, str(directory)).check()
    with unchanged(directory), pytest.raises(RepairRefused, match=words):
        apply(plan, directory)


@pytest.mark.parametrize(
    "name",
    [
        SNAPSHOT,
        f"{2_000_000:020}-{2_000:010}x.checkpoint",  # Kafka reads the digits, and no further
        f"{300:020}.log",
        f"{0:020}.log.swap",
        f"{0:020}.index.swap",
        f"{0:020}.log.cleaned",
        "notes.log",
    ],
)
def test_what_kafka_would_act_on_and_the_plan_does_not_know_is_refused(
    directory: Path, plan: Plan, name: str
) -> None:
    with refused(plan, directory, "the plan does not know"):
        (directory / PARTITION / name).write_bytes(b"junk")


@pytest.mark.parametrize("kind", ["folder", "dangling"])
def test_a_checkpoints_name_counts_whatever_has_it(directory: Path, plan: Plan, kind: str) -> None:
    path = directory / PARTITION / SNAPSHOT
    if kind == "folder":
        path.mkdir()
    else:
        path.symlink_to("nowhere")
    with pytest.raises(RepairRefused, match="the plan does not know"):
        apply(plan, directory)
    assert not (directory / PARTITION / ".kraftool-recover").exists()


def test_epochs_that_a_changed_log_would_be_believed_with_are_refused(
    directory: Path, plan: Plan
) -> None:
    with refused(without(plan, "leader-epoch-checkpoint"), directory, "leader-epoch-checkpoint"):
        """It is there, and a log that is changed goes without it."""


def test_what_kafka_or_a_person_leaves_without_harm_is_no_reason(
    directory: Path, plan: Plan
) -> None:
    folder = directory / PARTITION
    names = [
        f"{300:020}.index",
        f"{300:020}.timeindex",
        f"{300:020}.snapshot",
        f"{300:020}.log.deleted",
        f"{300:020}-{3:010}.checkpoint.deleted",
        f"{300:020}-{3:010}-abc.checkpoint.part",
        "quorum-state.tmp",
        "notes.txt",
    ]
    for name in names:
        (folder / name).write_bytes(b"junk")
    (folder / "saved.log").mkdir()
    apply(plan, directory)
    assert {(folder / name).read_bytes() for name in names} == {b"junk"}
    assert list((folder / "saved.log").iterdir()) == []


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("5.log", ["lost=2,3"]),
        (
            f"{0:020}.log.swap",
            [f"endpoint.{node_id}=CONTROLLER://one:909{node_id}" for node_id in (1, 2, 3)],
        ),
    ],
)
def test_what_was_there_when_the_plan_was_made_is_known(
    tmp_path: Path, name: str, settings: list[str]
) -> None:
    """Also where the plan leaves it; it may not change, as the log itself."""
    quorum = Quorum(tmp_path, EQUAL, [1, 11] if name == "5.log" else [1, 2, 3])
    path = quorum.partition(1) / name
    path.write_bytes(b"junk")
    plan = quorum.plan(*settings)
    host = plan.host("node-1")
    assert host is not None
    assert name not in {edit.target.name for edit in host.edits}
    Apply(plan, str(quorum[1])).check()
    path.write_bytes(b"other junk")
    with pytest.raises(RepairRefused, match=name):
        Apply(plan, str(quorum[1])).check()


def test_a_plan_that_leaves_the_log_alone_does_not_ask_for_it(directory: Path, plan: Plan) -> None:
    host = plan.hosts[0]
    edits = tuple(edit for edit in host.edits if edit.target.name == "meta.properties")
    (directory / PARTITION / SNAPSHOT).write_bytes(b"junk")
    apply(replace(plan, hosts=(replace(host, edits=edits),)), directory)


@pytest.mark.parametrize("kind", ["dangling", "link", "pipe", "folder"])
def test_a_lock_that_is_no_file_is_refused(directory: Path, plan: Plan, kind: str) -> None:
    lock, elsewhere = directory / ".lock", directory.parent / "elsewhere"
    lock.unlink(missing_ok=True)
    match kind:
        case "pipe":
            os.mkfifo(lock)
        case "folder":
            lock.mkdir()
        case _:
            lock.symlink_to(elsewhere)
    if kind == "link":
        elsewhere.write_bytes(b"")
    with refused(plan, directory, "does not use it as a lock"):
        """It is there."""
    assert elsewhere.exists() == (kind == "link")
    with pytest.raises(RepairRefused, match="does not use it as a lock"):
        undo(plan, directory)


def test_undo_leaves_the_lock_file_as_kafka_does(directory: Path, plan: Plan) -> None:
    """To remove it could let two processes run: one may have opened it already."""
    (directory / ".lock").unlink(missing_ok=True)
    before = bytes_of(directory)
    apply(plan, directory)
    undo(plan, directory)
    assert bytes_of(directory) == before
    assert (directory / ".lock").read_bytes() == b""


def test_a_read_only_file_system_is_no_question_of_who_asks(
    directory: Path, plan: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Apply(plan, str(directory), files=FailingFiles(0, errno.EROFS)) as repair:
        with pytest.raises(KraftoolError, match="Read-only file system") as failed:
            repair.carry_out(NOW, "1.0")
        assert "mount it for writing" in failed.value.hint
    apply(plan, directory)
    with Undo(plan, str(directory), files=FailingFiles(0, errno.EROFS)) as undoing:
        with pytest.raises(KraftoolError, match="Nothing was changed") as failed:
            undoing.carry_out(NOW)
        assert "mount it for writing" in failed.value.hint

    def read_only(path: str, *_: object) -> int:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS), path)

    undo(plan, directory)
    after = contents(directory)
    monkeypatch.setattr("kraftool.storage.lock_taking.os.open", read_only)
    with (
        pytest.raises(KraftoolError, match="Read-only file system") as failed,
        Apply(plan, str(directory)),
    ):
        """The lock is not to be had."""
    assert "mount it for writing" in failed.value.hint
    monkeypatch.undo()
    assert contents(directory) == after
