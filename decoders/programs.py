"""Programs for the native module: how a message of one version is read, and what of it is secret.

Owns the notation, which `native/core/src/program.rs` reads. Python decodes the messages that it
cannot express: those that are not flexible, or have secrets that the notation cannot mask.
"""

from __future__ import annotations

import struct
from functools import cache

from kraftool.decoders import schema
from kraftool.decoders.generate import FIXED, default_of, is_fixed
from kraftool.decoders.redact import BROKER, CONFIG_PATHS, SECRET_PATHS, SENSITIVE_KEYS, ConfigList
from kraftool.decoders.schema.config_names import HARMLESS
from kraftool.decoders.schema.notation import Field, MessageSchema
from kraftool.decoders.wire import UUID_BYTES, unsigned_varint

_MOST_FIELDS, _MOST_TAGS = 64, 32
_NULLABLE, _TAGGED = 1, 2
_CODES = {
    "bool": b"?",
    "int8": b"b",
    "int16": b"h",
    "uint16": b"H",
    "int32": b"i",
    "uint32": b"I",
    "int64": b"q",
    "float64": b"d",
    "uuid": b"u",
    "string": b"t",
    "bytes": b"x",
}
_UNJUDGED = ((BROKER, "listener.name."),)
"""Configs that only a rule in `redact.py` can judge."""

Path = tuple[str, ...]


class _NoProgram(Exception):
    """The notation cannot express the message."""


@cache
def program(api_key: int, version: int, *, masked: bool) -> bytes | None:
    """The program of a metadata record; None if Python has to read it. `masked` hides secrets."""
    message = schema.metadata_record(api_key)
    if message is None or version not in message.versions or not message.is_flexible(version):
        return None
    try:
        return _Writer(message, version, masked=masked).structure(message.fields, ())
    except _NoProgram:
        return None


class _Writer:
    """Writes the program of one message and version."""

    def __init__(self, message: MessageSchema, version: int, *, masked: bool) -> None:
        self.version = version
        self.secrets: set[Path] = set()
        self.configs: ConfigList | None = None
        paths = SECRET_PATHS.get(message.name, ())
        configs = CONFIG_PATHS.get(message.name, ())
        if not masked or not (paths or configs):
            return
        if message.api_key not in SENSITIVE_KEYS:
            raise _NoProgram
        self.secrets = {tuple(path.split(".")) for path in paths}
        if configs:
            if configs != (ConfigList(),):
                raise _NoProgram
            self.configs = configs[0]

    def structure(self, fields: tuple[Field, ...], path: Path) -> bytes:
        """A struct: its fields in the catalogue's order."""
        present = [field for field in fields if self.version in field.versions]
        tags = sum(field.is_tagged(self.version) for field in present)
        if len(present) > _MOST_FIELDS or tags > _MOST_TAGS:
            raise _NoProgram
        names = [field.name for field in present]
        parts = [_number(len(present))]
        parts += (self._field(field, (*path, field.name), names) for field in present)
        return b"".join(parts)

    def _field(self, field: Field, path: Path, names: list[str]) -> bytes:
        if field.flexible is not None or not field.name.isascii() or not field.name.isalnum():
            raise _NoProgram
        flags = _NULLABLE if self.version in field.nullable else 0
        tag = b""
        if field.is_tagged(self.version):
            flags |= _TAGGED
            tag = struct.pack(">I", field.tag) + _text(self._default(field))
        label = _text(f',"{field.name}":'.encode())
        return label + bytes((flags,)) + tag + self._kind(field, path, names)

    def _kind(self, field: Field, path: Path, names: list[str]) -> bytes:
        if path in self.secrets:
            if field.is_tagged(self.version) or field.type not in ("string", "bytes"):
                raise _NoProgram
            return b"m" + _CODES[field.type]
        if self.configs is not None and path == ("value",):
            if field.is_tagged(self.version) or field.type != "string":
                raise _NoProgram
            return b"g" + _guard(names, self.configs)
        if field.is_struct:
            kind = b"{" + self.structure(field.fields, path)
        elif field.element in _CODES:
            kind = _CODES[field.element]
        else:
            raise _NoProgram
        return b"[" + kind if field.is_array else kind

    def _default(self, field: Field) -> bytes:
        """A tagged field's default as it would be on the wire."""
        default = default_of(field, self.version)
        if field.is_struct and not field.is_array:
            if default is not None:
                raise _NoProgram
            return b"\xff"
        if default is None:
            return unsigned_varint(0)
        if field.is_array:
            return unsigned_varint(1)
        if field.type == "uuid":
            return UUID_BYTES[default]
        if field.type == "float64":
            raise _NoProgram
        if is_fixed(field):
            return struct.pack(">" + FIXED[field.type][0], default)
        data = default.encode() if isinstance(default, str) else default
        return unsigned_varint(len(data) + 1) + data


def _guard(names: list[str], configs: ConfigList) -> bytes:
    """The rule for a config's value: shown if its name is known to be harmless."""
    if "resourceType" not in names or configs.name not in names:
        raise _NoProgram
    parts = [bytes((names.index("resourceType"), names.index(configs.name)))]
    parts.append(_number(len(HARMLESS)))
    for resource_type, harmless in HARMLESS.items():
        parts += [struct.pack(">b", resource_type), _number(len(harmless))]
        parts += (_text(name.encode()) for name in sorted(harmless))
    parts.append(_number(len(_UNJUDGED)))
    for resource_type, prefix in _UNJUDGED:
        parts += [struct.pack(">b", resource_type), _text(prefix.encode())]
    return b"".join(parts)


def _number(value: int) -> bytes:
    return value.to_bytes(2, "big")


def _text(text: bytes) -> bytes:
    return _number(len(text)) + text
