"""The weight of a request: about how many partitions its decision looks at."""

from __future__ import annotations

from typing import Any

from kraftool.controller.heartbeats import Heartbeats
from kraftool.controller.settings import ControllerSettings

LIGHT = 300
"""Partitions that a turn decides on in about ten milliseconds."""


def weight(
    api: str, body: dict[str, Any], heartbeats: Heartbeats, settings: ControllerSettings
) -> int:
    """Return the number of partitions of a request; too many if it does not say how many."""
    match api:
        case "BrokerHeartbeat" if heartbeats.is_steady(body):
            return 1
        case "AllocateProducerIds":
            return 1
        case "CreateTopics":
            usual = settings.default_partitions
            return sum(
                max(topic["numPartitions"], len(topic["assignments"]), usual)
                + len(topic["configs"])
                for topic in body["topics"]
            )
        case "AlterPartition" | "AlterPartitionReassignments":
            return sum(len(topic["partitions"]) for topic in body["topics"])
    return LIGHT + 1
