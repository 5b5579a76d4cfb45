"""The documents of `recover collect|plan|apply|undo|verify` with -o json.

What the files say that kraftool reads again (plans, collect files) is `repair/document.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from kraftool.client.quorum_json import HealthDocument, health_document
from kraftool.commands.recover_collect_nodes import CollectedNode
from kraftool.decoders.errors import KraftoolError
from kraftool.decoders.json_marks import Count, Moment
from kraftool.raft.names import ReplicaKey
from kraftool.repair.document import to_document
from kraftool.repair.narration import complaints, is_well
from kraftool.repair.plan import Action, Edit, Fingerprint, Plan, PlanStep
from kraftool.repair.refusal import PlanRefused
from kraftool.repair.step_commands import with_plan_file
from kraftool.repair.survey import Survey
from kraftool.repair.verify import DirectoryCheck, PlanVerification, QuorumCheck
from kraftool.reports.election.assessment import Assessment
from kraftool.reports.election.assessment_json import AssessmentObject, assessment_json
from kraftool.reports.findings.finding import Finding, in_order
from kraftool.reports.text.json_form import form
from kraftool.reports.text.json_forms import FindingCounts, finding_counts
from kraftool.storage.repair_journal import Stage

# --- collect ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class SurveyObject:
    """A directory in a collect file."""

    path: str
    """On the node."""
    node_id: int | None
    directory_id: str | None
    cluster_id: str | None
    end_offset: int | None
    """The offset up to which its log or snapshot is readable; null without metadata."""
    end_epoch: int | None
    is_running: bool
    """True if a process has the directory's lock."""
    has_settings: bool
    """True if PATH was a server.properties, whose settings of the quorum are in the file."""
    is_healthy: bool
    """False if there is damage other than a torn tail."""
    complaints: tuple[str, ...]
    """Damage, in sentences."""


@form
def survey_object(survey: Survey) -> SurveyObject:
    end = survey.end
    has_metadata = survey.log is not None or bool(survey.snapshots)
    return SurveyObject(
        path=survey.path,
        node_id=survey.node_id,
        directory_id=survey.identity.directory_id or None,
        cluster_id=survey.identity.cluster_id or None,
        end_offset=end.offset if has_metadata else None,
        end_epoch=end.epoch if has_metadata else None,
        is_running=survey.running,
        has_settings=survey.settings is not None,
        is_healthy=is_well(survey),
        complaints=tuple(complaints(survey)),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectedNodeObject:
    """The result of collecting from one node."""

    name: str | None
    """The host or pod; null for this host."""
    context: str | None
    """kubectl's context, for a pod; null in a pod, where kubectl has no context."""
    namespace: str | None
    """The pod's namespace; null for a host."""
    file: str | None
    """The collect file; null if it did not arrive."""
    size: int | None
    """Bytes of the collect file."""
    is_reached: bool
    reason: str | None
    """Why the file did not arrive; null if it arrived."""
    advice: str | None
    """The action to take."""
    is_changed_meanwhile: bool
    """True if Kafka wrote while the files were read: collect this node again."""
    surveys: tuple[Survey, ...]


@form
def collected_node_object(node: CollectedNode) -> CollectedNodeObject:
    return CollectedNodeObject(
        name=node.name or None,
        context=node.context or None,
        namespace=node.namespace or None,
        file=node.file or None,
        size=node.size if node.file else None,
        is_reached=node.reached,
        reason=node.problem or None,
        advice=node.hint or None,
        is_changed_meanwhile=node.changed,
        surveys=node.surveys,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectDocument:
    """The nodes that sent their file, and those that did not."""

    command: Literal["collect"] = "collect"
    nodes: tuple[CollectedNode, ...]
    """In the order of the command line."""


def collect_document(nodes: Iterable[CollectedNode]) -> CollectDocument:
    return CollectDocument(nodes=tuple(nodes))


# --- plan ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusalObject:
    """Why something is refused."""

    reason: str
    advice: str
    """May be empty."""
    commands: tuple[str, ...] = ()
    """Commands that follow the advice. Run each on its host."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanDocument:
    """The judgement of the quorum, and the plan or why there is no plan."""

    command: Literal["plan"] = "plan"
    plan_id: str | None
    """The SHA-256 that the plan begins with; null if there is no plan."""
    assessment: AssessmentObject
    refusal: RefusalObject | None
    """Why there is no plan; null if there is one."""
    plan: Mapping[str, Any] | None
    """The same members as the YAML plan; apply takes the YAML."""


def plan_document(
    assessment: Assessment, plan: Plan | None = None, *, refused: KraftoolError | None = None
) -> PlanDocument:
    return PlanDocument(
        plan_id=None if plan is None else plan.id,
        assessment=assessment_json(assessment),
        refusal=None
        if refused is None
        else RefusalObject(
            reason=refused.message, advice=refused.hint, commands=_archive_commands(refused)
        ),
        plan=None if plan is None else to_document(plan),
    )


def _archive_commands(refused: KraftoolError) -> tuple[str, ...]:
    if not isinstance(refused, PlanRefused):
        return ()
    return tuple(command for _, command in refused.archives)


# --- apply and undo --------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class FingerprintObject:
    """Size and hash of a file."""

    size: int
    sha256: str


@form
def fingerprint_object(fingerprint: Fingerprint) -> FingerprintObject:
    return FingerprintObject(size=fingerprint.size, sha256=fingerprint.sha256)


@dataclass(frozen=True, slots=True, kw_only=True)
class EditObject:
    """A file before and after."""

    path: str
    """Below the data directory."""
    edit: Literal["create", "replace", "remove"]
    before: Fingerprint | None
    after: Fingerprint | None
    is_computed: bool
    """True for a checkpoint that is made where the plan is applied, with an unknown hash before."""
    reason: str


@form
def edit_object(edit: Edit) -> EditObject:
    return EditObject(
        path=edit.target.path,
        edit="remove" if edit.is_removal else "create" if edit.before is None else "replace",
        before=edit.before,
        after=edit.after,
        is_computed=edit.snapshot is not None,
        reason=edit.why,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanStepObject:
    """A step for a person."""

    number: int
    """The step's number in the plan."""
    action: Action
    hosts: tuple[str, ...]
    what: str
    commands: tuple[str, ...]


def steps(of: Iterable[tuple[int, PlanStep]], file: str) -> tuple[PlanStepObject, ...]:
    """Steps whose commands name the plan's file."""
    return tuple(
        PlanStepObject(
            number=number,
            action=plan_step.action,
            hosts=plan_step.hosts,
            what=plan_step.text,
            commands=tuple(with_plan_file(one, file) for one in plan_step.commands),
        )
        for number, plan_step in of
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class NeededSetting:
    """A line that server.properties needs."""

    key: str
    value: str
    """Empty for no such line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DirectoryCheckObject:
    """The state of a directory."""

    path: str
    host: str
    changes: Count
    """Files that the plan changes there."""
    stage: Stage
    ended: Moment | None
    """When the plan was applied or undone."""
    has_moved_on: bool
    """True if a node has run on it since the plan was applied."""
    is_running: bool
    """True if a process holds its lock."""
    voter_keys: tuple[ReplicaKey, ...]
    """By its own log and snapshots; empty with static voters."""
    findings: tuple[Finding, ...]


@form
def directory_check_object(checked: DirectoryCheck) -> DirectoryCheckObject:
    return DirectoryCheckObject(
        path=checked.path,
        host=checked.host,
        changes=checked.changes,
        stage=checked.stage,
        ended=checked.ended_ms or None,
        has_moved_on=checked.has_moved_on,
        is_running=checked.is_running,
        voter_keys=checked.voters,
        findings=checked.findings,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ApplyDocument:
    """The changes of a plan in a directory, planned or made."""

    command: Literal["apply"] = "apply"
    plan_id: str
    host: str
    """The host of the plan to which the directory belongs."""
    is_dry_run: bool
    """True if nothing was written."""
    is_already_done: bool
    """True if the plan was applied before, or changes no file here."""
    edits: tuple[Edit, ...]
    """In the order in which files change."""
    needed_settings: tuple[NeededSetting, ...]
    backup: str | None
    """The folder of the originals and the journal; null where no file changes."""
    checked: DirectoryCheck | None
    """The state afterwards; null with --dry-run."""
    next_steps: tuple[PlanStepObject, ...]
    """The steps that are left for a person."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UndoDocument:
    """The files that were restored."""

    command: Literal["undo"] = "undo"
    plan_id: str
    host: str
    is_already_done: bool
    restored: tuple[str, ...]
    """Files with their old bytes."""
    removed: tuple[str, ...]
    """Files that the plan made."""
    backup: str | None


# --- verify ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedQuorum(HealthDocument):
    """The running quorum, as quorum health has it."""

    findings: tuple[Finding, ...]
    """With what is not as planned."""


@form
def checked_quorum(checked: QuorumCheck) -> CheckedQuorum:
    of = health_document(checked.health)
    return CheckedQuorum(
        **{name: getattr(of, name) for name in HealthDocument.__dataclass_fields__},
        findings=in_order((*checked.findings, *checked.unwell)),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifyDocument:
    """The state of a plan in directories and in the running quorum."""

    command: Literal["verify"] = "verify"
    plan_id: str
    is_fine: bool
    """True if nothing is worse than info."""
    directories: tuple[DirectoryCheck, ...]
    quorum: QuorumCheck | None
    """null where no controller was named."""
    finding_counts: FindingCounts


def verify_document(verification: PlanVerification) -> VerifyDocument:
    return VerifyDocument(
        plan_id=verification.plan.id,
        is_fine=verification.is_fine,
        directories=verification.directories,
        quorum=verification.quorum,
        finding_counts=finding_counts(verification.findings),
    )
