"""What the dashboard shows of a state, as JSON and CSV have it.

Owns the members. Secrets were masked when the lines were made.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from kraftool.reports.browse.state_changes import StateComparison
from kraftool.reports.browse.state_tree import TreeRow
from kraftool.reports.plain_json import finding_object, plain
from kraftool.reports.state.diff_json import change_object
from kraftool.reports.state.export import provenance_object
from kraftool.reports.state.load import LoadedState


def state_document(state: LoadedState, rows: Sequence[TreeRow]) -> dict[str, Any]:
    """The branches that are open, with what they say."""
    return {
        "schemaVersion": 1,
        "view": "state",
        "path": plain(state.path),
        "offset": state.end_offset,
        "provenance": provenance_object(state.image.provenance),
        "nodes": [
            {"path": "/".join(map(plain, each.path)), "text": plain(each.text())}
            for each in rows
            if not each.is_directory
        ],
        "findings": [finding_object(each) for each in state.findings],
    }


def state_table(rows: Sequence[TreeRow]) -> Iterator[tuple[object, ...]]:
    yield ("path", "text")
    for each in rows:
        if not each.is_directory:
            yield ("/".join(map(plain, each.path)), plain(each.text()))


def difference_document(path: str, found: StateComparison) -> dict[str, Any]:
    """The difference of two offsets; so many changes of a kind, all of them counted."""
    return {
        "schemaVersion": 1,
        "view": "state-difference",
        "path": plain(path),
        "oldOffset": found.old_offset,
        "newOffset": found.new_offset,
        "changes": [change_object(each) for each in found.kept],
        "counts": found.counts.ordered(),
    }


def difference_table(found: StateComparison) -> Iterator[tuple[object, ...]]:
    yield ("sign", "name", "text")
    for each in found.rows:
        yield (each.sign, "  " * each.depth + plain(each.name), plain(each.text))
