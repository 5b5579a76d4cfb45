"""Verification of a plan: in directories, as a node would read them, and in the live quorum.

Owns the comparison of a plan with what is there. It changes nothing and takes no lock, so that it
can be asked at any time, of running nodes too.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from kraftool.client.asking import question
from kraftool.client.health import Health
from kraftool.client.model import NodeAnswer, QuorumView
from kraftool.client.target import Target
from kraftool.decoders import properties, quorum_state
from kraftool.decoders.errors import KraftoolError
from kraftool.decoders.json_marks import Count, Hidden, Moment
from kraftool.decoders.redact import BROKER, config_value
from kraftool.raft.names import Endpoint, ReplicaKey
from kraftool.repair.apply import Repair
from kraftool.repair.backup import backups
from kraftool.repair.disk import DataDirectory
from kraftool.repair.edits import is_index
from kraftool.repair.plan import HostPlan, Method, Plan, Quarantined
from kraftool.repair.plan_file import PlanFileKind
from kraftool.repair.record import JournalState, record_of
from kraftool.reports.election.read import read_case
from kraftool.reports.findings.finding import Finding, Severity, in_order
from kraftool.reports.findings.kinds import live as live_kinds
from kraftool.reports.findings.kinds import log as log_kinds
from kraftool.reports.findings.kinds import repair as kinds
from kraftool.reports.findings.kinds import signatures
from kraftool.reports.verify.log import verify_logs
from kraftool.storage.files import Files, read_whole
from kraftool.storage.lock import LockState, lock_holder
from kraftool.storage.paths import open_path
from kraftool.storage.repair_journal import Stage

_MOST_SETTINGS = 1 << 20
_OF_THE_PLAN = "KT-REC-"
"""Codes of findings that compare with the plan. Others are of files or of the quorum's health."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DirectoryCheck:
    """The state of a directory."""

    path: str
    host: str
    changes: Count
    """Files that the plan changes there."""
    stage: Stage
    ended: Moment | None = None
    """When the plan was applied or undone."""
    has_moved_on: bool = False
    """True if a node has run on it since the plan was applied."""
    is_running: bool = False
    """True if a process holds its lock."""
    voter_keys: tuple[ReplicaKey, ...] = ()
    """By its own log and snapshots; empty with static voters."""
    findings: tuple[Finding, ...] = ()
    relied_on: Hidden[frozenset[str]] = frozenset()
    """The paths of files that the plan uses as they are, and does not repair."""

    @property
    def is_wrong(self) -> bool:
        """True if you should not start a node on this directory."""
        return any(
            finding.severity is Severity.ERROR and finding.file not in self.relied_on
            for finding in self.findings
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class QuorumCheck:
    """The live quorum."""

    health: Health
    findings: tuple[Finding, ...]
    """What is not as planned."""
    unwell: tuple[Finding, ...] = ()
    """What is not well, without what the plan wants so: nodes that are kept off."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanVerification:
    """All that was looked at."""

    plan: Plan
    directories: tuple[DirectoryCheck, ...] = ()
    quorum: QuorumCheck | None = None

    @property
    def findings(self) -> tuple[Finding, ...]:
        findings = [one for directory in self.directories for one in directory.findings]
        if self.quorum is not None:
            findings += [*self.quorum.findings, *self.quorum.unwell]
        return in_order(findings)

    @property
    def is_as_planned(self) -> bool:
        """True if nothing deviates from the plan, whatever is wrong with files that it does not
        change."""
        if any(directory.is_wrong for directory in self.directories):
            return False
        findings = [one for directory in self.directories for one in directory.findings]
        findings += self.quorum.findings if self.quorum is not None else ()
        return not any(
            one.code.startswith(_OF_THE_PLAN) and one.severity is not Severity.INFO
            for one in findings
        )

    @property
    def is_fine(self) -> bool:
        return all(finding.severity is Severity.INFO for finding in self.findings)


# --- what a plan began -----------------------------------------------------------------------


def begun_epoch(plan: Plan) -> int | None:
    """The epoch that the recovered quorum begins above; None where the plan begins none."""
    epochs = []
    for host in plan.hosts:
        for edit in host.edits:
            if edit.snapshot is not None:
                epochs.append(edit.snapshot.epoch)
            elif edit.target.kind is PlanFileKind.QUORUM_STATE and len(edit.pieces) == 1:
                state = quorum_state.decode(edit.pieces[0].data)[0].quorum_state
                epochs += [] if state is None else [state.leader_epoch]
    return max(epochs, default=None) if plan.seed else None


def begun_offset(plan: Plan) -> int | None:
    """The offset from which on the recovered quorum wrote all there is."""
    jumps = [
        edit.snapshot.offset
        for host in plan.hosts
        for edit in host.edits
        if edit.snapshot is not None
    ]
    if jumps:
        return max(jumps)
    return next((ranked.end_offset for ranked in plan.ranking if ranked.host == plan.seed), None)


def _in_order(keys: Iterable[ReplicaKey]) -> tuple[ReplicaKey, ...]:
    return tuple(sorted(keys, key=lambda key: (key.id, key.directory_id or "")))


_OF_VOTERS = frozenset({PlanFileKind.SEGMENT, PlanFileKind.SNAPSHOT})
"""Where one of these is made anew, the voters in it are the plan's."""


# --- a directory -----------------------------------------------------------------------------


def check_directory(plan: Plan, path: str, *, host: str = "", config: str = "") -> DirectoryCheck:
    """Compare a directory with its part of the plan. KraftoolError where it has none."""
    repair = Repair(plan, path, host=host)
    planned, record, directory = repair.host, repair.record, repair.directory
    moved = list(record.moved(directory)) if record.begin is not None else []
    stage = record.stage
    findings: list[Finding] = []
    is_jump = any(edit.snapshot is not None for edit in planned.edits)
    has_begun = stage is Stage.APPLIED and not moved
    wanted_so = set()
    if plan.method is Method.APPEND and stage is Stage.APPLIED:
        wanted_so.add(log_kinds.VOTERS_JUMP.code)
    if has_begun and (is_jump or _leaves_no_log(planned)):
        wanted_so.add(log_kinds.MISSING.code)
    is_read = moved or stage not in (Stage.CHANGING, Stage.UNDOING)  # a half-done one is not
    problems = list(_as_read(path, wanted_so)) if is_read else []
    if planned.edits:
        progress = list(_progress(directory, record, moved))
        is_by_hand = stage in (Stage.NONE, Stage.BEGUN) and not plan.seed
        if is_by_hand and not problems and _is_changed(planned, directory):
            progress = [_repaired_otherwise(one) for one in progress]
        findings += progress
    findings += _other_plans(repair)
    findings += settings_missing(planned, config) if config else ()
    findings += problems
    voters = _voters(path)
    wanted = _in_order(plan.voters_after.keys)
    tells = any(not edit.is_removal and edit.target.kind in _OF_VOTERS for edit in planned.edits)
    if tells and has_begun and wanted and plan.kraft_version > 0 and voters != wanted:
        text = f"its log and snapshots have {_told(voters)}, but the plan has {_told(wanted)}"
        findings.append(kinds.VOTERS.at(path, text))
    return DirectoryCheck(
        path=path,
        host=planned.name,
        changes=len(planned.edits),
        stage=stage,
        ended=record.ended_ms or None,
        has_moved_on=stage is Stage.APPLIED and bool(moved),
        is_running=lock_holder(directory.path).state is LockState.HELD,
        voter_keys=voters,
        findings=in_order(findings),
        relied_on=frozenset(
            os.path.join(directory.path, file.target.path) for file in planned.expected
        ),
    )


def _leaves_no_log(planned: HostPlan) -> bool:
    """True if the plan removes the whole log, and the node starts from a snapshot."""
    segments = [edit for edit in planned.edits if edit.target.kind is PlanFileKind.SEGMENT]
    kept = any(expected.target.kind is PlanFileKind.SEGMENT for expected in planned.expected)
    return not kept and bool(segments) and all(edit.is_removal for edit in segments)


def _is_changed(planned: HostPlan, directory: DataDirectory) -> bool:
    """True if a file that the plan changes is not what it was when the plan was made."""
    return any(directory.fingerprint(edit.target) != edit.before for edit in planned.edits)


def _repaired_otherwise(finding: Finding) -> Finding:
    """The finding of a plan that was not applied, for a directory that is healthy without it."""
    return replace(
        finding.saying(f"{finding.text}, and the directory has changed since. It is healthy"),
        severity=Severity.WARNING,
        advice="something else repaired it: leave it as it is, and do not apply this plan. kraftool"
        " quorum health shows if the node follows the leader",
    )


def _progress(
    directory: DataDirectory, record: JournalState, moved: Sequence[str]
) -> Iterator[Finding]:
    """Yield how far the plan is there."""
    path = directory.name
    match record.stage:
        case Stage.NONE | Stage.BEGUN:
            yield kinds.NOT_APPLIED.at(path, f"the plan is {record.stage.value}")
        case Stage.CHANGING | Stage.UNDOING:
            text = f"the plan is {record.stage.value}"
            if moved:
                yield kinds.HALF.at(
                    path,
                    f"{text}, but {moved[0]}: a node has run on it",
                    advice="it can be neither finished nor undone: collect and plan again",
                )
            else:
                yield kinds.HALF.at(path, text)
        case Stage.UNDONE:
            yield kinds.UNDONE.at(path, "the plan was applied and undone")
        case Stage.APPLIED if moved:
            yield kinds.MOVED_ON.at(
                path, f"a node has run on it since the plan was applied: {moved[0]}"
            )
        case Stage.APPLIED:
            yield from _as_applied(directory, record)


def _as_applied(directory: DataDirectory, record: JournalState) -> Iterator[Finding]:
    """Files that are not what the plan made them, though a node has moved nothing on."""
    others = [
        change.target
        for change, after in zip(record.changes, record.after, strict=True)
        if directory.fingerprint(change.target) != after
    ]
    if any(is_index(other) for other in others):
        yield kinds.MOVED_ON.at(
            directory.name,
            "a node has run on it since the plan was applied, but only wrote its index files again",
            advice="recover undo still works, as long as neither the log nor quorum-state has"
            " changed",
        )
    for other in others:
        if not is_index(other):
            yield kinds.NOT_AS_PLANNED.at(directory.at(other), "it is not what the plan made it")


def _other_plans(repair: Repair) -> Iterator[Finding]:
    for backup in backups(repair.directory):
        if backup.path != repair.backup.path:
            other = record_of(backup.entries(), backup.path)
            if other.stage in (Stage.CHANGING, Stage.UNDOING):
                text = f"plan {other.plan_id[:12]} is {other.stage.value}"
                yield kinds.ANOTHER_PLAN.at(backup.path, text)


def _as_read(path: str, wanted_so: Collection[str]) -> Iterator[Finding]:
    """Yield what Kafka would stumble over, as a start reads it, but for what the plan wants to be
    so.
    """
    known_codes = {*wanted_so, kinds.HALF.code}  # a half-done plan is told by what it is a part of
    for finding in verify_logs([open_path(path)]).rows:
        if finding.severity is not Severity.INFO and finding.code not in known_codes:
            yield finding


def _voters(path: str) -> tuple[ReplicaKey, ...]:
    """The voters that a node would go by that starts on the directory."""
    case = read_case([path])
    if not case.nodes or case.kraft_version == 0:
        return ()
    return _in_order(case.nodes[0].voters.keys)


def settings_missing(host: HostPlan, config: str) -> Iterator[Finding]:
    """Lines of a server.properties that are not as the plan needs them."""
    data = read_whole(Files(), config, _MOST_SETTINGS)
    if data is None:
        raise KraftoolError(f"{config} does not exist")
    there = properties.decode(data)[0].as_dict()
    for setting in host.settings:
        current = there.get(setting.key)
        shown = config_value(BROKER, setting.key, current) or ""
        if setting.value and (current is None or _plain(current) != _plain(setting.value)):
            yield kinds.SETTING.at(
                config, setting.key, expected=setting.value, found=shown or "no such line"
            )
        elif not setting.value and current is not None:
            yield kinds.SETTING.at(config, setting.key, expected="no such line", found=shown)


def _plain(value: str) -> str:
    return ",".join(part.strip() for part in value.split(","))


def _told(voters: Sequence[ReplicaKey]) -> str:
    if not voters:
        return "no voters"
    return ", ".join(f"{id_} ({directory_id})" if directory_id else str(id_)
                     for id_, directory_id in voters)  # fmt: skip


# --- the quorum ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Stray:
    """A node of the plan's quarantine, asked where it was reached as a voter."""

    planned: Quarantined
    answer: NodeAnswer


async def ask_quarantined(plan: Plan, target: Target) -> tuple[Stray, ...]:
    """Ask each node of the quarantine, at every endpoint that is known of it."""
    asked: list[tuple[Quarantined, Endpoint]] = []
    for node in plan.quarantine:
        where = set(plan.voters_before.endpoints_of(node.node_id).values())
        if node.node_id in target.resolved:
            where = {target.resolved[node.node_id]}
        asked += [(node, endpoint) for endpoint in sorted(where)]
    answers = await asyncio.gather(
        *(question(at, target.access, node_id=node.node_id) for node, at in asked)
    )
    return tuple(
        Stray(planned=node, answer=answer) for (node, _), answer in zip(asked, answers, strict=True)
    )


def check_quorum(
    plan: Plan,
    health: Health,
    strays: Iterable[Stray],
    directories: Sequence[DirectoryCheck] = (),
) -> QuorumCheck:
    """Compare a live quorum with the plan."""
    view, strays = health.view, tuple(strays)
    findings = list(_old_quorums(plan, [*view.nodes, *(stray.answer for stray in strays)]))
    leader = None if view.leader is None or _is_old(plan, view.leader) else view.leader
    findings += [one for stray in strays for one in _stray(stray, leader)]
    if leader is not None:
        live = _in_order(voter.replica for voter in view.voters)
        findings += [*_live_voters(plan, live), *_apart(live, directories)]
        findings += _stale_brokers(plan, health)
    kept_off = _kept_off(plan, view)
    unwell = tuple(
        _explained(plan, finding)
        for finding in health.findings
        if (finding.code, finding.file) not in kept_off
    )
    return QuorumCheck(health=health, findings=in_order(findings), unwell=unwell)


def _kept_off(plan: Plan, view: QuorumView) -> set[tuple[str, str]]:
    """Findings, by code and place, that say of quarantined nodes what is wanted of them."""
    voters = {voter.replica.id for voter in view.voters}
    off = {node.node_id for node in plan.quarantine} - voters
    wanted_findings = {(live_kinds.STALE_REGISTRATION.code, f"node {id_}") for id_ in off}
    for node in view.nodes:
        if node.node_id in off and not node.is_reached:
            wanted_findings.add((live_kinds.UNREACHED.code, node.name))
    return wanted_findings


def _explained(plan: Plan, finding: Finding) -> Finding:
    """Return a finding with less weight if a stop of all nodes explains it, not the recovery."""
    if not plan.seed or finding.code != signatures.RECOVERING.code:
        return finding
    advice = "" if finding.severity is Severity.INFO else None
    return kinds.UNCLEAN.at(finding.file, finding.text, advice=advice)


def _is_old(plan: Plan, leader: NodeAnswer) -> bool:
    """True if a leader is of before the recovery: of a lower epoch, or of a log that ends before
    everything that the recovered quorum wrote."""
    epoch, offset = begun_epoch(plan), begun_offset(plan)
    if epoch is None or leader.quorum is None:
        return False
    ends = [voter.log_end_offset for voter in leader.quorum.voters
            if voter.replica.id == leader.quorum.leader_id]  # fmt: skip
    is_behind = offset is not None and max(ends, default=offset) < offset
    return is_behind or (leader.epoch or 0) < epoch


def _old_quorums(plan: Plan, answers: Iterable[NodeAnswer]) -> Iterator[Finding]:
    seen = set()
    for answer in answers:
        if answer.quorum is not None and _is_old(plan, answer) and answer.endpoint not in seen:
            seen.add(answer.endpoint)
            text = (
                f"{answer.name} leads epoch {answer.epoch}, but the plan began {begun_epoch(plan)}"
            )
            yield kinds.OLD_QUORUM.at("", text)


def _stray(stray: Stray, leader: NodeAnswer | None) -> Iterator[Finding]:
    answer, planned = stray.answer, stray.planned
    if not answer.is_reached:
        return
    known = f"{answer.name} is running"
    if leader is not None and (answer.epoch, answer.leader_id) == (leader.epoch, leader.node_id):
        yield kinds.RETURNED.at("", f"{known}, and follows node {leader.node_id}")
        return
    knows = "no leader" if answer.leader_id is None else f"leader {answer.leader_id}"
    epoch = "" if answer.epoch is None else f" of epoch {answer.epoch}"
    yield kinds.QUARANTINED.at(
        "", f"{known}, and knows {knows}{epoch}; {planned.why}", advice=planned.returns
    )


def _live_voters(plan: Plan, live: Sequence[ReplicaKey]) -> Iterator[Finding]:
    wanted: Sequence[ReplicaKey] = _in_order(plan.voters_after.keys)
    if plan.kraft_version == 0:
        live, wanted = ([ReplicaKey(key.id) for key in keys] for keys in (live, wanted))
    if not wanted or set(wanted) == set(live):
        return
    if set(wanted) & set(live):
        text = f"the leader names {_told(live)}, but the plan began with {_told(wanted)}"
        yield kinds.VOTERS_CHANGED.at("", text)
    else:
        text = f"the leader names {_told(live)}, but the plan has {_told(wanted)}"
        yield kinds.VOTERS.at("", text)


def _apart(live: Sequence[ReplicaKey], directories: Sequence[DirectoryCheck]) -> Iterator[Finding]:
    """Running nodes whose own log names other voters than the leader does."""
    for directory in directories:
        if directory.is_running and directory.voter_keys and set(directory.voter_keys) != set(live):
            text = f"its log names {_told(directory.voter_keys)}, but the leader {_told(live)}"
            yield kinds.DISAGREE.at(directory.path, text)


def _stale_brokers(plan: Plan, health: Health) -> Iterator[Finding]:
    """Brokers whose registration is of before the recovery."""
    begun = begun_offset(plan)
    if begun is None or health.cluster_health is None or not plan.seed:
        return
    brokers = health.cluster_health.observation.image.cluster.brokers
    for id_ in sorted(brokers):
        broker = brokers[id_]
        if broker.epoch < begun:
            state = "fenced" if broker.fenced else "not fenced yet"
            text = f"registered at offset {broker.epoch}, {state}, but the recovery is at {begun}"
            yield kinds.RESTART.at(f"broker {id_}", text)
