"""The metadata image as a tree that is opened where somebody looks, and searched as a whole.

Owns which branches are open, over a tree of `reports/shell`. A branch that is closed costs nothing,
whatever is in it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from kraftool.decoders.errors import KraftoolError
from kraftool.image.image import MetadataImage
from kraftool.reports.state.shell.nodes import Directory, Leaf, Node, in_order
from kraftool.reports.state.shell.tree import shell_tree

Path = tuple[str, ...]
_HEARTBEAT = 200


@dataclass(frozen=True, slots=True)
class TreeRow:
    """One visible line of the tree."""

    path: Path
    node: Node
    is_open: bool = False
    count: int = 0
    """Of what is in it."""

    @property
    def name(self) -> str:
        return self.path[-1]

    @property
    def depth(self) -> int:
        return len(self.path) - 1

    @property
    def is_directory(self) -> bool:
        return isinstance(self.node, Directory)

    def text(self) -> str:
        """Return what a leaf says; nothing of a branch."""
        return _text(self.node)


def _text(node: Node) -> str:
    """Return what a leaf says, or why its snapshot can no longer be read."""
    try:
        return node.text() if isinstance(node, Leaf) else ""
    except KraftoolError as error:
        return error.message


class StateTree:
    """An image, with some branches open. They stay open when another image takes its place."""

    def __init__(self, image: MetadataImage, opened: frozenset[Path] = frozenset()) -> None:
        root = shell_tree(image).child("image")
        assert isinstance(root, Directory), "the shell's tree has an image"
        self._root = root
        self._names: dict[Path, list[str]] = {}
        self.opened = opened

    def rows(self) -> list[TreeRow]:
        """The visible lines."""
        return list(self._below((), self._root))

    def _below(self, path: Path, directory: Directory) -> Iterator[TreeRow]:
        for name in self._named(path, directory):
            node = directory.child(name)
            if node is None:
                continue
            below = (*path, name)
            if not isinstance(node, Directory):
                yield TreeRow(below, node)
                continue
            is_open = below in self.opened
            count = len(self._named(below, node)) if is_open else sum(1 for _ in node.names())
            yield TreeRow(below, node, is_open, count)
            if is_open:
                yield from self._below(below, node)

    def _named(self, path: Path, directory: Directory) -> list[str]:
        names = self._names.get(path)
        if names is None:
            names = self._names[path] = in_order(directory.names())
        return names

    def toggle(self, path: Path) -> None:
        """Open a branch, or close it."""
        self.opened = self.opened ^ {path}

    def reveal(self, path: Path) -> None:
        """Open all branches above a node."""
        self.opened = self.opened | {path[:length] for length in range(1, len(path))}

    def find(self, text: str, after: Path = ()) -> Iterator[Path | None]:
        """The nodes behind a path whose name or text has the text, in the order of the tree.

        Now and then None comes between, so that whoever waits can stop.
        """
        wanted = text.casefold()
        for number, (path, node) in enumerate(self._all((), self._root, after), 1):
            if number % _HEARTBEAT == 0:
                yield None
            node_text = _text(node)
            if wanted in path[-1].casefold() or wanted in node_text.casefold():
                yield path

    def find_before(self, text: str, before: Path) -> Iterator[Path | None]:
        """The last such node before a path; None comes before it, now and then."""
        last = None
        for path in self.find(text):
            if path is None:
                yield None
            elif path >= before:
                break
            else:
                last = path
        if last is not None:
            yield last

    def _all(self, path: Path, directory: Directory, after: Path) -> Iterator[tuple[Path, Node]]:
        """All nodes behind a path, each before what is in it."""
        names = self._named(path, directory)
        start = 0
        if after:
            start = names.index(after[0]) if after[0] in names else 0
        for number, name in enumerate(names[start:]):
            node = directory.child(name)
            if node is None:
                continue
            below = (*path, name)
            is_here = number == 0 and bool(after)
            if not is_here:
                yield below, node
            if isinstance(node, Directory):
                yield from self._all(below, node, after[1:] if is_here else ())
