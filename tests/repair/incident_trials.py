"""What recover makes of an incident, compared with the truth and with the best possible.

Owns an operator who does what recover says and nothing else: gives every directory that is left,
says which voters are lost, follows the settings that a refusal names, and accepts what is left to
accept. Plans are applied to the directories, one after the other, until nothing is left to do.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from kraftool.decoders.errors import KraftoolError
from kraftool.decoders.meta_properties import NODE_ID
from kraftool.raft.names import VoterSet
from kraftool.repair.apply import Apply
from kraftool.repair.edits import sources_needed
from kraftool.repair.plan import Action, Method, Plan
from kraftool.repair.planner import plan_for, read_quorum
from kraftool.repair.request import Acceptance, PlanRequest, with_settings
from kraftool.reports.election.assessment import LossBound
from tests.repair.directories import NOW
from tests.repair.incident_truth import (
    NotStarted,
    Started,
    best_state,
    empty,
    leaders,
    started,
)
from tests.repair.incidents import Incident
from tests.repair.repair_cases import NoSync
from tests.repair.simulated_directories import uuid_of, voters_of
from tests.support.places import PARTITION
from tests.support.proof import count

_MOST_PLANS = 4
_MOST_WAYS = 12
_SETTING = re.compile(r"--set ([a-z.]+=[0-9][0-9,]*)")
_WORDS = tuple(acceptance.value for acceptance in Acceptance)


class Verdict(StrEnum):
    """How a trial ends."""

    BEST = "as good as possible"
    HIDDEN = "what is lost was in no directory that is left"
    WORSE = "gives up what another way keeps"
    REFUSED = "no plan"
    NO_LEADER = "no node can lead after it"
    BETTER = "said better than it is"


@dataclass(slots=True)
class Trial:
    """One incident, and how it went."""

    incident: Incident
    verdict: Verdict = Verdict.BEST
    text: str = ""
    said: list[str] = field(default_factory=list)
    """What the plans said, and what the operator answered."""
    losses: list[LossBound] = field(default_factory=list)
    is_alarm: bool = False
    """True if recover announced a loss and there was none."""

    def __str__(self) -> str:
        return f"{self.incident}\n  {self.verdict}: {self.text}\n    " + "\n    ".join(self.said)


def tried(incident: Incident) -> Trial:
    trial = Trial(incident)
    count("incidents")
    best = _best(incident)
    lost_at_best = set(incident.past.committed) - best
    plans = _Operator(incident, trial)
    try:
        plan = plans.all()
    except KraftoolError as error:
        trial.verdict = Verdict.REFUSED if best else Verdict.BEST
        trial.text = error.message
        return trial
    outcomes, why = outcomes_of(incident, plan)
    if not outcomes:
        trial.verdict, trial.text = Verdict.NO_LEADER, why
        return trial
    missing = {outcome.node: set(incident.past.committed) - outcome.numbers for outcome in outcomes}
    worst = max(missing, key=lambda node_id: len(missing[node_id]))
    lost = missing[worst]
    sentence = f"node {worst} leads without {len(lost)} of {len(incident.past.committed)} records"
    unlisted = {LossBound.POSSIBLE, LossBound.UNBOUNDED}
    is_announced = bool(unlisted & {*trial.losses}) or len(lost) <= plans.announced
    if lost and not is_announced:
        trial.verdict = Verdict.BETTER if lost & incident.shown else Verdict.HIDDEN
        trial.text = f"{sentence}, and recover said {', '.join(trial.losses)}"
    elif lost - lost_at_best:
        trial.verdict = Verdict.WORSE
        trial.text = f"{sentence}; the best possible lacks {len(lost_at_best)}"
    trial.is_alarm = not lost and set(trial.losses) != {LossBound.NONE}
    return trial


def _best(incident: Incident) -> set[int]:
    folders = [
        path / PARTITION
        for node, path in incident.data.items()
        if (path / PARTITION).is_dir() and node not in incident.foreign
    ]
    return best_state(folders, incident.past.world.committed, incident.records)


class _Operator:
    """Does what recover says."""

    def __init__(self, incident: Incident, trial: Trial) -> None:
        self.incident, self.trial = incident, trial
        self.announced = 0
        self.is_one_voter = False

    def all(self) -> Plan:
        """Plan and apply until there is nothing to do; the last plan that says how to start."""
        first: Plan | None = None
        for _ in range(_MOST_PLANS):
            plan = self._planned()
            self.trial.losses.append(plan.loss.verdict)
            self.announced += sum(
                record.end_offset - record.first_offset for record in plan.loss.records
            )
            self.trial.said.append(f"{plan.method} ({plan.loss.verdict}): {plan.summary[0]}")
            if first is None or plan.method is not Method.NONE or not first.seed:
                first = plan
            if not plan.changes:
                return first
            self._apply(plan)
            if plan.seed:
                return plan
        assert first is not None, "at least one plan was made"
        return first

    def _planned(self) -> Plan:
        """The plan of the first way that is not refused."""
        lost = ",".join(map(str, self.incident.lost))
        ways: list[tuple[tuple[str, ...], tuple[str, ...]]] = [
            ((f"lost={lost}",) if lost else (), ())
        ]
        refusal: KraftoolError | None = None
        for way in ways:
            try:
                return self._plan(*way)
            except KraftoolError as error:
                refusal = error
                asked = " ".join(f"--set {setting}" for setting in way[0])
                asked += "".join(f" --accept {word}" for word in way[1])
                self.trial.said.append(f"refused [{asked}]: {error.message} | {error.hint}")
                for answer in _answers(way, error):
                    if answer not in ways and len(ways) < _MOST_WAYS:
                        ways.append(answer)
        assert refusal is not None
        raise refusal

    def _plan(self, settings: Sequence[str], accept: Sequence[str]) -> Plan:
        paths = [str(path) for path in self.incident.paths.values()]
        request = PlanRequest(
            surveys=(), now_ms=NOW, kafka_version="4.3.0", accepted=frozenset(accept)
        )
        request = with_settings(request, settings)
        return plan_for(read_quorum(paths, now_ms=NOW, at=request.rollback).asked(request))

    def _apply(self, plan: Plan) -> None:
        """Apply a plan to each directory; sources are the copies that its steps ask for first."""
        of_host = {str(data): node for node, data in self.incident.data.items()}
        there = {host.name: of_host[host.path] for host in plan.hosts if host.path in of_host}
        sources = {}
        for name, node in there.items():
            copy = self.incident.root / f"source-{node}"
            shutil.rmtree(copy, ignore_errors=True)
            sources[name] = str(shutil.copytree(self.incident.data[node], copy))
        self._move_disks(plan)
        for host in plan.hosts:
            if not host.edits:
                continue
            data = host.path
            wanted = {name: sources[name] for name in sources_needed(plan, host)}
            with Apply(plan, data, host=host.name, sources=wanted, files=NoSync()) as apply:
                apply.carry_out(NOW, "1.0")

    def _move_disks(self, plan: Plan) -> None:
        """Name each directory in the server.properties with the node.id that the plan says."""
        incident = self.incident
        for host in plan.hosts:
            for setting in host.settings:
                if setting.key != NODE_ID:
                    continue
                node, data = int(setting.value), Path(host.path)
                other = next(one for one, there in incident.data.items() if there == data)
                if other != node:
                    incident.data[other] = incident.data[node]
                    incident.data[node] = data
                for one in {node, other}:
                    name_directory(incident.paths[one], incident.data[one])


def name_directory(properties: Path, data: Path) -> None:
    lines = properties.read_text().splitlines()
    kept = [line for line in lines if not line.startswith(("log.dirs=", "metadata.log.dir="))]
    properties.write_text("\n".join([*kept, f"log.dirs={data}"]) + "\n")


def _answers(
    way: tuple[tuple[str, ...], tuple[str, ...]], error: KraftoolError
) -> list[tuple[tuple[str, ...], tuple[str, ...]]]:
    """What a refusal offers: ways by settings first, and then what may be accepted."""
    settings, accept = way
    answers = []
    for command in re.split(r";|, or|\n", error.hint or ""):
        named = dict(setting.split("=", 1) for setting in _SETTING.findall(command))
        if named:
            both = dict(setting.split("=", 1) for setting in settings) | named
            answers.append((tuple(f"{key}={value}" for key, value in both.items()), accept))
    words = [word for word in _WORDS if f"--accept {word}" in (error.hint or "")]
    if words:
        answers.append((settings, tuple(sorted({*accept, *words}))))
    return answers


# --- what comes of it ----------------------------------------------------------------------------


def outcomes_of(incident: Incident, plan: Plan) -> tuple[list[Started], str]:
    """Every node that may lead first, by the order of starts that the plan names."""
    dead: list[str] = []
    nodes: dict[int, Started] = {}
    static = next(iter(incident.past.nodes.values())).settings.static_voters
    if plan.seed and not incident.is_dynamic:
        after = voters_of(plan.voters_after)
        static = VoterSet.of(*(voter for voter in static if voter.key.id in after.ids))
    for node, data in incident.data.items():
        if node not in incident.voters:
            continue
        try:
            nodes[node] = started(node, data, static, incident.records)
        except NotStarted as error:
            dead.append(f"node {node} does not start: {error}")
    if plan.seed:
        seed = _node_of(plan, plan.seed)
        return leaders(nodes, {seed}), "; ".join(dead)
    for node in incident.lost:
        nodes[node] = empty(node, uuid_of(f"d{node}"), static)
    starts = [step for step in plan.steps if step.action is Action.START]
    up = set(nodes)
    if len(starts) > 1:
        up = {_node_of(plan, host) for host in starts[0].hosts}
    return leaders(nodes, up), "; ".join(dead)


def _node_of(plan: Plan, name: str) -> int:
    host = plan.host(name)
    if host is not None and host.identity.node_id is not None:
        return host.identity.node_id
    return int(name.removeprefix("node-"))
