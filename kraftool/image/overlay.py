"""Changes on top of a mapping that stays as it is: what most aspects' deltas are made of.

Owns the copy-on-first-write. Reading sees base and changes together.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Generic, TypeVar

_Key = TypeVar("_Key")
_Item = TypeVar("_Item")


class Overlay(Generic[_Key, _Item]):
    """A mapping in the making. `result` hands it over; nothing may be set after that."""

    __slots__ = ("_base", "_changed", "_removed")

    def __init__(self, base: Mapping[_Key, _Item]) -> None:
        self._base = base
        self._changed: dict[_Key, _Item] = {}
        self._removed: set[_Key] = set()

    def get(self, key: _Key) -> _Item | None:
        changed = self._changed.get(key)
        if changed is not None or key in self._removed:
            return changed
        return self._base.get(key)

    def set(self, key: _Key, item: _Item) -> None:
        self._changed[key] = item
        self._removed.discard(key)

    def remove(self, key: _Key) -> None:
        self._changed.pop(key, None)
        if key in self._base:
            self._removed.add(key)

    def keys(self) -> Iterator[_Key]:
        """The keys as they are now, those of the base first."""
        for key in self._base:
            if key not in self._removed:
                yield key
        for key in self._changed:
            if key not in self._base:
                yield key

    @property
    def is_changed(self) -> bool:
        return bool(self._changed or self._removed)

    def result(self) -> Mapping[_Key, _Item]:
        if not self.is_changed:
            return self._base
        if not self._base:
            return self._changed
        merged = {key: item for key, item in self._base.items() if key not in self._removed}
        merged.update(self._changed)
        return merged
