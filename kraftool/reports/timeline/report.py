"""The timeline of the directories behind PATHs: the read model of `kraftool timeline`.

Owns the order of work, the events that belong to a directory and not to a record (snapshots, where
a log begins and ends), what a disagreement means, and which events are asked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from kraftool.decoders.errors import KraftoolError
from kraftool.decoders.names import parse_checkpoint_name
from kraftool.directory.log_summary import FIRST_OFFSET
from kraftool.raft.names import BOOTSTRAP_SNAPSHOT, OffsetAndEpoch
from kraftool.reports.files.log_findings import loss
from kraftool.reports.files.severity_in_context import CUTTING, weighed
from kraftool.reports.findings.finding import Finding, Severity, in_order
from kraftool.reports.findings.kinds import directory as directory_kinds
from kraftool.reports.findings.kinds import log as log_kinds
from kraftool.reports.logs.log_starts import AskedRange
from kraftool.reports.text.words import many
from kraftool.reports.timeline.batches import LogBatch
from kraftool.reports.timeline.divergence_advice import tail_severity
from kraftool.reports.timeline.event_words import ids, named
from kraftool.reports.timeline.events import (
    Category,
    Disagreement,
    Event,
    NodeView,
    Rank,
    Side,
    Timeline,
)
from kraftool.reports.timeline.line import LogBranch
from kraftool.reports.timeline.log_starts import begins_later, log_starts
from kraftool.reports.timeline.merge import Merge, Merged, Parting, united
from kraftool.reports.timeline.segments import NodeSnapshot, read_snapshot
from kraftool.reports.timeline.sources import NodeLog, Progress, load_snapshots
from kraftool.reports.timeline.statistics import summed_up


@dataclass(frozen=True, slots=True, kw_only=True)
class TimelineOptions(AskedRange):
    """The options of a timeline. Everything that is set must be true of an event."""

    gaps_ms: int = 10_000
    list_topics: bool = False
    only: frozenset[Category] = frozenset()
    topic: str = ""
    """The name or id of the one topic to show."""
    forgets_others: bool = False
    """True if the statistics leave out what is not shown: a large log has millions of events."""

    def wants(self, event: Event) -> bool:
        """True if an event is shown. Damage is, wherever it is in the range."""
        if event.category is not Category.DAMAGE:
            if self.topic and self.topic not in event.topics:
                return False
            if self.only and event.category not in self.only:
                return False
        if self.first_offset is not None and event.offset < self.first_offset:
            return False
        if self.last_offset is not None and event.offset > self.last_offset:
            return False
        if self.since is None and self.until is None:
            return True
        time = event.timestamp
        if time is None:
            return event.category is Category.DAMAGE
        return (self.since is None or time >= self.since) and (
            self.until is None or time <= self.until
        )

    def narrowed(self, event: Event) -> Event:
        """The event; if it is about partitions of several topics, with those of the one topic."""
        listed = event.data.get("partitions") if self.topic else None
        if not isinstance(listed, list) or not all(isinstance(one, dict) for one in listed):
            return event
        own = [
            one["partition"]
            for one in listed
            if self.topic in (one["topicId"], one["partition"].rpartition("-")[0])
        ]
        if not own or len(own) == event.data["count"]:
            return event
        return replace(event, details=(f"of this topic {named(own)}", *event.details))


def build(
    nodes: Sequence[NodeLog],
    findings: Sequence[Finding] = (),
    options: TimelineOptions | None = None,
    progress: Progress = lambda name, position: None,
) -> Timeline:
    """Read all logs, and put together what they tell."""
    options = options or TimelineOptions()
    for node in nodes:
        load_snapshots(node)
    merge = Merge(nodes, _Beginnings(nodes, options).line, progress)
    has_all = not options.forgets_others
    events = united(event for event in merge.events() if has_all or options.wants(event))
    merged = merge.merged
    disagreements = tuple(_disagreement(parting, nodes) for parting in merged.partings)
    views = tuple(_view(log) for log in nodes)
    all_findings = [*findings, *merged.findings]
    for node in nodes:
        all_findings += node.findings
    for disagreement in disagreements:
        event, finding = _parted(disagreement, views, nodes)
        events.append(event)
        all_findings.append(finding)
    snapshot_events, differing = _snapshots(nodes)
    events += snapshot_events
    all_findings += differing
    events += log_starts(nodes)
    events += _log_ends(nodes, merged)
    all_findings += _open_transactions(merged, nodes)
    all_findings += begins_later(nodes, merged, options)
    events.sort(key=lambda event: (event.offset, event.rank))
    shown = tuple(options.narrowed(event) for event in events if options.wants(event))
    return Timeline(
        nodes=views,
        events=shown,
        statistics=summed_up(shown, events, merged.lines),
        disagreements=disagreements,
        findings=in_order(dict.fromkeys(_with_losses(all_findings, nodes))),
    )


def _with_losses(findings: Sequence[Finding], nodes: Sequence[NodeLog]) -> list[Finding]:
    """Damage in a log with what Kafka's next start would take away, all files considered."""
    all_findings = list(findings)
    for node in nodes:
        files = {segment.name for segment in node.segments}
        files |= {stored_segment.file for stored_segment in node.stored}
        cuts = [
            finding.offset
            for finding in all_findings
            if finding.file in files and finding.code in CUTTING
        ]
        cut = min((cut for cut in cuts if cut is not None), default=None)
        newest = max(node.snapshots, key=lambda snapshot: snapshot.offset, default=None)
        lost = loss(
            cut,
            node.end_offset,
            newest.offset if newest is not None else 0,
            intact=newest is None or newest.is_whole,
        )
        all_findings = [
            weighed(finding, lost=lost) if finding.file in files else finding
            for finding in all_findings
        ]
    return all_findings


def parted_findings(merged: Merged, nodes: Sequence[NodeLog]) -> Iterator[Finding]:
    """Yield where the logs part, of a merge that went to its end."""
    views = tuple(_view(node) for node in nodes)
    for parting in merged.partings:
        yield _parted(_disagreement(parting, nodes), views, nodes)[1]


class _Beginnings:
    """The knowledge at the start of a line: nothing at offset 0, otherwise what a snapshot says."""

    def __init__(self, nodes: Sequence[NodeLog], options: TimelineOptions) -> None:
        self._nodes = nodes
        self._options = options

    def line(self, batch: LogBatch) -> LogBranch:
        options = self._options
        line = LogBranch(gaps_ms=options.gaps_ms, list_topics=options.list_topics)
        line.known.from_start = batch.base <= FIRST_OFFSET
        snapshots = [
            snapshot for node in self._nodes for snapshot in node.snapshots if snapshot.has_header
        ]
        # Of a damaged one only a part can be learnt; it is better than nothing, and told.
        snapshots = [snapshot for snapshot in snapshots if snapshot.is_whole] or snapshots
        below = [snapshot for snapshot in snapshots if snapshot.offset <= batch.base]
        if below:
            self._learn(line, max(below, key=lambda snapshot: snapshot.offset), batch, state=True)
        elif snapshots and batch.base > 0:
            # The log reaches further back than any snapshot: it still names the topics.
            self._learn(
                line, min(snapshots, key=lambda snapshot: snapshot.offset), batch, state=False
            )
        return line

    def _learn(
        self, line: LogBranch, snapshot: NodeSnapshot, batch: LogBatch, *, state: bool
    ) -> None:
        records = snapshot.records
        name = parse_checkpoint_name(snapshot.entry.basename) if snapshot.entry else None
        if snapshot.entry is not None and name is not None:
            try:
                records = read_snapshot(snapshot.entry, name, records=True)[0].records
            except KraftoolError:
                return  # its head could be read a moment ago: a running Kafka has deleted it
        line.seed(records, snapshot.epoch, state=state)
        if state and snapshot.offset == batch.base > 0:
            line.known.from_start = True
            line.known.last_timestamp = snapshot.timestamp
        elif state:
            line.known.last_epoch = None


def _view(node: NodeLog) -> NodeView:
    return NodeView(
        label=node.label,
        path=node.path,
        node_id=node.node.node_id,
        directory_id=node.node.directory_id,
        cluster_id=node.node.cluster_id,
        start_offset=node.start_offset,
        end_offset=node.end_offset,
        last_epoch=node.last_epoch,
        last_timestamp=node.last_timestamp,
        quorum_state=node.quorum_state,
        is_live=node.is_live,
    )


def _disagreement(parting: Parting, nodes: Sequence[NodeLog]) -> Disagreement:
    sides = []
    for members, batch in parting.sides:
        log = max((nodes[index] for index in members), key=lambda node: node.end_offset or 0)
        beyond = [
            snapshot.offset
            for index in members
            for snapshot in nodes[index].snapshots
            if snapshot.offset > parting.offset
        ]
        sides.append(
            Side(
                nodes=members,
                epoch=batch.epoch,
                last_offset=batch.last,
                crc=batch.crc,
                end_offset=log.end_offset or 0,
                last_epoch=log.last_epoch if log.last_epoch is not None else -1,
                snapshot=min(beyond, default=None),
            )
        )
    return Disagreement(offset=parting.offset, sides=tuple(sides))


def _parted(
    parted: Disagreement, views: Sequence[NodeView], nodes: Sequence[NodeLog]
) -> tuple[Event, Finding]:
    """A disagreement as an event and as a finding."""
    labels = [ids(views[index].label for index in side.nodes) for side in parted.sides]
    epochs = [side.epoch for side in parted.sides]
    same = len(set(epochs)) < len(epochs)
    parts = [
        f"{label} has epoch {side.epoch}" + (f" (crc {side.crc:08x})" if same else "")
        for label, side in zip(labels, parted.sides, strict=True)
    ]
    what = f"logs differ from offset {parted.offset} on: {'; '.join(parts)}"
    if len(parts) == 1:
        what = f"logs differ from offset {parted.offset} on: the batches have other bounds"
    details = [_verdict(parted, labels, same=same)]
    finding = log_kinds.DIVERGED.at(
        nodes[parted.sides[-1].nodes[0]].path,
        what,
        offset=parted.offset,
        advice=None if not same else "compare with every other node before you start any of them",
        severity=_severity(parted),
    )
    event = Event(
        category=Category.DAMAGE,
        type="diverged",
        offset=parted.offset,
        rank=Rank.LOG_START,
        what=what,
        details=tuple(detail for detail in details if detail),
        severity=finding.severity,
        data={
            "code": finding.code,
            "sides": [
                {
                    "nodes": [views[index].label for index in side.nodes],
                    "epoch": side.epoch,
                    "lastOffset": side.last_offset,
                    "crc": side.crc,
                    "endOffset": side.end_offset,
                    "lastEpoch": side.last_epoch,
                    "snapshot": side.snapshot,
                }
                for side in parted.sides
            ],
        },
        nodes=tuple(sorted(index for side in parted.sides for index in side.nodes)),
        disputed=True,
    )
    return event, finding.saying(event.text)


def _severity(parted: Disagreement) -> Severity:
    """Less than an error where one side is the tail of a leader that was stopped."""
    if len(parted.sides) != 2 or parted.offset == 0:
        return Severity.ERROR
    behind, ahead = sorted(parted.sides, key=lambda side: side.last_epoch)
    if behind.epoch == ahead.epoch or behind.crc == ahead.crc:
        return Severity.ERROR
    return tail_severity(
        behind.last_epoch,
        ahead.epoch,
        alone=len(behind.nodes) == 1,
        others=len(ahead.nodes),
        snapshot_beyond=behind.snapshot is not None,
    )


def _verdict(parted: Disagreement, labels: Sequence[str], *, same: bool) -> str:
    """Return what can be known of which side stays."""
    committed = [
        (label, side.snapshot)
        for label, side in zip(labels, parted.sides, strict=True)
        if side.snapshot is not None
    ]
    if same:
        return "the same epoch with different records. One leader never writes that"
    if len(committed) > 1:
        return "both sides have snapshots beyond it, so both were committed: two quorums"
    if committed:
        label, offset = committed[0]
        return f"the records of {label} were committed, as its snapshot at {offset} shows"
    ranked = sorted(
        zip(parted.sides, labels, strict=True),
        key=lambda labelled_side: labelled_side[0].last_epoch,
        reverse=True,
    )
    if len(ranked) > 1 and ranked[0][0].last_epoch > ranked[1][0].last_epoch:
        return (
            f"with its higher last epoch {ranked[0][0].last_epoch} the log of {ranked[0][1]}"
            " wins an election against the other. Directories cannot show whether the other's"
            " records were committed"
        )
    return "directories cannot show which side is committed"


def _snapshots(nodes: Sequence[NodeLog]) -> tuple[list[Event], list[Finding]]:
    """One event for each snapshot, whichever nodes have it."""
    snapshot_holders: dict[OffsetAndEpoch, list[tuple[int, NodeSnapshot]]] = {}
    for index, node in enumerate(nodes):
        for snapshot in node.snapshots:
            own = OffsetAndEpoch(snapshot.offset, snapshot.epoch)
            snapshot_holders.setdefault(own, []).append((index, snapshot))
    epochs: dict[int, set[int]] = {}
    for offset, epoch in snapshot_holders:
        epochs.setdefault(offset, set()).add(epoch)
    events, findings = [], []
    for (offset, epoch), holders in sorted(snapshot_holders.items()):
        disputed = len(epochs[offset]) > 1
        sizes = sorted({snapshot.size for _, snapshot in holders})
        size = f"{sizes[0]} bytes" if len(sizes) == 1 else f"{sizes[0]} to {sizes[-1]} bytes"
        details = [size]
        if (offset, epoch) == BOOTSTRAP_SNAPSHOT:
            details.append("as formatted")
        is_whole = all(snapshot.is_whole for _, snapshot in holders)
        if not is_whole:
            details.append("damaged")
        if disputed:
            details.append("other nodes have this offset in another epoch")
            file = holders[0][1].name
            text = f"snapshots at offset {offset} of epochs {ids(sorted(epochs[offset]))}"
            findings.append(log_kinds.DIVERGED.at(file, text, offset=offset))
        stamps = [snapshot.timestamp for _, snapshot in holders if snapshot.timestamp is not None]
        events.append(
            Event(
                category=Category.SNAPSHOTS,
                type="snapshot",
                offset=offset,
                epoch=epoch,
                timestamp=max(stamps, default=None),
                rank=Rank.SNAPSHOT,
                what=f"snapshot {offset}-{epoch}",
                details=tuple(details),
                severity=Severity.ERROR if disputed or not is_whole else Severity.INFO,
                data={
                    "files": [
                        {"node": nodes[index].label, "file": snapshot.name, "size": snapshot.size}
                        for index, snapshot in holders
                    ]
                },
                nodes=tuple(index for index, _ in holders),
                disputed=disputed,
            )
        )
    return events, findings


def _furthest(nodes: Sequence[NodeLog], merged: Merged) -> list[int]:
    """For each node where the longest log ends that has all that its own has.

    Where logs parted, neither is behind the other.
    """
    ends = [node.end_offset or 0 for node in nodes]
    furthest = [max(ends, default=0) if node.end_offset is None else 0 for node in nodes]
    for line in merged.lines:
        for index in line.nodes:
            furthest[index] = max(ends[node] for node in line.nodes)
    return [max(offsets) for offsets in zip(furthest, ends, strict=True)]


def _log_ends(nodes: Sequence[NodeLog], merged: Merged) -> Iterator[Event]:
    """Yield where each node's log ends, and what its quorum-state says."""
    furthest = _furthest(nodes, merged)
    for index, node in enumerate(nodes):
        state = node.quorum_state
        if node.end_offset is None and state is None:
            continue
        end = node.end_offset or 0
        behind = furthest[index] - end
        whose = "the log" if len(nodes) == 1 else f"the log of {node.label}"
        what = f"{whose} ends" if node.end_offset is not None else f"{whose} is empty"
        details = [f"{many(behind, 'offset')} behind the longest"] if behind else []
        if state is not None:
            leader = f"leader {state.leader_id}" if state.leader_id >= 0 else "no leader"
            details.append(f"quorum-state: epoch {state.leader_epoch}, {leader}")
            if state.voted_id >= 0:
                details.append(f"voted for {state.voted_id}")
            ahead = state.leader_epoch - (node.last_epoch or 0)
            if node.last_epoch is not None and ahead > 0:
                details.append(f"{many(ahead, 'epoch')} ahead of the log")
        yield Event(
            category=Category.NODES,
            type="log-end",
            offset=end,
            epoch=node.last_epoch,
            timestamp=node.last_timestamp,
            rank=Rank.LOG_END,
            what=what,
            details=tuple(details),
            data={
                "node": node.label,
                "behind": behind,
                "quorumState": {
                    "leaderEpoch": state.leader_epoch,
                    "leaderId": state.leader_id,
                    "votedId": state.voted_id,
                    "votedDirectoryId": state.voted_directory_id,
                }
                if state is not None
                else None,
            },
            nodes=(index,),
        )


def _open_transactions(merged: Merged, nodes: Sequence[NodeLog]) -> Iterator[Finding]:
    for line in merged.lines:
        transaction = line.known.transaction
        if transaction is None or not line.present:
            continue
        yield log_kinds.TXN_OPEN.at(
            nodes[line.present[0]].path,
            "a metadata transaction is open at the log's end",
            offset=transaction.offset,
        )


def other_clusters(paths_by_cluster: dict[str, list[str]]) -> Finding | None:
    """The finding that directories are of different clusters, if they are."""
    if len(paths_by_cluster) < 2:
        return None
    (first, _), (second, paths) = list(paths_by_cluster.items())[:2]
    return directory_kinds.CLUSTER_ID.at(
        paths[0], "the directories belong to different clusters", field="cluster.id",
        expected=first, found=second,
    )  # fmt: skip
