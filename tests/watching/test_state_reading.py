"""What the State view gets of a state that takes long: the states on the way, then its card."""

from __future__ import annotations

from pathlib import Path

import pytest

from kraftool.reports.browse import history as history_module
from kraftool.reports.browse.history import StateHistory
from kraftool.watching import state_reading
from kraftool.watching.state_reading import ReachedState, reach_state
from kraftool.watching.task import StoppedError, Task


@pytest.fixture
def history(fixtures_dir: Path, monkeypatch: pytest.MonkeyPatch) -> StateHistory:
    """A log that goes on 20 records behind its newest snapshot, read 8 at a time."""
    monkeypatch.setattr(history_module, "STRIDE", 8)
    return StateHistory.open(str(fixtures_dir / "kafka-4.3.0/dynamic-quorum/node-2/data"))


def _partial(task: Task) -> list[ReachedState]:
    partial: list[ReachedState] = []
    task.take_partial = partial.append
    return partial


def test_states_on_the_way_come_first_and_the_card_last(
    history: StateHistory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(state_reading, "PARTLY_AFTER_S", 0.0)
    partial = _partial(task := Task())
    reached = reach_state(history, None, None, task)
    *passed, last = partial
    offsets = [reading.state.end_offset for reading in passed]
    assert offsets == [*range(offsets[0], history.bounds.last, 8)]
    assert offsets[0] == history.bounds.snapshots[-1]
    assert all(reading.is_partial and reading.overview is None for reading in passed)
    assert (last.state, last.is_partial, last.overview) == (reached.state, False, None)
    assert reached.overview is not None
    assert reached.state.end_offset == history.bounds.last


def test_a_quick_state_has_no_partial_result(
    history: StateHistory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(state_reading, "PARTLY_AFTER_S", 3600.0)
    partial = _partial(task := Task())
    reach_state(history, None, None, task)
    assert partial == []


def test_a_state_that_is_not_wanted_ends_on_the_way(
    history: StateHistory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(state_reading, "PARTLY_AFTER_S", 0.0)
    task = Task()
    task.take_partial = lambda _: task.stop()
    with pytest.raises(StoppedError):
        reach_state(history, None, None, task)
