"""Segments and checkpoints, byte by byte: batch headers, records, frames and messages.

Owns the walk over batches and records, and what is done where they are damaged: what can still be
read is explained, the rest is a raw stretch. Bytes that could not be decoded may be a secret's, so
they are shown on demand only, except where their record is known to have none.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from kraftool.decoders import control, spec_files
from kraftool.decoders.batch import HEADER_SIZE, LOG_OVERHEAD, BatchHeader, RecordBatch
from kraftool.decoders.errors import DecodeError, KraftoolError
from kraftool.decoders.fault import WRONG_CRC, FaultKind, LogFault
from kraftool.decoders.redact import MASK
from kraftool.decoders.segment import LARGEST_ATTRIBUTES, LARGEST_BATCH, BatchSpan
from kraftool.decoders.spec import Span, annotate_by
from kraftool.decoders.walk import Faulty, Item, Walk, batch_of
from kraftool.decoders.wire import NEGATIVE, TRUNCATED
from kraftool.reports.explain.rows import (
    RAW,
    ExplainRequest,
    FileBytes,
    ReadAt,
    Rest,
    Row,
    joined,
    marked,
    sentence,
    span_rows,
    time_text,
)
from kraftool.reports.explain.value import NOT_KNOWN, RecordValue, Trust, controlled, framed

_BROKEN_RECORDS = 16
"""So many records of a batch may be broken before the rest of it is given up."""
_NOTHING = Span(start=0, end=0, path="", type="")


def explain_log(read_at: ReadAt, size: int, request: ExplainRequest) -> Iterator[Row | Rest]:
    """The rows of the batches that were asked for, damage between them included."""
    left = 1 if request.units is None else request.units or -1
    has_begun = False
    for item in _items(Walk(read_at, stop=size), request):
        if not item.size:
            continue
        has_begun = has_begun or _is_asked_for(item, request)
        if not has_begun:
            continue
        if left == 0:
            yield Rest(position=item.position, size=size - item.position)
            return
        left -= 1
        yield from marked(explain_item(read_at, item, request), request.position)
    if not has_begun and request.position is not None:
        raise KraftoolError(f"the file has {size} bytes, so none at position {request.position}")
    if not has_begun and request.offset is not None:
        raise KraftoolError(f"no batch of this file holds offset {request.offset}")


def _items(walk: Walk, request: ExplainRequest) -> Iterator[Item]:
    """The items of a walk, but for spans of batches before the first that is asked for."""
    has_begun = False
    for item in walk.spans():
        has_begun = has_begun or (item.size > 0 and _is_asked_for(item, request))
        if not isinstance(item, BatchSpan):
            yield item
        elif has_begun:
            yield from item.read_batches(item.at, item.end)


def explain_item(read_at: ReadAt, item: Item, request: ExplainRequest) -> Iterator[Row]:
    """The rows of one batch, or of what is none."""
    batch = batch_of(item)
    if batch is None:
        assert isinstance(item, Faulty), "all else has a batch"
        return _damage_rows(read_at, item.fault, request)
    return BatchRows(batch, request).rows()


def _is_asked_for(item: Item | BatchSpan, request: ExplainRequest) -> bool:
    if request.position is not None:
        return item.position <= request.position < item.position + item.size
    if request.offset is not None:
        batch = item if isinstance(item, BatchSpan) else batch_of(item)
        return batch is not None and batch.base_offset <= request.offset <= batch.last_offset
    return True


def _damage_rows(read_at: ReadAt, damage: LogFault, request: ExplainRequest) -> Iterator[Row]:
    """A stretch that is no batch: read as the batch that should stand here, as far as that goes."""
    sides = [f"expected {damage.expected}"] if damage.expected else []
    sides += [f"found {damage.found}"] if damage.found else []
    reason = f"{damage.kind.value}: {damage.reason}" + (f" ({', '.join(sides)})" if sides else "")
    yield Row(
        position=damage.position,
        size=damage.size,
        field="damage",
        type=damage.kind.value,
        problem=reason,
        group=True,
    )
    data = read_at(damage.position, min(damage.size, LARGEST_BATCH))
    stretch = FileBytes(data=data, base=damage.position)
    if damage.kind is FaultKind.ZERO_TAIL:
        zeros = replace(next(stretch.raw(0, len(data), hidden=False)), depth=1, value="zeros")
        yield replace(zeros, size=damage.size)
        return
    end = 0
    if len(data) >= HEADER_SIZE and _like_a_header(RecordBatch.read(data).header):
        batch = RecordBatch.read(data, damage.position)
        torn = damage.kind is FaultKind.TORN_TAIL
        for row in BatchRows(batch, request, believed=False, torn=torn).rows():
            end = row.end - damage.position
            yield row
    else:
        yield from stretch.raw(0, len(data), hidden=not request.show_secrets, depth=1)
        end = len(data)
    if end < damage.size:
        # Longer than any batch: nothing is read that is not shown.
        yield Row(
            position=damage.position + end,
            size=damage.size - end,
            type=RAW,
            depth=1,
            secret=not request.show_secrets,
        )


def _like_a_header(header: BatchHeader) -> bool:
    """True if bytes may be shown as a header: anything else may be the middle of a secret."""
    return (
        header.magic == 2
        and 0 <= header.attributes <= LARGEST_ATTRIBUTES
        and header.base_offset >= 0
        and header.partition_leader_epoch >= -1
    )


@dataclass(slots=True)
class BatchRows:
    """Explains one batch. What is not `believed` is a stretch that only may be one."""

    batch: RecordBatch
    request: ExplainRequest
    believed: bool = True
    torn: bool = False
    valid: bool = field(init=False)
    stretch: FileBytes = field(init=False)
    trust: Trust = field(init=False)

    def __post_init__(self) -> None:
        # The CRC is computed once: a batch may have a hundred thousand records.
        self.valid = self.believed and self.batch.is_valid
        self.stretch = FileBytes(data=self.batch.data, base=self.batch.position)
        self.trust = Trust(valid=self.valid, torn=self.torn, show_secrets=self.request.show_secrets)

    def rows(self, depth: int = 0) -> Iterator[Row]:
        header = self.batch.header
        valid = self.valid
        yield Row(
            position=self.batch.position,
            size=self.batch.size,
            field="batch" if self.believed else "as a batch",
            type="control batch" if self.batch.is_control else "batch",
            note=f"offsets {self.batch.base_offset} to {self.batch.last_offset}, "
            f"epoch {self.batch.epoch}",
            depth=depth,
            group=True,
        )
        notes = _header_notes(self.batch)
        spans = annotate_by(spec_files.BATCH_HEADER, self.batch.data, 0, HEADER_SIZE).spans
        for row in span_rows(self.stretch, spans, depth=depth + 1, notes=notes):
            if row.field == "crc" and self.believed and not valid:
                sides = f"expected {self.batch.computed_crc():08x}, found {header.crc:08x}"
                problem = f"{WRONG_CRC} ({sides})"
                yield replace(row, problem=problem)
            else:
                yield row
        if self.batch.compression != "none":
            # The records lie in the opened bytes only, which have no positions in the file.
            yield from self._raw(
                HEADER_SIZE,
                self.batch.size,
                hidden=not (valid or self.request.show_secrets),
                field="records",
                note=f"compressed with {self.batch.compression}",
                depth=depth + 1,
            )
            return
        yield from self._records(header, depth + 1)

    def _raw(self, start: int, end: int, **facts: Any) -> Iterator[Row]:
        return self.stretch.raw(start, end, **facts)

    def _records(self, header: BatchHeader, depth: int) -> Iterator[Row]:
        p, end, broken = HEADER_SIZE, self.batch.size, 0
        hidden = not self.request.show_secrets
        for index in range(header.record_count):
            path = f"records[{index}]"
            start = p
            try:
                length, p = spec_files.parse_record_length(self.batch.data, p)
                if length < 0:
                    p = start
                    raise DecodeError(NEGATIVE, position=start, found=str(length))
                if length > end - p:
                    raise DecodeError(
                        TRUNCATED,
                        position=start,
                        expected=f"{length} bytes",
                        found=f"{end - p} left",
                    )
                if broken == _BROKEN_RECORDS:
                    p = start
                    raise DecodeError(
                        f"given up after {broken} broken records", position=start, path=path
                    )
            except DecodeError as error:
                # A torn tail ends inside a record, of which the head may still be told.
                yield from self._record(start, p, end, path, depth, sentence(error))
                return
            rows = list(self._record(start, p, p + length, path, depth, ""))
            broken += any(row.problem for row in rows)
            yield from rows
            p += length
        yield from self._raw(
            p,
            end,
            hidden=hidden,
            problem="bytes left after the last record",
            field="records",
            depth=depth,
        )

    def _record(
        self, start: int, body: int, stop: int, path: str, depth: int, problem: str
    ) -> Iterator[Row]:
        """One record: `body` is where its length ends (`start` if it has none), `stop` its end."""
        data = self.batch.data
        hidden = not self.request.show_secrets
        annotation = annotate_by(spec_files.RECORD_BODY, data, body, stop) if body > start else None
        if annotation is None:
            yield from self._raw(
                start, stop, hidden=hidden, field=path, problem=problem, depth=depth
            )
            return
        leaves = {
            span.path: span
            for span in annotation.spans
            if not span.type.startswith(("length", "count"))
        }
        control_type, read = self._value(leaves)
        delta = leaves.get("offsetDelta")
        offset = None if delta is None else self.batch.base_offset + delta.value
        yield Row(
            position=self.batch.position + start,
            size=stop - start,
            field=path,
            type="record",
            note=", ".join(
                filter(None, [f"offset {offset}" if offset is not None else "", read.title])
            ),
            depth=depth,
            group=True,
            marked=self.request.offset is not None and offset == self.request.offset,
        )
        depth += 1
        yield self.stretch.row(
            start,
            body,
            field=f"{path}.length",
            type="varint",
            value=spec_files.parse_record_length(data, start)[0],
            problem=problem,
            depth=depth,
        )
        notes = self._record_notes(leaves, offset)
        for span in annotation.spans:
            if span.path == "key" and span.type == "bytes" and self.batch.is_control:
                yield from self._control_key(span, f"{path}.key", depth, control_type)
            elif span.path == "value" and span.type == "bytes":
                yield from read.rows(f"{path}.value", depth)
            else:
                yield from span_rows(
                    self.stretch,
                    [span],
                    depth=depth,
                    path=path,
                    notes=notes,
                    is_secret=self._may_be_secret,
                    mask=MASK,
                )
        if annotation.error is not None:
            yield from self._raw(
                annotation.end,
                stop,
                hidden=hidden,
                field=joined(path, annotation.error.path),
                problem=sentence(annotation.error),
                depth=depth,
            )
        else:
            yield from self._raw(
                annotation.end,
                stop,
                hidden=hidden,
                field=path,
                problem=f"{spec_files.RECORD_SIZE} ({stop - annotation.end} bytes more)",
                depth=depth,
            )

    def _record_notes(self, leaves: dict[str, Span], offset: int | None) -> dict[str, str]:
        notes = {}
        if "timestampDelta" in leaves:
            notes["timestampDelta"] = time_text(
                self.batch.header.base_timestamp + leaves["timestampDelta"].value
            )
        if offset is not None:
            notes["offsetDelta"] = f"offset {offset}"
        return notes

    def _may_be_secret(self, span: Span) -> bool:
        """True if a key or header may be a value in truth: where the CRC says that bits moved."""
        return span.type == "bytes" and not (self.valid or self.request.show_secrets)

    def _control_key(
        self, span: Span, path: str, depth: int, control_type: int | None
    ) -> Iterator[Row]:
        annotation = annotate_by(spec_files.CONTROL_KEY, self.batch.data, span.start, span.end)
        kind = control.BY_ID.get(control_type) if control_type is not None else None
        notes = {"type": kind.label if kind is not None else NOT_KNOWN}
        yield from span_rows(self.stretch, annotation.spans, depth=depth, path=path, notes=notes)
        problem = sentence(annotation.error) if annotation.error is not None else ""
        yield from self._raw(
            annotation.end,
            span.end,
            hidden=not (self.request.show_secrets or self.valid),
            field=path,
            problem=problem or "bytes left after the key",
            depth=depth,
        )

    def _value(self, leaves: dict[str, Span]) -> tuple[int | None, RecordValue]:
        """Find out what a record's value is; returns the control type with it."""
        key, value = leaves.get("key"), leaves.get("value")
        if not self.batch.is_control:
            if value is None:
                return None, RecordValue(self.stretch, _NOTHING, self.trust)
            if key is not None and self.valid:
                # No metadata record has a key: this is some topic's own data.
                return None, RecordValue(self.stretch, value, self.trust, plain=True)
            return None, framed(self.stretch, value, self.trust)
        control_type = None
        if key is not None and key.end - key.start >= 4:
            control_type = int.from_bytes(self.batch.data[key.start + 2 : key.start + 4], "big")
        if value is None:
            return control_type, RecordValue(self.stretch, _NOTHING, self.trust)
        return control_type, controlled(self.stretch, value, self.trust, control_type)


def _header_notes(batch: RecordBatch) -> dict[str, str]:
    header = batch.header
    words = ["control"] if batch.is_control else []
    words += ["transactional"] if batch.is_transactional else []
    words += [batch.compression] if batch.compression != "none" else []
    words.append(batch.timestamp_type)
    return {
        "length": f"ends at {batch.position + LOG_OVERHEAD + header.length}",
        "attributes": ", ".join(words),
        "lastOffsetDelta": f"offset {batch.last_offset}",
        "baseTimestamp": time_text(header.base_timestamp),
        "maxTimestamp": time_text(header.max_timestamp),
        "producerId": "none" if header.producer_id == -1 else "",
        "producerEpoch": "none" if header.producer_epoch == -1 else "",
        "baseSequence": "none" if header.base_sequence == -1 else "",
    }
