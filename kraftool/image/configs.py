"""Dynamic configs, by resource.

A null value deletes a key, the last key its resource. Kafka skips keys that its version does not
know; here they are kept, since an inspection should show what is there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from kraftool.image.overlay import Overlay
from kraftool.image.replay import RecordValue, WrittenRecord, replays
from kraftool.image.seen import SeenChanges

TOPIC, BROKER, BROKER_LOGGER, CLIENT_METRICS, GROUP = 2, 4, 8, 16, 32
RESOURCE_TYPES = {
    TOPIC: "TOPIC",
    BROKER: "BROKER",
    BROKER_LOGGER: "BROKER_LOGGER",
    CLIENT_METRICS: "CLIENT_METRICS",
    GROUP: "GROUP",
}


class ConfigResource(NamedTuple):
    """The resource that configs belong to; an empty name is the default of the type."""

    type: int
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigurationsImage:
    """The configs of every resource that has any."""

    resources: Mapping[ConfigResource, Mapping[str, str]] = field(default_factory=dict)

    def records(self) -> Iterator[WrittenRecord]:
        for resource, configs in self.resources.items():
            for name, value in configs.items():
                yield (
                    "ConfigRecord",
                    0,
                    {
                        "resourceType": resource.type,
                        "resourceName": resource.name,
                        "name": name,
                        "value": value,
                    },
                )


class ConfigurationsDelta:
    """Changes to the configs."""

    def __init__(self, image: ConfigurationsImage) -> None:
        self.seen: SeenChanges | None = None
        """Takes each change, if a caller wants them."""
        self._image = image
        self._resources = Overlay(image.resources)

    def of(self, resource: ConfigResource) -> Mapping[str, str]:
        """The configs of a resource as they are now."""
        return self._resources.get(resource) or {}

    def resources(self) -> Iterable[ConfigResource]:
        """Those that have configs now."""
        return self._resources.keys()

    @replays("ConfigRecord")
    def config(self, record: RecordValue) -> None:
        resource = ConfigResource(record["resourceType"], record["resourceName"])
        configs = dict(self._resources.get(resource) or {})
        if record["value"] is None:
            configs.pop(record["name"], None)
        else:
            configs[record["name"]] = record["value"]
        if configs:
            self._resources.set(resource, configs)
        else:
            self._resources.remove(resource)
        if self.seen is not None:
            is_set = record["value"] is not None
            self.seen.configs.append((resource, record["name"], is_set, configs))

    def forget_topic(self, name: str) -> None:
        """A removed topic takes its configs with it; no record says so."""
        self._resources.remove(ConfigResource(TOPIC, name))

    def apply(self) -> ConfigurationsImage:
        if not self._resources.is_changed:
            return self._image
        return ConfigurationsImage(resources=self._resources.result())
