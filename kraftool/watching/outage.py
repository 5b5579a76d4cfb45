"""The loss of some nodes: an election simulated from a live quorum or from directories.

Owns the step from what a leader told to a quorum at rest, and what has to be assumed for it: a
leader tells how far each replica's log goes, and not which epochs are in it. The protocol, its runs
and the verdict are `sim/`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from kraftool.client.grades import Grade
from kraftool.client.judgement import judge
from kraftool.client.model import QuorumView
from kraftool.decoders.checkpoint_files import EpochEntry
from kraftool.raft.names import (
    BOOTSTRAP_SNAPSHOT,
    ElectionState,
    Endpoints,
    ReplicaKey,
    VersionRange,
    Voter,
    VoterSet,
)
from kraftool.raft.settings import SUPPORTED_KRAFT_VERSION, NodeSettings
from kraftool.reports.election.case import ElectionCase, Log, NodeCase, reachable_by
from kraftool.reports.election.read import (
    DEFAULT_LISTENER,
    UNKNOWN_CLUSTER,
    placeholder,
    read_case,
)
from kraftool.reports.text.words import listed
from kraftool.sim.conditions import Conditions, partition
from kraftool.sim.report import Report, with_runs, without_runs
from kraftool.watching.picture import Picture, QuorumSample
from kraftool.watching.task import Task

RUNS = 100
"""The default of simulate-election."""
_EVERY_S = 0.2
"""Seconds between two partial results."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OutageQuestion:
    """A question: which nodes are lost, and between which nothing passes."""

    down: frozenset[int] = frozenset()
    partition: str = ""
    """As simulate-election's option has it: 1|2,3."""
    seed: int = 0
    runs: int = RUNS

    def conditions(self, case: ElectionCase) -> Conditions:
        """The same for the simulation. Raises ConditionError for what is no partition."""
        nodes = {*case.by_id, *case.unknown}
        cut = partition(self.partition, nodes) if self.partition else frozenset()
        return Conditions(
            down=(self.down & frozenset(case.by_id)) | case.cannot_start,
            cut=cut,
            partitions=(self.partition,) if self.partition else (),
        )


def answer(case: ElectionCase, question: OutageQuestion, task: Task) -> Report:
    """Simulate it. Partial results are who can lead, at once, then the runs so far.

    Raises ConditionError, or StoppedError if the task was stopped.
    """
    conditions = question.conditions(case)
    task.begin("working out who can lead")
    report = without_runs(case, conditions, seed=question.seed)
    task.partial(report)
    told_s = time.monotonic()

    def partly(so_far: Callable[[], Report]) -> None:
        nonlocal told_s
        if time.monotonic() - told_s >= _EVERY_S:
            task.partial(so_far())
            told_s = time.monotonic()

    task.begin("simulating", question.runs)
    return with_runs(report, question.runs, progress=task.counted, partly=partly)


def answer_of_directories(paths: Sequence[str], question: OutageQuestion, task: Task) -> Report:
    """Simulate the quorum that would start from these directories."""
    return answer(case_of_directories(paths, task), question, task)


def case_of_directories(paths: Sequence[str], task: Task) -> ElectionCase:
    """The quorum that would start from what is on these disks."""
    task.begin("reading directories")
    return read_case(paths, task.passed)


def case_of_live(picture: Picture, committed: int | None = None) -> ElectionCase | None:
    """The quorum as leaders told it last, all nodes starting anew; None if none was seen.

    `committed`: the high watermark of a leader that leads now. Logs then end there: what is behind
    it is not committed yet, by the leader's own word, and nobody can lose it.

    A voter of which this leader knows nothing, as the one that led before and failed, keeps the log
    end that was told last. All logs are taken for parts of one log, which they are as far as they
    were fetched.
    """
    quorum_samples = [
        sample
        for sample in picture.history.samples
        if sample.leader_id is not None and sample.voters
    ]
    if not quorum_samples:
        return None
    newest = quorum_samples[-1]
    voters = _voter_set(newest, picture.view)
    starts = _epoch_starts(quorum_samples)
    nodes, late = [], []
    for key in sorted(newest.voters):
        known = next(
            (
                quorum_sample
                for quorum_sample in reversed(quorum_samples)
                if key in quorum_sample.ends
            ),
            None,
        )
        if known is None:
            continue
        if known is not newest:
            late.append(key.id)
        end = known.ends[key] if committed is None else min(known.ends[key], committed)
        epochs = [start for start in starts if start.epoch <= (known.epoch or 0)]
        nodes.append(_node(key, end, epochs, voters, newest, picture.view))
    ids = {node.id for node in nodes}
    return ElectionCase(
        nodes=tuple(replace(node, settings=reachable_by(node.settings, nodes)) for node in nodes),
        unknown=tuple(sorted(voters.ids - ids)),
        is_live=True,
        notes=tuple(_assumed(newest, picture, late)),
    )


def _epoch_starts(samples: Sequence[QuorumSample]) -> list[EpochEntry]:
    """Each begins where the logs ended before, as far as that was seen."""
    starts: list[EpochEntry] = []
    end = 0
    for sample in samples:
        ends = max(sample.ends.values(), default=0)
        if not starts:
            starts.append(EpochEntry(sample.epoch or 0, 0))
        elif (sample.epoch or 0) > starts[-1].epoch:
            start = min(end, ends - 1)  # a leader begins with a record of its own
            if start > starts[-1].start_offset:
                starts.append(EpochEntry(sample.epoch or 0, start))
            else:
                starts[-1] = EpochEntry(sample.epoch or 0, starts[-1].start_offset)
        end = ends
    return starts


def lost_already(picture: Picture) -> frozenset[int]:
    """The nodes that do not answer, and the voters that do not keep up."""
    view = picture.view
    if view is None:
        return frozenset()
    judgement = judge(view, picture.history.before)
    runs = {voter.id for voter in judgement.voters if voter.grade is Grade.OUT_OF_REACH}
    silent = {
        node.node_id
        for node in view.nodes
        if node.node_id is not None and not node.is_reached and node.waiting_ms is None
    }
    return frozenset((silent - runs) | (_behind(view) if view.quorum is not None else set()))


def _behind(view: QuorumView) -> set[int]:
    """The voters that have not fetched lately."""
    assert view.quorum is not None, "only a leader knows who fetches"
    return {voter.id for voter in judge(view).voters if not voter.is_fetching}


def _is_static(sample: QuorumSample) -> bool:
    """Voters of static quorums have no directory ids."""
    return all(voter.directory_id is None for voter in sample.voters)


def _voter_set(sample: QuorumSample, view: QuorumView | None) -> VoterSet:
    levels = VersionRange(0, 0) if _is_static(sample) else SUPPORTED_KRAFT_VERSION
    return VoterSet.of(
        *(
            Voter(key=voter, endpoints=_endpoints(view, voter.id), kraft_version=levels)
            for voter in sample.voters
        )
    )


def _endpoints(view: QuorumView | None, node_id: int) -> Endpoints:
    endpoints = dict(view.voter_endpoints.get(node_id, {})) if view is not None else {}
    return endpoints or {DEFAULT_LISTENER: placeholder(node_id)}


def _node(
    key: ReplicaKey,
    end: int,
    epochs: Sequence[EpochEntry],
    voters: VoterSet,
    sample: QuorumSample,
    view: QuorumView | None,
) -> NodeCase:
    listeners = _endpoints(view, key.id)
    is_static = _is_static(sample)
    settings = NodeSettings(
        node_id=key.id,
        directory_id=key.directory_id or f"of-node-{key.id}",
        cluster_id=(view.cluster_id if view is not None else None) or UNKNOWN_CLUSTER,
        listeners=listeners,
        default_listener=next(iter(listeners)),
        static_voters=voters if is_static else VoterSet(),
        kraft_version=SUPPORTED_KRAFT_VERSION,
        is_witness=view is not None and view.runs_controller(key.id) is False,
    )
    epoch, formatted = sample.epoch or 0, BOOTSTRAP_SNAPSHOT.offset - 1
    log = Log(
        end=end,
        epochs=tuple(epoch_entry for epoch_entry in epochs if epoch_entry.start_offset < end),
        snapshots=() if is_static else (BOOTSTRAP_SNAPSHOT,),
        voter_sets=() if is_static else ((formatted, voters),),
        kraft_versions=() if is_static else ((formatted, 1),),
    )
    election = ElectionState(epoch=epoch, leader_id=sample.leader_id)
    return NodeCase(
        settings=settings,
        log=log,
        election=election,
        source="reported by its leader",
    )


def _assumed(sample: QuorumSample, picture: Picture, late: Sequence[int]) -> Iterator[str]:
    yield (
        f"log ends are as leader {sample.leader_id} of epoch {sample.epoch} reported them;"
        " every log is assumed to be a part of its log"
    )
    view = picture.view
    if view is not None and view.quorum is not None:
        yield (
            f"all nodes restart; until then, leader {view.quorum.leader_id} keeps leading while a"
            " majority fetches from it"
        )
    else:
        seconds = (picture.at_ms - sample.at_ms) // 1000
        yield f"no node leads now: log ends are {seconds} s old, and logs may have more records"
    behind = set() if view is None or view.quorum is None else _behind(view)
    if unsure := sorted(behind | set(late)):
        yield f"{listed(unsure)} may have more records than reported: no fetch came since"
    yield "timeouts are Kafka's defaults: a live quorum does not report its settings"
