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
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from kraftool.client.asking import Access, connected
from kraftool.client.earlier_log import EarlierLog, Taker
from kraftool.client.log_requests import LeaderRequests
from kraftool.client.model import NodeAnswer, QuorumView
from kraftool.net.errors import NetError
from kraftool.raft.messages import FetchResponse
from kraftool.raft.names import OffsetAndEpoch
from kraftool.raft.records import Batch

LIMIT_S = 600.0
"""For the snapshot and the log after it, rarely above some hundred MiB; again for the older log."""
_MOST_BYTES = 16 << 30
_MOST_BEGINS = 3
"""A snapshot may be deleted, or the log cut, while it is read; then it begins anew."""
_BEGINNING = OffsetAndEpoch(0, 0)

Progress = Callable[[str, int, int], None]
"""Told what is read, how much of it, and how much there is: bytes of a snapshot, or offsets."""


class UnobservableError(NetError):
    """No node would tell its log: there is no leader, or the leader refuses."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reached:
    """The node whose log was read, and how much of the log was committed then."""

    leader: NodeAnswer
    high_watermark: int
    end: OffsetAndEpoch
    """One beyond the last record read, and its epoch."""
    not_earlier: str = ""
    """Why the log before the newest snapshot could not be read, if it was asked for."""


def silent(what: str, done: int, total: int) -> None:
    """Nobody watches."""


async def read_log(
    view: QuorumView,
    access: Access,
    taker: Taker,
    *,
    place: OffsetAndEpoch = _BEGINNING,
    upto: int | None = None,
    earlier: Taker | None = None,
    progress: Progress = silent,
    limit_s: float = LIMIT_S,
) -> Reached:
    """Read from a place on to the high watermark; with `upto` on to that offset, committed or not.

    `earlier` gets what the leader's log has before its newest snapshot: a leader keeps days of
    log, and makes a snapshot every hour. If that fails, the reading does not.
    The leader is asked, or where none is known every node that answered. Raises UnobservableError
    with what each of them said; no other error leaves it.
    """
    leader = view.leader
    asked = (leader,) if leader is not None else view.reached
    problems = [] if asked else ["no node was reached"]
    reading = _Reading(taker, place, upto, progress)
    for node in asked:
        try:
            async with (
                asyncio.timeout(limit_s) as limit,
                connected(view, node, access) as connection,
            ):
                requests = LeaderRequests(connection, node.epoch or 0, access.timeout_s)
                mark = await reading.run(requests)
                limit.reschedule(None)  # the older log has a limit of its own
                why = "" if earlier is None else await reading.earlier(requests, earlier, limit_s)
                return Reached(leader=node, high_watermark=mark, end=reading.place, not_earlier=why)
        except TimeoutError:
            problems.append(f"{node.name}: not read within {limit_s:g} s")
        except NetError as error:
            problems.append(f"{node.name}: {error.message}")
    if leader is None and asked:
        problems.insert(0, "no node leads, and other nodes do not serve their log")
    raise UnobservableError("; ".join(problems))


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
        self._log_start = -1
        """The first offset of the leader's log, as its last answer says."""

    async def run(self, requests: LeaderRequests) -> int:
        """Read up to the end that the first answer tells; return the last high watermark."""
        if self.place == _BEGINNING:
            self.taker.begin()
        target: int | None = None
        while True:
            answer = await requests.fetch(self.place)
            if answer.snapshot_id is not None:
                if min(answer.snapshot_id) < 0:
                    raise NetError("the snapshot that it names cannot exist")
                self._begin("it sends one snapshot after another")
                await self._snapshot(requests, answer.snapshot_id)
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
                self._log_start = answer.log_start_offset
                return answer.high_watermark
            if not taken:
                raise NetError(f"it has committed up to {target}, but sends nothing from {at} on")

    async def earlier(self, requests: LeaderRequests, taker: Taker, limit_s: float) -> str:
        """Read the log before the snapshot that was read; return why it could not be read."""
        end = self._begun.offset
        if not 0 <= self._log_start < end:
            return ""
        earlier = EarlierLog(requests, taker, self._count)
        try:
            async with asyncio.timeout(limit_s):
                await earlier.read(self._log_start, end, partial(self._progress, "the older log"))
        except TimeoutError:
            why = f"not read within {limit_s:g} s"
        except NetError as error:
            why = error.message
        else:
            return ""
        taker.begin()
        return why

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

    async def _snapshot(self, requests: LeaderRequests, id: OffsetAndEpoch) -> None:
        name = f"snapshot {id.offset}-{id.epoch}"
        async for position, chunk, size in requests.snapshot(id):
            self._count(len(chunk))
            self.taker.snapshot(id, position, chunk, size)
            self._progress(name, position + len(chunk), size)
            if position + len(chunk) == size:
                self.place = self._begun = id
                return
        self._begin(f"{name} disappeared before it was read")
