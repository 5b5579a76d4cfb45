r"""One component of a path as a pattern: `*`, `?`, `{a,b}`, and a backslash before any of them.

Owns matching, in time that grows with name and pattern, and not with the ways in which they could
fit each other. There are no character classes and no groups within groups; what is malformed is
taken literally, as Kafka's shell takes it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache

_QUOTED = re.compile(r"\\(.)", re.DOTALL)
_SPECIAL = re.compile(r"[*?{}\\]")
_GLOBBING = re.compile(r"[*?{]")
_MOST_SEEN = 10_000
"""Sets of places that are remembered of one pattern; beyond, they are made anew."""


@dataclass(slots=True)
class _Place:
    """A place in a pattern, and what leads to the next one."""

    character: str = ""
    """What has to come here; nothing where no character is needed to go on."""
    is_any: bool = False
    is_star: bool = False
    goes_to: list[int] = field(default_factory=list)
    """Where it goes on without a character, instead of at the next place."""


@dataclass(slots=True, eq=False)
class _Places:
    """All places that a name may have reached, and those that a character leads to from there."""

    at: frozenset[int]
    is_end: bool
    after: dict[str, _Places] = field(default_factory=dict)


class Pattern:
    """A pattern's places, followed all at once; no name is gone over twice."""

    def __init__(self, places: list[_Place]) -> None:
        self._places = places
        self._seen: dict[frozenset[int], _Places] = {}
        self._start = self._reached({0})

    def fullmatch(self, name: str) -> bool:
        """True if the pattern matches a name as a whole."""
        places = self._start
        for character in name:
            after = places.after.get(character)
            if after is None:
                after = places.after[character] = self._after(places, character)
            if not after.at:
                return False
            places = after
        return places.is_end

    def _after(self, places: _Places, character: str) -> _Places:
        reached = set()
        for index in places.at:
            if index == len(self._places):
                continue
            place = self._places[index]
            if place.is_star:
                reached.add(index)
            elif place.is_any or place.character == character:
                reached.add(index + 1)
        return self._reached(reached)

    def _reached(self, places: Iterable[int]) -> _Places:
        """These places, and those to which no character is needed."""
        at: set[int] = set()
        waiting = list(places)
        while waiting:
            index = waiting.pop()
            if index in at:
                continue
            at.add(index)
            if index < len(self._places):
                place = self._places[index]
                waiting += place.goes_to or ([index + 1] if place.is_star else [])
        key = frozenset(at)
        if len(self._seen) >= _MOST_SEEN:
            for seen in self._seen.values():
                seen.after.clear()
            self._seen.clear()
        return self._seen.setdefault(key, _Places(key, len(self._places) in at))


@lru_cache(maxsize=16)
def pattern_of(component: str) -> Pattern | None:
    """Return what names have to match; None for what can name only itself."""
    places: list[_Place] = []
    group: _Place | None = None
    ends: list[_Place] = []
    literal = True
    characters = iter(component)
    for character in characters:
        if character == "\\":
            places.append(_Place(next(characters, character)))
            continue
        if character in "*?{":
            literal = False
        if character == "*":
            if not (places and places[-1].is_star):
                places.append(_Place(is_star=True))
        elif character == "?":
            places.append(_Place(is_any=True))
        elif character == "{":
            if group is not None:
                return None
            group, ends = _Place(goes_to=[len(places) + 1]), []
            places.append(group)
        elif group is not None and character in ",}":
            ends.append(_Place())
            places.append(ends[-1])
            if character == ",":
                group.goes_to.append(len(places))
            else:
                for end in ends:
                    end.goes_to.append(len(places))
                group = None
        else:
            places.append(_Place(character))
    return None if literal or group is not None else Pattern(places)


def unquoted(component: str) -> str:
    """Return what a component without patterns names, where its backslashes are not part of the
    name.
    """
    return _QUOTED.sub(lambda match: match[1], component)


def quoted(name: str) -> str:
    """A component that finds this name; what could act on a terminal in it is matched by `?`."""
    if name.isprintable() and not _GLOBBING.search(name):
        return name  # its backslashes need no others before them
    return "".join(
        "?"
        if not character.isprintable()
        else f"\\{character}"
        if _SPECIAL.match(character)
        else character
        for character in name
    )
