"""One state of a history for the State view, with what it has to show beside it.

Owns the order: states on the way, the state, its difference from a marked one, its card.
"""

from __future__ import annotations

from dataclasses import dataclass

from kraftool.reports.browse.history import StateHistory
from kraftool.reports.browse.state_changes import StateComparison, difference
from kraftool.reports.browse.state_overview import StateOverview, overview_of
from kraftool.reports.state.load import LoadedState
from kraftool.watching.task import Task

PARTLY_AFTER_S = 0.5
"""A result that comes sooner has no partial results: they would only flicker."""


@dataclass(frozen=True, slots=True)
class ReachedState:
    """A state, how it differs from the marked one, and its card."""

    state: LoadedState
    difference: StateComparison | None = None
    overview: StateOverview | None = None
    is_partial: bool = False
    """True for a state on the way to the wanted one."""


def reach_state(
    history: StateHistory, offset: int | None, marked: int | None, task: Task
) -> ReachedState:
    """Return the state at an offset, compared with that at `marked`.

    Partial results are states on the way, then the state without its card. Raises KraftoolError,
    or StoppedError if the task was stopped.
    """
    task.begin("reading snapshot and log")

    def passing(state: LoadedState) -> None:
        if task.elapsed_s >= PARTLY_AFTER_S:
            task.partial(ReachedState(state, is_partial=True))

    state = history.at(offset, task.passed, passing)
    if marked is not None:
        compared = difference(history.at(marked, task.passed), state)
    else:
        compared = None
        if task.elapsed_s >= PARTLY_AFTER_S:
            task.partial(ReachedState(state))
    task.begin("counting partitions")
    return ReachedState(state, compared, overview_of(state))
