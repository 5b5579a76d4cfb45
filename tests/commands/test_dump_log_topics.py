"""Records of a topic that was deleted are found by its name, though they have only its id."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.commands.conftest import Run
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
    assert [each["offset"] for each in lines if each["kind"] == "record"] == [1, 2, 3, 5]


@pytest.mark.parametrize("selection", [("--grep", "gone"), ("--topic", "gone")])
def test_they_are_found_where_its_name_is_before_the_range(
    kraftool: Run, directory: Path, selection: tuple[str, str]
) -> None:
    done = kraftool("dump-log", directory, "-o", "jsonl", "--offsets", "5..", *selection)
    lines = map(json.loads, done.out.splitlines())
    assert [each["offset"] for each in lines if each["kind"] == "record"] == [5]
