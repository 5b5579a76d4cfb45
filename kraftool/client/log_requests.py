"""The two requests for a leader's log, Fetch and FetchSnapshot, without a replica id.

Owns the requests, and which answers it refuses. It keeps no state.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass

from kraftool.client.asking import ask
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

_CHUNK = 1 << 20
"""So much is asked for at once: what is read between two moments at which it can be stopped."""


@dataclass(frozen=True, slots=True)
class LeaderRequests:
    """A leader that is asked over one connection, in its epoch."""

    connection: Connection
    epoch: int
    timeout_s: float

    async def fetch(self, place: OffsetAndEpoch) -> FetchResponse:
        """Ask for the log from a place on. Raises NetError for an error code."""
        request = FetchRequest(
            replica=None,
            current_leader_epoch=self.epoch,
            fetch_offset=place.offset,
            last_fetched_epoch=place.epoch,
            max_wait_ms=0,
            max_bytes=_CHUNK,
        )
        answer = await ask(self.connection, "Fetch", request, self.timeout_s)
        assert isinstance(answer, FetchResponse), "a fetch is answered as one"
        _refuse(answer.top_error, answer.error)
        return answer

    async def snapshot(self, id: OffsetAndEpoch) -> AsyncIterator[tuple[int, bytes, int]]:
        """Yield position, bytes and the whole size. Stop before the end if there is no such
        snapshot, or it was deleted. Raises NetError."""
        position, size = 0, -1
        while position != size:
            request = FetchSnapshotRequest(
                replica=None,
                current_leader_epoch=self.epoch,
                snapshot_id=id,
                position=position,
                max_bytes=_CHUNK,
            )
            answer = await ask(self.connection, "FetchSnapshot", request, self.timeout_s)
            assert isinstance(answer, FetchSnapshotResponse), "it is answered as one"
            if answer.error is Error.SNAPSHOT_NOT_FOUND:
                return
            _refuse(answer.top_error, answer.error)
            size = answer.size if size < 0 else size
            end = position + len(answer.chunk)
            if answer.position != position or answer.size != size or not position < end <= size:
                raise NetError(
                    f"it sends bytes of snapshot {id.offset}-{id.epoch} that do not continue at"
                    f" position {position}"
                )
            yield position, answer.chunk, size
            position = end


def _refuse(*errors: Error) -> None:
    for error in errors:
        if error is not Error.NONE:
            raise NetError(f"it answers {error.name}")
