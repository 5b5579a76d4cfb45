"""The building blocks of the reference description: `construct` classes for Kafka's primitives.

Owns what `construct` lacks: varints of bounded length, lengths and counts that are held against
the bytes left before anything is allocated, tagged sections, and a trace of which bytes became
which value. It refuses to know any message, and never uses construct's compiler, which is not for
untrusted bytes.
"""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode
from binascii import Error as Base64Error
from collections.abc import Mapping
from io import BytesIO
from typing import Any, NoReturn

from kraftool.decoders.errors import DecodeError, KraftoolError
from kraftool.decoders.spec_construct import (
    Adapter,
    Bytes,
    Construct,
    ConstructError,
    Context,
    Flag,
    Float64b,
    Int8sb,
    Int16sb,
    Int16ub,
    Int32sb,
    Int32ub,
    Int64sb,
    ParseTrace,
    Pass,
    Sequence,
    Span,
    Struct,
    Subconstruct,
    dotted,
)
from kraftool.decoders.wire import NEGATIVE, NULL, TAG_SIZE, TRUNCATED, VARINT

UNKNOWN_TAGGED_FIELDS = "unknownTaggedFields"


class SpecEncodeError(KraftoolError):
    """A value that the description cannot carry."""


def fail(reason: str, position: int, path: str, expected: str = "", found: str = "") -> NoReturn:
    raise DecodeError(reason, position=position, path=dotted(path), expected=expected, found=found)


def _truncated(needed: int, left: int, position: int, path: str) -> NoReturn:
    fail(TRUNCATED, position, path, f"{needed} bytes", f"{max(left, 0)} left")


def refuse(reason: str, path: str) -> NoReturn:
    raise SpecEncodeError(f"{dotted(path) or 'message'}: {reason}")


class Primitive(Construct):
    """Something with a value of its own: the leaf of every description."""

    kind = ""

    def least(self) -> int:
        """The fewest bytes that it can take."""
        return 1

    def read(self, stream: BytesIO, context: Context, path: str, start: int) -> Any:
        """Read without a trace; `start` is what an error names as the position."""
        raise NotImplementedError

    def write(self, value: Any) -> bytes:
        raise NotImplementedError

    def _parse(self, stream: BytesIO, context: Context, path: str) -> Any:
        start = stream.tell()
        value = self.read(stream, context, path, start)
        context._params.trace.leaf(start, stream.tell(), path, self.kind, value)
        return value

    def _build(self, obj: Any, stream: BytesIO, context: Context, path: str) -> Any:
        try:
            stream.write(self.write(obj))
        except (ConstructError, TypeError, ValueError, AttributeError) as error:
            refuse(str(error) or type(error).__name__, path)
        return obj


class Fixed(Primitive):
    """A number of fixed size, read by the construct class of its format."""

    def __init__(self, kind: str, subcon: Construct) -> None:
        super().__init__()
        self.kind = kind
        self.subcon = subcon

    def least(self) -> int:
        return self.subcon.sizeof()

    def read(self, stream: BytesIO, context: Context, path: str, start: int) -> Any:
        # The stream may hold more than this description is allowed to read.
        here, size = stream.tell(), self.least()
        if here + size > context._params.end:
            _truncated(size, context._params.end - here, start, path)
        return self.subcon._parsereport(stream, context, path)

    def write(self, value: Any) -> bytes:
        return self.subcon.build(value)


class UuidText(Adapter):
    """Sixteen bytes as Kafka writes a uuid: url-safe base64 without padding."""

    def _decode(self, obj: Any, context: Context, path: str) -> str:
        return urlsafe_b64encode(obj).decode().rstrip("=")

    def _encode(self, obj: Any, context: Context, path: str) -> bytes:
        try:
            raw = urlsafe_b64decode(obj + "==")
        except Base64Error as error:
            refuse(f"not a uuid: {error}", path)
        if len(raw) != 16:
            refuse(f"not a uuid: {len(raw)} bytes", path)
        return raw


FIXED: Mapping[str, Fixed] = {
    kind: Fixed(kind, subcon)
    for kind, subcon in {
        "bool": Flag,
        "int8": Int8sb,
        "int16": Int16sb,
        "uint16": Int16ub,
        "int32": Int32sb,
        "uint32": Int32ub,
        "int64": Int64sb,
        "float64": Float64b,
        "uuid": UuidText(Bytes(16)),
    }.items()
}


class UnsignedVarint(Primitive):
    """Seven bits a byte, the lowest first; `most` bytes at most."""

    kind = "uvarint"
    most = 5

    def read(self, stream: BytesIO, context: Context, path: str, start: int) -> int:
        value = 0
        for index in range(self.most):
            if stream.tell() >= context._params.end:
                _truncated(1, context._params.end - start, start, path)
            byte = stream.read(1)[0]
            value += (byte % 128) << (7 * index)
            if byte < 128:
                return value
        fail(VARINT, start, path, f"at most {self.most} bytes")

    def write(self, value: int) -> bytes:
        if not 0 <= value < 128**self.most:
            raise ValueError(f"not a {self.kind}: {value}")
        out = [value % 128]
        while value := value // 128:
            out[-1] += 128
            out.append(value % 128)
        return bytes(out)


class ZigZag(UnsignedVarint):
    """A signed number, small ones of either sign first: 0, -1, 1, -2 …"""

    def __init__(self, kind: str, bits: int) -> None:
        super().__init__()
        self.kind = kind
        self.bits = bits
        self.most = (bits + 6) // 7

    def read(self, stream: BytesIO, context: Context, path: str, start: int) -> int:
        # Kafka shifts into an int or long: what lies above its bits is lost.
        value: int = super().read(stream, context, path, start) % 2**self.bits
        return -(value + 1) // 2 if value % 2 else value // 2

    def write(self, value: int) -> bytes:
        if not -(2 ** (self.bits - 1)) <= value < 2 ** (self.bits - 1):
            raise ValueError(f"not a {self.kind}: {value}")
        return super().write(-2 * value - 1 if value < 0 else 2 * value)


class PlusOne(UnsignedVarint):
    """The length of a compact string, bytes or array: one more than it is, zero for null."""

    def read(self, stream: BytesIO, context: Context, path: str, start: int) -> int:
        return super().read(stream, context, path, start) - 1

    def write(self, value: int) -> bytes:
        return super().write(value + 1)


UVARINT = UnsignedVarint()
VARINT32 = ZigZag("varint", 32)
VARINT64 = ZigZag("varlong", 64)
COMPACT = PlusOne()


class VarintLength(ZigZag):
    """The length of a record's key or value: any negative one is null."""

    def read(self, stream: BytesIO, context: Context, path: str, start: int) -> int:
        return max(super().read(stream, context, path, start), -1)


VARINT_LENGTH = VarintLength("varint", 32)


class Counted(Construct):
    """The common part of string, bytes and array: a length first, which may say null."""

    def __init__(self, prefix: Primitive, *, nullable: bool) -> None:
        super().__init__()
        self.prefix = prefix
        self.nullable = nullable

    def least(self) -> int:
        return self.prefix.least()

    def length(self, stream: BytesIO, context: Context, path: str, unit: int, kind: str) -> int:
        """Read the length, hold it against the bytes left, and return it; -1 is null."""
        start = stream.tell()
        length: int = self.prefix.read(stream, context, path, start)
        if length < -1:
            fail(NEGATIVE, start, path, "-1 or more", str(length))
        if length < 0 and not self.nullable:
            fail(NULL, start, path)
        here = stream.tell()
        if length * unit > context._params.end - here:
            _truncated(length * unit, context._params.end - here, start, path)
        value = None if length < 0 else length
        context._params.trace.leaf(start, here, path, f"{kind} ({self.prefix.kind})", value)
        return length

    def write_length(self, obj: Any, stream: BytesIO, path: str) -> None:
        if obj is None and not self.nullable:
            refuse(NULL, path)
        length = -1 if obj is None else len(obj)
        try:
            stream.write(self.prefix.write(length))
        except (ConstructError, ValueError) as error:
            refuse(str(error), path)


class Sized(Counted):
    """A string, or bytes, behind its length."""

    def __init__(self, kind: str, prefix: Primitive, *, nullable: bool) -> None:
        super().__init__(prefix, nullable=nullable)
        self.kind = kind

    def _parse(self, stream: BytesIO, context: Context, path: str) -> Any:
        length = self.length(stream, context, path, 1, "length")
        if length < 0:
            return None
        start = stream.tell()
        raw = stream.read(length)
        # Bytes that are no UTF-8 are kept as they are, so that they can be written back.
        value = raw.decode("utf-8", "surrogateescape") if self.kind == "string" else raw
        context._params.trace.leaf(start, start + length, path, self.kind, value)
        return value

    def _build(self, obj: Any, stream: BytesIO, context: Context, path: str) -> Any:
        if obj is not None and not isinstance(obj, str if self.kind == "string" else bytes):
            refuse(f"not {self.kind}: {obj!r}", path)
        raw = obj.encode("utf-8", "surrogateescape") if isinstance(obj, str) else obj
        self.write_length(raw, stream, path)
        stream.write(raw or b"")
        return obj


class Elements(Counted):
    """An array behind its count. construct's own arrays neither bound a count nor name an index."""

    def __init__(
        self, element: Construct, least: int, prefix: Primitive, *, nullable: bool
    ) -> None:
        super().__init__(prefix, nullable=nullable)
        self.element = element
        self.unit = max(least, 1)

    def _parse(self, stream: BytesIO, context: Context, path: str) -> list[Any] | None:
        length = self.length(stream, context, path, self.unit, "count")
        if length < 0:
            return None
        return [
            self.element._parsereport(stream, context, f"{path}[{index}]")
            for index in range(length)
        ]

    def _build(self, obj: Any, stream: BytesIO, context: Context, path: str) -> Any:
        if obj is not None and not isinstance(obj, list | tuple):
            refuse(f"not an array: {obj!r}", path)
        self.write_length(obj, stream, path)
        for index, member in enumerate(obj or ()):
            self.element._build(member, stream, context, f"{path}[{index}]")
        return obj


class Grouped(Subconstruct):
    """A struct whose primitives the trace shows as a group."""

    def _parse(self, stream: BytesIO, context: Context, path: str) -> Any:
        with context._params.trace.group(path, "struct"):
            return self.subcon._parsereport(stream, context, path)


class OrNull(Subconstruct):
    """A struct that may be null, which its first byte says: below zero for null (KIP-893)."""

    marker = Fixed("present (int8)", Int8sb)

    def _parse(self, stream: BytesIO, context: Context, path: str) -> Any:
        if self.marker._parsereport(stream, context, path) < 0:
            return None
        return self.subcon._parsereport(stream, context, path)

    def _build(self, obj: Any, stream: BytesIO, context: Context, path: str) -> Any:
        self.marker._build(-1 if obj is None else 1, stream, context, path)
        if obj is not None:
            self.subcon._build(obj, stream, context, path)
        return obj


class TaggedSection(Construct):
    """The tagged fields at the end of a flexible struct, as a dict by name.

    A value is read on from where it starts and then held against its stated size, as Kafka does.
    """

    def __init__(self, known: Mapping[int, Construct], defaults: Mapping[str, Any]) -> None:
        super().__init__()
        self.known = known
        self.defaults = defaults

    def _parse(self, stream: BytesIO, context: Context, path: str) -> dict[str, Any]:
        here = f"{path} -> taggedFields"
        trace = context._params.trace
        start = stream.tell()
        count: int = UVARINT.read(stream, context, here, start)
        trace.leaf(start, stream.tell(), here, "count (uvarint)", count)
        tagged_fields: dict[str, Any] = {}
        unknown = []
        # Each turn takes two bytes at least or fails, so the bytes left bound the loop.
        for _ in range(count):
            entry = stream.tell()
            tag: int = UVARINT.read(stream, context, here, entry)
            behind_tag = stream.tell()
            size: int = UVARINT.read(stream, context, here, entry)
            start = stream.tell()
            if start + size > context._params.end:
                _truncated(size, context._params.end - start, entry, here)
            subcon = self.known.get(tag)
            place = f"{path} -> {subcon.name}" if subcon is not None else here
            with trace.group(place, f"tag {tag}"):
                trace.leaf(entry, behind_tag, place, "tag (uvarint)", tag)
                trace.leaf(behind_tag, start, place, "size (uvarint)", size)
                if subcon is None:
                    raw = stream.read(size)
                    unknown.append([tag, raw])
                    trace.leaf(start, start + size, place, "unknown tagged field", raw)
                    continue
                # A tagged field is named, so construct adds the name to the path itself.
                tagged_fields[subcon.name or ""] = subcon._parsereport(stream, context, path)
                taken = stream.tell() - start
                if taken != size:
                    fail(TAG_SIZE, start, place, f"{size} bytes", f"{taken} taken")
        if unknown:
            tagged_fields[UNKNOWN_TAGGED_FIELDS] = unknown
        return tagged_fields

    def _build(self, obj: Any, stream: BytesIO, context: Context, path: str) -> Any:
        entries: list[tuple[int, bytes]] = [
            (tag, bytes(raw)) for tag, raw in obj.get(UNKNOWN_TAGGED_FIELDS, ())
        ]
        for tag, subcon in self.known.items():
            name = subcon.name or ""
            if obj[name] != self.defaults[name]:
                part = BytesIO()
                subcon._build(obj[name], part, context, path)
                entries.append((tag, part.getvalue()))
        entries.sort(key=lambda entry: entry[0])
        stream.write(UVARINT.write(len(entries)))
        for tag, raw in entries:
            stream.write(UVARINT.write(tag) + UVARINT.write(len(raw)) + raw)
        return obj


__all__ = [
    "COMPACT",
    "FIXED",
    "UNKNOWN_TAGGED_FIELDS",
    "UVARINT",
    "VARINT32",
    "VARINT64",
    "VARINT_LENGTH",
    "Adapter",
    "Bytes",
    "Construct",
    "Context",
    "Counted",
    "Elements",
    "Fixed",
    "Grouped",
    "OrNull",
    "ParseTrace",
    "Pass",
    "Primitive",
    "Sequence",
    "Sized",
    "Span",
    "SpecEncodeError",
    "Struct",
    "Subconstruct",
    "TaggedSection",
    "dotted",
    "fail",
    "refuse",
]
