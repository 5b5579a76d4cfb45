"""The periodic tasks of an active controller.

Owns when each task is due. A task that has run is due again its period after that, or at once if it
left something to do.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from itertools import count

from kraftool.controller.settings import ControllerSettings

AT_ONCE_MS = 10
AFTER_FAILURE_MS = 300_000


class PeriodicTask(Enum):
    """By the name that Kafka's log gives it."""

    WRITE_NO_OP = "writeNoOpRecord"
    FENCE_STALE = "maybeFenceStaleBroker"
    ELECT_PREFERRED = "electPreferred"
    ELECT_UNCLEAN = "electUnclean"
    EXPIRE_TOKENS = "expireDelegationTokens"


@dataclass(frozen=True, slots=True, order=True)
class _Due:
    at_ms: int
    number: int
    """Of two at one time the one goes first that was there first."""


def periods_of(settings: ControllerSettings) -> dict[PeriodicTask, int]:
    """Return how long each task waits; one that is turned off is not among them."""
    periods = {
        PeriodicTask.WRITE_NO_OP: settings.max_idle_ms,
        # A broker is fenced at most an eighth later than its session ends.
        PeriodicTask.FENCE_STALE: max(1, settings.session_timeout_ms // 8),
        PeriodicTask.ELECT_PREFERRED: settings.leader_imbalance_check_ms,
        PeriodicTask.ELECT_UNCLEAN: settings.unclean_election_check_ms,
        PeriodicTask.EXPIRE_TOKENS: settings.tokens.check_ms,
    }
    return {task: period for task, period in periods.items() if period is not None}


class Timers:
    """The tasks of one claim. None is due before `start`."""

    def __init__(self, settings: ControllerSettings) -> None:
        self._periods = periods_of(settings)
        self._due: dict[PeriodicTask, _Due] = {}
        self._numbers = count()

    def start(self, now_ms: int) -> None:
        for task in self._periods:
            self.ran(task, now_ms)

    def ran(self, task: PeriodicTask, now_ms: int, *, has_more: bool = False) -> None:
        """It is due again after its period, or soon if there is more to do."""
        self._again(task, now_ms + (AT_ONCE_MS if has_more else self._periods[task]))

    def failed(self, task: PeriodicTask, now_ms: int) -> None:
        self._again(task, now_ms + AFTER_FAILURE_MS)

    def _again(self, task: PeriodicTask, at_ms: int) -> None:
        self._due[task] = _Due(at_ms, next(self._numbers))

    def next_at_ms(self) -> int | None:
        return min((due.at_ms for due in self._due.values()), default=None)

    def is_due(self, now_ms: int, *, besides: PeriodicTask) -> bool:
        """True if another task than this one is due."""
        return any(due.at_ms <= now_ms for task, due in self._due.items() if task is not besides)

    def take_due(self, now_ms: int) -> PeriodicTask | None:
        """The task that has been due longest; it is not due again before it ran."""
        task = min(self._due, key=self._due.__getitem__, default=None)
        if task is None or self._due[task].at_ms > now_ms:
            return None
        del self._due[task]
        return task
