"""The place where `--tail` begins to read, found backwards from the end of the log.

Owns which runs may begin late, how far back they look, and the words on what is not read. A filter
may select nothing for gigabytes, so a run with a filter reads the log from its beginning.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import chain

from kraftool.commands.dump_log_options import DumpLogOptions
from kraftool.commands.log_noops import has_only_no_ops, weight
from kraftool.commands.options import DumpLogFormat
from kraftool.decoders.batch import RecordBatch
from kraftool.decoders.errors import KraftoolError
from kraftool.decoders.walk import Item
from kraftool.reports.logs.dump import LogDump, Selection
from kraftool.reports.logs.source import LogFile
from kraftool.reports.text.words import many, size

WHOLE = 1 << 20
"""Logs up to this size are read from their beginning: it takes no time, and damage is counted."""
MOST = 32 << 20
"""Bytes to look through. An idle controller writes about 15 MiB of no-ops a day."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TailStart:
    """A batch border from which on the log has what --tail shows, or what the bound allows."""

    number: int
    """Which of the files."""
    position: int
    before: int
    """Bytes of the log that are not read."""
    read: int
    """Bytes from here on."""
    record_count: int
    """Records from here on that --tail counts."""


def may_begin_late(options: DumpLogOptions, selection: Selection) -> bool:
    """True for a table of the last records that needs nothing from the beginning of the log."""
    return (
        options.output is DumpLogFormat.TABLE
        and options.tail is not None
        and options.head is None
        and not options.follow
        and not options.transactions
        and selection == Selection()
    )


def files_from(
    options: DumpLogOptions,
    selection: Selection,
    files: Iterable[LogFile],
    dump_of: Callable[[LogFile], LogDump],
    *,
    folds: bool,
) -> tuple[Iterable[LogFile], TailStart | None]:
    """Return the files without those that come before what --tail shows, and where to begin."""
    if options.tail is None or not may_begin_late(options, selection):
        return files, None
    taken, left = take_files(iter(files))
    with suppress(KraftoolError):  # reading forwards reports it
        start = find_tail_start(taken, options.tail, dump_of, folds=folds)
        if start is not None:
            return taken[start.number :], start
    return left, None


def take_files(files: Iterator[LogFile]) -> tuple[list[LogFile], Iterable[LogFile]]:
    """Return the files if all can be read from anywhere, and what to read if one cannot be.

    The next file of a stream comes only after the one before was read.
    """
    taken: list[LogFile] = []
    for file in files:
        taken.append(file)
        if not file.location.is_on_disk:
            return [], chain(taken, files)
    return taken, taken


def find_tail_start(
    files: Sequence[LogFile], enough: int, dump_of: Callable[[LogFile], LogDump], *, folds: bool
) -> TailStart | None:
    """Read backwards until enough records are found; None if the log is to be read whole.

    Raises KraftoolError if a file cannot be read.
    """
    total = sum(file.size for file in files)
    if total <= WHOLE:
        return None
    record_count = read = 0
    for number in reversed(range(len(files))):
        dump = dump_of(files[number])
        for position, end, items in _backwards(files[number]):
            read += end - position
            record_count += sum(_weight(item, dump, folds=folds) for item in items)
            if record_count >= enough or read >= MOST:
                before = sum(file.size for file in files[:number]) + position
                if not before:
                    return None
                return TailStart(
                    number=number,
                    position=position,
                    before=before,
                    read=read,
                    record_count=record_count,
                )
    return None


def _weight(item: Item, dump: LogDump, *, folds: bool) -> int:
    # Nearly all of an idle log: these need no decoding.
    if folds and isinstance(item, RecordBatch) and has_only_no_ops(item):
        return 0
    counts = partial(weight, folds=folds, batches_only=dump.batches_only)
    return sum(map(counts, dump.item("", item)))


def _backwards(file: LogFile) -> Iterator[tuple[int, int, Sequence[Item]]]:
    """Yield blocks from the end of a file on: where each begins and ends, and what is in it."""
    # A start that reads a small log whole does not need these.
    from kraftool.reports.browse.blocks import LogBlocks

    blocks = LogBlocks((file,))
    try:
        segment = blocks.bases[0]
        end = blocks.size(segment)
        while end > 0:
            block = blocks.backward(segment, end)
            yield block.start, end, block.items
            end = block.start
    finally:
        blocks.close()


def unread_words(start: TailStart, tail: int) -> str:
    """Return what to say of the part of the log that is not read."""
    first = f"the first {size(start.before)} of the log"
    whole = "--offsets 0.. reads all of it"
    if start.record_count >= tail:
        return f"kraftool: --tail did not read or check {first}; {whole}"
    return (
        f"kraftool: --tail found only {many(start.record_count, 'record')} in the last"
        f" {size(start.read)} and did not read or check {first}; {whole}"
    )
