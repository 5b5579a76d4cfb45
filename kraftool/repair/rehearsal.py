"""A plan carried out on copies: what apply does, how the election goes, what real nodes make of it.

Owns the order of a rehearsal and what it comes to. The originals are only read; everything that is
written lies in one folder.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from kraftool import __version__
from kraftool.decoders.errors import KraftoolError
from kraftool.raft.names import majority_of
from kraftool.repair.apply import Apply, Tell
from kraftool.repair.edits import sources_needed
from kraftool.repair.plan import Action, Plan
from kraftool.repair.rehearsal_copies import (
    Progress,
    Rehearsed,
    copy_all,
    find_rehearsed,
    named_directory,
)
from kraftool.repair.rehearsal_election import (
    ElectionRehearsal,
    findings_of,
    is_fenced,
    is_promised,
    rehearse_elections,
)
from kraftool.repair.rehearsal_nodes import Cast, NodesRehearsal, rehearse_nodes
from kraftool.repair.rehearsal_software import Software, kafka_at, own_node
from kraftool.repair.verify import DirectoryCheck, check_directory
from kraftool.reports.election.assessment import Assessment, assess
from kraftool.reports.election.read import read_case
from kraftool.reports.findings.finding import Finding, Severity, in_order
from kraftool.reports.findings.kinds import repair as kinds
from kraftool.reports.state.load import load_state
from kraftool.reports.text.words import listed
from kraftool.sim.returning import Way
from kraftool.storage.repair_journal import Stage


@dataclass(frozen=True, slots=True, kw_only=True)
class RehearsalRequest:
    """The request for a rehearsal: the plan, the directories, and how."""

    directories: tuple[str, ...]
    sources: Mapping[str, str]
    """Other hosts' directories that files are made from, by host."""
    seeds: int = 10
    kafka: str = ""
    """The folder of a Kafka; kraftool's own node where there is none."""
    with_nodes: bool = True
    timeout_s: float = 60.0

    @property
    def paths(self) -> tuple[str, ...]:
        """Every folder that is only read."""
        named = (directory.partition("=")[2] for directory in self.directories)
        return (*self.directories, *filter(None, named), *self.sources.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class AppliedCopy:
    """A copy, and what apply made of it."""

    of: Rehearsed
    edits: int = 0
    was_applied: bool = False
    """True if the plan was already applied to the original."""
    refused: str = ""
    """Why apply refuses it; empty where it does not."""
    hint: str = ""
    check: DirectoryCheck | None = None
    """As `recover verify` sees it then; with the original's path."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rehearsal:
    """All that a rehearsal came to."""

    plan: Plan
    folder: str
    """Where the copies are, or were."""
    copies: tuple[AppliedCopy, ...]
    not_given: tuple[str, ...] = ()
    """Hosts of the plan without a directory: what becomes of theirs is not shown."""
    elections: ElectionRehearsal | None = None
    """None where apply refused a copy."""
    nodes: NodesRehearsal | None = None
    assessment: Assessment
    """The judgement of the quorum by the originals, as they are before the plan."""

    @property
    def refused(self) -> AppliedCopy | None:
        return next((copy for copy in self.copies if copy.refused), None)

    @property
    def findings(self) -> tuple[Finding, ...]:
        findings = [one for copy in self.copies for one in _of_copy(self.plan, copy)]
        if self.elections is not None:
            nodes = self.nodes
            led_by = nodes.software if nodes is not None and nodes.leader_id is not None else ""
            findings += findings_of(self.plan, self.elections, led_by=led_by)
        if self.nodes is not None:
            findings += self.nodes.findings
        return in_order(findings)

    @property
    def is_well(self) -> bool:
        return self.refused is None and all(
            finding.severity is Severity.INFO for finding in self.findings
        )


def rehearse(
    plan: Plan,
    asked: RehearsalRequest,
    folder: str,
    progress: Progress = lambda label, done, total: None,
    tell: Tell = lambda words: None,
) -> Rehearsal:
    """All of it, in a folder. Raises KraftoolError where it cannot even be begun."""
    software = None
    if asked.with_nodes:
        software = kafka_at(asked.kafka, folder) if asked.kafka else own_node()
    rehearsed = find_rehearsed(plan, asked.directories)
    assessment = assessed([directory.path for directory in rehearsed])
    for name in _unneeded(plan, rehearsed, asked.sources):
        tell(f"--source {name} is not used: the rehearsal needs no file of it")
    rehearsed = copy_all(rehearsed, folder, progress)
    copies = tuple(
        _applied(plan, directory, rehearsed, asked.sources, tell) for directory in rehearsed
    )
    given = {directory.name for directory in rehearsed}
    rehearsal = Rehearsal(
        plan=plan,
        folder=folder,
        copies=copies,
        assessment=assessment,
        not_given=tuple(host.name for host in plan.hosts if host.name not in given),
    )
    if rehearsal.refused is not None:
        return rehearsal
    elections = rehearse_elections(plan, rehearsed, asked.seeds, progress)
    rehearsal = replace(rehearsal, elections=elections)
    if software is None:
        return rehearsal
    return replace(rehearsal, nodes=_nodes(rehearsal, software, asked.timeout_s, tell))


def without_changes(plan: Plan, directories: Sequence[str]) -> Rehearsal:
    """The rehearsal of a plan that changes nothing: the judgement alone."""
    paths = [named_directory(directory)[1] for directory in directories]
    return Rehearsal(plan=plan, folder="", copies=(), assessment=assessed(paths))


def assessed(paths: Sequence[str]) -> Assessment:
    """The judgement of a quorum by data directories."""
    return assess(read_case(paths))


# --- apply ------------------------------------------------------------------------------------


def _unneeded(plan: Plan, rehearsed: Sequence[Rehearsed], sources: Mapping[str, str]) -> list[str]:
    """The hosts that were given as sources, and from which nothing is read."""
    needed = {
        name
        for directory in rehearsed
        if directory.host is not None
        for name in sources_needed(plan, directory.host)
    }
    return sorted(sources.keys() - needed)


def _applied(
    plan: Plan,
    directory: Rehearsed,
    rehearsed: Sequence[Rehearsed],
    sources: Mapping[str, str],
    tell: Tell,
) -> AppliedCopy:
    """Apply as it is; the risks of the plan are taken, since it is a copy."""
    if directory.host is None:
        return AppliedCopy(of=directory)
    given = {one.name: one.path for one in rehearsed} | dict(sources)
    needed = {name: given[name] for name in sources_needed(plan, directory.host) if name in given}
    done = AppliedCopy(of=directory, edits=len(directory.host.edits))
    try:
        if directory.host.edits:
            tell(f"applying the plan to the copy of {directory.name}")
            with Apply(plan, directory.copy, host=directory.name, sources=needed) as repair:
                done = replace(done, was_applied=repair.stage is Stage.APPLIED)
                repair.carry_out(int(time.time() * 1000), __version__)
        return replace(done, check=_checked(plan, directory))
    except KraftoolError as error:
        return replace(
            done,
            refused=_as_original(directory, error.message),
            hint=_as_original(directory, error.hint),
        )


def _checked(plan: Plan, directory: Rehearsed) -> DirectoryCheck:
    directory_check = check_directory(plan, directory.copy, host=directory.name)
    return replace(
        directory_check,
        path=directory.path,
        findings=tuple(
            replace(
                one.saying(_as_original(directory, one.text)).in_file(
                    _as_original(directory, one.file)
                ),
                advice=_as_original(directory, one.advice),
            )
            for one in directory_check.findings
        ),
    )


def _as_original(directory: Rehearsed, text: str) -> str:
    """Return what is said of a copy, with the path that the reader knows."""
    return text.replace(os.path.realpath(directory.copy), directory.path).replace(
        directory.copy, directory.path
    )


def _of_copy(plan: Plan, copy: AppliedCopy) -> Iterator[Finding]:
    if copy.of.is_running:
        running = kinds.SNAPSHOT_IN_TIME.at(copy.of.path, "a process holds its lock")
        if _is_left_running(plan, copy.of):
            advice = "leave this node running: the plan changes nothing in its directory"
            running = replace(running, severity=Severity.INFO, advice=advice)
        yield running
    if copy.check is not None:
        yield from copy.check.findings


def _is_left_running(plan: Plan, directory: Rehearsed) -> bool:
    """True if the plan stops other nodes, and leaves the node of this directory running."""
    stopped = {name for step in plan.steps if step.action is Action.STOP for name in step.hosts}
    host = directory.host
    return host is not None and bool(stopped) and not host.edits and host.name not in stopped


# --- nodes ------------------------------------------------------------------------------------


def _nodes(
    rehearsal: Rehearsal, software: Software, timeout_s: float, tell: Tell
) -> NodesRehearsal:
    plan, elections = rehearsal.plan, rehearsal.elections
    assert elections is not None, "nothing is started of what apply refuses"
    after = tuple(voter.id for voter in plan.voters_after)
    copies = {copy.of.node_id: copy.of for copy in rehearsal.copies if copy.of.node_id is not None}
    voters = {
        node_id: copy.copy
        for node_id, copy in copies.items()
        if node_id in after and not copy.is_quarantined
    }
    if not after or len(voters) < majority_of(len(after)):
        absent = listed(sorted(set(after) - voters.keys()))
        words = f"without voter {absent} there is no majority" if after else "it has no voters"
        return NodesRehearsal(software=software.name, not_started_reason=words)
    cast = Cast(
        voters=voters,
        back={node_id: copy.copy for node_id, copy in copies.items() if copy.is_quarantined},
        voters_after=after,
        voters_before=tuple(voter.id for voter in plan.voters_before),
        is_static=plan.kraft_version == 0,
        is_fenced=is_fenced(plan),
        is_promised=is_promised(plan, Way.AFTERWARDS, is_ahead=bool(elections.further)),
        expected={node_id: load_state(path).image for node_id, path in voters.items()},
    )
    return rehearse_nodes(software, cast, rehearsal.folder, timeout_s, tell)
