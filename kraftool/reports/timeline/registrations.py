"""Events of brokers and controllers: registered, restarted, amended, fenced, shut down, gone.

Owns telling a restart from an amendment: a process that starts anew has a new incarnation id.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kraftool.reports.findings.finding import Severity
from kraftool.reports.text.words import many
from kraftool.reports.timeline.batches import Watched
from kraftool.reports.timeline.event_words import duration, endpoints, ids, named
from kraftool.reports.timeline.events import Category, Event
from kraftool.reports.timeline.knowledge import Knowledge, Registered
from kraftool.reports.timeline.record_event import record_event


def register_broker(record: Watched, epoch: int, known: Knowledge) -> Iterator[Event]:
    """A RegisterBrokerRecord."""
    data = record.data
    id, brokers = data["brokerId"], known.metadata.brokers
    before = brokers.get(id)
    now = Registered(
        data,
        fenced=data["fenced"],
        fenced_at=_fenced_since(before, record) if data["fenced"] else None,
        in_controlled_shutdown=data.get("inControlledShutdown", False),
        directories=tuple(data.get("logDirs") or ()),
        cordoned=_directories(data.get("cordonedLogDirs")),
    )
    type, what, details = _registration("broker", id, before, now, known)
    if type != "amended":
        details = [_where(data), *details]
        # A broker is fenced until its first heartbeats say that it has caught up.
        details += [] if now.fenced else ["not fenced"]
    yield record_event(
        record,
        epoch,
        Category.BROKERS,
        f"broker-{type}",
        what,
        {
            "broker": id,
            "brokerEpoch": data["brokerEpoch"],
            "incarnationId": data["incarnationId"],
            "rack": data.get("rack"),
            "endpoints": _endpoints(data),
            "logDirs": list(now.directories),
            "fenced": now.fenced,
        },
        details,
    )
    brokers[id] = now


def _fenced_since(before: Registered | None, record: Watched) -> int | None:
    """The time of the first record that fenced it; None if no record here shows that."""
    return before.fenced_at if before is not None and before.fenced else record.timestamp


def _where(data: dict[str, Any]) -> str:
    rack = data.get("rack")
    return f"at {endpoints(data['endPoints'])}" + (f" in rack {rack}" if rack else "")


def _endpoints(data: dict[str, Any]) -> list[str]:
    return [
        f"{end_point['name']}://{end_point['host']}:{end_point['port']}"
        for end_point in data["endPoints"]
    ]


def _directories(value: list[str] | None) -> tuple[str, ...] | None:
    return tuple(value) if value is not None else None


def _registration(
    role: str, id: int, before: Registered | None, now: Registered, known: Knowledge
) -> tuple[str, str, list[str]]:
    """Return if a registration is a new one, a restart, or an amendment by the same process."""
    incarnation = now.data["incarnationId"]
    if before is None:
        details = [f"incarnation {incarnation}"]
        if not known.from_start:
            details.append("what it was before is not in the log")
        return "registered", f"{role} {id} registered", details
    if before.data["incarnationId"] != incarnation:
        moved = []
        if _endpoints(before.data) != _endpoints(now.data):
            moved.append(f"it was at {endpoints(before.data['endPoints'])}")
        return "restarted", f"{role} {id} restarted", [f"new incarnation {incarnation}", *moved]
    return "amended", f"{role} {id} amended its registration", _differences(before, now)


def _differences(before: Registered, now: Registered) -> list[str]:
    """Return what the same incarnation says differently."""
    differences = []
    if _endpoints(before.data) != _endpoints(now.data):
        differences.append(
            f"endpoints {endpoints(before.data['endPoints'])} → {endpoints(now.data['endPoints'])}"
        )
    old, new = (_features(registered.data) for registered in (before, now))
    differences += [
        f"supports {name} {new.get(name, 'no more')}"
        for name in sorted({*old, *new})
        if old.get(name) != new.get(name)
    ]
    if before.data.get("rack") != now.data.get("rack"):
        differences.append(f"rack {before.data.get('rack')} → {now.data.get('rack')}")
    if before.directories != now.directories:
        differences.append(f"log directories {ids(now.directories) or 'not reported'}")
    if before.fenced != now.fenced:
        differences.append("fenced" if now.fenced else "not fenced")
    if before.data.get("zkMigrationReady") != now.data.get("zkMigrationReady"):
        differences.append("zkMigrationReady changed")
    return differences or ["nothing changed but its epoch"]


def _features(data: dict[str, Any]) -> dict[str, str]:
    return {
        feature["name"]: f"{feature['minSupportedVersion']} to {feature['maxSupportedVersion']}"
        for feature in data["features"]
    }


def unregister_broker(record: Watched, epoch: int, known: Knowledge) -> Iterator[Event]:
    """An UnregisterBrokerRecord."""
    id = record.data["brokerId"]
    known.metadata.brokers.pop(id, None)
    yield record_event(
        record, epoch, Category.BROKERS, "broker-unregistered", f"broker {id} unregistered",
        {"broker": id, "brokerEpoch": record.data["brokerEpoch"]},
    )  # fmt: skip


def fence_or_unfence(record: Watched, epoch: int, known: Knowledge) -> Iterator[Event]:
    """A FenceBrokerRecord or UnfenceBrokerRecord, which early versions wrote."""
    yield _fencing(
        record,
        epoch,
        known,
        record.data["id"],
        record.data["epoch"],
        fenced=record.name == "FenceBrokerRecord",
    )


def change_broker(record: Watched, epoch: int, known: Knowledge) -> Iterator[Event]:
    """A BrokerRegistrationChangeRecord: one event for each thing that it says."""
    data = record.data
    id, broker_epoch = data["brokerId"], data["brokerEpoch"]
    fields = {"broker": id, "brokerEpoch": broker_epoch}
    broker = known.metadata.brokers.get(id)
    if data.get("fenced", 0):
        yield _fencing(record, epoch, known, id, broker_epoch, fenced=data["fenced"] == 1)
    if data.get("inControlledShutdown", 0) == 1:
        yield record_event(
            record, epoch, Category.BROKERS, "broker-controlled-shutdown",
            f"broker {id} begins a controlled shutdown", fields, severity=Severity.WARNING,
        )  # fmt: skip
        if broker is not None:
            broker.in_controlled_shutdown = True
    if directories := tuple(data.get("logDirs") or ()):
        gone = (
            [directory for directory in broker.directories if directory not in directories]
            if broker
            else []
        )
        new = [
            directory
            for directory in directories
            if broker is None or directory not in broker.directories
        ]
        details = [f"{named(gone)} gone"] if gone else []
        details += [f"{named(new)} new"] if new else []
        yield record_event(
            record, epoch, Category.BROKERS, "broker-directories",
            f"broker {id} has {many(len(directories), 'log directory')}",
            {**fields, "logDirs": list(directories), "gone": gone, "new": new}, details,
            severity=Severity.WARNING if gone else Severity.INFO,
        )  # fmt: skip
        if broker is not None:
            broker.directories = directories
    cordoned = _directories(data.get("cordonedLogDirs"))
    # After each start a broker says that it has none, which is no news.
    if cordoned or (cordoned is not None and broker is not None and broker.cordoned):
        what = f"broker {id} no longer cordons log directories"
        if cordoned:
            what = f"broker {id} cordons {many(len(cordoned), 'log directory')}"
        yield record_event(
            record, epoch, Category.BROKERS, "broker-cordoned", what,
            {**fields, "cordonedLogDirs": list(cordoned)}, [named(cordoned)] if cordoned else (),
            severity=Severity.WARNING if cordoned else Severity.INFO,
        )  # fmt: skip
        if broker is not None:
            broker.cordoned = cordoned


def _fencing(
    record: Watched, epoch: int, known: Knowledge, id: int, broker_epoch: int, *, fenced: bool
) -> Event:
    broker = known.metadata.brokers.get(id)
    details = []
    if broker is not None:
        if fenced and broker.fenced:
            details.append("it was fenced already")
        elif fenced and broker.in_controlled_shutdown:
            details.append("at the end of its controlled shutdown")
        if not fenced and broker.fenced_at is not None:
            details.append(f"it was fenced for {duration(record.timestamp - broker.fenced_at)}")
        broker.fenced_at = _fenced_since(broker, record) if fenced else None
        broker.fenced = fenced
    expected = bool(fenced and broker is not None and broker.in_controlled_shutdown)
    return record_event(
        record, epoch, Category.BROKERS, "broker-fenced" if fenced else "broker-unfenced",
        f"broker {id} {'fenced' if fenced else 'unfenced'}",
        {"broker": id, "brokerEpoch": broker_epoch, "inControlledShutdown": expected}, details,
        severity=Severity.WARNING if fenced else Severity.INFO, good=not fenced,
    )  # fmt: skip


def register_controller(record: Watched, epoch: int, known: Knowledge) -> Iterator[Event]:
    """A RegisterControllerRecord."""
    data = record.data
    id, controllers = data["controllerId"], known.metadata.controllers
    now = Registered(data)
    type, what, details = _registration("controller", id, controllers.get(id), now, known)
    if type != "amended":
        details = [_where(data), *details]
    yield record_event(
        record, epoch, Category.CONTROLLERS, f"controller-{type}", what,
        {"controller": id, "incarnationId": data["incarnationId"], "endpoints": _endpoints(data)},
        details,
    )  # fmt: skip
    controllers[id] = now


def unregister_controller(record: Watched, epoch: int, known: Knowledge) -> Iterator[Event]:
    """An UnregisterControllerRecord, which Kafka writes from 4.4 on."""
    id = record.data["controllerId"]
    known.metadata.controllers.pop(id, None)
    yield record_event(
        record, epoch, Category.CONTROLLERS, "controller-unregistered",
        f"controller {id} unregistered", {"controller": id},
    )  # fmt: skip
