"""The beginnings of logs, and questions about the time before.

Kafka deletes segments that a snapshot replaces. The snapshot has the result of their records, and
neither the records nor their times. So a question about a time before the log's first record cannot
be answered from that log: an empty answer would look as if nothing had happened.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC

from kraftool.decoders.batch import RecordBatch
from kraftool.decoders.errors import KraftoolError
from kraftool.decoders.walk import Walk
from kraftool.directory.log_summary import FIRST_OFFSET
from kraftool.reports.findings.finding import Finding
from kraftool.reports.findings.kinds import log as log_kinds
from kraftool.reports.logs.source import LogFile
from kraftool.reports.text.times import iso


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedRange:
    """The range that a user asked for."""

    first_offset: int | None = None
    last_offset: int | None = None
    since: int | None = None
    until: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LogBeginning:
    """The first record of a log, with its time if that is known."""

    path: str
    offset: int
    timestamp: int | None = None

    def lacks(self, asked: AskedRange) -> bool:
        """True if some of what was asked for is before the log."""
        if self.offset <= FIRST_OFFSET:
            return False
        offsets, times = (asked.first_offset, asked.last_offset), (asked.since, asked.until)
        return any(offset is not None and offset < self.offset for offset in offsets) or any(
            moment is not None and self.timestamp is not None and moment < self.timestamp
            for moment in times
        )

    @property
    def words(self) -> str:
        """Return the place, in words."""
        when = "" if self.timestamp is None else f", at {iso(self.timestamp, UTC)}"
        return f"offset {self.offset}{when}"

    def finding(self, command: str) -> Finding:
        """Return that something was asked for which this log cannot show."""
        return log_kinds.BEGINS_LATER.at(
            self.path,
            f"the log begins at {self.words}. kraftool read nothing before that",
            offset=self.offset,
            advice="try another controller's directory, or an older copy, which may begin earlier:"
            f" kraftool {command} DIR. Each node deletes its own old segments",
        )


class LogBeginnings:
    """The beginnings of the logs that pass."""

    def __init__(self) -> None:
        self._first: dict[str, LogFile] = {}

    def of(self, files: Iterable[LogFile]) -> Iterator[LogFile]:
        """Yield the same files; take note of the first segment of each directory."""
        for file in files:
            if file.is_log and not file.is_topic and not file.is_named and not file.is_stream:
                self._first.setdefault(file.entry.directory, file)
            yield file

    def read(self) -> Iterator[LogBeginning]:
        """Yield where each log begins, by its first batch."""
        for directory, file in self._first.items():
            try:
                with file.open() as source:
                    first = next(iter(Walk(source.read_at)), None)
            except KraftoolError:
                continue  # reported when the file itself was read
            if isinstance(first, RecordBatch):
                yield LogBeginning(
                    path=directory,
                    offset=first.base_offset,
                    timestamp=first.header.base_timestamp,
                )
