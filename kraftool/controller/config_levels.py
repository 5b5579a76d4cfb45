"""Where a config's value comes from: the resource, this node, the cluster, the file, a default."""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum
from typing import NamedTuple

from kraftool.decoders.schema.resource_configs import ResourceConfig


class ConfigSource(IntEnum):
    """Where a value came from, as Kafka numbers it in answers."""

    TOPIC = 1
    NODE = 2
    CLUSTER = 3
    FILE = 4
    DEFAULT = 5
    CLIENT_METRICS = 7
    GROUP = 8


class Effective(NamedTuple):
    """What a config comes to."""

    value: str | None
    source: ConfigSource


class ConfigLevels(NamedTuple):
    """The configs of nodes, in the order in which a value is looked for."""

    node: Mapping[str, str]
    """This node's dynamic ones."""
    cluster: Mapping[str, str]
    file: Mapping[str, str]

    def effective(self, config: ResourceConfig, own: str | None) -> Effective:
        """Return the value of a topic's or group's config. `own`: the resource's own value."""
        if own is not None:
            return Effective(own, ConfigSource.TOPIC)
        for source, configs in (
            (ConfigSource.NODE, self.node),
            (ConfigSource.CLUSTER, self.cluster),
            (ConfigSource.FILE, self.file),
        ):
            for synonym, unit in config.synonyms:
                value = configs.get(synonym)
                if value is not None:
                    converted = value if unit == 1 else str(int(value) * unit)
                    return Effective(converted, source)
        return Effective(config.default, ConfigSource.DEFAULT)
