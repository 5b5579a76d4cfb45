"""The division of a large log at its snapshots, so that several tasks replay it.

Owns where the borders are. It uses only the names and sizes of files.
"""

from __future__ import annotations

from collections.abc import Sequence

from kraftool.arrow.fleet import FleetFile
from kraftool.decoders.names import FileState, parse_checkpoint_name, parse_segment_name


def borders(files: Sequence[FleetFile], end: int, split_bytes: int) -> list[int]:
    """Return the offsets of the snapshots at which a history is divided. A part has about
    `split_bytes`. The last part, and one without a snapshot in the middle, may have more."""
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
    """Return about where a log ends: the newest offset in a name, or the end of the newest segment
    by its size. This assumes as many bytes for each offset as in the others."""
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
