"""Configs of topics: which values they may have, and what they come to for a topic.

Owns Kafka's checks (its ConfigDefs are `decoders/schema/topic_configs.py`) and the order in which a
value is looked for: the topic, this node's dynamic configs, the cluster's, the file, the default.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import IntEnum
from typing import NamedTuple

from kraftool.controller.partition_index import PartitionKey
from kraftool.controller.refused import RequestRefused
from kraftool.controller.state import ControllerState
from kraftool.decoders.error_codes import Error
from kraftool.decoders.schema.topic_configs import TOPIC_CONFIGS, TopicConfig
from kraftool.image.configs import BROKER, TOPIC, ConfigResource
from kraftool.image.metadata_version import level_of

_LARGEST = {"INT": 1 << 31, "LONG": 1 << 63}
_REPLICA = re.compile(r"[0-9]+:[0-9]+")
_NUMBER = re.compile(r"[+-]?[0-9]+")
_DOUBLE = re.compile(r"[+-]?(NaN|Infinity|([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?)[fFdD]?")
_COMMA = re.compile(r"\s*,\s*")
_LONGEST = 32767
_UNLIMITED, _AS_RETENTION = -1, -2


class ConfigSource(IntEnum):
    """Where a value came from, as Kafka numbers it in answers."""

    TOPIC = 1
    NODE = 2
    CLUSTER = 3
    FILE = 4
    DEFAULT = 5


class Effective(NamedTuple):
    """What a config comes to."""

    value: str | None
    source: ConfigSource


def check(state: ControllerState, configs: Mapping[str, str]) -> None:
    """Raise RequestRefused for the first of a new topic's configs that may not be so."""
    for name, value in configs.items():
        config = _known(state).get(name)
        if config is None:
            raise _invalid(f"there is no config {name} of topics")
        if len(value) > _LONGEST:
            raise _invalid(f"the value of {name} is longer than {_LONGEST} characters")
        problem = _problem(config, value)
        if problem is not None:
            raise _invalid(f"{name}: {problem}")
    _check_together(state, configs)


def effective(state: ControllerState, configs: Mapping[str, str]) -> dict[str, Effective]:
    """All configs that a new topic with these ones has, by name."""
    return {
        name: _effective(state, name, config, configs)
        for name, config in sorted(_known(state).items())
        if not config.is_internal or name in configs
    }


def value_for_topic(state: ControllerState, topic: str, name: str) -> str:
    """A config of a topic that is there; it is one that has a default."""
    known = state.known_configs.get((topic, name))
    if known is not None:
        return known
    configs = state.configs_of(ConfigResource(TOPIC, topic))
    value = _effective(state, name, TOPIC_CONFIGS[name], configs).value
    assert value is not None, f"{name} has a default"
    state.known_configs[topic, name] = value
    return value


def min_insync_replicas(state: ControllerState, key: PartitionKey) -> int:
    """How many replicas in sync a topic wants, as far as it has so many."""
    first = state.partition(PartitionKey(key.topic_id, 0))
    assert first is not None, "partitions are numbered from 0 on"
    wanted = int(value_for_topic(state, _name_of(state, key), "min.insync.replicas"))
    return min(wanted, len(first.replicas))


def allows_unclean_election(state: ControllerState, key: PartitionKey) -> bool:
    """Whether a topic would rather lose records than be without a leader."""
    value = value_for_topic(state, _name_of(state, key), "unclean.leader.election.enable")
    return value.lower() == "true"


def _name_of(state: ControllerState, key: PartitionKey) -> str:
    name = state.topic_name(key.topic_id)
    assert name is not None, "only partitions of topics that are there are asked for"
    return name


def min_insync_replicas_of_file(state: ControllerState) -> str:
    """What the configuration file says, or Kafka's default."""
    name = "min.insync.replicas"
    return state.static_configs.get(name) or TOPIC_CONFIGS[name].default or "1"


def _known(state: ControllerState) -> dict[str, TopicConfig]:
    """Those of the cluster's release: brokers of an older one would not know the others."""
    return {
        name: config
        for name, config in TOPIC_CONFIGS.items()
        if not config.since or state.level > (level_of(_release_before(config.since)) or 0)
    }


def _release_before(release: str) -> str:
    major, minor = release.split(".")
    return f"{major}.{int(minor) - 1}"


def _effective(
    state: ControllerState, name: str, config: TopicConfig, of_topic: Mapping[str, str]
) -> Effective:
    if name in of_topic:
        return Effective(of_topic[name], ConfigSource.TOPIC)
    for source, configs in (
        (ConfigSource.NODE, state.configs_of(ConfigResource(BROKER, str(state.node_id)))),
        (ConfigSource.CLUSTER, state.configs_of(ConfigResource(BROKER, ""))),
        (ConfigSource.FILE, state.static_configs),
    ):
        for synonym, unit in config.synonyms:
            value = configs.get(synonym)
            if value is not None:
                converted = value if unit == 1 else str(int(value) * unit)
                return Effective(converted, source)
    return Effective(config.default, ConfigSource.DEFAULT)


def _problem(config: TopicConfig, value: str) -> str | None:
    """Why a text is no value of a config; None if it is one."""
    text = value.strip()
    match config.type:
        case "BOOLEAN":
            return None if text.lower() in ("true", "false") else "it must be true or false"
        case "LIST":
            return _list_problem(config, text)
        case "STRING":
            is_one = not config.words or value.strip() in config.words
            return None if is_one else f"it must be one of {', '.join(config.words)}"
        case "DOUBLE":
            if not _DOUBLE.fullmatch(text):
                return "it must be a number"
            number = float(text.rstrip("fFdD").replace("Infinity", "inf"))
        case _:
            largest = _LARGEST[config.type]
            if not _NUMBER.fullmatch(text) or not -largest <= int(text) < largest:
                return "it must be a whole number"
            number = int(text)
    if config.also and number == int(config.also):
        return None
    if config.low and number < int(config.low):
        return f"it must be at least {config.low}"
    if config.high and number > int(config.high):
        return f"it must be at most {config.high}"
    return None


def _list_problem(config: TopicConfig, text: str) -> str | None:
    items = _COMMA.split(text) if text else []
    if config.is_replica_list:
        while items and not items[-1]:
            items.pop()
        is_right = items == ["*"] or all(map(_REPLICA.fullmatch, items))
        return None if is_right else "it must be * or a list of PARTITION:BROKER"
    if not all(item in config.words for item in items):
        return f"it must be a list of {', '.join(config.words)}"
    return None


def _check_together(state: ControllerState, configs: Mapping[str, str]) -> None:
    """What concerns several configs; those that the topic does not have come from the file."""

    def number(name: str) -> int:
        return int(_from_file(state, name, configs).strip())

    def is_true(name: str) -> bool:
        return _from_file(state, name, configs).strip().lower() == "true"

    if number("min.compaction.lag.ms") > number("max.compaction.lag.ms"):
        raise _invalid("min.compaction.lag.ms is larger than max.compaction.lag.ms")
    if not is_true("remote.storage.enable"):
        return
    system = state.static_configs.get("remote.log.storage.system.enable", "false")
    if system.strip().lower() != "true":
        raise _invalid(
            "remote.storage.enable: this node has remote.log.storage.system.enable=false"
        )
    if _from_file(state, "cleanup.policy", configs).strip() not in ("", "delete"):
        raise _invalid("remote.storage.enable: cleanup.policy must be delete")
    for unit in ("bytes", "ms"):
        name = f"local.retention.{unit}"
        whole, local = number(f"retention.{unit}"), number(name)
        if local == _AS_RETENTION:
            continue
        if whole != _UNLIMITED and (local == _UNLIMITED or local > whole):
            raise _invalid(f"{name} is larger than retention.{unit}")
        if is_true("remote.log.copy.disable") and local != whole:
            raise _invalid(f"remote.log.copy.disable: {name} must be retention.{unit}")


def _from_file(state: ControllerState, name: str, configs: Mapping[str, str]) -> str:
    config = TOPIC_CONFIGS[name]
    if name in configs:
        return configs[name]
    for synonym, unit in config.synonyms:
        value = state.static_configs.get(synonym)
        if value is not None:
            return value if unit == 1 else str(int(value) * unit)
    return config.default or ""


def _invalid(reason: str) -> RequestRefused:
    return RequestRefused(Error.INVALID_CONFIG, reason)
