"""Partitions that the native module keeps are those that Python would replay.

What both make of many more logs is compared by tests/fuzz/compact_checks.py in `make soak`.
"""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any

import pytest

from kraftool.decoders import fast_path
from kraftool.decoders.batch import RecordBatch, encode_batch
from kraftool.decoders.framing import encode_record
from kraftool.decoders.native_rows import CompactRows
from kraftool.decoders.segment import BatchSpan
from kraftool.image.image import MetadataImage
from kraftool.image.loader import ImageLoader
from kraftool.image.topics import PartitionRegistration, TopicImage, TopicsImage
from kraftool.image.uuids import MIGRATING
from kraftool.reports.state.replay import Replay
from tests.fuzz import compact_checks
from tests.fuzz.native_cases import pure

CASES = 20_000 if os.environ.get("KRAFTOOL_SOAK") == "1" else 800
TOPIC = "A" * 21 + "Q"
OTHER = "B" * 21 + "Q"
DIRECTORIES = ["C" * 21 + "Q", "D" * 21 + "Q"]

pytestmark = pytest.mark.skipif(
    not fast_path.is_native(), reason="needs the native module: Rust, and make native"
)


def topic(topic_id: str = TOPIC, name: str = "orders") -> bytes:
    return encode_record("TopicRecord", 0, {"name": name, "topicId": topic_id})


def partition(number: int, *, version: int = 2, topic_id: str = TOPIC, **more: Any) -> bytes:
    value: dict[str, Any] = {
        "partitionId": number,
        "topicId": topic_id,
        "replicas": [1, 2],
        "isr": [1, 2],
        "removingReplicas": [],
        "addingReplicas": [],
        "leader": 1,
        "leaderEpoch": 4,
        "partitionEpoch": 8,
        **({"directories": DIRECTORIES} if version else {}),
    }
    return encode_record("PartitionRecord", version, {**value, **more})


def change(number: int, topic_id: str = TOPIC, **more: Any) -> bytes:
    value = {"partitionId": number, "topicId": topic_id, **more}
    return encode_record("PartitionChangeRecord", 2, value)


def batch(*values: bytes, offset: int = 0) -> RecordBatch:
    data = encode_batch(
        ((None, value) for value in values), base_offset=offset, epoch=1, timestamp=7
    )
    return RecordBatch.read(data, 0)


def replayed(*batches: RecordBatch, loader: ImageLoader | None = None) -> Replay:
    replay = Replay() if loader is None else Replay(loader=loader)
    for record_batch in batches:
        replay.batch("a.log", record_batch)
    return replay


def partitions_of(image: MetadataImage, topic_id: str = TOPIC) -> Any:
    return image.topics.by_id[topic_id].partitions


@pytest.fixture
def python(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the records that Python replays."""
    names: list[str] = []
    run = ImageLoader.replay_run

    def noted(self: ImageLoader, offset: int, records: Any, misfit: Any, **more: Any) -> int:
        names.extend(name for name, _ in records)
        return run(self, offset, records, misfit, **more)

    monkeypatch.setattr(ImageLoader, "replay_run", noted)
    return names


@pytest.mark.slow
def test_logs_with_whatever_a_replay_refuses_come_to_the_same_states() -> None:
    partitions, kept = compact_checks.run(31, CASES)
    assert kept > partitions / 4, "otherwise nothing was compared"
    assert kept < partitions, "otherwise Python replayed nothing"


def test_python_sees_no_record_of_a_partition_that_fits(python: list[str]) -> None:
    values = [topic(), *(partition(number) for number in range(300))]
    changes = [change(number, isr=[2], leader=2) for number in range(300)]
    replay = replayed(batch(*values), batch(*changes, *changes, offset=301))
    assert python == ["TopicRecord"]
    assert replay.records == 901
    partitions = partitions_of(replay.loader.image())
    assert isinstance(partitions, CompactRows)
    assert partitions[299] == PartitionRegistration(
        (1, 2), tuple(DIRECTORIES), (2,), (), (), (), (), 2, 0, leader_epoch=6, partition_epoch=10
    )


def test_a_span_is_replayed_as_its_batches_are(python: list[str]) -> None:
    """Also where a record in the middle of a batch is for Python, and where one does not fit."""
    no_op = encode_record("NoOpRecord", 0, {})
    level = encode_record("FeatureLevelRecord", 0, {"name": "metadata.version", "featureLevel": 30})
    some = [(topic(), partition(0)), (no_op,), (change(0, leader=2),), (no_op,)]
    some += [(change(0, isr=[2]), level, change(0, isr=[1])), (change(9, leader=2), no_op)]
    some += [(change(0, leader=1),)]
    data, offset = b"", 0
    for values in some:
        data += batch(*values, offset=offset).data
        offset += len(values)
    span = BatchSpan(data, 0, len(data), 0, 0, offset - 1, 1, len(some))

    def ends() -> tuple[list[tuple[int, int]], Replay]:
        replay, at, reached = Replay(), 0, []
        while at < len(data):
            at, next_offset = replay.span("a.log", span, at, len(data))
            reached.append((at, next_offset))
        return reached, replay

    native, replay = ends()
    refused = ["PartitionChangeRecord", "NoOpRecord"]  # Python takes what follows along with it
    assert python == ["TopicRecord", "FeatureLevelRecord", *refused]
    with pure():
        one_by_one, expected = ends()
    assert len(one_by_one) == len(some)
    assert len(native) == 4
    assert set(native) <= set(one_by_one)
    assert replay.findings == expected.findings != []
    assert (replay.records, replay.loader.image()) == (expected.records, expected.loader.image())


def test_a_topic_of_the_state_before_is_kept_natively_from_its_first_change_on(
    python: list[str],
) -> None:
    with pure():
        before = replayed(batch(topic(), partition(0), partition(5))).loader.image()
    assert not isinstance(partitions_of(before), CompactRows)
    python.clear()
    replay = replayed(batch(change(5, leader=-1), offset=3), loader=ImageLoader(before))
    assert python == []
    after = partitions_of(replay.loader.image())
    assert isinstance(after, CompactRows)
    assert (after[5].leader, after[5].leader_epoch) == (-1, 5)
    assert after[0] == partitions_of(before)[0]


def test_an_image_keeps_what_it_had_when_later_records_change_its_topic() -> None:
    replay = replayed(batch(topic(), partition(0)))
    first = replay.loader.image()
    replay.batch("a.log", batch(change(0, leader=2), partition(1), offset=2))
    second = replay.loader.image()
    assert partitions_of(first)[0].leader == 1
    assert list(partitions_of(first)) == [0]
    assert partitions_of(second)[0].leader == 2
    assert list(partitions_of(second)) == [0, 1]
    assert first != second


def test_a_topic_that_was_removed_takes_no_record_and_begins_empty_again() -> None:
    removed = encode_record("RemoveTopicRecord", 0, {"topicId": TOPIC})
    values = [topic(), partition(0), removed, change(0, leader=2), topic(), partition(3)]
    replay = replayed(batch(*values))
    (finding,) = replay.findings
    assert finding.offset == 3
    assert list(partitions_of(replay.loader.image())) == [3]


@pytest.mark.parametrize(
    "refused",
    [
        change(7, leader=2),
        change(0, topic_id=OTHER, leader=2),
        change(0, leaderRecoveryState=2),
        change(0, directories=DIRECTORIES[:1]),
        change(0, replicas=[1, 2, 3]),
        partition(0, leaderRecoveryState=5),
        partition(0, directories=DIRECTORIES[:1]),
        partition(0, topic_id=OTHER),
    ],
)
def test_a_record_that_does_not_fit_changes_nothing_and_has_the_finding_of_python(
    refused: bytes,
) -> None:
    batches = batch(topic(), partition(0)), batch(refused, change(0, isr=[2]), offset=2)
    replay = replayed(*batches)
    with pure():
        expected = replayed(*batches)
    assert len(replay.findings) == 1
    assert replay.findings == expected.findings
    assert replay.loader.image() == expected.loader.image()


def test_replicas_without_directories_have_migrating_ones_for_each() -> None:
    values = [topic(), partition(0, version=0), partition(1, directories=[MIGRATING] * 2)]
    replay = replayed(batch(*values), batch(change(0, replicas=[1, 2, 3]), offset=3))
    partitions = partitions_of(replay.loader.image())
    assert partitions[0].directories == (MIGRATING,) * 3
    assert partitions[1].directories == (MIGRATING,) * 2


def test_an_epoch_at_the_end_of_its_range_rises_as_in_python() -> None:
    """Python's numbers have no end, and the native ones are wider than those of records."""
    batches = (
        batch(topic(), partition(0, leaderEpoch=2**31 - 1, partitionEpoch=2**31 - 1)),
        batch(change(0, leader=2), offset=2),
    )
    image = replayed(*batches).loader.image()
    with pure():
        assert replayed(*batches).loader.image() == image
    assert partitions_of(image)[0].leader_epoch == 2**31


@pytest.mark.parametrize(
    "odd",
    [
        {"leader_epoch": 1 << 70},
        {"directories": ("dir-1", "dir-2")},
        {"directories": ()},
        {"isr": (1 << 31,)},
    ],
)
def test_a_partition_that_no_record_can_make_stays_in_python(
    odd: dict[str, Any], python: list[str]
) -> None:
    image = replayed(batch(topic(), partition(0))).loader.image()
    usual = partitions_of(image)[0]
    made = TopicImage(name="orders", id=TOPIC, partitions={0: usual._replace(**odd), 1: usual})
    by = {"by_id": {TOPIC: made}, "by_name": {"orders": made}}
    base = replace(image, topics=TopicsImage(**by))
    python.clear()
    replay = replayed(batch(change(1, leader=2), change(0, isr=[2])), loader=ImageLoader(base))
    after = partitions_of(replay.loader.image())
    assert python == ["PartitionChangeRecord"] * 2
    assert after[1].leader == 2
    assert after[0] == merged(usual._replace(**odd), isr=(2,))


def test_a_change_in_python_that_rows_cannot_keep_ends_the_native_replay_of_a_topic() -> None:
    replay = replayed(batch(topic(), partition(0), partition(1)))
    topics = replay.loader.delta.topics
    kept = topics.partition(TOPIC, 0)
    assert kept is not None
    topics._open[TOPIC].partitions[0] = kept._replace(directories=("dir-1", "dir-2"))
    replay.batch("a.log", batch(change(0, leader=2), change(1, leader=2), offset=3))
    after = partitions_of(replay.loader.image())
    assert [
        (number, registration.leader, registration.directories[0])
        for number, registration in after.items()
    ] == [
        (0, 2, "dir-1"),
        (1, 2, DIRECTORIES[0]),
    ]


def test_bytes_behind_the_last_record_are_a_finding_also_after_partitions() -> None:
    whole = batch(topic(), partition(0), change(0, leader=2))
    longer = RecordBatch.read(_sealed_longer(whole), 0)
    replay = replayed(longer)
    with pure():
        expected = replayed(longer)
    assert replay.findings == expected.findings != []
    assert replay.loader.image() == expected.loader.image()


def _sealed_longer(whole: RecordBatch) -> bytes:
    from kraftool.decoders.batch import HEADER_SIZE, seal

    return seal(whole.header, whole.data[HEADER_SIZE:] + b"\x00")


def merged(partition: PartitionRegistration, **more: Any) -> PartitionRegistration:
    return partition._replace(**more, partition_epoch=partition.partition_epoch + 1)
