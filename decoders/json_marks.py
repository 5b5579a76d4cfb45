"""Marks of types and properties that say what JSON has of a class, and what its values are.

They change nothing else: a `Moment` is an int to everybody. `reports/text/json_document.py` reads
them, and docs/json.md has the rule.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, TypeVar

T = TypeVar("T")
Getter = TypeVar("Getter", bound=Callable[..., Any])

MOMENT = "epoch milliseconds"
COUNT = "how many"
IDS = "ids of nodes"
HIDDEN = "not in JSON"
INLINE = "its members in its place"

Moment = Annotated[int, MOMENT]
"""A time: its member ends with Ms, and a twin without Ms has it in ISO-8601."""
Count = Annotated[int, COUNT]
"""How many there are of what the attribute names in the plural: `records` is recordCount."""
Ids = Annotated[tuple[int, ...], IDS]
"""The ids of what the attribute names in the plural: `voters` is voterIds."""
Hidden = Annotated[T, HIDDEN]
"""An attribute that JSON does not have."""
Inline = Annotated[T, INLINE]
"""An object that JSON does not have: it has the object's members in its place."""

_places: dict[Any, str] = {}


def in_json(getter: Getter) -> Getter:
    """Make a property a member in JSON, after all attributes. It belongs below @property."""
    _places[getter] = ""
    return getter


def in_json_before(attribute: str) -> Callable[[Getter], Getter]:
    """Make a property a member in JSON, before an attribute."""

    def mark(getter: Getter) -> Getter:
        _places[getter] = attribute
        return getter

    return mark


def place_in_json(value: property) -> str | None:
    """Return the attribute that a marked property comes before, or ""; None without a mark."""
    return _places.get(value.fget)
