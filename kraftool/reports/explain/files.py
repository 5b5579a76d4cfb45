"""Indexes, producer snapshots and text files, byte by byte.

Owns the rows of every file of a log directory that holds no batches. What is wrong with a file is
what its decoder finds; the finding stands on the row of its bytes. Of properties that are not
known to be harmless the value is not shown.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

from kraftool.decoders import (
    checkpoint_files,
    indexes,
    meta_properties,
    producer_state,
    properties,
    quorum_state,
    spec_files,
)
from kraftool.decoders.errors import DecodeError, KraftoolError
from kraftool.decoders.json_text import JsonError, Member, read_members, skip_blanks
from kraftool.decoders.kinds import META_KEYS, FileKind
from kraftool.decoders.redact import BROKER, MASK, is_harmless
from kraftool.decoders.spec import annotate_by
from kraftool.decoders.spec_primitives import Construct
from kraftool.reports.explain.rows import (
    ExplainRequest,
    FileBytes,
    Rest,
    Row,
    marked,
    span_rows,
    time_text,
    with_findings,
)

ENTRIES = 50
"""So many entries of an index are explained when nobody says how many."""

Findings = tuple[DecodeError, ...]


@dataclass(frozen=True, slots=True)
class _Entries:
    """A file of equal entries behind a head."""

    entry: Construct
    size: int
    decode: Callable[[bytes, int], Findings]
    head: Construct | None = None
    head_size: int = 0
    has_zero_tail: bool = False


_ENTRIES = {
    FileKind.OFFSET_INDEX: _Entries(
        spec_files.INDEX_ENTRY,
        indexes.OFFSET_ENTRY_SIZE,
        lambda data, base: indexes.decode_offset_index(data, base)[1],
        has_zero_tail=True,
    ),
    FileKind.TIME_INDEX: _Entries(
        spec_files.TIME_INDEX_ENTRY,
        indexes.TIME_ENTRY_SIZE,
        lambda data, base: indexes.decode_time_index(data, base)[1],
        has_zero_tail=True,
    ),
    FileKind.TXN_INDEX: _Entries(
        spec_files.TRANSACTION_INDEX_ENTRY,
        indexes.TXN_ENTRY_SIZE,
        lambda data, base: indexes.decode_transaction_index(data, base)[1],
    ),
    FileKind.PRODUCER_STATE: _Entries(
        spec_files.PRODUCER_SNAPSHOT_ENTRY,
        producer_state.ENTRY_SIZE,
        lambda data, _: producer_state.decode(data)[1],
        head=spec_files.PRODUCER_SNAPSHOT_HEAD,
        head_size=producer_state.HEADER_SIZE,
    ),
}


def explain_entries(
    kind: FileKind, data: bytes, base_offset: int, request: ExplainRequest
) -> Iterator[Row | Rest]:
    """The rows of an index or a producer snapshot."""
    form = _ENTRIES[kind]
    stretch = FileBytes(data=data, base=0)
    wanted = ENTRIES if request.units is None else request.units or len(data)
    used = len(data.rstrip(b"\0")) if form.has_zero_tail else len(data)
    # An entry may end in zeros itself, so the last one with any other byte counts whole.
    used = min(-(-used // form.size) * form.size, len(data)) if form.has_zero_tail else used
    first = 0
    if request.position is not None:
        if request.position >= len(data):
            raise KraftoolError(
                f"the file has {len(data)} bytes, so none at position {request.position}"
            )
        first = max(min(request.position, max(used - 1, 0)) - form.head_size, 0) // form.size
    at_head = first == 0
    start = 0 if at_head else form.head_size + first * form.size
    stop = min(form.head_size + (first + wanted) * form.size, used)
    whole = stop == used

    def rows() -> Iterator[Row]:
        if at_head and form.head is not None:
            yield from _part(stretch, form.head, 0, min(form.head_size, len(data)), "", {})
        for number in range(first, first + wanted):
            p = form.head_size + number * form.size
            if p >= stop:
                break
            notes = _entry_notes(data, p, kind, base_offset)
            place = f"entries[{number}]"
            yield from _part(stretch, form.entry, p, min(p + form.size, stop), place, notes)
        if whole:
            yield from stretch.raw(used, len(data), hidden=False, field="unused", depth=0)

    findings = (
        decode_error
        for decode_error in form.decode(data, base_offset)
        if start <= decode_error.position and (whole or decode_error.position < stop)
    )
    yield from marked(with_findings(rows(), findings), request.position)
    if not whole:
        yield Rest(position=stop, size=len(data) - stop)


def _part(
    stretch: FileBytes, what: Construct, start: int, end: int, place: str, notes: dict[str, str]
) -> Iterator[Row]:
    annotation = annotate_by(what, stretch.data, start, end)
    yield from span_rows(stretch, annotation.spans, depth=0, path=place, notes=notes)
    problem = "" if annotation.error is None else annotation.error.reason
    yield from stretch.raw(annotation.end, end, hidden=False, field=place, problem=problem)


def _entry_notes(data: bytes, p: int, kind: FileKind, base_offset: int) -> dict[str, str]:
    if kind is FileKind.OFFSET_INDEX:
        relative = int.from_bytes(data[p : p + 4], "big", signed=True)
        return {"relativeOffset": f"offset {base_offset + relative}"}
    if kind is FileKind.TIME_INDEX:
        timestamp = int.from_bytes(data[p : p + 8], "big", signed=True)
        relative = int.from_bytes(data[p + 8 : p + 12], "big", signed=True)
        return {
            "timestamp": time_text(timestamp),
            "relativeOffset": f"offset {base_offset + relative}",
        }
    if kind is FileKind.PRODUCER_STATE:
        timestamp = int.from_bytes(data[p + 26 : p + 34], "big", signed=True)
        return {"timestamp": time_text(timestamp)}
    return {}


def explain_text(kind: FileKind, data: bytes, request: ExplainRequest) -> Iterator[Row]:
    """The rows of a text file, line by line; of quorum-state, member by member."""
    stretch = FileBytes(data=data, base=0)
    rows: Iterable[Row]
    findings: Findings = ()
    match kind:
        case FileKind.QUORUM_STATE:
            rows, findings = _json_rows(stretch), quorum_state.decode(data)[1]
        case FileKind.META_PROPERTIES:
            rows = _property_rows(stretch, META_KEYS, request.show_secrets)
            findings = meta_properties.decode(data)[1]
        case FileKind.PROPERTIES:
            rows = _property_rows(stretch, frozenset(), request.show_secrets)
            findings = properties.decode(data)[1]
        case FileKind.LEADER_EPOCH_CHECKPOINT:
            rows = _checkpoint_rows(stretch, "epoch startOffset")
            findings = checkpoint_files.decode_leader_epochs(data)[1]
        case FileKind.OFFSET_CHECKPOINT:
            rows = _checkpoint_rows(stretch, "topic partition offset")
            findings = checkpoint_files.decode_offsets(data)[1]
        case FileKind.PARTITION_METADATA:
            rows = _labelled_rows(stretch)
            findings = checkpoint_files.decode_partition_metadata(data)[1]
        case _:
            rows = (_text_row(stretch, start, end) for start, end in _lines(data))
    if request.position is not None and request.position >= len(data):
        raise KraftoolError(
            f"the file has {len(data)} bytes, so none at position {request.position}"
        )
    yield from marked(with_findings(rows, findings), request.position)


_LINE_END = re.compile(rb"\r\n|\r|\n")
_COMMENT = re.compile(rb"[ \t\f]*(?:[#!].*)?", re.DOTALL)
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f]")
_NOT_HARMLESS = re.compile(r"[\x00-\x08\x0e-\x1f]|password|secret", re.IGNORECASE)
_COMMENTED_PROPERTY = re.compile(rb"[ \t\f]*[#!][ \t]*[\w.\-]+[ \t]*[=:]")


def _lines(data: bytes) -> Iterator[tuple[int, int]]:
    """The lines with their ends, as (start, end)."""
    start = 0
    for end in _LINE_END.finditer(data):
        yield start, end.end()
        start = end.end()
    if start < len(data):
        yield start, len(data)


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape").rstrip("\r\n")


def _text_row(
    stretch: FileBytes, start: int, end: int, *, field: str = "", kind: str = "line"
) -> Row:
    return stretch.row(start, end, field=field, type=kind, value=_text(stretch.data[start:end]))


def _checkpoint_rows(stretch: FileBytes, columns: str) -> Iterator[Row]:
    fields = ["version", "count"]
    for number, (start, end) in enumerate(_lines(stretch.data)):
        field = fields[number] if number < 2 else f"entries[{number - 2}]"
        kind = "number" if number < 2 else columns
        yield _text_row(stretch, start, end, field=field, kind=kind)


def _labelled_rows(stretch: FileBytes) -> Iterator[Row]:
    for start, end in _lines(stretch.data):
        label, _, value = _text(stretch.data[start:end]).partition(":")
        yield stretch.row(start, end, field=label, type="line", value=value.strip())


def _property_rows(
    stretch: FileBytes, harmless: frozenset[str], show_secrets: bool
) -> Iterator[Row]:
    data = stretch.data
    entries = {entry.position: entry for entry in properties.decode(data)[0].entries}
    starts: list[int] = []
    for start, end in _lines(data):
        is_comment = _COMMENT.fullmatch(data[start:end].rstrip(b"\r\n")) is not None
        # What is neither a property nor a comment continues the line before it.
        if start in entries or is_comment or not starts:
            starts.append(start)
    for start, end in pairwise([*starts, len(data)]):
        entry = entries.get(start)
        if entry is None:
            secret = not show_secrets and _COMMENTED_PROPERTY.match(data[start:end]) is not None
            value = MASK if secret else _text(data[start:end])
            yield stretch.row(start, end, type="comment", value=value, secret=secret)
            continue
        open_to_all = entry.key in harmless or is_harmless(BROKER, entry.key)
        # Damage can join a harmless line with the one behind it.
        joined = _NOT_HARMLESS.search(entry.value) is not None
        secret = not show_secrets and (joined or not open_to_all)
        yield stretch.row(
            start,
            end,
            field=MASK if _CONTROL.search(entry.key) and not show_secrets else entry.key,
            type="property",
            value=MASK if secret else entry.value,
            secret=secret,
        )


def _json_rows(stretch: FileBytes) -> Iterator[Row]:
    """The members of the object in the first line; whatever else there is, as text."""
    data = stretch.data
    # One character a byte, so that an index is a position; values are decoded again.
    text = data.decode("latin-1")
    first_line = _LINE_END.search(data)
    line = text[: first_line.start()] if first_line else text
    members: list[Member] = []
    error_row = ""
    try:
        end = read_members(line, skip_blanks(line, 0), members)
    except JsonError as error:
        end, error_row = error.index, error.reason
    begins = [member.name_index for member in members]
    closing = end - 1 if not error_row else end
    if members:
        closing = max(closing, members[-1].value_index + len(members[-1].text))
    head = begins[0] if begins else min(closing, len(data))
    if head:
        yield _text_row(stretch, 0, head, kind="JSON")
    for member, (start, stop) in zip(members, pairwise([*begins, closing]), strict=True):
        value = member.text.encode("latin-1").decode("utf-8", "surrogateescape")
        yield stretch.row(start, stop, field=member.name, type="JSON member", value=value)
    if closing < len(data):
        kind = "JSON" if not error_row else "text"
        yield _text_row(stretch, max(closing, head), len(data), kind=kind)
