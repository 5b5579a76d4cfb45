"""The state machine above the log: it replays what is committed into the metadata image.

Owns how far the image is, and what ends the node: a record type or a metadata.version that this
software does not know, or records that do not fit. Another thread replays, so that the node answers
its peers meanwhile; the image that all others see changes once a delivery is replayed whole. What
is to be written as a snapshot is `snapshotting.py`'s.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from kraftool.decoders.control import ControlRecordType
from kraftool.decoders.errors import KraftoolError
from kraftool.decoders.walk import Faulty, Walk
from kraftool.image.image import EMPTY, MetadataImage
from kraftool.image.loader import ImageLoader
from kraftool.image.metadata_version import METADATA_VERSION, SUPPORTED_LEVELS, level_name
from kraftool.raft.events import Deliver, LeaderChanged, StateMachineAt
from kraftool.raft.names import BOOTSTRAP_SNAPSHOT, OffsetAndEpoch
from kraftool.reports.state.replay import Replay
from kraftool.storage.snapshots import batches_of
from kraftool.storage.source import BytesSource, FileSource

if TYPE_CHECKING:
    from kraftool.node.runner import Runner

_SLICE_BYTES = 1 << 20
_LIGHT_BYTES = 1 << 15
"""So much is replayed in a few milliseconds, and a thread would cost more than it is worth."""


class UnsupportedLogError(KraftoolError):
    """The log holds what this node does not support."""


class ImageMachine:
    """Replays into an image."""

    def __init__(
        self, runner: Runner, applied: Callable[[ImageMachine, int], object] | None = None
    ) -> None:
        self._runner = runner
        self._applied = applied
        """Told after every delivery, with how many bytes of log it had."""
        # A controller looks at partitions one by one.
        self._replay = Replay(compact=False)
        self.next_offset = 0
        self.image: MetadataImage = EMPTY
        self.image_end = 0
        """The offset after the last one whose records the image has."""
        self.snapshots_loaded = 0
        self.features_offset = -1
        """The last offset of the newest image in which the features changed."""
        self.leader: LeaderChanged | None = None
        self.on_leader: Callable[[LeaderChanged], object] | None = None
        """Told, too, who leads."""
        self._consuming: asyncio.Task[None] | None = None
        """One delivery at a time: the core waits to be told."""
        self._is_over = False
        """True if what is being replayed is not wanted any more."""

    def deliver(self, effect: Deliver) -> None:
        self._consuming = asyncio.get_running_loop().create_task(self._consume(effect))

    def leader_changed(self, effect: LeaderChanged) -> None:
        self.leader = effect
        if self.on_leader is not None:
            self.on_leader(effect)

    @property
    def loader(self) -> ImageLoader:
        """The state as the last record left it, an open transaction's included."""
        return self._replay.loader

    async def _consume(self, effect: Deliver) -> None:
        try:
            size = 0
            if effect.snapshot_id is None:
                size = await self._log(effect.from_offset, effect.to_offset)
            elif effect.snapshot_id != BOOTSTRAP_SNAPSHOT:
                # What a format wrote is in the log again, as the first leader's records.
                await _aside(self._snapshot, effect.snapshot_id)
            is_light = effect.snapshot_id is None and size <= _LIGHT_BYTES
            see = self._replay.loader.image
            image = see() if is_light else await _aside(see)
            _refuse_unsupported(image)
            if image.features != self.image.features:
                self.features_offset = image.provenance.last_offset
            self.image, self.image_end = image, self.next_offset
        except asyncio.CancelledError:
            self._is_over = True
            raise
        except Exception as error:
            self._runner.fail(error)
            return
        self._runner.post(StateMachineAt(next_offset=self.next_offset))
        if self._applied is not None:
            self._applied(self, size)

    async def _log(self, start: int, end: int) -> int:
        """Replay the log up to an offset, as many bytes as that is."""
        runner, size = self._runner, 0
        self.next_offset = start
        while self.next_offset < end:
            data = await runner.on_disk(runner.log.read, self.next_offset, _SLICE_BYTES)
            before = self.next_offset
            if len(data) <= _LIGHT_BYTES:
                size += self._batches(data, end)
            else:
                size += await _aside(self._batches, data, end)
            if self.next_offset == before:
                raise KraftoolError(f"offset {before} is committed, but the log does not have it")
        return size

    # What another thread does

    def _batches(self, data: bytes, end: int) -> int:
        """Replay a piece of the log up to an offset; how many bytes that is."""
        size = 0
        for batch in Walk(BytesSource("log", data).read_at):
            if isinstance(batch, Faulty):
                reason = batch.fault.reason
                raise KraftoolError(f"the log is damaged at offset {self.next_offset}: {reason}")
            if batch.base_offset >= end or self._is_over:
                break
            self.next_offset = self._replay.batch(
                "the log", batch, start=self.next_offset, below=end
            )
            size += batch.size
            self._refuse_findings()
        return size

    def _snapshot(self, snapshot_id: OffsetAndEpoch) -> None:
        """Begin again with a snapshot's records."""
        path = self._runner.log.snapshot_path(snapshot_id)
        self._replay = Replay(loader=ImageLoader(), compact=False)
        with FileSource(path) as source:
            for batch in batches_of(source.read_at, path):
                if self._is_over:
                    return
                self._replay.batch(path, batch, snapshot=True)
                self._refuse_findings()
        header = self._replay.controls.get(ControlRecordType.SNAPSHOT_HEADER)
        timestamp = header.value["lastContainedLogTimestamp"] if header is not None else -1
        self._replay.loader.end_batch(snapshot_id.offset - 1, snapshot_id.epoch, timestamp)
        self.next_offset = snapshot_id.offset
        self.snapshots_loaded += 1

    def _refuse_findings(self) -> None:
        """Stop at what Kafka calls a metadata fault: the state would no longer be the quorum's."""
        if self._replay.findings:
            finding = self._replay.findings[0]
            where = f" at offset {finding.offset}" if finding.offset is not None else ""
            raise UnsupportedLogError(
                f"the metadata cannot be replayed{where}: {finding.sentence()}",
                hint="kraftool dump-log shows the record. A newer kraftool may know it. --no-image"
                " runs without replaying metadata",
            )


async def _aside(work: Callable[..., Any], *arguments: Any) -> Any:
    """Have another thread do something. One delivery at a time, one piece of it at a time: nobody
    else looks at what it replays into."""
    return await asyncio.get_running_loop().run_in_executor(None, work, *arguments)


def _refuse_unsupported(image: MetadataImage) -> None:
    finalized = dict(image.features.finalized)
    if image.features.metadata_version is not None:
        finalized[METADATA_VERSION] = image.features.metadata_version
    for name, level in finalized.items():
        low, high = SUPPORTED_LEVELS.get(name, (0, 0))
        if not low <= level <= high:
            raise UnsupportedLogError(
                f"{name} is {_named(name, level)}, but this node supports {_named(name, low)}"
                f" to {_named(name, high)}",
                hint="a newer kraftool may know it. --no-image runs without replaying metadata",
            )


def _named(feature: str, level: int) -> str:
    if feature != METADATA_VERSION:
        return str(level)
    return f"{level} ({level_name(level) or 'unknown'})"


class BlindMachine:
    """Consumes without looking: for logs whose records are not metadata, and for `--no-image`."""

    def __init__(self, runner: Runner) -> None:
        self._runner = runner
        self.leader: LeaderChanged | None = None

    def deliver(self, effect: Deliver) -> None:
        self._runner.post(StateMachineAt(next_offset=effect.to_offset))

    def leader_changed(self, effect: LeaderChanged) -> None:
        self.leader = effect
