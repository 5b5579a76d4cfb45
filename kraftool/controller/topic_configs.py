"""Configs of topics: which values they may have, and what they come to for a topic.

Owns what Kafka checks of several together, and the order in which a value is looked for: the
topic, this node's dynamic configs, the cluster's, the file, the default.
"""

from __future__ import annotations

from collections.abc import Mapping

from kraftool.controller.config_levels import ConfigLevels, Effective
from kraftool.controller.config_values import LONGEST, invalid, known, problem, too_long
from kraftool.controller.partition_index import PartitionKey
from kraftool.controller.state import ControllerState
from kraftool.decoders.schema.resource_configs import TOPIC_CONFIGS, ResourceConfig
from kraftool.image.configs import BROKER, TOPIC, ConfigResource

_UNLIMITED, _AS_RETENTION = -1, -2


def check(
    state: ControllerState, configs: Mapping[str, str], before: Mapping[str, str] | None = None
) -> None:
    """Raise RequestRefused for the first of a topic's configs that may not be so. `before`: those
    that it has now, if it is not a new one."""
    there = _known(state)
    for name, value in configs.items():
        if len(value) > LONGEST:
            raise too_long()
        if name not in there:
            raise invalid(f"Unknown topic config name: {name}")
    for name, value in configs.items():
        reason = problem(name, there[name], value)
        if reason is not None:
            raise invalid(reason)
    _check_together(state, configs, before or {})


def effective(state: ControllerState, configs: Mapping[str, str]) -> dict[str, Effective]:
    """All configs that a new topic with these ones has, by name."""
    levels = _levels(state)
    return {
        name: levels.effective(config, configs.get(name))
        for name, config in sorted(_known(state).items())
        if not config.is_internal or name in configs
    }


def value_for_topic(state: ControllerState, topic_id: str, name: str) -> str:
    """A config of a topic that is there; it is one that has a default."""
    known = state.known_configs.get((topic_id, name))
    if known is not None:
        return known
    topic = state.topic_name(topic_id)
    assert topic is not None, "only partitions of topics that are there are asked for"
    configs = state.configs_of(ConfigResource(TOPIC, topic))
    value = _levels(state).effective(TOPIC_CONFIGS[name], configs.get(name)).value
    assert value is not None, f"{name} has a default"
    state.known_configs[topic_id, name] = value
    return value


def has_min_insync_replicas(state: ControllerState, key: PartitionKey, in_sync: int) -> bool:
    """True if so many replicas in sync are as many as the topic wants, as far as it has so many."""
    if in_sync >= int(value_for_topic(state, key.topic_id, "min.insync.replicas")):
        return True
    first = state.partition(PartitionKey(key.topic_id, 0))
    assert first is not None, "partitions are numbered from 0 on"
    return in_sync >= len(first.replicas)


def allows_unclean_election(state: ControllerState, key: PartitionKey) -> bool:
    """True if a topic would rather lose records than be without a leader."""
    value = value_for_topic(state, key.topic_id, "unclean.leader.election.enable")
    return value.lower() == "true"


def min_insync_replicas_of_file(state: ControllerState) -> str:
    """Return what the configuration file says, or Kafka's default."""
    name = "min.insync.replicas"
    return state.settings.static_configs.get(name) or TOPIC_CONFIGS[name].default or "1"


def _known(state: ControllerState) -> dict[str, ResourceConfig]:
    return known(TOPIC_CONFIGS, state.level)


def _levels(state: ControllerState) -> ConfigLevels:
    return ConfigLevels(
        node=state.configs_of(ConfigResource(BROKER, str(state.settings.node_id))),
        cluster=state.configs_of(ConfigResource(BROKER, "")),
        file=state.settings.static_configs,
    )


def _check_together(
    state: ControllerState, configs: Mapping[str, str], before: Mapping[str, str]
) -> None:
    """Check several configs together; those that the topic does not have come from the file."""

    def number(name: str) -> int:
        return int(_from_file(state, name, configs).strip())

    def is_true(name: str) -> bool:
        return _from_file(state, name, configs).strip().lower() == "true"

    least, most = number("min.compaction.lag.ms"), number("max.compaction.lag.ms")
    if least > most:
        raise invalid(
            f"conflict topic config setting min.compaction.lag.ms ({least}) >"
            f" max.compaction.lag.ms ({most})"
        )
    if not is_true("remote.storage.enable"):
        was_remote = before.get("remote.storage.enable", "false").lower() == "true"
        if was_remote and not is_true("remote.log.delete.on.disable"):
            raise invalid(
                "It is invalid to disable remote storage without deleting remote data. If you want"
                " to keep the remote data and turn to read only, please set"
                " `remote.storage.enable=true,remote.log.copy.disable=true`. If you want to disable"
                " remote storage and delete all remote data, please set"
                " `remote.storage.enable=false,remote.log.delete.on.disable=true`."
            )
        return
    system = state.settings.static_configs.get("remote.log.storage.system.enable", "false")
    if system.strip().lower() != "true":
        raise invalid(
            "Tiered Storage functionality is disabled in the broker. Topic cannot be configured"
            " with remote log storage."
        )
    if _from_file(state, "cleanup.policy", configs).strip() not in ("", "delete"):
        raise invalid("Remote log storage is unsupported for the compacted topics")
    for unit in ("bytes", "ms"):
        name = f"local.retention.{unit}"
        whole, local = number(f"retention.{unit}"), number(name)
        if local == _AS_RETENTION:
            continue
        if whole != _UNLIMITED and (local == _UNLIMITED or local > whole):
            raise invalid(f"{name} is larger than retention.{unit}")
        if is_true("remote.log.copy.disable") and local != whole:
            raise invalid(f"remote.log.copy.disable: {name} must be retention.{unit}")


def _from_file(state: ControllerState, name: str, configs: Mapping[str, str]) -> str:
    config = TOPIC_CONFIGS[name]
    if name in configs:
        return configs[name]
    for synonym, unit in config.synonyms:
        value = state.settings.static_configs.get(synonym)
        if value is not None:
            return value if unit == 1 else str(int(value) * unit)
    return config.default or ""
