"""The value of one record, byte by byte: frame and metadata record, or control record.

Owns which primitives of a value are shown. A secret is what `redact` masks; where a record cannot
be decoded, or its batch's CRC says that bits moved, what may be one is withheld too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from kraftool.decoders import control, schema, spec_files
from kraftool.decoders.redact import MASK, SENSITIVE_KEYS, redact
from kraftool.decoders.spec import Span, annotate_by, description
from kraftool.reports.explain.rows import FileBytes, Row, is_open, joined, sentence, span_rows

NOT_KNOWN = "not in the catalogue"


@dataclass(frozen=True, slots=True, kw_only=True)
class Trust:
    """The trust in the bytes of a batch, and whether secrets are shown."""

    valid: bool
    """The CRC holds."""
    torn: bool
    """Cut short, and as far as is known not changed otherwise."""
    show_secrets: bool


@dataclass(slots=True)
class RecordValue:
    """A record's value, read as far as it can be."""

    stretch: FileBytes
    span: Span
    trust: Trust
    title: str = ""
    head: tuple[Span, ...] = ()
    """What stands before the message: the frame, or a transaction marker's version."""
    spans: tuple[Span, ...] = ()
    notes: dict[str, str] | None = None
    end: int = 0
    problem: str = ""
    problem_path: str = ""
    name: str = ""
    message: Any = None
    sensitive: bool = False
    known: bool = False
    plain: bool = False

    def rows(self, path: str, depth: int) -> Iterator[Row]:
        stretch, show = self.stretch, self.trust.show_secrets
        if self.plain:
            yield stretch.row(self.span.start, self.span.end, field=path, type="bytes", depth=depth)
            return
        yield stretch.row(
            self.span.start,
            self.span.end,
            field=path,
            type=self.name or "value",
            problem="" if self.end < self.span.end else self.problem,
            depth=depth,
            group=True,
        )
        yield from span_rows(stretch, self.head, depth=depth + 1, path=path, notes=self.notes or {})
        judge = is_open if show else self._judge()
        yield from span_rows(
            stretch, self.spans, depth=depth + 1, path=path, is_secret=judge, mask=MASK
        )
        hidden = not (show or (self.known and self.trust.valid and not self.sensitive))
        yield from stretch.raw(
            self.end,
            self.span.end,
            hidden=hidden,
            field=joined(path, self.problem_path),
            problem=self.problem or "bytes left after the record",
            depth=depth + 1,
        )

    def _judge(self) -> Callable[[Span], bool]:
        """Return which primitives are secret: those that `redact` masks, and all that may be."""
        whole = self.message is not None and self.end == self.span.end
        if not self.sensitive:
            # Where bits moved, a field may have swallowed what follows it; short ones hold little.
            moved = not (whole or self.trust.valid or self.trust.torn)
            return _is_long if moved else is_open
        if not whole:
            return lambda span: True
        masked = redact(self.name, self.message)

        def is_secret(span: Span) -> bool:
            if span.type == "unknown tagged field":
                return True
            value: Any = masked
            for step in re.findall(r"[^.\[\]]+", span.path):
                value = value[int(step)] if step.isdigit() else value.get(step)
                if value == MASK:
                    return not span.type.startswith(("length", "tag", "size"))
                if value is None:
                    return False
            return False

        return is_secret


def _is_long(span: Span) -> bool:
    return span.end - span.start > 4


def framed(stretch: FileBytes, span: Span, trust: Trust) -> RecordValue:
    """The value of a data record: the frame, and the message that it names."""
    frame = annotate_by(spec_files.FRAME, stretch.data, span.start, span.end)
    value = RecordValue(stretch, span, trust, head=frame.spans, end=frame.end, notes={})
    if frame.error is not None:
        value.problem, value.problem_path = sentence(frame.error), frame.error.path
        return value
    version_of_frame, api_key, version = (span.value for span in frame.spans)
    value.sensitive = api_key in SENSITIVE_KEYS
    if version_of_frame != 1:
        value.problem = f"not a metadata record frame (expected 1, found {version_of_frame})"
        return value
    message = schema.metadata_record(api_key)
    value.known = True
    if message is None:
        value.problem = f"{NOT_KNOWN}: api key {api_key}"
        value.notes = {"apiKey": NOT_KNOWN}
        return value
    value.name, value.title = message.name, schema.record_type(message.name)
    value.notes = {"apiKey": value.title}
    if version not in message.versions:
        value.problem = f"{NOT_KNOWN}: version {version} of {value.title}"
        return value
    _read_message(value, message.name, version)
    return value


def controlled(
    stretch: FileBytes, span: Span, trust: Trust, control_type: int | None
) -> RecordValue:
    """The value of a control record, by the type in its key and the version it opens with."""
    kind = control.BY_ID.get(control_type) if control_type is not None else None
    value = RecordValue(stretch, span, trust, end=span.start, known=True)
    if kind is None:
        value.problem = f"{NOT_KNOWN}: control record type {control_type}"
        return value
    value.name, value.title = kind.message, kind.label
    version = annotate_by(spec_files.VALUE_VERSION, stretch.data, span.start, span.end)
    if version.error is not None:
        value.problem, value.problem_path = sentence(version.error), version.error.path
        return value
    number = version.value["version"]
    if kind.is_transaction_marker:
        value.head, value.end, number = version.spans, version.end, 0
    if number not in schema.message(kind.message).versions:
        value.problem = f"{NOT_KNOWN}: version {number} of {kind.label}"
        return value
    _read_message(value, kind.message, number)
    return value


def _read_message(value: RecordValue, name: str, version: int) -> None:
    annotation = annotate_by(
        description(name, version), value.stretch.data, value.end, value.span.end
    )
    value.spans, value.end, value.message = annotation.spans, annotation.end, annotation.value
    if annotation.error is not None:
        value.problem, value.problem_path = sentence(annotation.error), annotation.error.path
    elif annotation.end < value.span.end:
        value.problem = f"bytes left after the record ({value.span.end - annotation.end})"
