"""What happened to a log since it was last looked at: it grew, was cut, was cleaned.

Owns telling these apart, on top of `storage/follow.py`, and bringing a window up to date. It looks
at the end of each segment only, however much was written meanwhile.
"""

from __future__ import annotations

import os
from collections import deque
from dataclasses import dataclass

from kraftool.decoders.batch import RecordBatch
from kraftool.reports.browse.window import LogWindow
from kraftool.reports.log_source import LogFile
from kraftool.storage.follow import SegmentFollower, Truncated

_REMEMBERED = 4000


@dataclass(frozen=True, slots=True, kw_only=True)
class TailChange:
    """One look's news."""

    end_offset: int
    has_grown: bool = False
    cut_offset: int | None = None
    """From here on records that were in the log are gone: a new leader had others."""
    start_moved: bool = False
    """Whether the oldest segments went."""

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
        self._seen: deque[tuple[str, int, int]] = deque(maxlen=_REMEMBERED)
        """Path, position and base offset of batches at the end."""
        self.end_offset = window.end_offset()
        if self._file is not None and self._file.path and not window.is_checkpoint:
            named = self._file.is_named
            path = self._file.path if named else os.path.dirname(self._file.path)
            self._follower = SegmentFollower(path)
            window.blocks.is_live = self._file.is_live()
            self._note_end(window.blocks.bases[-1])

    def poll(self) -> TailChange:
        """Look once. Raises KraftoolError where the log cannot be read any more."""
        follower, file = self._follower, self._file
        if follower is None or file is None:
            return TailChange(end_offset=self.end_offset)
        blocks = self.window.blocks
        changes = follower.poll()
        start = blocks.bases[0] if blocks.bases else 0
        cuts = [self._cut(each) for each in changes if isinstance(each, Truncated)]
        if changes or not all(os.path.exists(each.path) for each in blocks.files):
            self._refresh(file)
            for change in changes:
                for base in blocks.bases:
                    if blocks.file(base).path == change.path:
                        blocks.forget(base, change.position)
            if cuts:
                self.window.marks.forget()
            for base in blocks.bases:
                if any(each.path == blocks.file(base).path for each in changes):
                    self._note_end(base)
        blocks.is_live = file.is_live()
        before, self.end_offset = self.end_offset, self.window.end_offset()
        return TailChange(
            end_offset=self.end_offset,
            has_grown=self.end_offset > before or (bool(cuts) and self.end_offset > min(cuts)),
            cut_offset=min(cuts) if cuts else None,
            start_moved=bool(blocks.bases) and blocks.bases[0] != start,
        )

    def _refresh(self, file: LogFile) -> None:
        """Take note of segments that came or went."""
        if file.is_named or self._follower is None:
            return
        present = tuple(file.beside(each) for each in self._follower.segments())
        self.window.blocks.replace_files(present)

    def _note_end(self, base: int) -> None:
        """Remember the last batches of a segment, so that a truncation is noticed."""
        blocks, follower = self.window.blocks, self._follower
        assert follower is not None, "only where there is something to follow"
        path = blocks.file(base).path
        known = {position for name, position, _ in self._seen if name == path}
        for item in blocks.backward(base, blocks.size(base)).items:
            if isinstance(item, RecordBatch) and item.position not in known:
                follower.saw(path, item.position, item.data)
                self._seen.append((path, item.position, item.base_offset))

    def _cut(self, change: Truncated) -> int:
        """The first offset that is gone, as far as was seen; and it is no longer remembered."""
        gone = [
            offset
            for path, position, offset in self._seen
            if path == change.path and position >= change.position
        ]
        kept = [each for each in self._seen if each[0] != change.path or each[1] < change.position]
        self._seen = deque(kept, maxlen=_REMEMBERED)
        return min(gone, default=self.end_offset)
