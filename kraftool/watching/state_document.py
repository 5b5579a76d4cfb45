"""The state as the dashboard shows it, in JSON and CSV. Secrets were masked when the lines
were made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from kraftool.decoders.json_marks import Hidden
from kraftool.image.image import Provenance
from kraftool.reports.browse.state_changes import StateComparison
from kraftool.reports.browse.state_tree import TreeRow
from kraftool.reports.findings.finding import Finding
from kraftool.reports.state.diff import ChangeType, EntityChange
from kraftool.reports.state.load import LoadedState


@dataclass(frozen=True, slots=True, kw_only=True)
class StateLeaf:
    """A line of the tree."""

    path: str
    value: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StateView:
    """The branches that are open, with what they say."""

    view: Literal["state"] = "state"
    path: str = ""
    offset: int | None = None
    provenance: Provenance | None = None
    leaves: tuple[StateLeaf, ...] = ()
    findings: tuple[Finding, ...] = ()

    @property
    def rows(self) -> tuple[StateLeaf, ...]:
        return self.leaves


def state_view(state: LoadedState, rows: Sequence[TreeRow]) -> StateView:
    return StateView(
        path=state.path,
        offset=state.end_offset,
        provenance=state.image.provenance,
        leaves=leaves(rows),
        findings=state.findings,
    )


def leaves(rows: Sequence[TreeRow]) -> tuple[StateLeaf, ...]:
    return tuple(
        StateLeaf(path="/".join(row.path), value=row.text()) for row in rows if not row.is_directory
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class DifferenceLine:
    """A line of the difference."""

    sign: str
    name: str
    what: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DifferenceView:
    """The difference of two offsets; so many changes of a kind, all of them counted."""

    view: Literal["state-difference"] = "state-difference"
    path: str
    old_offset: int
    new_offset: int
    changes: tuple[EntityChange, ...]
    counts: Mapping[str, Mapping[ChangeType, int]]
    lines: Hidden[tuple[DifferenceLine, ...]]

    @property
    def rows(self) -> tuple[DifferenceLine, ...]:
        return self.lines


def difference_view(path: str, comparison: StateComparison) -> DifferenceView:
    return DifferenceView(
        path=path,
        old_offset=comparison.old_offset,
        new_offset=comparison.new_offset,
        changes=tuple(comparison.kept),
        counts=comparison.counts.ordered(),
        lines=tuple(
            DifferenceLine(sign=row.sign, name="  " * row.depth + row.name, what=row.text)
            for row in comparison.rows
        ),
    )
