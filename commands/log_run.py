"""One run of dump-log: its files, its selection, its format and its exit code.

Owns the order of work. `reports/logs/render.py` renders machine formats, in several
threads or processes if a file is large. `log_entries.py` has the runs that take one entry at a
time. A dump in Kafka's text imports only what it writes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING

from kraftool.commands.dump_log_options import DumpLogOptions
from kraftool.commands.exit_code import ExitCode, UsageError
from kraftool.commands.log_selection import selection_of
from kraftool.commands.options import DumpLogFormat
from kraftool.commands.output import printable
from kraftool.commands.times import time_zone
from kraftool.decoders.batch import RecordBatch
from kraftool.decoders.errors import Fault, KraftoolError
from kraftool.decoders.fault import FaultKind, LogFault
from kraftool.decoders.segment import BatchSpan
from kraftool.decoders.walk import BEGINNING, Item, Walk, WalkState
from kraftool.reports.logs import text as log_text
from kraftool.reports.logs.dump import Selection, TopicNames, is_decoded
from kraftool.reports.logs.processes import quicken
from kraftool.reports.logs.render import Rendered, RenderPlan, render
from kraftool.reports.logs.source import LogFile, log_files
from kraftool.storage.paths import Location
from kraftool.storage.source import ByteSource, FileSource

if TYPE_CHECKING:
    from kraftool.reports.logs.native_sieve import Sifter
    from kraftool.reports.logs.transactions import Transactions

WORTH_SPLITTING = 8 << 20
"""Bytes from which on a file is worth several processes."""
_TAILS = (FaultKind.TORN_TAIL, FaultKind.ZERO_TAIL)
_LARGEST_SIDE_FILE = 64 << 20
"""Kafka preallocates indexes of 10 MiB; what is larger than this is not read whole."""


def _items_of(file: LogFile) -> Iterator[Item]:
    from kraftool.image.loader import TRANSACTION_RECORDS
    from kraftool.reports.logs.native_sieve import left_of, sieve_for

    with file.open() as source:
        sieve = sieve_for(TRANSACTION_RECORDS)
        yield from left_of(Walk(source.read_at).spans(), sieve)


class LogRun:
    """Carries out what was asked for, whole files at a time."""

    def __init__(self, options: DumpLogOptions) -> None:
        if options.transactions not in ("", "mark", "hide"):
            raise UsageError(f"--transactions {options.transactions!r} is neither mark nor hide")
        if options.follow and options.output is DumpLogFormat.JSON:
            raise UsageError("--follow never ends, and a JSON document must", hint="use -o jsonl")
        if options.follow and (options.transactions or options.snapshots):
            raise UsageError("--follow goes without --transactions and --snapshots")
        self.options = options
        selection = selection_of(options)
        self.topics = TopicNames(selection.grep)
        self.selection = replace(selection, grep_topics=self.topics.matching)
        self.zone = time_zone(options.tz)
        self.verbatim = options.output is DumpLogFormat.KAFKA
        self.output = options.printing.open()
        self.remaining = options.head
        self.ends: dict[str, tuple[str, WalkState]] = {}
        """The segment that was read last, and the state of the walk behind it, by directory."""
        self.late_start: WalkState | None = None
        """Where the first file begins, if --tail shows nothing of what comes before."""
        self.matched = False
        self.wrote = False
        self.marks: dict[str, Transactions] = {}
        self.shown: LogFile | None = None
        self.has_uncounted = False
        """True if no-ops were shown that --head and --tail do not count."""

    def run(self, where: Sequence[str | Location]) -> None:
        """Dump PATHs, or a live leader's log, and end with the exit code that it came to."""
        quicken()
        if self.verbatim:
            self.output.note("kraftool: -o kafka is verbatim: secrets are not masked")
        options = self.options
        files: Iterable[LogFile] = log_files(
            where,
            self._unreadable,
            snapshots=options.snapshots,
            side_files=self.verbatim,
            passed=self._learn_topics,
            stray=lambda finding: self.output.note(
                printable(f"{finding.file}: {finding.sentence()}")
            ),
        )
        if asks := self.selection != Selection():
            from kraftool.commands.log_limits import tell_limits
            from kraftool.reports.logs.log_starts import LogBeginnings

            beginnings = LogBeginnings()
            files = beginnings.of(files)
        if self.selection.grep is not None:
            files = self._match_topics(files)
        if options.transactions:
            files = list(files)
            self._find_transactions(files)
        self._open_document()
        try:
            self._dump(files)
        finally:
            self.end_run()
            self._close_document()
        if self.has_uncounted and (options.head is not None or options.tail is not None):
            self.output.note(
                "kraftool: no-ops are folded and not counted; --noops show shows and counts them"
            )
        if asks:
            seen = self.matched, options.snapshots
            tell_limits(self.output, self.selection, beginnings, self.topics, *seen)
        self.output.finish()

    def _dump(self, files: Iterable[LogFile]) -> None:
        """Dump all files."""
        self._each(files, self._whole)

    def end_run(self) -> None:
        """Show what is kept back."""

    def _plan(self, file: LogFile) -> RenderPlan:
        options, marks = self.options, self.marks.get(file.entry.directory)
        hide = options.transactions == "hide"
        return RenderPlan(
            format=options.output.value,
            selection=replace(self.selection, hidden=marks if hide else None),
            show_secrets=options.show_secrets or self.verbatim,
            batches_only=options.batches_only or file.is_topic,
            skip_record_metadata=options.skip_record_metadata,
            marks=marks,
        )

    def _find_transactions(self, files: Iterable[LogFile]) -> None:
        """Find the transactions of each directory, over all its segments."""
        from kraftool.reports.logs.transactions import Transactions, find_transactions

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
            items = chain.from_iterable(map(_items_of, segments))
            self.marks[directory] = Transactions(tuple(find_transactions(items)))

    def _learn_topics(self, file: LogFile) -> None:
        """Take the names of topics from a checkpoint that is not dumped itself."""
        if not self._names_topics:
            return
        with file.open() as source:
            self._learn(Walk(source.read_at).spans())

    def _learn(self, items: Iterator[Item | BatchSpan]) -> None:
        """Take the names of topics from items of a walk, decoding nothing else."""
        from kraftool.reports.logs.native_sieve import left_of

        for item in left_of(items, self._topic_sieve):
            if isinstance(item, RecordBatch) and not item.is_control:
                self.topics.learn(item)

    @cached_property
    def _topic_sieve(self) -> Sifter | None:
        from kraftool.reports.logs.native_sieve import sieve_for

        return sieve_for(("TopicRecord",))

    def _match_topics(self, files: Iterable[LogFile]) -> Iterable[LogFile]:
        """Let --grep find the records of a topic by its name. Read all names first: a slice of a
        file is rendered without the part before it."""
        files = list(files)
        for file in files:
            if file.has_batches and not file.is_topic:
                with suppress(KraftoolError):  # its dump reports it
                    self._learn_topics(file)
        return files

    @property
    def _names_topics(self) -> bool:
        wants = self.options.topic or self.options.grep
        return self.options.output is DumpLogFormat.TABLE or bool(wants)

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
                    progress(piece.state.position)
                    self._ends_at(file, piece.state)

    def _pieces(self, file: LogFile, source: ByteSource) -> Iterator[Rendered]:
        plan, start = self._plan(file), self._start(file)
        if isinstance(source, FileSource) and file.size >= WORTH_SPLITTING:
            from kraftool.reports.logs.parallel import processes, render_in_parallel

            jobs = processes(self.options.jobs)
            if jobs > 1:
                return render_in_parallel(plan, file.name, source, file.size, jobs, start)
        return render(plan, file.name, source.read_at, start)

    def _start(self, file: LogFile) -> WalkState:
        """The state in which a segment begins: behind the one before it in its directory.

        Between segments that were named one by one, others may lie. In a tar stream they come in
        any order, and a directory that is named twice begins again.
        """
        late, self.late_start = self.late_start, None
        if late is not None:
            return late
        before = self.ends.get(file.entry.directory)
        if before is None or not file.is_log or file.is_named or file.is_stream:
            return BEGINNING
        name, state = before
        return state.next_segment() if name < file.entry.basename else BEGINNING

    def _ends_at(self, file: LogFile, state: WalkState) -> None:
        if file.is_log:
            self.ends[file.entry.directory] = file.entry.basename, state

    def _side_file(self, file: LogFile, source: ByteSource) -> None:
        from kraftool.reports.logs.kafka_indexes import kafka_side_file

        self._begin(file)
        text, findings = kafka_side_file(file.name, source.read_at(0, _LARGEST_SIDE_FILE))
        self._put(text.encode("utf-8", "surrogateescape"))
        for finding in findings:
            self.output.problem(f"{file.name}: {finding.describe()}")

    # Documents and what goes wrong.

    def _begin(self, file: LogFile) -> None:
        """Print what opens a file, once."""
        if self.shown is file:
            return
        self.shown = file
        if file.is_topic and not self.options.batches_only:
            self.output.note(
                f"kraftool: {file.name} is the log of a topic, not of metadata: batches only"
            )
        self._open(file)

    def _open(self, file: LogFile) -> None:
        """Write what the format has before the entries of a file."""
        if self.verbatim:
            self.output.write(log_text.kafka_opening(file.name).encode("utf-8", "surrogateescape"))

    def _open_document(self) -> None:
        if self.options.output is DumpLogFormat.JSON:
            from kraftool.reports.text.json_document import SCHEMA_VERSION

            self.output.write(b'{"schemaVersion":%d,"entries":[\n' % SCHEMA_VERSION)
        elif self.options.output is DumpLogFormat.CSV:
            self.output.write(",".join(log_text.CSV_COLUMNS) + "\n")

    def _close_document(self) -> None:
        if self.options.output is DumpLogFormat.JSON:
            self.output.write(b"\n]}\n")

    def _put(self, data: bytes | memoryview) -> None:
        if not data:
            return
        if self.options.output is DumpLogFormat.JSON:
            data = bytes(data)
            data = (b",\n" if self.wrote else b"") + data.rstrip(b"\n").replace(b"\n", b",\n")
        self.wrote = self.matched = True
        self.output.write(data)

    def _report(self, file: LogFile, problems: Iterable[Fault]) -> None:
        for problem in problems:
            is_tail = isinstance(problem, LogFault) and problem.kind in _TAILS
            if is_tail and file.is_live():
                self.output.note(
                    f"kraftool: {printable(file.name)}: position {problem.position}:"
                    " a batch is being written by the running node"
                )
                continue
            # Kafka cuts the torn tail of a log. What a checkpoint lacks is lost.
            keeps_all = is_decoded(problem) and file.is_log
            code = ExitCode.FINDING if keeps_all else ExitCode.UNREADABLE
            if self.verbatim:
                text = f"{file.name}: position {problem.position}: {problem.sentence()}"
                self.output.problem(text, code=code)
            else:
                self.output.raise_code(code)

    def _unreadable(self, text: str) -> None:
        self.output.problem(text)
