"""Frozen values as documents of plain members, and back: how plans and collect files are kept.

Owns the one mapping between a dataclass and a document: members in camel case, enums by their word,
bytes as text or in base64, a voter set as a list of voters, members that are at their default left
out. Reading is strict, since a
document may come from anybody: a key that is not known, a value of another type, a number or a text
beyond its bounds is refused with the path to it. It refuses to know what any value means; classes
check that in `__post_init__` and raise DocumentError.
"""

from __future__ import annotations

import base64
import binascii
import types
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from enum import Enum
from functools import cache
from typing import Any, NamedTuple, TypeVar, Union, get_args, get_origin, get_type_hints

from kraftool.decoders.errors import KraftoolError
from kraftool.raft.names import Endpoint, Endpoints, ReplicaKey, VersionRange, Voter, VoterSet
from kraftool.reports.text.json_document import camel

T = TypeVar("T")

_LARGEST = (1 << 63) - 1
_LONGEST_TEXT = 8 << 10
_LONGEST_BYTES = 1 << 20
_TEXT, _BASE64 = "text:", "base64:"


class DocumentError(KraftoolError):
    """A document that is not what it should be."""


class DocumentMember(NamedTuple):
    """The type of a member, and the value that is left out; MISSING if it is always there."""

    kind: Any
    default: Any = MISSING


_ENDPOINT = {
    "listener": DocumentMember(str),
    "host": DocumentMember(str),
    "port": DocumentMember(int),
}
_VOTER = {
    "id": DocumentMember(int),
    "directoryId": DocumentMember(str, ""),
    "endpoints": DocumentMember(Endpoints, {}),
    "minKraftVersion": DocumentMember(int, 0),
    "maxKraftVersion": DocumentMember(int, 1),
}


# --- to a document ---------------------------------------------------------------------------


def to_document(value: Any) -> Any:
    """The value in plain members."""
    if isinstance(value, VoterSet):
        return [_written(_VOTER, _voter_members(voter)) for voter in value]
    if is_dataclass(value) and not isinstance(value, type):
        members = {camel(field.name): getattr(value, field.name) for field in fields(value)}
        return _written(_members(type(value)), members)
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, bytes):
        return _shown(value)
    if isinstance(value, str):  # a file's name can be any bytes, and a document is UTF-8
        return value.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, dict):
        return {key: to_document(member) for key, member in value.items()}
    if isinstance(value, tuple):
        return [to_document(member) for member in value]
    return value


def _shown(value: bytes) -> str:
    """Bytes as a person would like to read them."""
    if value.isascii() and value.decode().replace("\n", "").isprintable():
        return _TEXT + value.decode()
    return _BASE64 + base64.b64encode(value).decode()


def _written(members: Mapping[str, DocumentMember], values: Mapping[str, Any]) -> dict[str, Any]:
    return {
        key: to_document(_listed(value) if members[key].kind == Endpoints else value)
        for key, value in values.items()
        if members[key].default is MISSING or value != members[key].default
    }


def _listed(endpoints: Endpoints) -> tuple[dict[str, Any], ...]:
    return tuple(
        {"listener": name, "host": endpoint.host, "port": endpoint.port}
        for name, endpoint in endpoints.items()
    )


def _voter_members(voter: Voter) -> dict[str, Any]:
    return {
        "id": voter.id,
        "directoryId": voter.directory_id or "",
        "endpoints": voter.endpoints,
        "minKraftVersion": voter.kraft_version.min,
        "maxKraftVersion": voter.kraft_version.max,
    }


# --- from a document -------------------------------------------------------------------------


def from_document(kind: type[T], document: Any, where: str = "the file") -> T:
    """The value that a document is of. Raises DocumentError with the path to what is wrong."""
    value: T = _read(kind, document, where)
    return value


@cache
def _members(kind: Any) -> dict[str, DocumentMember]:
    hints = get_type_hints(kind)
    return {
        camel(field.name): DocumentMember(hints[field.name], field.default)
        for field in fields(kind)
    }


def _read(kind: Any, document: Any, where: str) -> Any:
    if get_origin(kind) in (Union, types.UnionType):
        (inner,) = (arg for arg in get_args(kind) if arg is not type(None))
        return None if document is None else _read(inner, document, where)
    if get_origin(kind) is tuple:
        return _tuple(get_args(kind), document, where)
    if isinstance(kind, type) and issubclass(kind, tuple) and kind is not VoterSet:
        return kind(*_tuple(tuple(get_type_hints(kind).values()), document, where))
    if kind is VoterSet:
        return _voters(document, where)
    if kind == Endpoints:
        return _endpoints(document, where)
    if is_dataclass(kind) and isinstance(kind, type):
        return _dataclass(kind, document, where)
    if isinstance(kind, type) and issubclass(kind, Enum):
        return _word(kind, document, where)
    return _scalar(kind, document, where)


def _list(document: Any, where: str) -> list[Any]:
    if not isinstance(document, list):
        raise DocumentError(f"{where} is not a list")
    return document


def _tuple(kinds: tuple[Any, ...], document: Any, where: str) -> tuple[Any, ...]:
    members = _list(document, where)
    if len(kinds) == 2 and kinds[1] is Ellipsis:
        kinds = (kinds[0],) * len(members)
    if len(kinds) != len(members):
        raise DocumentError(f"{where} has {len(members)} members, not {len(kinds)}")
    return tuple(
        _read(kind, member, f"{where}[{number}]")
        for number, (kind, member) in enumerate(zip(kinds, members, strict=True))
    )


def _dataclass(kind: Any, document: Any, where: str) -> Any:
    values = _values(_members(kind), document, where)
    try:
        return kind(**{field.name: values[camel(field.name)] for field in fields(kind)})
    except KraftoolError as error:
        raise DocumentError(f"{where}: {error.message}", hint=error.hint) from None


def _values(members: Mapping[str, DocumentMember], document: Any, where: str) -> dict[str, Any]:
    """All members of a mapping, with the defaults of those that it leaves out."""
    if not isinstance(document, dict):
        raise DocumentError(f"{where} is not a mapping")
    for key in document:
        if key not in members:
            raise DocumentError(
                f"{where} has an unknown key {str(key)[:60]!r}",
                hint=f"known keys are {', '.join(members)}; a newer kraftool may know more",
            )
    values = {}
    for key, member in members.items():
        if key in document:
            values[key] = _read(member.kind, document[key], f"{where}.{key}")
        elif member.default is MISSING:
            raise DocumentError(f"{where} has no {key}")
        else:
            values[key] = member.default
    return values


def _voters(document: Any, where: str) -> VoterSet:
    voters: dict[int, Voter] = {}
    for number, voter_document in enumerate(_list(document, where)):
        values = _values(_VOTER, voter_document, f"{where}[{number}]")
        id_ = values["id"]
        if id_ in voters:
            raise DocumentError(f"{where} has voter {id_} twice")
        voters[id_] = Voter(
            key=ReplicaKey(id_, values["directoryId"] or None),
            endpoints=dict(values["endpoints"]),
            kraft_version=VersionRange(values["minKraftVersion"], values["maxKraftVersion"]),
        )
    return VoterSet(voters)


def _endpoints(document: Any, where: str) -> Endpoints:
    endpoints: dict[str, Endpoint] = {}
    for number, endpoint_document in enumerate(_list(document, where)):
        values = _values(_ENDPOINT, endpoint_document, f"{where}[{number}]")
        if values["listener"] in endpoints:
            raise DocumentError(f"{where} has listener {values['listener'][:60]!r} twice")
        endpoints[values["listener"]] = Endpoint(values["host"], values["port"])
    return endpoints


def _word(kind: type[Enum], word: Any, where: str) -> Enum:
    try:
        return kind(word)
    except ValueError:
        known = ", ".join(str(enum.value) for enum in kind)
        raise DocumentError(f"{where} is {str(word)[:60]!r}, but must be one of {known}") from None


def _scalar(kind: Any, scalar: Any, where: str) -> Any:
    if kind is int:
        if isinstance(scalar, bool) or not isinstance(scalar, int) or abs(scalar) > _LARGEST:
            raise DocumentError(f"{where} is not an integer of 64 bits")
    elif kind is bool:
        if not isinstance(scalar, bool):
            raise DocumentError(f"{where} is not true or false")
    elif kind is str:
        if not isinstance(scalar, str) or len(scalar) > _LONGEST_TEXT:
            raise DocumentError(f"{where} is not a text of at most {_LONGEST_TEXT} characters")
    elif kind is bytes:
        return _bytes(scalar, where)
    else:
        raise AssertionError(f"{kind} is not kept in documents")
    return scalar


def _bytes(text: Any, where: str) -> bytes:
    if not isinstance(text, str) or len(text) > _LONGEST_BYTES * 4 // 3 + 16:
        raise DocumentError(f"{where} is not a text of at most {_LONGEST_BYTES} bytes")
    if text.startswith(_TEXT):
        return text.removeprefix(_TEXT).encode()
    try:
        return base64.b64decode(text.removeprefix(_BASE64), validate=True)
    except (binascii.Error, ValueError):
        raise DocumentError(f"{where} is neither text: nor base64:") from None
