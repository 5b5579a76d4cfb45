"""The division of a large log at its snapshots, so that several tasks replay it.

Owns where the borders are. It knows the names and sizes of files alone.
"""

from __future__ import annotations

from collections.abc import Sequence

from kraftool.arrow.fleet import FleetFile
from kraftool.decoders.names import FileState, parse_checkpoint_name, parse_segment_name


def borders(files: Sequence[FleetFile], end: int, split_bytes: int) -> list[int]:
    """Offsets of snapshots at which a history is divided. A part is of about as many bytes as a
    range, or more: the last one, and those without a snapshot in the middle."""
    size, first = 0, end
    offsets = set()
    for file in files:
        if file.in_topic:
            continue
        segment = parse_segment_name(file.basename)
        snapshot = parse_checkpoint_name(file.basename)
        if segment is not None and segment.suffix == ".log":
            size += file.size
            first = min(first, segment.base_offset)
        elif snapshot is not None and snapshot.state is FileState.LIVE:
            offsets.add(snapshot.offset)
    step = (end - first) * split_bytes / max(size, 1)
    bounds: list[int] = []
    for offset in sorted(offsets):
        if offset - (bounds[-1] if bounds else first) >= step and end - offset >= step / 2:
            bounds.append(offset)
    return bounds


def estimated_end(files: Sequence[FleetFile]) -> int:
    """About where a log ends: the newest offset in a name, or where the newest segment ends if it
    has as many bytes an offset as the others."""
    segments, newest = [], 0
    for file in files:
        segment, snapshot = parse_segment_name(file.basename), parse_checkpoint_name(file.basename)
        if segment is not None:
            newest = max(newest, segment.base_offset)
            if segment.suffix == ".log" and not file.in_topic:
                segments.append((segment.base_offset, file.size))
        elif snapshot is not None and snapshot.state is FileState.LIVE:
            newest = max(newest, snapshot.offset)
    segments.sort()
    if len(segments) < 2:
        return newest
    last, size = segments[-1]
    before = sum(size for _, size in segments[:-1])
    return max(newest, last + size * (last - segments[0][0]) // max(before, 1))
