"""The simulator's runs of a plan's outcome: the recovered voters elect, then old ones return.

Owns which nodes start when, and what stands in for a disk that nobody gave: an old voter comes back
as if it had the best log there was, or more of it than anybody knows. What a method promises of
this is docs/recover.md's table; that is held against what happened, the worst of all seeds.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import NamedTuple

from kraftool.decoders.checkpoint_files import EpochEntry
from kraftool.decoders.json_marks import Count, Ids, in_json_before
from kraftool.raft.names import VoterSet, majority_of
from kraftool.repair.cases.endpoints import STATIC_VOTERS
from kraftool.repair.disk import DataDirectory
from kraftool.repair.plan import Method, Plan
from kraftool.repair.plan_file import PlanFileKind
from kraftool.repair.rehearsal_copies import Progress, Rehearsed
from kraftool.reports.election.case import ElectionCase, NodeCase
from kraftool.reports.election.read import read_case
from kraftool.reports.election.what_if import EQUAL, assumed_up
from kraftool.reports.findings.finding import Finding, Severity
from kraftool.reports.findings.kinds import repair as kinds
from kraftool.reports.text.words import listed, many
from kraftool.sim.conditions import Conditions
from kraftool.sim.returning import Ending, Returning, Way
from kraftool.storage.files import Files

_MOST_MORE = 1000
"""So many records more than anybody knows an old voter may have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """One way in which old voters return, over all seeds."""

    way: Way
    is_ahead: bool = False
    """True if nodes whose directories were not given have more records than the given ones."""
    is_promised: bool
    """True if the method promises that the recovered quorum loses nothing in this way."""
    endings: tuple[Ending, ...]

    @property
    def leaders(self) -> dict[int, int]:
        """Return who led first, in how many runs."""
        return dict(
            Counter(ending.leader_id for ending in self.endings if ending.leader_id is not None)
        )

    @property
    @in_json_before("endings")
    def leaderless_runs(self) -> Count:
        return sum(ending.leader_id is None for ending in self.endings)

    @property
    @in_json_before("endings")
    def losing_runs(self) -> Count:
        """Runs in which committed records were lost."""
        return len(self.losing)

    @property
    @in_json_before("endings")
    def parted_runs(self) -> Count:
        """Runs that ended with more than one leader."""
        return len(self.parted)

    @property
    @in_json_before("endings")
    def breaking_runs(self) -> Count:
        """Runs in which a node ended with an error."""
        return len(self.breaking)

    @property
    def losing(self) -> tuple[Ending, ...]:
        return tuple(ending for ending in self.endings if ending.lost_from is not None)

    @property
    def parted(self) -> tuple[Ending, ...]:
        """Runs that ended with two quorums, or with another than the recovered one."""
        return tuple(ending for ending in self.endings if len(ending.leaders) > 1)

    @property
    def breaking(self) -> tuple[Ending, ...]:
        return tuple(ending for ending in self.endings if ending.broken)


class NodeEnd(NamedTuple):
    """The end of a node's log."""

    node_id: int
    offset: int
    epoch: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ElectionRehearsal:
    """All that was simulated."""

    started: Ids
    """The nodes that start first."""
    back: Ids = ()
    """Nodes of the quarantine that were given, and return."""
    assumed: Ids = ()
    """Those that were not given, and return as if with the best log there is."""
    absent: Ids = ()
    """Voters of the plan that were not given, and so down."""
    further: tuple[NodeEnd, ...] = ()
    """Nodes that were given and that the plan counts as lost, with more of the log than it knew
    of."""
    trials: tuple[Trial, ...] = ()
    """Empty if too few voters were given for a majority."""


def rehearse_elections(
    plan: Plan, rehearsed: Sequence[Rehearsed], seeds: int, progress: Progress
) -> ElectionRehearsal:
    """Simulate on what the plan made of the copies, with so many seeds."""
    nodes = list(_nodes(rehearsed))
    off = {directory.node_id for directory in rehearsed if directory.is_quarantined}
    started = tuple(sorted(node.id for node in nodes if node.id not in off))
    voters = {voter.id for voter in plan.voters_after} or {
        id_ for node in nodes if node.id not in off for id_ in node.voters.ids
    }
    absent = tuple(sorted(voters - set(started)))
    missing = [node for node in plan.quarantine if node.node_id not in {one.id for one in nodes}]
    assumed = tuple(sorted({node.node_id for node in missing}))
    election_rehearsal = ElectionRehearsal(
        started=started,
        back=tuple(sorted(node.id for node in nodes if node.id in off)),
        assumed=assumed,
        absent=absent,
        further=tuple(_further_nodes(plan, rehearsed, nodes)),
    )
    if len(voters) - len(absent) < majority_of(len(voters)):
        return election_rehearsal
    before = (
        read_case([directory.path for directory in rehearsed])
        if assumed
        else ElectionCase(nodes=())
    )
    trials = []
    asked = list(_asked(election_rehearsal))
    for number, (way, is_ahead) in enumerate(asked):
        endings = []
        for seed in range(seeds):
            progress("simulating", number * seeds + seed, len(asked) * seeds)
            case = _case(nodes, before, assumed, Random(seed) if is_ahead else None)
            back = (*election_rehearsal.back, *assumed)
            endings.append(Returning(case, Conditions(), seed, back, way).ending())
        promised = is_promised(plan, way, is_ahead=is_ahead or bool(election_rehearsal.further))
        trials.append(
            Trial(way=way, is_ahead=is_ahead, is_promised=promised, endings=tuple(endings))
        )
    return replace(election_rehearsal, trials=tuple(trials))


def _asked(rehearsal: ElectionRehearsal) -> Iterator[tuple[Way, bool]]:
    """The ways to be tried."""
    yield Way.AFTERWARDS, False
    if rehearsal.assumed:
        yield Way.AFTERWARDS, True
    if rehearsal.back or rehearsal.assumed:
        yield Way.APART, bool(rehearsal.assumed)
        yield Way.LEADER_DIES, False


# --- the nodes --------------------------------------------------------------------------------


def _nodes(rehearsed: Sequence[Rehearsed]) -> Iterator[NodeCase]:
    """Each node as its copy has it now. Nodes of another cluster id are nodes, too."""
    clusters: defaultdict[str, list[Rehearsed]] = defaultdict(list)
    for directory in rehearsed:
        cluster_id = DataDirectory(Files(), directory.copy).identity().cluster_id
        clusters[cluster_id].append(directory)
    for group in clusters.values():
        of_path = {directory.copy: directory for directory in group}
        for node in read_case([directory.copy for directory in group]).nodes:
            directory = of_path[node.source]
            yield _with_settings(node, _static_ids(directory))


def _static_ids(directory: Rehearsed) -> frozenset[int]:
    """The voters that the plan has in server.properties; none where it says nothing of them."""
    host = directory.host
    for setting in host.settings if host is not None else ():
        if setting.key == STATIC_VOTERS and setting.value:
            ids = (one.partition("@")[0].strip() for one in setting.value.split(","))
            return frozenset(int(one) for one in ids if one.isdigit())
    return frozenset()


def _further_nodes(
    plan: Plan, rehearsed: Sequence[Rehearsed], nodes: Sequence[NodeCase]
) -> Iterator[NodeEnd]:
    """Nodes of the quarantine that are further than everything that the plan was made of."""
    known = max(((ranked.last_epoch, ranked.end_offset) for ranked in plan.ranking), default=(0, 0))
    new = {directory.node_id for directory in rehearsed if directory.host is None}
    for node in nodes:
        if node.id in new and node.end.rank > known:
            yield NodeEnd(node.id, node.end.offset, node.end.epoch)


def _with_settings(node: NodeCase, ids: frozenset[int]) -> NodeCase:
    if not ids:
        return node
    known = node.settings.static_voters
    static = VoterSet.of(*(voter for voter in known if voter.key.id in ids))
    return replace(node, settings=replace(node.settings, static_voters=static))


def _case(
    nodes: Sequence[NodeCase], before: ElectionCase, assumed: Sequence[int], random: Random | None
) -> ElectionCase:
    """All nodes, with those that are assumed: with the best log there was before the plan, or some
    more of it."""
    node_cases = {node_case.id: node_case for node_case in nodes}
    for node_id in assumed:
        node = assumed_up(before, node_id, EQUAL).by_id[node_id]
        node_cases[node_id] = node if random is None else _further(node, random)
    return ElectionCase(nodes=tuple(node_cases[node_id] for node_id in sorted(node_cases)))


def _further(node: NodeCase, random: Random) -> NodeCase:
    """With records that nobody knows of, in the last epoch or in one that began since."""
    log, election = node.log, node.election
    end = log.end + random.randrange(1, _MOST_MORE)
    epoch = node.end.epoch
    if random.random() < 0.5:
        epoch += 1
        log = replace(log, epochs=(*log.epochs, EpochEntry(epoch, log.end)))
    if election is not None:
        leader = election.leader_id if election.epoch >= epoch else None
        election = replace(election, epoch=max(election.epoch, epoch), leader_id=leader)
    return replace(node, log=replace(log, end=end), election=election)


# --- what is made of it -----------------------------------------------------------------------


def is_fenced(plan: Plan) -> bool:
    """True if the plan gives the kept nodes a new cluster id."""
    seed = plan.host(plan.seed) if plan.seed else None
    return seed is not None and any(
        edit.target.kind is PlanFileKind.META_PROPERTIES for edit in seed.edits
    )


def is_promised(plan: Plan, way: Way, *, is_ahead: bool) -> bool:
    """True if the method promises that nothing of the recovered quorum is lost on this way."""
    if is_fenced(plan):
        return True
    match plan.method:
        case Method.SNAPSHOT_JUMP | Method.APPEND if way is Way.LEADER_DIES:
            # Old voters that have heard of its epoch, and not of the new voters, elect a leader of
            # a later one.
            return False
        case Method.SNAPSHOT_JUMP:
            # Old voters ask each other, and so never hear of a node that is new among them.
            return not {voter.id for voter in plan.voters_after}.isdisjoint(
                voter.id for voter in plan.voters_before
            )
        case Method.APPEND:
            return way is Way.AFTERWARDS and not is_ahead
        case Method.STATIC_PROPERTIES:
            return False
        case _:
            return True


def findings_of(plan: Plan, rehearsal: ElectionRehearsal, *, led_by: str = "") -> Iterator[Finding]:
    """Yield what is not as it should be, or would not be if the plan were not kept to.

    `led_by` names the software of real nodes that elected a leader: they refute the simulator.
    """
    if not rehearsal.trials:
        text = f"no directory was given of the plan's voters {listed(rehearsal.absent)}"
        yield kinds.NOT_SHOWN.at("", text)
    for end in rehearsal.further:
        text = f"node {end.node_id} has a log up to offset {end.offset} of epoch {end.epoch}"
        yield kinds.AHEAD.at("", text)
    for trial in rehearsal.trials:
        runs = len(trial.endings)
        if trial.leaderless_runs:
            text = f"in {trial.leaderless_runs} of {many(runs, 'run')} no leader was elected"
            if led_by and trial.leaderless_runs == runs:
                text += f" in the simulator, but {led_by} elected one on the same copies"
                yield kinds.SIMULATOR_DIFFERS.at("", text)
            else:
                yield kinds.NO_LEADER.at("", text)
        way = in_words(rehearsal, trial)
        severity = _severity(rehearsal, is_promise=trial.is_promised)
        if trial.way is Way.LEADER_DIES and not trial.is_promised:
            severity = Severity.INFO  # a second failure, in the moments of the return
        if trial.losing:
            worst = trial.losing[0]
            yield kinds.LOSES.at(
                "",
                f"{way}: in {len(trial.losing)} of {many(runs, 'run')} records from offset"
                f" {worst.lost_from} on are lost that the recovered quorum had committed (seed"
                f" {worst.seed})",
                severity=severity,
            )
        elif trial.parted and not is_fenced(plan):
            worst = trial.parted[0]
            leaders = listed(f"{node} (epoch {epoch})" for node, epoch in worst.leaders)
            yield kinds.TWO_QUORUMS.at(
                "",
                f"{way}: in {len(trial.parted)} of {many(runs, 'run')} there are two quorums in"
                f" the end, led by {leaders} (seed {worst.seed})",
                # Those that never hear of the recovered leader go on without it.
                severity=_severity(rehearsal, is_promise=False)
                if trial.way is Way.APART
                else severity,
            )
        if trial.breaking:
            worst = trial.breaking[0]
            node, why = worst.broken[0]
            yield kinds.ENDS.at(
                "",
                f"{way}: in {len(trial.breaking)} of {many(runs, 'run')} a node stops with an"
                f" error; node {node}: {why} (seed {worst.seed})",
                severity=severity,
            )


def _severity(rehearsal: ElectionRehearsal, *, is_promise: bool) -> Severity:
    """An error where more was promised; else what happens if nodes are not kept off."""
    if is_promise:
        return Severity.ERROR
    return Severity.WARNING if rehearsal.back else Severity.INFO


def in_words(rehearsal: ElectionRehearsal, trial: Trial) -> str:
    """Return who returns, and how."""
    ids = sorted((*rehearsal.back, *rehearsal.assumed))
    if not ids:
        return "the recovered voters alone"
    return f"{'node' if len(ids) == 1 else 'nodes'} {listed(ids)} {how_it_goes(trial)}"


def how_it_goes(trial: Trial) -> str:
    """Return how nodes of the quarantine return."""
    how = {
        Way.AFTERWARDS: "back afterwards",
        Way.APART: "apart first, then back",
        Way.LEADER_DIES: "back while the leader dies",
    }[trial.way]
    return how + (", ahead of all" if trial.is_ahead else "")
