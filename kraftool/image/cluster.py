"""Registrations of brokers and controllers.

Owns what a registration says, and how records change it. A change for another broker epoch than the
registered one is an error, as it is for a controller.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from kraftool.image.metadata_version import (
    CONTROLLER_REGISTRATION_LEVEL,
    CORDONED_LEVEL,
    DIRECTORIES_LEVEL,
    ZK_MIGRATION_LEVEL,
    register_broker_version,
)
from kraftool.image.overlay import Overlay
from kraftool.image.replay import Lost, RecordValue, ReplayError, WrittenRecord, replays
from kraftool.image.uuids import uuid_order


class RegisteredEndpoint(NamedTuple):
    """The address at which a node listens; `security_protocol` is Kafka's id of it."""

    name: str
    host: str
    port: int
    security_protocol: int


class FeatureRange(NamedTuple):
    """The levels of a feature that a node supports."""

    min: int
    max: int


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerRegistration:
    """A broker as it last registered, with what changed since."""

    id: int
    epoch: int
    incarnation_id: str
    listeners: tuple[RegisteredEndpoint, ...] = ()
    """By name; so that two nodes' images compare."""
    features: Mapping[str, FeatureRange] = field(default_factory=dict)
    rack: str | None = None
    fenced: bool = True
    in_controlled_shutdown: bool = False
    is_migrating_zk_broker: bool = False
    directories: tuple[str, ...] = ()
    cordoned_directories: tuple[str, ...] | None = None
    """None: not known yet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ControllerRegistration:
    """A controller as it last registered."""

    id: int
    incarnation_id: str
    zk_migration_ready: bool = False
    listeners: tuple[RegisteredEndpoint, ...] = ()
    features: Mapping[str, FeatureRange] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterImage:
    """All registrations, by node id."""

    brokers: Mapping[int, BrokerRegistration] = field(default_factory=dict)
    controllers: Mapping[int, ControllerRegistration] = field(default_factory=dict)

    def records(self, metadata_version: int, lost: Lost) -> Iterator[WrittenRecord]:
        for broker in self.brokers.values():
            yield _broker_record(broker, metadata_version, lost)
        if self.controllers and metadata_version < CONTROLLER_REGISTRATION_LEVEL:
            lost("the registrations of controllers")
            return
        for controller in self.controllers.values():
            value = {
                "controllerId": controller.id,
                "incarnationId": controller.incarnation_id,
                "zkMigrationReady": controller.zk_migration_ready,
                **listeners_and_features(controller),
            }
            yield "RegisterControllerRecord", 0, value


def _broker_record(broker: BrokerRegistration, metadata_version: int, lost: Lost) -> WrittenRecord:
    value: RecordValue = {
        "brokerId": broker.id,
        "incarnationId": broker.incarnation_id,
        "brokerEpoch": broker.epoch,
        **listeners_and_features(broker),
        "rack": broker.rack,
        "fenced": broker.fenced,
        "inControlledShutdown": broker.in_controlled_shutdown,
    }
    if metadata_version >= ZK_MIGRATION_LEVEL:
        value["isMigratingZkBroker"] = broker.is_migrating_zk_broker
    elif broker.is_migrating_zk_broker:
        lost(f"that broker {broker.id} is migrating from ZooKeeper")
    if metadata_version >= DIRECTORIES_LEVEL:
        value["logDirs"] = list(broker.directories)
    elif broker.directories:
        lost(f"the log directories of broker {broker.id}")
    if metadata_version >= CORDONED_LEVEL:
        cordoned = broker.cordoned_directories
        value["cordonedLogDirs"] = None if cordoned is None else list(cordoned)
    elif broker.cordoned_directories is not None:
        lost(f"the cordoned log directories of broker {broker.id}")
    return "RegisterBrokerRecord", register_broker_version(metadata_version), value


def listeners_and_features(
    node: BrokerRegistration | ControllerRegistration, listeners: str = "endPoints"
) -> dict[str, Any]:
    """Return these members of a registration; `listeners`: the name of the first one."""
    return {
        listeners: [
            {
                "name": listener.name,
                "host": listener.host,
                "port": listener.port,
                "securityProtocol": listener.security_protocol,
            }
            for listener in node.listeners
        ],
        "features": [
            {
                "name": name,
                "minSupportedVersion": supported.min,
                "maxSupportedVersion": supported.max,
            }
            for name, supported in node.features.items()
        ],
    }


def _listeners(record: RecordValue) -> tuple[RegisteredEndpoint, ...]:
    by_name = {
        end_point["name"]: RegisteredEndpoint(
            end_point["name"], end_point["host"], end_point["port"], end_point["securityProtocol"]
        )
        for end_point in record["endPoints"]
    }
    return tuple(by_name[name] for name in sorted(by_name))


def _features(record: RecordValue) -> dict[str, FeatureRange]:
    ranges = {
        feature["name"]: FeatureRange(
            feature["minSupportedVersion"], feature["maxSupportedVersion"]
        )
        for feature in record["features"]
    }
    return {name: ranges[name] for name in sorted(ranges)}


def _directories(ids: list[str]) -> tuple[str, ...]:
    """In the order that Kafka keeps them in; cordoned ones it leaves in the order of the record."""
    return tuple(sorted(ids, key=uuid_order))


class ClusterDelta:
    """Changes to the registrations."""

    def __init__(self, image: ClusterImage) -> None:
        self._image = image
        self.brokers = Overlay(image.brokers)
        self.controllers = Overlay(image.controllers)

    @replays("RegisterBrokerRecord")
    def register_broker(self, record: RecordValue) -> None:
        cordoned = record.get("cordonedLogDirs")
        broker = BrokerRegistration(
            id=record["brokerId"],
            epoch=record["brokerEpoch"],
            incarnation_id=record["incarnationId"],
            listeners=_listeners(record),
            features=_features(record),
            rack=record["rack"],
            fenced=record["fenced"],
            in_controlled_shutdown=record.get("inControlledShutdown", False),
            is_migrating_zk_broker=record.get("isMigratingZkBroker", False),
            directories=_directories(record.get("logDirs", [])),
            cordoned_directories=None if cordoned is None else tuple(cordoned),
        )
        self.brokers.set(broker.id, broker)

    @replays("UnregisterBrokerRecord")
    def unregister_broker(self, record: RecordValue) -> None:
        self._broker(record["brokerId"], record["brokerEpoch"])
        self.brokers.remove(record["brokerId"])

    @replays("FenceBrokerRecord")
    def fence(self, record: RecordValue) -> None:
        self._change(self._broker(record["id"], record["epoch"]), fenced=True)

    @replays("UnfenceBrokerRecord")
    def unfence(self, record: RecordValue) -> None:
        self._change(self._broker(record["id"], record["epoch"]), fenced=False)

    @replays("BrokerRegistrationChangeRecord")
    def change(self, record: RecordValue) -> None:
        broker = self._broker(record["brokerId"], record["brokerEpoch"])
        changes: dict[str, Any] = {}
        fenced, shutdown = record["fenced"], record.get("inControlledShutdown", 0)
        if fenced not in (-1, 0, 1) or shutdown not in (0, 1):
            raise ReplayError(
                f"a change of broker {broker.id} with an unknown value:"
                f" fenced {fenced}, inControlledShutdown {shutdown}"
            )
        if fenced:
            changes["fenced"] = fenced == 1
        if shutdown:
            changes["in_controlled_shutdown"] = True
        if record.get("logDirs"):
            changes["directories"] = _directories(record["logDirs"])
        cordoned = record.get("cordonedLogDirs")
        if cordoned is not None:
            changes["cordoned_directories"] = tuple(cordoned)
        self._change(broker, **changes)

    @replays("RegisterControllerRecord")
    def register_controller(self, record: RecordValue) -> None:
        controller = ControllerRegistration(
            id=record["controllerId"],
            incarnation_id=record["incarnationId"],
            zk_migration_ready=record["zkMigrationReady"],
            listeners=_listeners(record),
            features=_features(record),
        )
        self.controllers.set(controller.id, controller)

    @replays("UnregisterControllerRecord")
    def unregister_controller(self, record: RecordValue) -> None:
        self.controllers.remove(record["controllerId"])

    def _broker(self, broker_id: int, epoch: int) -> BrokerRegistration:
        broker = self.brokers.get(broker_id)
        if broker is None:
            raise ReplayError(f"broker {broker_id} is not registered")
        if broker.epoch != epoch:
            raise ReplayError(
                f"broker {broker_id} is registered with epoch {broker.epoch}, not {epoch}"
            )
        return broker

    def _change(self, broker: BrokerRegistration, **changes: Any) -> None:
        self.brokers.set(broker.id, replace(broker, **changes))

    def apply(self) -> ClusterImage:
        if not (self.brokers.is_changed or self.controllers.is_changed):
            return self._image
        return ClusterImage(brokers=self.brokers.result(), controllers=self.controllers.result())
