"""Brokers and controllers that make themselves known, and brokers that go on being there.

Owns the order in which a registration is checked, as Kafka's, and what a heartbeat is answered.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from itertools import chain
from typing import Any

from kraftool.controller import fencing
from kraftool.controller.decision import Decision
from kraftool.controller.heartbeats import BrokerState, Heartbeats, Session
from kraftool.controller.refused import RequestRefused
from kraftool.controller.state import ControllerState
from kraftool.decoders.error_codes import Error
from kraftool.image.cluster import BrokerRegistration
from kraftool.image.metadata_version import (
    CONTROLLER_REGISTRATION_LEVEL,
    CONTROLLER_UNREGISTRATION_LEVEL,
    CORDONED_LEVEL,
    DIRECTORIES_LEVEL,
    METADATA_VERSION,
    register_broker_version,
)
from kraftool.image.replay import RecordValue, WrittenRecord
from kraftool.image.uuids import is_reserved_directory

_Request = dict[str, Any]
_NO_EPOCH = -2
"""Of a broker that was never registered; no request names it as its previous epoch."""


def register_broker(
    state: ControllerState,
    heartbeats: Heartbeats,
    now_ms: int,
    request: _Request,
    *,
    cluster_id: str,
    next_offset: int,
    kraft_version: int,
    version: int,
) -> Decision:
    """Let a broker in, fenced. `next_offset` becomes its epoch if this is a new life of it."""
    if request["clusterId"] != cluster_id:
        raise RequestRefused(
            Error.INCONSISTENT_CLUSTER_ID,
            f"the cluster's id is {cluster_id}, not {request['clusterId']}",
        )
    broker_id: int = request["brokerId"]
    known = state.broker(broker_id)
    is_same_life = known is not None and known.incarnation_id == request["incarnationId"]
    if (
        known is not None
        and not is_same_life
        and heartbeats.has_valid_session(Session(broker_id, known.epoch), now_ms)
    ):
        raise RequestRefused(
            Error.DUPLICATE_BROKER_REGISTRATION,
            f"another broker {broker_id} is alive. If it is this one before a restart, its session"
            " ends soon",
        )
    if request.get("isMigratingZkBroker", False):
        raise RequestRefused(
            Error.BROKER_ID_NOT_REGISTERED, "a broker that uses ZooKeeper cannot register"
        )
    has_directories = state.level >= DIRECTORIES_LEVEL
    if has_directories:
        _check_directories(state, broker_id, request.get("logDirs", []))
    _check_features(state, request, kraft_version)

    moves: Iterable[WrittenRecord] = ()
    value: RecordValue = {
        "brokerId": broker_id,
        "incarnationId": request["incarnationId"],
        "endPoints": _endpoints(request["listeners"]),
        "features": _ranges(request["features"]),
        "rack": request["rack"],
    }
    if has_directories:
        value["logDirs"] = request["logDirs"]
    if known is not None and is_same_life:
        value |= {
            "brokerEpoch": known.epoch,
            "fenced": known.fenced,
            "inControlledShutdown": known.in_controlled_shutdown,
        }
    else:
        previous = known.epoch if known is not None else _NO_EPOCH
        is_clean = version >= 3 and request["previousBrokerEpoch"] == previous
        moves = fencing.after_restart(state, broker_id, is_clean=is_clean)
        value |= {"brokerEpoch": next_offset, "fenced": True}
        heartbeats.remove(broker_id)
    heartbeats.register(broker_id, is_fenced=value["fenced"])
    # Last: if a controller fails between two batches, the broker registers again.
    registration = ("RegisterBrokerRecord", register_broker_version(state.level), value)
    return Decision(
        answer={"brokerEpoch": value["brokerEpoch"]},
        records=chain(moves, (registration,)),
        is_atomic=False,
    )


def _check_directories(state: ControllerState, broker_id: int, directories: list[str]) -> None:
    problem = None
    if not directories:
        problem = "the request names no log directory"
    elif any(map(is_reserved_directory, directories)):
        problem = "no directory may have an id that is reserved"
    elif len(set(directories)) != len(directories):
        problem = "two directories have the same id"
    else:
        owners = {
            directory: broker.id
            for broker in state.brokers()
            if broker.id != broker_id
            for directory in broker.directories
        }
        for directory in directories:
            if directory in owners:
                problem = f"directory {directory} is one of broker {owners[directory]}"
                break
    if problem is not None:
        raise RequestRefused(Error.INVALID_REGISTRATION, problem)


def _check_features(state: ControllerState, request: _Request, kraft_version: int) -> None:
    """Every level that is finalized must be one that the broker supports."""
    finalized = {**state.finalized(), "kraft.version": kraft_version}
    unnamed = dict(finalized)
    for feature in request["features"]:
        _check_range(feature, finalized.get(feature["name"], 0))
        unnamed.pop(feature["name"], None)
    if METADATA_VERSION in unnamed:
        raise RequestRefused(
            Error.INVALID_REGISTRATION,
            "the request does not say which metadata.version it supports",
        )
    for name, level in unnamed.items():
        if level != 0:
            _check_range({"name": name, "minSupportedVersion": 0, "maxSupportedVersion": 0}, level)


def _check_range(feature: dict[str, Any], level: int) -> None:
    low, high = feature["minSupportedVersion"], feature["maxSupportedVersion"]
    if not low <= level <= high:
        raise RequestRefused(
            Error.UNSUPPORTED_VERSION,
            f"{feature['name']} is at {level} here, and the broker supports {low} to {high}",
        )


def register_controller(state: ControllerState, request: _Request) -> Decision:
    """Note what a controller supports, which upgrades ask for."""
    if state.level < CONTROLLER_REGISTRATION_LEVEL:
        raise RequestRefused(
            Error.UNSUPPORTED_VERSION,
            "The current MetadataVersion is too old to support controller registrations.",
        )
    value = {
        "controllerId": request["controllerId"],
        "incarnationId": request["incarnationId"],
        "zkMigrationReady": False,
        "endPoints": _endpoints(request["listeners"]),
        "features": _ranges(request["features"]),
    }
    return Decision(answer={}, records=[("RegisterControllerRecord", 0, value)])


def _endpoints(listeners: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """By name, the last one of a name."""
    by_name = {
        listener["name"]: {
            key: listener[key] for key in ("name", "host", "port", "securityProtocol")
        }
        for listener in listeners
    }
    return list(by_name.values())


def _ranges(features: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [
        {key: feature[key] for key in ("name", "minSupportedVersion", "maxSupportedVersion")}
        for feature in features
    ]


def unregister_broker(state: ControllerState, request: _Request) -> Decision:
    """Forget a broker, also one that is still there: Kafka does not ask."""
    broker = state.broker(request["brokerId"])
    if broker is None:
        raise RequestRefused(
            Error.BROKER_ID_NOT_REGISTERED,
            f"Broker ID {request['brokerId']} is not currently registered",
        )
    return Decision(answer={}, records=fencing.unregister(state, broker), is_atomic=False)


def unregister_controller(state: ControllerState, request: _Request) -> Decision:
    """Forget a controller, as Kafka does since 4.4. The active one stays registered."""
    controller_id = request["controllerId"]
    if controller_id == state.settings.node_id:
        raise RequestRefused(
            Error.INVALID_REQUEST,
            "Controller cannot unregister itself while it is active.",
        )
    if state.level < CONTROLLER_UNREGISTRATION_LEVEL:
        raise RequestRefused(
            Error.UNSUPPORTED_VERSION,
            "The current MetadataVersion is too old to support controller unregistration.",
        )
    if state.controller(controller_id) is None:
        raise RequestRefused(
            Error.CONTROLLER_ID_NOT_REGISTERED,
            f"Controller ID {controller_id} is not currently registered.",
        )
    record = "UnregisterControllerRecord", 0, {"controllerId": controller_id}
    return Decision(answer={}, records=[record])


def heartbeat(state: ControllerState, heartbeats: Heartbeats, request: _Request) -> Decision:
    """Let a broker be what it asks to be, as far as it may."""
    broker_id, offset = request["brokerId"], request["currentMetadataOffset"]
    registered_at = state.registered_at(broker_id)
    if registered_at is None:
        raise RequestRefused(
            Error.STALE_BROKER_EPOCH,
            f"broker {broker_id} has not registered",
        )
    broker = state.check_broker_epoch(broker_id, request["brokerEpoch"])
    current, following = heartbeats.next_state(
        request,
        registered_at=registered_at,
        leads=state.partitions.is_leader_of_any(broker_id),
    )
    records = [] if current is following else [_records_of(state, broker, following)]
    heartbeats.note(broker_id, is_fenced=following.is_fenced, metadata_offset=offset)
    if state.level >= DIRECTORIES_LEVEL:
        offline = request.get("offlineLogDirs", [])
        records.append(fencing.directories_offline(state, broker, offline))
    if state.level >= CORDONED_LEVEL:
        records.append(fencing.directories_cordoned(broker, request.get("cordonedLogDirs")))
    answer = {
        "isCaughtUp": offset >= registered_at,
        "isFenced": following.is_fenced,
        "shouldShutDown": following is BrokerState.SHUTDOWN_NOW,
    }
    at_offset = None
    if following is BrokerState.CONTROLLED_SHUTDOWN:
        at_offset = partial(heartbeats.begin_shutdown, broker_id)
    return Decision(
        answer=answer,
        records=chain.from_iterable(records),
        is_atomic=False,
        at_offset=at_offset,
    )


def _records_of(
    state: ControllerState, broker: BrokerRegistration, following: BrokerState
) -> fencing.Records:
    match following:
        case BrokerState.UNFENCED:
            return fencing.unfence(state, broker)
        case BrokerState.CONTROLLED_SHUTDOWN:
            return fencing.begin_controlled_shutdown(state, broker)
    return fencing.fence(state, broker)


def fence_stale(state: ControllerState, heartbeats: Heartbeats, now_ms: int) -> Decision | None:
    """Fence one broker that was not heard of for too long; None where there is none."""
    session = heartbeats.take_expired(now_ms)
    if session is None:
        return None
    broker = state.broker(session.broker_id)
    if broker is None:
        heartbeats.remove(session.broker_id)
        return Decision(answer={})
    if broker.epoch != session.epoch:
        return Decision(answer={})
    decision = Decision(answer={}, records=fencing.fence(state, broker), is_atomic=False)
    heartbeats.fence(broker.id)
    return decision
