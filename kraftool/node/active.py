"""The parts that a node has in addition to a standby's if it can be the active controller.

Owns what its configuration and its directory say to a controller.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

from kraftool.controller.settings import ControllerSettings, TokenSettings
from kraftool.node.bootstrap import bootstrap_records
from kraftool.node.config import NodeConfig
from kraftool.node.controlling import Controlling
from kraftool.node.identity import NodeIdentity
from kraftool.node.machine import ImageMachine
from kraftool.node.peers import Peers
from kraftool.node.runner import Runner
from kraftool.node.serving import served
from kraftool.node.standby import supported_features
from kraftool.raft.settings import SUPPORTED_KRAFT_VERSION
from kraftool.storage.metadata_log import MetadataLog


def controller_of(
    config: NodeConfig,
    identity: NodeIdentity,
    log: MetadataLog,
    runner: Runner,
    machine: ImageMachine,
    peers: Peers,
) -> Controlling:
    """Return what runs the active controller while this node leads. If it fails, a voter that can
    do more than this one is asked first to take over: a Kafka, most often.
    """
    return Controlling(
        runner,
        machine,
        _settings(config, identity, log),
        successors=partial(peers.offering_more, served(with_controller=True)),
    )


def _settings(config: NodeConfig, identity: NodeIdentity, log: MetadataLog) -> ControllerSettings:
    """Return what the configuration and the directory say to a controller."""
    given = config.controller
    return ControllerSettings(
        node_id=identity.node_id,
        cluster_id=identity.cluster_id,
        bootstrap=bootstrap_records(Path(config.metadata_directory), log),
        features=supported_features(SUPPORTED_KRAFT_VERSION),
        static_voters=frozenset(voter.key.id for voter in config.static_voters),
        default_replication_factor=given.default_replication_factor,
        default_partitions=given.default_partitions,
        session_timeout_ms=given.session_timeout_ms,
        max_idle_ms=config.max_idle_interval_ms or None,
        leader_imbalance_check_ms=given.leader_imbalance_check_ms,
        unclean_election_check_ms=given.unclean_election_check_ms,
        quota_windows=given.quota_windows,
        quota_window_s=given.quota_window_s,
        tokens=TokenSettings(
            secret_key=given.token_secret_key,
            max_lifetime_ms=given.token_max_lifetime_ms,
            expiry_ms=given.token_expiry_ms,
            check_ms=given.token_check_ms,
        ),
        static_configs=config.given,
    )
