"""IncrementalAlterConfigs and AlterConfigs: dynamic configs of topics, brokers, groups, clients.

Owns what a change of one resource comes to: all of it, or a refusal. The resources of a request do
not depend on each other.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from kraftool.controller import group_configs, topic_configs
from kraftool.controller.config_values import LONGEST, invalid, too_long
from kraftool.controller.decision import Decision
from kraftool.controller.new_partitions import MOST_RECORDS
from kraftool.controller.permissions import Permissions, config_permission
from kraftool.controller.refused import RequestRefused
from kraftool.controller.state import ControllerState
from kraftool.controller.topics import check_topic_name
from kraftool.decoders.error_codes import Error
from kraftool.decoders.schema.resource_configs import (
    NODE_CONFIGS,
    TOPIC_CONFIGS,
    ResourceConfig,
    ServerConfig,
)
from kraftool.image.configs import (
    BROKER,
    BROKER_LOGGER,
    GROUP,
    RESOURCE_TYPES,
    TOPIC,
    ConfigResource,
)
from kraftool.image.metadata_version import CORDONED_LEVEL
from kraftool.image.replay import WrittenRecord

Values = Mapping[str, str | None]

_DELETE, _APPEND, _SUBTRACT = 1, 2, 3
_MIN_ISR, _CORDONED = "min.insync.replicas", "cordoned.log.dirs"
_NODE_ID = re.compile(r"[+-]?[0-9]+")
_LARGEST_ID = (1 << 31) - 1
_COMMA = re.compile(r"\s*,\s*")
_TABLES: Mapping[int, Mapping[str, ResourceConfig | ServerConfig]] = {
    TOPIC: TOPIC_CONFIGS,
    BROKER: NODE_CONFIGS,
}
"""Resources with configs that can be appended to. Kafka knows no lists of client metrics."""


class _Change(NamedTuple):
    """The change of one resource."""

    altered: Values
    """Configs that the request names; None: deleted."""
    dropped: tuple[str, ...] = ()
    """Configs that go because the request does not name them."""


def incremental_alter_configs(
    state: ControllerState,
    request: dict[str, Any],
    permissions: Permissions,
    *,
    is_forwarded: bool,
) -> Decision:
    """Set, delete, append to and subtract from configs. `is_forwarded`: by a broker, which has
    looked at what only it knows."""

    def change(resource: ConfigResource, item: dict[str, Any]) -> _Change:
        stored, altered = state.configs_of(resource), {}
        for name, config in {config["name"]: config for config in item["configs"]}.items():
            value = _value(resource, name, stored.get(name), config)
            if value != stored.get(name) or resource.type == BROKER:
                altered[name] = value
        return _Change(altered)

    return _decision(state, request, change, permissions, is_forwarded=is_forwarded)


def alter_configs(
    state: ControllerState,
    request: dict[str, Any],
    permissions: Permissions,
    *,
    is_forwarded: bool,
) -> Decision:
    """Set all configs of resources; those that are not named go."""

    def change(resource: ConfigResource, item: dict[str, Any]) -> _Change:
        stored = state.configs_of(resource)
        wanted = {config["name"]: config["value"] for config in item["configs"]}
        altered = {
            name: value
            for name, value in wanted.items()
            # A broker reads its configs again where one is written anew.
            if value != stored.get(name) or resource.type == BROKER
        }
        return _Change(altered, tuple(name for name in stored if name not in wanted))

    return _decision(state, request, change, permissions, is_forwarded=is_forwarded)


def _decision(
    state: ControllerState,
    request: dict[str, Any],
    change_of: Callable[[ConfigResource, dict[str, Any]], _Change],
    permissions: Permissions,
    *,
    is_forwarded: bool,
) -> Decision:
    items = {_resource(item): item for item in request["resources"]}
    times = Counter(map(_resource, request["resources"]))
    responses: list[dict[str, Any]] = []
    records: list[WrittenRecord] = []
    for resource, item in items.items():
        response = {"resourceType": resource.type, "resourceName": resource.name}
        response |= {"errorCode": int(Error.NONE), "errorMessage": None}
        try:
            if resource.type not in RESOURCE_TYPES:
                raise RequestRefused(
                    Error.UNSUPPORTED_VERSION, f"Unknown resource type {resource.type}."
                )
            if times[resource] > 1:
                raise RequestRefused(Error.INVALID_REQUEST, "Duplicate resource.")
            _check_permission(permissions, resource)
            change = change_of(resource, item)
            _check(state, resource, change, is_forwarded=is_forwarded)
            records += _records(resource, change)
        except RequestRefused as refused:
            response |= {"errorCode": int(refused.error), "errorMessage": refused.text}
        responses.append(response)
    if len(records) > MOST_RECORDS:
        raise RequestRefused(
            Error.POLICY_VIOLATION, f"a request may alter {MOST_RECORDS} configs at most"
        )
    if state.is_elr_enabled:
        records += list(_cleared(records))
    if request["validateOnly"]:
        records = []
    return Decision(answer={"responses": responses}, records=records)


def _check_permission(permissions: Permissions, resource: ConfigResource) -> None:
    """Raise RequestRefused for a resource that the client may not alter."""
    operation = "CLUSTER_ACTION" if resource.type == BROKER_LOGGER else "ALTER_CONFIGS"
    kind, name, error = config_permission(resource)
    if not permissions.allows(operation, kind, name):
        raise RequestRefused(error)


def _resource(item: dict[str, Any]) -> ConfigResource:
    return ConfigResource(item["resourceType"], item["resourceName"])


def _records(resource: ConfigResource, change: _Change) -> Iterator[WrittenRecord]:
    for name, value in (*change.altered.items(), *((name, None) for name in change.dropped)):
        record = {"resourceType": resource.type, "resourceName": resource.name}
        yield "ConfigRecord", 0, {**record, "name": name, "value": value}


def _cleared(records: list[WrittenRecord]) -> Iterator[WrittenRecord]:
    """Yield records that clear the ELR of topics whose min.insync.replicas changes."""
    for _, _, value in records:
        if value["name"] == _MIN_ISR:
            topic = value["resourceName"] if value["resourceType"] == TOPIC else ""
            yield "ClearElrRecord", 0, {"topicName": topic}


# Values


def _value(
    resource: ConfigResource, name: str, stored: str | None, altered: dict[str, Any]
) -> str | None:
    """Return the value after an operation."""
    operation, given = altered["configOperation"], altered["value"]
    if operation == _DELETE:
        return None
    if operation not in (_APPEND, _SUBTRACT):
        value: str | None = given
        return value
    config = _TABLES.get(resource.type, {}).get(name)
    if config is None or config.type != "LIST":
        kind = "APPEND" if operation == _APPEND else "SUBTRACT"
        raise invalid(f"Can't {kind} to key {name} because its type is not LIST.")
    if given is None:
        raise RequestRefused(Error.INVALID_REQUEST, f"{name}: there is no value")
    old = stored if stored is not None else config.default or ""
    items = [item for item in old.split(",") if item]
    for item in _items(given):
        if operation == _SUBTRACT:
            if item in items:
                items.remove(item)
        elif item not in items:
            items.append(item)
    return ",".join(items)


def _items(text: str) -> list[str]:
    """As Java splits it: without empty ones at the end."""
    items = text.split(",")
    while len(items) > 1 and not items[-1]:
        items.pop()
    return [] if items == [""] and text else items


# Checks


def _check(
    state: ControllerState, resource: ConfigResource, change: _Change, *, is_forwarded: bool
) -> None:
    """Raise RequestRefused where a change may not be made."""
    stored = state.configs_of(resource)
    after = dict(stored)
    for name, value in change.altered.items():
        _check_one(state, resource, name, value, is_forwarded=is_forwarded)
        if value is None:
            after.pop(name, None)
        elif len(value) > LONGEST:
            raise too_long()
        else:
            after[name] = value
    for name in change.dropped:
        _check_one(state, resource, name, None, is_forwarded=is_forwarded)
        del after[name]
    match resource.type:
        case _ if resource.type == TOPIC:
            if not resource.name:
                raise RequestRefused(
                    Error.INVALID_REQUEST, "Default topic resources are not allowed."
                )
            check_topic_name(resource.name)
            topic_configs.check(state, after, stored)
            if state.topic_id(resource.name) is None:
                raise RequestRefused(
                    Error.UNKNOWN_TOPIC_OR_PARTITION,
                    f"The topic '{resource.name}' does not exist.",
                )
        case _ if resource.type == BROKER:
            _check_node(state, resource.name)
        case _ if resource.type == BROKER_LOGGER:
            raise RequestRefused(Error.INVALID_REQUEST, "this node has no loggers to set")
        case _ if not resource.name:
            what = (
                "Default group resources are not allowed."
                if resource.type == GROUP
                else "Subscription name can't be empty"
            )
            raise RequestRefused(Error.INVALID_REQUEST, what)
        case _ if resource.type == GROUP:
            group_configs.check_group(state, after)
        case _:
            group_configs.check_client_metrics(after)


def _check_one(
    state: ControllerState,
    resource: ConfigResource,
    name: str,
    value: str | None,
    *,
    is_forwarded: bool,
) -> None:
    """Check single configs of brokers."""
    if resource.type != BROKER:
        return
    if name == _MIN_ISR and state.is_elr_enabled and resource.name:
        raise invalid(f"Broker-level {_MIN_ISR} cannot be altered while ELR is enabled.")
    if name == _MIN_ISR and state.is_elr_enabled and value is None:
        raise invalid(f"Cluster-level {_MIN_ISR} cannot be removed while ELR is enabled.")
    if name == _CORDONED and state.level < CORDONED_LEVEL:
        raise invalid(
            f"The {_CORDONED} configuration value cannot be set because it requires"
            " metadata.version >= 4.3-IV0"
        )
    if name == _CORDONED and not is_forwarded and value is not None and value.strip():
        there = _COMMA.split((state.configs_of(resource).get(name) or "").strip())
        if not set(_COMMA.split(value.strip())) <= set(there):
            # With two spaces, as Kafka writes it.
            raise invalid(
                f"When updating {_CORDONED} via controllers,  the new value must be a subset of the"
                " current configuration value."
            )


def _check_node(state: ControllerState, name: str) -> None:
    """A broker or a controller that is registered, or a static voter; an empty name stands for
    all."""
    if not name:
        return
    if not _NODE_ID.fullmatch(name) or not -_LARGEST_ID <= int(name) <= _LARGEST_ID:
        raise RequestRefused(
            Error.INVALID_REQUEST, "Unable to parse broker name as a base 10 number."
        )
    node_id = int(name)
    if node_id < 0:
        raise RequestRefused(Error.INVALID_REQUEST, "Invalid negative broker ID.")
    if (
        state.broker(node_id) is None
        and state.controller(node_id) is None
        and node_id not in state.settings.static_voters
    ):
        raise RequestRefused(Error.BROKER_ID_NOT_REGISTERED, f"No node with id {node_id} found.")
