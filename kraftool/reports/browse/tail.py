"""The changes of a log since the last look: it grew, was cut, was cleaned.

Owns bringing a window up to date. What is new is `storage/tail.py`'s judgement; it begins at the
end of the log, however long that is.
"""

from __future__ import annotations

import os
from dataclasses import dataclass

from kraftool.decoders.batch import RecordBatch
from kraftool.reports.browse.window import LogWindow
from kraftool.reports.logs.source import LogFile
from kraftool.storage.follow import SegmentFollower
from kraftool.storage.tail import UnsettledEnd


@dataclass(frozen=True, slots=True, kw_only=True)
class TailChange:
    """One look's news."""

    end_offset: int
    has_grown: bool = False
    cut_offset: int | None = None
    """From here on records that were in the log are gone: a new leader had others."""
    start_moved: bool = False
    """True if the oldest segments went."""

    @property
    def is_news(self) -> bool:
        return self.has_grown or self.start_moved or self.cut_offset is not None


class WindowTail:
    """Follows the log of a window. Not for streams, nor for a checkpoint by itself."""

    def __init__(self, window: LogWindow) -> None:
        self.window = window
        files = window.blocks.files
        self._file: LogFile | None = files[-1] if files else None
        self._follower: SegmentFollower | None = None
        self._tail: UnsettledEnd | None = None
        """What is no sound batch at the end, by the last look."""
        if self._file is not None and self._file.path and not window.is_checkpoint:
            named = self._file.is_named
            path = self._file.path if named else os.path.dirname(self._file.path)
            self._follower = SegmentFollower(path)
            self._begin(self._follower, window.blocks.bases[-1])
            self._settle(self._follower.poll().tail)
        self.end_offset = window.end_offset()

    def poll(self) -> TailChange:
        """Look once. Raises KraftoolError where the log cannot be read any more."""
        follower, file = self._follower, self._file
        if follower is None or file is None:
            return TailChange(end_offset=self.end_offset)
        blocks = self.window.blocks
        look = follower.poll()
        start = blocks.bases[0] if blocks.bases else 0
        changed = [(tail_range.segment, tail_range.start) for tail_range in look.ranges]
        cut = None
        if look.change is not None:
            changed.append((look.change.segment, look.change.position))
            if look.change.change == "TRUNCATED":
                cut = look.change.offset
                self.window.marks.forget()
        if changed or not all(os.path.exists(log_file.path) for log_file in blocks.files):
            self._refresh(file)
        for segment, position in changed:
            self._forget(segment, position)
        self._settle(look.tail)
        before, self.end_offset = self.end_offset, self.window.end_offset()
        return TailChange(
            end_offset=self.end_offset,
            has_grown=self.end_offset > (before if cut is None else min(before, cut)),
            cut_offset=cut,
            start_moved=bool(blocks.bases) and blocks.bases[0] != start,
        )

    def _begin(self, follower: SegmentFollower, base: int) -> None:
        """Start at the last batches of the newest segment."""
        blocks = self.window.blocks
        path = blocks.file(base).path
        for item in blocks.backward(base, blocks.size(base)).items:
            if isinstance(item, RecordBatch):
                follower.saw(path, item)

    def _refresh(self, file: LogFile) -> None:
        """Take note of segments that came or went."""
        if file.is_named or self._follower is None:
            return
        present = tuple(file.beside(segment) for segment in self._follower.segments())
        self.window.blocks.replace_files(present)

    def _forget(self, segment: str, position: int) -> None:
        """Read a segment again from a position on."""
        blocks = self.window.blocks
        for base in blocks.bases:
            if os.path.basename(blocks.file(base).path) == segment:
                blocks.forget(base, position)

    def _settle(self, tail: UnsettledEnd | None) -> None:
        """Hide the end of a log that is being written, until two looks see the same there."""
        blocks = self.window.blocks
        blocks.unsettled = None
        if tail is not None:
            # With the block that ends there: it was made while the rest was hidden.
            self._forget(tail.segment, tail.start - 1)
            if tail != self._tail and self._file is not None and self._file.is_live():
                blocks.unsettled = tail.start
        self._tail = tail
