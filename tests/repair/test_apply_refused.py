"""What apply refuses, before anything is changed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from kraftool.decoders.errors import KraftoolError
from kraftool.repair.apply import Apply
from kraftool.repair.backup import FOLDER, backup_of
from kraftool.repair.disk import DataDirectory, RepairRefused
from kraftool.repair.plan import DirectoryIdentity, Edit, Expected, HostPlan, HostRole, Plan
from kraftool.repair.plan_file import target_of
from kraftool.repair.undo import Undo
from kraftool.repair.verify import check_directory
from kraftool.storage.files import Files
from kraftool.storage.lock import LockState, lock_holder
from tests.repair.repair_cases import (
    JUMP,
    META,
    NOW,
    apply,
    contents,
    copied,
    log_left,
    plan_of,
    print_of,
    removal,
    unchanged,
    undo,
    written,
)
from tests.support.places import PARTITION, ROOT

# --- what is refused ----------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["quorum-state", "leader-epoch-checkpoint", f"{0:020}.log"])
def test_a_file_that_is_not_as_it_was_is_refused(directory: Path, plan: Plan, name: str) -> None:
    path = directory / PARTITION / name
    path.write_bytes(path.read_bytes() + b"x")
    with unchanged(directory), pytest.raises(RepairRefused, match=name):
        apply(plan, directory)


def test_an_empty_folder_is_asked_about(directory: Path, plan: Plan, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(RepairRefused) as refused:
        apply(plan, tmp_path / "empty", host="node-3")
    assert "Is it the right directory?" in refused.value.hint


def test_a_file_that_is_gone_or_new_or_only_relied_on_is_refused(
    directory: Path, plan: Plan
) -> None:
    quorum_state = directory / PARTITION / "quorum-state"
    kept = quorum_state.read_bytes()
    quorum_state.unlink()
    with unchanged(directory), pytest.raises(RepairRefused, match="does not exist"):
        apply(plan, directory)
    quorum_state.write_bytes(kept)
    new = directory / PARTITION / JUMP.name
    new.write_bytes(b"")
    with unchanged(directory), pytest.raises(RepairRefused, match="exists, but it did not"):
        apply(plan, directory)
    new.unlink()
    metadata = target_of("partition.metadata")
    expected = Expected(target=metadata, fingerprint=print_of(directory, metadata))
    relying = replace(plan, hosts=(replace(plan.hosts[0], expected=(expected,)),))
    (directory / PARTITION / metadata.name).write_bytes(b"other")
    with unchanged(directory), pytest.raises(RepairRefused, match=metadata.name):
        apply(relying, directory)


@pytest.mark.parametrize("name", ["quorum-state", f"{0:020}.log", "../meta.properties"])
def test_a_link_as_a_target_is_refused_whatever_is_behind_it(
    directory: Path, plan: Plan, name: str
) -> None:
    path = directory / PARTITION / name
    behind = directory.parent / "behind"
    shutil.move(path, behind)
    path.symlink_to(behind)
    kept = behind.read_bytes()
    with pytest.raises(RepairRefused, match="link"):
        apply(plan, directory, host="node-3")
    assert behind.read_bytes() == kept
    assert path.is_symlink()
    assert not (directory / PARTITION / FOLDER).exists()


def test_a_link_as_the_partition_or_as_the_backup_is_refused(directory: Path, plan: Plan) -> None:
    elsewhere = directory.parent / "elsewhere"
    elsewhere.mkdir()
    (directory / PARTITION / FOLDER).symlink_to(elsewhere)
    with pytest.raises(RepairRefused, match="is a link"):
        apply(plan, directory)
    (directory / PARTITION / FOLDER).unlink()
    (directory / PARTITION).rename(elsewhere / PARTITION)
    (directory / PARTITION).symlink_to(elsewhere / PARTITION)
    with pytest.raises(RepairRefused, match="is a link"):
        apply(plan, directory)
    assert sorted(path.name for path in elsewhere.iterdir()) == [PARTITION]


def test_a_pipe_as_a_target_is_refused_and_not_waited_for(directory: Path, plan: Plan) -> None:
    path = directory / PARTITION / "quorum-state"
    path.unlink()
    os.mkfifo(path)
    with pytest.raises(RepairRefused, match="not a regular file"):
        apply(plan, directory)


def test_a_directory_of_another_node_or_cluster_is_refused(
    fixtures_dir: Path, tmp_path: Path, plan: Plan
) -> None:
    for number, source in enumerate(
        ("kafka-4.3.0/dynamic-quorum/node-2/data", "kafka-4.4.0/dynamic-quorum/node-3/data")
    ):
        other = copied(fixtures_dir / source, tmp_path / str(number))
        with unchanged(other), pytest.raises(RepairRefused, match="not for"):
            apply(plan, other)
        with unchanged(other), pytest.raises(RepairRefused, match="but node-3 is"):
            apply(without_meta(plan), other, host="node-3")


def without_meta(plan: Plan) -> Plan:
    """A plan that leaves meta.properties as it is, which then has to be the host's."""
    host = plan.hosts[0]
    edits = tuple(edit for edit in host.edits if edit.target != META)
    return replace(plan, hosts=(replace(host, edits=edits),))


def test_the_metadata_partition_itself_and_what_is_no_directory_are_named(
    directory: Path, plan: Plan
) -> None:
    with pytest.raises(KraftoolError, match="is the metadata partition"):
        Apply(plan, str(directory / PARTITION))
    with pytest.raises(KraftoolError, match="not a directory"):
        Apply(plan, str(directory / "meta.properties"))


def test_a_directory_that_another_process_runs_on_is_refused(directory: Path, plan: Plan) -> None:
    code = (
        "import sys; from kraftool.storage.lock_taking import DirectoryLock\n"
        "with DirectoryLock(sys.argv[1]): print('held', flush=True); sys.stdin.read()"
    )
    other = subprocess.Popen(
        [sys.executable, "-c", code, str(directory)],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    with other:
        assert other.stdin is not None
        assert other.stdout is not None
        assert other.stdout.readline() == b"held\n"
        with unchanged(directory), pytest.raises(RepairRefused, match="in use"):
            apply(plan, directory)
        with pytest.raises(RepairRefused, match="in use"):
            Apply(plan, str(directory)).check()  # as --dry-run does, which takes no lock
        other.stdin.close()
    apply(plan, directory)
    with Undo(plan, str(directory)):
        assert lock_holder(str(directory)).state is LockState.HELD


def test_the_lock_is_held_while_the_directory_is_read(directory: Path, plan: Plan) -> None:
    """POSIX drops a process's locks on a file that it closes; the readers pass over `.lock`."""
    ask = f"from kraftool.storage.lock import *; print(lock_holder({str(directory)!r}).state)"
    with Apply(plan, str(directory)) as repair:
        repair.carry_out(NOW, "1.0")
        check_directory(plan, str(directory))
        completed = subprocess.run(
            [sys.executable, "-c", ask], cwd=ROOT, capture_output=True, text=True, check=True
        )
    assert completed.stdout.strip() == "held"


def test_another_plan_on_top_is_applied_and_undone_first(directory: Path, plan: Plan) -> None:
    other = plan_of(
        HostPlan(
            name="node-3",
            role=HostRole.VOTER,
            identity=DirectoryIdentity(node_id=3),
            edits=(removal(directory, "partition.metadata"),),
        )
    )
    before = contents(directory)
    apply(plan, directory)
    between = contents(directory)
    with Apply(other, str(directory)) as second:
        second.carry_out(NOW + 1, "1.0")
    assert not (directory / PARTITION / "partition.metadata").exists()
    after = contents(directory)
    with pytest.raises(RepairRefused, match=f"plan {other.id[:12]} was applied") as caught:
        undo(plan, directory)
    assert "undo that one first" in caught.value.hint
    assert contents(directory) == after
    undo(other, directory)
    assert contents(directory) == between
    undo(plan, directory)
    assert contents(directory) == before


def test_another_plan_is_refused_while_one_is_half_done(directory: Path, plan: Plan) -> None:
    apply(plan, directory)
    backup = backup_of(DataDirectory(Files(), str(directory)), plan.id)
    journal = Path(backup.path) / "journal"
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join(lines[:-1]))
    other = plan_of(
        HostPlan(
            name="node-3",
            role=HostRole.VOTER,
            identity=DirectoryIdentity(node_id=3),
            edits=(removal(directory, "partition.metadata"),),
        )
    )
    with pytest.raises(RepairRefused, match="half applied"):
        apply(other, directory)
    (directory / PARTITION / f"{5224:020}.log").write_bytes(b"")
    apply(other, directory)  # a node has run: there is nothing left to be finished


def test_a_half_applied_directory_that_a_node_ran_on_is_neither_finished_nor_undone(
    directory: Path, plan: Plan
) -> None:
    apply(plan, directory)
    journal = Path(backup_of(DataDirectory(Files(), str(directory)), plan.id).path) / "journal"
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join(lines[:-1]))
    (directory / PARTITION / f"{5224:020}.log").write_bytes(b"")
    for run in (apply, undo):
        with pytest.raises(RepairRefused, match=f"{5224:020}.log is new"):
            run(plan, directory)


def _with_edit(directory: Path, edit: Edit) -> HostPlan:
    """One file that is written anew, beside a log of which the rest is known."""
    epochs = removal(directory, "leader-epoch-checkpoint")
    return HostPlan(
        name="a",
        role=HostRole.VOTER,
        identity=DirectoryIdentity(node_id=3),
        expected=log_left(directory, edit),
        edits=(edit,) if edit.target == epochs.target else (edit, epochs),
    )


def test_content_that_kafka_could_not_read_is_not_given_a_name(directory: Path) -> None:
    cases = {
        "quorum-state": b"{}",
        f"{224:020}.log": b"no batch at all, and not a short one either: " * 3,
        "leader-epoch-checkpoint": b"x",
        "partition.metadata": b"x",
        f"{300:020}-{3:010}.checkpoint": (directory / PARTITION / f"{0:020}.log").read_bytes(),
    }
    for name, data in cases.items():
        host = _with_edit(directory, written(directory, target_of(name), data))
        with unchanged(directory), pytest.raises(RepairRefused, match="not sound"):
            apply(plan_of(host), directory)


def test_a_snapshot_under_another_offset_than_its_epoch_is_not_whole(directory: Path) -> None:
    """The name that Kafka would believe does not fit what is in it."""
    old = (directory / PARTITION / f"{171:020}-{3:010}.checkpoint").read_bytes()
    torn = written(directory, target_of(f"{5000:020}-{9:010}.checkpoint"), old[:-30])
    host = _with_edit(directory, torn)
    with unchanged(directory), pytest.raises(RepairRefused, match="not sound"):
        apply(plan_of(host), directory)


def test_a_state_that_is_not_the_planned_one_is_refused(directory: Path, plan: Plan) -> None:
    host = plan.hosts[0]
    edits = tuple(
        replace(edit, snapshot=replace(edit.snapshot, records_sha256="0" * 64))
        if edit.snapshot is not None
        else edit
        for edit in host.edits
    )
    wrong = replace(plan, hosts=(replace(host, edits=edits),))
    with unchanged(directory), pytest.raises(KraftoolError, match="nothing was changed"):
        apply(wrong, directory)


def test_too_little_room_is_refused_before_anything_is_written(
    directory: Path, plan: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(DataDirectory, "free_bytes", lambda self: 60_000)
    with unchanged(directory), pytest.raises(RepairRefused, match="60000 bytes free"):
        apply(plan, directory)


def test_a_partition_on_a_file_system_of_its_own_is_refused_where_both_change(
    directory: Path, plan: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Half of the plan could never be done."""
    monkeypatch.setattr(DataDirectory, "is_one_file_system", lambda self: False)
    with unchanged(directory), pytest.raises(RepairRefused, match="another file system"):
        apply(plan, directory)
    apply(without_meta(plan), directory)
