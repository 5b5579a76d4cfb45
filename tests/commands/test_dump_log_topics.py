"""Records of a topic that was deleted are found by its name, though they have only its id."""

from __future__ import annotations

import json
import tarfile
from io import BytesIO
from pathlib import Path

import pytest

from kraftool.decoders.errors import KraftoolError
from kraftool.reports.logs.source import LogFile
from kraftool.storage.source import ByteSource
from tests.commands.conftest import Run
from tests.commands.test_follow import Followed
from tests.commands.test_follow import follow as follow
from tests.reports.timeline_logs import Log

DELETED, OTHER = "l4qsXSS7RFqO8OvE0g6xSw", "zWj3b8mxReqS-bdjduyYUA"


def _partition(topic: str, number: int) -> tuple[str, int, dict[str, object]]:
    value = {
        "partitionId": number, "topicId": topic, "replicas": [1], "isr": [1],
        "removingReplicas": [], "addingReplicas": [], "leader": 1, "leaderRecoveryState": 0,
        "leaderEpoch": 0, "partitionEpoch": 0, "directories": [OTHER],
    }  # fmt: skip
    return "PartitionRecord", 1, value


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    """Offsets 1 to 3 and 5 are about `gone`, of which only 1 has the name."""
    log = Log().leader(1, 1)
    log.records(("TopicRecord", 0, {"name": "gone", "topicId": DELETED}))
    log.records(_partition(DELETED, 0), _partition(DELETED, 1))
    log.records(("TopicRecord", 0, {"name": "stays", "topicId": OTHER}))
    log.records(("RemoveTopicRecord", 0, {"topicId": DELETED}))
    log.records(_partition(OTHER, 0))
    folder = tmp_path / "data/__cluster_metadata-0"
    folder.mkdir(parents=True)
    (folder / f"{0:020}.log").write_bytes(log.data)
    return tmp_path / "data"


@pytest.mark.parametrize("pure", [True, False])
@pytest.mark.parametrize(
    "selection", [("--grep", "^gone$"), ("--topic", "gone")], ids=["grep", "topic"]
)
def test_all_its_records_are_found(
    kraftool: Run,
    directory: Path,
    monkeypatch: pytest.MonkeyPatch,
    selection: tuple[str, str],
    pure: bool,
) -> None:
    monkeypatch.setattr("kraftool.decoders.fast_path.is_native", lambda: False) if pure else None
    done = kraftool("dump-log", directory, "-o", "jsonl", *selection)
    lines = map(json.loads, done.out.splitlines())
    assert [entry["offset"] for entry in lines if entry["kind"] == "record"] == [1, 2, 3, 5]


@pytest.mark.parametrize("selection", [("--grep", "gone"), ("--topic", "gone")])
def test_they_are_found_where_its_name_is_before_the_range(
    kraftool: Run, directory: Path, selection: tuple[str, str]
) -> None:
    done = kraftool("dump-log", directory, "-o", "jsonl", "--offsets", "5..", *selection)
    lines = map(json.loads, done.out.splitlines())
    assert [entry["offset"] for entry in lines if entry["kind"] == "record"] == [5]


def _tar(directory: Path) -> bytes:
    packed = BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as tar:
        tar.add(directory, "data")
    return packed.getvalue()


@pytest.mark.parametrize("form", ["jsonl", "table"])
@pytest.mark.parametrize("place", ["segment", "tar", "stdin"])
def test_grep_finds_them_in_a_segment_an_archive_and_a_stream(
    kraftool: Run, directory: Path, tmp_path: Path, place: str, form: str
) -> None:
    """A stream is read once, so the dump learns its topics while it reads."""
    tar = tmp_path / "data.tar"
    tar.write_bytes(_tar(directory))
    segment = directory / f"__cluster_metadata-0/{0:020}.log"
    path = {"segment": segment, "tar": tar, "stdin": "-"}[place]
    stdin = tar.read_bytes() if place == "stdin" else b""
    done = kraftool("dump-log", path, "-o", form, "--grep", "^gone$", stdin=stdin)
    shown = done.text.upper().replace("_", "")
    assert (done.code, shown.count("PARTITIONRECORD")) == (0, 2), done.err
    assert shown.count("REMOVETOPICRECORD") == 1


def test_a_segment_that_cannot_be_read_keeps_no_other_back(
    kraftool: Run, directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The names of topics are read first; the dump reports an unreadable file, and only once."""
    broken = f"{7:020}.log"
    (directory / "__cluster_metadata-0" / broken).touch()
    open_file = LogFile.open

    def open_most(file: LogFile) -> ByteSource:
        if file.name.endswith(broken):
            raise KraftoolError(f"{file.name}: it cannot be read")
        return open_file(file)

    monkeypatch.setattr(LogFile, "open", open_most)
    done = kraftool("dump-log", directory, "-o", "jsonl", "--grep", "^gone$")
    assert done.text.count("PARTITION_RECORD") == 2
    assert (done.code, done.err.count("it cannot be read")) == (3, 1)


@pytest.mark.slow
def test_a_topic_that_is_created_later_is_followed(directory: Path, follow: type[Followed]) -> None:
    log = directory / f"__cluster_metadata-0/{0:020}.log"
    whole = log.read_bytes()
    begin = Log().leader(1, 1)
    log.write_bytes(begin.data)
    running = follow("--grep", "^gone$|grantingVoters", directory)
    assert running.record()["offset"] == 0
    with log.open("ab") as file:
        file.write(whole[len(begin.data) :])
    assert [running.record()["offset"] for _ in range(4)] == [1, 2, 3, 5]


def test_a_timeline_of_one_topic_says_that_its_totals_are_of_the_whole_log(
    kraftool: Run, directory: Path
) -> None:
    total = "2 created, 1 deleted; 3 partitions created"
    assert f"{total}, in the whole log\n" in kraftool("timeline", directory, "--topic", "gone").text
    assert f"{total}\n" in kraftool("timeline", directory).text
