r"""Java's .properties syntax: escapes, continuation lines, comments, \uXXXX.

Owns what java.util.Properties.load makes of bytes (ISO-8859-1, as Kafka loads meta.properties and
server.properties) and what Properties.store writes. It refuses to know any key's meaning.
"""

import re
import struct
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from kraftool.decoders.errors import DecodeError, KraftoolError
from kraftool.decoders.findings import Findings, shown
from kraftool.decoders.java_text import without_lone_surrogates

MAX_BYTES = 1 << 20
"""Far beyond any configuration; only so much of a larger file is read."""

_LINE_END = re.compile(r"\r\n|\r|\n")
_BLANK = re.compile(r"[ \t\f]*")
_SEPARATOR = re.compile(r"[ \t\f]*[=:]?[ \t\f]*")
_KEY = re.compile(r"(?:[^\\=: \t\f]|\\.|\\\Z)*", re.DOTALL)
_ESCAPE = re.compile(r"\\(u[0-9A-Fa-f]{4}|.|\Z)", re.DOTALL)
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f]")
_LETTER_ESCAPES = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}
_WRITTEN_ESCAPES = {
    "\t": "\\t",
    "\n": "\\n",
    "\r": "\\r",
    "\f": "\\f",
    "\\": "\\\\",
    "=": "\\=",
    ":": "\\:",
    "#": "\\#",
    "!": "\\!",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Property:
    """One key with its value, at the byte and line where its (first) line starts."""

    key: str
    value: str
    position: int
    line: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Properties:
    """All properties in the order of the file, also those that a later one hides."""

    entries: tuple[Property, ...]
    comments: tuple[str, ...] = ()
    accepted: bool = True
    """True if java.util.Properties loads the file at all."""
    _last: Mapping[str, Property] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_last", {entry.key: entry for entry in self.entries})

    def get(self, key: str) -> str | None:
        """Return the value that Kafka sees: the last one of that key."""
        entry = self._last.get(key)
        return None if entry is None else entry.value

    def entry(self, key: str) -> Property | None:
        return self._last.get(key)

    def as_dict(self) -> dict[str, str]:
        return {key: entry.value for key, entry in self._last.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class _LogicalLine:
    text: str
    position: int
    line: int


def decode(data: bytes) -> tuple[Properties, tuple[DecodeError, ...]]:
    r"""Read a properties file; hidden duplicates and broken \u escapes are findings."""
    findings = Findings()
    comments: list[str] = []
    entries: list[Property] = []
    seen: dict[str, Property] = {}
    if len(data) > MAX_BYTES:
        findings.refuse(
            "too large for a properties file, the rest is not read",
            position=MAX_BYTES,
            expected=f"at most {MAX_BYTES} bytes",
            found=str(len(data)),
        )
    for logical in _logical_lines(data[:MAX_BYTES].decode("latin-1"), comments):
        key_match = _KEY.match(logical.text)
        key_end = key_match.end() if key_match else 0
        separator = _SEPARATOR.match(logical.text, key_end)
        value_start = separator.end() if separator else key_end
        key = _unescape(logical.text[:key_end], logical, findings)
        value = _unescape(logical.text[value_start:], logical, findings)
        entry = Property(key=key, value=value, position=logical.position, line=logical.line)
        if _CONTROL.search(key):
            findings.note(
                "control characters in a key",
                position=logical.position,
                path=f"line {logical.line}",
                expected="a name",
                found=shown(key),
            )
        earlier = seen.get(key)
        if earlier is not None:
            findings.note(
                "the key is given again and hides what came before",
                position=logical.position,
                path=key,
                expected=f"one value, {shown(earlier.value)} of line {earlier.line}",
                found=f"{shown(value)} in line {logical.line}",
            )
        seen[key] = entry
        entries.append(entry)
    properties = Properties(
        entries=tuple(entries), comments=tuple(comments), accepted=findings.accepted
    )
    return properties, findings.listed()


def _logical_lines(text: str, comments: list[str]) -> Iterable[_LogicalLine]:
    """Join continued lines; latin-1 makes a character's index its byte position."""
    position = 0
    line = 0
    size = len(text)
    parts: list[str] = []
    first_position = first_line = 0
    while position < size:
        line += 1
        end_match = _LINE_END.search(text, position)
        end = end_match.start() if end_match else size
        following = end_match.end() if end_match else size
        blank = _BLANK.match(text, position, end)
        start = blank.end() if blank else position
        if not parts:
            first_position, first_line = start, line
            if start == end:
                position = following
                continue
            if text[start] in "#!":
                comments.append(text[start + 1 : end])
                position = following
                continue
        natural = text[start:end]
        continued = (len(natural) - len(natural.rstrip("\\"))) % 2 == 1
        piece = natural[:-1] if continued else natural
        # A lone backslash begins nothing: Java takes what follows it for a new line, comments too.
        # Only where the file ends with it and at most one character after it is it an empty key.
        if piece or parts or end + 1 >= size:
            parts.append(piece)
        if not continued:
            yield _LogicalLine(text="".join(parts), position=first_position, line=first_line)
            parts = []
        position = following
    if parts:
        yield _LogicalLine(text="".join(parts), position=first_position, line=first_line)


def _unescape(text: str, logical: _LogicalLine, findings: Findings) -> str:
    if "\\" not in text:
        return text

    def replace(match: re.Match[str]) -> str:
        escaped = match.group(1)
        if len(escaped) == 5:
            return chr(int(escaped[1:], 16))
        if escaped == "u":
            findings.refuse(
                "a \\u escape without four hexadecimal digits",
                position=logical.position,
                path=f"line {logical.line}",
                expected="\\uXXXX",
                found=shown(text[match.start() : match.start() + 6]),
            )
            return match.group(0)
        return _LETTER_ESCAPES.get(escaped, escaped)

    return without_lone_surrogates(_ESCAPE.sub(replace, text))


def _escape(text: str, *, is_key: bool) -> str:
    escaped = "".join(_WRITTEN_ESCAPES.get(character, character) for character in text)
    if is_key:
        return escaped.replace(" ", "\\ ")
    # Only the first blank of a value would be taken for a part of the separator.
    return "\\" + escaped if escaped.startswith(" ") else escaped


def ascii_value(text: str) -> str:
    r"""Write any text, such as a path, as a value: what is not plain ASCII as \uXXXX."""
    units = struct.iter_unpack(">H", text.encode("utf-16-be", "surrogatepass"))
    return "".join(
        chr(unit) if 0x20 < unit < 0x7F and unit != ord("\\") else f"\\u{unit:04x}"
        for (unit,) in units
    )


def encode(entries: Iterable[tuple[str, str]], *, comments: Iterable[str] = ()) -> bytes:
    """Write properties as Properties.store does to a UTF-8 writer, in the order given.

    Properties.load reads ISO-8859-1, so a character beyond ASCII would come back as another;
    Kafka writes them nevertheless, this refuses to.
    """
    lines = [f"#{comment}" for comment in comments]
    for key, value in entries:
        lines.append(f"{_escape(key, is_key=True)}={_escape(value, is_key=False)}")
    text = "".join(line + "\n" for line in lines)
    try:
        return text.encode("ascii")
    except UnicodeEncodeError as error:
        raise KraftoolError(
            f"a properties file cannot carry {shown(text[error.start])}",
            hint="Kafka writes UTF-8 here but reads ISO-8859-1; use ASCII",
        ) from error
