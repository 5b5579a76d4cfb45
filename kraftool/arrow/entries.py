"""The entries of one range of a file, as dump-log's: batches with their records, and problems.

Owns the passing over of what nobody asked for, before it is decoded where that can be. What is
decoded, masked and told of damage is the log dump's own doing, so that the answers are the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from operator import itemgetter
from typing import TYPE_CHECKING

from kraftool.arrow.narrowing import Narrowing
from kraftool.arrow.splits import Split
from kraftool.decoders.errors import DecodeError, Fault, KraftoolError
from kraftool.decoders.log_record import LogRecord, decode_batch
from kraftool.decoders.redact import SENSITIVE_KEYS
from kraftool.decoders.segment import BatchSpan
from kraftool.decoders.walk import Faulty, Item, Walk, WalkState, batch_of
from kraftool.reports.logs.dump import BatchEntry, Entry, LogDump, masked

if TYPE_CHECKING:
    from kraftool.arrow.native_columns import NativeColumns, NativeRows

_MOST_FOR_PYTHON = 64
"""Batches that Python reads before the native reader is asked again."""
_PART = 10_000
"""Records of one batch that are in memory at a time: a small gzip batch can hold millions."""

_api_key, _error = (itemgetter(LogRecord._fields.index(name)) for name in ("api_key", "error"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Unreadable(Fault):
    """The file itself cannot be read, so that neither its records nor its batches are known."""


def type_text(item: LogRecord) -> str:
    """A record's type as Kafka's sources have it, whether it could be decoded or not."""
    name = item.type if item.is_control else item.name
    return name or f"UNKNOWN({item.api_key if item.api_key is not None else '?'})"


class EntryReader:
    """Reads ranges of files for one source."""

    def __init__(
        self,
        narrowing: Narrowing,
        *,
        show_secrets: bool = False,
        batches_only: bool = False,
        frames_only: bool = False,
        native: NativeColumns | None = None,
    ) -> None:
        """`frames_only`: of sound batches the frames of records are read and not what is in them;
        such a record has no type and no data. `native` keeps the rows that it reads for the caller,
        who takes them as soon as it is full."""
        self.native = native
        self._narrowing = narrowing
        self._show_secrets = show_secrets
        self._batches_only, self._frames_only = batches_only, frames_only
        self._dump = LogDump(show_secrets=show_secrets, batches_only=batches_only)
        self._problems = narrowing.wants_kind("problem")
        self._rows = narrowing.wants_kind("batch" if batches_only else "record")
        selection = narrowing.selection
        self._selected = LogDump(selection) if selection.looks_into_records else None
        self._whole = self._rows and not batches_only and self._selected is None

    def of(self, split: Split) -> Iterator[Entry | NativeRows]:
        """The entries of one range that are wanted; a file that cannot be read is a problem."""
        file = split.file
        if not self._batches_only and file.in_topic:
            return
        try:
            with file.open() as source:
                walk = Walk(source.read_at, WalkState.at(split.start), stop=split.stop)
                for item in walk if self.native is None else walk.spans():
                    if isinstance(item, BatchSpan):
                        yield from self._span(file.name, item)
                    else:
                        yield from self._item(file.name, item)
        except KraftoolError as error:
            if self._problems:
                hint = f" ({error.hint})" if error.hint else ""
                yield Unreadable(
                    file=file.name, position=split.start, reason=f"{error.message}{hint}"
                )

    def _span(self, file: str, span: BatchSpan) -> Iterator[Entry | NativeRows]:
        """The same of a span: what the native reader does not take is for Python."""
        assert self.native is not None, "there are spans for it alone"
        at, for_python = span.at, 1
        while at < span.end:
            before = at
            taken = self.native.read(span, at)
            at = taken.end
            if taken.records or taken.is_full:
                yield taken
            if not taken.is_stuck:
                continue
            # Of a log that is not plain, Python takes more and more at a time.
            for_python = 1 if at > before else min(2 * for_python, _MOST_FOR_PYTHON)
            for _ in range(for_python):
                if at < span.end:
                    batch = span.batch(at)
                    at += batch.size
                    yield from self._item(file, batch)

    def _item(self, file: str, item: Item) -> Iterator[Entry]:
        batch = batch_of(item)
        if isinstance(item, Faulty) and batch is None:
            # The audit judges the order of batches: it knows what is before a range.
            if self._problems and item.fault.cuts:
                yield from self._dump.item(file, item)
            return
        assert batch is not None, "what is not faulty is a batch"
        sound = not isinstance(item, Faulty)
        wanted = self._rows and self._narrowing.may_hold(batch, sound=sound)
        plain = self._plain(file, item) if wanted and self._whole else None
        if plain is not None:
            yield plain
        elif wanted or self._problems:
            yield from self._looked_into(file, item, wanted=wanted)

    def _plain(self, file: str, batch: Item) -> BatchEntry | None:
        """A batch in which nothing is wrong, as nearly all are; the others are looked into."""
        if isinstance(batch, Faulty) or batch.header.record_count > _PART:
            return None
        try:
            if self._frames_only:
                is_control = batch.is_control
                frames = [
                    LogRecord(record, is_control, "", "", None, None) for record in batch.records()
                ]
                return BatchEntry(file, batch, True, frames)
            records = list(decode_batch(batch))
        except DecodeError:
            return None
        if any(map(_error, records)):
            return None
        if not self._show_secrets and not SENSITIVE_KEYS.isdisjoint(map(_api_key, records)):
            records = list(map(masked, records))
        return BatchEntry(file, batch, True, records)

    def _looked_into(self, file: str, item: Item, *, wanted: bool) -> Iterator[Entry]:
        """A batch in which something may be wrong; its problems alone if no row is wanted."""
        for entry in self._dump.item(file, item):
            if isinstance(entry, Fault):
                if self._problems:
                    yield entry
            elif wanted and self._selected is not None and not self._batches_only:
                chosen = list(filter(self._selected.selects, entry.records))
                yield replace(entry, records=chosen)
            elif wanted:
                yield entry
