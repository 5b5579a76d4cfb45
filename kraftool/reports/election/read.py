"""Directories become a quorum at rest: epochs, logs, votes, snapshots and voter sets as they are.

Owns what of damaged files is used (what Kafka would keep when it starts on them) and what is
assumed where nothing tells. It reads through the sources of the voters' reports and refuses to
decode anything again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial

from kraftool.decoders.addresses import host_and_port
from kraftool.decoders.checkpoint_files import EpochEntry
from kraftool.decoders.quorum_state import QuorumState
from kraftool.decoders.wire import ZERO_UUID
from kraftool.directory.metadata_summary import LogExtent
from kraftool.directory.node_directory import NodeDirectory
from kraftool.directory.voter_history import Origin
from kraftool.directory.voter_set import addresses
from kraftool.raft.names import (
    NO_VOTERS,
    ElectionState,
    Endpoint,
    OffsetAndEpoch,
    ReplicaKey,
    Voter,
    VoterSet,
)
from kraftool.raft.settings import SUPPORTED_KRAFT_VERSION, NodeSettings, Timing
from kraftool.reports.directory.voter_sources import read_sources
from kraftool.reports.election.case import ElectionCase, Log, NodeCase, Obstacle, reachable_by
from kraftool.reports.election.common_point import at_one_moment
from kraftool.reports.findings.finding import Finding, Severity, in_order
from kraftool.reports.findings.kinds import directory as kinds
from kraftool.reports.findings.kinds import log as log_kinds
from kraftool.reports.voters import identities, source_differences
from kraftool.reports.voters.judged_directory import JudgedDirectory, about_voters
from kraftool.reports.voters.kafka_epochs import believed_epochs
from kraftool.storage.lock import LockState, lock_holder
from kraftool.storage.witness_marker import WitnessMarker

UNKNOWN_CLUSTER = "unknown"
DEFAULT_LISTENER = "CONTROLLER"


def read_case(
    paths: Sequence[str], progress: Callable[[str, int], None] = lambda name, position: None
) -> ElectionCase:
    """Read every PATH: one node a directory. What is wrong with them is among the findings."""
    return case_of_sources(read_sources(paths, progress))


def case_of_sources(read: Sequence[JudgedDirectory]) -> ElectionCase:
    """The quorum of directories that were read before."""
    sources = [judged.directory for judged in read]
    findings = list(source_differences.clusters(sources))
    notes: list[str] = []
    ours = []
    missing: dict[int, str] = {}
    home = source_differences.home_cluster(sources)
    for judged in read:
        source = judged.directory
        if source_differences.is_foreign(source, home):
            notes.append(f"{source.name} belongs to another cluster, so it is left out")
        elif (
            source.has_metadata
            or source.quorum_state is not None
            or source.node.node_id is not None
        ):
            ours.append(judged)
        elif source.missing and source.settings is not None and source.settings.node_id is not None:
            missing[source.settings.node_id] = source.missing
    nodes: dict[int, NodeCase] = {}
    listener = _listener(judged.directory for judged in ours)
    for judged in ours:
        source = judged.directory
        owner = node_case(judged, listener)
        if owner is None:
            findings.append(_nameless(source))
            continue
        other = nodes.get(owner.id)
        if other is not None:
            findings += identities.ids_twice(
                [one.directory for one in ours if _id(one.directory) == owner.id]
            )
            notes.append(
                f"two directories belong to node {owner.id}: the one with the longer log is used"
            )
            owner = better_directory(other, owner)
        nodes[owner.id] = owner
    ordered = tuple(nodes[node] for node in sorted(nodes))
    case = quorum_of(_connected(node, ordered) for node in ordered)
    strangers = {node.source for node in ordered if case.is_stranger(node)}
    findings += (
        finding
        for judged in read
        for finding in map(
            partial(_of_node, is_stranger=judged.name in strangers), about_voters(judged)
        )
    )
    wanted = {id_ for node in ordered if node.is_voter for id_ in node.voters.ids}
    wanted |= case.voters.ids or missing.keys()
    notes += (
        f"{directory}, the directory of node {id_}, does not exist, so the node is left out"
        for id_, directory in missing.items()
        if id_ not in wanted
    )
    return replace(
        case,
        findings=in_order(findings),
        notes=tuple(notes),
        unknown=tuple(sorted(wanted - nodes.keys())),
        missing=tuple(item for item in sorted(missing.items()) if item[0] not in nodes),
    )


def quorum_of(nodes: Iterable[NodeCase]) -> ElectionCase:
    """The case of nodes of one cluster, whichever command read them and in whichever order."""
    own: dict[int, NodeCase] = {}
    for node in nodes:
        other = own.get(node.id)
        own[node.id] = node if other is None else better_directory(other, node)
    case = ElectionCase(nodes=tuple(own[node_id] for node_id in sorted(own)))
    return at_one_moment(case.with_static_voters())


def better_directory(one: NodeCase, other: NodeCase) -> NodeCase:
    """Return which of two directories of a node counts: that with the longer log."""
    return max(one, other, key=lambda node: (node.end.rank, node.is_voter, node.key.directory_id))


def _of_node(finding: Finding, *, is_stranger: bool) -> Finding:
    """Another directory than the voter's gave no vote that could be forgotten with a log."""
    if is_stranger and finding.code == log_kinds.NONE.code:
        return replace(finding, advice="")
    return finding


def _connected(node: NodeCase, nodes: Sequence[NodeCase]) -> NodeCase:
    return replace(node, settings=reachable_by(node.settings, nodes))


def _nameless(source: NodeDirectory) -> Finding:
    return kinds.UNREADABLE.at(
        source.name, "there is no meta.properties to show which node this is, so it is left out"
    )


def _id(source: NodeDirectory) -> int | None:
    if source.edited_from is not None:
        return source.edited_from
    if source.node.node_id is not None:
        return source.node.node_id
    return source.settings.node_id if source.settings is not None else None


def _listener(sources: Iterable[NodeDirectory]) -> str:
    """The name by which controllers reach each other."""
    names: list[str] = []
    for source in sources:
        if source.settings is not None and source.settings.controller_listeners:
            return source.settings.controller_listeners[0]
        for entry in source.voter_sets:
            names += (name for voter in entry.voters or () for name in addresses(voter) if name)
    return names[0] if names else DEFAULT_LISTENER


def node_case(judged: JudgedDirectory, listener: str = DEFAULT_LISTENER) -> NodeCase | None:
    """The node that a directory belongs to; None if no file of it names one."""
    source = judged.directory
    node_id = _id(source)
    if node_id is None:
        return None
    voters = source.seen_voters
    static = voter_set(voters.voters if voters is not None else NO_VOTERS, listener)
    if source.settings is not None and source.settings.static_voters:
        static = voter_set(source.settings.static_voters, listener)
    notes: list[str] = []
    log = _log(source, listener, notes)
    known = log.control(static).voters.get(node_id)
    directory = source.node.directory_id
    if directory is None or directory == ZERO_UUID:
        directory = f"of-node-{node_id}"
    listeners = dict(known.endpoints) if known is not None else {}
    if source.settings is not None:
        given = source.settings.advertised_endpoints
        listeners |= {
            name: endpoint for name, endpoint in given.items() if endpoint.host and endpoint.port
        }
    listeners.setdefault(listener, placeholder(node_id))
    plays = source.plays("controller")
    settings = NodeSettings(
        node_id=node_id,
        directory_id=directory,
        cluster_id=source.node.cluster_id or UNKNOWN_CLUSTER,
        listeners=listeners,
        default_listener=listener,
        static_voters=static,
        bootstrap_servers=_bootstrap(source),
        is_controller=plays is not False,
        timing=source.settings.timing if source.settings is not None else Timing(),
        kraft_version=known.kraft_version
        if known is not None and log.voter_sets
        else SUPPORTED_KRAFT_VERSION,
        is_witness=source.marker is not None and source.marker.is_last_resort,
        hands_over=source.marker is not None,
        stands_again=source.marker is None,
    )
    if source.marker is not None:
        notes.append(marked(source.marker))
    election = _election(source.quorum_state) if source.quorum_state is not None else None
    is_unreadable = election is None and bool(source.quorum_state_file)
    if is_unreadable:
        notes.append(f"the quorum-state of {node_id} cannot be read, so its vote is not known")
    elif election is None and log.end > 0:
        notes.append(f"{node_id} has no quorum-state: it starts without knowing how it voted")
    is_running = bool(source.real_path) and lock_holder(source.real_path).state is LockState.HELD
    obstacle = judged.keeps_from_starting if not is_running else None
    if obstacle is not None:
        notes.append(f"Kafka exits when it starts on {node_id}: {obstacle.code} in {obstacle.file}")
    return NodeCase(
        settings=settings,
        log=log,
        election=election,
        has_unreadable_state=is_unreadable,
        source=source.name,
        notes=tuple(notes),
        obstacle=_obstacle(obstacle) if obstacle is not None else None,
        is_running=is_running,
        doubtful_voters=()
        if log.control(static).voters or source.newest is None
        else tuple(sorted((source.newest.voters or NO_VOTERS).ids)),
        unseen=_unseen(judged, log),
        is_unread=source.is_log_unread,
        named_end=next(
            (
                finding.offset
                for finding in judged.findings
                if finding.code == log_kinds.END_LOST.code
            ),
            None,
        ),
    )


def _obstacle(finding: Finding) -> Obstacle:
    advice = f". {finding.advice[:1].upper()}{finding.advice[1:]}" if finding.advice else ""
    text = f"{finding.file}: {finding.sentence()} ({finding.code}){advice}"
    return Obstacle(code=finding.code, text=text)


def _unseen(judged: JudgedDirectory, log: Log) -> str:
    """Return why the log may have had more records; a snapshot may be alone after a recovery."""
    if judged.directory.is_log_unread:
        return "has a log that could not be read"
    is_lost = any(
        finding.code == log_kinds.MISSING.code and finding.severity is not Severity.INFO
        for finding in judged.findings
    )
    end = log.view().end.offset
    return (f"has a snapshot at {end} and no log" if end else "lost its log") if is_lost else ""


def marked(marker: WitnessMarker) -> str:
    """Return what the file kraftool-witness says, in words."""
    as_what = "leads only as a last resort" if marker.is_last_resort else "may be elected"
    return (
        f"{marker.node_id} is a witness, which {as_what}. kraftool node (process"
        f" {marker.process_id}, started {marker.started_at}) runs on its directory, or was"
        " killed"
    )


def _log(source: NodeDirectory, listener: str, notes: list[str]) -> Log:
    """The log as Kafka would have it after it started: cut at damage, begun after a snapshot."""
    extent = source.log
    start, end = (extent.start, extent.end) if extent is not None else (0, 0)
    if extent is not None and extent.cut is not None and extent.cut < end:
        notes.append(
            f"{_id(source)} would cut its damaged log at {extent.cut}, of {end} offsets."
            " Records after that are not counted"
        )
        end = max(extent.cut, start)
    behind, is_torn = None, False
    if extent is not None and end < extent.end:
        behind = OffsetAndEpoch(extent.end, extent.rank[0])
    elif extent is not None:
        is_torn = extent.cut is not None
    epochs: list[EpochEntry] = []
    for epoch in extent.epochs if extent is not None else ():
        if epoch.start_offset >= end:
            continue
        # The CRC does not cover an epoch: one that a lower one follows is no evidence.
        while epochs and epochs[-1].epoch > epoch.epoch:
            epochs.pop()
        if not epochs or epochs[-1].epoch < epoch.epoch:
            epochs.append(epoch)
    believed = None
    if extent is not None and end > start:
        believed = believed_epochs(source.epoch_checkpoint, extent.epochs, epochs, start, end)
    # A start of Kafka removes snapshots below the first segment. With them, the leader would take
    # the oldest for the one at its log's start, and send followers for a snapshot for ever.
    intact = tuple(
        OffsetAndEpoch(snapshot.offset, snapshot.epoch)
        for snapshot in source.snapshots
        if snapshot.intact and snapshot.offset >= start
    )
    sets: dict[int, VoterSet] = {}
    levels: dict[int, int] = {}
    for entry in source.history.entries:
        is_read = entry.origin is Origin.LOG and not entry.after_damage and entry.offset < end
        # A later snapshot has it, too, unless the history has another entry from there on.
        if not is_read and not any(snapshot_id.offset > entry.offset for snapshot_id in intact):
            continue
        if entry.voters is not None:
            sets[entry.offset] = voter_set(entry.voters, listener)
        elif entry.kraft_version is not None:
            levels[entry.offset] = entry.kraft_version
    return Log(
        start=start,
        end=end,
        epochs=tuple(epochs),
        believed_epochs=believed,
        snapshots=tuple(sorted(intact)),
        voter_sets=tuple(sorted(sets.items(), key=lambda pair: pair[0])),
        kraft_versions=tuple(sorted(levels.items())),
        behind=behind,
        is_end_known=_is_end_known(extent, behind),
        is_torn=is_torn,
        odd=_odd(source, extent) if extent is not None else None,
        leaders=tuple(
            (leader.epoch, leader.leader_id)
            for leader in source.history.leaders
            if leader.offset < end
        ),
        last_timestamp_ms=extent.last_timestamp_ms if extent is not None and behind is None else -1,
    )


def _is_end_known(extent: LogExtent | None, behind: OffsetAndEpoch | None) -> bool:
    """True if the end of a damaged log is a sound batch, and no header contradicts another one."""
    if extent is None or behind is None:
        return False
    return extent.ends_soundly and extent.odd is None


def _odd(source: NodeDirectory, extent: LogExtent) -> int | None:
    """Return where the log's headers contradict each other or, at its end, all other files.

    A node hears of an epoch before it has records of it, and these begin with a LeaderChange.
    """
    places = [] if extent.odd is None else [extent.odd]
    last = extent.epochs[-1] if len(extent.epochs) > 1 else None
    known = source.quorum_state.leader_epoch if source.quorum_state is not None else -1
    if (
        last is not None
        and last.epoch > max(known, extent.epochs[-2].epoch)
        and all(leader.offset != last.start_offset for leader in source.history.leaders)
    ):
        places.append(last.start_offset)
    return min(places, default=None)


def placeholder(node_id: int) -> Endpoint:
    """An address for a node of which none is known."""
    return Endpoint(f"node-{node_id}", 0)


def voter_set(voters: VoterSet, listener: str) -> VoterSet:
    return VoterSet.of(*(_voter(voter, listener) for voter in voters))


def _voter(voter: Voter, listener: str) -> Voter:
    endpoints = {name.upper() or listener: endpoint for name, endpoint in voter.endpoints.items()}
    endpoints.setdefault(listener, placeholder(voter.id))
    return replace(voter, endpoints=endpoints)


def _election(state: QuorumState) -> ElectionState:
    voted = None
    if state.voted_id >= 0:
        directory = state.voted_directory_id
        voted = ReplicaKey(state.voted_id, None if directory == ZERO_UUID else directory)
    leader = state.leader_id if state.leader_id >= 0 else None
    return ElectionState(epoch=max(state.leader_epoch, 0), leader_id=leader, voted=voted)


def _bootstrap(source: NodeDirectory) -> tuple[Endpoint, ...]:
    servers = []
    for bootstrap_server in (
        source.settings.bootstrap_servers if source.settings is not None else ()
    ):
        host, port = host_and_port(bootstrap_server)
        if port is not None:
            servers.append(Endpoint(host, port))
    return tuple(servers)
