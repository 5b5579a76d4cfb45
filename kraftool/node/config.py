"""The settings of a server.properties for a node of the quorum.

Owns the reading of every key that concerns the node, and the contradictions that Kafka refuses,
here all at once. Keys that it does not know are noted, as Kafka notes them. Keys of security are
collected and not judged: `kraftool.net` knows them.
"""

from __future__ import annotations

import re
import socket
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace

from kraftool.decoders import properties
from kraftool.decoders.errors import KraftoolError
from kraftool.net.providers import expand
from kraftool.net.security import SecurityProtocol
from kraftool.node.config_keys import is_known, is_of_security
from kraftool.node.config_listeners import (
    ANY_HOST,
    ListenerConfig,
    Listeners,
    host_and_port,
    listeners_of,
)
from kraftool.node.config_values import KEYS, Values
from kraftool.raft.names import Endpoint, ReplicaKey, Voter, VoterSet
from kraftool.raft.settings import TIMING_KEYS, NodeSettings, Timing
from kraftool.storage.log_config import LogConfig
from kraftool.storage.source import FileSource

BROKER, CONTROLLER = "broker", "controller"
STANDARD_AUTHORIZER = "org.apache.kafka.metadata.authorizer.StandardAuthorizer"
_VOTERS = "controller.quorum.voters"
_SERVERS = "controller.quorum.bootstrap.servers"
_NAMES = "controller.listener.names"


class ConfigRefused(KraftoolError):
    """A configuration that Kafka would not start with, and every reason found."""

    def __init__(
        self, file: str, reasons: tuple[str, ...], overridden: Collection[str] = ()
    ) -> None:
        """Reasons that name an overridden key are not the file's."""
        sources = [(_source_of(reason, overridden), reason) for reason in reasons]
        of_file = [reason for source, reason in sources if not source]
        others = f" with --override {', '.join(sorted(overridden))}" if overridden else ""
        sentences = [f"{file}{others}: {'; '.join(of_file)}"] if of_file else []
        sentences += [f"{source}: {reason}" for source, reason in sources if source]
        super().__init__("; ".join(sentences))
        self.file, self.reasons = file, reasons


def _source_of(reason: str, overridden: Collection[str]) -> str:
    """`--override KEY` where a reason speaks of that key; else nothing."""
    named = [
        key
        for key in sorted(overridden)
        if re.search(rf"(?<![\w.]){re.escape(key)}(?![\w.])", reason) is not None
    ]
    return f"--override {named[0]}" if named else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SocketLimits:
    """The limits of the server side of the network."""

    request_max_bytes: int
    listen_backlog: int
    send_buffer_bytes: int
    receive_buffer_bytes: int
    queued_max_bytes: int
    """Of all requests being read or answered; negative for no bound."""
    max_connections: int
    max_connections_per_ip: int
    max_connections_per_ip_overrides: Mapping[str, int]
    max_connection_creation_rate: int
    connections_max_idle_ms: int
    failed_authentication_delay_ms: int
    max_silent_per_ip: int
    max_authenticating: int
    max_authenticating_per_ip: int
    authentication_timeout_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ControllerConfig:
    """The settings of the active controller."""

    session_timeout_ms: int
    heartbeat_interval_ms: int
    default_replication_factor: int
    default_partitions: int
    leader_imbalance_check_ms: int | None
    """None: preferred replicas get their leadership back on request only."""
    unclean_election_check_ms: int
    quota_windows: int
    quota_window_s: int
    token_secret_key: str | None = field(repr=False)
    """None: there are no delegation tokens."""
    token_max_lifetime_ms: int
    token_expiry_ms: int
    token_check_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeConfig:
    """One node, as its server.properties wants it."""

    file: str
    node_id: int
    roles: tuple[str, ...]
    log_dirs: tuple[str, ...]
    metadata_directory: str
    """metadata.log.dir, else the first log dir: where meta.properties and the partition are."""
    listeners: Listeners
    static_voters: VoterSet
    bootstrap_servers: tuple[Endpoint, ...]
    auto_join: bool
    timing: Timing
    fetch_max_bytes: int
    fetch_snapshot_max_bytes: int
    log: LogConfig
    max_idle_interval_ms: int
    limits: SocketLimits
    authorizer: str
    """authorizer.class.name; empty where anybody may do everything."""
    controller: ControllerConfig
    super_users: frozenset[str]
    """Principals, such as User:admin."""
    allows_without_acls: bool
    """allow.everyone.if.no.acl.found"""
    broker_listener: str
    """By which brokers reach each other; without a meaning for a controller."""
    given: Mapping[str, str] = field(repr=False)
    """Every key as it was given: secrets are among the values."""
    notes: tuple[str, ...] = ()
    """What has no effect, or not the one that its author may have meant."""
    overridden: frozenset[str] = frozenset()
    """Keys whose values are not those of the file."""

    def source_of(self, key: str) -> str:
        """Return where a key's value comes from, for whoever has to correct it."""
        return f"--override {key}" if key in self.overridden else self.file

    @property
    def is_controller(self) -> bool:
        return CONTROLLER in self.roles

    @property
    def bound(self) -> tuple[ListenerConfig, ...]:
        """The listeners that a controller opens; none for a broker."""
        return self.listeners.of_controllers() if self.is_controller else ()

    @property
    def default_listener(self) -> str:
        """The first of controller.listener.names: by which nodes of the quorum reach each other."""
        return self.listeners.controllers[0]

    @property
    def default_protocol(self) -> SecurityProtocol:
        return self.listeners.protocols[self.default_listener]

    @property
    def security(self) -> dict[str, str]:
        """The keys that say how connections are secured, prefixed ones too. Secrets are in it."""
        return {key: value for key, value in self.given.items() if is_of_security(key)}

    def directories(self) -> tuple[str, ...]:
        """Every directory that a format makes, the metadata's first and none twice."""
        return tuple(dict.fromkeys((self.metadata_directory, *self.log_dirs)))

    def advertised(self, ports: Mapping[str, int] | None = None) -> dict[str, Endpoint]:
        """Return where others reach this node; `ports` are those in use for listeners of port 0.

        A listener of no host, or of every interface, is advertised by the machine's own name.
        """
        endpoints = {}
        for name, endpoint in self.listeners.advertised.items():
            host = endpoint.host if endpoint.host not in ("", ANY_HOST, "::") else _own_name()
            endpoints[name] = Endpoint(host, endpoint.port or (ports or {}).get(name, 0))
        return endpoints

    def settings(
        self,
        *,
        directory_id: str,
        cluster_id: str,
        ports: Mapping[str, int] | None = None,
        is_witness: bool = False,
    ) -> NodeSettings:
        """Return what the core is told. The ids come from meta.properties."""
        return NodeSettings(
            node_id=self.node_id,
            directory_id=directory_id,
            cluster_id=cluster_id,
            listeners=self.advertised(ports) if self.is_controller else {},
            default_listener=self.default_listener,
            static_voters=self.static_voters,
            bootstrap_servers=self.bootstrap_servers,
            is_controller=self.is_controller,
            auto_join=self.auto_join,
            is_witness=is_witness,
            timing=self.timing,
            fetch_max_bytes=self.fetch_max_bytes,
            fetch_snapshot_max_bytes=self.fetch_snapshot_max_bytes,
        )


def read_config(path: str, *, overrides: Mapping[str, str] | None = None) -> NodeConfig:
    """Read a server.properties. Raises ConfigRefused where Kafka would not start with it."""
    with FileSource(path) as source:
        loaded, findings = properties.decode(source.read_at(0, properties.MAX_BYTES + 1))
    if not loaded.accepted:
        raise ConfigRefused(path, tuple(finding.describe() for finding in findings))
    overridden = frozenset(overrides or {})
    try:
        config = config_of({**loaded.as_dict(), **(overrides or {})}, file=path)
    except ConfigRefused as error:
        raise ConfigRefused(path, error.reasons, overridden) from None
    return replace(
        config,
        notes=(*(finding.describe() for finding in findings), *config.notes),
        overridden=overridden,
    )


def config_of(given: Mapping[str, str], *, file: str = "the configuration") -> NodeConfig:
    """The configuration that these properties make, with Kafka's defaults for the others.

    What config providers fill in is filled in. Raises KraftoolError, ConfigRefused among it.
    """
    given = _with_synonyms(expand(given))
    values = Values(given)
    roles = values.items("process.roles")
    node_id = values.number("node.id")
    is_told_twice = given.get("broker.id") != given.get("node.id")
    if is_told_twice and values.number("broker.id") != node_id and not values.problems:
        values.problems.append("node.id and broker.id differ")
    listeners = listeners_of(values)
    static_voters = _static_voters(values, listeners)
    for listed in static_voters.endpoints_of(node_id).values():
        listeners = listeners.known_as(listed)
    log_dirs = values.items("log.dirs" if values.has("log.dirs") else "log.dir")
    config = NodeConfig(
        file=file,
        node_id=node_id,
        roles=roles,
        log_dirs=log_dirs,
        metadata_directory=values.text("metadata.log.dir") or (log_dirs[0] if log_dirs else ""),
        listeners=listeners,
        static_voters=static_voters,
        bootstrap_servers=_bootstrap_servers(values),
        auto_join=values.truth("controller.quorum.auto.join.enable"),
        timing=_timing(values),
        fetch_max_bytes=values.number("controller.quorum.fetch.max.bytes"),
        fetch_snapshot_max_bytes=values.number("controller.quorum.fetch.snapshot.max.bytes"),
        log=_log(values),
        max_idle_interval_ms=values.number("metadata.max.idle.interval.ms"),
        limits=_limits(values),
        controller=_controller(values),
        authorizer=values.text("authorizer.class.name"),
        super_users=_super_users(values),
        # As Java reads it: everything but true is false.
        allows_without_acls=values.text("allow.everyone.if.no.acl.found").lower() == "true",
        broker_listener=(
            values.text("inter.broker.listener.name")
            or values.text("security.inter.broker.protocol")
        ).upper(),
        given=given,
        notes=_notes(given, values.text("authorizer.class.name")),
    )
    reasons = (*values.problems, *_contradictions(config))
    if reasons:
        raise ConfigRefused(file, tuple(dict.fromkeys(reasons)))
    return config


def _with_synonyms(given: Mapping[str, str]) -> Mapping[str, str]:
    """node.id and broker.id stand for each other where only one is there."""
    for one, other in (("node.id", "broker.id"), ("broker.id", "node.id")):
        if one in given and other not in given:
            return {**given, other: given[one]}
    return given


def _timing(values: Values) -> Timing:
    return Timing(**{name: values.number(key) for key, name in TIMING_KEYS.items()})


def _log(values: Values) -> LogConfig:
    segment_bytes = values.number("metadata.log.segment.bytes")
    return LogConfig(
        segment_bytes=values.number("internal.metadata.log.segment.bytes") or segment_bytes,
        segment_ms=values.number("metadata.log.segment.ms"),
        retention_bytes=values.number("metadata.max.retention.bytes"),
        retention_ms=values.number("metadata.max.retention.ms"),
        snapshot_after_bytes=values.number("metadata.log.max.record.bytes.between.snapshots"),
        snapshot_after_ms=values.number("metadata.log.max.snapshot.interval.ms"),
    )


def _limits(values: Values) -> SocketLimits:
    key = "max.connections.per.ip.overrides"
    overrides: dict[str, int] = {}
    for override in filter(None, (part.strip() for part in values.text(key).split(","))):
        host, _, number = override.rpartition(":")
        if not host or not number.strip().isdecimal():
            values.problems.append(f"{key}: {override!r} is not of the form HOST:NUMBER")
            continue
        overrides[host.strip()] = int(number)
    return SocketLimits(
        request_max_bytes=values.number("socket.request.max.bytes"),
        listen_backlog=values.number("socket.listen.backlog.size"),
        send_buffer_bytes=values.number("socket.send.buffer.bytes"),
        receive_buffer_bytes=values.number("socket.receive.buffer.bytes"),
        queued_max_bytes=values.number("queued.max.request.bytes"),
        max_connections=values.number("max.connections"),
        max_connections_per_ip=values.number("max.connections.per.ip"),
        max_connections_per_ip_overrides=overrides,
        max_connection_creation_rate=values.number("max.connection.creation.rate"),
        connections_max_idle_ms=values.number("connections.max.idle.ms"),
        failed_authentication_delay_ms=values.number("connection.failed.authentication.delay.ms"),
        max_silent_per_ip=values.number("kraftool.max.connections.silent.per.ip"),
        max_authenticating=values.number("kraftool.max.connections.authenticating"),
        max_authenticating_per_ip=values.number("kraftool.max.connections.authenticating.per.ip"),
        authentication_timeout_ms=values.number("kraftool.authentication.timeout.ms"),
    )


def _controller(values: Values) -> ControllerConfig:
    balances = values.truth("auto.leader.rebalance.enable")
    check_s = values.number("leader.imbalance.check.interval.seconds")
    return ControllerConfig(
        session_timeout_ms=values.number("broker.session.timeout.ms"),
        heartbeat_interval_ms=values.number("broker.heartbeat.interval.ms"),
        default_replication_factor=values.number("default.replication.factor"),
        default_partitions=values.number("num.partitions"),
        leader_imbalance_check_ms=1000 * check_s if balances else None,
        unclean_election_check_ms=values.number("unclean.leader.election.interval.ms"),
        quota_windows=values.number("controller.quota.window.num"),
        quota_window_s=values.number("controller.quota.window.size.seconds"),
        # An empty key disables tokens, as none does.
        token_secret_key=values.text("delegation.token.secret.key") or None,
        token_max_lifetime_ms=values.number("delegation.token.max.lifetime.ms"),
        token_expiry_ms=values.number("delegation.token.expiry.time.ms"),
        token_check_ms=values.number("delegation.token.expiry.check.interval.ms"),
    )


def _super_users(values: Values) -> frozenset[str]:
    principals = set()
    for principal in filter(None, (part.strip() for part in values.text("super.users").split(";"))):
        kind, mark, name = principal.partition(":")
        if not mark or not kind or not name:
            values.problems.append(f"super.users: {principal!r} is not of the form TYPE:NAME")
        principals.add(principal)
    return frozenset(principals)


def _static_voters(values: Values, listeners: Listeners) -> VoterSet:
    """controller.quorum.voters: each is reached by the first controller listener."""
    voters = {}
    for item in values.items(_VOTERS):
        id_text, mark, address = item.partition("@")
        endpoint = host_and_port(address) if mark else None
        try:
            node_id = int(id_text)
        except ValueError:
            node_id = -1
        if node_id < 0 or endpoint is None:
            values.problems.append(f"{_VOTERS}: {item!r} is not of the form ID@HOST:PORT")
            continue
        if endpoint.host == ANY_HOST:
            # KafkaConfig takes it; the server ends when it reads the voters.
            values.problems.append(f"{_VOTERS}: no node can reach {item!r}")
        names = listeners.controllers[:1]
        voters[node_id] = Voter(key=ReplicaKey(node_id), endpoints=dict.fromkeys(names, endpoint))
    return VoterSet(voters)


def _bootstrap_servers(values: Values) -> tuple[Endpoint, ...]:
    endpoints = []
    for item in values.items(_SERVERS):
        endpoint = host_and_port(item)
        if endpoint is None:
            values.problems.append(f"{_SERVERS}: {item!r} is not of the form HOST:PORT")
            continue
        endpoints.append(endpoint)
    return tuple(endpoints)


def _notes(given: Mapping[str, str], authorizer: str) -> tuple[str, ...]:
    unknown = tuple(
        f"{key} is not a key that Kafka knows; it has no effect"
        for key in sorted(given)
        if key not in KEYS and not is_known(key)
    )
    if authorizer in ("", STANDARD_AUTHORIZER):
        return unknown
    others = f"kraftool cannot run {authorizer}; the node accepts only super.users"
    return (*unknown, f"authorizer.class.name: {others}")


def _contradictions(config: NodeConfig) -> list[str]:
    """Return what Kafka's own check of a whole configuration refuses, for a node with a role."""
    contradictions = []
    voters, bound = config.static_voters.ids, {listener.name for listener in config.listeners.bound}
    controllers = config.listeners.controllers
    if not voters and not config.bootstrap_servers:
        contradictions.append(f"neither {_SERVERS} nor {_VOTERS} names the quorum")
    contradictions += [
        f"{_NAMES}: listener.security.protocol.map does not have {name}"
        for name in controllers
        if name not in config.listeners.protocols
    ]
    if config.is_controller:
        if voters and config.node_id not in voters:
            contradictions.append(f"a controller is a voter: {_VOTERS} has no {config.node_id}")
        contradictions += [
            f"{_NAMES}: {name} is not in listeners" for name in controllers if name not in bound
        ]
        if BROKER not in config.roles:
            contradictions += [
                f"listeners: {name} is not one of {_NAMES}, and the node is not a broker"
                for name in sorted(bound - set(controllers))
            ]
    elif config.roles:
        if config.node_id in voters:
            contradictions.append(f"only controllers are voters: {_VOTERS} has {config.node_id}")
        contradictions += [
            f"listeners: {name} belongs to a controller, but the node is not one"
            for name in sorted(bound & set(controllers))
        ]
        if config.auto_join:
            contradictions.append(
                "controller.quorum.auto.join.enable: only controllers join the quorum"
            )
    return contradictions + (_of_a_broker(config) if BROKER in config.roles else [])


def _of_a_broker(config: NodeConfig) -> list[str]:
    names = [broker.name for broker in config.listeners.brokers]
    if not names:
        return [f"listeners: a broker has one that is not in {_NAMES}"]
    contradictions = [
        f"advertised.listeners: {name} is not in listeners"
        for name in names
        if name not in {listener.name for listener in config.listeners.bound}
    ]
    contradictions += [
        f"advertised.listeners: no client can reach {broker.name} at {ANY_HOST}"
        for broker in config.listeners.brokers
        if broker.host == ANY_HOST
    ]
    if config.broker_listener not in names:
        contradictions.append(
            f"inter.broker.listener.name: {config.broker_listener} is not advertised"
        )
    return contradictions


def _own_name() -> str:
    return socket.getfqdn()
