"""Source of the decode function of one message and version.

Owns how `codec.py` decodes. A generated function reads `b` from `p` and moves `p` only past what it
has read whole, so that on failure `p` is where the failing field starts and the line that failed
tells which field it is; there is no bookkeeping on the fast path.
"""

from __future__ import annotations

import struct
from base64 import b64encode
from typing import Any

from kraftool.decoders.generate import (
    FIXED,
    UNKNOWN_TAGGED_FIELDS,
    UNPACKERS,
    Generated,
    Site,
    default_of,
    is_fixed,
    minimum_element,
    run_format,
    runs,
)
from kraftool.decoders.generate_encoder import encoder_source
from kraftool.decoders.schema.notation import NO_VERSIONS, Field, MessageSchema, Versions
from kraftool.decoders.wire import (
    JAVA_REPLACE,
    NEGATIVE,
    NULL,
    TAG_SIZE,
    UUID_BYTES,
    UUID_TEXT,
    Malformed,
    beyond,
    read_unsigned_varint,
)


class _Lists(dict[bytes, list[Any]]):
    """Lists of fixed-size elements by their bytes: replica sets repeat through a whole log."""

    def __init__(self, form: str, size: int) -> None:
        super().__init__()
        self._form, self._size = form, size

    def read(self, raw: bytes) -> list[Any]:
        if self._form == "16s":
            return [UUID_TEXT[raw[at : at + 16]] for at in range(0, len(raw), 16)]
        return [*struct.unpack(f">{len(raw) // self._size}{self._form}", raw)]

    def __missing__(self, raw: bytes) -> list[Any]:
        if len(self) >= 10_000:
            self.clear()
        elements = self.read(raw)
        if len(raw) <= 1024:
            self[raw] = elements
        return elements


_LISTS = {form: _Lists(form, size) for form, size in FIXED.values()}


class _Decoder:
    """Writes the body of one decode function."""

    def __init__(self, message: MessageSchema, version: int, json: bool) -> None:
        self.version = version
        self.flexible = message.is_flexible(version)
        self.json = json
        self.out = Generated(
            constants={
                "Malformed": Malformed,
                "NULL": NULL,
                "NEGATIVE": NEGATIVE,
                "TAG_SIZE": TAG_SIZE,
                "beyond": beyond,
                "uvarint": read_unsigned_varint,
                "U": UUID_TEXT,
                "base64": b64encode,
            }
        )
        self.out.line(0, "def run(b, p):")
        self.out.line(1, "end = len(b)")
        result = self.structure(message.fields, 1, "")
        self.out.line(1, f"return {result}, p")

    def structure(self, fields: tuple[Field, ...], depth: int, path: str) -> str:
        """Read a struct's fields; return the expression of its value."""
        present = [field for field in fields if self.version in field.versions]
        tagged = [field for field in present if field.is_tagged(self.version)]
        plain = [field for field in present if not field.is_tagged(self.version)]
        names = {field.name: self.out.name("f") for field in present}
        for run in runs(plain):
            if is_fixed(run[0]):
                self.fixed(run, names, depth, path)
            else:
                self.field(run[0], names[run[0].name], depth, path)
        whole = {field.name: self.finished(field, names[field.name]) for field in present}
        if not self.flexible:
            return self.literal(whole)
        return self.tagged(present, tagged, names, whole, depth, path)

    def literal(self, values: dict[str, str]) -> str:
        return "{" + ", ".join(f"{name!r}: {value}" for name, value in values.items()) + "}"

    def finished(self, field: Field, name: str) -> str:
        """The expression that turns what was read into the value."""
        return f"U[{name}]" if field.type == "uuid" else name

    def fixed(self, run: list[Field], names: dict[str, str], depth: int, path: str) -> None:
        form = run_format(run)
        reader = self.reader(form[1:])
        parts = tuple((field.name, FIXED[field.type][1]) for field in run)
        targets = ", ".join(names[field.name] for field in run)
        self.out.line(
            depth, f"{targets}{',' if len(run) == 1 else ''} = {reader}(b, p)", Site(path, parts)
        )
        self.out.line(depth, f"p += {struct.calcsize(form)}")

    def length(self, field: Field, depth: int, site: Site, flexible: bool) -> None:
        """Read a length prefix into `n` and move `q` behind it; -1 means null."""
        if flexible:
            self.out.line(depth, "n = b[p]; q = p + 1", site)
            self.out.line(depth, "if n > 127: n, q = uvarint(b, p)", site)
            self.out.line(depth, "n -= 1")
        elif field.type == "string":
            prefix = Site(site.path, (("", 2),))
            self.out.line(depth, f"n, = {self.reader('h')}(b, p); q = p + 2", prefix)
        else:
            prefix = Site(site.path, (("", 4),))
            self.out.line(depth, f"n, = {self.reader('i')}(b, p); q = p + 4", prefix)

    def reader(self, form: str) -> str:
        name = "read_" + form.replace("?", "t")
        return self.out.constant(name, struct.Struct(">" + form).unpack_from)

    def field(self, field: Field, name: str, depth: int, path: str) -> None:
        """Read one field of variable size into `name`."""
        site = Site(path + field.name)
        flexible = self.flexible if field.flexible is None else self.version in field.flexible
        nullable = self.version in field.nullable
        if field.is_struct and not field.is_array:
            self.single_struct(field, name, depth, path, nullable)
            return
        if field.is_array and flexible:
            # The empty array, which most are, by its one byte.
            self.out.line(depth, f"if b[p] == 1: {name} = []; p += 1", site)
            self.out.line(depth, "else:")
            depth += 1
        self.length(field, depth, site, flexible)
        self.out.line(depth, "if n < 0:")
        if not flexible:
            self.out.line(
                depth + 1, "if n < -1: raise Malformed(NEGATIVE, '-1 or more', str(n))", site
            )
        if nullable:
            self.out.line(depth + 1, f"{name} = None; p = q")
        else:
            self.out.line(depth + 1, "raise Malformed(NULL)", site)
        self.out.line(depth, "else:")
        if field.is_array:
            self.array(field, name, depth + 1, site, path)
        else:
            self.out.line(depth + 1, "r = q + n")
            self.out.line(depth + 1, "if r > end: raise beyond(n, end - q)", site)
            self.out.line(depth + 1, f"{name} = {self.slice(field.type)}; p = r", site)

    def slice(self, kind: str) -> str:
        if kind == "string":
            # Kafka decodes with replacement; the value form keeps the bytes, to write them back.
            return f"b[q:r].decode('utf-8', {JAVA_REPLACE if self.json else 'surrogateescape'!r})"
        if self.json:
            # Kafka's converters print an empty text for records of any size.
            return "''" if kind == "records" else "base64(b[q:r]).decode()"
        return "b[q:r]"

    def array(self, field: Field, name: str, depth: int, site: Site, path: str) -> None:
        minimum = max(minimum_element(field, self.version, self.flexible), 1)
        times = f" * {minimum}" if minimum > 1 else ""
        self.out.line(depth, f"r = q + n{times}")
        self.out.line(depth, f"if r > end: raise beyond(n{times}, end - q)", site)
        if field.element in FIXED:
            if self.json or field.element == "uuid":
                form, _ = FIXED[field.element]
                lists = self.out.constant("list_of_" + form.replace("?", "t"), _LISTS[form])
                # The value form must be the caller's own; the JSON form may share its lists.
                items = f"{lists}[b[q:r]]" if self.json else f"{lists}.read(b[q:r])"
            else:
                unpackers = UNPACKERS[field.element]
                unpack = self.out.constant(f"unpack_{field.element}s", unpackers)
                items = f"[*{unpack}[n](b, q)]"
            self.out.line(depth, f"{name} = {items}; p = r")
        else:
            index = self.out.name("i")
            self.out.line(depth, f"{name} = []; p = q")
            self.out.line(depth, f"for {index} in range(n):")
            below = f"{path}{field.name}[{{{index}}}]"
            if field.is_struct:
                value = self.structure(field.fields, depth + 1, below + ".")
            else:
                value = self.out.name("f")
                one = Field(name="", type=field.element, versions=field.versions)
                self.field(one, value, depth + 1, below)
            self.out.line(depth + 1, f"{name}.append({value})")

    def single_struct(self, field: Field, name: str, depth: int, path: str, nullable: bool) -> None:
        below = path + field.name + "."
        if not nullable:
            self.out.line(depth, f"{name} = {self.structure(field.fields, depth, below)}")
            return
        # Kafka marks a struct that may be null with a byte: below zero for null.
        self.out.line(depth, f"if b[p] > 127: {name} = None; p += 1", Site(path + field.name))
        self.out.line(depth, "else:")
        self.out.line(depth + 1, "p += 1")
        self.out.line(depth + 1, f"{name} = {self.structure(field.fields, depth + 1, below)}")

    def tagged(
        self,
        present: list[Field],
        tagged: list[Field],
        names: dict[str, str],
        whole: dict[str, str],
        depth: int,
        path: str,
    ) -> str:
        """Read the tagged section; return the name of the finished struct."""
        result, unknown = self.out.name("s"), self.out.name("u")
        site = Site(path + "taggedFields")
        defaults = {field.name: default_of(field, self.version, json=self.json) for field in tagged}
        plain = {k: v for k, v in whole.items() if k not in defaults}
        without_tags = {k: repr(defaults[k]) if k in defaults else v for k, v in whole.items()}
        self.out.line(depth, "if b[p] == 0:", site)
        self.out.line(depth + 1, "p += 1")
        self.out.line(depth + 1, f"{result} = {self.literal(plain if self.json else without_tags)}")
        self.out.line(depth, "else:")
        depth += 1
        count, size, limit, tag = (self.out.name(prefix) for prefix in ("c", "z", "e", "t"))
        # Kafka compares a struct with its default by all it holds, unknown tags included: so do
        # its bytes here, since the JSON form drops those.
        raw = {
            field.name: self.out.name("w")
            for field in tagged
            if self.json and field.is_struct and not field.is_array and field.default != "null"
        }
        self.out.line(depth, f"{unknown} = []")
        for name in raw.values():
            self.out.line(depth, f"{name} = None")
        for field in tagged:
            # A uuid stays bytes until the struct is finished.
            initial = defaults[field.name]
            if field.type == "uuid":
                initial = UUID_BYTES[initial]
            self.out.line(depth, f"{names[field.name]} = {initial!r}")
        self.out.line(depth, f"{count} = b[p]", site)
        self.out.line(depth, f"if {count} > 127: {count}, p = uvarint(b, p)", site)
        self.out.line(depth, "else: p += 1")
        self.out.line(depth, f"for _ in range({count}):")
        self.out.line(depth + 1, f"{tag} = b[p]; q = p + 1", site)
        self.out.line(depth + 1, f"if {tag} > 127: {tag}, q = uvarint(b, p)", site)
        self.out.line(depth + 1, f"{size} = b[q]; q += 1", site)
        self.out.line(depth + 1, f"if {size} > 127: {size}, q = uvarint(b, q - 1)", site)
        self.out.line(depth + 1, f"{limit} = q + {size}")
        self.out.line(depth + 1, f"if {limit} > end: raise beyond({size}, end - q)", site)
        word = "if"
        for field in tagged:
            self.out.line(depth + 1, f"{word} {tag} == {field.tag}:")
            self.out.line(depth + 2, f"p = q; {size}s = q")
            if is_fixed(field):
                self.fixed([field], names, depth + 2, path)
            else:
                self.field(field, names[field.name], depth + 2, path)
            self.out.line(
                depth + 2,
                f"if p != {limit}: "
                f"taken = p - {size}s; p = {size}s; "
                f"raise Malformed(TAG_SIZE, '%d bytes' % {size}, '%d taken' % taken)",
                Site(path + field.name),
            )
            if field.name in raw:
                self.out.line(depth + 2, f"{raw[field.name]} = b[{size}s:p]")
            word = "elif"
        depth_of_unknown = depth + 1
        if tagged:
            self.out.line(depth + 1, "else:")
            depth_of_unknown = depth + 2
        self.out.line(depth_of_unknown, f"{unknown}.append([{tag}, b[q:{limit}]]); p = {limit}")
        if not self.json:
            self.out.line(depth, f"{result} = {self.literal(whole)}")
            self.out.line(depth, f"if {unknown}: {result}[{UNKNOWN_TAGGED_FIELDS!r}] = {unknown}")
            return result
        self.out.line(depth, f"{result} = {{}}")
        for field in present:
            value = whole[field.name]
            store = f"{result}[{field.name!r}] = {value}"
            if field.name in raw:
                default = self.out.constant(
                    self.out.name("raw"), _default_bytes(field, self.version, self.flexible)
                )
                store = f"if {raw[field.name]} not in (None, {default}): {store}"
            elif field.name in defaults:
                store = f"if {value} != {defaults[field.name]!r}: {store}"
            self.out.line(depth, store)
        return result


def _default_bytes(field: Field, version: int, flexible: bool) -> bytes:
    """Return what the default of a struct takes on the wire."""
    versions = Versions(version, version)
    message = MessageSchema(
        name=field.name,
        kind="data",
        api_key=None,
        versions=versions,
        flexible=versions if flexible else NO_VERSIONS,
        fields=field.fields,
    )
    generated = encoder_source(message, version)
    scope = dict(generated.constants)
    exec(compile(generated.source, "<default>", "exec"), scope)
    written: bytes = scope["run"]({})
    return written


def decoder_source(message: MessageSchema, version: int, *, json: bool) -> Generated:
    """Generate `run(b, p) -> (value, position after it)`."""
    return _Decoder(message, version, json).out
