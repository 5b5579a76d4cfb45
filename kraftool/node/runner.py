"""The one loop of a node: an event goes into the core, what the core wants is done in order.

Owns that order. A step's effects are all done before the next event is looked at, as Kafka's one
raft thread does it; whatever waits (the network, the state machine) waits outside and posts an
event. Disk work runs on one thread of its own, so that the loop keeps reading from the network
meanwhile.

An invariant that breaks ends the node: it never limps on. A message of another node that the core
will not have, before it has changed anything, is not that: it is refused, and told of. (Kafka's
raft thread dies of such messages.) A request to truncate committed records does stop the node.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, Protocol

from kraftool.decoders.errors import KraftoolError
from kraftool.node.identity import NotStarted
from kraftool.raft import appends, core
from kraftool.raft.events import (
    Append,
    AppendBatches,
    Appended,
    AppendToSnapshot,
    Deliver,
    DropSnapshotDownload,
    Effect,
    Event,
    Flush,
    InstallSnapshot,
    LeaderChanged,
    LogCleaned,
    LogFlushed,
    PersistElection,
    Refused,
    Reply,
    RequestReceived,
    Resign,
    ResponseReceived,
    Send,
    SetDeadline,
    Shutdown,
    SnapshotInstalled,
    StartSnapshotDownload,
    Stopped,
    TimePassed,
    Truncate,
    UpgradeKRaftVersion,
)
from kraftool.raft.messages import (
    FetchResponse,
    FetchSnapshotResponse,
    Request,
    Response,
)
from kraftool.raft.names import ImpossibleMessage, ProtocolError
from kraftool.raft.raft import Raft
from kraftool.raft.reading import filled
from kraftool.raft.roles import Leader
from kraftool.raft.settings import NodeSettings
from kraftool.storage.metadata_log import MetadataLog


class NodeFailedError(KraftoolError):
    """The node cannot go on; why, and what it knew."""

    def __init__(self, message: str, *, state: dict[str, Any], hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.state = state


class Sender(Protocol):
    """Whoever carries requests to other nodes, and posts what comes back."""

    def send(self, effect: Send) -> None: ...


class Consumer(Protocol):
    """The state machine above the log."""

    def deliver(self, effect: Deliver) -> None: ...

    def leader_changed(self, effect: LeaderChanged) -> None: ...


class StepObserver(Protocol):
    """Whoever writes down what happens: the log lines and the metrics."""

    def stepped(
        self, raft: Raft, event: Event | None, effects: list[Effect], took_s: float
    ) -> None: ...

    def refused(self, event: RequestReceived | ResponseReceived, error: ProtocolError) -> None: ...


class RefusedMessage(KraftoolError):
    """A request that the core will not have; its connection is to be closed."""


class OrderRefused(KraftoolError):
    """A refusal: the leader does not do what it was asked to do."""

    def __init__(self, refused: Refused) -> None:
        super().__init__(refused.reason)
        self.error = refused.error


Turn = Callable[[Raft, int], Sequence[Event]]
"""Makes events of the core's state and the time, for the core to take before any other one."""


@dataclass(slots=True)
class _Posted:
    event: Event = field(default_factory=TimePassed)
    turn: Turn | None = None
    """Makes events in the place of this one."""
    on_answer: Callable[[Appended | Refused | None], None] | None = None
    """Called with the core's answer to each event."""


class WallClock:
    """Wall-clock milliseconds that never go back: batches carry them, timers count with them."""

    def __init__(self) -> None:
        self._began_ms, self._began = int(time.time() * 1000), time.monotonic()

    def now_ms(self) -> int:
        return self._began_ms + int((time.monotonic() - self._began) * 1000)


class Runner:
    """One node's core and log. `run` returns once the node has ended in order."""

    def __init__(
        self, settings: NodeSettings, log: MetadataLog, clock: WallClock | None = None
    ) -> None:
        self.settings, self.log = settings, log
        self.clock = clock or WallClock()
        self.raft = Raft(settings, random.SystemRandom(), log.view, log.control, log.election)
        self.sender: Sender | None = None
        self.consumer: Consumer | None = None
        self.watcher: StepObserver | None = None
        self._disk = ThreadPoolExecutor(1, thread_name_prefix="disk")
        self._events: deque[_Posted] = deque()
        self._held: deque[_Posted] | None = None
        """Events that wait for `release_appends`; None while none has to."""
        self._posted = asyncio.Event()
        self._deadline_ms = 0
        self._requests: dict[int, asyncio.Future[Response]] = {}
        self._next_request = 0
        self._waiting: dict[asyncio.Future[None], Callable[[Raft], bool]] = {}
        self.after_step: Callable[[Raft], None] | None = None
        """Told after each step, once all of it is done."""
        self.refused = 0
        """Messages that the core would not have."""
        self._is_stopped = False
        self._failure: BaseException | None = None
        self._has_failed = False

    # What others tell the node

    def post(self, event: Event) -> None:
        """Let the core have an event in its turn."""
        self._events.append(_Posted(event))
        self._posted.set()

    def post_turn(self, turn: Turn, on_answer: Callable[[Appended | Refused | None], None]) -> None:
        """Let a caller look at the core and make events of its state. No other event comes between.
        `on_answer` is called with the core's answer to each event."""
        self._events.append(_Posted(turn=turn, on_answer=on_answer))
        self._posted.set()

    async def reached(self) -> None:
        """Wait for everything to be done that was posted before."""
        reached: asyncio.Future[None] = asyncio.get_running_loop().create_future()

        def turn(raft: Raft, now_ms: int) -> Sequence[Event]:
            if not reached.done():
                reached.set_result(None)
            return ()

        self.post_turn(turn, lambda _: None)
        await reached

    def hold_appends(self) -> None:
        """Let all events wait that may append to the log, but turns: somebody works out records for
        the offset that comes next. Ends with `release_appends`."""
        assert self._held is None, "one at a time"
        self._held = deque()
        self._mark_held(True)

    def release_appends(self) -> None:
        """Let those events come next, after the records of the turn that says so."""
        held, self._held = self._held, None
        self._mark_held(False)
        if held:
            self._events.extendleft(reversed(held))
            self._posted.set()

    def _mark_held(self, is_held: bool) -> None:
        if isinstance(self.raft.role, Leader):
            self.raft.role.is_held = is_held

    def fail(self, error: BaseException) -> None:
        """Something that the node cannot go on without is broken."""
        if self._failure is None:
            self._failure = error
        self._posted.set()

    async def ask(self, request: Request, listener: str) -> Response:
        """Have a request answered, of another node or of an operator."""
        self._next_request += 1
        number = self._next_request
        waiting = asyncio.get_running_loop().create_future()
        self._requests[number] = waiting
        self.post(RequestReceived(request_id=number, request=request, listener=listener))
        try:
            answer: Response = await waiting
        finally:
            self._requests.pop(number, None)
        return answer

    async def order(self, event: Append | Resign | UpgradeKRaftVersion) -> Appended | None:
        """Have the leader do something of its own accord. Raises OrderRefused if it will not."""
        answer: asyncio.Future[Appended | Refused | None] = (
            asyncio.get_running_loop().create_future()
        )

        def tell(effect: Appended | Refused | None) -> None:
            if not answer.done():
                answer.set_result(effect)

        self._events.append(_Posted(event, on_answer=tell))
        self._posted.set()
        outcome = await answer
        if isinstance(outcome, Refused):
            raise OrderRefused(outcome)
        return outcome

    async def until(self, holds: Callable[[Raft], bool], timeout_s: float | None) -> bool:
        """Wait for a step after which something holds of the core; False if that takes too long,
        for which None is never."""
        if holds(self.raft):
            return True
        waiting = asyncio.get_running_loop().create_future()
        self._waiting[waiting] = holds
        try:
            async with asyncio.timeout(timeout_s):
                await waiting
        except TimeoutError:
            return False
        finally:
            self._waiting.pop(waiting, None)
        return True

    async def on_disk(self, work: Callable[..., Any], *arguments: Any) -> Any:
        """Have something done by the one thread that touches the log."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._disk, work, *arguments)

    async def clean(self) -> None:
        """Drop what the newest snapshots make needless, as far as the configuration says."""
        start = await self.on_disk(self._clean, self.raft.role.high_watermark)
        if start is not None:
            self.post(LogCleaned(start_offset=start))

    def _clean(self, committed: int | None) -> int | None:
        return self.log.clean(self.clock.now_ms(), committed=committed)

    # The loop

    async def run(self) -> None:
        """Step until the node is told to end, and has. Raises NodeFailedError."""
        try:
            await self._perform(core.start(self.raft, self.clock.now_ms()), None)
            while not self._is_stopped:
                await self._step(await self._next())
        except NotStarted:
            self._has_failed = True
            raise
        except ProtocolError as error:
            message = f"an invariant is broken: {error.message}"
            raise self._failed(message, hint=error.hint) from error
        except KraftoolError as error:
            raise self._failed(error.message, hint=error.hint) from error
        except OSError as error:
            raise self._failed(f"the disk failed: {error}") from error
        finally:
            for asked in self._requests.values():
                asked.cancel()
            for waiting in self._waiting:
                waiting.cancel()

    async def close(self, *, clean: bool = True) -> None:
        """Let go of the log: cleanly, unless the node has failed or is to end as at a crash."""
        clean = clean and not self._has_failed
        await self.on_disk(lambda: self.log.close(clean=clean))
        self._disk.shutdown(wait=True)

    def shut_down(self) -> None:
        """Ask the core to end in order: a leader resigns and waits for a successor."""
        self.post(Shutdown())

    def stop_now(self) -> None:
        """End without waiting for anyone."""
        self._is_stopped = True
        self._posted.set()

    async def _next(self) -> _Posted:
        while True:
            if self._failure is not None:
                raise self._failure
            if self._events:
                posted = self._events.popleft()
                if self._held is None or posted.turn or not appends.may_append(posted.event):
                    return posted
                self._held.append(posted)
                continue
            wait_s = (self._deadline_ms - self.clock.now_ms()) / 1000
            if self._is_stopped or wait_s <= 0:
                return _Posted()
            self._posted.clear()
            try:
                await asyncio.wait_for(self._posted.wait(), min(wait_s, 3600.0))
            except TimeoutError:
                return _Posted()

    async def _step(self, posted: _Posted) -> None:
        if self._is_stopped:
            return
        now_ms = self.clock.now_ms()
        events = [posted.event] if posted.turn is None else posted.turn(self.raft, now_ms)
        for event in events:
            effects = self._effects(event, now_ms)
            if posted.on_answer is not None:
                outcomes = (effect for effect in effects if isinstance(effect, Appended | Refused))
                posted.on_answer(next(outcomes, None))
            await self._perform(effects, event)
        if self.after_step is not None:
            self.after_step(self.raft)
        for waiting, holds in list(self._waiting.items()):
            if not waiting.done() and holds(self.raft):
                waiting.set_result(None)

    def _effects(self, event: Event, now_ms: int) -> list[Effect]:
        """Return what the core wants of an event."""
        began = time.perf_counter()
        try:
            effects = core.step(self.raft, now_ms, event)
        except ImpossibleMessage as error:
            assert isinstance(event, RequestReceived | ResponseReceived), "only messages are"
            effects = self._refused(event, error)
        if self.watcher is not None:
            self.watcher.stepped(self.raft, event, effects, time.perf_counter() - began)
        return effects

    def _refused(
        self, event: RequestReceived | ResponseReceived, error: ImpossibleMessage
    ) -> list[Effect]:
        """Go on without a message that no honest node sends."""
        self.refused += 1
        if self.watcher is not None:
            self.watcher.refused(event, error)
        if isinstance(event, RequestReceived):
            waiting = self._requests.get(event.request_id)
            if waiting is not None and not waiting.done():
                waiting.set_exception(RefusedMessage(error.message))
        return core.refuse(self.raft, event)

    async def _perform(self, effects: list[Effect], event: Event | None) -> None:
        if event is None and self.watcher is not None:
            self.watcher.stepped(self.raft, None, effects, 0.0)
        waiting: list[Callable[[], object]] = []
        """Disk work that was not begun yet: one visit to its thread does it all."""
        self.log.commit(self.raft.log.high_watermark)
        for effect in effects:
            work = self._disk_work(effect)
            if work is not None:
                waiting.append(work)
                continue
            if waiting and not isinstance(effect, SetDeadline):
                await self._do(waiting)
                waiting = []
            match effect:
                case Send():
                    assert self.sender is not None, "a node has peers before it runs"
                    self.sender.send(effect)
                case Reply():
                    await self._reply(effect)
                case Deliver():
                    assert self.consumer is not None, "a node has a state machine before it runs"
                    self.consumer.deliver(effect)
                case LeaderChanged():
                    assert self.consumer is not None, "a node has a state machine before it runs"
                    self.consumer.leader_changed(effect)
                case Stopped():
                    self._is_stopped = True
                case SetDeadline(at_ms=at):
                    self._deadline_ms = at
                case Appended() | Refused():
                    pass  # whoever ordered it was told
                case _:
                    raise NotImplementedError(type(effect).__name__)
        if waiting:
            await self._do(waiting)

    def _disk_work(self, effect: Effect) -> Callable[[], object] | None:
        """Return what an effect is on the disk; what the core is told then is what the work
        returns.
        """
        log = self.log
        match effect:
            case PersistElection(state=state, kraft_version=level):
                return lambda: log.persist_election(state, level)
            case AppendBatches(batches=batches):
                return lambda: log.append(batches)
            case Flush(end_offset=end):
                return lambda: self._flushed(end)
            case Truncate(offset=offset):
                return lambda: log.truncate(offset)
            case StartSnapshotDownload(snapshot_id=snapshot):
                return lambda: log.begin_download(snapshot)
            case AppendToSnapshot(snapshot_id=snapshot, chunk=chunk):
                return lambda: log.append_to_download(snapshot, chunk)
            case InstallSnapshot(snapshot_id=snapshot):
                return lambda: log.install_snapshot(snapshot)
            case DropSnapshotDownload(snapshot_id=snapshot):
                return lambda: log.drop_download(snapshot)
            case _:
                return None

    def _flushed(self, end: int) -> LogFlushed:
        self.log.flush(end)
        return LogFlushed(end_offset=end)

    async def _do(self, works: list[Callable[[], object]]) -> None:
        """Do it, and let the core hear of it before anything else."""

        def all_of_it() -> list[object]:
            return [work() for work in works]

        outcomes = await self.on_disk(all_of_it)
        events = [
            outcome for outcome in outcomes if isinstance(outcome, LogFlushed | SnapshotInstalled)
        ]
        self._events.extendleft(_Posted(event) for event in reversed(events))

    async def _reply(self, effect: Reply) -> None:
        waiting = self._requests.get(effect.request_id)
        if waiting is None or waiting.done():
            return  # who asked has gone
        response = effect.response
        if isinstance(response, FetchResponse | FetchSnapshotResponse) and response.read:
            response = await self.on_disk(filled, self.log, response)
        if not waiting.done():
            waiting.set_result(response)

    # What is told of it

    def _failed(self, message: str, hint: str = "") -> NodeFailedError:
        self._has_failed = True
        return NodeFailedError(message, state=self.state(), hint=hint)

    def state(self) -> dict[str, Any]:
        """The node as it is, for a dump."""
        raft = self.raft
        role = raft.role
        return {
            "nodeId": self.settings.node_id,
            "directoryId": self.settings.directory_id,
            "role": type(role).__name__,
            "epoch": role.epoch,
            "leaderId": role.leader_id,
            "highWatermark": role.high_watermark,
            "committedOffset": raft.log.committed_offset,
            "logStartOffset": raft.log.start_offset,
            "logEndOffset": raft.log.end_offset,
            "flushedOffset": raft.log.flushed_offset,
            "epochs": [list(epoch) for epoch in raft.log.epochs[-20:]],
            "snapshots": [list(snapshot) for snapshot in raft.log.snapshots],
            "kraftVersion": raft.control.kraft_version,
            "voters": sorted(str(voter.key) for voter in raft.control.voters),
            "quorumState": {
                "epoch": raft.stored.epoch,
                "leaderId": raft.stored.leader_id,
                "voted": str(raft.stored.voted) if raft.stored.voted else None,
            },
        }

    @property
    def leads(self) -> bool:
        return isinstance(self.raft.role, Leader)
