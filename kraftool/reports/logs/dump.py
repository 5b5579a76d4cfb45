"""The batches and records of segments and checkpoints, selected and ready to be written out.

Owns the order of events, the selection of records, and what becomes of damage. It refuses to
render: `text.py` writes the formats.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import islice
from typing import Any

from kraftool.decoders import codec, schema
from kraftool.decoders.batch import RecordBatch
from kraftool.decoders.errors import DecodeError, Fault
from kraftool.decoders.fault import FaultKind, LogFault
from kraftool.decoders.framing import decode_record
from kraftool.decoders.log_record import LogRecord, decode_batch, position_of_error
from kraftool.decoders.redact import SENSITIVE_KEYS, redact
from kraftool.decoders.segment import ReadAt
from kraftool.decoders.walk import BEGINNING, Faulty, Item, Walk, WalkState
from kraftool.reports.logs.transactions import Transactions

_DECODED = frozenset(
    {FaultKind.TORN_TAIL, FaultKind.ZERO_TAIL, FaultKind.GAP, FaultKind.EPOCH_BACK}
)


@dataclass(frozen=True, slots=True)
class BatchEntry:
    """One batch with those of its records that were selected, or a further part of them."""

    file: str
    batch: RecordBatch
    valid: bool
    records: list[LogRecord]
    continued: bool = False
    """True if an entry with earlier records of the same batch came before."""


Entry = BatchEntry | Fault
"""A fault of the log itself is a LogFault; a plain one is inside a record."""


def is_decoded(fault: Fault) -> bool:
    """True if all bytes that Kafka would keep are decoded: of tails that Kafka cuts, and of the
    order of batches."""
    return isinstance(fault, LogFault) and fault.kind in _DECODED


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """The records to show. Every condition that is set must be true."""

    first_offset: int | None = None
    last_offset: int | None = None
    epoch: int | None = None
    types: frozenset[str] = frozenset()
    topic: str = ""
    broker: int | None = None
    since: int | None = None
    until: int | None = None
    grep: re.Pattern[str] | None = None
    grep_topics: AbstractSet[str] = frozenset()
    """Ids of the topics whose names match: most records of a topic have only its id. A run that
    learns names on the way adds to them."""
    control: bool | None = None
    hidden: Transactions | None = None
    """Transactions of which only the committed ones are shown, without their markers."""

    def names_type(self, name: str) -> bool:
        """True if records of this type are asked for by name."""
        return bool(_words(name) & self.types)

    @property
    def looks_into_records(self) -> bool:
        """True if a batch's header is not enough to decide."""
        return bool(
            self.types
            or self.topic
            or self.broker is not None
            or self.grep
            or self.first_offset is not None
            or self.last_offset is not None
            or self.since is not None
            or self.until is not None
            or self.hidden
        )

    def may_hold(self, batch: RecordBatch) -> bool:
        """True if a batch can have records of the selection, going by its header."""
        header = batch.header
        return not (
            (self.first_offset is not None and batch.last_offset < self.first_offset)
            or (self.last_offset is not None and header.base_offset > self.last_offset)
            or (self.epoch is not None and header.partition_leader_epoch != self.epoch)
            or (self.since is not None and header.max_timestamp < self.since)
            or (self.control is not None and batch.is_control != self.control)
        )


def type_words(name: str) -> frozenset[str]:
    """The spellings by which a record type may be asked for, in lower case without separators."""
    plain = re.sub(r"[^a-z0-9]", "", name.lower())
    return frozenset({plain, plain.removesuffix("record"), plain.removesuffix("message")})


_TOPIC_RECORD = b"\x01\x02"
"""Frame version and api key of a TopicRecord."""


@dataclass(slots=True)
class TopicNames:
    """Topic names by id, learnt from the TopicRecords that pass."""

    pattern: re.Pattern[str] | None = None
    by_id: dict[str, str] = field(default_factory=dict)
    matching: set[str] = field(default_factory=set)
    """The ids of the topics whose names match the pattern, deleted ones too."""
    _ids: dict[str, set[str]] = field(default_factory=dict)
    """The ids that a name has or had."""

    def learn(self, batch: RecordBatch) -> None:
        """Take the topics of a batch, decoding nothing else."""
        try:
            for record in batch.records():
                if record.value is not None and record.value.startswith(_TOPIC_RECORD):
                    self.learn_record(record.value)
        except DecodeError:
            pass  # told when the batch itself is decoded

    def learn_record(self, record: bytes) -> None:
        """Take the topic of a TopicRecord."""
        _, _, value = decode_record(record)
        topic_id, name = value["topicId"], value["name"]
        self.by_id[topic_id] = name
        self._ids.setdefault(name, set()).add(topic_id)
        if self.pattern is not None and self.pattern.search(name):
            self.matching.add(topic_id)

    def knows(self, topic: str) -> bool:
        """True if a topic of this name or id was seen."""
        return topic in self.by_id or topic in self._ids

    def ids(self, name: str) -> Collection[str]:
        """The ids that topics of this name have, or had before they were called otherwise."""
        return self._ids.get(name, ())

    def name(self, topic_id: str) -> str:
        return self.by_id.get(topic_id, topic_id)


class LogDump:
    """Turns files into entries. One of these serves a whole command, file after file."""

    def __init__(
        self,
        selection: Selection | None = None,
        *,
        show_secrets: bool = False,
        batches_only: bool = False,
        topics: TopicNames | None = None,
    ) -> None:
        self.selection = selection or Selection()
        self.show_secrets = show_secrets
        self.batches_only = batches_only
        self.topics = topics if topics is not None else TopicNames()
        self.learns_topics = bool(self.selection.topic) or topics is not None

    def entries(
        self,
        file: str,
        read_at: ReadAt,
        state: WalkState = BEGINNING,
        stop: int | None = None,
    ) -> Iterator[Entry]:
        """The entries of one file, in order."""
        for item in Walk(read_at, state, stop=stop):
            yield from self.item(file, item)

    def item(self, file: str, item: Item) -> Iterator[Entry]:
        """The entries of one item of a walk."""
        if not isinstance(item, Faulty):
            yield from self._batch(file, item, valid=True)
            return
        if item.batch is not None:
            if not self.selection.may_hold(item.batch):
                return
            yield from self._batch(file, item.batch, valid=False)
        yield _of_log(item.fault, file)

    def _batch(self, file: str, batch: RecordBatch, *, valid: bool) -> Iterator[Entry]:
        """The entries of one batch, if it is selected, and whatever is wrong inside it."""
        if self.learns_topics and not batch.is_control:
            self.topics.learn(batch)
        yield from self.entries_of(file, batch, valid=valid)

    def entries_of(self, file: str, batch: RecordBatch, *, valid: bool = True) -> Iterator[Entry]:
        """The entries of a batch whose topics are learnt already."""
        selection = self.selection
        if not selection.may_hold(batch):
            return
        if self.batches_only and not selection.looks_into_records:
            yield BatchEntry(file, batch, valid, [])
        else:
            yield from self._parts(file, batch, valid)

    def _parts(self, file: str, batch: RecordBatch, valid: bool) -> Iterator[Entry]:
        """A batch's selected records, so many at a time: a small gzip batch can hold millions."""
        decoded = decode_batch(batch)
        shown = not self.selection.looks_into_records
        first, problem = True, None
        while True:
            records: list[LogRecord] = []
            try:
                records.extend(islice(decoded, _PART))
            except DecodeError as error:
                problem = _in_record(file, batch.position, error)
            last = problem is not None or len(records) < _PART
            if not self.show_secrets:
                records = [masked(record) for record in records]
            if self.selection != _EVERYTHING:
                records = [record for record in records if self.selects(record)]
            if records or (first and shown) or (problem is not None and first):
                listed = [] if self.batches_only else records
                yield BatchEntry(file, batch, valid, listed, continued=not first)
                first = False
            for item in records:
                if item.error is not None:
                    at = position_of_error(batch, item.record, item.error)
                    yield _in_record(file, at - item.error.position, item.error)
            if last or (self.batches_only and not first):
                break
        if problem is not None:
            yield problem

    def selects(self, item: LogRecord) -> bool:
        """True if one record is wanted."""
        want, record = self.selection, item.record
        if want.first_offset is not None and record.offset < want.first_offset:
            return False
        if want.last_offset is not None and record.offset > want.last_offset:
            return False
        if want.since is not None and record.timestamp < want.since:
            return False
        if want.until is not None and record.timestamp > want.until:
            return False
        if want.hidden is not None and not item.is_control and want.hidden.hides(record.offset):
            return False
        if want.types and not (_words(item.type) | _words(item.name)) & want.types:
            return False
        if want.broker is not None and not mentions_broker(item, want.broker):
            return False
        if want.topic and not self.mentions_topic(item, want.topic):
            return False
        if want.grep is None or want.grep.search(grep_text(item)):
            return True
        return item.data is not None and item.data.get("topicId") in want.grep_topics

    def mentions_topic(self, item: LogRecord, topic: str) -> bool:
        """True if a record is about a topic, named by name or id."""
        data = item.data
        if data is None:
            return False
        topic_id = data.get("topicId")
        if topic_id is not None and topic in (topic_id, self.topics.name(topic_id)):
            return True
        if item.name in ("ConfigRecord", "AccessControlEntryRecord"):
            return bool(data["resourceType"] == _TOPIC and data["resourceName"] == topic)
        return topic in (data.get("name"), data.get("topicName")) and item.name in _NAMED_TOPICS


_EVERYTHING = Selection()
_PART = 10_000
"""Records of one batch that are in memory at a time."""
_TOPIC = 2
"""The resource type TOPIC, in configs and in ACLs alike."""
_BROKER = 4
_NAMED_TOPICS = ("TopicRecord", "ClearElrRecord")


@cache
def _words(name: str) -> frozenset[str]:
    return type_words(name) if name else frozenset()


def grep_text(item: LogRecord) -> str:
    """Return what --grep looks at: type and payload as they are shown."""
    data = codec.json_text(item.data).decode() if item.data is not None else ""
    return f"{item.type} {data}"


@cache
def _broker_fields(name: str) -> tuple[str, ...]:
    """The fields of a record that hold broker ids, as the catalogue says."""
    fields = schema.message(name).fields if name else ()
    return tuple(schema_field.name for schema_field in fields if schema_field.entity == "brokerId")


def mentions_broker(item: LogRecord, broker: int) -> bool:
    """True if a record names a broker: in a field of broker ids, or as the resource of a config."""
    data: dict[str, Any] | None = item.data
    if data is None:
        return False
    if item.name == "ConfigRecord":
        return bool(data["resourceType"] == _BROKER and data["resourceName"] == str(broker))
    for name in _broker_fields(item.name):
        value = data.get(name)
        if value == broker or (isinstance(value, list) and broker in value):
            return True
    return False


def masked(item: LogRecord) -> LogRecord:
    """The record without its secrets, as it is shown wherever nobody asked for them."""
    if item.is_control or item.data is None or item.api_key not in SENSITIVE_KEYS:
        return item
    return item._replace(data=redact(item.name, item.data))


def raw_value(entry: BatchEntry, item: LogRecord, *, show_secrets: bool) -> bytes | None:
    """The bytes of a record that could not be decoded, unless they may hold secrets.

    They may where the type carries secrets, where it could not be read, and where the CRC says
    that the type itself may be wrong.
    """
    known = item.is_control or (item.api_key is not None and item.api_key not in SENSITIVE_KEYS)
    return item.record.value if show_secrets or (entry.valid and known) else None


def _in_record(file: str, base: int, error: DecodeError) -> Fault:
    return Fault(
        file=file,
        position=base + error.position,
        reason=error.reason,
        field=error.path,
        expected=error.expected,
        found=error.found,
    )


def _of_log(fault: LogFault, file: str) -> LogFault:
    """A fault as dump-log names it: a batch with a wrong CRC is corrupt."""
    if fault.kind is FaultKind.CRC:
        return replace(fault, file=file, kind=FaultKind.CORRUPT, field="crc")
    return replace(fault, file=file)
