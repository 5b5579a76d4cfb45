"""A node from its start to its end: what is opened in which order, and closed again.

Owns that order, the signals, and how an end is told: in order, out of time, or failed. The lock of
the directory comes first and goes last.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import signal
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from enum import Enum
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Self

from kraftool.controller.settings import ControllerSettings
from kraftool.decoders.addresses import shown_address
from kraftool.decoders.codec import Value
from kraftool.decoders.rpc_frames import RequestFrame
from kraftool.image.image import MetadataImage
from kraftool.image.metadata_version import (
    FEATURES,
    KRAFT_VERSION,
    LATEST_LEVEL,
    METADATA_VERSION,
    OLDEST_KRAFT_LEVEL,
)
from kraftool.net.connection import Connection, connect
from kraftool.net.guests import Limits, Listener
from kraftool.net.server import Peer, Server
from kraftool.node.bootstrap import bootstrap_records
from kraftool.node.config import NodeConfig
from kraftool.node.controller_metrics import ControllerMetrics
from kraftool.node.controlling import Controlling
from kraftool.node.identity import NodeIdentity, NotStarted, QuorumRole, part_of, refuse_observing
from kraftool.node.machine import BlindMachine, ImageMachine
from kraftool.node.metrics import MetricSample, RaftMetrics, exposition, samples_of
from kraftool.node.metrics_http import MetricsServer
from kraftool.node.narration import Narration, say
from kraftool.node.peers import Peers
from kraftool.node.registration import Registrar
from kraftool.node.runner import Consumer, NodeFailedError, Runner, WallClock
from kraftool.node.security import Security
from kraftool.node.serving import Serving, served
from kraftool.node.snapshotting import Snapshotting
from kraftool.raft.control_history import ControlHistory
from kraftool.raft.events import Effect, Event, RequestReceived, ResponseReceived
from kraftool.raft.names import Endpoint, Endpoints, ProtocolError, VersionRange
from kraftool.raft.raft import Raft
from kraftool.raft.settings import NodeSettings
from kraftool.storage.metadata_log import MetadataLog
from kraftool.storage.witness_marker import WitnessMarker

SHUTDOWN_S = 5.0
"""Kafka's patience with its raft client's shutdown."""
_READY_LAG = 1000
"""Records that a node may be behind, and be ready."""
_ENDING = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
"""The JVM's, at which Kafka stops in order too."""


class Ended(Enum):
    """How a node ended."""

    IN_ORDER = "in order"
    OUT_OF_TIME = "without waiting any longer for a successor"


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeOptions:
    """What is asked of a run beside its configuration."""

    part: QuorumRole | None = None
    """None: what the log says it is."""
    stands: bool = False
    """True for a voter that is an ordinary candidate; a witness is one as a last resort only."""
    runs_controller: bool = False
    """True for a voter that runs the active controller while it leads, as Kafka's do."""
    keeps_leading: bool = False
    """True where leadership is not handed to a controller: for tests of a leader."""
    replays: bool = True
    """Whether it replays into an image and writes snapshots of it."""
    consumer: Callable[[Runner], Consumer] | None = None
    """What consumes in the stead of either, where the log is not for metadata."""
    metrics: Endpoint | None = None
    shutdown_s: float = SHUTDOWN_S

    @property
    def registers(self) -> bool:
        """Kafka's controllers do whether they vote or not, and it stays in the metadata: who was
        asked to observe leaves no such trace. Without an image it is not known whether it may."""
        return self.replays and self.consumer is None and self.part is not QuorumRole.OBSERVER

    @property
    def hands_over(self) -> bool:
        """True unless it runs a controller, or the log is not for metadata, which a controller
        could do nothing with."""
        return self.consumer is None and not self.keeps_leading and not self.runs_controller


class _Watching:
    """Hands every step on to narration and metrics."""

    def __init__(
        self,
        metrics: RaftMetrics,
        runner: Runner,
        identity: NodeIdentity,
        wanted: QuorumRole | None,
    ) -> None:
        self._metrics, self._narration = metrics, Narration()
        self._runner, self._identity, self._wanted = runner, identity, wanted

    def stepped(
        self, raft: Raft, event: Event | None, effects: list[Effect], took_s: float
    ) -> None:
        self._metrics.stepped(raft, event, effects, took_s)
        self._narration.stepped(raft, event, effects)
        try:
            # Who has lost its log learns only from the leader's that it is a voter.
            refuse_observing(self._identity, self._wanted, is_voter=raft.is_voter)
        except NotStarted as error:
            self._runner.fail(error)

    def refused(self, event: RequestReceived | ResponseReceived, error: ProtocolError) -> None:
        self._metrics.refused += 1
        self._narration.refused(event, error)


async def run_node(
    config: NodeConfig, identity: NodeIdentity, options: NodeOptions, security: Security
) -> Ended:
    """Run a node until a signal ends it. Raises KraftoolError where it cannot start or go on."""
    async with contextlib.AsyncExitStack() as closing:
        return await _run(config, identity, options, security, closing)


async def _run(
    config: NodeConfig,
    identity: NodeIdentity,
    options: NodeOptions,
    security: Security,
    closing: contextlib.AsyncExitStack,
) -> Ended:
    log = MetadataLog.open(
        config.metadata_directory,
        config.log,
        static_voters=config.static_voters,
        accept=lambda control: part_of(identity, control, options.part),
    )
    closing.callback(log.close, clean=False)  # which after a clean one does nothing
    for sentence in log.recovery.sentences():
        say("recovery", logging.WARNING, what=sentence)
    security.warn_of_certificates()
    part = part_of(identity, log.control, options.part)
    is_ready = asyncio.Event()
    serving: Serving | None = None

    async def handle(peer: Peer, frame: RequestFrame) -> Value | None:
        await is_ready.wait()
        assert serving is not None, "a node that is ready serves"
        return await serving.answer(peer, frame)

    server = Server(
        [
            Listener(
                name=listener.name,
                host=listener.host,
                port=listener.port,
                security=security.servers[listener.name],
            )
            for listener in config.bound
        ],
        handle,
        served(with_controller=options.runs_controller),
        _limits(config),
    )
    await server.start()
    closing.push_async_callback(server.close)
    ports = {name: each.port for name, each in server.bound.items()}
    settings = config.settings(
        directory_id=identity.directory_id,
        cluster_id=identity.cluster_id,
        ports=ports,
        is_witness=not (options.stands or options.runs_controller),
    )
    if options.part is QuorumRole.OBSERVER:
        settings = replace(settings, auto_join=False)
    settings = replace(settings, hands_over=options.hands_over)
    is_member = options.part is not QuorumRole.OBSERVER
    if options.consumer is None and not options.runs_controller and is_member:
        log.witness = WitnessMarker.of_this_process(
            identity.node_id, identity.directory_id, is_last_resort=settings.is_witness
        )
    clock = WallClock()
    runner = Runner(settings, log, clock)
    closing.push_async_callback(runner.close)
    metrics = RaftMetrics(clock.now_ms())
    runner.watcher = _Watching(metrics, runner, identity, options.part)

    async def reach(client: str, endpoint: Endpoint) -> Connection:
        return await connect(
            endpoint,
            security.client,
            f"{client}-{identity.node_id}",
            timeout_s=settings.timing.request_timeout_ms / 1000,
        )

    peers = Peers(runner, partial(reach, "raft-client"))
    closing.push_async_callback(peers.close)
    runner.sender = peers
    runner.consumer, image = _machine(config, options, runner, closing)
    controlling = None
    machine = runner.consumer if isinstance(runner.consumer, ImageMachine) else None
    if options.runs_controller and is_member and machine is not None:
        controlling = Controlling(runner, machine, controller_settings(config, identity, log))
        closing.callback(controlling.close)
    security.image = image
    features = supported_features(settings.kraft_version)
    serving = Serving(
        runner,
        image,
        features=features,
        is_allowed=lambda principal: not config.authorizer or principal in config.super_users,
        features_offset=lambda: -1 if machine is None else machine.features_offset,
        controlling=controlling,
    )
    if options.metrics is not None:
        of_controller = ControllerMetrics(controlling, image) if controlling is not None else None

        def samples() -> Iterator[MetricSample]:
            yield from chain(metrics.samples(runner.raft), samples_of(server.guests))
            if of_controller is not None:
                yield from of_controller.samples(runner.raft)

        page = MetricsServer(
            lambda: exposition(samples()), is_ready=lambda: is_caught_up(runner.raft, image())
        )
        port = await page.start(*options.metrics)
        closing.push_async_callback(page.close)
        say("metrics", url=f"http://{shown_address(options.metrics.host, port)}/metrics")
    is_ready.set()
    if options.registers:
        registration = Registrar(
            runner,
            image,
            partial(reach, "registration"),
            protocols=config.listeners.protocols,
            features=features,
            ask_itself=None
            if controlling is None
            else partial(controlling.ask, "ControllerRegistration", 0),
        )
        closing.push_async_callback(registration.close)
        registration.start()
    if part is QuorumRole.VOTER:
        _say_where_recorded(settings, log.control)
    with _Signals(runner) as signals:  # who reads "started" may send one
        say(
            "started",
            node=identity.node_id,
            directory=identity.directory_id,
            cluster=identity.cluster_id,
            part=part.value,
            witness=settings.is_witness,
            listeners=_shown(settings.listeners),
        )
        ended = await _until_ended(runner, options, signals.came)
    await runner.on_disk(log.end_witness)
    return ended


def controller_settings(
    config: NodeConfig, identity: NodeIdentity, log: MetadataLog
) -> ControllerSettings:
    """What the configuration and the directory say to a controller."""
    given = config.controller
    return ControllerSettings(
        node_id=identity.node_id,
        cluster_id=identity.cluster_id,
        bootstrap=bootstrap_records(Path(config.metadata_directory), log),
        default_replication_factor=given.default_replication_factor,
        default_partitions=given.default_partitions,
        session_timeout_ms=given.session_timeout_ms,
        max_idle_ms=config.max_idle_interval_ms or None,
        leader_imbalance_check_ms=given.leader_imbalance_check_ms,
        unclean_election_check_ms=given.unclean_election_check_ms,
        static_configs=config.given,
    )


def is_caught_up(raft: Raft, image: MetadataImage | None) -> bool:
    """Whether the node knows a leader and shows all that it knows to be committed."""
    committed = raft.role.high_watermark
    if raft.leader_id is None or committed is None:
        return False
    return image is None or image.provenance.last_offset >= committed - 1 - _READY_LAG


def _shown(endpoints: Endpoints) -> dict[str, str]:
    return {name: str(endpoint) for name, endpoint in endpoints.items()}


def _say_where_recorded(settings: NodeSettings, control: ControlHistory) -> None:
    """Warn of a voter set that has this voter at another place: its leader will be told."""
    voter = control.voters.voters.get(settings.node_id or 0)
    if control.kraft_version < 1 or voter is None or voter.endpoints == settings.listeners:
        return

    say(
        "recorded elsewhere: will be changed",
        logging.WARNING,
        recorded=_shown(voter.endpoints),
        advertised=_shown(settings.listeners),
    )


def _machine(
    config: NodeConfig,
    options: NodeOptions,
    runner: Runner,
    closing: contextlib.AsyncExitStack,
) -> tuple[Consumer, Callable[[], MetadataImage | None]]:
    """The state machine, and where its image is."""
    if options.consumer is not None:
        return options.consumer(runner), lambda: None
    if not options.replays:
        return BlindMachine(runner), lambda: None
    snapshotting = Snapshotting(
        runner,
        after_bytes=config.log.snapshot_after_bytes,
        after_ms=config.log.snapshot_after_ms,
    )
    closing.push_async_callback(snapshotting.close)
    machine = ImageMachine(runner, snapshotting.applied)
    cleaning = asyncio.get_running_loop().create_task(snapshotting.clean_for_ever())
    closing.callback(cleaning.cancel)
    return machine, lambda: machine.image


def _limits(config: NodeConfig) -> Limits:
    given, usual = config.limits, Limits()
    idle_ms = given.connections_max_idle_ms
    return Limits(
        max_request_bytes=given.request_max_bytes,
        max_connections=min(given.max_connections, usual.max_connections),
        max_connections_per_ip=given.max_connections_per_ip,
        max_authenticating=given.max_authenticating,
        max_authenticating_per_ip=given.max_authenticating_per_ip,
        authentication_s=given.authentication_timeout_ms / 1000,
        idle_s=idle_ms / 1000 if idle_ms > 0 else usual.idle_s,
        buffered_bytes=given.queued_max_bytes
        if given.queued_max_bytes > 0
        else usual.buffered_bytes,
        backlog=given.listen_backlog,
    )


def supported_features(kraft_version: VersionRange) -> dict[str, VersionRange]:
    """The levels of features that this software reads and writes."""
    found = {
        name: VersionRange(0, max(rule.level for rule in rules))
        for name, rules in FEATURES.items()
        if name != KRAFT_VERSION
    }
    return {
        METADATA_VERSION: VersionRange(OLDEST_KRAFT_LEVEL, LATEST_LEVEL),
        KRAFT_VERSION: kraft_version,
        **found,
    }


class _Signals:
    """While entered, a first signal asks a node to end in order, and a second ends it at once.

    A SIGHUP that is ignored, as under nohup, stays ignored; the JVM leaves it ignored too.
    """

    def __init__(self, runner: Runner) -> None:
        self._runner = runner
        self._handled = [number for number in _ENDING if signal.getsignal(number) != signal.SIG_IGN]
        self.came = asyncio.Event()

    def __enter__(self) -> Self:
        for number in self._handled:
            asyncio.get_running_loop().add_signal_handler(number, self._end, number)
        return self

    def __exit__(self, *_: object) -> None:
        for number in self._handled:
            asyncio.get_running_loop().remove_signal_handler(number)

    def _end(self, number: int) -> None:
        if self.came.is_set():
            self._runner.stop_now()
            return
        say("ending", signal=signal.Signals(number).name)
        self.came.set()
        self._runner.shut_down()


async def _until_ended(runner: Runner, options: NodeOptions, asked: asyncio.Event) -> Ended:
    """Run until it is asked to end, and then for as long as it may take."""
    loop = asyncio.get_running_loop()
    running = loop.create_task(runner.run())
    waiting = loop.create_task(asked.wait())
    try:
        await asyncio.wait({running, waiting}, return_when=asyncio.FIRST_COMPLETED)
        if not running.done():
            await asyncio.wait({running}, timeout=options.shutdown_s)
        ended = Ended.IN_ORDER
        if not running.done() or not runner.raft.is_stopped:
            ended = Ended.OUT_OF_TIME
            runner.stop_now()
        await running
        return ended
    except NodeFailedError as error:
        say("failed", logging.ERROR, reason=error.message, state=error.state)
        raise
    finally:
        waiting.cancel()
