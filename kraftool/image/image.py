"""The image: all aspects at one offset, and where in the log that is."""

from __future__ import annotations

from dataclasses import dataclass, field

from kraftool.decoders.json_marks import Moment, in_json_before
from kraftool.image.acls import AclsImage
from kraftool.image.client_quotas import ClientQuotasImage
from kraftool.image.cluster import ClusterImage
from kraftool.image.configs import ConfigurationsImage
from kraftool.image.delegation_tokens import DelegationTokenImage
from kraftool.image.features import FeaturesImage
from kraftool.image.producer_ids import ProducerIdsImage
from kraftool.image.scram import ScramImage
from kraftool.image.topics import TopicsImage


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """Up to where a state goes."""

    last_offset: int = -1
    """-1 before the first record."""
    last_epoch: int = -1
    last_timestamp: Moment = -1
    """When the leader appended that record's batch."""

    @property
    @in_json_before("last_offset")
    def offset(self) -> int:
        """The state has seen the records below this offset; its snapshot would have this name."""
        return self.last_offset + 1


@dataclass(frozen=True, slots=True, kw_only=True)
class MetadataImage:
    """The metadata of the cluster, at one offset."""

    provenance: Provenance = field(default_factory=Provenance)
    features: FeaturesImage = field(default_factory=FeaturesImage)
    cluster: ClusterImage = field(default_factory=ClusterImage)
    topics: TopicsImage = field(default_factory=TopicsImage)
    configs: ConfigurationsImage = field(default_factory=ConfigurationsImage)
    client_quotas: ClientQuotasImage = field(default_factory=ClientQuotasImage)
    producer_ids: ProducerIdsImage = field(default_factory=ProducerIdsImage)
    acls: AclsImage = field(default_factory=AclsImage)
    scram: ScramImage = field(default_factory=ScramImage)
    delegation_tokens: DelegationTokenImage = field(default_factory=DelegationTokenImage)


EMPTY = MetadataImage()
