"""A query for records of a log, as a person writes it.

Owns reading the words: of an option, and of the dashboard's one line. What they select is
`log_dump.Selection`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from kraftool.decoders import schema
from kraftool.decoders.control import ControlRecordType
from kraftool.decoders.errors import KraftoolError
from kraftool.reports.logs.dump import Selection, type_words
from kraftool.reports.text.times import read_time


def record_types(name: str, what: str) -> frozenset[str]:
    """The words of a record type. Raises KraftoolError with those that are called alike, or all."""
    known = {*schema.names("metadata"), *(kind.label for kind in ControlRecordType)}
    words = type_words(name)
    if any(words & type_words(type_name) for type_name in known):
        return words
    from difflib import get_close_matches

    by_word = {type_name.lower(): type_name for type_name in known}
    near = [
        by_word[close_match] for close_match in get_close_matches(name.lower(), by_word, 3, 0.5)
    ]
    raise KraftoolError(
        f"{what} {name!r} is not a record type",
        hint=f"did you mean {' or '.join(near)}?" if near else ", ".join(sorted(known)),
    )


def offset_range(text: str, what: str) -> tuple[int | None, int | None]:
    """Read A..B, both included; either may lack. Raises KraftoolError."""
    match = re.fullmatch(r"(\d{0,19})(\.\.)?(\d{0,19})", text, re.ASCII)
    if match is None or (text and not match[1] and not match[3]):
        raise KraftoolError(f"{what} {text!r} is not a range", hint="use A..B, A.., ..B or A")
    first = int(match[1]) if match[1] else None
    last = int(match[3]) if match[3] else None
    if not match[2]:
        last = first
    if first is not None and last is not None and last < first:
        raise KraftoolError(f"{what} {text} ends before it begins")
    return first, last


@dataclass(frozen=True, slots=True, kw_only=True)
class LogQuery:
    """The query, and how it was written."""

    text: str = ""
    selection: Selection = field(default_factory=Selection)

    @property
    def is_everything(self) -> bool:
        return self.selection == Selection()


@dataclass(frozen=True, slots=True)
class GoTo:
    """The place in a log to go to: an offset, an epoch's begin, or a time in ms."""

    kind: str
    value: int


def read_goto(text: str) -> GoTo:
    """Read `1234`, `epoch 5`, or a time. Raises KraftoolError."""
    words = text.lower().replace(":", " ", 1).split() if text[:1].isalpha() else [text.strip()]
    if len(words) == 2 and words[0] in ("epoch", "offset"):
        return GoTo(words[0], _number(words[1], words[0]))
    if re.fullmatch(r"[0-9]{1,18}", text.strip(), re.ASCII):
        return GoTo("offset", int(text))
    time = text.strip()
    if words[0] == "time":
        time = time[len("time") :].lstrip(": ")
    return GoTo("time", read_time(time, "go to"))


EXAMPLE = "type:PartitionChangeRecord topic:orders broker:3 epoch:4 offset:10..99 since:2h words"
"""What a line may hold."""


def read_query(text: str) -> LogQuery:
    """Read a line of words: KEY:VALUE for what is known of records, the others are a regular
    expression that their text has to match. Raises KraftoolError."""
    selection = Selection()
    rest = []
    for word in text.split():
        key, colon, value = word.partition(":")
        take = _KEYS.get(key.lower()) if colon and value else None
        if take is None:
            rest.append(word)
        else:
            selection = take(selection, value)
    if rest:
        pattern = " ".join(rest)
        try:
            selection = replace(selection, grep=re.compile(pattern))
        except re.error as error:
            raise KraftoolError(f"{pattern!r} is not a regular expression: {error}") from None
    return LogQuery(text=text.strip(), selection=selection)


def _types(selection: Selection, value: str) -> Selection:
    types = selection.types
    for part in value.split(","):
        types |= record_types(part, "type:")
    return replace(selection, types=types)


def _number(text: str, what: str) -> int:
    if not re.fullmatch(r"[0-9]{1,18}", text, re.ASCII):
        raise KraftoolError(f"{what} {text!r} is not a number")
    return int(text)


def _offsets(selection: Selection, value: str) -> Selection:
    first, last = offset_range(value, "offset:")
    return replace(selection, first_offset=first, last_offset=last)


def _control(selection: Selection, value: str) -> Selection:
    words = {"yes": True, "only": True, "no": False}
    if value.lower() not in words:
        raise KraftoolError(f"control: {value!r} is neither yes nor no")
    return replace(selection, control=words[value.lower()])


_KEYS: dict[str, Callable[[Selection, str], Selection]] = {
    "type": _types,
    "topic": lambda selection, value: replace(selection, topic=value),
    "broker": lambda selection, value: replace(selection, broker=_number(value, "broker:")),
    "epoch": lambda selection, value: replace(selection, epoch=_number(value, "epoch:")),
    "offset": _offsets,
    "offsets": _offsets,
    "since": lambda selection, value: replace(selection, since=read_time(value, "since:")),
    "until": lambda selection, value: replace(selection, until=read_time(value, "until:")),
    "control": _control,
}
