"""The nodes of the tree: directories that make a child when it is asked for, and leaves.

Owns laziness and the order of names. A directory knows its names without building its children, so
that a tree over a million partitions costs nothing until somebody walks it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

from kraftool.decoders.wire import JAVA_REPLACE


@dataclass(frozen=True, slots=True)
class Leaf:
    """A file; its text is made when it is read."""

    text: Callable[[], str]


@dataclass(frozen=True, slots=True)
class Directory:
    """A directory: the names in it, in any order, and the child that a name stands for."""

    names: Callable[[], Iterable[str]]
    child: Callable[[str], Node | None]


Node: TypeAlias = Directory | Leaf
_Key = TypeVar("_Key")
_Item = TypeVar("_Item")


def java_text(text: str) -> str:
    """Text as Java has it: what was no UTF-8 in the record became replacement characters."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogateescape").decode("utf-8", JAVA_REPLACE)
    return text


def leaf(text: str) -> Leaf:
    """A file whose text is at hand."""
    return Leaf(lambda: java_text(text))


def fixed(children: Mapping[str, Callable[[], Node]]) -> Directory:
    """A directory whose names are always the same."""

    def child(name: str) -> Node | None:
        make = children.get(name)
        return None if make is None else make()

    return Directory(children.keys, child)


def by_name(items: Mapping[str, _Item], make: Callable[[str, _Item], Node]) -> Directory:
    """A directory with one child an entry, named by the entry's key."""

    def child(name: str) -> Node | None:
        item = items.get(name)
        if item is not None:
            return make(name, item)
        if "\ufffd" in name:
            for key, named_item in items.items():
                if java_text(key) == name:
                    return make(key, named_item)
        return None

    return Directory(lambda: map(java_text, items), child)


def by_key(
    items: Mapping[_Key, _Item],
    write: Callable[[_Key], str],
    read: Callable[[str], _Key | None],
    make: Callable[[_Key, _Item], Node],
) -> Directory:
    """A directory whose entries have keys that are written as names; `read` undoes `write`."""

    def child(name: str) -> Node | None:
        key = read(name)
        item = None if key is None else items.get(key)
        return None if key is None or item is None else make(key, item)

    return Directory(lambda: map(write, items), child)


def in_order(names: Iterable[str]) -> list[str]:
    """Sort names as Java does: by their UTF-16 units, which is not the order of code points."""
    listed = list(names)
    if all(map(str.isascii, listed)):
        listed.sort()
    else:
        listed.sort(key=lambda name: name.encode("utf-16-be", "surrogatepass"))
    return listed
