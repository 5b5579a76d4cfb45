"""A mapping that never changes, made from another one by what changed.

Owns how a version shares what stayed the same with the versions before it: a base, which is a plain
dict, and layers of changes over it. A commit adds a layer. Layers of about one size become one, so
that there are few, and once they amount to a part of the base they and it become a new base. So a
change costs some copies of single entries over its life, whatever the size of the base.

Iteration is in the order of the base, then that of additions: it depends on the changes and never
on the hashes of a process. (A HAMT, as of the package `immutables`, is in the order of the hashes,
which differ from run to run; it took nine times as long to build; and it is compiled, which
Spark's workers would need to have installed.)
"""

from __future__ import annotations

from collections.abc import ItemsView, Iterator, KeysView, Mapping, ValuesView
from enum import Enum
from typing import Any, Final, TypeVar, cast, overload

_Key = TypeVar("_Key")
_Item = TypeVar("_Item")
_Default = TypeVar("_Default")


class Gone(Enum):
    """Takes the place of the item of a key that was removed."""

    GONE = "gone"


GONE: Final = Gone.GONE

_PART_OF_BASE = 4
"""Layers become one with a base that is at most so many times as large as they are."""
_GROWTH = 4
"""A layer is more than so many times as large as the one over it."""


class Layers(Mapping[_Key, _Item]):
    """A version of a mapping whose items are never None."""

    __slots__ = ("_length", "_parts")

    def __init__(
        self, base: dict[_Key, _Item], layers: tuple[dict[_Key, _Item | Gone], ...], length: int
    ) -> None:
        """`layers` with the newest first."""
        self._parts = base, layers
        # One attribute, so that a thread that merges them on reading disturbs no other.
        self._length = length

    def __len__(self) -> int:
        return self._length

    @overload
    def get(self, key: _Key, /) -> _Item | None: ...
    @overload
    def get(self, key: _Key, /, default: _Item | _Default) -> _Item | _Default: ...
    def get(self, key: _Key, /, default: Any = None) -> Any:
        base, layers = self._parts
        for layer in layers:
            item = layer.get(key)
            if item is not None:
                return default if item is GONE else item
        return base.get(key, default)

    def __getitem__(self, key: _Key) -> _Item:
        item = self.get(key)
        if item is None:
            raise KeyError(key)
        return item

    def __contains__(self, key: Any) -> bool:
        return self.get(key) is not None

    def __iter__(self) -> Iterator[_Key]:
        return iter(self._merged())

    def keys(self) -> KeysView[_Key]:
        return self._merged().keys()

    def values(self) -> ValuesView[_Item]:
        return self._merged().values()

    def items(self) -> ItemsView[_Key, _Item]:
        return self._merged().items()

    def __repr__(self) -> str:
        return repr(self._merged())

    def __reduce__(self) -> tuple[type, tuple[dict[_Key, _Item]]]:
        return dict, (self._merged(),)

    def _merged(self) -> dict[_Key, _Item]:
        """All as one dict, which is the base from now on: who iterates once does so again."""
        base, layers = self._parts
        if layers:
            base = _merge(base, layers)
            self._parts = base, ()
        return base

    def changed(self, changes: dict[_Key, _Item | Gone]) -> Mapping[_Key, _Item]:
        """The version after changes, of which no key that is not there is removed."""
        base, layers = self._parts
        top = changes
        while layers and len(layers[0]) <= _GROWTH * len(top):
            top = {**layers[0], **top}
            layers = layers[1:]
        layers = top, *layers
        if sum(map(len, layers)) * _PART_OF_BASE >= len(base):
            return _merge(base, layers)
        length = self._length
        for key, item in changes.items():
            if item is GONE:
                length -= 1
            elif key not in self:
                length += 1
        return Layers(base, layers, length)


def _merge(
    base: dict[_Key, _Item], layers: tuple[dict[_Key, _Item | Gone], ...]
) -> dict[_Key, _Item]:
    merged = base.copy()
    for layer in reversed(layers):
        for key, item in layer.items():
            if item is GONE:
                merged.pop(key, None)
            else:
                merged[key] = item
    return merged


def changed(base: Mapping[_Key, _Item], changes: dict[_Key, _Item | Gone]) -> Mapping[_Key, _Item]:
    """The mapping after changes, of which no key that is not there is removed.

    It keeps the changes, which must not change any more.
    """
    if not changes:
        return base
    if not base:
        return cast("dict[_Key, _Item]", changes)  # nothing was there to be removed
    if isinstance(base, Layers):
        return base.changed(changes)
    return Layers(base if isinstance(base, dict) else dict(base), (), len(base)).changed(changes)
