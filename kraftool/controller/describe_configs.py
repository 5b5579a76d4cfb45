"""DescribeConfigs: the values of configs on this node, and the source of each value.

Owns the order in which Kafka lists the sources. An answer has no value for secrets, and none for
configs that no ConfigDef knows. It never has Kafka's documentation of a config.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from kraftool.controller.config_levels import ConfigLevels, ConfigSource
from kraftool.controller.config_values import known
from kraftool.controller.group_configs import CLIENT_METRICS_CONFIGS
from kraftool.controller.permissions import Permissions, config_permission
from kraftool.controller.refused import RequestRefused
from kraftool.decoders.error_codes import Error
from kraftool.decoders.java_text import read_int64
from kraftool.decoders.schema.resource_configs import (
    GROUP_CONFIGS,
    NODE_CONFIGS,
    TOPIC_CONFIGS,
    ResourceConfig,
)
from kraftool.image.configs import (
    BROKER,
    BROKER_LOGGER,
    CLIENT_METRICS,
    GROUP,
    TOPIC,
    ConfigResource,
)
from kraftool.image.image import MetadataImage
from kraftool.image.metadata_version import OLDEST_KRAFT_LEVEL

Body = dict[str, Any]
_TYPES = ("BOOLEAN", "STRING", "INT", "SHORT", "LONG", "DOUBLE", "LIST", "CLASS", "PASSWORD")
_NUMBERS = ("INT", "SHORT", "LONG")
_PASSWORD = "PASSWORD"
_TIMES = tuple(
    tuple(f"log.{what}.{unit}" for unit in units)
    for what, units in {
        "roll": ("ms", "hours"),
        "roll.jitter": ("ms", "hours"),
        "retention": ("ms", "minutes", "hours"),
    }.items()
)
"""Configs for one setting in several units; the first that is set counts."""
_FLUSH = "log.flush.interval.ms"
_LISTENER = re.compile(r"listener\.name\.[^.]*\.(.*)")
_OF_MECHANISM = (
    "sasl.jaas.config",
    "sasl.login.callback.handler.class",
    "sasl.login.class",
    "sasl.server.callback.handler.class",
    "connections.max.reauth.ms",
)


class _Synonym(NamedTuple):
    """One source of a config's value: it counts if no source before it has a value."""

    name: str
    value: str | None
    source: ConfigSource


class _Described(NamedTuple):
    """One config of a resource."""

    name: str
    value: str | None
    type: str
    synonyms: list[_Synonym]
    is_read_only: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class _View:
    """The configs that one node knows."""

    image: MetadataImage
    node_id: int
    levels: ConfigLevels
    """Of this node."""

    def configs_of(self, resource_type: int, name: str) -> Mapping[str, str]:
        return self.image.configs.resources.get(ConfigResource(resource_type, name)) or {}

    @property
    def level(self) -> int:
        return self.image.features.metadata_version or OLDEST_KRAFT_LEVEL


def describe_configs(
    image: MetadataImage,
    request: Body,
    permissions: Permissions,
    *,
    node_id: int,
    static_configs: Mapping[str, str],
) -> Body:
    """Return an answer from the committed metadata and the node's own file."""
    ids = {name: str(node_id) for name in ("node.id", "broker.id")}
    resources = image.configs.resources
    view = _View(
        image=image,
        node_id=node_id,
        levels=ConfigLevels(
            node=resources.get(ConfigResource(BROKER, str(node_id))) or {},
            cluster=resources.get(ConfigResource(BROKER, "")) or {},
            file=ids | dict(static_configs),
        ),
    )
    shown, results = request.get("includeSynonyms", False), []
    for resource in request["resources"]:
        permission = config_permission(
            ConfigResource(resource["resourceType"], resource["resourceName"])
        )
        if permissions.allows("DESCRIBE_CONFIGS", permission.resource, permission.name):
            results.append(_result(view, resource, shows_synonyms=shown))
        else:
            results.append(_refused(resource, permission.error))
    return {"throttleTimeMs": 0, "results": results}


def refused_description(request: Body, error: Error) -> Body:
    """Return the answer for a client without permission."""
    results = [_refused(resource, error) for resource in request["resources"]]
    return {"throttleTimeMs": 0, "results": results}


def _refused(resource: Body, error: Error, text: str | None = None) -> Body:
    return {
        "errorCode": int(error),
        "errorMessage": text,
        "resourceType": resource["resourceType"],
        "resourceName": resource["resourceName"],
        "configs": [],
    }


def _result(view: _View, resource: Body, *, shows_synonyms: bool) -> Body:
    describe = _DESCRIBED_BY.get(resource["resourceType"])
    wanted = resource.get("configurationKeys")
    try:
        if describe is None:
            raise _invalid(f"resource type {resource['resourceType']} has no configs")
        described = [
            _config(config, shows_synonyms=shows_synonyms)
            for config in describe(view, resource["resourceName"])
            if not wanted or config.name in wanted
        ]
    except RequestRefused as refused:
        return _refused(resource, refused.error, refused.text)
    return _refused(resource, Error.NONE) | {"configs": described}


def _config(config: _Described, *, shows_synonyms: bool) -> Body:
    is_secret = config.type in (_PASSWORD, "")
    first = config.synonyms[0].source if config.synonyms else ConfigSource.DEFAULT
    synonyms = [
        {
            "name": synonym.name,
            "value": None if is_secret else synonym.value,
            "source": int(synonym.source),
        }
        for synonym in config.synonyms
    ]
    return {
        "name": config.name,
        "value": None if is_secret else config.value,
        "readOnly": config.is_read_only,
        "configSource": int(first),
        "isSensitive": is_secret,
        "synonyms": synonyms if shows_synonyms else [],
        "configType": _TYPES.index(config.type) + 1 if config.type in _TYPES else 0,
        "documentation": None,
    }


# The kinds of resources


def _node(view: _View, name: str) -> Iterator[_Described]:
    if not name:
        for key, value in view.levels.cluster.items():
            synonyms = [
                synonym for synonym in _of_node(view, key) if synonym.source is ConfigSource.CLUSTER
            ]
            yield _of_table(key, value, synonyms)
        return
    _require_own(view, name)
    shown = {key for key, config in NODE_CONFIGS.items() if not config.is_internal}
    for key in sorted(shown.union(*view.levels)):
        synonyms = _of_node(view, key)
        own = next((synonym.value for synonym in synonyms if synonym.name == key), None)
        yield _of_table(key, _as_kafka_writes(_node_type(key), own), synonyms)


def _of_table(name: str, value: str | None, synonyms: list[_Synonym]) -> _Described:
    config = NODE_CONFIGS.get(name)
    is_read_only = config is None or not config.is_dynamic
    return _Described(name, value, _node_type(name), synonyms, is_read_only)


def _node_type(name: str) -> str:
    """Return the type of a config, or of the one that it overrides; empty if unknown."""
    return next((NODE_CONFIGS[key].type for key in _names_of(name) if key in NODE_CONFIGS), "")


def _require_own(view: _View, name: str) -> None:
    try:
        node_id = int(name)
    except ValueError:
        raise _invalid(f"a node id must be a number, not {name}") from None
    if node_id != view.node_id:
        raise _invalid(f"this is node {view.node_id}: ask node {name} for its configs")


def _topic(view: _View, name: str) -> Iterator[_Described]:
    if name not in view.image.topics.by_name:
        raise RequestRefused(Error.UNKNOWN_TOPIC_OR_PARTITION, f"topic {name} does not exist")
    own = view.configs_of(TOPIC, name)
    for key, config in known(TOPIC_CONFIGS, view.level).items():
        if config.is_internal and key not in own:
            continue
        value = view.levels.effective(config, own.get(key)).value
        behind = _of_node(view, config.synonyms[0][0]) if config.synonyms else []
        yield _with_own(key, config, value, own, ConfigSource.TOPIC, behind)


def _group(view: _View, name: str) -> Iterator[_Described]:
    if not name:
        raise _invalid("name a group")
    own = view.configs_of(GROUP, name)
    for key, config in known(GROUP_CONFIGS, view.level).items():
        value = view.levels.effective(config, own.get(key)).value
        if config.synonyms:
            behind = _of_node(view, config.synonyms[0][0])
        else:
            behind = _default(key, config.default)
        yield _with_own(key, config, value, own, ConfigSource.GROUP, behind)


def _client_metrics(view: _View, name: str) -> Iterator[_Described]:
    if not name:
        raise _invalid("name a client metrics subscription")
    own = view.configs_of(CLIENT_METRICS, name)
    for key, config in CLIENT_METRICS_CONFIGS.items():
        value = own.get(key, config.default)
        yield _with_own(key, config, value, own, ConfigSource.CLIENT_METRICS, [])


def _with_own(
    name: str,
    config: ResourceConfig,
    value: str | None,
    own: Mapping[str, str],
    source: ConfigSource,
    behind: list[_Synonym],
) -> _Described:
    value = _as_kafka_writes(config.type, value)
    first = [_Synonym(name, value, source)] if name in own else []
    return _Described(name, value, config.type, first + behind)


def _loggers(view: _View, name: str) -> Iterator[_Described]:
    """Yield nothing: this node has no loggers whose levels can be changed."""
    if not name:
        raise _invalid("name a node by its id")
    _require_own(view, name)
    yield from ()


_DESCRIBED_BY: Mapping[int, Callable[[_View, str], Iterator[_Described]]] = {
    TOPIC: _topic,
    BROKER: _node,
    BROKER_LOGGER: _loggers,
    CLIENT_METRICS: _client_metrics,
    GROUP: _group,
}


# Values and their sources


def _of_node(view: _View, name: str) -> list[_Synonym]:
    """Return the sources of a node's config, the one that counts first.

    A value of one listener is left out of the config for all listeners.
    """
    names = _names_of(name)
    levels = (ConfigSource.NODE, ConfigSource.CLUSTER, ConfigSource.FILE)
    synonyms = [
        _Synonym(key, configs[key], source)
        for source, configs in zip(levels, view.levels, strict=True)
        for key in names
        if key in configs
    ]
    for key in names:
        config = NODE_CONFIGS.get(key)
        synonyms += _default(key, config.default if config is not None else None)
    start = next((at for at, synonym in enumerate(synonyms) if synonym.name == name), len(synonyms))
    return synonyms[start:]


def _default(name: str, value: str | None) -> list[_Synonym]:
    return [] if value is None else [_Synonym(name, value, ConfigSource.DEFAULT)]


def _names_of(name: str) -> tuple[str, ...]:
    """Return the names under which a value is looked for: its own, then those that it overrides."""
    for times in _TIMES:
        if name in times:
            return times
    if name == _FLUSH:
        return name, "log.flush.scheduler.interval.ms"
    of_listener = _LISTENER.fullmatch(name)
    if of_listener is None:
        return (name,)
    rest = of_listener[1]
    return name, next((base for base in _OF_MECHANISM if rest.endswith(base)), rest)


def _as_kafka_writes(kind: str, value: str | None) -> str | None:
    """Return a value as Kafka writes it after parsing it; what is not a number stays as it is."""
    if value is None:
        return None
    text = value.strip()
    if kind == "LIST":
        return ",".join(item.strip() for item in text.split(",")) if text else ""
    if kind == "BOOLEAN":
        return text.lower()
    number = read_int64(text) if kind in _NUMBERS else None
    return text if number is None else str(number)


def _invalid(reason: str) -> RequestRefused:
    return RequestRefused(Error.INVALID_REQUEST, reason)
