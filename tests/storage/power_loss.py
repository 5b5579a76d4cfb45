"""A disk that remembers every change, and can show what a loss of power would have left of them.

What was synced is there for good. Of what was not, some prefix is there, or any part in any order:
whole changes, and pieces of the last write or of any. Names and contents are lost independently of
each other, since only syncing the folder makes a name durable.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from kraftool.storage.files import Files, OpenFile

SECTOR = 512


@dataclass(frozen=True, slots=True)
class Create:
    path: str
    inode: int


@dataclass(frozen=True, slots=True)
class Rename:
    source: str
    target: str


@dataclass(frozen=True, slots=True)
class Unlink:
    path: str


@dataclass(frozen=True, slots=True)
class Write:
    inode: int
    position: int
    data: bytes


@dataclass(frozen=True, slots=True)
class Truncate:
    inode: int
    size: int


@dataclass(frozen=True, slots=True)
class Sync:
    inode: int


@dataclass(frozen=True, slots=True)
class SyncFolder:
    path: str


Change = Create | Rename | Unlink | Write | Truncate
Operation = Change | Sync | SyncFolder


class RecordingFiles(Files):
    """Does what it is told, and writes it down. It begins with a folder that is durable."""

    def __init__(self, root: Path) -> None:
        self.trace: list[Operation] = []
        self.inodes: dict[str, int] = {}
        self.began: dict[str, tuple[int, bytes]] = {}
        for path in sorted(root.rglob("*")):
            if path.is_file() and path.name != ".lock":
                self.inodes[str(path)] = len(self.inodes)
                self.began[str(path)] = (self.inodes[str(path)], path.read_bytes())
        self._next = len(self.inodes)

    def opened(self, path: str, descriptor: int) -> OpenFile:
        return _Recorded(path, descriptor, self.inodes[path], self.trace)

    def create(self, path: str, mode: int = 0o644) -> OpenFile:
        if path in self.inodes:
            self.trace.append(Truncate(self.inodes[path], 0))
        else:
            self.inodes[path], self._next = self._next, self._next + 1
            self.trace.append(Create(path, self.inodes[path]))
        return super().create(path, mode)

    def rename(self, source: str, target: str) -> None:
        super().rename(source, target)
        self.inodes[target] = self.inodes.pop(source)
        self.trace.append(Rename(source, target))

    def unlink(self, path: str) -> None:
        super().unlink(path)
        if self.inodes.pop(path, None) is not None:
            self.trace.append(Unlink(path))

    def sync_folder(self, path: str) -> None:
        self.trace.append(SyncFolder(path))


class _Recorded(OpenFile):
    def __init__(self, path: str, descriptor: int, inode: int, trace: list[Operation]) -> None:
        super().__init__(path, descriptor)
        self._inode, self._trace = inode, trace

    def write_at(self, position: int, data: bytes) -> None:
        super().write_at(position, data)
        self._trace.append(Write(self._inode, position, data))

    def truncate(self, size: int) -> None:
        super().truncate(size)
        self._trace.append(Truncate(self._inode, size))

    def sync(self) -> None:
        self._trace.append(Sync(self._inode))


@dataclass(slots=True)
class Platter:
    """What is on a disk: names, and contents by what the names stand for."""

    names: dict[str, int] = field(default_factory=dict)
    contents: dict[int, bytearray] = field(default_factory=dict)

    def copy(self) -> Platter:
        return Platter(
            dict(self.names), {key: bytearray(content) for key, content in self.contents.items()}
        )

    def apply(self, change: Change) -> None:
        """Let a change reach the disk; one whose file never did comes to nothing."""
        match change:
            case Create(path, inode):
                self.names[path] = inode
                self.contents.setdefault(inode, bytearray())
            case Rename(source, target):
                if source in self.names:
                    self.names[target] = self.names.pop(source)
            case Unlink(path):
                self.names.pop(path, None)
            case Write(inode, position, data):
                content = self.contents.setdefault(inode, bytearray())
                content.extend(bytes(max(position + len(data) - len(content), 0)))
                content[position : position + len(data)] = data
            case Truncate(inode, size):
                content = self.contents.setdefault(inode, bytearray())
                del content[size:]
                content.extend(bytes(size - len(content)))

    def write_to(self, root: Path, target: Path) -> None:
        """Make the files anew below another folder."""
        for path, inode in self.names.items():
            to = target / os.path.relpath(path, root)
            to.parent.mkdir(parents=True, exist_ok=True)
            to.write_bytes(self.contents[inode])


class Lost:
    """Every state that a loss of power after some operation may leave."""

    def __init__(self, files: RecordingFiles) -> None:
        self._durable = Platter(
            {path: inode for path, (inode, _) in files.began.items()},
            {inode: bytearray(data) for inode, data in files.began.values()},
        )
        self._trace = files.trace
        self._pending: list[Change] = []
        self.at = 0

    def advance(self) -> None:
        """Let one more operation happen."""
        operation = self._trace[self.at]
        self.at += 1
        match operation:
            case Sync(inode):
                self._settle(lambda change: _inode_of(change) == inode)
            case SyncFolder(path):
                self._settle(lambda change: _is_name(change) and path in _folders_of(change))
            case _:
                self._pending.append(operation)

    def _settle(self, is_durable: Callable[[Change], bool]) -> None:
        for change in self._pending:
            if is_durable(change):
                self._durable.apply(change)
        self._pending = [change for change in self._pending if not is_durable(change)]

    def prefixes(self) -> Iterator[Platter]:
        """Nothing more, all of it, and what lies between, in order; the last write also torn."""
        state = self._durable.copy()
        yield state.copy()
        for change in self._pending:
            if isinstance(change, Write) and len(change.data) > 1:
                torn = state.copy()
                torn.apply(
                    Write(change.inode, change.position, change.data[: len(change.data) // 2])
                )
                yield torn
            state.apply(change)
            yield state.copy()

    def reordered(self, random: Random) -> Platter:
        """Some of it; of some writes only some sectors."""
        state = self._durable.copy()
        for change in self._pending:
            chance = random.random()
            if chance < 0.4:
                state.apply(change)
            elif chance < 0.7 and isinstance(change, Write):
                for at in range(0, len(change.data), SECTOR):
                    if random.random() < 0.5:
                        piece = change.data[at : at + SECTOR]
                        state.apply(Write(change.inode, change.position + at, piece))
        return state


def _inode_of(change: Change) -> int | None:
    return change.inode if isinstance(change, Write | Truncate) else None


def _is_name(change: Change) -> bool:
    return isinstance(change, Create | Rename | Unlink)


def _folders_of(change: Change) -> set[str]:
    match change:
        case Rename(source, target):
            return {os.path.dirname(source), os.path.dirname(target)}
        case Create(path, _) | Unlink(path):
            return {os.path.dirname(path)}
        case _:
            return set()
