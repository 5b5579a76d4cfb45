"""The controller's part of a node's configuration, with Kafka's defaults."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from kraftool.image.replay import WrittenRecord

_DAY_MS = 24 * 3_600_000


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenSettings:
    """The settings of delegation tokens."""

    secret_key: str | None = field(default=None, repr=False)
    """delegation.token.secret.key; None: there are no tokens."""
    max_lifetime_ms: int = 7 * _DAY_MS
    expiry_ms: int = _DAY_MS
    """A token ends after this, unless it is renewed."""
    check_ms: int = 3_600_000
    """How often tokens that are over are removed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ControllerSettings:
    """One node's settings, which do not change while it runs."""

    node_id: int
    cluster_id: str
    bootstrap: tuple[WrittenRecord, ...]
    """What the first active controller of a cluster writes: the levels of features first."""
    features: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    """The levels of features that the node supports."""
    static_voters: frozenset[int] = frozenset()
    """controller.quorum.voters, if the quorum has no others."""
    default_replication_factor: int = 1
    default_partitions: int = 1
    session_timeout_ms: int = 9000
    max_idle_ms: int | None = 500
    """How often a NoOpRecord is written; None: never."""
    leader_imbalance_check_ms: int | None = 300_000
    """How often leadership goes back to preferred replicas; None: never."""
    unclean_election_check_ms: int = 300_000
    quota_windows: int = 11
    quota_window_s: int = 1
    """Both together: for so long a controller_mutation_rate may be saved up."""
    tokens: TokenSettings = field(default_factory=TokenSettings)
    static_configs: Mapping[str, str] = field(default_factory=dict)
    """The configuration file's keys, which topics take their defaults from."""
    max_batch_records: int = 10_000
    most_records_at_once: int = 1_000
    """After so many records of one decision they are appended before it goes on, unless they must
    stay in one batch: followers replicate the first ones while the others are worked out."""
