"""`dump-log --follow` as it is used: a process that goes on with what a node appends."""

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from threading import Timer
from typing import Any

import pytest

from kraftool.decoders import framing
from kraftool.decoders.batch import encode_batch
from tests.commands.conftest import apart
from tests.support.places import LOG

pytestmark = pytest.mark.slow

PATIENCE_SECONDS = 60


def topic(offset: int, name: str, epoch: int = 1) -> bytes:
    record = framing.encode_record("TopicRecord", 0, {"name": name})
    return encode_batch([(None, record)], base_offset=offset, epoch=epoch, timestamp=offset)


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    partition = tmp_path / "data" / "__cluster_metadata-0"
    partition.mkdir(parents=True)
    (partition / LOG).write_bytes(topic(0, "old"))
    return tmp_path / "data"


class Followed:
    """A running `kraftool dump-log --follow`, read line by line."""

    def __init__(self, *arguments: object) -> None:
        command = [sys.executable, "-m", "kraftool", "dump-log", "-f", "-o", "jsonl", *arguments]
        self.process = subprocess.Popen(
            [str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        # A line that never comes must fail the test and not hang it.
        self.timer = Timer(PATIENCE_SECONDS, self.process.kill)
        self.timer.start()

    def entry(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, self.process.communicate()[1].decode()
        entry: dict[str, Any] = json.loads(line)
        return entry

    def record(self) -> dict[str, Any]:
        while (entry := self.entry())["kind"] != "record":
            pass
        return entry

    def interrupt(self) -> tuple[int, str]:
        self.process.send_signal(signal.SIGINT)
        _, err = self.process.communicate()
        return self.process.returncode, err.decode()


@pytest.fixture
def follow() -> Iterator[type[Followed]]:
    started: list[Followed] = []

    class Tracked(Followed):
        def __init__(self, *arguments: object) -> None:
            super().__init__(*arguments)
            started.append(self)

    yield Tracked
    for follower in started:
        follower.timer.cancel()
        follower.process.kill()
        follower.process.communicate()


def test_what_is_appended_comes_out_and_an_interrupt_ends_it_with_130(
    directory: Path, follow: type[Followed]
) -> None:
    log = directory / "__cluster_metadata-0" / LOG
    running = follow(directory)
    assert running.record()["data"]["name"] == "old"
    with log.open("ab") as file:
        file.write(topic(1, "new")[:40])
        file.flush()
        file.write(topic(1, "new")[40:])
    assert running.record()["data"]["name"] == "new"
    code, err = running.interrupt()
    assert (code, err) == (130, "")


def test_a_truncation_is_told_and_what_replaces_it_is_shown(
    directory: Path, follow: type[Followed]
) -> None:
    log = directory / "__cluster_metadata-0" / LOG
    log.write_bytes(topic(0, "old") + topic(1, "lost"))
    running = follow("--tail", "1", directory)
    assert running.record()["data"]["name"] == "lost"
    # As a follower does for a new leader: cut, then append. (Rewriting it all would pass zero.)
    with log.open("r+b") as file:
        file.truncate(len(topic(0, "old")))
        file.seek(0, 2)
        file.write(topic(1, "won", epoch=2))
    assert running.record()["data"]["name"] == "won"
    _, err = running.interrupt()
    assert f"truncated to position {len(topic(0, 'old'))}" in err


def test_the_next_segment_is_followed(directory: Path, follow: type[Followed]) -> None:
    running = follow("--type", "topic", directory)
    assert running.record()["offset"] == 0
    (directory / "__cluster_metadata-0" / f"{1:020}.log").write_bytes(topic(1, "rolled"))
    assert running.record()["data"]["name"] == "rolled"


@pytest.mark.parametrize(
    ("offset", "epoch", "damage"), [(2, 1, "gap"), (1, 0, "epoch-back")], ids=["gap", "epoch"]
)
def test_a_batch_that_does_not_follow_on_is_shown_as_by_a_dump_of_the_whole_file(
    directory: Path, follow: type[Followed], offset: int, epoch: int, damage: str
) -> None:
    """The batch before it was shown by an earlier poll."""
    log = directory / "__cluster_metadata-0" / LOG
    running = follow(directory)
    assert running.record()["data"]["name"] == "old"
    with log.open("ab") as file:
        file.write(topic(offset, "late", epoch))
    shown: list[dict[str, Any]] = []
    while not shown or shown[-1]["kind"] != "record":
        shown.append(running.entry())
    dumped = apart("dump-log", "-o", "jsonl", directory)
    assert [entry["damage"] for entry in shown if entry["kind"] == "error"] == [damage]
    assert shown == [json.loads(line) for line in dumped.out.splitlines()][-len(shown) :]


def test_a_last_batch_whose_bytes_come_late_is_shown_once_as_damage_and_once_whole(
    directory: Path, follow: type[Followed]
) -> None:
    """Its length is there before its bytes, as over NFS. Nothing of it may be lost."""
    log = directory / "__cluster_metadata-0" / LOG
    late = topic(1, "late")
    log.write_bytes(topic(0, "old") + late[:61] + bytes(len(late) - 61))
    running = follow(directory)
    assert running.record()["data"]["name"] == "old"
    half = running.entry()
    assert (half["kind"], half["valid"]) == ("batch", False), "two polls saw the same"
    while running.entry().get("damage") != "corrupt":
        pass
    with log.open("r+b") as file:
        file.seek(len(topic(0, "old")))
        file.write(late + topic(2, "more"))
    shown = [running.record()["data"]["name"] for _ in range(2)]
    assert shown == ["late", "more"]


def test_damage_at_the_end_of_an_older_segment_is_shown_by_the_first_dump(
    directory: Path, follow: type[Followed]
) -> None:
    folder = directory / "__cluster_metadata-0"
    (folder / LOG).write_bytes(topic(0, "old") + topic(1, "torn")[:40])
    (folder / f"{1:020}.log").write_bytes(topic(1, "next"))
    running = follow(directory)
    shown = [running.entry() for _ in range(5)]
    assert [entry["kind"] for entry in shown] == ["batch", "record", "error", "batch", "record"]
    assert shown[2]["damage"] == "torn tail"


@pytest.mark.parametrize("arguments", [["-o", "json"], ["--transactions", "mark"], ["--snapshots"]])
def test_what_cannot_be_followed_is_refused(directory: Path, arguments: list[str]) -> None:
    ran = apart("dump-log", "-f", *arguments, directory)
    assert ran.code == 2
    assert "--follow" in ran.err
