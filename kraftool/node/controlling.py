"""The active controller in a node: when there is one, and how its decisions get into the log.

Owns its life (a claim when the state machine is told that this node leads, its end with the
leadership) and the queue of requests. All that waits is decided in one turn, which a thread of its
own works out: the loop goes on answering other nodes, as Kafka's raft thread does beside its
controller's. A turn begins with the offset that comes next, and nothing is appended between that
look and its records. What a turn comes to is dropped if the leadership ended meanwhile. Answers go
out once what they stand on is committed; whatever waits when the leadership ends is told that this
is not the controller.

A controller that fails takes its leadership with it, as Kafka's does, and another voter goes on.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from typing import Any, TypeVar

from kraftool.controller.answers import answered_at_once, refused_answer
from kraftool.controller.controller import (
    ActiveController,
    Answered,
    ControllerRequest,
    NewBatch,
    Step,
)
from kraftool.controller.decision import KRaftUpgrade
from kraftool.controller.mutation_quota import MutationQuotas
from kraftool.controller.permissions import Permissions, everything
from kraftool.controller.refused import RequestRefused
from kraftool.controller.settings import ControllerSettings
from kraftool.decoders.codec import Value
from kraftool.decoders.error_codes import Error
from kraftool.image.acls import ANONYMOUS
from kraftool.image.image import MetadataImage
from kraftool.node.controller_turn import ControllerTurn
from kraftool.node.machine import ImageMachine
from kraftool.node.narration import say
from kraftool.node.resolving import resolves
from kraftool.node.runner import Runner
from kraftool.raft import kraft_upgrade
from kraftool.raft.events import (
    Append,
    Appended,
    Event,
    LeaderChanged,
    Refused,
    Resign,
    UpgradeKRaftVersion,
)
from kraftool.raft.raft import Raft
from kraftool.raft.roles import Leader
from kraftool.storage.random_ids import random_uuid

_CLAIM_WITHIN_MS = 30_000
"""For so long a leader may be without its controller, while it replays what it has not replayed."""
_QUANTILES = ("0.5", "0.75", "0.95", "0.98", "0.99", "0.999")
_RECORD_OVERHEAD = 24
"""What a record takes in a batch beside its value, at most."""
_T = TypeVar("_T")


class SystemChance:
    """Chance of the operating system."""

    def below(self, bound: int) -> int:
        return secrets.randbelow(bound)

    def shuffle(self, items: list[_T]) -> None:
        secrets.SystemRandom().shuffle(items)


@dataclass(slots=True, kw_only=True)
class _Waiting:
    """A request, and who waits for its answer."""

    request: ControllerRequest
    answer: asyncio.Future[Value]
    since: float


@dataclass(slots=True)
class Spent:
    """Times of one kind: how many, the longest, and how the newest are spread."""

    most_ms: float = 0.0
    count: int = 0
    _newest: deque[float] = field(default_factory=lambda: deque(maxlen=1028))
    """As many as Kafka's histograms keep."""

    def add(self, ms: float) -> None:
        self.most_ms = max(self.most_ms, ms)
        self.count += 1
        self._newest.append(ms)

    def quantiles(self) -> list[tuple[str, float]]:
        """Kafka's, of the newest; none before there is one."""
        ordered = sorted(self._newest)
        last = len(ordered) - 1
        return [
            (quantile, ordered[round(float(quantile) * last)]) for quantile in _QUANTILES if ordered
        ]


class Controlling:
    """Runs the active controller while this node leads."""

    def __init__(
        self,
        runner: Runner,
        machine: ImageMachine,
        settings: ControllerSettings,
        *,
        successors: Callable[[], frozenset[int]] = frozenset,
    ) -> None:
        """`successors`: the voters that had better lead if this controller fails."""
        self._runner, self._machine, self.settings = runner, machine, settings
        self._successors = successors
        self._quotas = MutationQuotas(
            windows=settings.quota_windows, window_s=settings.quota_window_s
        )
        self.active: ActiveController | None = None
        self.leaders = self.failures = self._timed_out = 0
        """How often a leader was elected, this node or another; faults; heartbeats too late."""
        self.waited, self.worked = Spent(), Spent()
        """How long requests waited for a turn, and how long turns took."""
        self._epoch = -1
        """Of the claim, also before its first turn; -1 while this node is not the controller."""
        self._queue: deque[ControllerRequest] = deque()
        self._asked: dict[int, _Waiting] = {}
        self._numbers = count()
        self._turn: ControllerTurn | None = None
        """The one that is being worked out."""
        self._work: asyncio.Future[None] | None = None
        self._led_since_ms: tuple[int, int] = (-1, 0)
        """The epoch in which this node leads, and since when."""
        self._turn_is_posted = False
        self._timer: asyncio.TimerHandle | None = None
        machine.on_leader = self.leader_changed
        runner.after_step = self.stepped

    def close(self) -> None:
        self._end()

    @property
    def is_active(self) -> bool:
        return self.active is not None

    @property
    def timed_out_heartbeats(self) -> int:
        """Of all claims."""
        now = self.active.timed_out_heartbeats if self.active is not None else 0
        return self._timed_out + now

    # What serving asks

    async def ask(
        self,
        api: str,
        version: int,
        body: Value,
        *,
        timeout_ms: int | None = None,
        permissions: Permissions | None = None,
        is_forwarded: bool = False,
        principal: str = ANONYMOUS,
        client_id: str | None = None,
    ) -> Value:
        """The body of the answer to a request. `permissions`: of its client; None if there is no
        limit to them. `principal`, `client_id`: by which quotas know who asks."""
        at_once = answered_at_once(api, body)
        if at_once is not None:
            return at_once
        if self._epoch < 0:
            return refused_answer(api, body, _not_controller(self._runner.raft))
        now_ms = self._runner.clock.now_ms()
        if api == "BrokerHeartbeat" and self.active is not None:
            self.active.heard(body["brokerId"], body["brokerEpoch"], now_ms)
        self._quotas.use(self._machine.image.client_quotas)
        _, _, user = principal.partition(":")
        quota = self._quotas.of(api, version, user=user, client_id=client_id, now_ms=now_ms)
        request = ControllerRequest(
            number=next(self._numbers),
            api=api,
            version=version,
            body=body,
            deadline_ms=None if timeout_ms is None else now_ms + timeout_ms,
            permissions=permissions or everything(),
            is_forwarded=is_forwarded,
            principal=principal,
            mutation_quota=quota,
        )
        answer: asyncio.Future[Value] = asyncio.get_running_loop().create_future()
        self._asked[request.number] = _Waiting(
            request=request, answer=answer, since=time.perf_counter()
        )
        self._queue.append(request)
        self._want_turn()
        answered = await answer
        if quota is not None:
            answered["throttleTimeMs"] = quota.throttle_time_ms(self._runner.clock.now_ms())
        return answered

    # The claim

    def leader_changed(self, effect: LeaderChanged) -> None:
        """The state machine is told who leads; of this node only once it has all that is older."""
        self.leaders += effect.leader_id is not None
        if effect.leader_id == self._runner.settings.node_id:
            self._epoch = effect.epoch
            self._want_turn()
        else:
            self._end()

    def stepped(self, raft: Raft) -> None:
        """The core has taken a step: answer what is committed now; end with the leadership."""
        if self._epoch < 0:
            self._hurry(raft)
            return
        if not self._leads(raft):
            self._end()
            return
        committed = raft.role.high_watermark
        if self.active is not None and committed is not None:
            for answered in self.active.committed(committed - 1):
                self._answer(answered)

    def _hurry(self, raft: Raft) -> None:
        """Give up a leadership whose log takes too long to replay: no broker is served by it."""
        if not isinstance(raft.role, Leader) or len(raft.control.voters) < 2:
            return
        now_ms = self._runner.clock.now_ms()
        epoch, since_ms = self._led_since_ms
        if epoch != raft.epoch:
            self._led_since_ms = (raft.epoch, now_ms)
        elif now_ms - since_ms > _CLAIM_WITHIN_MS and not raft.role.resign_requested:
            say("too far behind to be the controller", logging.WARNING, epoch=raft.epoch)
            self._runner.post(self._resignation(raft.epoch))

    def _leads(self, raft: Raft) -> bool:
        return isinstance(raft.role, Leader) and raft.epoch == self._epoch

    def _end(self) -> None:
        """Not the controller any more: tell whoever waits."""
        self._timed_out = self.timed_out_heartbeats
        self._epoch, self.active, self._turn = -1, None, None
        self._machine.loader.share_with(None)
        self._queue.clear()
        if self._work is not None:
            self._work.cancel()  # a thread that is at it fails soon, and nobody looks at that
            self._work = None
        self._runner.release_appends()
        if self._timer is not None:
            self._timer.cancel()
        waiting, self._asked = self._asked, {}
        refused = _not_controller(self._runner.raft)
        for asked in waiting.values():
            if not asked.answer.done():
                request = asked.request
                asked.answer.set_result(refused_answer(request.api, request.body, refused))

    # Turns

    def _want_turn(self) -> None:
        if not self._turn_is_posted and self._turn is None:
            self._turn_is_posted = True
            self._runner.post_turn(self._begin_turn, self._told)

    def _begin_turn(self, raft: Raft, now_ms: int) -> list[Event]:
        """Have all that waits decided. What takes some milliseconds is decided at once; for other
        turns nothing is to be appended yet."""
        self._turn_is_posted = False
        if not self._leads(raft):
            return []
        assert isinstance(raft.role, Leader), "which was just seen"
        next_offset = raft.role.accumulator.next_offset
        queue, self._queue = self._queue, deque()
        turn = self._turn = ControllerTurn(
            queue=queue,
            now_ms=now_ms,
            next_offset=next_offset,
            kraft_version=raft.control.kraft_version,
            plan_kraft_upgrade=partial(_planned, raft),
            active=self.active,
            claim=partial(
                _claimed,
                self.settings,
                self._machine.image,
                has_open_transaction=self._machine.loader.open_transaction is not None,
                next_offset=next_offset,
                now_ms=now_ms,
            ),
        )
        waiting = [self._asked[request.number].since for request in queue]
        if self.active is not None and self.active.is_light(now_ms, queue):
            error: BaseException | None = None
            try:
                turn.work_out()
            except Exception as fault:
                error = fault
            return self._end_turn(turn, waiting, error, raft, now_ms)
        self._runner.hold_appends()
        self._work = asyncio.get_running_loop().run_in_executor(None, turn.work_out)
        self._work.add_done_callback(partial(self._worked_out, turn, waiting))
        return []

    def _worked_out(
        self, turn: ControllerTurn, waiting: list[float], work: asyncio.Future[None]
    ) -> None:
        """The thread is done: let the core have what the turn came to, in its order."""
        if self._turn is turn:
            end = partial(self._end_turn, turn, waiting, work.exception())
            self._runner.post_turn(end, self._told)

    def _end_turn(
        self,
        turn: ControllerTurn,
        waiting: list[float],
        error: BaseException | None,
        raft: Raft,
        now_ms: int,
    ) -> list[Event]:
        """Give the answers of a turn; what is to be appended."""
        if self._turn is not turn or not self._leads(raft):
            return []  # and `stepped` ends the claim, if nobody has
        if self.active is None and turn.active is not None:
            say("active controller", epoch=self._epoch, offset=turn.next_offset)
            # What it decides is committed and replayed soon: most partitions are in both states.
            self._machine.loader.share_with(turn.active.state.partition_of)
        self.active, self._turn, self._work = turn.active, None, None
        if error is not None:
            return self._failed(error)
        self._runner.release_appends()
        for since in waiting[: len(waiting) - len(turn.queue)]:
            self.waited.add((turn.began - since) * 1000)
        self.worked.add((turn.ended - turn.began) * 1000)
        for answered in turn.step.answers:
            self._answer(answered)
        for task, reason in turn.step.failures:
            self._say_failed(reason, of=task.value)
        self._queue.extendleft(reversed(turn.queue))
        assert self.active is not None, "claimed"
        if self.active.is_busy or self._queue:
            self._want_turn()
        else:
            self._set_timer(now_ms)
        return [self._event(append) for append in turn.step.appends]

    def _event(self, append: NewBatch | KRaftUpgrade) -> Event:
        if isinstance(append, KRaftUpgrade):
            return UpgradeKRaftVersion(epoch=self._epoch, level=append.level)
        records = append.records
        size = sum(len(record) + _RECORD_OVERHEAD for record in records)
        return Append(epoch=self._epoch, records=records, size=size, base_offset=append.base_offset)

    def _told(self, outcome: Appended | Refused | None) -> None:
        """Handle a refused append: the state is based on records that the log will not have."""
        if isinstance(outcome, Refused) and self._epoch >= 0:
            say("append refused", logging.WARNING, reason=outcome.reason)
            self._runner.post(self._resignation(self._epoch))
            self._end()

    def _failed(self, error: BaseException) -> list[Event]:
        """Give up the leadership: what this controller believes may be wrong."""
        request = None if self.active is None else self.active.handling
        self._say_failed(error, of="" if request is None else request.api)
        if request is not None:
            refused = RequestRefused(Error.UNKNOWN_SERVER_ERROR, "the controller failed at this")
            body = refused_answer(request.api, request.body, refused)
            self._answer(Answered(request.number, body))
        resign = self._resignation(self._epoch)
        self._end()
        return [resign]

    def _say_failed(self, error: BaseException, *, of: str) -> None:
        """`of`: the request or the task at which it failed, if it is known."""
        self.failures += 1
        logging.getLogger(__name__).debug("the controller failed", exc_info=error)
        reason = f"{type(error).__name__}: {error}"
        where: dict[str, Any] = {"at": of} if of else {}
        say("controller failed", logging.ERROR, **where, reason=reason)

    def _resignation(self, epoch: int) -> Resign:
        return Resign(epoch=epoch, preferred=self._successors())

    def _set_timer(self, now_ms: int) -> None:
        if self._timer is not None:
            self._timer.cancel()
        assert self.active is not None, "its turn has just ended"
        at_ms = self.active.next_at_ms
        if at_ms is not None:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(max(at_ms - now_ms, 0) / 1000, self._want_turn)

    def _answer(self, answered: Answered) -> None:
        asked = self._asked.pop(answered.number, None)
        if asked is not None and not asked.answer.done():
            asked.answer.set_result(answered.body)


def _claimed(
    settings: ControllerSettings,
    image: MetadataImage,
    *,
    has_open_transaction: bool,
    next_offset: int,
    now_ms: int,
) -> tuple[ActiveController, Step]:
    """Make the controller of a claim. It takes a second where there are 300,000 partitions."""
    active = ActiveController(
        settings,
        SystemChance(),
        random_uuid,
        image=image,
        next_offset=next_offset,
        registered_at={},
        now_ms=now_ms,
        resolves=resolves,
    )
    return active, active.activate(now_ms, has_open_transaction=has_open_transaction)


def _planned(raft: Raft, level: int) -> int:
    """Return how many records the log appends for a level of kraft.version; raise RequestRefused if
    it cannot change to it. The turn's thread asks: what it reads of the core are values, and while
    appends are held their number changes only with the leadership."""
    assert isinstance(raft.role, Leader), "only a leader's controller asks"
    order = UpgradeKRaftVersion(epoch=raft.role.epoch, level=level)
    planned = kraft_upgrade.planned(raft, order)
    if isinstance(planned, Refused):
        # If the leader does not know enough of a voter yet, Kafka calls that an illegal state, and
        # its controller fails.
        error = planned.error or Error.INVALID_UPDATE_VERSION
        raise RequestRefused(error, planned.reason)
    return len(planned)


def _not_controller(raft: Raft) -> RequestRefused:
    leader = raft.leader_id
    known = "none is known" if leader is None else f"node {leader} leads"
    return RequestRefused(Error.NOT_CONTROLLER, f"this node is not the active controller; {known}")
