"""One turn of the active controller, as a thread of its own works it out.

Owns what such a turn is given and what it comes to. Nobody else looks at either before the turn is
over, so that no lock is needed. The node's loop uses only `heard` and `committed` of the controller
meanwhile, as `ActiveController` allows.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from kraftool.controller.controller import ActiveController, ControllerRequest, Step

Claim = Callable[[], tuple[ActiveController, Step]]
"""Makes the controller of a claim, and gives its first step."""


@dataclass(slots=True, kw_only=True, eq=False)
class ControllerTurn:
    """Requests to decide on, at the offset that comes next."""

    queue: deque[ControllerRequest]
    """What is left of it waits for another turn."""
    now_ms: int
    next_offset: int
    kraft_version: int
    plan_kraft_upgrade: Callable[[int], int]
    active: ActiveController | None
    claim: Claim
    """Called if there is no controller yet."""
    step: Step = field(default_factory=Step)
    began: float = 0.0
    ended: float = 0.0
    """Both by time.perf_counter()."""

    def work_out(self) -> None:
        """Decide. Whatever it raises is a fault of this software."""
        self.began = time.perf_counter()
        if self.active is None:
            self.active, self.step = self.claim()
        active, step = self.active, self.step
        active.next_offset = self.next_offset + step.record_count
        active.kraft_version = self.kraft_version
        active.plan_kraft_upgrade = self.plan_kraft_upgrade
        more = active.turn(self.now_ms, self.queue)
        step.appends += more.appends
        step.answers += more.answers
        step.failures = more.failures
        self.ended = time.perf_counter()
