"""The committed log of a live quorum, followed from where a reading of it ended.

Owns going on: with the same leader as long as it answers, with the next one after that. What is
committed is never cut off again, so nothing that was handed on is taken back.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from kraftool.client.model import QuorumView
from kraftool.client.observing import UnobservableError, read_log
from kraftool.client.target import Target
from kraftool.raft.names import OffsetAndEpoch
from kraftool.raft.records import Batch


class LogTail:
    """Hands on each batch once it is committed."""

    def __init__(
        self,
        target: Target,
        view: QuorumView,
        place: OffsetAndEpoch,
        *,
        show: Callable[[Sequence[Batch]], None],
        tell: Callable[[str], None],
    ) -> None:
        self._target = target
        self._view = view
        self._place = place
        self._show = show
        self._tell = tell
        self._is_lost = False

    async def advance(self) -> None:
        """Read what was committed since the last time. Tells once why nothing can be read."""
        try:
            await read_log(self._view, self._target.access, self, place=self._place)
        except UnobservableError:
            await self._ask_again()
        else:
            self._is_lost = False

    async def _ask_again(self) -> None:
        """The leader has changed, or there is no leader: ask every node."""
        self._view = await self._target.survey()
        try:
            await read_log(self._view, self._target.access, self, place=self._place)
            self._is_lost = False
        except UnobservableError as error:
            if not self._is_lost:
                self._tell(f"kraftool cannot read the log and keeps trying: {error.message}")
            self._is_lost = True

    # What a reading hands over.

    def begin(self) -> None:
        """Go on from what the leader has: a snapshot follows, or the log from its first offset."""

    def snapshot(self, id: OffsetAndEpoch, position: int, chunk: bytes, size: int) -> None:
        if position + len(chunk) == size:
            first, last = self._place.offset, id.offset - 1
            self._tell(
                f"the leader no longer has offsets {first} to {last} in its log. It has only"
                f" snapshot {id.offset}-{id.epoch}, which includes their result"
            )
            self._place = id

    def log(self, batches: Sequence[Batch], high_watermark: int) -> None:
        # A reading that begins again may hand over batches that were shown.
        wanted = [batch for batch in batches if batch.next_offset > self._place.offset]
        if wanted:
            self._show(wanted)
            self._place = OffsetAndEpoch(wanted[-1].next_offset, wanted[-1].epoch)
