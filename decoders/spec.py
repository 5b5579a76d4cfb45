"""The reference: a `construct` description of every message and version, made from the catalogue.

Owns the descriptions, and parsing, building and annotating by them. Values have the form that
`codec.py` documents, and failures are the same DecodeErrors; tests hold the two equal. It is slow
and is meant to be: where speed matters, use the codec. It shares no logic with `generate.py`,
since two readings of the catalogue are only worth something if they are two.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from io import BytesIO
from typing import Any

from kraftool.decoders import schema
from kraftool.decoders.errors import DecodeError
from kraftool.decoders.schema import Field, MessageSchema
from kraftool.decoders.spec_primitives import (
    COMPACT,
    FIXED,
    UNKNOWN_TAGGED_FIELDS,
    Adapter,
    Construct,
    Context,
    Elements,
    Fixed,
    Grouped,
    OrNull,
    ParseTrace,
    Pass,
    Sequence,
    Sized,
    Span,
    SpecEncodeError,
    Struct,
    TaggedSection,
    refuse,
)

__all__ = ["Annotation", "Span", "SpecEncodeError", "annotate", "build", "description", "parse"]

Value = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Annotation:
    """The meaning of a message's bytes. On failure: the spans before it, the error, and no
    value."""

    spans: tuple[Span, ...]
    end: int
    value: Any = None
    error: DecodeError | None = None


def parse(name: str, version: int, data: bytes, position: int = 0) -> tuple[Value, int]:
    """Parse one message; return its value and the position after it."""
    stream = BytesIO(data)
    stream.seek(position)
    value: Value = description(name, version).parse_stream(
        stream, end=len(data), trace=ParseTrace(wanted=False)
    )
    return value, stream.tell()


def build(name: str, version: int, value: Value) -> bytes:
    """Build one message. Fields that are left out take their defaults."""
    return description(name, version).build(value)


def annotate(name: str, version: int, data: bytes, position: int = 0) -> Annotation:
    """Parse one message and say which bytes became which field."""
    return annotate_by(description(name, version), data, position)


def annotate_by(
    what: Construct, data: bytes, position: int = 0, end: int | None = None
) -> Annotation:
    """Parse by any description, between `position` and `end`, and say what the bytes are."""
    stream = BytesIO(data)
    stream.seek(position)
    trace = ParseTrace()
    try:
        value = what.parse_stream(stream, end=len(data) if end is None else end, trace=trace)
    except DecodeError as error:
        # What was read behind the place that the error names belongs to the damage.
        spans = _before(trace.spans, error.position)
        return Annotation(spans=spans, end=error.position, error=error)
    return Annotation(spans=tuple(trace.spans), end=stream.tell(), value=value)


def _before(spans: list[Span] | tuple[Span, ...], position: int) -> tuple[Span, ...]:
    """Keep the spans that end by `position`; a group that reaches over it keeps its parts."""
    kept = []
    for span in spans:
        if span.end <= position:
            kept.append(span)
        elif span.start < position and (parts := _before(span.parts, position)):
            whole = Span(
                start=span.start, end=parts[-1].end, path=span.path, type=span.type, parts=parts
            )
            kept.append(whole)
    return tuple(kept)


@cache
def description(name: str, version: int) -> Construct:
    """The construct description of this message and version."""
    message = schema.message(name)
    if version not in message.versions:
        raise SpecEncodeError(f"{name} has versions {message.versions}, not {version}")
    return MessageStruct(_Version(message, version), message.fields)


@dataclass(frozen=True, slots=True)
class _Version:
    message: MessageSchema
    version: int

    @property
    def flexible(self) -> bool:
        return self.message.is_flexible(self.version)

    def has(self, field: Field) -> bool:
        return self.version in field.versions

    def is_flexible(self, field: Field) -> bool:
        """True if the field's length is a compact one; RequestHeader's clientId never is."""
        return self.flexible if field.flexible is None else self.version in field.flexible

    def is_nullable(self, field: Field) -> bool:
        return self.version in field.nullable

    def default(self, field: Field) -> Any:
        """The value of a field that nobody has set."""
        if field.default == "null":
            return None
        if field.type.startswith("[]"):
            return []
        if field.is_struct:
            return {part.name: self.default(part) for part in field.fields if self.has(part)}
        written = field.default
        if field.type == "string":
            return written or ""
        if field.type in ("bytes", "records"):
            return b""
        if field.type == "bool":
            return written == "true"
        if field.type == "uuid":
            return written or "A" * 22
        if field.type == "float64":
            return float(written) if written else 0.0
        if not written:
            return 0
        return int(written, 16) if written.lower().startswith("0x") else int(written)


class MessageStruct(Adapter):
    """A struct's plain fields, then, in a flexible version, its tagged ones, as one dict."""

    def __init__(self, version: _Version, fields: tuple[Field, ...]) -> None:
        self.version = version
        self.fields = [field for field in fields if version.has(field)]
        self.absent = [field for field in fields if not version.has(field)]
        self.tagged = {
            field.tag: field
            for field in self.fields
            if field.tag is not None and version.version in field.tagged
        }
        self.plain = [field for field in self.fields if field not in self.tagged.values()]
        described = [_describe(version, field) for field in self.plain]
        section: Construct = Pass
        if version.flexible:
            section = TaggedSection(
                {tag: field.name / _describe(version, field) for tag, field in self.tagged.items()},
                {field.name: version.default(field) for field in self.tagged.values()},
            )
        names = [field.name for field in self.plain]
        plain = Struct(
            *(name / construct for name, construct in zip(names, described, strict=True))
        )
        super().__init__(Sequence(plain, section))
        self.fewest = sum(map(least, described)) + version.flexible

    def _decode(self, obj: Any, context: Context, path: str) -> Value:
        plain, tagged = obj
        tagged = tagged or {}
        value = {}
        for field in self.fields:
            if field in self.plain:
                value[field.name] = plain[field.name]
            else:
                value[field.name] = tagged.get(field.name, self.version.default(field))
        if UNKNOWN_TAGGED_FIELDS in tagged:
            value[UNKNOWN_TAGGED_FIELDS] = tagged[UNKNOWN_TAGGED_FIELDS]
        return value

    def _encode(self, obj: Any, context: Context, path: str) -> tuple[Value, Value]:
        if not isinstance(obj, dict):
            refuse(f"not a struct: {obj!r}", path)
        known = {field.name for field in [*self.fields, *self.absent]} | {UNKNOWN_TAGGED_FIELDS}
        strange = sorted(set(obj) - known)
        if strange:
            refuse(f"no such field: {', '.join(strange)}", path)
        for field in self.absent:
            lost = field.name in obj and obj[field.name] != self.version.default(field)
            if lost and not field.ignorable:
                refuse("this version does not have the field", f"{path} -> {field.name}")
        whole = {
            field.name: obj.get(field.name, self.version.default(field)) for field in self.fields
        }
        if UNKNOWN_TAGGED_FIELDS in obj:
            whole[UNKNOWN_TAGGED_FIELDS] = obj[UNKNOWN_TAGGED_FIELDS]
        return whole, whole


def least(what: Construct) -> int:
    """The fewest bytes that a part of a message can take."""
    if isinstance(what, Grouped):
        return least(what.subcon)
    if isinstance(what, MessageStruct):
        return what.fewest
    if isinstance(what, OrNull):
        return 1
    assert isinstance(what, Fixed | Sized | Elements), what
    return what.least()


def _describe(version: _Version, field: Field) -> Construct:
    """Describe one field; of an array's elements, neither the lengths' form nor null is theirs."""
    compact, nullable = version.is_flexible(field), version.is_nullable(field)
    if field.type.startswith("[]"):
        element = _element(version, field, compact=version.flexible, nullable=False)
        prefix = COMPACT if compact else FIXED["int32"]
        return Elements(element, least(element), prefix, nullable=nullable)
    element = _element(version, field, compact=compact, nullable=nullable)
    return OrNull(element) if field.is_struct and nullable else element


def _element(version: _Version, field: Field, *, compact: bool, nullable: bool) -> Construct:
    kind = field.type.removeprefix("[]")
    if kind in FIXED:
        return FIXED[kind]
    if kind == "string":
        return Sized("string", COMPACT if compact else FIXED["int16"], nullable=nullable)
    if kind in ("bytes", "records"):
        return Sized(kind, COMPACT if compact else FIXED["int32"], nullable=nullable)
    return Grouped(MessageStruct(version, field.fields))
