"""The state on which an active controller decides: all that it has appended, committed or not.

Owns the questions that several requests ask of that state, and keeps the index of partitions equal
to it. It begins as a fork of the image that a claim finds; an active controller that stops being
one drops it, and what was never committed with it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set

from kraftool.controller.partition_index import PartitionIndex, PartitionKey
from kraftool.controller.refused import RequestRefused
from kraftool.controller.settings import ControllerSettings
from kraftool.decoders.error_codes import Error
from kraftool.image.acls import StandardAcl
from kraftool.image.client_quotas import QuotaEntity
from kraftool.image.cluster import BrokerRegistration, ControllerRegistration
from kraftool.image.configs import ConfigResource
from kraftool.image.delegation_tokens import DelegationToken
from kraftool.image.delta import MetadataDelta
from kraftool.image.image import MetadataImage
from kraftool.image.metadata_version import ELR_VERSION, METADATA_VERSION
from kraftool.image.replay import RecordValue
from kraftool.image.topics import PartitionOf, PartitionRegistration, TopicImage
from kraftool.image.uuids import LOST, MIGRATING, UNASSIGNED


class ControllerState:
    """The newest state, with what a decision asks of it."""

    def __init__(
        self,
        image: MetadataImage,
        settings: ControllerSettings,
        *,
        registered_at: Mapping[int, int],
        partitions: PartitionIndex | None = None,
    ) -> None:
        """`registered_at`: the offset of each broker's RegisterBrokerRecord, or a later one.
        `partitions`: the index of the image's, if it has been made already."""
        self._delta = MetadataDelta(image)
        self.partitions = partitions or PartitionIndex.of(image.topics)
        self.metadata_version = image.features.metadata_version
        """None before the first one is written."""
        self.feature_levels = dict(image.features.finalized)
        self.next_producer_id = max(image.producer_ids.next_producer_id, 0)
        self._registered_at = {
            broker_id: registered_at.get(broker_id, image.provenance.last_offset)
            for broker_id in image.cluster.brokers
        }
        self.settings = settings
        self.known_configs: dict[tuple[str, str], str] = {}
        """What configs of topics come to, by topic id and config: partitions ask one by one."""
        self._active: dict[int, bool] = {}
        self._default_directories: dict[int, str] = {}
        """Of brokers, for partitions, which ask one by one."""
        self._acls: set[StandardAcl] | None = None
        """The ACLs without their ids; None until somebody asks, and after a removal."""
        self._similar_names: dict[str, set[str]] = {}
        for name in image.topics.by_name:
            self._note_name(name)

    # What records do to it

    def replay(self, offset: int, name: str, value: RecordValue) -> None:
        """Apply a record that the controller appends. Raises ReplayError where it does not fit."""
        topics = self._delta.topics
        match name:
            case "PartitionRecord" | "PartitionChangeRecord":
                key = PartitionKey(value["topicId"], value["partitionId"])
                before = topics.partition(*key)
                self._delta.replay(name, value)
                self.partitions.change(key, before, topics.partition(*key))
                return
            case "RemoveTopicRecord":
                topic_id = value["topicId"]
                removed = dict(topics.partitions(topic_id))
                self._forget_name(topics.name_of(topic_id))
                self._delta.replay(name, value)
                for number, partition in removed.items():
                    self.partitions.change(PartitionKey(topic_id, number), partition, None)
            case "ClearElrRecord":
                cleared = {
                    PartitionKey(topic_id, number): topics.partition(topic_id, number)
                    for topic_id, numbers in topics.with_elr(value["topicName"]).items()
                    for number in numbers
                }
                self._delta.replay(name, value)
                for key, before in cleared.items():
                    self.partitions.change(key, before, topics.partition(*key))
            case _:
                self._delta.replay(name, value)
        self._active.clear()
        self._default_directories.clear()
        match name:
            case "ConfigRecord" | "RemoveTopicRecord":
                self.known_configs.clear()
            case "RegisterBrokerRecord":
                self._registered_at[value["brokerId"]] = offset
            case "UnregisterBrokerRecord":
                self._registered_at.pop(value["brokerId"], None)
            case "TopicRecord":
                self._note_name(value["name"])
            case "ProducerIdsRecord":
                self.next_producer_id = value["nextProducerId"]
            case "AccessControlEntryRecord":
                acl = self._delta.acls.get(value["id"])
                if self._acls is not None and acl is not None:
                    self._acls.add(acl)
            case "RemoveAccessControlEntryRecord":
                self._acls = None
            case "FeatureLevelRecord":
                features = self._delta.features.apply()
                self.metadata_version = features.metadata_version
                self.feature_levels = dict(features.finalized)

    # Features

    @property
    def level(self) -> int:
        """metadata.version; a controller that has activated itself has one."""
        assert self.metadata_version is not None, "activation writes it"
        return self.metadata_version

    @property
    def is_elr_enabled(self) -> bool:
        return self.feature_levels.get(ELR_VERSION, 0) > 0

    def finalized(self) -> dict[str, int]:
        return {**self.feature_levels, METADATA_VERSION: self.level}

    # Brokers

    def broker(self, broker_id: int) -> BrokerRegistration | None:
        return self._delta.cluster.brokers.get(broker_id)

    def brokers(self) -> Iterator[BrokerRegistration]:
        brokers = self._delta.cluster.brokers
        yield from filter(None, map(brokers.get, brokers.keys()))

    def controller(self, node_id: int) -> ControllerRegistration | None:
        return self._delta.cluster.controllers.get(node_id)

    def controllers(self) -> Iterator[ControllerRegistration]:
        controllers = self._delta.cluster.controllers
        yield from filter(None, map(controllers.get, controllers.keys()))

    def registered_at(self, broker_id: int) -> int | None:
        """The offset that a broker must have read to have seen its own registration."""
        return self._registered_at.get(broker_id)

    def is_active(self, broker_id: int) -> bool:
        """Registered, not fenced, and not about to shut down."""
        is_active = self._active.get(broker_id)
        if is_active is None:
            broker = self.broker(broker_id)
            is_active = self._active[broker_id] = (
                broker is not None and not broker.fenced and not broker.in_controlled_shutdown
            )
        return is_active

    def check_broker_epoch(self, broker_id: int, epoch: int) -> BrokerRegistration:
        broker = self.broker(broker_id)
        if broker is None:
            raise RequestRefused(Error.STALE_BROKER_EPOCH, f"broker {broker_id} is not registered")
        if broker.epoch != epoch:
            raise RequestRefused(
                Error.STALE_BROKER_EPOCH,
                f"broker {broker_id} is registered with epoch {broker.epoch}, not {epoch}",
            )
        return broker

    # Directories

    def has_online_directory(self, broker_id: int, directory: str) -> bool:
        """True if a replica in that directory of a broker can be read."""
        broker = self.broker(broker_id)
        if broker is None or directory == LOST:
            return False
        if directory in (UNASSIGNED, MIGRATING) or not broker.directories:
            return True
        return directory in broker.directories

    def default_directory(self, broker_id: int) -> str:
        """Return where a new replica is placed on a broker; one with several decides for itself."""
        directory = self._default_directories.get(broker_id)
        if directory is None:
            directory = self._default_directories[broker_id] = self._default_directory(broker_id)
        return directory

    def _default_directory(self, broker_id: int) -> str:
        broker = self.broker(broker_id)
        if broker is None:
            return UNASSIGNED
        match broker.directories:
            case ():
                return MIGRATING
            case (only,):
                return only
        return UNASSIGNED

    # Topics

    def topic_id(self, name: str) -> str | None:
        return self._delta.topics.id_of(name)

    def topic_name(self, topic_id: str) -> str | None:
        return self._delta.topics.name_of(topic_id)

    def topics(self) -> Iterator[TopicImage]:
        """All topics, each as it is now."""
        topics = self._delta.topics
        for topic_id in topics.ids():
            name = topics.name_of(topic_id)
            assert name is not None, "the ids are those of topics that are there"
            yield TopicImage(name=name, id=topic_id, partitions=topics.partitions(topic_id))

    def partitions_of(self, topic_id: str) -> Mapping[int, PartitionRegistration]:
        return self._delta.topics.partitions(topic_id)

    @property
    def partition_of(self) -> PartitionOf:
        """The function by which another state finds the partitions that are in both."""
        return self._delta.topics.partition

    def partition(self, key: PartitionKey) -> PartitionRegistration | None:
        return self._delta.topics.partition(*key)

    def similar_name(self, name: str) -> str | None:
        """A topic whose name is the same one to the names of metrics: `.` and `_` are one there."""
        names = self._similar_names.get(_without_dots(name))
        return min(names) if names else None

    def _note_name(self, name: str) -> None:
        if has_ambiguous_characters(name):
            self._similar_names.setdefault(_without_dots(name), set()).add(name)

    def _forget_name(self, name: str | None) -> None:
        if name is not None and has_ambiguous_characters(name):
            self._similar_names[_without_dots(name)].discard(name)

    # Configs

    def configs_of(self, resource: ConfigResource) -> Mapping[str, str]:
        return self._delta.configs.of(resource)

    def resources(self, resource_type: int) -> Iterator[ConfigResource]:
        """Those of a type that have configs."""
        for resource in self._delta.configs.resources():
            if resource.type == resource_type:
                yield resource

    # Tokens and quotas

    def token(self, token_id: str) -> DelegationToken | None:
        return self._delta.delegation_tokens.token_of(token_id)

    def tokens(self) -> Iterator[DelegationToken]:
        yield from self._delta.delegation_tokens.tokens()

    def quotas_of(self, entity: QuotaEntity) -> Mapping[str, float]:
        return self._delta.client_quotas.of(entity)

    # ACLs and SCRAM users

    def acl(self, entry_id: str) -> StandardAcl | None:
        return self._delta.acls.get(entry_id)

    def acls(self) -> Iterator[tuple[str, StandardAcl]]:
        """All ACLs, with their ids."""
        return self._delta.acls.entries()

    def distinct_acls(self) -> Set[StandardAcl]:
        """Return the ACLs without their ids: nobody needs one twice."""
        if self._acls is None:
            self._acls = {acl for _, acl in self.acls()}
        return self._acls

    def has_scram_credential(self, mechanism: int, user: str) -> bool:
        return self._delta.scram.has(mechanism, user)


def has_ambiguous_characters(name: str) -> bool:
    """True if a name of a topic has one of the two characters that metrics make one."""
    return "." in name or "_" in name


def _without_dots(name: str) -> str:
    return name.replace(".", "_")
