"""Text as Kafka's Java reads and writes it: lines, whole numbers, uuids, white space, dates.

Owns the rules of Integer.parseInt and of overflow, BufferedReader, String.split on white space,
Kafka's Uuid.fromString and java.util.Date.toString, since the text files of a log directory mean
what these make of them.
"""

import base64
import binascii
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

INT16_MAX = 2**15 - 1
INT32_MIN, INT32_MAX = -(2**31), 2**31 - 1
INT64_MIN, INT64_MAX = -(2**63), 2**63 - 1

# Java takes every decimal digit of Unicode, as \d does here.
_WHOLE_NUMBER = re.compile(r"([+-]?)(\d+)\Z")
_UUID = re.compile(r"([A-Za-z0-9_-]{22})(==)?\Z")
_WHITE_SPACE = re.compile(r"[ \t\n\x0b\f\r]+")
_LABEL_END = re.compile(r":[ \t\n\x0b\f\r]+")
_LINE_END = re.compile(rb"\r\n|\r|\n")
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")

_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


@dataclass(frozen=True, slots=True, kw_only=True)
class TextLine:
    """One line without its end; `position` is the byte where it starts."""

    number: int
    position: int
    text: str


def read_whole_number(text: str, lowest: int, highest: int) -> int | None:
    """Return what Integer.parseInt or Long.parseLong returns, None where they throw."""
    match = _WHOLE_NUMBER.match(text)
    if match is None:
        return None
    digits = match.group(2).lstrip("0") or "0"
    # Python refuses to convert thousands of digits; no number in range has more than 19.
    if len(digits) > 19:
        return None
    value = int(digits)
    if match.group(1) == "-":
        value = -value
    return value if lowest <= value <= highest else None


def wrap_int32(value: int) -> int:
    """The value that Java's int has where a sum goes beyond it."""
    return ((value - INT32_MIN) & 0xFFFF_FFFF) + INT32_MIN


def wrap_int64(value: int) -> int:
    """The value that Java's long has where a sum goes beyond it."""
    return ((value - INT64_MIN) & 0xFFFF_FFFF_FFFF_FFFF) + INT64_MIN


def read_int32(text: str) -> int | None:
    return read_whole_number(text, INT32_MIN, INT32_MAX)


def read_int64(text: str) -> int | None:
    return read_whole_number(text, INT64_MIN, INT64_MAX)


def read_uuid(text: str) -> str | None:
    """Return the uuid in the 22 characters that Kafka writes, None where Uuid.fromString throws.

    Java's decoder does not look at the four bits that are left over in the last character, so
    several spellings name the same uuid; the answer has only one.
    """
    match = _UUID.match(text)
    if match is None:
        return None
    try:
        raw = base64.urlsafe_b64decode(match.group(1) + "==")
    except binascii.Error:
        return None
    return base64.urlsafe_b64encode(raw).decode("ascii").rstrip("=")


def split_white_space(text: str) -> list[str]:
    r"""Split as Java splits on \s+: a leading empty part stays, trailing ones go."""
    return _split(_WHITE_SPACE, text)


def split_label(text: str) -> list[str]:
    r"""Split as Java splits on :\s+, see `split_white_space`."""
    return _split(_LABEL_END, text)


def _split(pattern: re.Pattern[str], text: str) -> list[str]:
    parts = pattern.split(text)
    if len(parts) == 1:
        return parts
    while parts and not parts[-1]:
        parts.pop()
    return parts


def read_lines(data: bytes) -> Iterator[TextLine]:
    r"""Give the lines of BufferedReader.readLine: they end at \n, \r or \r\n.

    Bytes that are not UTF-8 become U+FFFD here; `malformed_utf8` says whether there are any.
    """
    start = 0
    number = 1
    for end in _LINE_END.finditer(data):
        text = data[start : end.start()].decode("utf-8", "replace")
        yield TextLine(number=number, position=start, text=text)
        start = end.end()
        number += 1
    if start < len(data):
        yield TextLine(number=number, position=start, text=data[start:].decode("utf-8", "replace"))


def malformed_utf8(data: bytes) -> int | None:
    """Return the position of the first byte that is not UTF-8, None if all of it is."""
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        return error.start
    return None


def without_lone_surrogates(text: str) -> str:
    """Join escaped surrogate pairs and replace what is left of them.

    A Java string may hold half a pair; such text could be written to no file and no terminal.
    """
    if _LONE_SURROGATE.search(text) is None:
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def write_date(moment: datetime) -> str:
    """Write a moment as java.util.Date.toString does where the time zone is UTC."""
    utc = moment.astimezone(UTC)
    day, month = _DAYS[utc.weekday()], _MONTHS[utc.month - 1]
    return f"{day} {month} {utc.day:02d} {utc:%H:%M:%S} UTC {utc.year}"
