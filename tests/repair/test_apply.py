"""What apply and undo refuse, with nothing changed, and what they keep of what they replace."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from kraftool.decoders.errors import KraftoolError
from kraftool.repair.apply import Apply
from kraftool.repair.backup import FOLDER, backup_of
from kraftool.repair.disk import DataDirectory, RepairRefused
from kraftool.repair.edits import in_turn
from kraftool.repair.plan import DirectoryIdentity, Edit, Expected, HostPlan, HostRole, Piece, Plan
from kraftool.repair.plan_file import target_of
from kraftool.repair.plan_yaml import plan_from_yaml
from kraftool.repair.undo import Undo
from kraftool.repair.verify import check_directory
from kraftool.storage.files import Files
from kraftool.storage.lock import LockState, lock_holder
from kraftool.storage.repair_journal import Stage
from tests.repair.repair_cases import (
    JUMP,
    META,
    NOW,
    PARTITION,
    VOTER,
    FailingFiles,
    Killed,
    apply,
    bytes_of,
    contents,
    copied,
    cut_directory,
    cut_plan,
    jump_directory,
    jump_plan,
    log_left,
    plan_of,
    print_of,
    removal,
    unchanged,
    undo,
    written,
)

ROOT = Path(__file__).resolve().parents[2]


# --- what is done -------------------------------------------------------------------------------


def test_a_jump_leaves_the_checkpoint_alone_with_the_voters_of_the_plan(
    directory: Path, plan: Plan
) -> None:
    apply(plan, directory)
    names = {path.name for path in (directory / PARTITION).iterdir()}
    assert names == {JUMP.name, "quorum-state", "partition.metadata", FOLDER}
    checked = check_directory(plan, str(directory))
    assert checked.voters == ((3, VOTER.directory_id),)
    assert checked.stage is Stage.APPLIED
    assert checked.findings == ()


def test_files_keep_owner_and_permissions_and_new_ones_get_kafkas(
    directory: Path, plan: Plan
) -> None:
    quorum_state = directory / PARTITION / "quorum-state"
    quorum_state.chmod(0o604)
    if os.geteuid() == 0:
        os.chown(directory / PARTITION, 1234, 2345)
        os.chown(quorum_state, 1234, 2346)
    apply(jump_plan(directory), directory)
    assert quorum_state.stat().st_mode & 0o777 == 0o604
    new = directory / PARTITION / JUMP.name
    assert new.stat().st_mode & 0o777 == 0o400
    if os.geteuid() == 0:
        assert (quorum_state.stat().st_uid, quorum_state.stat().st_gid) == (1234, 2346)
        assert (new.stat().st_uid, new.stat().st_gid) == (1234, 2345)


def test_the_backup_is_its_owners_alone_and_has_the_plan(directory: Path, plan: Plan) -> None:
    before = bytes_of(directory)
    apply(plan, directory)
    kept = directory / PARTITION / FOLDER / plan.id[:12]
    assert all(
        each.stat().st_mode & 0o777 == (0o700 if each.is_dir() else 0o600)
        for each in (kept, *kept.rglob("*"))
    )
    assert plan_from_yaml((kept / "plan.yaml").read_bytes()) == plan
    for edit in plan.hosts[0].edits:
        if edit.before is not None:
            assert (kept / "old" / edit.target.name).read_bytes() == before[edit.target.path]


def test_it_is_never_applied_twice(directory: Path, plan: Plan) -> None:
    apply(plan, directory)
    after = contents(directory)
    journal = directory / PARTITION / FOLDER / plan.id[:12] / "journal"
    said = journal.read_bytes()
    assert Apply(plan, str(directory)).stage is Stage.APPLIED
    apply(plan, directory)
    assert contents(directory) == after
    assert journal.read_bytes() == said


def test_new_files_come_first_and_a_log_goes_from_its_end(directory: Path, plan: Plan) -> None:
    names = [each.target.name for each in in_turn(plan.hosts[0].edits)]
    assert names[:2] == [JUMP.name, "quorum-state"]
    assert names[-1] == "meta.properties"
    cut = cut_plan(cut_directory(ROOT / "fixtures", directory.parent / "cut"))
    segments = [
        each.target.name for each in in_turn(cut.hosts[0].edits) if "log" in each.target.name
    ]
    assert segments == [f"{122:020}.log", f"{63:020}.log"]


def test_a_checkpoint_from_another_host_is_copied(fixtures_dir: Path, tmp_path: Path) -> None:
    fleet = fixtures_dir / "kafka-4.3.0" / "dynamic-quorum"
    source = copied(fleet / "node-3" / "data", tmp_path / "three")
    target = copied(fleet / "node-2" / "data", tmp_path / "two")
    snapshot = target_of(f"{171:020}-{3:010}.checkpoint")
    (target / PARTITION / snapshot.name).unlink(missing_ok=True)
    of = print_of(source, snapshot)
    edit = replace(
        written(target, snapshot, b"x"),
        after=of,
        pieces=(Piece(file=snapshot, source="node-3", end=of.size),),
    )
    two = HostPlan(
        name="node-2",
        role=HostRole.VOTER,
        identity=DirectoryIdentity(node_id=2),
        expected=log_left(target, edit),
        edits=(edit, removal(target, "leader-epoch-checkpoint")),
    )
    three = HostPlan(
        name="node-3",
        role=HostRole.VOTER,
        identity=DirectoryIdentity(node_id=3),
        expected=(Expected(target=snapshot, fingerprint=of),),
    )
    plan = plan_of(two, three)
    with unchanged(target):
        for sources in ({}, {"node-9": str(source)}, {"node-3": str(target)}):
            with pytest.raises(RepairRefused):
                apply(plan, target, sources=sources)
    unneeded = Apply(plan, str(target), sources={"node-3": str(source), "node-9": "/nowhere"})
    assert unneeded.unneeded == ("node-9",)
    unneeded.check()
    apply(plan, target, sources={"node-3": str(source)})
    copy = (target / PARTITION / snapshot.name).read_bytes()
    assert copy == (source / PARTITION / snapshot.name).read_bytes()


def test_a_directory_without_a_metadata_partition_gets_one_and_loses_it_again(
    directory: Path,
) -> None:
    shutil.rmtree(directory / PARTITION)
    edit = written(directory, target_of("quorum-state"), b"{}")
    broken = plan_of(
        HostPlan(
            name="a", role=HostRole.VOTER, identity=DirectoryIdentity(node_id=3), edits=(edit,)
        )
    )
    with pytest.raises(RepairRefused, match="not sound"):
        apply(broken, directory)
    assert not (directory / PARTITION).exists()
    state = b'{"leaderId":-1,"leaderEpoch":7,"votedId":-1,"votedDirectoryId":"' + b"A" * 22
    state += b'","data_version":1}'
    edit = written(directory, target_of("quorum-state"), state)
    plan = plan_of(
        HostPlan(
            name="a", role=HostRole.VOTER, identity=DirectoryIdentity(node_id=3), edits=(edit,)
        )
    )
    apply(plan, directory)
    assert (directory / PARTITION / "quorum-state").read_bytes() == state


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
    assert "is it the right directory?" in refused.value.hint


def test_a_file_that_is_gone_or_new_or_only_relied_on_is_refused(
    directory: Path, plan: Plan
) -> None:
    quorum_state = directory / PARTITION / "quorum-state"
    kept = quorum_state.read_bytes()
    quorum_state.unlink()
    with unchanged(directory), pytest.raises(RepairRefused, match="is not there"):
        apply(plan, directory)
    quorum_state.write_bytes(kept)
    new = directory / PARTITION / JUMP.name
    new.write_bytes(b"")
    with unchanged(directory), pytest.raises(RepairRefused, match="is there, and it was not"):
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
    with pytest.raises(RepairRefused, match="no regular file"):
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
        with unchanged(other), pytest.raises(RepairRefused, match="and node-3 is"):
            apply(without_meta(plan), other, host="node-3")


def without_meta(plan: Plan) -> Plan:
    """A plan that leaves meta.properties as it is, which then has to be the host's."""
    host = plan.hosts[0]
    edits = tuple(each for each in host.edits if each.target != META)
    return replace(plan, hosts=(replace(host, edits=edits),))


def test_the_metadata_partition_itself_and_what_is_no_directory_are_named(
    directory: Path, plan: Plan
) -> None:
    with pytest.raises(KraftoolError, match="is the metadata partition"):
        Apply(plan, str(directory / PARTITION))
    with pytest.raises(KraftoolError, match="no directory"):
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
        said = subprocess.run(
            [sys.executable, "-c", ask], cwd=ROOT, capture_output=True, text=True, check=True
        )
    assert said.stdout.strip() == "held"


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
        replace(each, snapshot=replace(each.snapshot, records_sha256="0" * 64))
        if each.snapshot is not None
        else each
        for each in host.edits
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


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount, and be somebody else")
class TestAsRoot:
    def test_a_file_system_that_is_full_changes_nothing(
        self, directory: Path, plan: Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        small = tmp_path / "small"
        small.mkdir()
        command = ["mount", "-t", "tmpfs", "-o", "size=160k", "none", str(small)]
        if subprocess.run(command, capture_output=True, check=False).returncode:
            pytest.skip("mounting is not allowed here")
        try:
            full = copied(directory, small / "data")
            with unchanged(full), pytest.raises(RepairRefused, match="free"):
                apply(plan, full)
            # And where the file system promises room that it has not.
            monkeypatch.setattr(DataDirectory, "free_bytes", lambda self: 1 << 40)
            with unchanged(full), pytest.raises(KraftoolError, match="No space left"):
                apply(plan, full)
        finally:
            subprocess.run(["umount", str(small)], check=True)

    def test_a_read_only_file_system_changes_nothing(
        self, directory: Path, plan: Plan, tmp_path: Path
    ) -> None:
        mounted = tmp_path / "mounted"
        mounted.mkdir()
        mount = ["mount", "--bind", str(directory), str(mounted)]
        if subprocess.run(mount, capture_output=True, check=False).returncode:
            pytest.skip("mounting is not allowed here")
        try:
            read_only = ["mount", "-o", "remount,ro,bind", str(mounted)]
            subprocess.run(read_only, capture_output=True, check=True)
            with unchanged(mounted), pytest.raises(KraftoolError, match=r"[Rr]ead-only"):
                apply(plan, mounted)
            with pytest.raises(KraftoolError, match=r"[Rr]ead-only"):
                Apply(plan, str(mounted)).check()
            apply(plan, directory)
            after = contents(directory)
            with pytest.raises(KraftoolError, match=r"[Rr]ead-only.*nothing was changed"):
                undo(plan, mounted)
            assert contents(directory) == after
        finally:
            subprocess.run(["umount", str(mounted)], check=True)

    @pytest.fixture
    def somewhere(self) -> Iterator[Path]:
        """A folder that others than root can be let into; pytest's own are root's alone."""
        with tempfile.TemporaryDirectory() as folder:
            yield Path(folder)

    def test_somebody_else_is_told_who_has_to_run_it(
        self, fixtures_dir: Path, somewhere: Path
    ) -> None:
        """Who may not write there, and who may write but not give files to their owner."""
        directory = jump_directory(fixtures_dir, somewhere / "data")
        plan = jump_plan(directory)
        (directory / ".lock").touch()
        for path in (directory, *directory.rglob("*")):
            os.chown(path, 1234, 1234)
        somewhere.chmod(0o700)
        assert "Permission denied" in self._as_nobody(plan, directory)
        somewhere.chmod(0o755)
        assert "Permission denied" in self._as_nobody(plan, directory)
        directory.chmod(0o777)
        (directory / PARTITION).chmod(0o777)
        (directory / ".lock").chmod(0o666)
        for path in directory.rglob("*"):
            if path.is_file() and path.name != ".lock":
                path.chmod(0o644)
        before = contents(directory)
        said = self._as_nobody(plan, directory)
        assert "Operation not permitted" in said
        assert "nothing was changed" in said
        assert "run as the user that Kafka runs as" in said
        assert contents(directory) == before
        assert not (directory / PARTITION / FOLDER).exists()
        apply(plan, directory)
        after = contents(directory)
        said = self._as_nobody(plan, directory, undo)
        assert "Permission denied" in said, "the originals are for their owner's eyes"
        assert "nothing was changed" in said
        assert "run as the user that Kafka runs as" in said
        assert f"{FOLDER}: Permission denied" in said, "the folder that denies, not a file in it"
        assert "belongs to user id 1234" in said
        assert contents(directory) == after

    def _as_nobody(
        self, plan: Plan, directory: Path, run: Callable[[Plan, Path], object] = apply
    ) -> str:
        warm = directory.parent / "warm"
        if not warm.exists():  # what is imported late could not be read by somebody else
            apply(plan, copied(directory, warm))
        os.setegid(4321)
        os.seteuid(4321)
        try:
            run(plan, directory)
        except KraftoolError as error:
            return f"{error.message} | {error.hint}"
        finally:
            os.seteuid(0)
            os.setegid(0)
        return "done"


def test_a_half_applied_directory_whose_index_a_start_rewrote_can_be_undone(
    directory: Path, plan: Plan
) -> None:
    """Seen on 4.3.0: a controller that is started and elects nobody changes its timeindex only."""
    before = contents(directory)
    good = 70
    while Apply(plan, str(directory)).stage is not Stage.CHANGING:
        shutil.rmtree(directory / PARTITION / FOLDER, ignore_errors=True)
        files = FailingFiles(good)
        with pytest.raises(Killed), Apply(plan, str(directory), files=files) as repair:
            repair.carry_out(NOW, "1.0")
        good += 1
    index = directory / PARTITION / f"{0:020}.timeindex"
    assert index.exists(), "the log had not gone by then"
    index.write_bytes(bytes(24))
    with pytest.raises(RepairRefused, match=r"a node has run on .* since the plan") as refused:
        apply(plan, directory)
    assert "timeindex" not in refused.value.message
    assert "recover undo" in refused.value.hint
    undo(plan, directory)
    assert contents(directory) == before
