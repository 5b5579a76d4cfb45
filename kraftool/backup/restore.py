"""The comparison of a backup with a running cluster: the requests that are missing there.

Owns which: what is already there is left alone, so that a restore that was interrupted is
simply run again. It sends nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from fnmatch import fnmatchcase
from typing import Any

from kraftool.decoders.json_marks import Count, Hidden
from kraftool.image.acls import (
    ACL_OPERATIONS,
    ACL_PATTERNS,
    ACL_PERMISSIONS,
    ACL_RESOURCES,
    StandardAcl,
)
from kraftool.image.client_quotas import QuotaEntity
from kraftool.image.configs import BROKER, RESOURCE_TYPES, TOPIC, ConfigResource
from kraftool.image.image import MetadataImage
from kraftool.image.metadata_version import METADATA_VERSION
from kraftool.image.scram import MECHANISMS
from kraftool.image.topics import TopicImage
from kraftool.reports.text.words import many

INTERNAL_TOPICS = frozenset({"__consumer_offsets", "__transaction_state", "__share_group_state"})
"""Brokers create these themselves. What was in them is in no backup."""
_SET = 0
"""The operation of IncrementalAlterConfigs."""


class RestorePart(StrEnum):
    """A part of the metadata that can be restored."""

    TOPICS = "topics"
    CONFIGS = "configs"
    ACLS = "acls"
    QUOTAS = "quotas"


class StepOutcome(StrEnum):
    """The result of a step."""

    UNCHECKED = "unchecked"
    """It was not sent, and nobody was asked about it."""
    POSSIBLE = "possible"
    """The controller would do it."""
    DONE = "done"
    REFUSED = "refused"
    UNKNOWN = "unknown"
    """No answer came."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RestoreStep:
    """Something that is missing, and is sent."""

    part: RestorePart
    subject: str
    outcome: StepOutcome = StepOutcome.UNCHECKED
    reason: str = ""
    """Why it was refused."""
    body: Hidden[Mapping[str, Any]] = field(repr=False)
    """The item of the request."""
    weight: Hidden[int] = 1
    """How much a request with it costs the controller."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NotRestored:
    """Something of the backup that no request brings back."""

    subject: str
    reason: str
    is_difference: bool = False
    """True if the cluster has another value, which stays."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RestoreScope:
    """The things of a backup to restore."""

    parts: Collection[RestorePart] = tuple(RestorePart)
    topics: Collection[str] = ()
    """Patterns of names; all topics without any."""
    replication_factor: int | None = None
    """In place of the number of replicas that each topic had."""
    overwrites: bool = False
    """True if values that the cluster has are replaced."""

    def has_topic(self, name: str) -> bool:
        return not self.topics or any(fnmatchcase(name, pattern) for pattern in self.topics)


@dataclass(frozen=True, slots=True, kw_only=True)
class Restore:
    """The steps of a restore, and what stays as it is."""

    steps: tuple[RestoreStep, ...]
    already_there: Count
    """Topics, configs, ACLs and quotas that the cluster has as the backup has them."""
    not_restored: tuple[NotRestored, ...]


def restore_of(backup: MetadataImage, cluster: MetadataImage, scope: RestoreScope) -> Restore:
    """Compare a backup with the cluster that it is restored into."""
    planner = _Planner(backup, cluster, scope)
    for part, plan in (
        (RestorePart.TOPICS, planner.topics),
        (RestorePart.CONFIGS, planner.configs),
        (RestorePart.QUOTAS, planner.quotas),
        (RestorePart.ACLS, planner.acls),
    ):
        if part in scope.parts:
            plan()
    planner.impossible()
    return Restore(
        steps=tuple(planner.steps),
        already_there=planner.already_there,
        not_restored=tuple(planner.not_restored),
    )


class _Planner:
    """Collects the steps."""

    def __init__(self, backup: MetadataImage, cluster: MetadataImage, scope: RestoreScope) -> None:
        self._backup, self._cluster, self._scope = backup, cluster, scope
        self.steps: list[RestoreStep] = []
        self.not_restored: list[NotRestored] = []
        self.already_there = 0

    def topics(self) -> None:
        """Topics with their configs."""
        for name, topic in sorted(self._backup.topics.by_name.items()):
            if not self._scope.has_topic(name):
                continue
            if name in INTERNAL_TOPICS:
                reason = "the brokers create it themselves"
                self.not_restored.append(NotRestored(subject=f"topic {name}", reason=reason))
                continue
            there = self._cluster.topics.by_name.get(name)
            if there is None:
                self.steps.append(self._new_topic(topic))
            elif len(there.partitions) != len(topic.partitions):
                has, had = len(there.partitions), len(topic.partitions)
                reason = f"it is there with {many(has, 'partition')}, and had {had}"
                self._differs(f"topic {name}", reason)
            else:
                self.already_there += 1

    def _new_topic(self, topic: TopicImage) -> RestoreStep:
        count = len(topic.partitions)
        factor = self._scope.replication_factor
        if factor is None:
            factor = max(len(one.replicas) for one in topic.partitions.values())
        configs = self._backup.configs.resources.get(ConfigResource(TOPIC, topic.name), {})
        words = [many(count, "partition"), f"replication factor {factor}"]
        words += [many(len(configs), "config")] if configs else []
        return RestoreStep(
            part=RestorePart.TOPICS,
            subject=f"topic {topic.name}: {', '.join(words)}",
            weight=count,
            body={
                "name": topic.name,
                "numPartitions": count,
                "replicationFactor": factor,
                "assignments": [],
                "configs": [{"name": name, "value": value} for name, value in configs.items()],
            },
        )

    def configs(self) -> None:
        """Configs of everything; those of a new topic come with it."""
        for resource, configs in sorted(self._backup.configs.resources.items()):
            subject = f"configs of {_resource_words(resource)}"
            there = self._cluster.configs.resources.get(resource, {})
            if resource.type == TOPIC:
                if not self._scope.has_topic(resource.name):
                    continue
                if resource.name not in self._cluster.topics.by_name:
                    if RestorePart.TOPICS not in self._scope.parts:
                        self.not_restored.append(
                            NotRestored(subject=subject, reason="there is no such topic")
                        )
                    continue
            if resource.type == BROKER and resource.name and not self._has_broker(resource.name):
                reason = f"broker {resource.name} is not registered"
                self.not_restored.append(NotRestored(subject=subject, reason=reason))
                continue
            self._set(resource, {**configs}, there, subject)

    def _has_broker(self, name: str) -> bool:
        return name.isdecimal() and int(name) in self._cluster.cluster.brokers

    def _set(
        self,
        resource: ConfigResource,
        configs: Mapping[str, str],
        there: Mapping[str, str],
        subject: str,
    ) -> None:
        wanted = {}
        for name, value in configs.items():
            if there.get(name) == value:
                self.already_there += 1
            elif name in there and not self._scope.overwrites:
                self._differs(f"{subject}: {name}", "it has another value")
            else:
                wanted[name] = value
        if wanted:
            settings = [
                {"name": name, "configOperation": _SET, "value": value}
                for name, value in wanted.items()
            ]
            self.steps.append(
                RestoreStep(
                    part=RestorePart.CONFIGS,
                    subject=f"{subject}: {', '.join(wanted)}",
                    body={
                        "resourceType": resource.type,
                        "resourceName": resource.name,
                        "configs": settings,
                    },
                )
            )

    def quotas(self) -> None:
        """Client quotas."""
        for entity, quotas in self._backup.client_quotas.entities.items():
            there = self._cluster.client_quotas.entities.get(entity, {})
            subject = f"quotas of {_entity_words(entity)}"
            wanted = {}
            for key, value in quotas.items():
                if there.get(key) == value:
                    self.already_there += 1
                elif key in there and not self._scope.overwrites:
                    self._differs(f"{subject}: {key}", f"it is {there[key]:g}, and was {value:g}")
                else:
                    wanted[key] = value
            if wanted:
                parts = [{"entityType": kind, "entityName": name} for kind, name in entity]
                changes = [
                    {"key": key, "value": value, "remove": False} for key, value in wanted.items()
                ]
                self.steps.append(
                    RestoreStep(
                        part=RestorePart.QUOTAS,
                        subject=f"{subject}: {', '.join(wanted)}",
                        body={"entity": parts, "ops": changes},
                    )
                )

    def acls(self) -> None:
        """ACLs. Their ids are new."""
        there = set(self._cluster.acls.by_id.values())
        for acl in sorted(set(self._backup.acls.by_id.values())):
            if acl in there:
                self.already_there += 1
                continue
            self.steps.append(
                RestoreStep(
                    part=RestorePart.ACLS,
                    subject=f"ACL {_acl_words(acl)}",
                    body={
                        "resourceType": acl.resource_type,
                        "resourceName": acl.resource_name,
                        "resourcePatternType": acl.pattern_type,
                        "principal": acl.principal,
                        "host": acl.host,
                        "operation": acl.operation,
                        "permissionType": acl.permission_type,
                    },
                )
            )

    def impossible(self) -> None:
        """Take note of what has no request that makes it again."""
        self.not_restored += _impossible(self._backup, self._cluster)

    def _differs(self, subject: str, reason: str) -> None:
        self.not_restored.append(NotRestored(subject=subject, reason=reason, is_difference=True))


def _impossible(backup: MetadataImage, cluster: MetadataImage) -> Iterator[NotRestored]:
    for mechanism, users in sorted(backup.scram.mechanisms.items()):
        there = cluster.scram.mechanisms.get(mechanism, {})
        for user in sorted(set(users) - set(there)):
            yield NotRestored(
                subject=f"{MECHANISMS.get(mechanism, mechanism)} user {user}",
                reason="no request takes the keys of a password; kraftool format --scram-from"
                " writes them when a cluster is made",
            )
    if backup.delegation_tokens.tokens:
        yield NotRestored(
            subject=many(len(backup.delegation_tokens.tokens), "delegation token"),
            reason="a cluster gives new tokens: the clients have to ask for them",
        )
    levels = {**cluster.features.finalized, METADATA_VERSION: cluster.features.metadata_version}
    had = {**backup.features.finalized, METADATA_VERSION: backup.features.metadata_version}
    for name, level in sorted(had.items()):
        if level != levels.get(name):
            yield NotRestored(
                subject=f"{name} {level}",
                reason=f"the cluster has {levels.get(name) or 'no level'}; kafka-features sets it",
            )


def _resource_words(resource: ConfigResource) -> str:
    kind = RESOURCE_TYPES.get(resource.type, str(resource.type)).lower().replace("_", " ")
    return f"{kind} {resource.name}" if resource.name else f"all {kind}s"


def _entity_words(entity: QuotaEntity) -> str:
    return ", ".join(f"{kind} {'(default)' if name is None else name}" for kind, name in entity)


def _acl_words(acl: StandardAcl) -> str:
    pattern = "" if ACL_PATTERNS[acl.pattern_type] == "LITERAL" else " (prefixed)"
    return (
        f"{ACL_PERMISSIONS[acl.permission_type]} {acl.principal} {ACL_OPERATIONS[acl.operation]} on"
        f" {ACL_RESOURCES[acl.resource_type]} {acl.resource_name}{pattern} from {acl.host}"
    )
