"""One simulated node: it runs the core, and does what the core wants done, in order.

Owns what a real node owns besides the core: memory of the log, the disk, the clock. What follows an
effect that has to become durable waits until it is. The process may end at any moment; only its
disk goes on.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from functools import partial
from random import Random
from typing import Any

from kraftool.decoders.errors import KraftoolError
from kraftool.raft import core
from kraftool.raft.appends import may_append
from kraftool.raft.events import (
    AppendBatches,
    AppendToSnapshot,
    Deliver,
    DropSnapshotDownload,
    Effect,
    Event,
    Flush,
    InstallSnapshot,
    LeaderChanged,
    LogFlushed,
    PersistElection,
    Reply,
    RequestReceived,
    ResponseReceived,
    Send,
    SetDeadline,
    SnapshotInstalled,
    StartSnapshotDownload,
    Stopped,
    TimePassed,
    Truncate,
)
from kraftool.raft.messages import (
    ApiVersionsRequest,
    ApiVersionsResponse,
    EndQuorumEpochRequest,
    FetchResponse,
    FetchSnapshotResponse,
    Request,
    Response,
)
from kraftool.raft.names import OffsetAndEpoch, ProtocolError, ReplicaKey
from kraftool.raft.raft import Raft
from kraftool.raft.reading import filled
from kraftool.raft.roles import Leader
from kraftool.raft.settings import NodeSettings
from kraftool.sim.batches import Batches
from kraftool.sim.disk import Disk, stored_form
from kraftool.sim.machine import Machine, Snapshot
from tests.simulator.clock import Clock
from tests.simulator.network import Asked, Network
from tests.simulator.simulation import Simulation


class Node:
    """A node and its disk. Between `start` and `crash` it has a core; `raft` is the last one."""

    raft: Raft

    def __init__(
        self,
        world: Simulation,
        network: Network,
        settings: NodeSettings,
        disk: Disk,
        clock: Clock,
        random: Random,
        deliver: Callable[[Node, Deliver], None],
    ) -> None:
        """`deliver` takes what the core gives to the state machine of this node."""
        self.world, self.settings, self.disk, self.clock = world, settings, disk, clock
        self._network = network
        self.id = settings.node_id if settings.node_id is not None else -1
        self.key = ReplicaKey(self.id, disk.directory_id)
        self.name = f"n{self.id}"
        self.random = random
        self.is_up = False
        self.is_reborn = False
        """True if another directory had this id before."""
        self.is_busy = False
        """True if something is on its way to the disk."""
        self.incarnation = 0
        self.paused_until = 0
        self.slow_ms = 0
        """How long the disk takes at most while it is slow."""
        self.snapshot_every = 1_000_000
        self.log = Batches()
        """As the core has it; the disk's may be behind."""
        self.machine = Machine()
        self.watermark: int | None = None
        self.voters = settings.static_voters
        self.voters_offset = -1
        """The newest in its log and where, as the checkers read it."""
        self.is_prompt = True
        """True if what leaves the node now was decided in this step, and not held back."""
        self._rested_role: object = None
        self.active_epoch = -1
        """The epoch in which the state machine was told that this node leads."""
        self._held: list[Event] | None = None
        """Events that wait for `release_appends`; None while none has to."""
        self._outbox: deque[Effect] = deque()
        self._pending: Effect | None = None
        self._requests: dict[int, Asked | None] = {}
        self._next_request = 0
        self._deadline = self._woken_at = 0
        self._doing: dict[type, Any] = {
            PersistElection: self._sync,
            Flush: self._sync,
            InstallSnapshot: self._sync,
            AppendBatches: self._append,
            Truncate: self._truncate,
            Send: self._send,
            Reply: self._reply,
            Deliver: partial(deliver, self),
            StartSnapshotDownload: self._start_download,
            AppendToSnapshot: self._append_to_download,
            DropSnapshotDownload: self._drop_download,
            Stopped: self._stopped,
        }

    # The life of the process

    def start(self) -> None:
        """Read the disk, and begin."""
        self.incarnation += 1
        self._outbox.clear()
        self._requests.clear()
        self.is_up, self.is_busy, self._pending = True, False, None
        self.paused_until = self._woken_at = 0
        view, control = self.disk.open(self.settings.static_voters)
        self.log = Batches(self.disk.log.items, self.disk.log.start)
        self.machine, self.watermark, self.active_epoch = Machine(), None, -1
        self._held = None
        if self.world.is_tracing:
            self.world.note(f"{self.name} starts, log {self.log.start}..{self.log.end}")
        self.raft = Raft(self.settings, self.random, view, control, self.disk.election)
        self.world.hooks.starts(self)
        try:
            effects = core.start(self.raft, self.clock.local(self.world.now))
        except KraftoolError as error:
            self.world.violated("core", f"{self.name} does not start: {error}")
        self._observe(effects, None, None)

    def end(self, *, power: bool) -> None:
        """The process ends at once; without power, so does all that is on its way to the disk."""
        if not self.is_up:
            return
        self.is_up = False
        self.incarnation += 1
        pending = self._pending
        self._outbox.clear()
        if pending is not None and not isinstance(pending, Flush) and self.random.random() < 0.5:
            self._complete(pending)
        lost = "" if power else self.disk.lose_power(self.random)
        if self.world.is_tracing:
            self.world.note(f"{self.name} {'is killed' if power else 'loses power: ' + lost}")

    # What comes in

    def event(self, incarnation: int, event: Event) -> None:
        """Something of this node's own happens, unless the process has ended meanwhile."""
        if self.is_ready(incarnation, self.event, event):
            self.step(event)

    def asked(self, asked: Asked) -> None:
        """A request arrives."""
        if not self.is_ready(self.incarnation, self._asked_later, asked):
            return
        if isinstance(asked.request, ApiVersionsRequest):
            known = ApiVersionsResponse(
                kraft_version=self.settings.kraft_version,
                runs_controller=self.settings.runs_controller,
            )
            self._network.answer(self.id, asked, known)
            return
        self._request(asked, asked.request)

    def _asked_later(self, _: int, asked: Asked) -> None:
        if self.is_up:
            self.asked(asked)

    def operate(self, request: Request) -> None:
        """An operator asks."""
        self._request(None, request)

    def _request(self, asked: Asked | None, request: Request) -> None:
        self._next_request += 1
        self._requests[self._next_request] = asked
        self.step(RequestReceived(request_id=self._next_request, request=request))

    def answered(self, asked: Asked, response: Response) -> None:
        """An answer arrives."""
        self.event(
            asked.incarnation,
            ResponseReceived(
                source_id=asked.known_as, correlation_id=asked.correlation_id, response=response
            ),
        )

    def is_ready(self, incarnation: int, again: Any, *what: Any) -> bool:
        """True if something may happen now to the process that it was meant for. While the node
        pauses it happens later."""
        if not self.is_up or self.incarnation != incarnation:
            return False
        if self.world.now < self.paused_until:
            self.world.at(self.paused_until, again, incarnation, *what)
            return False
        return True

    def _tick(self, incarnation: int) -> None:
        if not self.is_ready(incarnation, self._tick):
            return
        self._woken_at = 0
        if self.world.now < self._deadline:
            self._wake()
        else:
            self.step(TimePassed())

    def _wake(self) -> None:
        at = max(self._deadline, self.world.now + 1)
        if self._woken_at == 0 or at < self._woken_at:
            self._woken_at = at
            self.world.at(at, self._tick, self.incarnation)

    def hold_appends(self) -> None:
        """Let what may append wait: the offset that comes next is promised to a controller."""
        self._held = []
        self._mark_held(True)

    def release_appends(self) -> None:
        """Let it come soon, after what comes at once."""
        held, self._held = self._held, None
        self._mark_held(False)
        for event in held or ():
            self.world.after(0, self.event, self.incarnation, event)

    def _mark_held(self, is_held: bool) -> None:
        if isinstance(self.raft.role, Leader):
            self.raft.role.is_held = is_held

    # A step of the core

    def step(self, event: Event) -> None:
        """Let the core handle what happened."""
        if self._held is not None and may_append(event):
            self._held.append(event)
            return
        world = self.world
        if world.is_tracing:
            world.note_event(self.name, event)
        before = self.raft.role
        try:
            effects = core.step(self.raft, self.clock.local(world.now), event)
        except Exception as error:  # whatever it is, a core must not fail
            why = self._why_killed_by(event) if isinstance(error, ProtocolError) else ""
            if why:
                self.end(power=True)
                world.count(f"ended as Kafka by a message: {why}")
                world.after(500, self._again, self.incarnation)
                return
            world.violated("core", f"{self.name}: {type(error).__name__}: {error}")
        world.events += 1
        self._observe(effects, before, event)

    def _why_killed_by(self, event: Event) -> str:
        """Why an honest message ends Kafka's process, too; nothing where it does not.

        Both happen to a node that was wiped. It knows of no voters; the others know its id, and may
        take it for the leader that it was (Kafka's hasConsistentLeader then throws). And it is told
        of a leader without being told where that is: Kafka 4.3 leaves endpoints out of every
        EndQuorumEpoch, and an answer has only those that the answering node knows. The process is
        started again and again, until the others have another leader or tell where theirs is.
        """
        match event:
            case ResponseReceived(response=response):
                named, endpoints = response.leader_id, response.endpoints
            case RequestReceived(request=EndQuorumEpochRequest() as request):
                named, endpoints = request.leader_id, request.leader_endpoints
            case _:
                return ""
        if named == self.id:
            return "wiped, it hears that it leads" if self.is_reborn else ""
        is_nowhere = named >= 0 and not endpoints and named not in self.voters.ids
        return "it hears of a leader, and not where that is" if is_nowhere else ""

    def _again(self, incarnation: int) -> None:
        if self.incarnation == incarnation and not self.is_up:
            self.start()

    def _observe(self, effects: list[Effect], before: Any, event: Event | None) -> None:
        """Keep up with the core's view of the log, show the checkers, then do what it wants."""
        world = self.world
        hooks = world.hooks
        role = self.raft.role
        if world.is_tracing:
            world.note_effects(self.name, self.raft, effects)
        delivery = None
        for effect in effects:
            match effect:
                case AppendBatches(batches=batches):
                    for batch in batches:
                        self.log.append(batch)
                    hooks.appended(self, batches)
                case Truncate(offset=offset):
                    hooks.truncated(self, offset, self.log.truncate(offset))
                case InstallSnapshot(snapshot_id=snapshot):
                    self.log = Batches(start=snapshot.offset)
                    hooks.installed(self, snapshot)
                case Send():
                    hooks.asks(self, effect, event)
                case Deliver():
                    delivery = effect
                case LeaderChanged(epoch=epoch, leader_id=leader) if leader == self.id:
                    self.active_epoch = epoch
                case SetDeadline(at_ms=at):
                    self._deadline = self.clock.world(at)
                    self._wake()
        if role is not before:
            if isinstance(before, Leader) and before.high_watermark != self.watermark:
                hooks.watermark(self, before, self.watermark, before.high_watermark)
                self.watermark = before.high_watermark
            hooks.role_changed(self, before, role, event)
            if isinstance(role, Leader) and not self.settings.runs_controller:
                world.count("led without a controller")
        watermark = role.high_watermark
        if watermark != self.watermark or role is not before:
            hooks.watermark(self, role, self.watermark, watermark)
            self.watermark = watermark
        if delivery is not None:
            hooks.delivers(self, delivery)
        hooks.stepped(self, event)
        self._outbox += effects
        self.is_prompt = not self.is_busy
        if self.is_prompt:
            self._drain()
            if role is not self._rested_role and self.is_up and not self.is_busy:
                self._rested_role = role
                hooks.rested(self)

    # What the core wants done

    def _drain(self) -> None:
        outbox, doing = self._outbox, self._doing
        while outbox and not self.is_busy and self.is_up:
            effect = outbox.popleft()
            action = doing.get(type(effect))
            if action is not None:
                action(effect)

    def _sync(self, effect: Effect) -> None:
        """Begin to make something durable; what follows waits."""
        wait = self.world.sync_ms(self.slow_ms)
        if wait:
            self.is_busy, self._pending = True, effect
            self.world.after(wait, self._synced, self.incarnation, effect)
        else:
            self._complete(effect)
            self._tell(effect, 0)

    def _synced(self, incarnation: int, effect: Effect) -> None:
        if not self.is_ready(incarnation, self._synced, effect):
            return
        self.is_busy, self._pending = False, None
        self._complete(effect)
        self._tell(effect, 0)
        self.is_prompt = False
        self._drain()

    def _complete(self, effect: Effect) -> None:
        match effect:
            case PersistElection(state=state, kraft_version=level):
                before, self.disk.election = self.disk.election, stored_form(state, level)
                self.world.hooks.persisted(self, before, self.disk.election)
            case Flush(end_offset=end):
                self.disk.flush(end)
            case InstallSnapshot(snapshot_id=snapshot):
                self.disk.install(self._downloaded(snapshot))

    def _tell(self, effect: Effect, after_ms: int) -> None:
        """The core hears of it before anything else can arrive."""
        event: Event
        match effect:
            case Flush(end_offset=end):
                event = LogFlushed(end_offset=end)
            case InstallSnapshot(snapshot_id=snapshot):
                content = self.disk.snapshots[snapshot]
                event = SnapshotInstalled(
                    snapshot_id=snapshot,
                    kraft_version=content.kraft_version,
                    voters=content.voters,
                )
            case _:
                return
        self.world.after(after_ms, self.event, self.incarnation, event)

    def _downloaded(self, snapshot_id: OffsetAndEpoch) -> Snapshot:
        data = bytes(self.disk.downloads.get(snapshot_id, b""))
        content = self.world.contents.get(data)
        if content is None or content.id != snapshot_id:
            self.world.violated("snapshots", f"{self.name} downloaded {snapshot_id} wrongly")
        return content

    def _append(self, effect: AppendBatches) -> None:
        self.disk.append(effect.batches)
        self.world.hooks.written(self, effect.batches)

    def _truncate(self, effect: Truncate) -> None:
        self.disk.truncate(effect.offset)

    def _send(self, effect: Send) -> None:
        self.world.hooks.sends(self, effect)
        self._network.send(self, effect)

    def _reply(self, effect: Reply) -> None:
        asked = self._requests.pop(effect.request_id, None)
        response = effect.response
        if isinstance(response, FetchResponse | FetchSnapshotResponse) and response.read:
            response = filled(self.disk, response)
        if asked is None:
            self.world.count(f"operator told {response.error.name}")
            return
        self.world.hooks.replies(self, asked, response)
        self._network.answer(self.id, asked, response)

    def _start_download(self, effect: StartSnapshotDownload) -> None:
        self.disk.downloads[effect.snapshot_id] = bytearray()

    def _append_to_download(self, effect: AppendToSnapshot) -> None:
        self.disk.downloads[effect.snapshot_id] += effect.chunk

    def _drop_download(self, effect: DropSnapshotDownload) -> None:
        self.disk.downloads.pop(effect.snapshot_id, None)

    def _stopped(self, _: Stopped) -> None:
        self.world.count("stopped in order")
        self.end(power=True)

    @property
    def is_idle(self) -> bool:
        """True if everything that the core wanted is done."""
        return self.is_up and not self.is_busy and not self._outbox

    @property
    def leads(self) -> bool:
        return self.is_up and isinstance(self.raft.role, Leader)
