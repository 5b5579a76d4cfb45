"""The rules of retention, without files."""

from __future__ import annotations

from kraftool.raft.names import OffsetAndEpoch
from kraftool.storage.cleaning import Retained, new_start

SNAPSHOTS = tuple(OffsetAndEpoch(offset, 1) for offset in (10, 20, 30))


def started(retention_bytes: int) -> int | None:
    """Each snapshot has 100 bytes, and the log a byte for each offset up to 40."""
    kept = Retained(
        snapshots=SNAPSHOTS,
        start_offset=0,
        snapshot_size=lambda end: 100,
        snapshot_timestamp=lambda end: 0,
        log_size_from=lambda offset: 40 - offset,
    )
    return new_start(kept, retention_bytes=retention_bytes, retention_ms=-1, now_ms=0)


def test_a_snapshot_goes_only_while_what_is_left_is_too_large() -> None:
    """What goes does not count any more: without its bytes the next snapshot may stay."""
    assert started(340) is None
    assert started(339) == 20
    assert started(220) == 20
    assert started(219) == 30
    assert started(0) == 30, "the newest snapshot stays"
