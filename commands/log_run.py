"""One run of dump-log: which files, which records, which format, and how it ends.

Owns the order of work. Machine formats are rendered by `reports/logs/render.py`, in several
processes where a file is large; the table, --topic, --head, --tail and --follow take one entry at
a time, in this process. A sieve passes over the batches that have nothing of the selection.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain

from kraftool.commands.dump_log_options import DumpLogOptions
from kraftool.commands.exit_code import ExitCode, UsageError
from kraftool.commands.log_follow import DumpFollower, Following
from kraftool.commands.log_limits import tell_limits
from kraftool.commands.log_noops import NoOpFolder, NoOpRun, first_of, has_uncounted, weight
from kraftool.commands.log_selection import selection_of
from kraftool.commands.log_table import LogTable
from kraftool.commands.log_tail import LastEntries
from kraftool.commands.options import DumpLogFormat, NoOps
from kraftool.commands.output import Output, printable
from kraftool.commands.times import time_zone
from kraftool.decoders.batch import RecordBatch
from kraftool.decoders.errors import Fault, KraftoolError
from kraftool.decoders.fault import FaultKind, LogFault
from kraftool.decoders.segment import BatchSpan, ReadAt
from kraftool.decoders.walk import BEGINNING, Faulty, Item, Walk, WalkState
from kraftool.reports.logs import text as log_text
from kraftool.reports.logs.beginnings import LogBeginnings
from kraftool.reports.logs.dump import BatchEntry, Entry, TopicNames, is_decoded
from kraftool.reports.logs.kafka_indexes import kafka_side_file
from kraftool.reports.logs.native_sieve import Sifter, counting_sieve, left_of, sieve_for, sieve_of
from kraftool.reports.logs.processes import quicken
from kraftool.reports.logs.render import Rendered, RenderPlan, render
from kraftool.reports.logs.source import LogFile, is_reread, log_files
from kraftool.reports.logs.transactions import Transactions, find_transactions
from kraftool.reports.text.json_document import SCHEMA_VERSION
from kraftool.reports.text.words import many
from kraftool.storage.paths import Location
from kraftool.storage.source import ByteSource, FileSource

WORTH_SPLITTING = 8 << 20
"""Bytes from which on a file is worth several processes."""
_TAILS = (FaultKind.TORN_TAIL, FaultKind.ZERO_TAIL)
_LARGEST_SIDE_FILE = 64 << 20
"""Kafka preallocates indexes of 10 MiB; what is larger than this is not read whole."""


def _items_of(file: LogFile) -> Iterator[Item]:
    from kraftool.image.loader import TRANSACTION_RECORDS

    with file.open() as source:
        sieve = sieve_for(TRANSACTION_RECORDS)
        yield from left_of(Walk(source.read_at).spans(), sieve)


class LogRun:
    """Carries out what was asked for."""

    def __init__(self, options: DumpLogOptions) -> None:
        if options.transactions not in ("", "mark", "hide"):
            raise UsageError(f"--transactions {options.transactions!r} is neither mark nor hide")
        if options.follow and options.output is DumpLogFormat.JSON:
            raise UsageError("--follow never ends, and a JSON document must", hint="use -o jsonl")
        if options.follow and (options.transactions or options.snapshots):
            raise UsageError("--follow goes without --transactions and --snapshots")
        self.options = options
        self.selection = selection_of(options)
        self.zone = time_zone(options.tz)
        self.verbatim = options.output is DumpLogFormat.KAFKA
        self.output = Output(color=options.color, quiet=options.quiet, out=options.out)
        self.topics = TopicNames()
        self.remaining = options.head
        self.following: Following | None = DumpFollower() if options.follow else None
        self.ends: dict[str, tuple[str, WalkState]] = {}
        """The segment that was read last, and the state of the walk behind it, by directory."""
        self.held: list[tuple[LogFile, Faulty]] = []
        self.late_start: WalkState | None = None
        """Where the first file begins, if --tail shows nothing of what comes before."""
        self.matched = False
        self.wrote = False
        self.marks: dict[str, Transactions] = {}
        self.table = LogTable(
            self.output,
            self.zone,
            topics=self.topics,
            wide=options.wide,
            batches_only=options.batches_only,
        )
        self.shown: LogFile | None = None
        self.folds = (
            options.noops is NoOps.FOLD
            and options.output is DumpLogFormat.TABLE
            and not options.batches_only
            and not self.selection.names_type("NoOpRecord")
        )
        self.folder = NoOpFolder(self._take)
        self.has_uncounted = False
        """True if no-ops were shown that --head and --tail do not count."""
        self.last: LastEntries | None = None
        if options.tail is not None:
            self.last = LastEntries(options.tail, folds=self.folds)
        self.sieve: Sifter | None = None

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
        beginnings = LogBeginnings()
        files = beginnings.of(files)
        if self.selection.grep is not None and all(map(is_reread, where)):
            files = list(files)
            self._match_topics(files, self.selection.grep)
        if options.transactions:
            files = list(files)
            self._find_transactions(files)
        self._open_document()
        try:
            if self._by_entry:
                self._entries(self._from_tail_start(files))
            else:
                self._each(files, self._whole)
            if self.following is not None:
                self.following.run(self)
        finally:
            self.end_run()
            self._close_document()
        if self.has_uncounted and (options.head is not None or options.tail is not None):
            self.output.note(
                "kraftool: no-ops are folded and not counted; --noops show shows and counts them"
            )
        seen = self.matched, options.snapshots
        tell_limits(self.output, self.selection, beginnings, self.topics, *seen)
        self.output.finish()

    @property
    def _by_entry(self) -> bool:
        options = self.options
        return (
            options.output is DumpLogFormat.TABLE
            or bool(options.topic)
            or options.head is not None
            or options.tail is not None
            or options.follow
        )

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
            for item in left_of(Walk(source.read_at).spans(), sieve_for(("TopicRecord",))):
                if isinstance(item, RecordBatch) and not item.is_control:
                    self.topics.learn(item)

    def _match_topics(self, files: Iterable[LogFile], pattern: re.Pattern[str]) -> None:
        """Let --grep find the records of a topic by its name, wherever its TopicRecord is."""
        for file in files:
            if file.has_batches and not file.is_topic:
                self._learn_topics(file)
        self.selection = replace(self.selection, grep_topics=self.topics.matching(pattern))

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
        return render(plan, file.name, source.read_at, start, reuses=True)

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
        self._begin(file)
        text, findings = kafka_side_file(file.name, source.read_at(0, _LARGEST_SIDE_FILE))
        self._put(text.encode("utf-8", "surrogateescape"))
        for finding in findings:
            self.output.problem(f"{file.name}: {finding.describe()}")

    # One entry at a time.

    def _from_tail_start(self, files: Iterable[LogFile]) -> Iterable[LogFile]:
        """Return the files without those that come before what --tail shows."""
        if self.last is None:
            return files
        from kraftool.commands.log_tail_start import files_from, unread_words

        left, start = files_from(
            self.options,
            self.selection,
            files,
            lambda file: self._plan(file).dump(None),
            folds=self.folds,
        )
        if start is not None:
            self.late_start = WalkState.at(start.position)
            self.output.note(unread_words(start, self.last.most))
        return left

    def _entries(self, files: Iterable[LogFile]) -> None:
        self._each(files, self._entries_of)
        self.end_run()
        last, self.last = self.last, None
        if last is None:
            return
        shown, passed = last.shown()
        for file, entry in shown:
            self._show(file, entry)
        if passed:
            self.output.note(f"kraftool: {many(passed, 'problem')} before what --tail shows")

    def _entries_of(self, file: LogFile) -> None:
        self.show_held()
        plan = self._plan(file)
        self.write = plan.renderer()
        self.dump = plan.dump(self.topics if self._names_topics else None)
        self.sieve = sieve_of(self.dump)
        self.counter = None
        if self.last is not None and self.remaining is None:
            self.counter = counting_sieve(self.dump, folds=self.folds)
        self.table.marks, self.table.batches_only = plan.marks, plan.batches_only
        with file.open() as source:
            if not file.has_batches:
                self._side_file(file, source)
                return
            if self.last is None:
                self._begin(file)
            if self.following is not None:
                self.following.start(file)
            with self.output.progress(file.size, file.name) as progress:
                walk = Walk(source.read_at, self._start(file))
                for item in walk.spans():
                    if self.following is not None:
                        if isinstance(item, Faulty):
                            self.held.append((file, item))
                            continue
                        self.show_held()
                        for batch in left_of(iter((item,)), None):
                            if isinstance(batch, RecordBatch):
                                self.following.saw(file, batch)
                    self._items(file, item)
                    progress(item.position)
                    if self.remaining == 0:
                        return
                self.end_run()
                self._ends_at(file, walk.state)

    def take_all(
        self,
        file: LogFile,
        read_at: ReadAt,
        state: WalkState = BEGINNING,
        *,
        stop: int | None = None,
        known: Collection[Faulty] = (),
    ) -> list[Faulty]:
        """Show what a file holds from a state on, as far as it is selected; without the damage that
        is known. Returns what is damaged."""
        damaged: list[Faulty] = []
        for item in Walk(read_at, state, stop=stop).spans():
            if isinstance(item, Faulty):
                damaged.append(item)
            if not isinstance(item, Faulty) or item not in known:
                self._items(file, item)
            if self.remaining == 0:
                break
        return damaged

    def _items(self, file: LogFile, item: Item | BatchSpan) -> None:
        """Show an item, or what is selected of a span."""
        if self.last is not None and self.counter is not None and isinstance(item, BatchSpan):
            for batch in self.last.take_span(file, self.dump, item, self.counter):
                self._item(file, batch)
            return
        for each in left_of(iter((item,)), self.sieve):
            self._item(file, each)
            if self.remaining == 0:
                return

    def _item(self, file: LogFile, item: Item) -> None:
        for entry in self.dump.item(file.name, item):
            if self.folds and self.last is None:
                self.folder.take(file, entry)
            else:
                self._take(file, entry)

    def show_held(self) -> None:
        """Show the damage that was held: at the end of a log that is followed it may be half a
        batch, until a sound one or another file follows."""
        held, self.held = self.held, []
        for each in held:
            self._item(*each)

    def end_run(self) -> None:
        """Show the run of no-ops that is being folded."""
        self.folder.flush()

    def _take(self, file: LogFile, entry: Entry | NoOpRun) -> None:
        """Show an entry, or keep it while it may be among the last."""
        if isinstance(entry, Fault):
            self._report(file, [entry])
        if isinstance(entry, BatchEntry) and self.remaining is not None:
            if not self.dump.batches_only:
                entry = first_of(entry, self.remaining, folds=self.folds)
            self.remaining -= weight(entry, folds=self.folds, batches_only=self.dump.batches_only)
        if self.last is None:
            self._show(file, entry)
        elif not isinstance(entry, NoOpRun):  # what --tail shows is folded at the end
            self.last.add(file, self.dump, entry)

    def _show(self, file: LogFile, entry: Entry | NoOpRun) -> None:
        self._begin(file)
        self.has_uncounted |= has_uncounted(entry, folds=self.folds)
        if isinstance(entry, NoOpRun):
            self.matched = True
            self.table.no_ops(entry)
        elif self.options.output is DumpLogFormat.TABLE:
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
        if file.is_topic and not self.options.batches_only:
            self.output.note(
                f"kraftool: {file.name} is the log of a topic, not of metadata: batches only"
            )
        if self.verbatim:
            self.output.write(log_text.kafka_opening(file.name).encode("utf-8", "surrogateescape"))
        elif self.options.output is DumpLogFormat.TABLE:
            self.table.opening(file.name)

    def _open_document(self) -> None:
        if self.options.output is DumpLogFormat.JSON:
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
