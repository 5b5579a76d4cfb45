"""Health of the cluster of a live quorum, from its committed metadata and from who fetches it.

Owns what follows from both together: that a fenced broker still fetches tells another cause than
that it does not. What metadata alone shows is judged by doctor's rules.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from kraftool.client.live_sources import leader_source
from kraftool.client.model import QuorumView
from kraftool.client.observer import LOG, ControllerStart, Observation
from kraftool.client.thresholds import fetching, leader_clock
from kraftool.decoders.control import ControlRecordType
from kraftool.decoders.json_marks import Count, Hidden, Ids, in_json_before
from kraftool.decoders.names import write_checkpoint_name
from kraftool.image.cluster import BrokerRegistration
from kraftool.image.image import MetadataImage
from kraftool.image.topics import is_reassigning
from kraftool.reports.doctor import partitions as of_image
from kraftool.reports.doctor import tools
from kraftool.reports.doctor.log_statistics import LogStatistics
from kraftool.reports.doctor.model import ExaminedDirectory
from kraftool.reports.doctor.partitions import Partition, counted, named
from kraftool.reports.doctor.read import together
from kraftool.reports.doctor.rules import rules_of_state
from kraftool.reports.findings.finding import Finding, FindingKind, Severity
from kraftool.reports.findings.kinds import live as kinds
from kraftool.reports.findings.kinds import signatures
from kraftool.reports.state.load import LoadedState
from kraftool.reports.state.summary import (
    MIN_ISR,
    MinIsr,
    PartitionCounts,
    is_offline,
    is_under_min_isr,
    is_under_replicated,
)
from kraftool.reports.text.words import many
from kraftool.reports.voters.judged_directory import JudgedDirectory

HOUR_MS = 3_600_000
SNAPSHOT_AGE_MS = 2 * HOUR_MS
"""Twice the default of metadata.log.max.snapshot.interval.ms."""
_IMBALANCE = 0.1
"""The default of leader.imbalance.per.broker.percentage."""
_MOST_IDS = 10
_BEFORE_START_MS = 600_000
"""A controller that is restarted by its operator is back within this time."""
_AFTER_START_MS = 60_000
_MOST_STARTS = 3
"""Of one controller within the hour. One that starts more often may be crashing."""
_OF_QUORUM = frozenset(
    kind.code
    for kind in (
        kinds.ELECTIONS, kinds.SNAPSHOT_AGE, kinds.TRANSACTION_OPEN, signatures.NOT_REGISTERED,
    )
)  # fmt: skip
"""These are about the quorum, though its metadata shows them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterHealth:
    """The brokers and partitions in the committed metadata."""

    observation: Hidden[Observation]
    registered_brokers: Ids = ()
    fenced_brokers: Ids = ()
    shutting_down_brokers: Ids = ()
    """Brokers in controlled shutdown."""
    not_fetching_brokers: Ids = ()
    """Active brokers, and no observer that has fetched lately."""
    controllers: Ids = ()
    """Those that have registered."""
    topics: Count = 0
    partitions: Count = 0
    offline_partitions: Count = 0
    """Partitions without a leader."""
    under_replicated_partitions: Count = 0
    """As kafka-topics counts: replicas that are being added do not lack."""
    under_min_isr_partitions: Count = 0
    """By the dynamic configs of min.insync.replicas; those without a leader too."""
    not_preferred_leader_partitions: Count = 0
    """Partitions with another leader than the first of their replicas."""
    reassigning_partitions: Count = 0
    leader_changes: Count = 0
    """Within the last hour, as far as the log behind the leader's snapshot goes."""
    stable_since: Hidden[int | None] = None
    """The time of the last change of the leader or of the voters, or before which there was none;
    None while a newer leader has not committed."""
    findings: Hidden[tuple[Finding, ...]] = ()

    @property
    @in_json_before("registered_brokers")
    def leader_id(self) -> int | None:
        """The node with the log that was read."""
        return self.observation.leader_id

    @property
    @in_json_before("registered_brokers")
    def end_offset(self) -> int:
        """The metadata is that below this offset."""
        return self.observation.end_offset

    @property
    def cluster_codes(self) -> frozenset[str]:
        """Of the findings about brokers and partitions."""
        return frozenset(finding.code for finding in self.findings) - _OF_QUORUM


def cluster_health(observation: Observation, now: QuorumView, before: QuorumView) -> ClusterHealth:
    """Judge what was observed, beside two polls of the quorum."""
    image, name = observation.image, observation.name
    brokers = image.cluster.brokers
    fenced = sorted(broker.id for broker in brokers.values() if broker.fenced)
    active = sorted(brokers.keys() - set(fenced))
    fetching = _fetching(now) | _fetching(before)
    # A broker that has just come may be in the metadata and not among the observers yet.
    absent = (
        []
        if now.quorum is None
        else [broker_id for broker_id in active if broker_id not in fetching]
    )
    stopping = [broker_id for broker_id in active if brokers[broker_id].in_controlled_shutdown]
    walk = _Walk(image)
    elections = _elections(observation, now)
    findings = [
        *_fenced(name, [brokers[broker_id] for broker_id in fenced], fetching, len(brokers)),
        *_brokers(kinds.SHUTTING_DOWN, name, stopping, "in controlled shutdown"),
        *_brokers(kinds.BROKER_ABSENT, name, absent, "active, and no fetch from the leader"),
        *walk.findings(name),
        *_of_the_log(observation, now, elections),
        *_of_rules(observation, now),
        *(finding.in_file(f"{name}: {finding.file}") for finding in observation.findings),
    ]
    return ClusterHealth(
        observation=observation,
        registered_brokers=tuple(sorted(brokers)),
        fenced_brokers=tuple(fenced),
        shutting_down_brokers=tuple(stopping),
        not_fetching_brokers=tuple(absent),
        controllers=tuple(sorted(image.cluster.controllers)),
        topics=len(image.topics.by_id),
        partitions=walk.counts.partitions,
        offline_partitions=walk.counts.offline,
        under_replicated_partitions=walk.counts.under_replicated,
        under_min_isr_partitions=walk.counts.under_min_isr,
        not_preferred_leader_partitions=sum(walk.lost_lead.values()),
        reassigning_partitions=walk.counts.reassigning,
        leader_changes=len(elections),
        stable_since=_stable_since(observation, now),
        findings=tuple(findings),
    )


def cluster_words(cluster: ClusterHealth) -> str:
    """Return brokers and partitions in a sentence; the problems are among the findings."""
    active = len(cluster.registered_brokers) - len(cluster.fenced_brokers)
    words = [f"{active} of {many(len(cluster.registered_brokers), 'broker')} active"]
    words += (
        [f"{len(cluster.shutting_down_brokers)} shutting down"]
        if cluster.shutting_down_brokers
        else []
    )
    amiss = [
        f"{count} {what}"
        for count, what in (
            (cluster.offline_partitions, "offline"),
            (cluster.under_min_isr_partitions, "under min ISR"),
            (cluster.under_replicated_partitions, "under-replicated"),
            (cluster.reassigning_partitions, "being reassigned"),
        )
        if count
    ]
    partitions = f"{many(cluster.partitions, 'partition')} of {many(cluster.topics, 'topic')}"
    words.append(f"{partitions}: {', '.join(amiss)}" if amiss else partitions)
    return f"{'; '.join(words)}; metadata to offset {cluster.observation.end_offset}"


# --- brokers --------------------------------------------------------------------------------------


def _fetching(view: QuorumView) -> set[int]:
    """Return who has fetched from the leader lately, by id; a node with both roles votes."""
    every = (*view.voters, *view.observers)
    if view.quorum is None:
        return set()
    return {view.quorum.leader_id, *fetching(view.quorum, every)}


def _fenced(
    name: str, fenced: Sequence[BrokerRegistration], fetching: Collection[int], count: int
) -> Iterator[Finding]:
    """Those that still fetch run; what keeps them fenced is another cause."""
    causes: dict[str, list[int]] = {}
    for broker in fenced:
        if broker.id in fetching:
            cause = (
                "fetching metadata, so it is running: it is starting, or its heartbeats are not"
                " accepted"
            )
        elif broker.in_controlled_shutdown:
            cause = "shut down in order, and not fetching metadata"
        else:
            cause = "not fetching metadata either: down, or cut off from the leader"
        causes.setdefault(cause, []).append(broker.id)
    for cause, ids in causes.items():
        yield kinds.FENCED.at(name, f"{_ids(ids)} ({len(ids)} of {count}): {cause}")


def _brokers(kind: FindingKind, name: str, ids: Sequence[int], what: str) -> Iterator[Finding]:
    if ids:
        yield kind.at(name, f"{_ids(ids)}: {what}")


def _ids(ids: Sequence[int]) -> str:
    more = f" and {len(ids) - _MOST_IDS} more" if len(ids) > _MOST_IDS else ""
    return f"broker{'s' if len(ids) > 1 else ''} {', '.join(map(str, ids[:_MOST_IDS]))}{more}"


# --- partitions -----------------------------------------------------------------------------------


class _Walk:
    """All partitions looked at once."""

    def __init__(self, image: MetadataImage) -> None:
        self.counts, least = PartitionCounts(), MinIsr(image)
        self.under_replicated: list[Partition] = []
        """These and the next ones have a leader; of the others doctor's rule tells."""
        self.under_min_isr: list[Partition] = []
        self.reassigning: list[Partition] = []
        self.missing: Counter[int] = Counter()
        """The brokers whose replicas are not in sync."""
        self.preferred: Counter[int] = Counter()
        self.lost_lead: Counter[int] = Counter()
        """By broker: partitions that it is the first replica of, and those led by others."""
        active = {broker.id for broker in image.cluster.brokers.values() if not broker.fenced}
        self._active = active
        self._server = " ".join(tools.broker_in(image))
        for partition in of_image.partitions(image):
            state = partition.state
            min_isr = least.of(partition.topic, state.leader)
            self.counts.add(state, min_isr)
            if is_reassigning(state):
                self.reassigning.append(partition)
            if is_offline(state):
                continue
            if is_under_replicated(state):
                self.under_replicated.append(partition)
                self.missing.update({*state.replicas} - {*state.adding_replicas, *state.isr})
            if is_under_min_isr(state, min_isr):
                self.under_min_isr.append(partition)
            first = state.replicas[0] if state.replicas else -1
            self.preferred[first] += 1
            self.lost_lead[first] += state.leader != first

    def findings(self, name: str) -> Iterator[Finding]:
        if self.under_min_isr:
            partitions = self.under_min_isr
            yield kinds.UNDER_MIN_ISR.at(
                name, f"{counted(partitions)} below {MIN_ISR}: {named(partitions)}"
            )
        if self.under_replicated:
            partitions = self.under_replicated
            missing = _ids(sorted(self.missing))
            yield kinds.UNDER_REPLICATED.at(
                name, f"{counted(partitions)} without replicas of {missing}: {named(partitions)}"
            )
        for broker, lost in sorted(self.lost_lead.items()):
            total = self.preferred[broker]
            if broker in self._active and lost > total * _IMBALANCE:
                words = f"broker {broker} is the first replica of {total} partitions"
                yield kinds.IMBALANCE.at(
                    name,
                    f"{words}, and others lead {lost} of them",
                    advice=f"to correct it at once, run kafka-leader-election.sh {self._server}"
                    " --election-type preferred --all-topic-partitions",
                )
        if self.reassigning:
            partitions = self.reassigning
            yield kinds.REASSIGNING.at(
                name,
                f"{counted(partitions)}: {named(partitions)}",
                advice=f"see the progress: kafka-reassign-partitions.sh {self._server} --list",
            )


# --- the log --------------------------------------------------------------------------------------


def _clock(observation: Observation, now: QuorumView) -> int:
    """The leader's, which its records are stamped by; the last of them where it tells no time."""
    last = observation.image.provenance.last_timestamp
    return last if now.quorum is None else max(last, leader_clock(now.quorum))


def _elections(observation: Observation, now: QuorumView) -> tuple[int, ...]:
    """Return the times of the new leaders within the last hour."""
    since = _clock(observation, now) - HOUR_MS
    # The one at offset 0 began the cluster.
    return tuple(
        leader_change.timestamp
        for leader_change in observation.leader_changes
        if leader_change.offset > 0 and leader_change.timestamp > since
    )


def _stable_since(observation: Observation, now: QuorumView) -> int | None:
    """Return when the leader or the voters changed for the last time, as far as the log shows."""
    changes = [change.timestamp for change in observation.leader_changes[-1:]]
    voters = observation.controls.get(ControlRecordType.KRAFT_VOTERS)
    if voters is not None and voters.file == LOG:
        changes.append(voters.timestamp)
    epochs = [change.epoch for change in observation.leader_changes[-1:]]
    if observation.snapshot_id is not None:
        epochs.append(observation.snapshot_id.epoch)
    if now.epoch is None or max(epochs, default=now.epoch) < now.epoch:
        return None
    if not changes and observation.snapshot_timestamp >= 0:
        return observation.snapshot_timestamp
    return max(changes, default=None)


def _unexplained(elections: Sequence[int], starts: Sequence[ControllerStart]) -> tuple[int, ...]:
    """Return the elections that are not explained by a controller that restarted: it stopped, a
    leader was elected, and it registered again. A controller that starts again and again explains
    nothing."""
    counts = Counter(start.node_id for start in starts)
    times = [start.timestamp for start in starts if counts[start.node_id] <= _MOST_STARTS]
    return tuple(
        election
        for election in elections
        if not any(-_BEFORE_START_MS <= election - start <= _AFTER_START_MS for start in times)
    )


def _of_the_log(
    observation: Observation, now: QuorumView, elections: Sequence[int]
) -> Iterator[Finding]:
    name, clock = observation.name, _clock(observation, now)
    most = max(len(now.voters), 1)
    since = clock - HOUR_MS
    starts = [start for start in observation.controller_starts if start.timestamp > since]
    unexplained = _unexplained(elections, starts)
    words = f"{len(elections)} new leaders within the last hour"
    if len(unexplained) > most:
        explained = len(elections) - len(unexplained)
        words += f", of {len(now.voters)} voters"
        words += f"; restarts of controllers explain {explained} of them" if explained else ""
        yield kinds.ELECTIONS.at(name, words)
    elif len(elections) > 1:
        yield kinds.ELECTIONS.at(name, words, severity=Severity.INFO, advice="")
    age, id = clock - observation.snapshot_timestamp, observation.snapshot_id
    if id is not None and observation.snapshot_timestamp > 0 and age > SNAPSHOT_AGE_MS:
        came = observation.end_offset - id.offset
        yield kinds.SNAPSHOT_AGE.at(
            name,
            f"it ends at offset {id.offset} and is {age / HOUR_MS:.0f} hours old; {came} since",
        )
    if observation.open_transaction is not None:
        begun = observation.open_transaction.offset
        yield kinds.TRANSACTION_OPEN.at(name, f"since offset {begun}", offset=begun)


def _of_rules(observation: Observation, now: QuorumView) -> Iterator[Finding]:
    """Yield what doctor says of the state alone."""
    start = observation.snapshot_id
    state = LoadedState(
        image=observation.image,
        path=observation.name,
        snapshot="" if start is None else write_checkpoint_name(*start),
        start_offset=0 if start is None else start.offset,
        end_offset=observation.end_offset,
        controls=observation.controls,
    )
    examined = ExaminedDirectory(
        path=observation.name,
        judged=JudgedDirectory(directory=leader_source(now)),
        state=state,
        statistics=LogStatistics(),
        is_stream=True,
    )
    examination = together([examined])
    for rule in rules_of_state():
        yield from (diagnosis.finding for diagnosis in rule.find(examination))
