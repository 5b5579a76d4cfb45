"""Compressed record sections: opened where the codec's package is installed, named where not.

Owns the codec table and the bound on what a batch may decompress to. gzip comes with Python;
snappy, lz4 and zstd need the packages of the `compression` extra.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from importlib import import_module

from kraftool.decoders.wire import Malformed

NAMES = ("none", "gzip", "snappy", "lz4", "zstd")
LIMIT = 64 * 1024 * 1024
"""A batch that decompresses to more is refused: it is damage, or an attack."""

_PIECE = 1 << 20
"""Decompressed at a time: the packages allocate what they are asked for, whatever comes."""
_SNAPPY_GROWTH = 64
"""Times its size that a snappy block can grow at most: a copy of 64 bytes takes two."""
_XERIAL = b"\x82SNAPPY\x00"
_GZIP_MEMBER = b"\x1f\x8b\x08"
_GZIP_FRAME = 18
"""Header and trailer of a gzip member; its data takes two bytes at least."""


def name_of(attributes: int) -> str:
    """The codec that a batch's attributes name."""
    code = attributes & 0x07
    return NAMES[code] if code < len(NAMES) else f"unknown({code})"


def decompress(codec: str, data: bytes, limit: int = LIMIT) -> bytes:
    """Decompress the record section of a batch."""
    opener = _OPENERS.get(codec)
    if opener is None:
        raise Malformed(f"compression codec {codec} is not one of Kafka's")
    try:
        return opener(data, limit)
    except ImportError as error:
        raise Malformed(
            f"records are compressed with {codec}", f"the Python package {error.name}", "it missing"
        ) from None
    except Malformed:
        raise
    except Exception as error:  # each codec package has errors of its own
        raise Malformed(f"the {codec} data is damaged: {error}") from None


def _bounded(size: int, limit: int) -> None:
    if size > limit:
        raise Malformed("the batch decompresses to too much", f"at most {limit} bytes")


def _gzip(data: bytes, limit: int) -> bytes:
    """Read one gzip member after the other, as Java's GZIPInputStream does."""
    out, rest = bytearray(), data
    while True:
        inflater = zlib.decompressobj(zlib.MAX_WBITS | 16)
        out += inflater.decompress(rest, limit + 1 - len(out))
        _bounded(len(out), limit)
        if not inflater.eof:
            raise Malformed("the gzip data is cut short")
        rest = inflater.unused_data
        # Java ends quietly where what follows is no member, or is too short for one.
        if len(rest) <= _GZIP_FRAME or not rest.startswith(_GZIP_MEMBER):
            return bytes(out)


def _zstd(data: bytes, limit: int) -> bytes:
    import zstandard

    opener = zstandard.ZstdDecompressor(max_window_size=LIMIT)
    reader, out = opener.stream_reader(data, read_across_frames=True), bytearray()
    while piece := reader.read(_PIECE):
        out += piece
        _bounded(len(out), limit)
    return bytes(out)


def _lz4(data: bytes, limit: int) -> bytes:
    # The package has no types of its own.
    opener = import_module("lz4.frame").LZ4FrameDecompressor()
    out = bytearray()
    while not opener.eof:
        piece = opener.decompress(data, _PIECE)
        out += piece
        _bounded(len(out), limit)
        if not piece and opener.needs_input:
            raise Malformed("the lz4 data is cut short")
        data = b""
    return bytes(out)


def _snappy(data: bytes, limit: int) -> bytes:
    """Read snappy blocks in the xerial framing of Kafka's Java client, or one raw block."""
    if not data.startswith(_XERIAL):
        return _snappy_block(data, limit)
    out, position = bytearray(), 16
    while position < len(data):
        size = int.from_bytes(data[position : position + 4], "big")
        position += 4
        if size > len(data) - position:
            raise Malformed("the snappy data is cut short")
        block = data[position : position + size]
        out += _snappy_block(block, limit - len(out))
        position += size
    return bytes(out)


def _snappy_block(block: bytes, limit: int) -> bytes:
    # A raw block opens with its decompressed size as a varint: looked at before it is allocated.
    size = shift = 0
    for byte in block[:5]:
        size |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            break
    _bounded(size, min(limit, _SNAPPY_GROWTH * len(block)))
    opened: bytes = import_module("cramjam").snappy.decompress_raw(block)
    return bytes(opened)


_OPENERS: dict[str, Callable[[bytes, int], bytes]] = {
    "gzip": _gzip,
    "snappy": _snappy,
    "lz4": _lz4,
    "zstd": _zstd,
}
