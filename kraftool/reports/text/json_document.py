"""Reports as JSON: the one serializer of all documents, with names that a rule gives.

A document is made of dataclasses. A member has the name of its attribute in camel case; a truth, a
count, a list of ids and a time also have in their name what they are, by their types. A time is
written twice, as milliseconds and as people read it. An enum is written as its word. Properties
marked with `in_json` are members too, and a value whose class has a `form` is written in that form.
docs/json.md says this to users; tools/schemas.py makes docs/schemas of the same classes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cache
from typing import Any, Generic, NamedTuple, TypeVar, get_args, get_type_hints

import orjson

from kraftool.decoders.json_marks import COUNT, HIDDEN, IDS, INLINE, MOMENT, place_in_json
from kraftool.reports.text.json_form import form, form_for, form_hint
from kraftool.reports.text.json_forms import FORMS
from kraftool.reports.text.printable import file_text
from kraftool.reports.text.times import iso

SCHEMA_VERSION = 3

_NO_MOMENT = -1
"""What Kafka writes for a time that nobody knows."""

for _each in FORMS:
    form(_each)

T = TypeVar("T")


class JsonLines(Iterator[bytes], Generic[T]):
    """Elements of a list that were written already, as values of T are. A piece that does not
    begin with a brace goes on with the element before it."""

    def __init__(self, lines: Iterable[bytes]) -> None:
        self._lines = iter(lines)

    def __next__(self) -> bytes:
        return next(self._lines)


class JsonMember(NamedTuple):
    """A member of an object: the class and its attribute, the name in JSON, and the type. A type
    that is no class, as that of endpoints, can have a form too."""

    owner: Any
    attribute: str
    name: str
    hint: Any
    is_moment: bool
    is_inline: bool
    form: Callable[[Any], Any] | None


def camel(name: str) -> str:
    head, *rest = name.split("_")
    return head + "".join(part.capitalize() for part in rest)


@cache
def members(kind: Any) -> tuple[JsonMember, ...]:
    """The members that JSON has of a dataclass or a named tuple."""
    every: list[JsonMember] = []
    for member in _own_members(kind):
        every += members(form_hint(get_args(member.hint)[0])) if member.is_inline else (member,)
    return tuple(every)


@cache
def _own_members(kind: Any) -> tuple[JsonMember, ...]:
    """The same, where an object with its members in its place is one."""
    return tuple(
        JsonMember(
            owner=kind,
            attribute=attribute,
            name=_name(attribute, hint),
            hint=hint,
            is_moment=_says(hint, MOMENT),
            is_inline=_says(hint, INLINE),
            form=form_for(known_type(hint)) if get_args(hint) else None,
        )
        for attribute, hint in _attributes(kind)
        if not _says(hint, HIDDEN)
    )


def _name(attribute: str, hint: Any) -> str:
    if _says(hint, MOMENT):
        return camel(f"{attribute}_ms")
    if _says(hint, COUNT):
        return camel(f"{_singular(attribute)}_count")
    if _says(hint, IDS):
        return camel(f"{_singular(attribute)}_ids")
    if hint in (bool, bool | None) and not attribute.startswith(("is_", "has_")):
        return camel(f"is_{attribute}")
    return camel(attribute)


def _singular(noun: str) -> str:
    if noun.endswith("ies"):
        return noun[:-3] + "y"
    return noun[:-2] if noun.endswith(("ches", "xes")) else noun.removesuffix("s")


def twin_name(member: JsonMember) -> str:
    """The name under which a time stands as people read it."""
    return camel(member.attribute)


def _attributes(kind: Any) -> Iterator[tuple[str, Any]]:
    names = [field.name for field in fields(kind)] if is_dataclass(kind) else [*kind._fields]
    hints = get_type_hints(kind, include_extras=True)
    for owner in reversed(kind.__mro__):
        for name, value in vars(owner).items():
            place = place_in_json(value) if isinstance(value, property) else None
            if place is not None:
                names.insert(names.index(place) if place else len(names), name)
                hints[name] = get_type_hints(value.fget, include_extras=True)["return"]
    return ((name, hints[name]) for name in names)


def known_type(hint: Any) -> Any:
    """The type of what may be None."""
    rest = [arg for arg in get_args(hint) if arg is not type(None)]
    return rest[0] if len(rest) == 1 and type(None) in get_args(hint) else hint


def _says(hint: Any, mark: str) -> bool:
    """True if a type, or one of a union's, has the mark."""
    return mark in getattr(hint, "__metadata__", ()) or any(
        mark in getattr(arg, "__metadata__", ()) for arg in get_args(hint)
    )


def json_value(value: Any) -> Any:
    """A report's value as orjson takes it."""
    kind = type(value)
    if kind in (int, bool, float, type(None)):
        return value
    if kind is str:
        return value if value.isascii() else file_text(value)
    if (formed := form_for(kind)) is not None:
        return json_value(formed(value))
    if isinstance(value, Enum):
        return word(value)
    if is_dataclass(kind) or hasattr(kind, "_fields"):
        return _object(value)
    if isinstance(value, Mapping):
        return {_key(name): json_value(member) for name, member in value.items()}
    if isinstance(value, frozenset | set):
        return [json_value(member) for member in sorted(value)]
    return [json_value(member) for member in value]


def _object(value: Any) -> dict[str, Any]:
    made: dict[str, Any] = {}
    kind: Any = type(value)
    for member in _own_members(kind):
        member_value = getattr(value, member.attribute)
        if member.is_inline:
            made |= json_value(member_value)
            continue
        if member.form is not None and member_value is not None:
            member_value = member.form(member_value)
        made[member.name] = json_value(member_value)
        if member.is_moment:
            made[twin_name(member)] = moment_text(member_value)
    return made


def moment_text(moment: int | None) -> str | None:
    """A time in ISO-8601; None for one that is not known, or that no calendar has."""
    if moment is None or moment == _NO_MOMENT:
        return None
    text = iso(moment)
    return None if text.endswith("ms") else text


def word(value: Enum) -> Any:
    """Return how an enum is written: its value where that is a word, else its name."""
    spelling = value.value
    is_word = isinstance(spelling, str) and spelling != "" and not spelling.startswith(".")
    return spelling if is_word else value.name.lower()


def _key(name: Any) -> str:
    return str(word(name)) if isinstance(name, Enum) else file_text(str(name))


def json_object(document: Any) -> dict[str, Any]:
    """A document as one value; with its version alone for None."""
    head = {"schemaVersion": SCHEMA_VERSION}
    return head if document is None else {**head, **json_value(document)}


def json_document(document: Any) -> Iterator[bytes]:
    """A document as `-o json` writes it, in pieces.

    It is indented. Where one of its members is an iterator, each member of the document and each
    element of that one has a line instead, so that a million of them never become one value.
    """
    kind: Any = type(document)
    every = _own_members(kind)
    if not any(isinstance(getattr(document, member.attribute), Iterator) for member in every):
        option = orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE
        yield orjson.dumps(json_object(document), option=option)
        return
    yield b'{\n  "schemaVersion": %d' % SCHEMA_VERSION
    for member in every:
        assert not member.is_inline, "a document in pieces has its own members only"
        value = getattr(document, member.attribute)
        yield b",\n  %s: " % orjson.dumps(member.name)
        if isinstance(value, Iterator):
            yield from _elements(value)
        else:
            yield json_line(value)
    yield b"\n}\n"


def _elements(values: Iterator[Any]) -> Iterator[bytes]:
    before = b"[\n    "
    for value in values:
        line = value if isinstance(value, bytes) else json_line(value)
        yield before + line if line.startswith(b"{") else line
        before = b",\n    "
    yield b"[]" if before.startswith(b"[") else b"\n  ]"


def plain_line(made: Mapping[str, Any], **named: Any) -> bytes:
    """The same of members that were made as JSON has them, of which there can be a million."""
    return orjson.dumps({**named, **made})


def json_line(value: Any, **named: Any) -> bytes:
    """A value in one line, without its end; what `named` has comes first."""
    return orjson.dumps({**named, **json_value(value)} if named else json_value(value))
