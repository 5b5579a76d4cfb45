"""The runs of dump-log that take one entry at a time, in this process.

Owns the table, --topic, --head, --tail and --follow. A sieve skips the batches that have no
record of the selection.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from kraftool.commands.dump_log_options import DumpLogOptions
from kraftool.commands.log_follow import DumpFollower, Following
from kraftool.commands.log_noops import NoOpFolder, NoOpRun, first_of, has_uncounted, weight
from kraftool.commands.log_run import LogRun
from kraftool.commands.log_table import LogTable
from kraftool.commands.log_tail import LastEntries
from kraftool.commands.options import DumpLogFormat, NoOps
from kraftool.decoders.batch import RecordBatch
from kraftool.decoders.errors import Fault
from kraftool.decoders.segment import BatchSpan, ReadAt
from kraftool.decoders.walk import BEGINNING, Faulty, Item, Walk, WalkState
from kraftool.reports.logs.dump import BatchEntry, Entry
from kraftool.reports.logs.native_sieve import Sifter, counting_sieve, left_of, sieve_of
from kraftool.reports.logs.source import LogFile
from kraftool.reports.text.words import many


class EntryRun(LogRun):
    """Carries out what was asked for, entry by entry."""

    def __init__(self, options: DumpLogOptions) -> None:
        super().__init__(options)
        self.following: Following | None = DumpFollower() if options.follow else None
        self.held: list[tuple[LogFile, Faulty]] = []
        self.table = LogTable(
            self.output,
            self.zone,
            topics=self.topics,
            wide=options.wide,
            batches_only=options.batches_only,
        )
        self.folds = (
            options.noops is NoOps.FOLD
            and options.output is DumpLogFormat.TABLE
            and not options.batches_only
            and not self.selection.names_type("NoOpRecord")
        )
        self.folder = NoOpFolder(self._take)
        self.last: LastEntries | None = None
        if options.tail is not None:
            self.last = LastEntries(options.tail, folds=self.folds)
        self.sieve: Sifter | None = None

    def _dump(self, files: Iterable[LogFile]) -> None:
        self._entries(self._from_tail_start(files))
        if self.following is not None:
            self.following.run(self)

    def _open(self, file: LogFile) -> None:
        if self.options.output is DumpLogFormat.TABLE:
            self.table.opening(file.name)
        else:
            super()._open(file)

    def _match_topics(self, files: Iterable[LogFile]) -> Iterable[LogFile]:
        """Return the files. This run learns the names of topics while it shows the records."""
        return files

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
            self.output.note(
                f"kraftool: {many(passed, 'problem')} before the part that --tail shows"
            )

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
        """Show the selected entries of a file from a state on, without known damage. Return the
        other damage."""
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
        if self.selection.grep is not None and not file.is_topic:
            self._learn(iter((item,)))
        if self.last is not None and self.counter is not None and isinstance(item, BatchSpan):
            for batch in self.last.take_span(file, self.dump, item, self.counter):
                self._item(file, batch)
            return
        for item_left in left_of(iter((item,)), self.sieve):
            self._item(file, item_left)
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
        for held_item in held:
            self._item(*held_item)

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
