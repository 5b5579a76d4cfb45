"""`dump-log --follow`: go on with what is appended after the first dump.

Owns the waiting. What is no sound batch at the end of the log may be half written: it is shown once
two polls see the same, and looked at again after that.
"""

from __future__ import annotations

import os
import time
from collections.abc import Collection
from typing import Protocol

from kraftool.commands.exit_code import UsageError
from kraftool.commands.output import Output
from kraftool.decoders.batch import RecordBatch
from kraftool.decoders.segment import ReadAt
from kraftool.decoders.walk import Faulty, WalkState
from kraftool.reports.logs.source import LogFile
from kraftool.storage.follow import SegmentFollower
from kraftool.storage.source import FileSource
from kraftool.storage.tail import TailRead, UnsettledEnd

POLL_SECONDS = 0.2


class FollowedDump(Protocol):
    """The part of a dump that following continues with."""

    output: Output
    remaining: int | None
    """What --head has left; None without --head."""

    def take_all(
        self,
        file: LogFile,
        read_at: ReadAt,
        state: WalkState,
        *,
        stop: int | None = None,
        known: Collection[Faulty] = (),
    ) -> list[Faulty]:
        """Show what a file holds from a state on, as far as it is selected; without the damage that
        is known. Returns what is damaged."""

    def show_held(self) -> None:
        """Show the damage at the end of the first dump, which may have been half a batch."""

    def end_run(self) -> None:
        """Show the run of no-ops that is being folded."""


class Following(Protocol):
    """Goes on after the first dump: with a log on disk, or with that of a live quorum."""

    def start(self, file: LogFile) -> None:
        """Take note of a file before it is dumped."""

    def saw(self, file: LogFile, batch: RecordBatch) -> None:
        """Take note of a sound batch that was shown, or was passed over by a filter."""

    def run(self, dump: FollowedDump) -> None:
        """Show what comes, until interrupted, or until --head has had enough."""


class DumpFollower:
    """Follows the log that the first dump has read."""

    def __init__(self) -> None:
        self.file: LogFile | None = None
        self.follower: SegmentFollower | None = None
        self._tail: UnsettledEnd | None = None
        """What is no sound batch at the end, by the last read."""
        self._shown: UnsettledEnd | None = None
        self._known: list[Faulty] = []
        """The damage at the end that was shown."""

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
        """Take note of a sound batch that was shown, or was passed over by a filter."""
        if self.follower is not None:
            self.follower.saw(file.path, batch)

    def run(self, dump: FollowedDump) -> None:
        """Show what comes, until interrupted, or until --head has had enough."""
        if self.follower is None or self.file is None:
            raise UsageError("there is no log to follow")
        while dump.remaining != 0:
            self._show(dump, self.file, self.follower)
            dump.output.flush()
            time.sleep(POLL_SECONDS)

    def _show(self, dump: FollowedDump, file: LogFile, follower: SegmentFollower) -> None:
        read = follower.poll()
        self._tell(dump, read)
        for span in read.ranges:
            if dump.remaining == 0:
                return
            current = file.beside(follower.path_of(span.segment))
            with FileSource(current.path, name=current.name) as source:
                dump.take_all(
                    current, source.read_at, span.before, stop=span.stop, known=self._known
                )
            self._known, self._shown = [], None
        if read.tail is not None and read.tail == self._tail != self._shown:
            current = file.beside(follower.path_of(read.tail.segment))
            with FileSource(current.path, name=current.name) as source:
                state = read.state.walk
                self._known = dump.take_all(current, source.read_at, state, known=self._known)
            self._shown = read.tail
        self._tail = read.tail

    def _tell(self, dump: FollowedDump, read: TailRead) -> None:
        """Say what has happened to what was shown."""
        change = read.change
        if change is None:
            return
        # What was read before the change is shown before it, and is not folded with what follows.
        dump.end_run()
        self._known, self._shown = [], None
        if change.change == "TRUNCATED":
            dump.output.note(
                f"kraftool: {change.segment}: truncated to position {change.position};"
                " what was shown after it is no longer in the log"
            )
        else:
            dump.output.note(f"kraftool: {change.sentence()}")
