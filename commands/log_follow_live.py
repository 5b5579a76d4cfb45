"""`dump-log --follow` of a live quorum: go on with what is committed after the first dump.

Owns the waiting, and the positions: they go on as if the batches were appended to what was read.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kraftool.commands.output import UsageError

if TYPE_CHECKING:
    from kraftool.client.model import QuorumView
    from kraftool.client.target import Target
    from kraftool.commands.log_run import LogRun
    from kraftool.decoders.batch import RecordBatch
    from kraftool.raft.names import OffsetAndEpoch
    from kraftool.raft.records import Batch
    from kraftool.reports.log_source import LogFile

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

    def run(self, run: LogRun) -> None:
        """Show what is committed, until interrupted, or until --head has had enough."""
        import asyncio

        asyncio.run(self._run(run))

    async def _run(self, run: LogRun) -> None:
        import asyncio

        from kraftool.client.tail import LogTail

        tail = LogTail(
            self._target,
            self._view,
            self._end,
            show=lambda batches: self._show(run, batches),
            tell=lambda text: run.output.note(f"kraftool: {text}"),
        )
        while run.remaining != 0:
            await tail.advance()
            run.output.flush()
            await asyncio.sleep(POLL_SECONDS)

    def _show(self, run: LogRun, batches: Sequence[Batch]) -> None:
        if self._file is None:
            raise UsageError("there is no log to follow")
        data, start = b"".join(each.data for each in batches), self._position
        self._position += len(data)
        run.take_all(self._file, lambda at, size: data[at - start : at - start + size], start)
