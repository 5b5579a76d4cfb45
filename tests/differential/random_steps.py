"""Random steps: what may happen next to a node in its present state.

Owns the choice between them and everything but messages, which are `random_requests.py`'s and
`random_answers.py`'s.
"""

from __future__ import annotations

from random import Random

from kraftool.raft.roles import NEVER, Leader
from tests.differential.pair import Pair
from tests.differential.random_answers import Answers
from tests.differential.random_requests import Requests
from tests.differential.random_start import LAST_EPOCH, Cast
from tests.differential.steps import (
    Action,
    AppendRecords,
    CleanLog,
    Pause,
    ResignLeader,
    Restart,
    ShutDown,
    Step,
    UpgradeLevel,
    WriteSnapshot,
)
from tests.differential.world import World

_TIMERS = (
    "fetch_deadline_ms",
    "election_deadline_ms",
    "update_deadline_ms",
    "check_quorum_deadline_ms",
    "begin_quorum_deadline_ms",
)


class RandomSteps:
    """Chooses the next steps of a trial."""

    def __init__(self, random: Random, cast: Cast, pair: Pair) -> None:
        self.random, self.pair = random, pair
        self.world = World(random, cast, pair)
        self._requests, self._answers = Requests(self.world), Answers(self.world)
        self._pause_until = 0

    def next(self) -> Step:
        """Return one step."""
        random = self.random
        if self._pause_until > self.pair.now_ms:
            return self._on_the_way()
        action = self._action()
        if isinstance(action, Pause):
            self._pause_until = self._target()
            return self._on_the_way()
        later = random.choice([0, 0, 0, 0, 1, 5, 30]) if random.random() < 0.3 else 0
        if random.random() < 0.05:
            later = self._target() - self.pair.now_ms
        return Step(
            at_ms=self.pair.now_ms + later,
            chance=random.randrange(1 << 30),
            action=action,
            arrives_while_waiting=later > 0 and random.random() < 0.5,
        )

    def _action(self) -> Action:
        random, raft = self.random, self.world.raft
        kind = random.random()
        is_asked = any(self.pair.sent.values())
        if kind < 0.16:
            return Pause()
        if kind < 0.50 and is_asked:
            return self._answers.random_answer()
        if kind < 0.62 and isinstance(raft.role, Leader):
            return self._append() if random.random() < 0.7 else self._snapshot()
        if kind < 0.93:
            return self._requests.random_request()
        near = raft.epoch + random.choices([0, -1, 1], [8, 1, 1])[0]
        near = min(max(near, 0), LAST_EPOCH)
        if kind < 0.945 and raft.settings.node_id is not None:
            return ResignLeader(epoch=near)
        if kind < 0.96:
            return self._snapshot()
        if kind < 0.965:
            return self._clean()
        if kind < 0.97:
            return UpgradeLevel(
                epoch=near, level=random.choice([0, 1, 1]), validate_only=random.random() < 0.3
            )
        if kind < 0.972:
            return ShutDown()
        if kind < 0.982:
            return Restart()
        return Pause()

    def _target(self) -> int:
        """Return when a pause ends: often when a timer runs out, or just before or after."""
        random, raft, now = self.random, self.world.raft, self.pair.now_ms
        waits = [random.randrange(1, 30), 20, 500, raft.timing.request_timeout_ms]
        for name in _TIMERS:
            at = getattr(raft.role, name, None)
            if at is not None and now < at < NEVER:
                waits.append(at - now + random.choice([0, 0, -1, 1]))
        return now + max(0, random.choice(waits))

    def _on_the_way(self) -> Step:
        """Return a pause up to the next time at which something is due."""
        raft, now = self.world.raft, self.pair.now_ms
        assert self.pair.node is not None, "the node runs"
        due = [self.pair.node.deadline_ms, *(fetch.deadline_ms for fetch in raft.parked)]
        if isinstance(raft.role, Leader) and raft.role.accumulator.drain_at_ms:
            due.append(raft.role.accumulator.drain_at_ms)
        at = min([self._pause_until, *(moment for moment in due if moment > now)])
        return Step(at_ms=at, chance=self.random.randrange(1 << 30), action=Pause())

    def _append(self) -> AppendRecords:
        random = self.random
        epoch = self.world.raft.epoch + random.choices([0, -1, 1], [20, 1, 1])[0]
        count = random.choice([1, 1, 2, 5])
        records = [
            bytes([48 + random.randrange(10)]) * random.randrange(1, 30) for _ in range(count)
        ]
        return AppendRecords(epoch=min(epoch, LAST_EPOCH), records=tuple(records))

    def _snapshot(self) -> Action:
        random, raft = self.random, self.world.raft
        committed = raft.role.high_watermark
        ends = [start for _, start in raft.log.epochs] + [raft.log.end_offset]
        offset = random.choice(ends)
        if committed:
            offset = random.choice([*(end for end in ends if end <= committed), committed])
        if random.random() < 0.15:
            offset = random.randrange(raft.log.end_offset + 2)
        offset = max(offset, 1)  # Kafka's state machine never writes one of nothing
        last = raft.log.last_epoch
        epoch = next((epoch for epoch, start in reversed(raft.log.epochs) if start < offset), last)
        # Kafka takes some snapshots with a wrong epoch, which no state machine writes.
        if random.random() < 0.1 and offset > raft.log.end_offset:
            epoch = min(epoch + 1, LAST_EPOCH)
        return WriteSnapshot(offset=offset, epoch=epoch)

    def _clean(self) -> Action:
        raft = self.world.raft
        committed = raft.role.high_watermark
        if committed is None:
            return Pause()
        known = [snapshot for snapshot in raft.log.snapshots if snapshot.offset <= committed]
        # Retention never drops what no older snapshot covers.
        if len(known) < 2 or known[-1].offset <= raft.log.start_offset:
            return Pause()
        return CleanLog(offset=known[-1].offset, epoch=known[-1].epoch)
