"""The source of a config's value: the resource, this node, the cluster, the file, a default."""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum
from typing import NamedTuple

from kraftool.decoders.java_text import read_int64
from kraftool.decoders.schema.resource_configs import ResourceConfig


class ConfigSource(IntEnum):
    """The source of a value, as Kafka numbers it in answers."""

    TOPIC = 1
    NODE = 2
    CLUSTER = 3
    FILE = 4
    DEFAULT = 5
    CLIENT_METRICS = 7
    GROUP = 8


class Effective(NamedTuple):
    """The value of a config, and its source."""

    value: str | None
    source: ConfigSource


class ConfigLevels(NamedTuple):
    """The configs of nodes, in the order in which a value is looked for."""

    node: Mapping[str, str]
    """The dynamic configs of this node."""
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
                    return Effective(_times(value, unit), source)
        return Effective(config.default, ConfigSource.DEFAULT)


def _times(value: str, unit: int) -> str:
    """Return a number in another unit; a text that is not a number stays as it is."""
    number = None if unit == 1 else read_int64(value.strip())
    return value if number is None else str(number * unit)
