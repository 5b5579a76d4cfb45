"""What undo refuses, and what does not keep it away."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from kraftool.repair.apply import Apply
from kraftool.repair.backup import FOLDER
from kraftool.repair.disk import RepairRefused
from kraftool.repair.plan import Plan
from tests.repair.repair_cases import (
    JUMP,
    NOW,
    apply,
    contents,
    cut_directory,
    cut_plan,
    log_left,
    plan_of,
    removal,
    unchanged,
    undo,
)
from tests.support.places import PARTITION


def test_undo_is_refused_where_nothing_was_applied(directory: Path, plan: Plan) -> None:
    with unchanged(directory), pytest.raises(RepairRefused, match="was not applied"):
        undo(plan, directory)


@pytest.mark.parametrize("name", [f"{5224:020}.log", "quorum-state", JUMP.name, "new"])
def test_undo_is_refused_once_the_quorum_has_moved_on(
    directory: Path, plan: Plan, name: str
) -> None:
    apply(plan, directory)
    name = f"{6000:020}-{1005:010}.checkpoint" if name == "new" else name
    path = directory / PARTITION / name
    if path.exists():
        path.chmod(0o600)
    path.write_bytes(b"something that a node wrote")
    before = contents(directory)
    with pytest.raises(RepairRefused, match=f"a node has run on.*{name}"):
        undo(plan, directory)
    assert contents(directory) == before
    apply(plan, directory)  # already applied: nothing happens
    assert contents(directory) == before


def test_undo_is_refused_where_the_backup_was_changed(directory: Path, plan: Plan) -> None:
    apply(plan, directory)
    old = directory / PARTITION / FOLDER / plan.id[:12] / "old" / "quorum-state"
    old.write_bytes(old.read_bytes() + b" ")
    before = contents(directory)
    with pytest.raises(RepairRefused, match="no longer the original"):
        undo(plan, directory)
    assert contents(directory) == before


def test_what_only_helps_kafka_does_not_keep_undo_away(fixtures_dir: Path, tmp_path: Path) -> None:
    """Indexes and leader-epoch-checkpoint are made of the log: they say nothing new."""
    directory = cut_directory(fixtures_dir, tmp_path / "data")
    before = contents(directory)
    plan = cut_plan(directory)
    apply(plan, directory)
    (directory / PARTITION / "leader-epoch-checkpoint").write_bytes(b"0\n0\n")
    undo(plan, directory)
    assert contents(directory) == before


def test_a_plan_is_undone_only_after_the_plans_that_were_applied_later(
    fixtures_dir: Path, tmp_path: Path
) -> None:
    """The earlier plan does not know the files as the later one left them."""
    directory = cut_directory(fixtures_dir, tmp_path / "data")
    before = contents(directory)
    first = cut_plan(directory)
    apply(first, directory)
    (checkpoint,) = [
        edit.target.name
        for edit in first.hosts[0].edits
        if edit.target.name.endswith("checkpoint") and edit.after is not None
    ]
    edit = removal(directory, checkpoint)
    host = replace(first.hosts[0], edits=(edit,), expected=log_left(directory, edit))
    second = replace(plan_of(host), created_ms=NOW + 1)
    with Apply(second, str(directory)) as repair:
        repair.carry_out(NOW + 1, "1.0")
    with pytest.raises(RepairRefused, match=f"plan {second.id[:12]} was applied to .* later"):
        undo(first, directory)
    undo(second, directory)
    undo(first, directory)
    assert contents(directory) == before
