"""The reads of a leader from its log and snapshots into an answer.

Owns the answer: what was asked for is there, or its error. The reading itself, from a real disk or
a simulated one, is done by whoever is handed in. That it may be answered at all was decided before.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Protocol

from kraftool.decoders.error_codes import Error
from kraftool.raft.messages import (
    FetchResponse,
    FetchSnapshotResponse,
    ReadRange,
    Response,
    SnapshotRange,
)
from kraftool.raft.names import OffsetAndEpoch
from kraftool.raft.records import Batch


class Readable(Protocol):
    """A log and its snapshots."""

    def read_batches(self, offset: int, max_bytes: int) -> tuple[Batch, ...]:
        """Whole batches from an offset on, one at least; none where the log was cleaned."""
        ...

    def read_snapshot(
        self, snapshot_id: OffsetAndEpoch, position: int, max_bytes: int
    ) -> tuple[int, bytes] | None:
        """A snapshot's size and its bytes from a position on; None if it is gone."""
        ...


def filled(log: Readable, response: FetchResponse | FetchSnapshotResponse) -> Response:
    """The answer with what it asks to be read."""
    match response.read:
        case ReadRange(offset=offset, max_bytes=most):
            return replace(response, batches=log.read_batches(offset, most), read=None)
        case SnapshotRange(snapshot_id=snapshot, position=position, max_bytes=most):
            size_and_chunk = log.read_snapshot(snapshot, position, most)
            if size_and_chunk is None:
                return _refused(response, Error.SNAPSHOT_NOT_FOUND)
            size, chunk = size_and_chunk
            if position >= size:
                return _refused(response, Error.POSITION_OUT_OF_RANGE)
            return replace(response, size=size, chunk=chunk, read=None)
        case None:
            return response


def _refused(response: FetchResponse | FetchSnapshotResponse, error: Error) -> Response:
    """Return the answer as an error, which names no snapshot."""
    return FetchSnapshotResponse(
        error=error,
        leader_id=response.leader_id,
        leader_epoch=response.leader_epoch,
        endpoints=response.endpoints,
    )
