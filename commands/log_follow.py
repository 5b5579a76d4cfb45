"""`dump-log --follow`: go on with what is appended after the first dump.

Owns the waiting. A batch that is half written is not damage here; it is looked at again.
"""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

from kraftool.commands.output import UsageError
from kraftool.decoders.batch import RecordBatch
from kraftool.storage.follow import Grown, SegmentFollower
from kraftool.storage.source import FileSource

if TYPE_CHECKING:
    from kraftool.commands.log_run import LogRun
    from kraftool.reports.log_source import LogFile

POLL_SECONDS = 0.2


class DumpFollower:
    """Follows the log that the first dump has read."""

    def __init__(self) -> None:
        self.file: LogFile | None = None
        self.follower: SegmentFollower | None = None

    def start(self, file: LogFile) -> None:
        """Take note of the log to follow: the folder of the segment, or the one file named."""
        if file.is_stream or not file.is_log:
            raise UsageError("--follow needs a directory or a segment of it, on disk")
        folder = os.path.dirname(file.path)
        target = file.path if file.is_named else folder
        if self.follower is None:
            self.file, self.folder = file, folder
            self.follower = SegmentFollower(target)
        elif folder != self.folder:
            raise UsageError("--follow follows one log", hint="name one directory")

    def saw(self, file: LogFile, batch: RecordBatch) -> None:
        """Take note of a batch that was shown, or was passed over by a filter."""
        if self.follower is not None:
            self.follower.saw(file.path, batch.position, batch.data)

    def run(self, run: LogRun) -> None:
        """Show what comes, until interrupted, or until --head has had enough."""
        if self.follower is None or self.file is None:
            raise UsageError("there is no log to follow")
        while run.remaining != 0:
            self._show(run, self.file, self.follower)
            run.output.flush()
            time.sleep(POLL_SECONDS)

    def _show(self, run: LogRun, file: LogFile, follower: SegmentFollower) -> None:
        for change in follower.poll():
            current = file.beside(change.path)
            if not isinstance(change, Grown):
                run.output.note(
                    f"kraftool: {current.name}: truncated to position {change.position};"
                    " what was shown after it is no longer in the log"
                )
                continue
            with FileSource(change.path, name=current.name) as source:
                run.take_all(current, source.read_at, change.position)
            if run.remaining == 0:
                return
