"""The identity of a node: what meta.properties and its configuration say together, and its role.

Owns the reasons not to start that have to do with that.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from kraftool.decoders import meta_properties
from kraftool.decoders.errors import KraftoolError
from kraftool.decoders.fault import FaultKind
from kraftool.decoders.names import META_PROPERTIES
from kraftool.decoders.wire import ZERO_UUID
from kraftool.directory.voter_set import addresses
from kraftool.node.config import NodeConfig
from kraftool.raft.control_history import ControlHistory
from kraftool.raft.names import ReplicaKey
from kraftool.reports.directory.voter_sources import read_sources
from kraftool.reports.text.words import many
from kraftool.reports.voters.judged_directory import about_voters
from kraftool.storage.entry import METADATA_PARTITION
from kraftool.storage.recovery import Cut
from kraftool.storage.source import FileSource

_LARGEST = 1 << 20


class QuorumRole(StrEnum):
    """The role of a node in the quorum."""

    VOTER = "voter"
    OBSERVER = "observer"


class NotStarted(KraftoolError):
    """A node that must not be started as it was asked for."""


_UNFINISHED = (FaultKind.TORN_TAIL, FaultKind.ZERO_TAIL)


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeIdentity:
    """A formatted metadata directory."""

    node_id: int
    cluster_id: str
    directory_id: str

    @property
    def key(self) -> ReplicaKey:
        return ReplicaKey(self.node_id, self.directory_id)


def read_identity(config: NodeConfig) -> NodeIdentity:
    """The identity of the metadata directory. Raises NotStarted where Kafka would not start."""
    directory = config.metadata_directory
    path = os.path.join(directory, META_PROPERTIES)
    try:
        with FileSource(path) as source:
            data = source.read_at(0, _LARGEST)
    except KraftoolError as error:
        if os.path.exists(path):
            raise
        raise _unformatted(directory, f"{directory} is not formatted: {error.message}") from None
    meta, findings = meta_properties.decode(data)
    if not meta.accepted and findings:
        raise NotStarted(f"{path}: {findings[0].describe()}")
    if meta.node_id is None or not meta.cluster_id:
        raise _unformatted(directory, f"{path} has no node.id or no cluster.id")
    if meta.node_id != config.node_id:
        raise NotStarted(
            f"{path} belongs to node {meta.node_id}, but {config.source_of('node.id')}"
            f" configures {config.node_id}",
            hint="either the directory or the configuration belongs to another node",
        )
    if meta.directory_id is None or meta.directory_id == ZERO_UUID:
        raise NotStarted(
            f"{path} has no directory.id",
            hint="a Kafka of 3.7 or later writes one when it starts on the directory",
        )
    return NodeIdentity(
        node_id=meta.node_id, cluster_id=meta.cluster_id, directory_id=meta.directory_id
    )


def _unformatted(directory: str, message: str) -> NotStarted:
    """Return a refusal that does not advise to format: a voter would lose its vote by that."""
    if os.path.basename(os.path.abspath(directory)) == METADATA_PARTITION:
        hint = "that is a metadata partition: log.dirs requires the directory above it"
    elif not os.path.isdir(directory):
        hint = "correct log.dirs, or mount its disk. kraftool storage format prepares a new node"
    elif os.path.isdir(os.path.join(directory, METADATA_PARTITION)):
        hint = "it contains a metadata partition: restore its meta.properties, and do not format it"
    else:
        hint = "is it the right directory? kraftool storage format prepares a new node"
    return NotStarted(message, hint=hint)


@dataclass(frozen=True, slots=True, kw_only=True)
class AtRest:
    """The content of a directory before anything in it is changed."""

    voters: tuple[str, ...]
    """Of the newest voter set, or the configuration's."""
    is_voter: bool
    log: tuple[int, int] | None
    """Where it starts and ends."""
    recorded: Mapping[str, str] = field(default_factory=dict)
    """Where the voter set says that this voter is reached, by listener."""
    unread: tuple[str, ...] = ()
    """What could not be read of it, in sentences."""


def at_rest(config: NodeConfig, identity: NodeIdentity) -> AtRest:
    """Read the directory as an inspection does, without its lock."""
    [judged] = read_sources([config.metadata_directory])
    source = judged.directory
    newest = source.newest
    voter_set = newest.voters if newest is not None else None
    log = None if source.log is None else (source.log.start, source.log.end)
    unread = tuple(
        f"{finding.file}: {finding.text}" for finding in about_voters(judged) if finding.undecoded
    )
    if not voter_set:
        known = config.static_voters
        return AtRest(
            voters=tuple(str(voter_id) for voter_id in sorted(known.ids)),
            is_voter=identity.node_id in known.ids,
            log=log,
            unread=unread,
        )
    own = next(
        (
            voter
            for voter in voter_set
            if voter.id == identity.node_id and voter.directory_id in (None, identity.directory_id)
        ),
        None,
    )
    return AtRest(
        voters=tuple(str(voter.id) for voter in voter_set),
        is_voter=own is not None,
        recorded=addresses(own) if own is not None else {},
        log=log,
        unread=unread,
    )


def part_of(
    identity: NodeIdentity, control: ControlHistory, wanted: QuorumRole | None
) -> QuorumRole:
    """Return what the node is by its own log; raises NotStarted where it was asked to be something
    else.

    A voter that is told to observe would still be counted on for majorities; so that is refused.
    """
    is_voter = control.voters.has(identity.key)
    refuse_observing(identity, wanted, is_voter=is_voter)
    return wanted or (QuorumRole.VOTER if is_voter else QuorumRole.OBSERVER)


def refuse_observing(identity: NodeIdentity, wanted: QuorumRole | None, *, is_voter: bool) -> None:
    """A voter that only observed would be missing where it is counted on."""
    if wanted is QuorumRole.OBSERVER and is_voter:
        raise NotStarted(
            f"this directory belongs to voter {identity.key}: it cannot only observe",
            hint="--role voter runs it as a witness; to observe, use a copy with another node.id"
            " and directory.id",
        )


def refuse_cut(cut: Cut, directory: str) -> None:
    """Refuse to cut off records that may be committed: all except an unfinished write."""
    if cut.lost_batches or cut.kind not in _UNFINISHED:
        behind = f", before {many(cut.lost_batches, 'whole batch')}" if cut.lost_batches else ""
        raise NotStarted(
            f"{cut.file} is damaged at position {cut.position} ({cut.reason}){behind}. Kafka would"
            " cut the log there, though the records may be committed",
            hint=f"kraftool doctor {shlex.quote(directory)} shows the damage, and kraftool recover"
            " plan how to keep the records. --cut-damaged-log starts without them",
        )
