"""Paths in the tree: from what was typed to nodes, and from what was typed so far to completions.

Owns `.` and `..` (resolved by name; above the root is the root), slashes, and patterns in every
component but those of the working directory. A name with a slash in it is found by a pattern only.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from kraftool.reports.state.shell.glob import pattern_of, quoted, unquoted
from kraftool.reports.state.shell.nodes import Directory, Node, in_order

Path = tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeEntry:
    """A node and where it was found."""

    path: Path
    node: Node

    @property
    def name(self) -> str:
        return self.path[-1] if self.path else "/"


@dataclass(frozen=True, slots=True)
class _Component:
    text: str
    is_name: bool
    """True if it is a name as it stands, and no pattern."""


def written(path: Path) -> str:
    """A path as it is shown."""
    return "/" + "/".join(path)


def find(root: Directory, working: Path, text: str) -> Iterator[TreeEntry]:
    """Every node that a path names, seen from the working directory; none where there is none."""
    yield from _match(root, (), _components(working, text))


def _components(working: Path, text: str) -> list[_Component]:
    components = [] if text.startswith("/") else [_Component(name, True) for name in working]
    for part in text.split("/"):
        if part == "..":
            del components[-1:]
        elif part not in ("", "."):
            components.append(_Component(part, False))
    return components


def _match(node: Node, path: Path, components: list[_Component]) -> Iterator[TreeEntry]:
    # As deep as the path that somebody typed; the tree itself has seven levels.
    if len(path) == len(components):
        yield TreeEntry(path=path, node=node)
        return
    if not isinstance(node, Directory):
        return
    for name, child in _named(node, components[len(path)]):
        yield from _match(child, (*path, name), components)


def _named(directory: Directory, component: _Component) -> Iterator[tuple[str, Node]]:
    pattern = None if component.is_name else pattern_of(component.text)
    if pattern is not None:
        for name in in_order(name for name in directory.names() if pattern.fullmatch(name)):
            child = directory.child(name)
            if child is not None:
                yield name, child
        return
    # A backslash may belong to the name, as those that escape parentheses in quota entities do.
    spellings = dict.fromkeys((component.text,))
    if not component.is_name:
        spellings[unquoted(component.text)] = None
    for name in spellings:
        child = directory.child(name)
        if child is not None:
            yield name, child
            return


def complete(
    root: Directory, working: Path, text: str, *, directories_only: bool = False
) -> list[str]:
    """Return what a path could go on as; a directory ends with a slash."""
    before, slash, last = text.rpartition("/")
    if last == "..":
        return [f"{text}/"]
    parents = list(find(root, working, before + slash))
    if len(parents) != 1 or not isinstance(parents[0].node, Directory):
        return []
    directory = parents[0].node
    completions = []
    for name in in_order(directory.names()):
        spelled = quoted(name)
        if "/" in name or not (spelled.startswith(last) or name.startswith(last)):
            continue
        if isinstance(directory.child(name), Directory):
            completions.append(f"{before}{slash}{spelled}/")
        elif not directories_only:
            completions.append(f"{before}{slash}{spelled}")
    return completions
