"""What a leader reads from its disk into an answer.

Owns how much of log or snapshot goes into one. That it may be answered at all is the core's.
"""

from __future__ import annotations

from dataclasses import replace

from kraftool.raft.messages import (
    FetchResponse,
    FetchSnapshotResponse,
    ReadRange,
    Response,
    SnapshotRange,
)
from kraftool.raft.names import Error
from kraftool.raft.records import Batch
from kraftool.sim.disk import Disk


def filled(disk: Disk, response: FetchResponse | FetchSnapshotResponse) -> Response:
    """The answer with what it asks to be read."""
    match response.read:
        case ReadRange(offset=offset, max_bytes=most):
            return replace(response, batches=_batches(disk, offset, most), read=None)
        case SnapshotRange(snapshot_id=snapshot, position=position, max_bytes=most):
            content = disk.snapshots.get(snapshot)
            if content is None:
                return replace(response, error=Error.SNAPSHOT_NOT_FOUND, read=None)
            data = content.encoded()
            if position >= len(data):
                return replace(response, error=Error.POSITION_OUT_OF_RANGE, read=None)
            chunk = data[position : position + most]
            return replace(response, size=len(data), chunk=chunk, read=None)
        case None:
            return response


def _batches(disk: Disk, offset: int, most: int) -> tuple[Batch, ...]:
    """Whole batches, one at least, as long as they fit; nothing where the log was cleaned."""
    found: list[Batch] = []
    if offset < disk.log.start:
        return ()
    for each in disk.log.between(offset, disk.log.end):
        most -= each.size
        if found and most < 0:
            break
        found.append(each)
    return tuple(found)
