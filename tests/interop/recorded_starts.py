"""Starts of Kafka on directories that do not change, as they were recorded.

Owns what is kept of a start: a digest of the bytes and settings it began with, its outcome, what
Kafka logged, and which files it changed. Ports and paths differ from run to run, so they have
placeholders. The healthy directories are kept too (`start-bases.tar.xz`): each run of Kafka would
write others.
"""

from __future__ import annotations

import hashlib
import io
import json
import lzma
import re
import tarfile
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.interop.recorded import FOLDER, Outdated, Recording
from tests.interop.starts import (
    CLEANED,
    DYNAMIC,
    SECONDS,
    SEGMENTS,
    SOURCE,
    Server,
    Starts,
)

_CONFIG_LINE = re.compile(r"^\t.* = .*\n", re.MULTILINE)
_TIME = re.compile(r"^\[\d{4}-\d\d-\d\d [\d:,]+\]", re.MULTILINE)
_PORT = re.compile(r":\d{4,5}\b")
_OURS = ("server.properties", "kafka.log")


def recording_of_starts(
    name: str, release: str, run: Callable[[Starts, str], object], questions: Sequence[str]
) -> Recording:
    """Return the recording of the starts that `run` makes for each question."""

    def ask() -> dict[str, Any]:
        if not _bases(release).exists():
            keep_bases(release)
        with tempfile.TemporaryDirectory() as folder, Recorder(release, Path(folder)) as starts:
            for question in questions:
                starts.question = question
                run(starts, question)
            return starts.answers

    return Recording(
        name=name,
        release=release,
        command="java/Starts.java",
        sources=(SOURCE,),
        about=lambda: {"": json.dumps(sorted(questions)).encode()},
        ask=ask,
        comparable=outcomes,
    )


def outcomes(answer: Any) -> Any:
    """What is the same in each run: what the nodes began with, and how they started.

    Times, ids and the order of lines differ; the tests judge what Kafka logged and wrote.
    """
    return [[node["outcome"] for node in start["nodes"]] + [start["about"]] for start in answer]


class Recorder(Starts):
    """Starts Kafka, and keeps what is recorded of it."""

    def __init__(self, release: str, root: Path) -> None:
        super().__init__(release, root)
        self.question = ""
        self.answers: dict[str, Any] = {}

    def copy(self, base: str) -> Path:
        _extract_bases(self)
        return super().copy(base)

    def _start_all(
        self, servers: Sequence[Server], *, seconds: int = SECONDS, writes: bool = False
    ) -> list[tuple[str, str]]:
        before = [_files(node) for node in servers]
        digest = about(servers, seconds, writes=writes)
        results = super()._start_all(servers, seconds=seconds, writes=writes)
        texts = [log.rpartition("\n") for _, log in results]
        nodes = [
            {"outcome": outcome, "why": _without_paths(self.root, why), **_changes(old, node)}
            for (outcome, _), (_, _, why), old, node in zip(
                results, texts, before, servers, strict=True
            )
        ]
        log = _TIME.sub("[]", _CONFIG_LINE.sub("", texts[0][0]))
        start = {"about": digest, "log": _without_paths(self.root, log), "nodes": nodes}
        self.answers.setdefault(self.question, []).append(start)
        return results


class RecordedStarts(Starts):
    """The same without Kafka: a start does to a directory what it did when it was recorded."""

    def __init__(self, recording: Recording, root: Path) -> None:
        super().__init__(recording.release, root)
        self._recording = recording
        self.question = ""
        self._count_of: dict[str, int] = {}

    def copy(self, base: str) -> Path:
        _extract_bases(self)
        return super().copy(base)

    def _start_all(
        self, servers: Sequence[Server], *, seconds: int = SECONDS, writes: bool = False
    ) -> list[tuple[str, str]]:
        at = self._count_of.get(self.question, 0)
        self._count_of[self.question] = at + 1
        answer = self._recording.answers().get(self.question, [])
        if at >= len(answer) or answer[at]["about"] != about(servers, seconds, writes=writes):
            raise Outdated(
                f"{self.question} starts on other bytes or settings than when it was recorded: "
                f"make record KAFKA={self.version}"
            )
        start = answer[at]
        for node, kept in zip(servers, start["nodes"], strict=True):
            _change(node, kept)
        return [(node["outcome"], f"{start['log']}\n{node['why']}") for node in start["nodes"]]


def about(servers: Sequence[Server], seconds: int, *, writes: bool) -> str:
    """Return one value for what a start begins with."""
    digest = hashlib.sha256(f"{seconds} {writes}".encode())
    for node in servers:
        settings = _PORT.sub(":PORT", json.dumps(node.settings, sort_keys=True))
        parts = [_without_paths(node.data.parent, settings).encode()]
        parts += [
            str(path.relative_to(node.data.parent)).encode() + b"/"
            for path in sorted(node.data.rglob("*"))
            if path.is_dir()
        ]
        for name, data in sorted(_files(node).items()):
            parts += [name.encode(), data]
        for part in parts:
            digest.update(len(part).to_bytes(8, "big") + part)
    return digest.hexdigest()[:20]


def _without_paths(folder: Path, text: str) -> str:
    return text.replace(str(folder), "FOLDER")


def _files(node: Server) -> dict[str, bytes]:
    """The files of all directories of a node, by their path."""
    folder = node.data.parent
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name not in _OURS
    }


def _changes(before: Mapping[str, bytes], node: Server) -> dict[str, Any]:
    after = _files(node)
    return {
        "removed": sorted(before.keys() - after.keys()),
        "written": {
            name: _without_zeros(data) for name, data in after.items() if before.get(name) != data
        },
    }


def _without_zeros(data: bytes) -> tuple[str, int]:
    """Return a file's bytes, and how many zeros follow: an open index has ten megabytes of them."""
    used = data.rstrip(b"\0")
    return used.decode("latin-1"), len(data) - len(used)


def _change(node: Server, kept: Mapping[str, Any]) -> None:
    folder = node.data.parent
    for name in kept["removed"]:
        (folder / name).unlink(missing_ok=True)  # a peer's folder is in that of node 1
    for name, (text, zeros) in kept["written"].items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(text.encode("latin-1"))
        with (folder / name).open("ab") as file:
            file.truncate(file.tell() + zeros)


# --- healthy directories --------------------------------------------------------------------------


def _bases(release: str) -> Path:
    return FOLDER / release / "start-bases.tar.xz"


def _extract_bases(starts: Starts) -> None:
    """Give the starts the healthy directories that are kept."""
    if starts.healthy or not _bases(starts.version).exists():
        return
    folder = starts.root / "healthy"
    data = lzma.decompress(_bases(starts.version).read_bytes())
    with tarfile.open(fileobj=io.BytesIO(data)) as tar:
        tar.extractall(folder, filter="data")
    starts.healthy |= {path.name: path / "data" for path in folder.iterdir()}


def keep_bases(release: str) -> None:
    """Have Kafka write healthy directories, and keep them."""
    packed = io.BytesIO()
    with (
        tempfile.TemporaryDirectory() as folder,
        Starts(release, Path(folder)) as starts,
        tarfile.open(fileobj=packed, mode="w") as tar,
    ):
        for name in (SEGMENTS, CLEANED, DYNAMIC):
            copy = starts.copy(name)
            (copy / ".lock").unlink(missing_ok=True)
            tar.add(copy, f"{name}/data", filter=_plain)
    _bases(release).parent.mkdir(parents=True, exist_ok=True)
    _bases(release).write_bytes(lzma.compress(packed.getvalue(), preset=9))


def _plain(member: tarfile.TarInfo) -> tarfile.TarInfo:
    """Without a user of this machine, and without a time."""
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    member.mtime = 0
    return member
