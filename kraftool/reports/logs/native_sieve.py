"""Batches that have nothing of a selection are passed over natively; Python decodes the others.

Owns which selections can be judged without Python. A batch is passed over only if it is plain and
every record of it can be decoded, or if its header rules it out. So what is left gives the same
entries and the same findings as the whole log.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Collection, Iterator
from collections.abc import Set as AbstractSet
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, NamedTuple, Protocol

from kraftool.decoders import fast_path, schema
from kraftool.decoders.batch import RecordBatch
from kraftool.decoders.generate import default_of
from kraftool.decoders.programs import program
from kraftool.decoders.schema import MessageSchema
from kraftool.decoders.segment import BatchSpan
from kraftool.decoders.walk import Faulty
from kraftool.reports.logs.dump import LogDump, Selection, TopicNames, type_words
from kraftool.reports.logs.native_renderer import NativeRenderer, is_in_range
from kraftool.reports.logs.plan import OutputPlan

if TYPE_CHECKING:
    from kraftool.decoders._native import Sieve

_TOPIC = "TopicRecord"
_TOPIC_ID = re.compile(r'"topicId":"([^"]*)"')
_EVERYTHING = Selection()


class Sifter(Protocol):
    """Finds the batches of a span that Python has to look at."""

    def left(self, span: BatchSpan) -> Iterator[RecordBatch]:
        """The batches that are not passed over, in order."""


class Uncounted(NamedTuple):
    """Batches with records of the selection, of which nothing but their number is known."""

    at: int
    end: int
    weight: int


class NativeSieve:
    """Passes over plain batches by their headers, record types, offsets, times, or values."""

    def __init__(
        self,
        selection: Selection = _EVERYTHING,
        *,
        is_selected: Callable[[MessageSchema], bool] = lambda message: True,
        is_counted: Callable[[MessageSchema], bool] = lambda message: True,
        names: TopicNames | None = None,
        counts_batches: bool = False,
    ) -> None:
        """`names` learn the topics of all batches, in their order."""
        from kraftool.decoders._native import Sieve

        self._sieve: Sieve = Sieve(
            first_offset=selection.first_offset,
            last_offset=selection.last_offset,
            epoch=selection.epoch,
            since=selection.since,
            until=selection.until,
            control=selection.control,
            by_record=selection.looks_into_records,
            by_header=names is None,
            counts_batches=counts_batches,
        )
        self._is_selected, self._is_counted = is_selected, is_counted
        self._topic, self._names = selection.topic, names
        self._ids = -1
        """The number of ids that the topic is looked for by."""
        if selection.broker is not None:
            name = str(selection.broker).encode()
            self._sieve.look_for(selection.broker, _broker_labels(), [], [name])
            self._topic = ""
        self._look_for_topic()

    def left(self, span: BatchSpan) -> Iterator[RecordBatch]:
        """The batches that are not passed over, in order."""
        at = span.at
        while at < span.end:
            at = self._passed(span, at)
            if at < span.end:
                batch = span.batch(at)
                at += batch.size
                yield batch
                self._look_for_topic()

    def counted(self, span: BatchSpan, most: int) -> Iterator[Uncounted | RecordBatch]:
        """Do the same; several batches that only have to be counted come together, up to `most`."""
        sieve, at = self._sieve, span.at
        while at < span.end:
            before = at = self._passed(span, at)
            if at == span.end:
                return
            at, reason = sieve.take(span.data, at, span.end, most)
            weight = sieve.count
            self._learn()
            if reason >= 0:
                self._add(reason)
            if at > before:
                yield Uncounted(before, at, weight)
            elif reason == fast_path.NOT_PLAIN:
                batch = span.batch(at)
                at += batch.size
                yield batch

    def _passed(self, span: BatchSpan, at: int) -> int:
        """Return where the next batch begins that is not passed over."""
        while True:
            at, reason = self._sieve.skip(span.data, at, span.end)
            self._learn()
            if reason >= 0:
                self._add(reason)
            elif reason != fast_path.END or at == span.end:
                return at

    def learn(self, span: BatchSpan, at: int, end: int) -> None:
        """Learn the topics of plain batches; everything is selected."""
        while at < end:
            at, reason = self._sieve.take(span.data, at, end, 1 << 62)
            self._learn()
            if reason >= 0:
                self._add(reason)
            elif reason == fast_path.NOT_PLAIN:
                return

    def _learn(self) -> None:
        if self._names is None:
            return
        for record in self._sieve.take_learnt():
            self._names.learn_record(record)
        self._look_for_topic()

    def _add(self, reason: int) -> None:
        """Give the sieve the program of a record type, or have it stop there."""
        api_key, version = reason >> 8, reason & 0xFF
        message = schema.metadata_record(api_key)
        code = program(api_key, version, masked=False)
        if message is None or code is None:
            self._sieve.refuse(api_key, version)
            return
        flags = self._is_selected(message), self._is_counted(message)
        is_learnt = self._names is not None and message.name == _TOPIC
        self._sieve.add(api_key, version, code, *flags, is_learnt)

    def _look_for_topic(self) -> None:
        """A record of a topic has its id or its name. Ids are learnt on the way."""
        if not self._topic:
            return
        ids = self._names.ids(self._topic) if self._names is not None else ()
        if len(ids) != self._ids:
            self._ids = len(ids)
            uuids = [raw for raw in map(_uuid, {*ids, self._topic}) if raw is not None]
            name = self._topic.encode("utf-8", "replace")
            self._sieve.look_for(None, [], uuids, [name])


class _GrepSieve:
    """Passes over batches of which no record matches, as it would be shown."""

    def __init__(self, dump: LogDump) -> None:
        want = dump.selection
        assert want.grep is not None, "a pattern to look for"
        given = replace(want, grep=None, grep_topics=frozenset(), hidden=None)
        self._learner: NativeSieve | None = None
        if dump.learns_topics:
            # What is ruled out by its header may not be plain, and has topics to learn, too.
            given = Selection(types=want.types)
            self._learner = NativeSieve(names=dump.topics)
        plan = OutputPlan(format="lines", selection=given, show_secrets=dump.show_secrets)
        self._lines = NativeRenderer(plan, "")
        self._search = _search_for(want.grep, want.grep_topics)

    def left(self, span: BatchSpan) -> Iterator[RecordBatch]:
        at = span.at
        while at < span.end:
            text, reached, is_stuck = self._lines.render(span, at)
            if self._matches(text):
                for batch in span.read_batches(at, reached):
                    start = batch.position - span.data_position
                    end = start + batch.size
                    if self._matches(self._lines.render(span, start, end)[0]):
                        self._learn(span, at, end)
                        at = end
                        yield batch
            self._learn(span, at, reached)
            at = reached
            if is_stuck:
                batch = span.batch(at)
                at += batch.size
                yield batch

    def _learn(self, span: BatchSpan, at: int, end: int) -> None:
        if self._learner is not None:
            self._learner.learn(span, at, end)

    def _matches(self, text: memoryview) -> bool:
        # Not splitlines: a text may have other separators of lines in it.
        return any(map(self._search, str(text, "utf-8").split("\n")[:-1]))


def _search_for(pattern: re.Pattern[str], ids: AbstractSet[str]) -> Callable[[str], object]:
    """Return a function that finds the pattern in a line, or an id of a matching topic.

    The set of ids may grow while the log is read.
    """
    search = pattern.search
    return lambda line: search(line) or (ids and not ids.isdisjoint(_TOPIC_ID.findall(line)))


def sieve_of(dump: LogDump) -> Sifter | None:
    """Return what passes over batches that are not shown; None if Python has to see all."""
    want = dump.selection
    if replace(want, hidden=None) == _EVERYTHING:
        return None
    if not fast_path.is_native() or not is_in_range(want) or _is_left_out(want.broker):
        return None
    if want.grep is not None and not want.topic and want.broker is None and want.control is None:
        return _GrepSieve(dump)
    return NativeSieve(
        replace(want, grep=None, grep_topics=frozenset(), hidden=None),
        is_selected=_by_words(want),
        names=dump.topics if dump.learns_topics else None,
    )


def counting_sieve(dump: LogDump, *, folds: bool) -> NativeSieve | None:
    """Return what counts the records that a dump shows, without decoding them; None if it cannot.

    With `folds`, no-ops do not count.
    """
    want = dump.selection
    is_exact = want.grep is None and want.broker is None and not want.topic and want.hidden is None
    if not fast_path.is_native() or not is_exact or not is_in_range(want):
        return None
    return NativeSieve(
        want,
        is_selected=_by_words(want),
        is_counted=lambda message: not folds or message.name != "NoOpRecord",
        names=dump.topics if dump.learns_topics else None,
        counts_batches=dump.batches_only,
    )


def sieve_for(names: Collection[str]) -> Sifter | None:
    """Return what passes over batches without such records; None if Python has to see all."""
    if not fast_path.is_native():
        return None
    return NativeSieve(Selection(types=frozenset(names)), is_selected=lambda it: it.name in names)


def left_of(
    items: Iterator[BatchSpan | RecordBatch | Faulty], sieve: Sifter | None
) -> Iterator[RecordBatch | Faulty]:
    """The items of a walk by spans that a sieve does not pass over."""
    for item in items:
        if not isinstance(item, BatchSpan):
            yield item
        elif sieve is None:
            yield from item.read_batches(item.at, item.end)
        else:
            yield from sieve.left(item)


def _by_words(want: Selection) -> Callable[[MessageSchema], bool]:
    def is_selected(message: MessageSchema) -> bool:
        words = type_words(schema.record_type(message.name)) | type_words(message.name)
        return not want.types or bool(words & want.types)

    return is_selected


def _uuid(text: str) -> bytes | None:
    """The bytes of an id, if a record could have it."""
    try:
        raw = base64.urlsafe_b64decode(text + "==")
    except ValueError:
        return None
    return raw if len(raw) == 16 else None


@cache
def _broker_labels() -> tuple[bytes, ...]:
    """The fields of all records that have brokers, as the module labels them."""
    names = {
        field.name
        for name in schema.names("metadata")
        for field in schema.message(name).fields
        if field.entity == "brokerId"
    }
    return tuple(f'"{name}":'.encode() for name in sorted(names))


@cache
def _is_left_out(broker: int | None) -> bool:
    """True if a record may name this broker by a field that is left out, or none can name it."""
    if broker is None:
        return False
    defaults = (
        default_of(field, version)
        for name in schema.names("metadata")
        for version in schema.message(name).versions
        for field in schema.message(name).fields
        if field.entity == "brokerId" and field.is_tagged(version) and version in field.versions
    )
    return abs(broker) >= 1 << 31 or broker in defaults
