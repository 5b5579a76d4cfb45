"""When old snapshots go, and the log before the next one with them (KIP-630).

Owns the two rules of retention as Kafka applies them, size before time, and what becomes of the
files: they lose their names at once and are unlinked later. The newest snapshot never goes, so that
both limits are soft.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from kraftool.raft.names import OffsetAndEpoch
from kraftool.storage.files import Files

DELETE_DELAY_MS = 60_000
"""How long files keep their bytes under a name that nobody reads (file.delete.delay.ms)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Retained:
    """The values that the rules look at. Negative limits mean no limit."""

    snapshots: Sequence[OffsetAndEpoch]
    start_offset: int
    snapshot_size: Callable[[OffsetAndEpoch], int]
    snapshot_timestamp: Callable[[OffsetAndEpoch], int]
    log_size_from: Callable[[int], int]
    """The bytes of the segments that are left when the log starts at an offset."""


def new_start(
    kept: Retained, *, retention_bytes: int, retention_ms: int, now_ms: int
) -> int | None:
    """Return where the log may start now; None where nothing is to go."""
    sizes = {end: kept.snapshot_size(end) for end in kept.snapshots}

    def is_too_large(snapshot: OffsetAndEpoch, start_offset: int) -> bool:
        if kept.log_size_from(start_offset) + sum(sizes.values()) <= retention_bytes:
            return False
        del sizes[snapshot]
        return True

    def is_too_old(snapshot: OffsetAndEpoch, _: int) -> bool:
        return now_ms - kept.snapshot_timestamp(snapshot) > retention_ms

    start = kept.start_offset
    if retention_bytes >= 0:
        start = _advanced(kept.snapshots, start, is_too_large)
    if retention_ms >= 0:
        start = _advanced(kept.snapshots, start, is_too_old)
    return start if start > kept.start_offset else None


def _advanced(
    snapshots: Sequence[OffsetAndEpoch],
    start: int,
    is_to_go: Callable[[OffsetAndEpoch, int], bool],
) -> int:
    """Drop snapshots from the oldest on, up to the first that may stay."""
    left = [snapshot for snapshot in snapshots if snapshot.offset >= start]
    for end, following in pairwise(left):
        if not is_to_go(end, start) or following.offset <= start:
            break
        start = following.offset
    return start


@dataclass(slots=True)
class Doomed:
    """Files that nobody reads any more, until they are unlinked."""

    files: Files
    waiting: list[tuple[int, str]] = field(default_factory=list)

    def add(self, paths: Sequence[str], now_ms: int) -> None:
        self.waiting += [(now_ms + DELETE_DELAY_MS, path) for path in paths]

    def unlink_due(self, now_ms: int | None = None) -> None:
        """Unlink what has waited long enough; without a time, all of it."""
        left = []
        for due, path in self.waiting:
            if now_ms is None or now_ms >= due:
                self.files.unlink(path)
            else:
                left.append((due, path))
        self.waiting = left
