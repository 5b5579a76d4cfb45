"""The log dump for people: one line a record, batches drawn at the left, damage where it lies.

Owns the columns. It streams, so it is lines and not a rich table, which would hold all rows first.
"""

from __future__ import annotations

from datetime import UTC, tzinfo

from kraftool.commands.log_noops import NoOpRun
from kraftool.commands.output import Output, printable
from kraftool.commands.times import iso
from kraftool.decoders.errors import Fault
from kraftool.decoders.fault import LogFault
from kraftool.decoders.log_record import LogRecord, position_in_file
from kraftool.directory.log_summary import record_label
from kraftool.reports.files.record_summary import summary
from kraftool.reports.logs.dump import BatchEntry, Entry, TopicNames
from kraftool.reports.logs.transactions import Transactions
from kraftool.reports.text.words import no_ops

_MARKS = {"committed": "t", "aborted": "✗", "open": "?"}


class LogTable:
    """Writes the entries of a log dump as lines that fit the terminal."""

    def __init__(
        self,
        output: Output,
        zone: tzinfo,
        *,
        topics: TopicNames,
        marks: Transactions | None = None,
        wide: bool = False,
        batches_only: bool = False,
    ) -> None:
        self.output = output
        self.zone = zone
        self.topics = topics
        self.marks = marks
        self.batches_only = batches_only
        # An offset other than Z takes five columns more.
        self.clock = 13 if zone is UTC else 18
        self.cut = output.to_terminal and not wide
        self.day = ""
        self.opened = ""

    def entry(self, entry: Entry) -> None:
        if isinstance(entry, Fault):
            self.problem(entry)
        elif self.batches_only:
            self.batch(entry)
        else:
            for number, item in enumerate(entry.records):
                self.record(entry, item, number + entry.continued)

    def opening(self, file: str) -> None:
        """Begin a file."""
        style = self.output.style
        if self.opened:
            self.output.line()
        self.opened, self.day = file, ""
        self.output.line(style(printable(file), "name"))
        if self.batches_only:
            time = f"{'time':{self.clock + 11}}"
            head = f"  position   baseOffset  count  epoch  {time}    size  crc"
        else:
            head = f"   offset  {'time':{self.clock}} epoch  record"
        self.output.line(style(head, "quiet"))

    def record(self, entry: BatchEntry, item: LogRecord, number: int) -> None:
        batch, record, style = entry.batch, item.record, self.output.style
        clock = self._clock(record.timestamp)
        last = len(entry.records) - 1 + entry.continued
        border = "─" if last == 0 else "┌" if number == 0 else "└" if number == last else "│"
        mark = " "
        if not entry.valid:
            mark = "!"
        elif not item.is_control:
            mark = self._mark(record.offset)
        label = record_label(item)
        says = "not decoded" if item.data is None else printable(summary(item, self.topics.name))
        fixed = f"{record.offset:9}  {clock:{self.clock}} {batch.epoch:5} "
        room = self.output.width - len(fixed) - len(border) - len(mark) - 1
        label, says = self._fit(printable(label), says, room)
        self.output.line(
            style(fixed, "quiet" if item.name == "NoOpRecord" else "key")
            + style(border, "batch")
            + style(mark, "warn")
            + " "
            + style(label, "bad" if item.error else "type")
            + ("  " + says if says else "")
        )
        if item.data is None and record.value is not None:
            where = (
                f"{len(record.value)} bytes, the record begins at {position_in_file(batch, record)}"
            )
            self.output.line(f"{'':9}  {style(where, 'quiet')}")

    def _mark(self, offset: int) -> str:
        return " " if self.marks is None else _MARKS.get(self.marks.outcome(offset), " ")

    def _clock(self, timestamp: int) -> str:
        """Return the time of the day; write a line with the day first, if it is another one."""
        day, _, clock = iso(timestamp, self.zone).partition("T")
        if day != self.day:
            self.day = day
            self.output.line(self.output.style(f"{'':9}  {day}", "quiet"))
        return clock or day

    def no_ops(self, run: NoOpRun) -> None:
        """Write a run of no-ops as one line."""
        first, last = run.first.records[0].record, run.last.records[-1].record
        clock = self._clock(first.timestamp)
        fixed = f"{first.offset:9}  {clock:{self.clock}} {run.first.batch.epoch:5} "
        # Other records begin and end a transaction, so a run is either inside of one or outside.
        mark = self.output.style(self._mark(first.offset), "warn")
        words = no_ops(run.count, first.timestamp, last.timestamp)
        style = self.output.style
        self.output.line(style(f"{fixed} ", "quiet") + mark + style(f" {words}", "quiet"))

    def _fit(self, label: str, says: str, room: int) -> tuple[str, str]:
        if not self.cut or len(label) + 2 + len(says) <= room:
            return label, says
        room -= len(label) + 2
        return label, says[: max(room - 1, 0)] + "…"

    def batch(self, entry: BatchEntry) -> None:
        batch, header = entry.batch, entry.batch.header
        flags = " control" if batch.is_control else ""
        flags += f" {batch.compression}" if batch.compression != "none" else ""
        valid = f"{header.crc:08x}" if entry.valid else self.output.style("CRC WRONG", "bad")
        numbers = f"{batch.position:10}  {header.base_offset:11}  {header.record_count:5}"
        when = iso(header.max_timestamp, self.zone)
        self.output.line(
            f"{numbers}  {batch.epoch:5}  {when:{self.clock + 11}}  {batch.size:6}  {valid}{flags}"
        )

    def problem(self, problem: Fault) -> None:
        """Damage, at the place among the records where it lies."""
        size = kind = ""
        if isinstance(problem, LogFault):
            size = f", {problem.size} bytes" if problem.size else ""
            kind = f"{problem.kind.value}: "
        text = f"position {problem.position}{size}: {kind}{problem.sentence()}"
        self.output.line(self.output.style("  damage   " + printable(text), "bad"))
