"""What must hold for any node that `recover collect` reads, however it answers.

    python -m tests.fuzz.remote_checks --cases 2000 --seed new

In one call with a sound node, others send mutated heads and streams. Nothing is raised, the sound
node's file arrives, no more is written than was announced, and no file of this host is opened. Of a
list of pods each command names a pod, and never an option.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random
from unittest.mock import patch

from kraftool.commands import remote_copy, remote_nodes
from kraftool.commands.output import Output
from kraftool.commands.recover_collect_nodes import CollectedNode, collect_nodes, write_nodes
from kraftool.commands.remote_head import RemoteHead
from kraftool.commands.remote_nodes import RemoteNode, pod_nodes
from kraftool.decoders.errors import KraftoolError
from kraftool.repair import collect_file
from tests.fuzz import remote_cases
from tests.fuzz.command_line import seed_and_cases
from tests.support.places import ROOT

SOUND = ROOT / "fixtures/kafka-4.3.0/dynamic-quorum/node-3/data"
AT_A_TIME = 24
_watched: list[str] = []
_opened: list[str] = []


def _hook(event: str, arguments: tuple[object, ...]) -> None:
    if _watched and event in ("open", "os.scandir", "os.listdir"):
        path = arguments[0]
        if isinstance(path, str) and any(path.startswith(folder) for folder in _watched):
            _opened.append(path)


@cache
def _install() -> None:
    """Once: an audit hook cannot be removed."""
    sys.addaudithook(_hook)


@contextmanager
def unopened(folder: Path) -> Iterator[None]:
    """Fail if a file of the folder is opened, or the folder listed. An audit hook sees that."""
    _install()
    _watched.append(str(folder))
    _opened.clear()
    try:
        yield
    finally:
        _watched.remove(str(folder))
    assert not _opened, _opened


@dataclass(frozen=True, slots=True)
class Case:
    """What a node sends."""

    head: bytes
    stream: bytes


def check_nodes(folder: Path, cases: Sequence[Case], bait: Path) -> list[CollectedNode]:
    """Collect from a sound node and from others in one call. Raises AssertionError if the others
    cost more than themselves."""
    files = remote_cases.files_of(SOUND)
    sound = Case(remote_cases.head(files), remote_cases.tar_stream(files))
    nodes = []
    for number, case in enumerate((sound, *cases)):
        sent = folder / f"{number}.sent"
        sent.write_bytes(case.head + case.stream)
        nodes.append(RemoteNode(name=f"node-{number}", command=("cat", str(sent))))
    out = folder / "out"
    shutil.rmtree(out, ignore_errors=True)
    to = Output(quiet=True, out="/dev/null")
    with unopened(bait), _bounded(), patch.object(tempfile, "tempdir", str(folder)):
        results = collect_nodes(to, nodes, out, at=None, seconds=20)
    write_nodes(to, results, f"{out}/", "again")
    assert not results[0].reason, results[0]
    (survey,) = collect_file.read(str(out / "node-0.collect")).surveys
    assert survey.end.offset > 0
    for result in results:
        assert bool(result.reason) != bool(result.file), result
        assert "Error" not in (result.reason or ""), result
        assert f"{folder}/kraftool-" not in (result.reason or ""), result
    return results


@contextmanager
def _bounded() -> Iterator[None]:
    """Measure the copies of each node at the moment when they are surveyed."""
    unpack = remote_copy._unpack

    def measured(file: Path, head: RemoteHead, root: str) -> None:
        assert file.stat().st_size <= head.most_stream
        try:
            unpack(file, head, root)
        finally:
            copies = [path for path in Path(root).rglob("*") if path.is_file()]
            assert sum(path.stat().st_size for path in copies) <= head.most_content

    with patch.object(remote_copy, "_unpack", measured):
        yield


def check_pods(folder: Path, answer: bytes, *, is_list: bool) -> None:
    """Read a list of pods with a sound one. Raises AssertionError if that one is lost, unless the
    answer may be no list at all, or if a command has an option that kraftool did not write."""
    ran = {"config": b"prod\n", "get": answer}

    def kubectl(*words: str, seconds: float) -> object:
        return subprocess.CompletedProcess(words, 0, ran[words[0]], b"")

    with patch.object(remote_nodes, "_kubectl", kubectl):
        try:
            nodes = pod_nodes("app=kafka", remote_cases.REMOTE, seconds=1)
        except KraftoolError:
            assert not is_list, answer
            return
    by_name = {node.name: node for node in nodes}
    assert len(by_name) == len(nodes)
    if is_list:
        assert by_name["kafka-0"].command, answer
    for node in nodes:
        assert bool(node.problem) != bool(node.command), node
        if node.command:
            words = node.command[: node.command.index("--")]
            pod = [word for word in words[2:] if not word.startswith("-")]
            options = [word.partition("=")[0] for word in words[2:] if word.startswith("-")]
            assert pod == [node.name]
            assert options in (
                ["--context", "--namespace", "--container"],
                ["--context", "--container"],
            )


def run(seed: int, cases: int, folder: Path) -> dict[str, int]:
    """Check so many streams, heads and lists of pods; return how many nodes arrived and failed."""
    bait = folder / "bait"
    shutil.copytree(SOUND, bait)
    files = remote_cases.files_of(SOUND)
    counts = {"arrived": 0, "failed": 0, "lists of pods": 0}
    for first in range(0, cases, AT_A_TIME):
        batch = []
        for number in range(first, min(first + AT_A_TIME, cases)):
            random = Random(f"{seed}/{number}")
            stream, head = remote_cases.tar_stream(files), remote_cases.head(files)
            kind = random.randrange(3)
            if kind != 1:
                stream = remote_cases.mutated_stream(random, files)
            if kind != 0:
                head = remote_cases.mutated_head(random, files, str(bait))
            batch.append(Case(head, stream))
        try:
            results = check_nodes(folder, batch, bait)
        except BaseException:
            print(f"seed {seed}, cases from {first} on")
            raise
        failed = sum(bool(result.reason) for result in results[1:])
        counts["failed"] += failed
        counts["arrived"] += len(batch) - failed
    for number in range(cases):
        random = Random(f"{seed}/pods/{number}")
        pods = [remote_cases.mutated_pod(random) for _ in range(random.randint(1, 5))]
        answer, is_list = remote_cases.pod_list(*pods), True
        if not random.randrange(4):
            answer, is_list = remote_cases.mutated(random, answer), False
        check_pods(folder, answer, is_list=is_list)
        counts["lists of pods"] += 1
    return counts


def main() -> int:
    seed, cases = seed_and_cases(__doc__, 2000)
    with tempfile.TemporaryDirectory(prefix="kraftool-fuzz-") as folder:
        counts = run(seed, cases, Path(folder))
    print(", ".join(f"{count} {word}" for word, count in counts.items()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
