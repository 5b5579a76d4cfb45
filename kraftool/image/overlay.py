"""Changes on top of a mapping that stays as it is: what most aspects' deltas are made of.

Owns the copy-on-first-write. Reading sees base and changes together; the result shares with the
base what did not change.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Generic, TypeVar

from kraftool.image.layers import GONE, Gone, changed

_Key = TypeVar("_Key")
_Item = TypeVar("_Item")


class Overlay(Generic[_Key, _Item]):
    """A mapping in the making. `result` hands it over; nothing may be set after that."""

    __slots__ = ("_base", "_changes")

    def __init__(self, base: Mapping[_Key, _Item]) -> None:
        self._base = base
        self._changes: dict[_Key, _Item | Gone] = {}

    def get(self, key: _Key) -> _Item | None:
        item = self._changes.get(key)
        if item is None:
            return self._base.get(key)
        return None if item is GONE else item

    def set(self, key: _Key, item: _Item) -> None:
        self._changes[key] = item

    def remove(self, key: _Key) -> None:
        if key in self._base:
            self._changes[key] = GONE
        else:
            self._changes.pop(key, None)

    def keys(self) -> Iterator[_Key]:
        """The keys as they are now, those of the base first."""
        for key in self._base:
            if self._changes.get(key) is not GONE:
                yield key
        for key in self._changes:
            if key not in self._base:
                yield key

    def items(self) -> Iterator[tuple[_Key, _Item]]:
        """The items as they are now, in the order of their keys."""
        for key, item in self._base.items():
            now = self._changes.get(key, item)
            if now is not GONE:
                yield key, now
        for key, change in self._changes.items():
            if key not in self._base and change is not GONE:
                yield key, change

    @property
    def is_changed(self) -> bool:
        return bool(self._changes)

    def result(self) -> Mapping[_Key, _Item]:
        return changed(self._base, self._changes)
