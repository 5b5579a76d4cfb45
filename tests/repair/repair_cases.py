"""Directories of real Kafka with plans for them, and disks that fail at a chosen moment."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from kraftool.decoders import quorum_state
from kraftool.decoders.names import parse_checkpoint_name
from kraftool.raft.names import Endpoint, ReplicaKey, Voter, VoterSet
from kraftool.raft.settings import SUPPORTED_KRAFT_VERSION
from kraftool.repair.apply import Apply
from kraftool.repair.backup import FOLDER
from kraftool.repair.plan import (
    SCHEMA_VERSION,
    DirectoryIdentity,
    Edit,
    Expected,
    Fingerprint,
    HostPlan,
    HostRole,
    Method,
    Piece,
    Plan,
    PlannedLoss,
    SnapshotRecipe,
)
from kraftool.repair.plan_file import PlanFile, PlanFileKind, target_of
from kraftool.repair.state_records import digest_of, records_of
from kraftool.repair.undo import Undo
from kraftool.reports.election.assessment import LossBound
from kraftool.reports.state.load import load_state
from kraftool.storage.files import Files, OpenFile
from tests.support.places import PARTITION

META = PlanFile(kind=PlanFileKind.META_PROPERTIES, name="meta.properties")
NOW = 1_770_000_000_000


def copied(source: Path, target: Path) -> Path:
    """A directory of a fixture, which may be changed; without the folders of topics."""
    shutil.copytree(source, target, ignore=lambda folder, names: _topics(Path(folder), names))
    for folder, _, names in os.walk(target):
        os.chmod(folder, 0o755)
        for name in names:
            os.chmod(os.path.join(folder, name), 0o640)
    return target


def _topics(folder: Path, names: list[str]) -> list[str]:
    return [name for name in names if name != PARTITION and (folder / name).is_dir()]


def contents(directory: Path) -> dict[str, tuple[bytes, int]]:
    """Every file with its permissions, but for what a repair keeps beside the log."""
    return {
        str(path.relative_to(directory)): (path.read_bytes(), path.stat().st_mode)
        for path in sorted(directory.rglob("*"))
        if path.is_file() and FOLDER not in path.parts and path.name != ".lock"
    }


def bytes_of(directory: Path) -> dict[str, bytes]:
    return {name: data for name, (data, _) in contents(directory).items()}


def print_of(directory: Path, target: PlanFile) -> Fingerprint:
    return Fingerprint.of((directory / target.path).read_bytes())


def removal(directory: Path, name: str) -> Edit:
    target = target_of(name)
    return Edit(target=target, before=print_of(directory, target))


def written(directory: Path, target: PlanFile, data: bytes) -> Edit:
    """A file with new bytes, which are in the plan."""
    before = print_of(directory, target) if (directory / target.path).exists() else None
    return Edit(
        target=target, before=before, after=Fingerprint.of(data), pieces=(Piece(data=data),)
    )


def log_left(directory: Path, *edits: Edit) -> tuple[Expected, ...]:
    """All of the log that the edits leave, as a plan names it."""
    changed = {edit.target for edit in edits}
    targets = [target_of(path.name) for path in sorted((directory / PARTITION).iterdir())
               if path.is_file()]  # fmt: skip
    return tuple(
        Expected(target=target, fingerprint=print_of(directory, target))
        for target in targets
        if target.kind in (PlanFileKind.SEGMENT, PlanFileKind.SNAPSHOT) and target not in changed
    )


def plan_of(*hosts: HostPlan, **more: Any) -> Plan:
    return Plan(
        schema_version=SCHEMA_VERSION,
        created_ms=NOW,
        tool="1.0",
        method=more.pop("method", Method.MEND),
        summary=("A test.",),
        loss=PlannedLoss(verdict=LossBound.NONE, text="nothing"),
        hosts=hosts,
        **more,
    )


# --- the snapshot jump, with a new cluster id -------------------------------------------------

DIRECTORY_ID = "2Z8JApBiRl-Vj1-Gz3rfbg"
VOTER = Voter(
    key=ReplicaKey(3, DIRECTORY_ID),
    endpoints={"CONTROLLER": Endpoint("127.0.0.1", 43523)},
    kraft_version=SUPPORTED_KRAFT_VERSION,
)
JUMP = target_of("00000000000000005224-0000001003.checkpoint")
FENCED = b"version=1\ncluster.id=AAAAAAAAAAAAAAAAAAAAAg\nnode.id=3\ndirectory.id=%s\n"


def jump_directory(fixtures: Path, target: Path) -> Path:
    return copied(fixtures / "kafka-4.3.0" / "dynamic-quorum" / "node-3" / "data", target)


def jump_plan(directory: Path) -> Plan:
    """Everything that a jump does, and a new cluster id."""
    meta = written(directory, META, FENCED % DIRECTORY_ID.encode())
    plan = jump_of(directory, state_offset=224, voter=VOTER, snapshot=JUMP)
    host = plan.hosts[0]
    identity = replace(host.identity, cluster_id="xxuyFdGYSvOPfcYJRNjaMA")
    return replace(plan, hosts=(replace(host, identity=identity, edits=(meta, *host.edits)),))


def jump_of(directory: Path, *, state_offset: int, voter: Voter, snapshot: PlanFile) -> Plan:
    """A checkpoint is made of the state at an offset, the epoch rises, the log goes."""
    named = parse_checkpoint_name(snapshot.name)
    assert named is not None, "a checkpoint's name"
    digest = digest_of(records_of(load_state(str(directory), at=state_offset).image))
    recipe = SnapshotRecipe(
        offset=named.offset,
        epoch=named.epoch,
        timestamp_ms=NOW,
        last_contained_log_timestamp_ms=NOW - 1000,
        kraft_version=1,
        voters=VoterSet.of(voter),
        state_offset=state_offset,
        records=digest.count,
        records_sha256=digest.sha256,
    )
    state = quorum_state.encode(quorum_state.QuorumState(data_version=1, leader_epoch=named.epoch))
    names = sorted(path.name for path in (directory / PARTITION).iterdir())
    kept = {"quorum-state", "partition.metadata", FOLDER}
    edits = (
        *(removal(directory, name) for name in names if name not in kept),
        written(directory, target_of("quorum-state"), state),
        Edit(target=snapshot, snapshot=recipe),
    )
    name = f"node-{voter.id}"
    identity = DirectoryIdentity(node_id=voter.id, directory_id=voter.directory_id or "")
    host = HostPlan(name=name, role=HostRole.SEED, identity=identity, edits=edits)
    return plan_of(
        host,
        method=Method.SNAPSHOT_JUMP,
        kraft_version=1,
        voters_after=VoterSet.of(voter),
        seed=name,
    )


# --- a log that is cut in the middle, and a snapshot that is put back --------------------------


def cut_directory(fixtures: Path, target: Path) -> Path:
    return copied(fixtures / "kafka-4.3.0" / "log-cleaning" / "node-1" / "data", target)


def cut_plan(directory: Path) -> Plan:
    """The first segment is cut, the second one goes, a leftover snapshot gets its name again."""
    folder = directory / PARTITION
    segment = target_of("00000000000000000063.log")
    data = (folder / segment.name).read_bytes()
    end = _first_border(data, len(data) // 2)
    old = target_of("00000000000000000061-0000000001.checkpoint.deleted")
    back = target_of("00000000000000000061-0000000001.checkpoint")
    edits = (
        removal(directory, "00000000000000000122.log"),
        removal(directory, "00000000000000000122.index"),
        removal(directory, "00000000000000000194-0000000001.checkpoint"),
        removal(directory, "leader-epoch-checkpoint"),
        Edit(
            target=segment,
            before=print_of(directory, segment),
            after=Fingerprint.of(data[:end]),
            pieces=(Piece(file=segment, end=end),),
        ),
        Edit(target=old, before=print_of(directory, old)),
        Edit(
            target=back,
            after=print_of(directory, old),
            pieces=(Piece(file=old, end=print_of(directory, old).size),),
        ),
    )
    host = HostPlan(
        name="node-1",
        role=HostRole.VOTER,
        identity=DirectoryIdentity(node_id=1),
        expected=log_left(directory, *edits),
        edits=edits,
    )
    return plan_of(host)


def _first_border(data: bytes, least: int) -> int:
    at = 0
    while at < least:
        at += 12 + int.from_bytes(data[at + 8 : at + 12], "big")
    return at


def without(plan: Plan, name: str) -> Plan:
    """The plan without its edit of a file."""
    host = plan.hosts[0]
    edits = tuple(edit for edit in host.edits if edit.target.name != name)
    return replace(plan, hosts=(replace(host, edits=edits), *plan.hosts[1:]))


# --- disks that fail ----------------------------------------------------------------------------


class Killed(BaseException):
    """kill -9: nothing after it happens, but for the descriptors that the system closes."""


class FailingFiles(Files):
    """A disk that does so many changes, and fails at the next one.

    With `error` it goes on failing with that, as a full or a read-only disk does, but for what such
    a disk still does: removing. Without, the process is killed; half of a write is done by then.
    """

    def __init__(self, good: int, error: int = 0) -> None:
        self.good, self.error = good, error
        self.done = 0
        self.dead = False

    def count(self, path: str, half: Callable[[], object] = lambda: None) -> None:
        if self.dead:
            raise Killed
        if self.done >= self.good:
            if self.error:
                raise OSError(self.error, os.strerror(self.error), path)
            half()
            self.dead = True
            raise Killed
        self.done += 1

    @property
    def has_failed(self) -> bool:
        return self.dead or (bool(self.error) and self.done >= self.good)

    def opened(self, path: str, descriptor: int) -> OpenFile:
        return _Failing(path, descriptor, self)

    def create(self, path: str, mode: int = 0o644) -> OpenFile:
        self.count(path)
        return super().create(path, mode)

    def make_folder(self, path: str, mode: int = 0o777) -> None:
        if not os.path.isdir(path):
            self.count(path)
        super().make_folder(path, mode)

    def rename(self, source: str, target: str) -> None:
        self.count(target)
        super().rename(source, target)

    def unlink(self, path: str) -> None:
        if self.error != errno.ENOSPC:
            self.count(path)
        super().unlink(path)

    def remove_folder(self, path: str) -> None:
        if self.error != errno.ENOSPC:
            self.count(path)
        super().remove_folder(path)

    def sync_folder(self, path: str) -> None:
        if self.error != errno.ENOSPC:
            self.count(path)


class _Failing(OpenFile):
    def __init__(self, path: str, descriptor: int, files: FailingFiles) -> None:
        super().__init__(path, descriptor)
        self._files = files

    def write_at(self, position: int, data: bytes) -> None:
        write = super().write_at
        self._files.count(self.path, lambda: write(position, data[: len(data) // 2]))
        write(position, data)

    def truncate(self, size: int) -> None:
        self._files.count(self.path)
        super().truncate(size)

    def give(self, uid: int, gid: int, mode: int) -> None:
        self._files.count(self.path)
        super().give(uid, gid, mode)

    def sync(self) -> None:
        self._files.count(self.path)


class NoSync(Files):
    """A disk in a hurry."""

    def opened(self, path: str, descriptor: int) -> OpenFile:
        return _NoSync(path, descriptor)

    def sync_folder(self, path: str) -> None:
        """Nobody pulls the plug."""


class _NoSync(OpenFile):
    def sync(self) -> None:
        """Nobody pulls the plug."""


def apply(
    plan: Plan, directory: Path, *, host: str = "", sources: dict[str, str] | None = None
) -> Apply:
    with Apply(plan, str(directory), host=host, sources=sources) as repair:
        repair.carry_out(NOW, "1.0")
    return repair


def undo(plan: Plan, directory: Path) -> Undo:
    with Undo(plan, str(directory)) as repair:
        repair.carry_out(NOW)
    return repair


@contextmanager
def unchanged(directory: Path) -> Iterator[None]:
    """Nothing is changed, nor left behind but the lock's file."""
    before = contents(directory)
    yield
    assert contents(directory) == before
    assert not (directory / PARTITION / FOLDER).exists()
