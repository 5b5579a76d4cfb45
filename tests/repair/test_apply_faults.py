"""apply and undo are killed, or refused by the disk, at every single write.

However far one came: every original is in its place or in the backup, the next run finishes the
plan or undoes it, and what the disk refused before anything was switched has changed nothing.
"""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from kraftool.decoders.errors import KraftoolError
from kraftool.repair.apply import Apply
from kraftool.repair.backup import FOLDER, backup_of
from kraftool.repair.disk import DataDirectory
from kraftool.repair.plan import Plan
from kraftool.repair.undo import Undo
from kraftool.storage.files import Files
from kraftool.storage.repair_journal import Stage
from tests.repair.repair_cases import (
    NOW,
    FailingFiles,
    Killed,
    NoSync,
    bytes_of,
    contents,
    cut_directory,
    cut_plan,
    jump_directory,
    jump_plan,
)
from tests.storage.power_loss import Lost, Platter, RecordingFiles
from tests.support.places import PARTITION

pytestmark = pytest.mark.slow


@pytest.fixture
def tmp_path(memory_path: Path) -> Path:
    return memory_path


CASES = {"jump": (jump_directory, jump_plan), "cut": (cut_directory, cut_plan)}
SOAK = os.environ.get("KRAFTOOL_SOAK") == "1"


class Case:
    """A directory as it was, with a plan, and as the plan makes it."""

    def __init__(self, name: str, fixtures: Path, root: Path) -> None:
        make, plan = CASES[name]
        self.root = root
        self.began = make(fixtures, root / "began")
        self.before = contents(self.began)
        self.plan: Plan = plan(self.began)
        self.number = 0
        done = self.fresh()
        apply(self.plan, done)
        self.after = contents(done)
        self.done = done
        self.stride = 3 if name == "jump" and not SOAK else 1
        """Every write of the short case is tried, and of the long one where there is time."""

    def fresh(self, of: Path | None = None) -> Path:
        self.number += 1
        path = self.root / f"run-{self.number}"
        shutil.copytree(of or self.began, path)
        return path

    def originals_are_there(self, directory: Path) -> bool:
        """Whether each byte of the beginning is in its place, or in the backup."""
        backup = backup_of(DataDirectory(Files(), str(directory)), self.plan.id)
        for edit in self.plan.hosts[0].edits:
            if edit.before is None:
                continue
            there = DataDirectory(Files(), str(directory)).fingerprint(edit.target)
            if edit.before not in (there, backup.fingerprint("old", edit.target)):
                return False
        return True


@pytest.fixture(params=sorted(CASES))
def case(request: pytest.FixtureRequest, fixtures_dir: Path, tmp_path: Path) -> Case:
    return Case(request.param, fixtures_dir, tmp_path)


def apply(plan: Plan, directory: Path, files: Files | None = None) -> None:
    with Apply(plan, str(directory), files=files or NoSync()) as repair:
        repair.carry_out(NOW, "1.0")


def undo(plan: Plan, directory: Path, files: Files | None = None) -> None:
    with Undo(plan, str(directory), files=files or NoSync()) as repair:
        repair.carry_out(NOW)


def stage(plan: Plan, directory: Path) -> Stage:
    return Apply(plan, str(directory)).stage


def killed(run: Callable[[Plan, Path, Files], None], plan: Plan, directory: Path, at: int) -> bool:
    """Run it on a disk that is killed after so many changes; whether it came that far."""
    files = FailingFiles(at)
    try:
        run(plan, directory, files)
    except Killed:
        return True
    assert not files.dead, "a kill is nothing that code may go on after"
    return False


def test_apply_and_undo_give_what_was_planned_and_what_was_there(case: Case) -> None:
    assert case.after != case.before
    assert stage(case.plan, case.done) is Stage.APPLIED
    undo(case.plan, case.done)
    assert contents(case.done) == case.before
    assert stage(case.plan, case.done) is Stage.UNDONE
    apply(case.plan, case.done)
    assert contents(case.done) == case.after, "what is undone can be applied again"


def test_apply_killed_at_any_write_is_finished_by_the_next_run(case: Case) -> None:
    at = 0
    directory = case.fresh()
    while killed(apply, case.plan, directory, at):
        assert case.originals_are_there(directory), at
        apply(case.plan, directory)
        assert contents(directory) == case.after, at
        shutil.rmtree(directory)
        directory = case.fresh()
        at += case.stride
    assert at > 50, "each of its writes was tried"


def test_apply_killed_at_any_write_can_be_undone(case: Case) -> None:
    at = 0
    directory = case.fresh()
    while killed(apply, case.plan, directory, at):
        if stage(case.plan, directory) is not Stage.NONE:
            undo(case.plan, directory)
        assert contents(directory) == case.before, at
        shutil.rmtree(directory)
        directory = case.fresh()
        at += case.stride


def test_undo_killed_at_any_write_is_finished_by_the_next_run(case: Case) -> None:
    at = 0
    directory = case.fresh(case.done)
    while killed(undo, case.plan, directory, at):
        assert case.originals_are_there(directory), at
        undo(case.plan, directory)
        assert contents(directory) == case.before, at
        shutil.rmtree(directory)
        directory = case.fresh(case.done)
        at += case.stride
    assert at > 30, "each of its writes was tried"


def test_killed_again_and_again_it_comes_to_an_end(case: Case) -> None:
    random = Random(9)
    for _ in range(15):
        directory = case.fresh()
        for _ in range(random.randrange(1, 6)):
            killed(apply, case.plan, directory, random.randrange(90))
            assert case.originals_are_there(directory)
        if random.random() < 0.5 and stage(case.plan, directory) is not Stage.NONE:
            for _ in range(random.randrange(4)):
                killed(undo, case.plan, directory, random.randrange(70))
                assert case.originals_are_there(directory)
            undo(case.plan, directory)
            assert contents(directory) == case.before
        else:
            apply(case.plan, directory)
            assert contents(directory) == case.after
        shutil.rmtree(directory)


def test_a_half_undone_plan_is_not_applied(case: Case) -> None:
    directory = case.fresh(case.done)
    at = 0
    while stage(case.plan, directory) is not Stage.UNDOING:
        killed(undo, case.plan, directory, at)
        at += 1
    with pytest.raises(KraftoolError, match="half undone"):
        apply(case.plan, directory)


def refusal(plan: Plan, directory: Path, files: Files) -> str:
    """Why it was not applied; empty if it was."""
    try:
        apply(plan, directory, files)
    except KraftoolError as error:
        return error.message
    return ""


@pytest.mark.parametrize("error", [errno.ENOSPC, errno.EROFS, errno.EACCES, errno.EIO])
def test_a_disk_that_refuses_any_write_has_changed_nothing_or_the_next_run_finishes(
    case: Case, error: int
) -> None:
    at, unchanged = 0, 0
    while True:
        directory = case.fresh()
        message = refusal(case.plan, directory, FailingFiles(at, error))
        if not message:
            break
        if "nothing was changed" in message.lower():
            unchanged += 1
            assert contents(directory) == case.before, at
            if error == errno.ENOSPC:
                assert not (directory / PARTITION / FOLDER).exists(), "nor is anything left"
        else:
            assert "half applied" in message
        assert case.originals_are_there(directory), at
        apply(case.plan, directory)
        assert contents(directory) == case.after, at
        shutil.rmtree(directory)
        at += case.stride if error == errno.ENOSPC or SOAK else 7
    assert unchanged > 4


@pytest.mark.parametrize("error", [errno.ENOSPC, errno.EROFS, errno.EACCES, errno.EIO])
def test_undo_on_a_disk_that_refuses_any_write_is_finished_by_the_next_run(
    case: Case, error: int
) -> None:
    at, unchanged = 0, 0
    while True:
        directory = case.fresh(case.done)
        try:
            undo(case.plan, directory, FailingFiles(at, error))
            break
        except KraftoolError as refused:
            message = refused.message
        assert os.strerror(error) in message
        if "nothing was changed" in message.lower():
            unchanged += 1
            assert contents(directory) == case.after, at
            back = backup_of(DataDirectory(Files(), str(directory)), case.plan.id).path + "/back"
            assert error != errno.ENOSPC or not os.listdir(back), "a full disk is not kept full"
        else:
            assert "half undone" in message
        assert case.originals_are_there(directory), at
        undo(case.plan, directory)
        assert contents(directory) == case.before, at
        shutil.rmtree(directory)
        at += case.stride if error == errno.ENOSPC or SOAK else 7
    assert unchanged > 4


def chosen(lost: Lost, random: Random, case: Case, total: int) -> list[Platter]:
    """Some of what may be left by now; all of it when the end is near, and done has to be done."""
    if lost.at > total - 8:
        return [*lost.prefixes()]
    if random.randrange(case.stride):
        return []
    return [random.choice([*lost.prefixes()]), lost.reordered(random)]


def test_the_power_fails_at_any_moment_of_apply(case: Case) -> None:
    """What a loss of power leaves is finished, or undone, like what a kill leaves."""
    random = Random(5)
    directory = case.fresh()
    files = RecordingFiles(directory)
    apply(case.plan, directory, files)
    lost = Lost(files)
    after = {name: data for name, (data, _) in case.after.items()}
    before = {name: data for name, (data, _) in case.before.items()}
    for _ in range(len(files.trace)):
        lost.advance()
        for platter in chosen(lost, random, case, len(files.trace)):
            left = case.root / "left"
            platter.write_to(directory, left)
            if random.random() < 0.5 or stage(case.plan, left) is Stage.NONE:
                apply(case.plan, left)
                assert bytes_of(left) == after, lost.at
            else:
                undo(case.plan, left)
                assert bytes_of(left) == before, lost.at
            shutil.rmtree(left)


def test_the_power_fails_at_any_moment_of_undo(case: Case) -> None:
    random = Random(6)
    directory = case.fresh(case.done)
    files = RecordingFiles(directory)
    undo(case.plan, directory, files)
    lost = Lost(files)
    before = {name: data for name, (data, _) in case.before.items()}
    for _ in range(len(files.trace)):
        lost.advance()
        for platter in chosen(lost, random, case, len(files.trace)):
            left = case.root / "left"
            platter.write_to(directory, left)
            undo(case.plan, left)
            assert bytes_of(left) == before, lost.at
            shutil.rmtree(left)
