"""The log of a leader before its newest snapshot.

A leader answers a fetch from offset 0 with its newest snapshot, even if it has the log before it. A
fetch from an offset inside the log, with the epoch of that offset, gets the log. If the leader has
deleted no segment, the batch at offset 0 may stay unread: one record, the first LeaderChange.

Owns the start and the end of such a reading. If the leader has deleted segments, a snapshot is at
the start of the log. Its name has the epoch of the record before it. No request asks for that
epoch, so this module tries epochs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from kraftool.client.log_requests import LeaderRequests
from kraftool.net.errors import NetError
from kraftool.raft.names import OffsetAndEpoch
from kraftool.raft.records import Batch

_MOST_EPOCHS = 32
"""The number of epochs to try for the snapshot at the log's start."""


class Taker(Protocol):
    """The receiver of what is read."""

    def begin(self) -> None:
        """Forget everything: what follows is read from the beginning."""

    def snapshot(self, id: OffsetAndEpoch, position: int, chunk: bytes, size: int) -> None:
        """Take bytes of a snapshot; it is whole with the chunk that ends at its size."""

    def log(self, batches: Sequence[Batch], high_watermark: int) -> None:
        """Take batches, whole ones with their bytes, in order."""


class EarlierLog:
    """A reading of the log from its start to a snapshot."""

    def __init__(
        self, requests: LeaderRequests, taker: Taker, count: Callable[[int], None]
    ) -> None:
        """`count` gets the size of all that is read, and raises NetError if it is too much."""
        self._requests, self._taker, self._count = requests, taker, count

    async def read(self, start: int, end: int, progress: Callable[[int, int], None]) -> None:
        """Hand over what is between both offsets. Raises NetError."""
        self._taker.begin()
        place = OffsetAndEpoch(start + 1, self._requests.epoch)
        if place.offset >= end:
            return
        if start > 0:
            place = await self._base(start, place) or place
        while place.offset < end:
            batches = [batch for batch in await self._fetch(place) if batch.base_offset < end]
            if not batches:
                raise NetError(f"it sends nothing from {place.offset} on")
            for batch in batches:
                self._count(batch.size)
            self._taker.log(batches, end)
            place = OffsetAndEpoch(batches[-1].next_offset, self._requests.epoch)
            progress(min(place.offset, end) - start, end - start)

    async def _fetch(self, place: OffsetAndEpoch) -> list[Batch]:
        answer = await self._requests.fetch(place)
        if answer.snapshot_id is not None or answer.diverging_epoch is not None:
            raise NetError(f"it no longer has offset {place.offset} in its log")
        for batch in answer.batches:
            if batch.base_offset < 0 or not batch.is_valid:
                raise NetError(f"the batch that it sends at offset {batch.base_offset} is damaged")
        return [batch for batch in answer.batches if batch.last_offset >= place.offset]

    async def _base(self, start: int, place: OffsetAndEpoch) -> OffsetAndEpoch | None:
        """Read the snapshot at the log's start; None if it is not found."""
        batches = await self._fetch(place)
        newest = batches[0].epoch if batches else self._requests.epoch
        for epoch in range(newest, max(newest - _MOST_EPOCHS, -1), -1):
            id = OffsetAndEpoch(start, epoch)
            async for position, chunk, size in self._requests.snapshot(id):
                self._count(len(chunk))
                self._taker.snapshot(id, position, chunk, size)
                if position + len(chunk) == size:
                    return id
            self._taker.begin()
        return None
