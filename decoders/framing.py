"""The frame of a metadata record: frame version, api key, record version, then the message.

Owns the value of a data record in `__cluster_metadata`. An api key or a version that the catalogue
lacks is not an error here: it is handed on by its numbers, so that newer logs can be shown.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, lru_cache

from kraftool.decoders import codec, schema
from kraftool.decoders.errors import DecodeError
from kraftool.decoders.wire import TRUNCATED, Malformed, read_unsigned_varint, unsigned_varint

FRAME_VERSION = 1


@dataclass(frozen=True, slots=True)
class RecordFormat:
    """One record type at one version, with the functions that decode it."""

    api_key: int
    version: int
    name: str
    type: str
    decode: codec.Decoder
    decode_json: codec.Decoder
    bare_decode_json: codec.Decoder
    """See `codec.bare_json_decoder`."""


@lru_cache(maxsize=schema.MOST_KEYS)
def record_format(api_key: int, version: int) -> RecordFormat | None:
    """The format of an api key and version, or None where the catalogue lacks it."""
    message = schema.metadata_record(api_key)
    if message is None or version not in message.versions:
        return None
    return RecordFormat(
        api_key,
        version,
        message.name,
        schema.record_type(message.name),
        codec.decoder(message.name, version),
        codec.json_decoder(message.name, version),
        codec.bare_json_decoder(message.name, version),
    )


def read_frame(data: bytes) -> tuple[int, int, int]:
    """Read the frame; return api key, record version and the position of the message."""
    if len(data) > 2 and data[0] == FRAME_VERSION and data[1] < 0x80 and data[2] < 0x80:
        return data[1], data[2], 3
    position, values = 0, []
    for path in ("frameVersion", "apiKey", "version"):
        try:
            value, after = read_unsigned_varint(data, position)
        except IndexError:
            raise DecodeError(TRUNCATED, position=position, path=path) from None
        except Malformed as error:
            raise DecodeError(
                error.reason, position=position, path=path, expected=error.expected
            ) from None
        if path == "frameVersion" and value != FRAME_VERSION:
            raise DecodeError(
                "not a metadata record frame",
                position=position,
                path=path,
                expected=str(FRAME_VERSION),
                found=str(value),
            )
        if value > 0x7FFF:
            raise DecodeError(
                "a number beyond int16", position=position, path=path, found=str(value)
            )
        values.append(value)
        position = after
    return values[1], values[2], position


def decode_record(data: bytes) -> tuple[str, int, codec.Value]:
    """Decode a framed metadata record; return its name, version and value."""
    api_key, version, position = read_frame(data)
    form = record_format(api_key, version)
    if form is None:
        raise DecodeError(
            "a record type or version that the catalogue lacks",
            position=0,
            path="apiKey",
            expected=f"a record of Kafka {schema.KAFKA}",
            found=f"api key {api_key} version {version}",
        )
    value, end = form.decode(data, position)
    refuse_rest(data, end)
    return form.name, version, value


def refuse_rest(data: bytes, end: int) -> None:
    """A record must fill its frame."""
    if end != len(data):
        raise DecodeError(
            "bytes left after the record",
            position=end,
            expected=f"{end} bytes",
            found=f"{len(data)}",
        )


def encode_record(name: str, version: int, value: codec.Value) -> bytes:
    """Frame and encode a metadata record."""
    frame, encode = _encoder(name, version)
    return frame + encode(value)


@cache
def _encoder(name: str, version: int) -> tuple[bytes, codec.Encoder]:
    """The frame of a record, and its encoder."""
    api_key = schema.message(name).api_key
    if schema.message(name).kind != "metadata" or api_key is None:
        raise codec.EncodeError(f"{name} is not a metadata record")
    frame = bytes([FRAME_VERSION]) + unsigned_varint(api_key) + unsigned_varint(version)
    return frame, codec.encoder(name, version)
