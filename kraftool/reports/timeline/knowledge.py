"""The knowledge from one line of the log so far: leader, voters, features, registrations, topics.

Owns the state that a record is compared with to say what changed. A line of the log is forked where
nodes disagree, so all of it can be copied. It refuses to make events; see `quorum.py`,
`registrations.py` and `partitions.py`.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, field
from typing import Any

from kraftool.image.client_quotas import QuotaEntity
from kraftool.reports.timeline.events import Event


@dataclass(slots=True)
class Registered:
    """The last that was told of a broker or controller."""

    data: dict[str, Any]
    fenced: bool = False
    fenced_at: int | None = None
    in_controlled_shutdown: bool = False
    directories: tuple[str, ...] = ()
    cordoned: tuple[str, ...] | None = None


@dataclass(slots=True)
class TransactionInProgress:
    """A metadata transaction that has begun, and what is to be put back if it is aborted."""

    offset: int
    name: str | None
    before: Metadata
    timestamp: int
    controls: int = 0


@dataclass(slots=True)
class Metadata:
    """The knowledge that an aborted transaction takes back."""

    features: dict[str, int] = field(default_factory=dict)
    brokers: dict[int, Registered] = field(default_factory=dict)
    controllers: dict[int, Registered] = field(default_factory=dict)
    configs: dict[tuple[int, str], dict[str, str]] = field(default_factory=dict)
    """Values as they may be shown, by name, of each resource; replaced, never changed."""
    quotas: dict[tuple[QuotaEntity, str], float] = field(default_factory=dict)
    acls: dict[str, dict[str, Any]] = field(default_factory=dict)
    """The records that added ACLs, by id."""
    users: set[tuple[str, str]] = field(default_factory=set)
    """Users with a SCRAM credential, and its mechanism."""
    tokens: dict[str, str] = field(default_factory=dict)
    """Owners of delegation tokens, by token id."""
    topics_created: int = 0
    topics_deleted: int = 0
    partitions_created: int = 0

    def copied(self) -> Metadata:
        return Metadata(
            features=dict(self.features),
            brokers={id: copy(broker) for id, broker in self.brokers.items()},
            controllers={id: copy(controller) for id, controller in self.controllers.items()},
            configs=dict(self.configs),
            quotas=dict(self.quotas),
            acls=dict(self.acls),
            users=set(self.users),
            tokens=dict(self.tokens),
            topics_created=self.topics_created,
            topics_deleted=self.topics_deleted,
            partitions_created=self.partitions_created,
        )


@dataclass(slots=True)
class Leadership:
    """The last LeaderChange that was met."""

    leader: int
    epoch: int
    offset: int
    timestamp: int


@dataclass(slots=True)
class Knowledge:
    """All that is known of one line of the log."""

    from_start: bool = True
    """True if nothing lies before the first record that was told."""
    metadata: Metadata = field(default_factory=Metadata)
    topics: dict[str, str] = field(default_factory=dict)
    """Names by id, of deleted topics too: they name partitions whatever became of the topic."""
    new_topics: set[str] = field(default_factory=set)
    """Names of the topics that the batch at hand has created."""
    kraft_version: int | None = None
    voters: dict[int, dict[str, Any]] | None = None
    leadership: Leadership | None = None
    transaction: TransactionInProgress | None = None
    last_epoch: int | None = None
    last_timestamp: int | None = None
    first_timestamp: int | None = None
    first_offset: int | None = None
    last_offset: int = -1
    idle_in_epoch: int = 0
    """Idle records of the current epoch so far."""
    idle_wait_ms: int = 0
    """The longest time between two idle records of the epoch, gaps aside."""
    last_idle: int | None = None
    """When the last idle record of the epoch was written."""
    pending: list[Event] = field(default_factory=list)
    """Events of the open transaction, which become visible or not with its end."""

    def forked(self) -> Knowledge:
        """The same knowledge, for a log that goes another way from here."""
        other = copy(self)
        other.metadata = self.metadata.copied()
        other.topics = dict(self.topics)
        other.pending = list(self.pending)
        other.transaction = copy(self.transaction)
        other.leadership = copy(self.leadership)
        return other

    def topic(self, topic_id: str) -> str:
        return self.topics.get(topic_id, topic_id)
