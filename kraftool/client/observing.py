"""The log of a live quorum's leader, read by nobody: fetches that name no replica.

Owns the order of such a reading: the leader's newest snapshot first, where it names one, then its
log from there up to an end that is known at the beginning (the high watermark, or what the caller
asks for), so that it ends however fast the log grows. A leader counts who fetches by replica
id, and -1 is nobody's: no voter, no observer, no majority changes by it. It refuses to keep what it
reads; that is the taker's.

Only leaders answer: Kafka's other controllers say NOT_LEADER_OR_FOLLOWER, whatever they have.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from kraftool.client.asking import Access, ask, connected
from kraftool.client.model import NodeAnswer, QuorumView
from kraftool.decoders.error_codes import Error
from kraftool.net.connection import Connection
from kraftool.net.errors import NetError
from kraftool.raft.messages import (
    FetchRequest,
    FetchResponse,
    FetchSnapshotRequest,
    FetchSnapshotResponse,
)
from kraftool.raft.names import OffsetAndEpoch
from kraftool.raft.records import Batch

LIMIT_S = 600.0
"""For all of a reading; a metadata log with its snapshot is rarely above some hundred MiB."""
_CHUNK = 1 << 20
"""So much is asked for at once: what is read between two moments at which it can be stopped."""
_MOST_BYTES = 16 << 30
_MOST_BEGINS = 3
"""A snapshot may be deleted, or the log cut, while it is read; then it begins anew."""
_BEGINNING = OffsetAndEpoch(0, 0)

Progress = Callable[[str, int, int], None]
"""Told what is read, how much of it, and how much there is: bytes of a snapshot, or offsets."""


class UnobservableError(NetError):
    """No node would tell its log: there is no leader, or the leader refuses."""


class Taker(Protocol):
    """The receiver of what is read."""

    def begin(self) -> None:
        """Forget everything: what follows is read from the beginning."""

    def snapshot(self, id: OffsetAndEpoch, position: int, chunk: bytes, size: int) -> None:
        """Take bytes of a snapshot; it is whole with the chunk that ends at its size."""

    def log(self, batches: Sequence[Batch], high_watermark: int) -> None:
        """Take batches, whole ones with their bytes, in order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reached:
    """The node whose log was read, and how much of the log was committed then."""

    leader: NodeAnswer
    high_watermark: int
    end: OffsetAndEpoch
    """One beyond the last record read, and its epoch."""


def silent(what: str, done: int, total: int) -> None:
    """Nobody watches."""


async def read_log(
    view: QuorumView,
    access: Access,
    taker: Taker,
    *,
    place: OffsetAndEpoch = _BEGINNING,
    upto: int | None = None,
    progress: Progress = silent,
    limit_s: float = LIMIT_S,
) -> Reached:
    """Read from a place on to the high watermark; with `upto` on to that offset, committed or not.

    The leader is asked, or where none is known every node that answered. Raises UnobservableError
    with what each of them said; no other error leaves it.
    """
    leader = view.leader
    asked = (leader,) if leader is not None else view.reached
    said = [] if asked else ["no node was reached"]
    reading = _Reading(taker, place, upto, progress)
    for node in asked:
        try:
            async with asyncio.timeout(limit_s), connected(view, node, access) as connection:
                mark = await reading.run(connection, node.epoch or 0, access.timeout_s)
                return Reached(leader=node, high_watermark=mark, end=reading.place)
        except TimeoutError:
            said.append(f"{node.name}: not read within {limit_s:g} s")
        except NetError as error:
            said.append(f"{node.name}: {error.message}")
    if leader is None and asked:
        said.insert(0, "no node leads, and other nodes do not serve their log")
    raise UnobservableError("; ".join(said))


class _Reading:
    """One reading with its place in the log, which the next node goes on from if one fails."""

    def __init__(
        self, taker: Taker, place: OffsetAndEpoch, upto: int | None, progress: Progress
    ) -> None:
        self.taker = taker
        self.place = place
        self._upto = upto
        self._progress = progress
        self._begun = place
        self._begins = self._bytes = 0

    async def run(self, connection: Connection, epoch: int, timeout_s: float) -> int:
        """Read up to the end that the first answer tells; return the last high watermark."""
        if self.place == _BEGINNING:
            self.taker.begin()
        target: int | None = None
        while True:
            answer = await self._fetch(connection, epoch, timeout_s)
            if answer.snapshot_id is not None:
                if min(answer.snapshot_id) < 0:
                    raise NetError("the snapshot that it names cannot exist")
                self._begin("it sends one snapshot after another")
                await self._snapshot(connection, epoch, answer.snapshot_id, timeout_s)
                continue
            if answer.diverging_epoch is not None:
                self._begin("its log differs from what it sent before")
                continue
            if answer.high_watermark < 0:
                raise NetError("it leads, but has committed nothing in its epoch yet")
            if target is None:
                target = answer.high_watermark
            taken = self._take(answer)
            at, start = self.place.offset, self._begun.offset
            self._progress("log", min(at, target) - start, max(target - start, 0))
            if at >= max(target, self._upto or 0) or (at >= target and not taken):
                return answer.high_watermark
            if not taken:
                raise NetError(f"it has committed up to {target}, but sends nothing from {at} on")

    async def _fetch(self, connection: Connection, epoch: int, timeout_s: float) -> FetchResponse:
        request = FetchRequest(
            replica=None,
            current_leader_epoch=epoch,
            fetch_offset=self.place.offset,
            last_fetched_epoch=self.place.epoch,
            max_wait_ms=0,
            max_bytes=_CHUNK,
        )
        answer = await ask(connection, "Fetch", request, timeout_s)
        assert isinstance(answer, FetchResponse), "a fetch is answered as one"
        _refuse(answer.top_error, answer.error)
        return answer

    def _take(self, answer: FetchResponse) -> bool:
        """Hand on what may be; whether there was anything."""
        wanted: list[Batch] = []
        for batch in answer.batches:
            if self._upto is None and batch.last_offset >= answer.high_watermark:
                break
            if batch.base_offset < 0 or not batch.is_valid:
                raise NetError(f"the batch that it sends at offset {batch.base_offset} is damaged")
            if not wanted and batch.last_offset < self.place.offset:
                continue  # Kafka begins with the batch that holds the offset
            self._count(batch.size)
            wanted.append(batch)
        if wanted:
            self.taker.log(wanted, answer.high_watermark)
            self.place = OffsetAndEpoch(wanted[-1].next_offset, wanted[-1].epoch)
        return bool(wanted)

    def _begin(self, why: str) -> None:
        """From the beginning; the first time is none too many."""
        self._begins += 1
        if self._begins > _MOST_BEGINS:
            raise NetError(why)
        self.place = self._begun = _BEGINNING
        self.taker.begin()

    def _count(self, size: int) -> None:
        self._bytes += size
        if self._bytes > _MOST_BYTES:
            raise NetError(f"it sends more than {_MOST_BYTES >> 30} GiB")

    async def _snapshot(
        self, connection: Connection, epoch: int, id: OffsetAndEpoch, timeout_s: float
    ) -> None:
        position, size = 0, -1
        name = f"snapshot {id.offset}-{id.epoch}"
        while position != size:
            request = FetchSnapshotRequest(
                replica=None,
                current_leader_epoch=epoch,
                snapshot_id=id,
                position=position,
                max_bytes=_CHUNK,
            )
            answer = await ask(connection, "FetchSnapshot", request, timeout_s)
            assert isinstance(answer, FetchSnapshotResponse), "it is answered as one"
            if answer.error is Error.SNAPSHOT_NOT_FOUND:
                self._begin(f"{name} disappeared before it was read")
                return
            _refuse(answer.top_error, answer.error)
            size = answer.size if size < 0 else size
            end = position + len(answer.chunk)
            if answer.position != position or answer.size != size or not position < end <= size:
                raise NetError(
                    f"it sends bytes of {name} that do not continue at position {position}"
                )
            self._count(len(answer.chunk))
            self.taker.snapshot(id, position, answer.chunk, size)
            position = end
            self._progress(name, position, size)
        self.place = self._begun = id


def _refuse(*errors: Error) -> None:
    for error in errors:
        if error is not Error.NONE:
            raise NetError(f"it answers {error.name}")
