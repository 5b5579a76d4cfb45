"""The texts of ls, find and tree over a node, line by line, so that a large tree is never held.

Owns the layout of kafka-metadata-shell: the indentation, the columns, the order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from kraftool.reports.state.shell.nodes import Directory, Leaf, Node, in_order
from kraftool.reports.state.shell.paths import TreeEntry

_GAP = 2
_NARROWEST = 4


def tree_lines(node: Node, depth: int = 0) -> Iterator[str]:
    """The contents of a node, each level two spaces further in."""
    if isinstance(node, Leaf):
        yield "  " * depth + node.text()
        return
    for name in in_order(node.names()):
        yield "  " * depth + name + ":"
        child = node.child(name)
        if child is not None:
            yield from tree_lines(child, depth + 1)


def find_lines(node: Node, path: str) -> Iterator[str]:
    """The path as it was given, and below it every descendant."""
    yield path
    if isinstance(node, Directory):
        above = path if path == "/" else f"{path}/"
        for name in in_order(node.names()):
            child = node.child(name)
            if child is not None:
                yield from find_lines(child, above + name)


def list_lines(
    entries: Sequence[TreeEntry], width: int | None, measure: Callable[[str], int] = len
) -> Iterator[str]:
    """Files first, then each directory, with a heading where there is more than one thing."""
    files = [entry.name for entry in entries if isinstance(entry.node, Leaf)]
    yield from columns(files, width, measure)
    directories = [entry for entry in entries if isinstance(entry.node, Directory)]
    is_first = not files
    for directory in directories:
        assert isinstance(directory.node, Directory)
        names = in_order(directory.node.names())
        if names and (files or len(directories) > 1):
            if not is_first:
                yield ""
            yield f"{directory.name}:"
        is_first = False
        yield from columns(names, width, measure)


def columns(
    entries: Sequence[str], width: int | None, measure: Callable[[str], int] = len
) -> Iterator[str]:
    """Entries in as many columns as fit, read downwards; one a line where there is no width."""
    count = 1 if width is None else _column_count([measure(entry) for entry in entries], width)
    height = -(-len(entries) // count)
    pieces = [entries[start : start + height] for start in range(0, len(entries), height or 1)]
    widths = [max(map(measure, piece)) + _GAP for piece in pieces]
    for row in range(height):
        line = ""
        for piece, wide in zip(pieces, widths, strict=True):
            if row < len(piece):
                line += piece[row] + " " * (wide - measure(piece[row]))
        yield line.rstrip(" ") if count > 1 else entries[row]


def _column_count(sizes: Sequence[int], width: int) -> int:
    """The most columns of which the last is used and all fit."""
    if not sizes:
        return 1
    widest, narrowest = max(sizes) + _GAP, min(sizes) + _GAP
    for count in range(width // _NARROWEST, 1, -1):
        height = -(-len(sizes) // count)
        if (count - 1) * height >= len(sizes) or widest + (count - 1) * narrowest > width:
            continue
        starts = range(0, len(sizes), height)
        if sum(max(sizes[start : start + height]) + _GAP for start in starts) <= width:
            return count
    return 1
