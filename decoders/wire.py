"""The primitives under every format: varints, uuids, UTF-8, and the reasons why they fail.

Owns the byte-level encodings and the wording of what can be wrong with them, so that all decoders
report the same damage in the same words.
"""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode
from codecs import register_error

TRUNCATED = "the bytes end before the field does"
VARINT = "a varint longer than its type allows"
NULL = "null where this version allows none"
NEGATIVE = "a negative length"
TAG_SIZE = "a tagged field takes another size than it states"

JAVA_REPLACE = "java-replace"
"""The error handler that decodes invalid UTF-8 as Java does."""


def _java_replace(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeDecodeError)
    data, start = error.object, error.start
    end = error.end
    if data[start] == 0xED:
        # Java takes an encoded surrogate for one wrong character, Python for three.
        while end < min(start + 3, len(data)) and 0x80 <= data[end] <= 0xBF:
            end += 1
    return "\ufffd", end


register_error(JAVA_REPLACE, _java_replace)

ZERO_UUID = "AAAAAAAAAAAAAAAAAAAAAA"


class Malformed(Exception):
    """Why a primitive cannot be read; who knows position and path makes it a DecodeError."""

    def __init__(self, reason: str, expected: str = "", found: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.expected = expected
        self.found = found


def beyond(needed: int, left: int) -> Malformed:
    """A length or count that reaches past the end of what there is."""
    return Malformed(TRUNCATED, f"{needed} bytes", f"{max(left, 0)} left")


def read_unsigned_varint(data: bytes, position: int) -> tuple[int, int]:
    """Read up to five bytes of seven bits each; return the value and the position after it."""
    value = shift = 0
    while True:
        byte = data[position]
        position += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, position
        shift += 7
        if shift > 28:
            raise Malformed(VARINT, "at most 5 bytes")


def read_varint(data: bytes, position: int) -> tuple[int, int]:
    """Read a zig-zag int32."""
    first = data[position]
    if first >= 0x80 and data[position + 1] < 0x80:  # two bytes, as most that are not one
        value = (first & 0x7F) | (data[position + 1] << 7)
        return (value >> 1) ^ -(value & 1), position + 2
    value, position = read_unsigned_varint(data, position)
    value &= 0xFFFFFFFF
    return (value >> 1) ^ -(value & 1), position


def read_varlong(data: bytes, position: int) -> tuple[int, int]:
    """Read a zig-zag int64, of up to ten bytes."""
    value = shift = 0
    while True:
        byte = data[position]
        position += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            value &= 0xFFFFFFFFFFFFFFFF
            return (value >> 1) ^ -(value & 1), position
        shift += 7
        if shift > 63:
            raise Malformed(VARINT, "at most 10 bytes")


def unsigned_varint(value: int) -> bytes:
    if value < 0x80:
        return value.to_bytes(1, "big")
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def varint(value: int) -> bytes:
    return unsigned_varint((value << 1) ^ (value >> 31))


def varlong(value: int) -> bytes:
    return unsigned_varint((value << 1) ^ (value >> 63))


class _UuidTexts(dict[bytes, str]):
    """Kafka's base64 text of a uuid's 16 bytes. Few uuids fill a log, so the texts are kept."""

    def __missing__(self, raw: bytes) -> str:
        if len(raw) != 16:
            raise beyond(16, len(raw))
        if len(self) >= 100_000:
            self.clear()
        text = self[raw] = urlsafe_b64encode(raw)[:22].decode()
        return text


class _UuidBytes(dict[str, bytes]):
    """The 16 bytes of a uuid's text, the other way round."""

    def __missing__(self, text: str) -> bytes:
        raw = urlsafe_b64decode(text + "==")
        if len(raw) != 16:
            raise ValueError(f"not a Kafka uuid: {text!r}")
        if len(self) >= 100_000:
            self.clear()
        self[text] = raw
        return raw


UUID_TEXT = _UuidTexts()
UUID_BYTES = _UuidBytes()


def java_double(value: float) -> str:
    """Write a double as Double.toString of JDK 19 and later does: the shortest that reads back."""
    if value != value:
        return "NaN"
    if value in (float("inf"), float("-inf")):
        return "Infinity" if value > 0 else "-Infinity"
    if value == 0 or 1e-3 <= abs(value) < 1e7:
        text = repr(value)
        # Python turns to an exponent at 1e16 and below 1e-4 only: plain inside this range.
        return text if "." in text else text + ".0"
    mantissa, _, exponent = f"{value!r}".partition("e")
    sign = "-" if mantissa.startswith("-") else ""
    whole, _, fraction = mantissa.removeprefix("-").partition(".")
    digits = (whole + fraction).lstrip("0")
    leading_zeros = len(whole + fraction) - len(digits)
    power = int(exponent or 0) + len(whole) - 1 - leading_zeros
    digits = digits.rstrip("0")
    if len(digits) < 2:
        # Java wants two digits at least, and takes the closest two: 4.9E-324, not 5.0E-324.
        two, _, two_power = f"{value:.1e}".partition("e")
        return f"{two}E{int(two_power)}"
    return f"{sign}{digits[0]}.{digits[1:]}E{power}"
