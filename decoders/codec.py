"""Fast encode and decode of every message and version, in plain Python.

Owns the value form: a dict by Kafka's camelCase field names holding int, bool, float, str, bytes,
None, list and dict; a uuid is Kafka's base64 text; tagged fields that the catalogue does not know
are kept under `unknownTaggedFields` as `[tag, bytes]` pairs. The JSON form is what Kafka's own
JSON converters write: bytes in base64, tagged fields only where they differ from their default; it
is for reading only, since its lists may be shared between records.

For each message and version a function is generated from the catalogue and compiled when it is
first used (see `generate_decoder.py`). It refuses to guess: what does not fit raises DecodeError
with the position, the field path and both sides of the mismatch.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from types import TracebackType
from typing import Any, NoReturn

from kraftool.decoders import schema
from kraftool.decoders.errors import DecodeError, KraftoolError
from kraftool.decoders.generate import EXPECTED, Generated, Site
from kraftool.decoders.wire import TRUNCATED, Malformed, java_double

Value = dict[str, Any]
Decoder = Callable[[bytes, int], tuple[Value, int]]
Encoder = Callable[[Value], bytes]


class UnsupportedVersion(KraftoolError):
    """A version of a message that the catalogue does not have."""


class EncodeError(KraftoolError):
    """A value that the message and version cannot carry."""


def decode(name: str, version: int, data: bytes, position: int = 0) -> tuple[Value, int]:
    """Decode one message; return its value and the position after it."""
    return decoder(name, version)(data, position)


def encode(name: str, version: int, value: Value) -> bytes:
    """Encode one message. Fields that are left out take their defaults."""
    return encoder(name, version)(value)


@cache
def decoder(name: str, version: int) -> Decoder:
    """The function that decodes this message and version to the value form."""
    return _decoder(name, version, json=False)


@cache
def json_decoder(name: str, version: int) -> Decoder:
    """The function that decodes straight to Kafka's JSON form, without a value in between."""
    return _decoder(name, version, json=True)


@cache
def bare_json_decoder(name: str, version: int) -> Decoder:
    """The JSON decoder without its errors: on bytes that do not fit it raises one of EXPECTED.

    For loops over many records, which ask `json_decoder` again to learn what was wrong.
    """
    from kraftool.decoders.generate_decoder import decoder_source

    message = _message(name, version)
    inner: Decoder = _compile(
        decoder_source(message, version, json=True), f"<decode {name} v{version} json>"
    )
    return inner


@cache
def encoder(name: str, version: int) -> Encoder:
    """The function that encodes this message and version."""
    from kraftool.decoders.generate_encoder import encoder_source

    generated = encoder_source(_message(name, version), version)
    inner: Callable[[Value], bytes] = _compile(generated, f"<encode {name} v{version}>")

    def encode_value(value: Value) -> bytes:
        try:
            return inner(value)
        except EXPECTED as error:
            site = _site(error, generated)[0]
            reason = error.reason if isinstance(error, Malformed) else str(error)
            raise EncodeError(f"{name} v{version}: {site.path or 'message'}: {reason}") from None

    return encode_value


def _message(name: str, version: int) -> schema.MessageSchema:
    message = schema.message(name)
    if version not in message.versions:
        raise UnsupportedVersion(
            f"{name} has versions {message.versions} in Kafka {schema.KAFKA}, not {version}"
        )
    return message


def _decoder(name: str, version: int, *, json: bool) -> Decoder:
    from kraftool.decoders.generate_decoder import decoder_source

    generated = decoder_source(_message(name, version), version, json=json)
    inner: Decoder = _compile(generated, f"<decode {name} v{version}{' json' if json else ''}>")

    def decode_value(data: bytes, position: int = 0) -> tuple[Value, int]:
        try:
            return inner(data, position)
        except EXPECTED as error:
            _raise_located(error, generated, len(data))

    return decode_value


def _compile(generated: Generated, filename: str) -> Any:
    scope = dict(generated.constants)
    exec(compile(generated.source, filename, "exec"), scope)
    return scope["run"]


def _site(error: BaseException, generated: Generated) -> tuple[Site, dict[str, Any]]:
    """Find which field the generated code was at, by the line at which it stopped."""
    trace: TracebackType | None = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_name != "run":
        trace = trace.tb_next
    if trace is None:
        raise error
    names = trace.tb_frame.f_locals
    site = generated.sites.get(trace.tb_lineno, Site(""))
    path = re.sub(r"\{(\w+)\}", lambda match: str(names[match[1]]), site.path)
    return Site(path, site.parts), names


def _raise_located(error: BaseException, generated: Generated, end: int) -> NoReturn:
    site, names = _site(error, generated)
    position, path = names["p"], site.path
    needed = 1
    for name, size in site.parts:
        path, needed = f"{site.path}{name}", size
        if position + size > end:
            break
        position += size
    if isinstance(error, Malformed):
        reason, expected, found = error.reason, error.expected, error.found
    else:
        reason, expected, found = TRUNCATED, f"{needed} bytes", f"{max(end - position, 0)} left"
    raise DecodeError(
        reason, position=position, path=path, expected=expected, found=found
    ) from None


_LOWER_ESCAPE = re.compile(rb"(\\\\)|\\u00[0-9a-f]{2}")


def json_text(value: Value, *, doubles: bool = False) -> bytes:
    """Write the JSON form as Kafka's tools print it; `doubles` says that it may hold floats."""
    import orjson

    text = orjson.dumps(_with_java_doubles(value) if doubles else value)
    if b"\\u" in text:
        # Jackson writes control characters with upper-case hex digits, orjson with lower-case.
        text = _LOWER_ESCAPE.sub(
            lambda match: match[0] if match[1] else b"\\u" + match[0][2:].upper(), text
        )
    return text


@cache
def has_doubles(name: str) -> bool:
    """True if the message has a float64, which Java and Python write differently."""

    def holds(fields: tuple[schema.Field, ...]) -> bool:
        return any(field.element == "float64" or holds(field.fields) for field in fields)

    return holds(schema.message(name).fields)


def _with_java_doubles(value: Any) -> Any:
    if isinstance(value, float):
        import orjson

        text = java_double(value)
        return text if text[-1] in "Ny" else orjson.Fragment(text)
    if isinstance(value, dict):
        return {name: _with_java_doubles(member) for name, member in value.items()}
    if isinstance(value, list):
        return [_with_java_doubles(member) for member in value]
    return value
