"""The parts that every node has, whoever leads: it replays the log that it replicates, and writes
snapshots of what it replayed.

Owns which state machine a node has, which levels of features it can replay, and when it has caught
up. What a node does beside that while it leads is in `active.py`.
"""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import dataclass

from kraftool.image.image import MetadataImage
from kraftool.image.metadata_version import KRAFT_VERSION, SUPPORTED_LEVELS
from kraftool.node.config import NodeConfig
from kraftool.node.machine import BlindMachine, ImageMachine
from kraftool.node.options import NodeOptions
from kraftool.node.runner import Consumer, Runner
from kraftool.node.snapshotting import Snapshotting
from kraftool.raft.names import VersionRange
from kraftool.raft.raft import Raft

_READY_LAG = 1000
"""Records that a node may be behind, and be ready."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Standby:
    """The consumer of a node's log."""

    consumer: Consumer
    machine: ImageMachine | None = None
    """The consumer, if it replays metadata."""
    snapshotting: Snapshotting | None = None

    def image(self) -> MetadataImage | None:
        return None if self.machine is None else self.machine.image

    def image_end(self) -> int:
        """The first offset whose record the image does not have."""
        return 0 if self.machine is None else self.machine.image_end

    def features_offset(self) -> int:
        """Of the image in which the finalized features changed last."""
        return -1 if self.machine is None else self.machine.features_offset


def standby_of(
    config: NodeConfig, options: NodeOptions, runner: Runner, closing: contextlib.AsyncExitStack
) -> Standby:
    """Begin what a node does with its log; `closing` ends it."""
    if options.consumer is not None:
        return Standby(consumer=options.consumer(runner))
    if not options.replays:
        return Standby(consumer=BlindMachine(runner))
    snapshotting = Snapshotting(
        runner,
        after_bytes=config.log.snapshot_after_bytes,
        after_ms=config.log.snapshot_after_ms,
    )
    closing.push_async_callback(snapshotting.close)
    machine = ImageMachine(runner, snapshotting.applied)
    cleaning = asyncio.get_running_loop().create_task(snapshotting.clean_for_ever())
    closing.callback(cleaning.cancel)
    return Standby(consumer=machine, machine=machine, snapshotting=snapshotting)


def is_caught_up(raft: Raft, image: MetadataImage | None) -> bool:
    """True if the node knows a leader and shows all that it knows to be committed."""
    committed = raft.role.high_watermark
    if raft.leader_id is None or committed is None:
        return False
    return image is None or image.provenance.last_offset >= committed - 1 - _READY_LAG


def supported_features(kraft_version: VersionRange) -> dict[str, VersionRange]:
    """The levels of features that this software reads and writes."""
    of_metadata = {name: VersionRange(*levels) for name, levels in SUPPORTED_LEVELS.items()}
    return {KRAFT_VERSION: kraft_version, **of_metadata}
