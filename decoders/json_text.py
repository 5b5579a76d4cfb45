"""One JSON object with the position of every member, read as leniently as Jackson reads it.

Owns what Kafka's JSON files need: members in order, duplicates, text after the object, bounded
nesting. Nothing here calls itself; nested values are left to the json module.
"""

import json
from dataclasses import dataclass

MAX_NUMBER_LENGTH = 1000
"""Jackson's own bound; Python would refuse to convert from 4300 digits on."""

_BLANKS = " \t\r\n"


class JsonError(Exception):
    """Text that is not JSON, at an index of characters."""

    def __init__(self, reason: str, index: int) -> None:
        super().__init__(reason)
        self.reason = reason
        self.index = index


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """One member: its value as Python has it and as it stands in the text."""

    name: str
    value: object
    text: str
    name_index: int
    value_index: int


class _NotANumberError(ValueError):
    pass


def _whole(text: str) -> int:
    if len(text) > MAX_NUMBER_LENGTH:
        raise _NotANumberError(f"a number of {len(text)} digits")
    return int(text)


def _fraction(text: str) -> float:
    if len(text) > MAX_NUMBER_LENGTH:
        raise _NotANumberError(f"a number of {len(text)} characters")
    return float(text)


def _constant(text: str) -> object:
    raise _NotANumberError(f"{text} is not JSON")


_MOST_NESTED = 1000
"""Jackson's bound, by which Kafka refuses a file."""
_TOO_DEEP = "not readable: values are nested too deeply"
_DECODER = json.JSONDecoder(parse_int=_whole, parse_float=_fraction, parse_constant=_constant)


def skip_blanks(text: str, index: int) -> int:
    while index < len(text) and text[index] in _BLANKS:
        index += 1
    return index


def _value(text: str, index: int) -> tuple[object, int]:
    try:
        value, end = _DECODER.raw_decode(text, index)
    except json.JSONDecodeError as error:
        reason = error.msg[:1].lower() + error.msg[1:]
        raise JsonError(f"not JSON: {reason}", min(error.pos, len(text))) from error
    except RecursionError as error:
        raise JsonError(_TOO_DEEP, index) from error
    except _NotANumberError as error:
        raise JsonError(f"not readable: {error}", index) from error
    # How deep the json module goes depends on Python and on who calls.
    if _is_too_deep(value):
        raise JsonError(_TOO_DEEP, index)
    return value, end


def _is_too_deep(value: object) -> bool:
    level = [value]
    for _ in range(_MOST_NESTED - 1):  # the object around the value counts, too
        level = [
            inner
            for outer in level
            if isinstance(outer, dict | list)
            for inner in (outer.values() if isinstance(outer, dict) else outer)
        ]
        if not level:
            return False
    return True


def _expect(text: str, index: int, wanted: str) -> str:
    if index < len(text) and text[index] in wanted:
        return text[index]
    sides = " or ".join(f"'{character}'" for character in wanted)
    raise JsonError(f"not JSON: expecting {sides}", index)


def read_members(text: str, index: int, members: list[Member]) -> int:
    """Append the members of the object that starts at `index`; return the index after it.

    On damage the members before it are already in the list.
    """
    _expect(text, index, "{")
    index = skip_blanks(text, index + 1)
    if index < len(text) and text[index] == "}":
        return index + 1
    while True:
        _expect(text, index, '"')
        name, after_name = _value(text, index)
        colon = skip_blanks(text, after_name)
        _expect(text, colon, ":")
        value_index = skip_blanks(text, colon + 1)
        value, after_value = _value(text, value_index)
        members.append(
            Member(
                name=str(name),
                value=value,
                text=text[value_index:after_value],
                name_index=index,
                value_index=value_index,
            )
        )
        index = skip_blanks(text, after_value)
        if _expect(text, index, ",}") == "}":
            return index + 1
        index = skip_blanks(text, index + 1)
