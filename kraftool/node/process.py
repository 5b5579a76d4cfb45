"""A node from its start to its end: what is opened in which order, and closed again.

Owns that order. The lock of the directory comes first and goes last. What the node does with its
log is in `standby.py`, what it does beside that while it leads in `active.py`, and how it ends in
`ending.py`.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import logging
import sys
from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from kraftool.decoders.addresses import shown_address
from kraftool.decoders.codec import Value
from kraftool.decoders.rpc_frames import RequestFrame
from kraftool.net.connection import Connection, connect
from kraftool.net.guests import Limits, Listener
from kraftool.net.metrics_http import MetricsServer
from kraftool.net.server import Peer, Server
from kraftool.node.active import controller_of
from kraftool.node.authorization import FirstLoad, authorization_of
from kraftool.node.config import NodeConfig
from kraftool.node.controller_metrics import ControllerMetrics
from kraftool.node.ending import Ended, Signals, until_ended
from kraftool.node.identity import (
    NodeIdentity,
    NotStarted,
    QuorumRole,
    part_of,
    refuse_cut,
    refuse_observing,
)
from kraftool.node.metadata_metrics import metadata_samples
from kraftool.node.metrics import MetricSample, RaftMetrics, samples_of
from kraftool.node.narration import Narration, say
from kraftool.node.options import NodeOptions
from kraftool.node.peers import Peers
from kraftool.node.raft_wait import RaftWait
from kraftool.node.registration import Registrar
from kraftool.node.runner import Runner, WallClock
from kraftool.node.security import Security
from kraftool.node.serving import Serving, served
from kraftool.node.standby import is_caught_up, standby_of, supported_features
from kraftool.node.voter_calls import VoterCalls
from kraftool.raft.control_history import ControlHistory
from kraftool.raft.events import Effect, Event, RequestReceived, ResponseReceived
from kraftool.raft.names import Endpoint, Endpoints, ProtocolError
from kraftool.raft.raft import Raft
from kraftool.raft.settings import NodeSettings
from kraftool.storage.metadata_log import MetadataLog
from kraftool.storage.recovery import Cut
from kraftool.storage.witness_marker import WitnessMarker

_SWITCH_S = 0.0005
"""How long the loop waits at most for a thread that computes, each time that it comes back from the
network or the disk, as a fetch does about ten times. With Python's own 5 ms that would be 50 ms of
CPU, which is a second on a twentieth of a core."""

_GARBAGE = (10_000, 2, 3_300)
"""When Python looks for unreachable cycles: after so many new objects; after so many of these looks
also among older ones; after so many of those among all. Each look stops all threads. With 80,000
partitions, one among all takes a tenth of a second of CPU. A node makes few cycles."""


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
    sys.setswitchinterval(_SWITCH_S)
    gc.set_threshold(*_GARBAGE)
    async with contextlib.AsyncExitStack() as closing:
        return await _run(config, identity, options, security, closing)


async def _run(
    config: NodeConfig,
    identity: NodeIdentity,
    options: NodeOptions,
    security: Security,
    closing: contextlib.AsyncExitStack,
) -> Ended:
    def accept(control: ControlHistory, cut: Cut | None) -> None:
        if cut is not None and not options.cuts_batches:
            refuse_cut(cut, config.metadata_directory)
        part_of(identity, control, options.part)

    log = MetadataLog.open(
        config.metadata_directory,
        config.log,
        static_voters=config.static_voters,
        accept=accept,
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
    ports = {name: endpoint.port for name, endpoint in server.bound.items()}
    settings = config.settings(
        directory_id=identity.directory_id,
        cluster_id=identity.cluster_id,
        ports=ports,
        is_witness=options.is_witness,
    )
    if not options.is_member:
        settings = replace(settings, auto_join=False)
    settings = replace(settings, hands_over=options.hands_over)
    if options.consumer is None and not options.runs_controller and options.is_member:
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
    standby = standby_of(config, options, runner, closing)
    runner.consumer = standby.consumer
    controlling = None
    if options.runs_controller and standby.machine is not None:
        controlling = controller_of(config, identity, log, runner, standby.machine, peers)
        closing.callback(controlling.close)
    security.image = standby.image
    features = supported_features(settings.kraft_version)
    first_load = FirstLoad(lambda: runner.raft, standby.image, standby.image_end)
    serving = Serving(
        runner,
        standby.image,
        features=features,
        authorization=authorization_of(config, standby.image, first_load.is_over),
        features_offset=standby.features_offset,
        controlling=controlling,
    )
    if options.metrics is not None:
        calls = VoterCalls(lambda: runner.raft, partial(reach, "raft-client"))
        closing.push_async_callback(calls.close)
        calls.start()
        waits = RaftWait(runner)
        closing.push_async_callback(waits.close)
        waits.start()
        of_controller = None
        if controlling is not None:
            of_controller = ControllerMetrics(controlling, standby.image)

        def samples() -> Iterator[MetricSample]:
            yield from metrics.samples(runner.raft)
            yield from samples_of(server.guests)
            yield from waits.samples()
            yield from calls.samples()
            yield from metadata_samples(runner, standby)
            if of_controller is not None:
                yield from of_controller.samples(runner.raft)

        from kraftool.net.metrics_page import page_of
        from kraftool.node.metrics_page import SampleCollector

        page = MetricsServer(
            partial(page_of, SampleCollector(samples)),
            is_ready=lambda: is_caught_up(runner.raft, standby.image()),
        )
        port = await page.start(*options.metrics)
        closing.push_async_callback(page.close)
        say("metrics", url=f"http://{shown_address(options.metrics.host, port)}/metrics")
    is_ready.set()
    if options.registers:
        registration = Registrar(
            runner,
            standby.image,
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
    with Signals(runner) as signals:  # who reads "started" may send one
        say(
            "started",
            node=identity.node_id,
            directory=identity.directory_id,
            cluster=identity.cluster_id,
            part=part.value,
            witness=settings.is_witness,
            listeners=_shown(settings.listeners),
        )
        ended = await until_ended(runner, signals.came, shutdown_s=options.shutdown_s)
    await runner.on_disk(log.end_witness)
    return ended


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


def _limits(config: NodeConfig) -> Limits:
    given, usual = config.limits, Limits()
    idle_ms = given.connections_max_idle_ms
    return Limits(
        max_request_bytes=given.request_max_bytes,
        max_connections=min(given.max_connections, usual.max_connections),
        max_connections_per_ip=given.max_connections_per_ip,
        max_silent_per_ip=given.max_silent_per_ip,
        max_authenticating=given.max_authenticating,
        max_authenticating_per_ip=given.max_authenticating_per_ip,
        authentication_s=given.authentication_timeout_ms / 1000,
        idle_s=idle_ms / 1000 if idle_ms > 0 else usual.idle_s,
        buffered_bytes=given.queued_max_bytes
        if given.queued_max_bytes > 0
        else usual.buffered_bytes,
        # Kafka's default of 50 is soon full, and then a client waits for seconds or minutes.
        backlog=max(given.listen_backlog, usual.backlog),
    )
