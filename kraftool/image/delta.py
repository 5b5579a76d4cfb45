"""Changes to all aspects: hands each record to the aspect that replays it.

Owns the dispatch and what concerns two aspects at once. It refuses transaction records, which are
the loader's.
"""

from __future__ import annotations

from kraftool.image.acls import AclsDelta
from kraftool.image.client_quotas import ClientQuotasDelta
from kraftool.image.cluster import ClusterDelta
from kraftool.image.configs import ConfigurationsDelta
from kraftool.image.delegation_tokens import DelegationTokenDelta
from kraftool.image.features import FeaturesDelta
from kraftool.image.image import MetadataImage, Provenance
from kraftool.image.producer_ids import ProducerIdsDelta
from kraftool.image.replay import RecordValue, Replayer, ReplayError, replayers, replays
from kraftool.image.scram import ScramDelta
from kraftool.image.seen import SeenChanges
from kraftool.image.topics import TopicsDelta


class MetadataDelta:
    """An image in the making. After `apply` it is not to be used again."""

    def __init__(self, image: MetadataImage) -> None:
        self.features = FeaturesDelta(image.features)
        self.cluster = ClusterDelta(image.cluster)
        self.topics = TopicsDelta(image.topics)
        self.configs = ConfigurationsDelta(image.configs)
        self.client_quotas = ClientQuotasDelta(image.client_quotas)
        self.producer_ids = ProducerIdsDelta(image.producer_ids)
        self.acls = AclsDelta(image.acls)
        self.scram = ScramDelta(image.scram)
        self.delegation_tokens = DelegationTokenDelta(image.delegation_tokens)

    def replayers(self) -> dict[str, Replayer]:
        """The method that replays each record. The delta does not keep them: methods of its own
        would keep it, and the image before, until Python looks for cycles."""
        return {name: self._replayer(*place) for name, place in _PLACES.items()}

    def replay(self, name: str, record: RecordValue) -> None:
        """Apply a record. Raises ReplayError, and has changed nothing, where it does not fit."""
        place = _PLACES.get(name)
        if place is None:
            raise ReplayError(f"no image holds a {name}")
        self._replayer(*place)(record)

    def _replayer(self, aspect: str, method: str) -> Replayer:
        replayer: Replayer = getattr(getattr(self, aspect) if aspect else self, method)
        return replayer

    def watch(self, seen: SeenChanges) -> None:
        """Put what records change from now on into `seen`."""
        self.topics.seen = self.configs.seen = seen

    @replays("RemoveTopicRecord")
    def remove_topic(self, record: RecordValue) -> None:
        name = self.topics.name_of(record["topicId"])
        self.topics.remove_topic(record)
        if name is not None:
            self.configs.forget_topic(name)

    @replays("NoOpRecord")
    def nothing(self, record: RecordValue) -> None:
        """It changes nothing but the offset."""

    def apply(self, provenance: Provenance) -> MetadataImage:
        return MetadataImage(
            provenance=provenance,
            features=self.features.apply(),
            cluster=self.cluster.apply(),
            topics=self.topics.apply(),
            configs=self.configs.apply(),
            client_quotas=self.client_quotas.apply(),
            producer_ids=self.producer_ids.apply(),
            acls=self.acls.apply(),
            scram=self.scram.apply(),
            delegation_tokens=self.delegation_tokens.apply(),
        )


_ASPECTS: dict[str, type] = {
    "features": FeaturesDelta,
    "cluster": ClusterDelta,
    "topics": TopicsDelta,
    "configs": ConfigurationsDelta,
    "client_quotas": ClientQuotasDelta,
    "producer_ids": ProducerIdsDelta,
    "acls": AclsDelta,
    "scram": ScramDelta,
    "delegation_tokens": DelegationTokenDelta,
    "": MetadataDelta,
}
_PLACES = {
    name: (aspect, method) for aspect, kind in _ASPECTS.items() for name, method in replayers(kind)
}
"""The aspect that replays each record, and its method. What concerns two aspects at once comes
last, and so is taken before what one of them would do."""
REPLAYED = frozenset(_PLACES)
"""The names of all records that can be replayed."""
