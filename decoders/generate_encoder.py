"""Source of the encode function of one message and version.

Owns how `codec.py` encodes. A generated function refuses names that the message lacks and values
that the version would lose.
"""

from __future__ import annotations

import struct
from operator import itemgetter

from kraftool.decoders.generate import (
    FIXED,
    PACKERS,
    UNKNOWN_TAGGED_FIELDS,
    Generated,
    Site,
    default_of,
    is_fixed,
    run_format,
    runs,
)
from kraftool.decoders.schema.notation import Field, MessageSchema
from kraftool.decoders.wire import NULL, UUID_BYTES, Malformed, unsigned_varint


class _Encoder:
    """Writes the body of one encode function."""

    def __init__(self, message: MessageSchema, version: int) -> None:
        self.version = version
        self.flexible = message.is_flexible(version)
        self.out = Generated(
            constants={
                "Malformed": Malformed,
                "NULL": NULL,
                "uvarint": unsigned_varint,
                "UUID": UUID_BYTES,
                "tag_of": itemgetter(0),
            }
        )
        self.out.line(0, "def run(v):")
        self.out.line(1, "o = bytearray()")
        self.structure(message.fields, 1, "", "v", "o")
        self.out.line(1, "return bytes(o)")

    def packer(self, form: str) -> str:
        return self.out.constant("pack_" + form.replace("?", "t"), struct.Struct(">" + form).pack)

    def default(self, field: Field) -> str:
        value = default_of(field, self.version)
        if isinstance(value, (dict, list)):
            return self.out.constant(self.out.name("default"), value)
        return repr(value)

    def structure(
        self, fields: tuple[Field, ...], depth: int, path: str, value: str, target: str
    ) -> None:
        present = [field for field in fields if self.version in field.versions]
        self.refuse_others(fields, depth, path, value)
        plain = [field for field in present if not field.is_tagged(self.version)]
        for run in runs(plain):
            if is_fixed(run[0]):
                self.fixed(run, depth, path, value, target)
            else:
                self.field(
                    run[0],
                    depth,
                    path,
                    f"{value}.get({run[0].name!r}, {self.default(run[0])})",
                    target,
                )
        if self.flexible:
            tagged = [field for field in present if field.is_tagged(self.version)]
            self.tagged(
                sorted(tagged, key=lambda field: field.tag or 0), depth, path, value, target
            )

    def refuse_others(self, fields: tuple[Field, ...], depth: int, path: str, value: str) -> None:
        """Refuse names the struct does not have, and values that this version would lose."""
        known = {field.name for field in fields} | {UNKNOWN_TAGGED_FIELDS}
        keys = self.out.constant(self.out.name("keys"), frozenset(known))
        site = Site(path.rstrip("."))
        self.out.line(depth, f"if not {keys} >= {value}.keys():", site)
        self.out.line(
            depth + 1,
            f"raise Malformed('no such field: ' + ', '.join(sorted({value}.keys() - {keys})))",
            site,
        )
        for field in fields:
            if self.version not in field.versions and not field.ignorable:
                default = self.default(field)
                self.out.line(
                    depth,
                    f"if {value}.get({field.name!r}, {default}) != {default}: "
                    "raise Malformed('this version does not have the field')",
                    Site(path + field.name),
                )

    def fixed(self, run: list[Field], depth: int, path: str, value: str, target: str) -> None:
        parts = []
        for field in run:
            part = f"{value}.get({field.name!r}, {self.default(field)})"
            parts.append(f"UUID[{part}]" if field.type == "uuid" else part)
        names = ", ".join(field.name for field in run)
        self.out.line(
            depth,
            f"{target} += {self.packer(run_format(run)[1:])}({', '.join(parts)})",
            Site(path + names),
        )

    def length(self, field: Field, depth: int, site: Site, flexible: bool, target: str) -> None:
        """Write the length `n` of what follows; None is null."""
        if flexible:
            self.out.line(depth, f"if n < 127: {target}.append(n + 1)")
            self.out.line(depth, f"else: {target} += uvarint(n + 1)", site)
        else:
            form = "h" if field.type == "string" else "i"
            self.out.line(depth, f"{target} += {self.packer(form)}(n)", site)

    def field(self, field: Field, depth: int, path: str, expression: str, target: str) -> None:
        site = Site(path + field.name)
        flexible = self.flexible if field.flexible is None else self.version in field.flexible
        nullable = self.version in field.nullable
        x = self.out.name("x")
        self.out.line(depth, f"{x} = {expression}", site)
        if field.is_struct and not field.is_array:
            self.single_struct(field, depth, path, x, target, nullable)
            return
        self.out.line(depth, f"if {x} is None:")
        if nullable:
            self.out.line(depth + 1, "n = -1")
            self.length(field, depth + 1, site, flexible, target)
        else:
            self.out.line(depth + 1, "raise Malformed(NULL)", site)
        self.out.line(depth, "else:")
        depth += 1
        if field.type == "string":
            self.out.line(depth, f"{x} = {x}.encode('utf-8', 'surrogateescape')", site)
        self.out.line(depth, f"n = len({x})", site)
        self.length(field, depth, site, flexible, target)
        if not field.is_array:
            self.out.line(depth, f"{target} += {x}", site)
        elif field.element == "uuid":
            self.out.line(depth, f"{target} += b''.join([UUID[i] for i in {x}])", site)
        elif field.element in FIXED:
            packers = self.out.constant(f"pack_{field.element}s", PACKERS[field.element])
            self.out.line(depth, f"{target} += {packers}[n](*{x})", site)
        else:
            index, item = self.out.name("i"), self.out.name("x")
            self.out.line(depth, f"for {index}, {item} in enumerate({x}):", site)
            below = f"{path}{field.name}[{{{index}}}]"
            if field.is_struct:
                self.structure(field.fields, depth + 1, below + ".", item, target)
            else:
                one = Field(name="", type=field.element, versions=field.versions)
                self.field(one, depth + 1, below, item, target)

    def single_struct(
        self, field: Field, depth: int, path: str, x: str, target: str, nullable: bool
    ) -> None:
        below = path + field.name + "."
        if nullable:
            self.out.line(depth, f"if {x} is None: {target} += b'\\xff'")
            self.out.line(depth, "else:")
            depth += 1
            self.out.line(depth, f"{target} += b'\\x01'")
        self.structure(field.fields, depth, below, x, target)

    def tagged(self, tagged: list[Field], depth: int, path: str, value: str, target: str) -> None:
        """Write the tagged section: what differs from its default, and the unknown, by tag."""
        site = Site(path + "taggedFields")
        entries, part = self.out.name("g"), self.out.name("o")
        self.out.line(depth, f"{entries} = []")
        for field in tagged:
            x, default = self.out.name("x"), self.default(field)
            here = Site(path + field.name)
            self.out.line(depth, f"{x} = {value}.get({field.name!r}, {default})")
            self.out.line(depth, f"if {x} != {default}:")
            if is_fixed(field):
                raw = f"UUID[{x}]" if field.type == "uuid" else x
                packer = self.packer(run_format([field])[1:])
                self.out.line(depth + 1, f"{part} = {packer}({raw})", here)
            else:
                self.out.line(depth + 1, f"{part} = bytearray()")
                self.field(field, depth + 1, path, x, part)
            self.out.line(depth + 1, f"{entries}.append(({field.tag}, {part}))", here)
        self.out.line(depth, f"if {UNKNOWN_TAGGED_FIELDS!r} in {value}:")
        unknown = f"((t, d) for t, d in {value}[{UNKNOWN_TAGGED_FIELDS!r}])"
        self.out.line(depth + 1, f"{entries} = sorted([*{unknown}, *{entries}], key=tag_of)", site)
        self.out.line(depth, f"{target} += uvarint(len({entries}))")
        self.out.line(depth, f"for t, d in {entries}:")
        self.out.line(depth + 1, "n = len(d)")
        self.out.line(
            depth + 1, f"if 0 <= t < 128 > n: {target}.append(t); {target}.append(n); {target} += d"
        )
        self.out.line(depth + 1, f"else: {target} += uvarint(t) + uvarint(n) + d")


def encoder_source(message: MessageSchema, version: int) -> Generated:
    """Generate `run(value) -> bytes`."""
    return _Encoder(message, version).out
