"""A cluster whose only controller is a kraftool node: its directory, and what its brokers need.

Owns the layout of the directory (server.properties and data/), the feature levels that such a
cluster begins with, and the lines of a broker's configuration. What was cut short is finished by
the next run.
"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path

from kraftool.decoders.errors import KraftoolError
from kraftool.decoders.names import META_PROPERTIES
from kraftool.image.metadata_version import METADATA_VERSION, RELEASE_RANGES, level_name
from kraftool.node.config import NodeConfig, read_config
from kraftool.raft.names import Endpoint
from kraftool.storage.files import Files, replace
from kraftool.storage.format_levels import starting_levels
from kraftool.storage.format_plan import plan_format
from kraftool.storage.format_request import FormatRequest
from kraftool.storage.format_write import write_format
from kraftool.storage.random_ids import random_uuid

CONFIG_NAME, DATA_NAME = "server.properties", "data"
NODE_ID = 1000
"""Far from the ids that people give their brokers."""
_LISTENER = "CONTROLLER"
_PROTOCOLS = f"{_LISTENER}:PLAINTEXT,PLAINTEXT:PLAINTEXT"
_MARK = "# The only controller of a cluster: kraftool node standalone."


class NotStandalone(KraftoolError):
    """A directory that is something else already."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StandaloneDirectory:
    """The directory of such a controller, and whether it has anything yet."""

    path: str
    is_new: bool

    @property
    def config_path(self) -> str:
        return os.path.join(self.path, CONFIG_NAME)

    @property
    def data_path(self) -> str:
        return os.path.join(self.path, DATA_NAME)


def default_release() -> str:
    """The newest metadata.version that both of the last two Kafkas accept, as `4.3-IV0`."""
    newest = list(RELEASE_RANGES.values())[-2:]
    return level_name(min(ranges[METADATA_VERSION][1] for ranges in newest))


def existing(path: str) -> StandaloneDirectory:
    """Return what there is. Raises NotStandalone where a directory is neither empty nor one of
    these.
    """
    path = os.path.abspath(path)
    if not os.path.lexists(path) or (os.path.isdir(path) and not os.listdir(path)):
        return StandaloneDirectory(path=path, is_new=True)
    config = os.path.join(path, CONFIG_NAME)
    if not os.path.isfile(config) or not _is_ours(config):
        raise NotStandalone(
            f"{path} is not empty, and does not have a cluster of kraftool node standalone",
            hint="name a directory that is empty or does not exist. kraftool node run uses"
            " directories of Kafka",
        )
    return StandaloneDirectory(path=path, is_new=False)


def _is_ours(config: str) -> bool:
    with open(config, encoding="utf-8", errors="replace") as file:
        return file.readline().rstrip("\n") == _MARK


def prepare(directory: StandaloneDirectory, *, listen: Endpoint, release: str) -> NodeConfig:
    """Write what is missing, and give the configuration. What is there stays as it is."""
    files = Files()
    if directory.is_new:
        starting_levels(release, {}, is_dynamic=True)  # a release that never was ends here
        Path(directory.path).mkdir(parents=True, exist_ok=True)
        replace(files, directory.config_path, _config_text(directory, listen).encode())
    config = read_config(directory.config_path)
    _refuse_another_place(directory, config)
    if not os.path.exists(os.path.join(directory.data_path, META_PROPERTIES)):
        request = FormatRequest(
            node_id=config.node_id,
            cluster_id=random_uuid(),
            directories=config.directories(),
            metadata_directory=config.metadata_directory,
            is_controller=True,
            static_voters=config.static_voters,
            listener=config.default_listener,
            advertised=config.listeners.advertised.get(config.default_listener),
            standalone=True,
            release=release,
            features={},
        )
        for _ in write_format(plan_format(request), files, int(time.time() * 1000)):
            pass
    return config


def _refuse_another_place(directory: StandaloneDirectory, config: NodeConfig) -> None:
    """Refuse a copy, whose configuration names the data of the original."""
    if os.path.realpath(config.metadata_directory) != os.path.realpath(directory.data_path):
        raise NotStandalone(
            f"{directory.config_path} has log.dirs={config.metadata_directory}, which is not"
            f" {directory.data_path}",
            hint="the directory was copied or moved: correct log.dirs in that file",
        )


def _config_text(directory: StandaloneDirectory, listen: Endpoint) -> str:
    return (
        f"{_MARK}\n"
        "process.roles=controller\n"
        f"node.id={NODE_ID}\n"
        f"listeners={_LISTENER}://{listen}\n"
        f"advertised.listeners={_LISTENER}://{listen}\n"
        f"controller.listener.names={_LISTENER}\n"
        f"listener.security.protocol.map={_PROTOCOLS}\n"
        f"controller.quorum.bootstrap.servers={listen}\n"
        f"log.dirs={directory.data_path}\n"
    )


def broker_lines(config: NodeConfig) -> list[str]:
    """The server.properties of a first broker of the cluster."""
    controller = config.advertised()[config.default_listener]
    return [
        "process.roles=broker",
        "node.id=1",
        "listeners=PLAINTEXT://127.0.0.1:9092",
        f"controller.listener.names={_LISTENER}",
        f"listener.security.protocol.map={_PROTOCOLS}",
        f"controller.quorum.bootstrap.servers={controller}",
        "log.dirs=/tmp/broker-1",
        # One broker cannot have three replicas of the topics that Kafka makes for itself.
        "offsets.topic.replication.factor=1",
        "transaction.state.log.replication.factor=1",
        "transaction.state.log.min.isr=1",
        "share.coordinator.state.topic.replication.factor=1",
        "share.coordinator.state.topic.min.isr=1",
    ]
