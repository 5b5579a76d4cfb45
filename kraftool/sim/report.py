"""The whole of a simulated election: chances, runs, losses, restarts, what an operator asks about.

Owns the order of work and the values that views show. It refuses to word the verdict, which is
`verdict.py`'s.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Literal

from kraftool.decoders.json_marks import Count, Ids, in_json
from kraftool.reports.election.assessment import Assessment, assess
from kraftool.reports.election.case import ElectionCase
from kraftool.reports.election.losses import (
    CommitEvidence,
    CommitStatus,
    RecordLoss,
    losses,
    unseen_records,
)
from kraftool.sim.candidacy import Chance
from kraftool.sim.chances import Chances, Failures
from kraftool.sim.conditions import Conditions, StartPace
from kraftool.sim.outlook import Outlook, outlooks
from kraftool.sim.parallel import Runs
from kraftool.sim.patience import horizon_ms, unhurried
from kraftool.sim.run import ElectionRun, Outcome, Seen, VoterChange, at_rest

_RUNS_IN_VAIN, _IN_VAIN_SHARE = 3, 5
"""So many runs, of such a part of the time, show how it goes where no leader was found possible."""
_RUNS_TO_DOUBT = 10
"""If none of so many had a leader, no more are made: each takes all of its time."""
_MOST_TOGETHER = 3
_MOST_RESCUED = 7
"""The largest quorum of which every group is tried."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Restart:
    """The result of a restart of one node."""

    node_id: int
    leaders: Ids
    """Nodes that can lead meanwhile."""
    losses: tuple[RecordLoss, ...] = ()
    """Records that those would cut off and that may have been committed."""

    @property
    @in_json
    def is_safe(self) -> bool:
        """True if a leader is possible, and no such leader loses a record."""
        return bool(self.leaders) and not self.losses


@dataclass(frozen=True, slots=True, kw_only=True)
class VoterChangeAnswer:
    """An answer to a change of the voters."""

    error_name: str
    """Kafka's error; NONE where it was done."""
    runs: Count


@dataclass(frozen=True, slots=True, kw_only=True)
class Changed:
    """The result of a voter change over all runs."""

    node_id: int
    kind: Literal["add", "remove"]
    answers: tuple[VoterChangeAnswer, ...]
    reason: str
    """The leader's answer."""
    took_ms: int | None
    """In half of the runs that had an answer."""

    @property
    @in_json
    def is_done(self) -> bool:
        return bool(self.answers) and self.answers[0].error_name == "NONE"


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """Everything that can be said."""

    case: ElectionCase
    conditions: Conditions
    seed: int
    runs: int
    """How many were made."""
    chances: tuple[Chance, ...]
    assessment: Assessment
    """The judgement that every command shares: of the directories, whatever the conditions are."""
    incomplete: tuple[int, ...] = ()
    """Nodes behind whose log committed records may be that no directory shows."""
    wins: dict[int, int] = field(default_factory=dict)
    """In how many runs each node led first. A witness that hands over is not counted."""
    after_witness: int = 0
    """In how many of them a witness led before that, as a last resort."""
    wins_by_pace: dict[StartPace, dict[int, int]] = field(default_factory=dict)
    """`wins` by how the nodes of a run started."""
    times_ms: tuple[int, ...] = ()
    """From the first start until a leader could commit, ascending, of the runs that had one and
    whose nodes started together."""
    elections: tuple[tuple[int, int], ...] = ()
    """(epochs that were begun, in how many runs)."""
    broken: tuple[tuple[int, str, int], ...] = ()
    """Nodes that stopped because the protocol was broken: why, and in how many runs."""
    timeline: tuple[Seen, ...] = ()
    losses: tuple[RecordLoss, ...] = ()
    """For each node with a log, what it would cut off."""
    failures: Failures | None = None
    restarts: tuple[Restart, ...] = ()
    revivals: tuple[tuple[int, ...], ...] = ()
    """Without a leader: which nodes would have to be started, or reached, for one."""
    heals: bool = False
    """True if there would be a leader without the partitions."""
    rescue: tuple[int, ...] = ()
    """Where records would be lost: which nodes elect a leader without that, if they alone start."""
    stopped_before: int = 0
    """The runs that were asked for, if somebody stopped them before all were made."""
    horizon_ms: int = 0
    """How long a leader was waited for in each run."""
    given_up: int = 0
    """Runs that took too many events, and ended before that."""
    changes: tuple[Changed, ...] = ()
    failures_after: Failures | None = None
    """As `failures`, once the voters were changed."""
    voters_after: tuple[int, ...] = ()

    @property
    def up(self) -> tuple[int, ...]:
        return tuple(node.id for node in self.case.nodes if node.id not in self.conditions.down)

    @property
    def leaders(self) -> tuple[int, ...]:
        """Return who can lead, whether by the trial of chances or by any run."""
        possible = {chance.node for chance in self.chances if chance.commits}
        possible |= self.wins.keys()
        return tuple(sorted(possible))

    @property
    def outlooks(self) -> tuple[Outlook, ...]:
        """Return what is said of each node's chance to be the first leader."""
        return outlooks(self.case, self.leaders, self.wins_by_pace)

    @property
    def without_leader(self) -> int:
        """Runs that ended without one."""
        return self.runs - sum(self.wins.values())

    @property
    def is_elected(self) -> bool:
        """True if a leader is possible, and came about in any run."""
        return bool(self.leaders) and (bool(self.wins) or not self.runs)

    @property
    def without_controller(self) -> tuple[int, ...]:
        """The possible leaders that run no controller, where they can hand over to nobody."""
        without = tuple(leader for leader in self.leaders if self.case.by_id[leader].is_witness)
        return without if len(without) == len(self.leaders) else ()

    def log_of(self, leader: int) -> int:
        """The node whose log a leader has: one that a witness hands over to has the witness's."""
        via = {chance.node: chance.via for chance in self.chances if chance.via is not None}
        return via.get(leader, leader)

    @property
    def is_fine(self) -> bool:
        """True if there is a leader, every possible one runs a controller as far as is known, and
        no one of them takes away what may be committed."""
        is_safe = not self.grave and not self.unseen
        return self.is_elected and is_safe and not self.without_controller

    @property
    def is_last_majority(self) -> bool:
        """True if the quorum may have no leader once one more voter stops."""
        return self.failures is not None and self.failures.is_exact and not self.failures.failures

    def quantile_ms(self, share: float) -> int | None:
        """A time within which so many runs had a leader, of those that had one."""
        if not self.times_ms:
            return None
        return self.times_ms[min(int(share * len(self.times_ms)), len(self.times_ms) - 1)]

    def losses_by(self, leader: int) -> tuple[RecordLoss, ...]:
        return tuple(loss for loss in self.losses if loss.leader_id == self.log_of(leader))

    @property
    def grave(self) -> tuple[RecordLoss, ...]:
        """Return what possible leaders cut off though somebody may have been told that it is
        safe.
        """
        logs = self._winning_logs
        return tuple(
            loss for loss in self.losses if loss.leader_id in logs and loss.commit_status.is_grave
        )

    @property
    def minor(self) -> tuple[RecordLoss, ...]:
        """Return what possible leaders cut off and only a minority of the voters has."""
        logs = self._winning_logs
        return tuple(
            loss
            for loss in self.losses
            if loss.leader_id in logs and loss.commit_status is CommitStatus.MINORITY
        )

    @property
    def unseen(self) -> tuple[int, ...]:
        """Possible leaders that may lack committed records that no directory shows."""
        return tuple(sorted(self._winning_logs & set(self.incomplete)))

    @property
    def _winning_logs(self) -> set[int]:
        """The nodes whose logs a leader may have."""
        able = {*self.leaders, *(chance.node for chance in self.chances if chance.wins)}
        return {self.log_of(node_id) for node_id in able}


def simulate(
    case: ElectionCase,
    conditions: Conditions,
    *,
    seed: int,
    runs: int,
    jobs: int = 1,
    progress: Callable[[str, int, int], None] = lambda label, done, total: None,
) -> Report:
    """Ask everything about a quorum at rest. The report is the same for every number of `jobs`."""
    return with_runs(without_runs(case, conditions, seed=seed), runs, jobs, progress)


def without_runs(case: ElectionCase, conditions: Conditions, *, seed: int = 0) -> Report:
    """Ask all that needs no runs: who can lead, what is lost then, how many failures are
    tolerated."""
    assessment, known = assess(case), CommitEvidence.of(case)
    unseen = tuple(node.id for node in case.nodes if unseen_records(known, node) is not None)
    case = unhurried(case)
    chances = Chances(case)
    node_chances = chances.all(conditions)
    voters = sorted(node.id for node in case.nodes if _votes(case, node.id, conditions))
    failures = chances.failures(conditions, voters)
    report = Report(
        case=case,
        conditions=conditions,
        seed=seed,
        runs=0,
        chances=node_chances,
        assessment=assessment,
        incomplete=unseen,
        losses=tuple(
            loss for node in case.nodes if not node.assumed or node.log.end
            for loss in losses(case, node)
        ),
        failures=failures,
        restarts=_restarts(case, conditions, chances, voters) if failures is not None else (),
        revivals=_revivals(case, conditions, chances) if failures is None else (),
        heals=bool(conditions.cut)
        and failures is None
        and chances.stands(replace(conditions, cut=frozenset())),
    )  # fmt: skip
    return replace(report, rescue=_rescue(case, conditions, chances)) if report.grave else report


def with_runs(
    report: Report,
    runs: int,
    jobs: int = 1,
    progress: Callable[[str, int, int], None] = lambda label, done, total: None,
    *,
    partly: Callable[[Callable[[], Report]], None] = lambda so_far: None,
    is_stoppable: bool = False,
) -> Report:
    """Add the runs to a report without runs, and what follows from them.

    `partly` is called after each run: what it gets makes the report of the runs so far. If it is
    stoppable, Ctrl-C ends the runs, and the report is of those that were made.
    """
    case, conditions = report.case, report.conditions
    possible = any(chance.wins for chance in report.chances)
    count = runs if possible else min(runs, _RUNS_IN_VAIN)
    horizon = horizon_ms(case, conditions) // (1 if possible else _IN_VAIN_SHARE)
    simulated = Runs(case, conditions, horizon)
    progress("runs", 0, count)
    first = simulated.start(report.seed, watched=True)
    outcomes: list[Outcome] = []
    wins: Counter[int | None] = Counter()
    is_stopped = False
    try:
        outcomes.append(first.go())
        wins[outcomes[0].leader] += 1
        seeds = range(report.seed + 1, report.seed + count)
        with closing(simulated.outcomes(seeds, jobs)) as others:
            for outcome in others:
                progress(_so_far(wins), len(outcomes), count)
                partly(lambda: _with_outcomes(report, outcomes, first, horizon))
                outcomes.append(outcome)
                wins[outcome.leader] += 1
                if len(outcomes) == wins[None] == _RUNS_TO_DOUBT:
                    break
    except KeyboardInterrupt:
        if not is_stoppable:
            raise
        is_stopped = True
    if not outcomes:
        return replace(report, stopped_before=count, horizon_ms=horizon)
    after: tuple[Failures | None, tuple[int, ...]] = (None, ())
    if first.outcome.changes:
        after = _afterwards(case, conditions, first)
    played = replace(
        _with_outcomes(report, outcomes, first, horizon),
        failures_after=after[0],
        voters_after=after[1],
        stopped_before=count if is_stopped else 0,
    )
    if played.grave and not report.grave:
        return replace(played, rescue=_rescue(case, conditions, Chances(case)))
    return played


def _with_outcomes(
    report: Report, outcomes: Sequence[Outcome], first: ElectionRun, horizon: int
) -> Report:
    """The report with what these runs showed."""
    wins = Counter(outcome.leader for outcome in outcomes if outcome.leader is not None)
    return replace(
        report,
        runs=len(outcomes),
        wins=dict(sorted(wins.items())),
        after_witness=sum(
            outcome.witness not in (None, outcome.leader) and outcome.leader is not None
            for outcome in outcomes
        ),
        wins_by_pace=_wins_by_pace(outcomes),
        times_ms=tuple(
            sorted(
                outcome.committed_ms
                for outcome in outcomes
                if outcome.committed_ms is not None and outcome.pace is StartPace.TOGETHER
            )
        ),
        elections=tuple(
            sorted(
                Counter(
                    outcome.elections for outcome in outcomes if outcome.leader is not None
                ).items()
            )
        ),
        broken=tuple(
            sorted(
                (node, why, count)
                for (node, why), count in Counter(
                    breach for outcome in outcomes for breach in outcome.broken
                ).items()
            )
        ),
        timeline=tuple(first.seen),
        horizon_ms=horizon,
        given_up=sum(outcome.is_given_up for outcome in outcomes),
        changes=_changes(outcomes),
    )


def _so_far(wins: Counter[int | None]) -> str:
    """Return who led in how many runs so far, as a progress label."""
    parts = [f"{leader} leads {count}" for leader, count in sorted(_known(wins).items())]
    return ", ".join(["runs", *parts, *([f"no leader {wins[None]}"] if wins[None] else [])])


def _known(wins: Counter[int | None]) -> dict[int, int]:
    return {leader: count for leader, count in wins.items() if leader is not None}


def _wins_by_pace(outcomes: Sequence[Outcome]) -> dict[StartPace, dict[int, int]]:
    wins: dict[StartPace, Counter[int]] = {}
    for outcome in outcomes:
        counts = wins.setdefault(outcome.pace, Counter())
        if outcome.leader is not None:
            counts[outcome.leader] += 1
    return {pace: dict(sorted(wins[pace].items())) for pace in StartPace if pace in wins}


def _grave(case: ElectionCase, leaders: Sequence[int]) -> tuple[RecordLoss, ...]:
    """Return what these cut off that may have been committed."""
    return tuple(
        loss
        for leader in leaders
        for loss in losses(case, case.by_id[leader])
        if loss.commit_status.weighs
    )


def _rescue(case: ElectionCase, conditions: Conditions, chances: Chances) -> tuple[int, ...]:
    """The smallest group of nodes that has a leader, and none that loses what may be committed.

    Nodes that are down are among it where it does not go without: they may have the records.
    """
    voters = [node.id for node in case.nodes if node.is_voter]
    if len(voters) > _MOST_RESCUED:
        return ()
    others = frozenset(case.by_id)
    groups = [group for count in range(1, len(voters) + 1) for group in combinations(voters, count)]
    groups.sort(key=lambda group: not conditions.down.isdisjoint(group))
    for group in groups:
        alone = replace(conditions, down=others - set(group))
        if chances.stands(alone) and not _grave(case, chances.electable(alone)):
            return group
    return ()


def _votes(case: ElectionCase, node_id: int, conditions: Conditions) -> bool:
    return node_id not in conditions.down and case.voters.has(case.by_id[node_id].key)


def _restarts(
    case: ElectionCase, conditions: Conditions, chances: Chances, voters: Sequence[int]
) -> tuple[Restart, ...]:
    restarts = []
    for voter in voters:
        meanwhile = conditions.without([voter])
        grave = _grave(case, chances.electable(meanwhile))
        restarts.append(Restart(node_id=voter, leaders=chances.leaders(meanwhile), losses=grave))
    return tuple(restarts)


def _revivals(
    case: ElectionCase, conditions: Conditions, chances: Chances
) -> tuple[tuple[int, ...], ...]:
    """The smallest groups of nodes that are down and would bring a leader."""
    down = sorted(conditions.down & case.by_id.keys())
    for count in range(1, min(len(down), _MOST_TOGETHER) + 1):
        groups = [
            group
            for group in combinations(down, count)
            if chances.stands(replace(conditions, down=conditions.down - set(group)))
        ]
        if groups:
            return tuple(groups)
    return ()


def _changes(outcomes: Sequence[Outcome]) -> tuple[Changed, ...]:
    summaries = []
    rounds = [outcome.changes for outcome in outcomes if outcome.changes]
    for number in range(len(rounds[0]) if rounds else 0):
        made: list[VoterChange] = [changes[number] for changes in rounds]
        names = Counter(
            voter_change.error.name if voter_change.error is not None else "no answer"
            for voter_change in made
        )
        times = sorted(
            voter_change.at_ms for voter_change in made if voter_change.error is not None
        )
        summaries.append(
            Changed(
                node_id=made[0].node,
                kind="add" if made[0].adds else "remove",
                answers=tuple(
                    VoterChangeAnswer(error_name=name, runs=runs)
                    for name, runs in sorted(names.items(), key=lambda one: (-one[1], one[0]))
                ),
                reason=next(
                    (voter_change.message for voter_change in made if voter_change.message), ""
                ),
                took_ms=times[len(times) // 2] if times else None,
            )
        )
    return tuple(summaries)


def _afterwards(
    case: ElectionCase, conditions: Conditions, run: ElectionRun
) -> tuple[Failures | None, tuple[int, ...]]:
    rest = at_rest(case, run)
    plain = replace(conditions, added_voters=(), removed_voters=())
    voters = sorted(node.id for node in rest.nodes if _votes(rest, node.id, plain))
    return Chances(rest).failures(plain, voters), tuple(sorted(rest.voters.ids))
