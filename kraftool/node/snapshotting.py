"""Snapshots of the image, when Kafka would write them, and the log that they make needless.

Owns the triggers (bytes applied since the last one, time since then) and that one is written at a
time, by a thread of its own: the image never changes, so that nobody waits for it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from kraftool.decoders.errors import KraftoolError
from kraftool.decoders.framing import encode_record
from kraftool.image.image import MetadataImage
from kraftool.image.writer import snapshot_records
from kraftool.node.machine import ImageMachine
from kraftool.node.runner import Runner
from kraftool.raft import snapshots
from kraftool.raft.events import SnapshotWritten
from kraftool.raft.names import OffsetAndEpoch, VoterSet
from kraftool.raft.settings import CLEANER_PERIOD_MS


class Snapshotting:
    """Writes snapshots of one machine's image, and has the log cleaned after."""

    def __init__(self, runner: Runner, *, after_bytes: int, after_ms: int) -> None:
        self._runner = runner
        self._after_bytes, self._after_ms = after_bytes, after_ms
        self._bytes = 0
        self._since_ms = runner.clock.now_ms()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="snapshot")
        self._task: asyncio.Task[None] | None = None
        self.written = self.newest_bytes = 0
        self.newest_ms = self._since_ms
        """When the newest one of this run was written; until then, when the run began."""

    def applied(self, machine: ImageMachine, size: int) -> None:
        """Take note of what was applied; a snapshot begins where enough was."""
        self._bytes += size
        now = self._runner.clock.now_ms()
        is_due = self._bytes >= self._after_bytes
        is_late = self._after_ms > 0 and now - self._since_ms >= self._after_ms and self._bytes > 0
        if not (is_due or is_late) or (self._task is not None and not self._task.done()):
            return
        self._bytes, self._since_ms = 0, now
        self._task = self._begin(self._write(machine.image))

    def _begin(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        return asyncio.get_running_loop().create_task(work)

    async def _write(self, image: MetadataImage) -> None:
        if image.features.metadata_version is None:
            return  # nothing says yet in which versions its records are to be written
        runner, provenance = self._runner, image.provenance
        raft = runner.raft
        key = OffsetAndEpoch(provenance.offset, provenance.last_epoch)
        try:
            if key.offset > raft.log.end_offset:
                return
            is_border = await runner.on_disk(runner.log.is_batch_border, key.offset)
            if snapshots.refusal(raft, key, is_batch_border=is_border) is not None:
                return
            level = raft.control.kraft_versions.at(key.offset - 1) or 0
            voters = raft.control.voter_sets.at(key.offset - 1) if level else None
            loop = asyncio.get_running_loop()
            self.newest_bytes = await loop.run_in_executor(
                self._thread, self._file, image, key, provenance.last_timestamp, level, voters
            )
            runner.post(SnapshotWritten(snapshot_id=key))
            self.written += 1
            self.newest_ms = runner.clock.now_ms()
        except (KraftoolError, OSError) as error:
            runner.fail(error)

    def _file(
        self,
        image: MetadataImage,
        key: OffsetAndEpoch,
        timestamp_ms: int,
        level: int,
        voters: VoterSet | None,
    ) -> int:
        """Write it; how many bytes it has."""
        writer = self._runner.log.new_snapshot(key, timestamp_ms, level, voters)
        try:
            for name, version, value in snapshot_records(image):
                writer.append(encode_record(name, version, value))
            writer.freeze()
            return writer.size
        except BaseException:
            writer.delete()
            raise

    async def clean_for_ever(self) -> None:
        """Once a minute, as Kafka's cleaner does."""
        while True:
            await asyncio.sleep(CLEANER_PERIOD_MS / 1000)
            await self._runner.clean()

    async def close(self) -> None:
        """Let what is being written be written."""
        if self._task is not None:
            await self._task
        self._thread.shutdown(wait=True)
