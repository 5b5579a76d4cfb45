"""What apply and undo refuse, with nothing changed, and what they keep of what they replace."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from kraftool.decoders.errors import KraftoolError
from kraftool.repair.apply import Apply
from kraftool.repair.backup import FOLDER
from kraftool.repair.disk import DataDirectory, RepairRefused
from kraftool.repair.edits import in_turn
from kraftool.repair.plan import DirectoryIdentity, Expected, HostPlan, HostRole, Piece, Plan
from kraftool.repair.plan_file import target_of
from kraftool.repair.plan_yaml import plan_from_yaml
from kraftool.repair.verify import check_directory
from kraftool.storage.repair_journal import Stage
from tests.repair.repair_cases import (
    JUMP,
    NOW,
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
from tests.support.places import PARTITION, ROOT

# --- what is done -------------------------------------------------------------------------------


def test_a_jump_leaves_the_checkpoint_alone_with_the_voters_of_the_plan(
    directory: Path, plan: Plan
) -> None:
    apply(plan, directory)
    names = {path.name for path in (directory / PARTITION).iterdir()}
    assert names == {JUMP.name, "quorum-state", "partition.metadata", FOLDER}
    checked = check_directory(plan, str(directory))
    assert checked.voter_keys == ((3, VOTER.directory_id),)
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
        path.stat().st_mode & 0o777 == (0o700 if path.is_dir() else 0o600)
        for path in (kept, *kept.rglob("*"))
    )
    assert plan_from_yaml((kept / "plan.yaml").read_bytes()) == plan
    for edit in plan.hosts[0].edits:
        if edit.before is not None:
            assert (kept / "old" / edit.target.name).read_bytes() == before[edit.target.path]


def test_it_is_never_applied_twice(directory: Path, plan: Plan) -> None:
    apply(plan, directory)
    after = contents(directory)
    journal = directory / PARTITION / FOLDER / plan.id[:12] / "journal"
    recorded = journal.read_bytes()
    assert Apply(plan, str(directory)).stage is Stage.APPLIED
    apply(plan, directory)
    assert contents(directory) == after
    assert journal.read_bytes() == recorded


def test_new_files_come_first_and_a_log_goes_from_its_end(directory: Path, plan: Plan) -> None:
    names = [edit.target.name for edit in in_turn(plan.hosts[0].edits)]
    assert names[:2] == [JUMP.name, "quorum-state"]
    assert names[-1] == "meta.properties"
    cut = cut_plan(cut_directory(ROOT / "fixtures", directory.parent / "cut"))
    segments = [
        edit.target.name for edit in in_turn(cut.hosts[0].edits) if "log" in edit.target.name
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
        message = self._as_nobody(plan, directory)
        assert "Operation not permitted" in message
        assert "nothing was changed" in message
        assert "run as the user that Kafka runs as" in message
        assert contents(directory) == before
        assert not (directory / PARTITION / FOLDER).exists()
        apply(plan, directory)
        after = contents(directory)
        message = self._as_nobody(plan, directory, undo)
        assert "Permission denied" in message, "the originals are for their owner's eyes"
        assert "nothing was changed" in message
        assert "run as the user that Kafka runs as" in message
        assert f"{FOLDER}: Permission denied" in message, "the folder that denies, not a file in it"
        assert "belongs to user id 1234" in message
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
