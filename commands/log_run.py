"""One run of dump-log: which files, which records, which format, and how it ends.

Owns the order of work. Machine formats are rendered by `reports/log_render.py`, in several
processes where a file is large; the table, --topic, --head, --tail and --follow take one entry at
a time, in this process.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from kraftool.commands.log_follow import DumpFollower
from kraftool.commands.log_follow_live import LiveFollowing
from kraftool.commands.log_table import LogTable
from kraftool.commands.options import DumpLogFormat
from kraftool.commands.output import ColorWhen, ExitCode, Output, UsageError, printable
from kraftool.commands.times import as_usage, parse_time, time_zone
from kraftool.decoders.batch import RecordBatch
from kraftool.decoders.errors import KraftoolError
from kraftool.decoders.segment import Damage, DamageKind, ReadAt, scan
from kraftool.reports import log_text
from kraftool.reports.kafka_indexes import kafka_side_file
from kraftool.reports.log_dump import BatchEntry, Entry, Problem, Selection, TopicNames
from kraftool.reports.log_query import offset_range as read_range
from kraftool.reports.log_query import record_types
from kraftool.reports.log_render import Rendered, RenderPlan, render
from kraftool.reports.log_source import LogFile, log_files
from kraftool.reports.processes import quicken
from kraftool.reports.transactions import Transactions, find_transactions
from kraftool.storage.paths import Location
from kraftool.storage.source import ByteSource, FileSource

WORTH_SPLITTING = 8 << 20
"""Bytes from which on a file is worth several processes."""
_LARGEST_SIDE_FILE = 64 << 20
"""Kafka preallocates indexes of 10 MiB; what is larger than this is not read whole."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DumpRequest:
    """What the command line asked for, as it was written."""

    format: DumpLogFormat = DumpLogFormat.TABLE
    offsets: str = ""
    epoch: int | None = None
    types: list[str]
    topic: str = ""
    broker: int | None = None
    since: str = ""
    until: str = ""
    grep: str = ""
    control: bool | None = None
    transactions: str = ""
    snapshots: bool = False
    follow: bool = False
    batches_only: bool = False
    head: int | None = None
    tail: int | None = None
    wide: bool = False
    jobs: int = 0
    show_secrets: bool = False
    tz: str = "UTC"
    out: str = ""
    color: ColorWhen = ColorWhen.AUTO
    quiet: bool = False
    skip_record_metadata: bool = False


def _batches_of(file: LogFile) -> Iterator[RecordBatch | Damage]:
    with file.open() as source:
        yield from scan(source.read_at)


def selection_of(request: DumpRequest) -> Selection:
    """Read the filters; what cannot be read is a usage error."""
    first, last = offset_range(request.offsets)
    try:
        pattern = re.compile(request.grep) if request.grep else None
    except re.error as error:
        raise UsageError(f"--grep {request.grep!r} is not a regular expression: {error}") from None
    return Selection(
        first_offset=first,
        last_offset=last,
        epoch=request.epoch,
        types=frozenset().union(*map(_type, request.types)),
        topic=request.topic,
        broker=request.broker,
        since=parse_time(request.since, "--since"),
        until=parse_time(request.until, "--until"),
        grep=pattern,
        control=request.control,
    )


def _type(name: str) -> frozenset[str]:
    """The words of a record type, if there is one of that name."""
    return as_usage(record_types, name, "--type")


def check_type(name: str) -> None:
    """Raise UsageError for a --type that is none, with those that are called alike, or all."""
    _type(name)


def offset_range(text: str) -> tuple[int | None, int | None]:
    """Read --offsets."""
    return as_usage(read_range, text, "--offsets")


class LogRun:
    """Carries out one request."""

    def __init__(self, request: DumpRequest) -> None:
        if request.transactions not in ("", "mark", "hide"):
            raise UsageError(f"--transactions {request.transactions!r} is neither mark nor hide")
        if request.follow and request.format is DumpLogFormat.JSON:
            raise UsageError("--follow never ends, and a JSON document must", hint="use -o jsonl")
        if request.follow and (request.transactions or request.snapshots):
            raise UsageError("--follow goes without --transactions and --snapshots")
        self.request = request
        self.selection = selection_of(request)
        self.zone = time_zone(request.tz)
        self.verbatim = request.format is DumpLogFormat.KAFKA
        self.output = Output(color=request.color, quiet=request.quiet, out=request.out)
        self.topics = TopicNames()
        self.remaining = request.head
        self.last: deque[tuple[LogFile, Entry]] = deque()
        self.tail = request.tail
        self.following: DumpFollower | LiveFollowing | None = (
            DumpFollower() if request.follow else None
        )
        self.kept = 0
        self.passed = 0
        self.matched = False
        self.wrote = False
        self.marks: dict[str, Transactions] = {}
        self.table = LogTable(
            self.output,
            self.zone,
            topics=self.topics,
            wide=request.wide,
            batches_only=request.batches_only,
        )
        self.shown: LogFile | None = None

    def run(self, where: Sequence[str | Location]) -> None:
        """Dump PATHs, or a live leader's log, and end with the exit code that it came to."""
        quicken()
        if self.verbatim:
            self.output.note("kraftool: -o kafka is verbatim: secrets are not masked")
        request = self.request
        files: Iterable[LogFile] = log_files(
            where,
            self._unreadable,
            snapshots=request.snapshots,
            side_files=self.verbatim,
            passed=self._learn_topics,
            stray=lambda each: self.output.note(printable(f"{each.file}: {each.sentence()}")),
        )
        if request.transactions:
            files = list(files)
            self._find_transactions(files)
        self._open_document()
        try:
            if self._by_entry:
                self._entries(files)
            else:
                self._each(files, self._whole)
            if self.following is not None:
                self.following.run(self)
        finally:
            self._close_document()
        if self.selection.looks_into_records and not self.matched:
            self.output.note(
                "kraftool: nothing matched; what is older than the log stands in checkpoints,"
                " which --snapshots adds"
            )
        if request.topic and not self.topics.knows(request.topic):
            self.output.note(
                f"kraftool: no TopicRecord of {printable(request.topic)} was seen; partitions"
                " name topics by id, so give the id if you know it"
            )
        self.output.finish()

    @property
    def _by_entry(self) -> bool:
        request = self.request
        return (
            request.format is DumpLogFormat.TABLE
            or bool(request.topic)
            or request.head is not None
            or request.tail is not None
            or request.follow
        )

    def _plan(self, file: LogFile) -> RenderPlan:
        request, marks = self.request, self.marks.get(file.entry.directory)
        hide = request.transactions == "hide"
        return RenderPlan(
            format=request.format.value,
            selection=replace(self.selection, hidden=marks if hide else None),
            show_secrets=request.show_secrets or self.verbatim,
            batches_only=request.batches_only or file.is_topic,
            skip_record_metadata=request.skip_record_metadata,
            marks=marks,
        )

    def _find_transactions(self, files: Iterable[LogFile]) -> None:
        """Find the transactions of each directory, over all its segments."""
        logs: dict[str, list[LogFile]] = {}
        for file in files:
            if file.is_stream:
                raise UsageError(
                    "--transactions reads the log twice, which a stream cannot be",
                    hint="unpack the archive and name the directory",
                )
            if file.is_log:
                logs.setdefault(file.entry.directory, []).append(file)
        for directory, segments in logs.items():
            batches = chain.from_iterable(map(_batches_of, segments))
            self.marks[directory] = Transactions(tuple(find_transactions(batches)))

    def _learn_topics(self, file: LogFile) -> None:
        """Take the names of topics from a checkpoint that is not dumped itself."""
        if not self._names_topics:
            return
        with file.open() as source:
            for item in scan(source.read_at):
                if isinstance(item, RecordBatch) and not item.is_control:
                    self.topics.learn(item)

    @property
    def _names_topics(self) -> bool:
        return self.request.format is DumpLogFormat.TABLE or bool(self.request.topic)

    # Whole files, in machine formats.

    def _each(self, files: Iterable[LogFile], dump: Callable[[LogFile], None]) -> None:
        """Dump file after file; what one of them cannot give does not keep the others back."""
        for file in files:
            if self.remaining == 0:
                return
            try:
                dump(file)
            except UsageError:
                raise
            except KraftoolError as error:
                self._unreadable(error.message)

    def _whole(self, file: LogFile) -> None:
        with file.open() as source:
            if not file.has_batches:
                self._side_file(file, source)
                return
            self._begin(file)
            with self.output.progress(file.size, file.name) as progress:
                for piece in self._pieces(file, source):
                    self._put(piece.data)
                    self._report(file, piece.problems)
                    progress(piece.position)

    def _pieces(self, file: LogFile, source: ByteSource) -> Iterator[Rendered]:
        plan = self._plan(file)
        if isinstance(source, FileSource) and file.size >= WORTH_SPLITTING:
            from kraftool.reports.log_parallel import processes, render_in_parallel

            jobs = processes(self.request.jobs)
            if jobs > 1:
                return render_in_parallel(
                    plan, file.name, source.fileno(), source.read_at, file.size, jobs
                )
        return render(plan, file.name, source.read_at)

    def _side_file(self, file: LogFile, source: ByteSource) -> None:
        self._begin(file)
        text, findings = kafka_side_file(file.name, source.read_at(0, _LARGEST_SIDE_FILE))
        self._put(text.encode("utf-8", "surrogateescape"))
        for each in findings:
            self.output.problem(f"{file.name}: {each.describe()}")

    # One entry at a time.

    def _entries(self, files: Iterable[LogFile]) -> None:
        self._each(files, self._entries_of)
        while self.last:
            self._show(*self.last.popleft())
        self.tail = None
        if self.passed:
            self.output.note(f"kraftool: {self.passed} problem(s) before what --tail shows")

    def _entries_of(self, file: LogFile) -> None:
        plan = self._plan(file)
        self.write = plan.renderer()
        self.dump = plan.dump(self.topics if self._names_topics else None)
        self.table.marks, self.table.batches_only = plan.marks, plan.batches_only
        with file.open() as source:
            if not file.has_batches:
                self._side_file(file, source)
                return
            if self.tail is None:
                self._begin(file)
            if self.following is not None:
                self.following.start(file)
            with self.output.progress(file.size, file.name) as progress:
                self.take_all(file, source.read_at, progress=progress)

    def take_all(
        self,
        file: LogFile,
        read_at: ReadAt,
        position: int = 0,
        *,
        progress: Callable[[int], None] = lambda position: None,
    ) -> None:
        """Show what a file holds from a position on, as far as it is selected."""
        waiting: list[Damage] = []
        for item in scan(read_at, position):
            if self.following is not None:
                if isinstance(item, Damage):
                    # Perhaps a batch that is half written: told once a whole one follows.
                    waiting.append(item)
                    continue
                self.following.saw(file, item)
            for each in (*waiting, item):
                for entry in self.dump.item(file.name, each):
                    self._take(file, entry)
            waiting.clear()
            progress(item.position)
            if self.remaining == 0:
                return

    def _take(self, file: LogFile, entry: Entry) -> None:
        """Show an entry, or keep it while it may be among the last."""
        if isinstance(entry, Problem):
            self._report(file, [entry])
        if isinstance(entry, BatchEntry) and self.remaining is not None:
            entry = self._first(entry, self.remaining)
            self.remaining -= self._weight(entry)
        if self.tail is None:
            self._show(file, entry)
            return
        self.last.append((file, entry))
        self.kept += self._weight(entry)
        while self.last and self.kept - self._weight(self.last[0][1]) >= self.tail:
            gone = self.last.popleft()[1]
            self.kept -= self._weight(gone)
            self.passed += isinstance(gone, Problem)
        if self.kept > self.tail and self.last:
            file, oldest = self.last[0]
            if isinstance(oldest, BatchEntry) and not self.dump.batches_only:
                surplus = self.kept - self.tail
                self.last[0] = (file, replace(oldest, records=oldest.records[surplus:]))
                self.kept -= surplus

    def _weight(self, entry: Entry) -> int:
        if isinstance(entry, Problem):
            return 0
        return 1 if self.dump.batches_only else len(entry.records)

    def _first(self, entry: BatchEntry, count: int) -> BatchEntry:
        if self.dump.batches_only or len(entry.records) <= count:
            return entry
        return replace(entry, records=entry.records[:count])

    def _show(self, file: LogFile, entry: Entry) -> None:
        self._begin(file)
        if self.request.format is DumpLogFormat.TABLE:
            self.matched = self.matched or isinstance(entry, BatchEntry)
            self.table.entry(entry)
        else:
            self._put(self.write(entry))

    # Documents and what goes wrong.

    def _begin(self, file: LogFile) -> None:
        """Print what opens a file, once."""
        if self.shown is file:
            return
        self.shown = file
        if file.is_topic and not self.request.batches_only:
            self.output.note(
                f"kraftool: {file.name} is the log of a topic, not of metadata: batches only"
            )
        if self.verbatim:
            self.output.write(log_text.kafka_opening(file.name).encode("utf-8", "surrogateescape"))
        elif self.request.format is DumpLogFormat.TABLE:
            self.table.opening(file.name)

    def _open_document(self) -> None:
        if self.request.format is DumpLogFormat.JSON:
            self.output.write(b'{"schemaVersion":1,"entries":[\n')
        elif self.request.format is DumpLogFormat.CSV:
            self.output.write(",".join(log_text.CSV_COLUMNS) + "\n")

    def _close_document(self) -> None:
        if self.request.format is DumpLogFormat.JSON:
            self.output.write(b"\n]}\n")

    def _put(self, data: bytes) -> None:
        if not data:
            return
        if self.request.format is DumpLogFormat.JSON:
            data = (b",\n" if self.wrote else b"") + data.rstrip(b"\n").replace(b"\n", b",\n")
        self.wrote = self.matched = True
        self.output.write(data)

    def _report(self, file: LogFile, problems: Iterable[Problem]) -> None:
        for problem in problems:
            if problem.kind in (DamageKind.TORN_TAIL, DamageKind.ZERO_TAIL) and file.is_live():
                self.output.note(
                    f"kraftool: {printable(file.name)}: position {problem.position}:"
                    " a batch is being written by the running node"
                )
                continue
            if self.verbatim:
                text = f"{file.name}: position {problem.position}: {problem.sentence()}"
                self.output.problem(text)
            else:
                self.output.raise_code(ExitCode.UNREADABLE)

    def _unreadable(self, text: str) -> None:
        self.output.problem(text)
