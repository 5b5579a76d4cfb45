"""What a node does not know ends it with that reason, and it makes nothing of it.

A snapshot that was written after passing over a record would lose it for whoever starts on that.
"""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from kraftool.decoders.framing import encode_record
from kraftool.image.image import MetadataImage
from kraftool.image.metadata_version import LATEST_LEVEL, OLDEST_KRAFT_LEVEL
from kraftool.node.machine import ImageMachine
from kraftool.node.runner import NodeFailedError, Runner
from kraftool.node.snapshotting import Snapshotting
from kraftool.raft.events import Append
from tests.node.quorum import Quorum
from tests.storage.metadata_logs import batches_in

UNKNOWN_TYPE = b"\x01\xe7\x07\x00\x00"
"""A frame of record type 999, version 0."""

PARTITION = {
    "partitionId": 0, "topicId": "A" * 21 + "Q", "replicas": [1], "isr": [1],
    "removingReplicas": [], "addingReplicas": [], "leader": 1, "leaderRecoveryState": 0,
    "leaderEpoch": 0, "partitionEpoch": 0,
}  # fmt: skip
"""Of a topic that is not there."""


def feature(level: int) -> bytes:
    value = {"name": "metadata.version", "featureLevel": level}
    return encode_record("FeatureLevelRecord", 0, value)


def topic(version: int) -> bytes:
    """A TopicRecord; from 1 on, of a version that nobody has written yet."""
    record = encode_record("TopicRecord", 0, {"name": "a", "topicId": "AAAAAAAAAAAAAAAAAAAAAw"})
    return record[:2] + bytes((version,)) + record[3:]


class Alone:
    """A quorum of one that replays what it commits and writes a snapshot at every chance."""

    def __init__(self, root: Path) -> None:
        self.quorum = Quorum(root, (1,), consumer=self._consumer)
        self.partition = self.quorum.folder(1) / "__cluster_metadata-0"

    def _consumer(self, runner: Runner) -> ImageMachine:
        self.snapshotting = Snapshotting(runner, after_bytes=1, after_ms=0)
        self.machine = ImageMachine(runner, self.snapshotting.applied)
        return self.machine

    async def commit(self, *records: bytes) -> int:
        """Append records, and give the offset of the last."""
        leader = await self.quorum.leader()
        order = Append(epoch=leader.raft.epoch, records=records, size=sum(map(len, records)))
        appended = await leader.order(order)
        assert appended is not None
        return appended.last_offset

    async def shows(self, offset: int) -> None:
        """Wait until what is shown goes up to an offset."""

        def is_shown() -> bool:
            return self.machine.image.provenance.last_offset >= offset

        await self.quorum.until("its replay", is_shown)

    async def snapshot(self) -> None:
        """Wait until everything is in a snapshot."""
        log = self.quorum.running[1].raft.log
        await self.quorum.until(
            "a snapshot of everything",
            lambda: any(snapshot.offset == log.end_offset for snapshot in log.snapshots),
        )

    async def failure(self) -> NodeFailedError:
        with pytest.raises(NodeFailedError) as caught:
            await self.quorum.until("its end", lambda: False)
        return caught.value

    async def close(self) -> None:
        await self.snapshotting.close()
        await self.quorum.running[1].close()

    def files(self) -> dict[str, bytes]:
        return {path.name: path.read_bytes() for path in self.partition.iterdir()}


@pytest.mark.parametrize(
    ("records", "reason"),
    [
        ((UNKNOWN_TYPE,), "a record type 999 version 0 that cannot be replayed"),
        ((topic(0), topic(9)), "a record type 2 version 9 that cannot be replayed"),
        ((feature(LATEST_LEVEL + 1),), f"metadata.version is {LATEST_LEVEL + 1}"),
        ((feature(OLDEST_KRAFT_LEVEL - 1),), "metadata.version is"),
        ((encode_record("RemoveTopicRecord", 0, {"topicId": "A" * 21 + "Q"}),), "replayed"),
        ((encode_record("PartitionRecord", 0, PARTITION),), "replayed"),  # QC19
    ],
    ids=[
        "a record type",
        "a version of one",
        "a newer level",
        "an older level",
        "no topic",
        "a partition without its topic",
    ],
)
def test_what_it_does_not_know_ends_it_and_no_snapshot_is_written_of_it(
    tmp_path: Path, records: tuple[bytes, ...], reason: str
) -> None:
    async def run() -> None:
        alone = Alone(tmp_path)
        await alone.quorum.start(1)
        await alone.commit(feature(LATEST_LEVEL))
        await alone.snapshot()
        before = alone.files()
        image = alone.machine.image
        await alone.commit(*records)
        failure = await alone.failure()
        assert reason in failure.message
        assert "newer kraftool" in failure.hint
        await alone.close()
        assert alone.machine.image is image, "what is told of the metadata is what was known"
        after = alone.files()
        assert {name for name in after if name.endswith(".checkpoint")} == {
            name for name in before if name.endswith(".checkpoint")
        }
        log = f"{0:020}.log"
        assert after[log].startswith(before[log])
        batches = [batch.data for batch in batches_in(after[log])]
        assert b"".join(batches) == after[log], "the log is kept whole, for whoever knows more"

    asyncio.run(run())


def test_it_ends_again_at_every_start_until_somebody_knows_more(tmp_path: Path) -> None:
    async def run() -> None:
        alone = Alone(tmp_path)
        await alone.quorum.start(1)
        await alone.commit(feature(LATEST_LEVEL), UNKNOWN_TYPE)
        for _ in range(2):
            assert "record type 999" in (await alone.failure()).message
            await alone.close()
            assert not any(file.endswith(".checkpoint") for file in alone.files())
            await alone.quorum.start(1)
        await alone.failure()
        await alone.close()

    asyncio.run(run())


def test_the_same_records_are_taken_where_they_are_known(tmp_path: Path) -> None:
    """The tests above would pass with a node that ends at anything."""

    async def run() -> MetadataImage:
        alone = Alone(tmp_path)
        await alone.quorum.start(1)
        await alone.commit(feature(LATEST_LEVEL), topic(0))
        await alone.snapshot()
        await alone.quorum.stop(1)
        await alone.snapshotting.close()
        return alone.machine.image

    image = asyncio.run(run())
    assert image.features.metadata_version == LATEST_LEVEL
    assert len(image.topics.by_id) == 1


def test_the_offset_of_the_features_is_that_of_their_last_change(tmp_path: Path) -> None:
    """Kafka's ApiVersions tells it, so that a client knows which of two answers is newer."""

    async def run() -> list[tuple[int, int]]:
        alone, seen = Alone(tmp_path), []
        await alone.quorum.start(1)
        for record in (feature(OLDEST_KRAFT_LEVEL), topic(0), feature(OLDEST_KRAFT_LEVEL + 1)):
            last = await alone.commit(record)
            await alone.shows(last)
            seen.append((alone.machine.features_offset, last))
        await alone.quorum.stop(1)
        await alone.snapshotting.close()
        return seen

    first, second, third = asyncio.run(run())
    assert first[0] == first[1]
    assert second[0] == first[0]
    assert third[0] == third[1]
