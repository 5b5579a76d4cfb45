"""`dump-log --follow` of a live quorum: go on with what is committed after the first dump.

Owns the waiting, and the positions: they go on as if the batches were appended to what was read.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from kraftool.client.model import QuorumView
from kraftool.client.tail import LogTail
from kraftool.client.target import Target
from kraftool.commands.exit_code import UsageError
from kraftool.commands.log_follow import FollowedDump
from kraftool.decoders.batch import RecordBatch
from kraftool.decoders.walk import WalkState
from kraftool.raft.names import OffsetAndEpoch
from kraftool.raft.records import Batch
from kraftool.reports.logs.source import LogFile

POLL_SECONDS = 0.5


class LiveFollowing:
    """Follows the log of a live quorum that the first dump has read."""

    def __init__(self, target: Target, view: QuorumView, end: OffsetAndEpoch) -> None:
        self._target = target
        self._view = view
        self._end = end
        self._file: LogFile | None = None
        self._position = 0

    def start(self, file: LogFile) -> None:
        """Take note of the segment that the batches would be appended to."""
        if file.is_log:
            self._file, self._position = file, file.size

    def saw(self, file: LogFile, batch: RecordBatch) -> None:
        """Nothing: committed records are never truncated."""

    def run(self, dump: FollowedDump) -> None:
        """Show what is committed, until interrupted, or until --head has had enough."""
        dump.show_held()
        asyncio.run(self._run(dump))

    async def _run(self, dump: FollowedDump) -> None:
        tail = LogTail(
            self._target,
            self._view,
            self._end,
            show=lambda batches: self._show(dump, batches),
            tell=lambda text: dump.output.note(f"kraftool: {text}"),
        )
        while dump.remaining != 0:
            await tail.advance()
            dump.output.flush()
            await asyncio.sleep(POLL_SECONDS)

    def _show(self, dump: FollowedDump, batches: Sequence[Batch]) -> None:
        if self._file is None:
            raise UsageError("there is no log to follow")
        data, start = b"".join(batch.data for batch in batches), self._position
        self._position += len(data)
        dump.take_all(
            self._file, lambda at, size: data[at - start : at - start + size], WalkState.at(start)
        )
