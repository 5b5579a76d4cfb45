"""Partitions of a snapshot are read when they are asked for, and say what a replay says.

What both make of many more snapshots is compared by tests/fuzz/placed_checks.py in `make soak`.
"""

from __future__ import annotations

import gc
import os
import pickle
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from kraftool.decoders import fast_path
from kraftool.decoders.errors import KraftoolError
from kraftool.decoders.framing import encode_record
from kraftool.decoders.snapshot import SnapshotFrame, encode_snapshot
from kraftool.image.loader import ImageLoader
from kraftool.image.placed import Placed, PlacedPiece
from kraftool.image.state_hash import state_hash
from kraftool.image.topics import PartitionRegistration
from kraftool.image.writer import snapshot_records
from kraftool.repair.state_records import records_of
from kraftool.reports.browse.state_tree import StateTree
from kraftool.reports.state import placed_records
from kraftool.reports.state.load import LoadedState, load_state
from kraftool.reports.state.shell.tree import shell_tree
from kraftool.reports.state.shell.walk import tree_lines
from tests.fuzz import placed_checks
from tests.fuzz.native_cases import pure
from tests.support.places import FIXTURES

CASES = 20_000 if os.environ.get("KRAFTOOL_SOAK") == "1" else 1_500
TOPIC = "A" * 21 + "Q"
OTHER = "B" * 21 + "Q"
PARTITIONS = 1000

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not fast_path.is_native(), reason="needs the native module: Rust, and make native"
    ),
]


def partition(topic_id: str, number: int, *, leader: int = 1, version: int = 2) -> bytes:
    value: dict[str, Any] = {
        "partitionId": number,
        "topicId": topic_id,
        "replicas": [1, 2],
        "isr": [1, 2],
        "removingReplicas": [],
        "addingReplicas": [],
        "leader": leader,
        "leaderEpoch": 0,
        "partitionEpoch": 0,
        "directories": ["C" * 21 + "Q", "D" * 21 + "Q"],
    }
    return encode_record("PartitionRecord", version, value)


def write(folder: Path, *more: bytes, partitions: int = PARTITIONS, leader: int = 1) -> Path:
    """A snapshot with a topic of many partitions, and other records behind them."""
    records = [
        encode_record("FeatureLevelRecord", 0, {"name": "metadata.version", "featureLevel": 30}),
        encode_record("TopicRecord", 0, {"name": "orders", "topicId": TOPIC}),
        *(partition(TOPIC, number, leader=leader) for number in range(partitions)),
        *more,
    ]
    frame = SnapshotFrame(epoch=1, last_contained_log_timestamp=1, timestamp=1)
    path = folder / placed_checks.NAME
    path.write_bytes(b"".join(encode_snapshot(records, frame)))
    return path


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The numbers of partitions that were read, of each time."""
    counts: list[int] = []
    items = placed_records._items

    def counted(places: Any, source: Any, piece: PlacedPiece) -> Sequence[PartitionRegistration]:
        counts.append(piece.length)
        return items(places, source, piece)

    monkeypatch.setattr(placed_records, "_items", counted)
    return counts


def partitions_of(state: LoadedState, topic_id: str = TOPIC) -> Placed[PartitionRegistration]:
    partitions = state.image.topics.by_id[topic_id].partitions
    assert isinstance(partitions, Placed)
    return partitions


def test_every_checkpoint_of_the_fixtures_is_the_same_state_on_both_paths(tmp_path: Path) -> None:
    checked = placed = 0
    for number, path in enumerate(sorted(FIXTURES.rglob("*.checkpoint"))):
        there = placed_checks.check(path, number)
        checked, placed = checked + 1, placed + there[1]
    assert checked > 20
    assert placed > 1000


@pytest.mark.slow
def test_snapshots_with_whatever_a_replay_refuses_are_the_same_state(tmp_path: Path) -> None:
    partitions, placed = placed_checks.run(22, CASES, tmp_path)
    assert placed > partitions / 10, "otherwise nothing was compared"
    assert placed < partitions, "otherwise nothing was refused"


def test_loading_reads_no_partition_and_looking_at_one_reads_its_neighbours_only(
    tmp_path: Path, read: list[int]
) -> None:
    state = load_state(str(write(tmp_path)))
    assert state.image.topics.partitions == PARTITIONS
    partitions = partitions_of(state)
    assert list(partitions) == list(range(PARTITIONS))
    assert PARTITIONS not in partitions
    assert partitions.get(-1) is None
    assert read == []

    assert partitions[700].leader == 1
    assert partitions[701].leader == 1
    assert read == [placed_records.MOST_RECORDS]


def test_the_records_of_a_state_come_in_the_order_of_numbers(tmp_path: Path) -> None:
    """Also where a topic has records of two versions: those of the older one are written again."""
    more = (
        partition(TOPIC, number, version=1 + (number // 300) % 2)
        for number in range(PARTITIONS, 2 * PARTITIONS)
    )
    topic = encode_record("TopicRecord", 0, {"name": "payments", "topicId": OTHER})
    path = write(tmp_path, *more, topic, partition(OTHER, 0))
    state = load_state(str(path))
    assert {piece.is_newest for piece in partitions_of(state).pieces} == {True, False}
    with pure():
        replayed = load_state(str(path)).image
    expected = [encode_record(*record) for record in snapshot_records(replayed)]
    assert list(records_of(replayed)) == expected
    assert list(records_of(state.image)) == expected


def test_the_state_hash_and_a_comparison_of_two_snapshots_read_no_partition(
    tmp_path: Path, read: list[int]
) -> None:
    (tmp_path / "copy").mkdir()
    path = write(tmp_path)
    copy = shutil.copy(path, tmp_path / "copy")
    state, other = load_state(str(path)), load_state(str(copy))
    assert state.image == other.image
    with pure():
        replayed = load_state(str(path)).image
    assert state_hash(state.image) == state_hash(replayed)
    assert read == []


def test_a_walk_over_all_partitions_reads_each_once(tmp_path: Path, read: list[int]) -> None:
    state = load_state(str(write(tmp_path)))
    assert len(list(partitions_of(state).values())) == PARTITIONS
    assert sum(read) == PARTITIONS


def test_a_change_reads_the_topic_that_it_changes_and_no_other(
    tmp_path: Path, read: list[int]
) -> None:
    more = encode_record("TopicRecord", 0, {"name": "other", "topicId": OTHER})
    path = write(tmp_path, more, *(partition(OTHER, number) for number in range(5)))
    state = load_state(str(path))
    loader = ImageLoader(state.image)
    lists = ("replicas", "isr", "removingReplicas", "addingReplicas")
    loader.replay(
        0,
        "PartitionChangeRecord",
        {
            **dict.fromkeys(lists),
            "topicId": OTHER,
            "partitionId": 3,
            "leader": 2,
            "leaderRecoveryState": -1,
        },
    )
    assert loader.image().topics.by_id[OTHER].partitions[3].leader == 2
    assert partitions_of(state, OTHER)[3].leader == 1, "an image does not change"
    assert set(read) == {5}


def test_a_snapshot_that_kafka_deletes_can_still_be_read_and_is_closed_at_last(
    tmp_path: Path,
) -> None:
    path = write(tmp_path)
    state = load_state(str(path))
    path.unlink()
    assert partitions_of(state)[999].replicas == (1, 2)
    assert "deleted" in " ".join(open_files(path.name))
    del state
    gc.collect()
    assert open_files(path.name) == []


def open_files(name: str) -> list[str]:
    targets = []
    for number in os.listdir("/proc/self/fd"):
        try:
            target = os.readlink(f"/proc/self/fd/{number}")
        except OSError:
            continue
        if name in target:
            targets.append(target)
    return targets


def test_a_snapshot_that_somebody_overwrites_is_an_error_and_no_value(tmp_path: Path) -> None:
    path = write(tmp_path)
    state = load_state(str(path))
    path.write_bytes(bytes(path.stat().st_size))
    with pytest.raises(KraftoolError, match="changed at position"):
        partitions_of(state)[0]
    path.write_bytes(b"")
    with pytest.raises(KraftoolError, match="changed at position"):
        state_hash(state.image)


def test_another_snapshot_that_overwrites_one_gives_no_value_of_its_own(tmp_path: Path) -> None:
    """Its records are plain, and have the sizes and places of those that were found."""
    path = write(tmp_path)
    state = load_state(str(path))
    size = path.stat().st_size
    write(tmp_path, leader=2)
    assert path.stat().st_size == size
    with pytest.raises(KraftoolError, match="changed at position"):
        partitions_of(state)[0]
    with pytest.raises(KraftoolError, match="changed at position"):
        state_hash(state.image)


def test_a_view_shows_why_a_partition_can_no_longer_be_read(tmp_path: Path) -> None:
    path = write(tmp_path, partitions=3)
    tree = StateTree(load_state(str(path)).image)
    topics = ("topics", "byName", "orders")
    tree.reveal((*topics, "0"))
    before = [row.text() for row in tree.rows()]
    assert not any("changed at" in text for text in before)
    path.write_bytes(bytes(path.stat().st_size))
    # What was read a moment ago is still at hand, and another image has read nothing.
    assert [row.text() for row in tree.rows()] == before
    other = write(tmp_path, partitions=3)
    tree = StateTree(load_state(str(other)).image, tree.opened)
    other.write_bytes(bytes(other.stat().st_size))
    texts = {row.name: row.text() for row in tree.rows() if row.path[:3] == topics}
    assert "changed at position" in texts["2"]
    assert texts["name"] == "orders"


def test_a_list_of_names_reads_no_partition(tmp_path: Path, read: list[int]) -> None:
    tree = StateTree(load_state(str(write(tmp_path))).image)
    tree.reveal(("topics", "byName", "orders", "0"))
    assert len(tree.rows()) > PARTITIONS
    assert read == []


def test_placed_partitions_are_pickled_as_what_they_say(tmp_path: Path) -> None:
    state = load_state(str(write(tmp_path, partitions=3)))
    image = pickle.loads(pickle.dumps(state.image))
    assert image == state.image
    assert type(image.topics.by_id[TOPIC].partitions) is dict


def test_the_tree_reads_a_piece_once_however_its_names_are_ordered(
    tmp_path: Path, read: list[int]
) -> None:
    state = load_state(str(write(tmp_path)))
    lines = list(tree_lines(shell_tree(state.image)))
    with pure():
        replayed = load_state(str(tmp_path / placed_checks.NAME))
    assert lines == list(tree_lines(shell_tree(replayed.image)))
    by_name_and_by_id = 2
    assert sum(read) <= by_name_and_by_id * PARTITIONS
