"""The findings between the directories of one cluster, beyond what each shows by itself.

Owns which of the existing comparisons are asked (doctor's rules, diff-voters, verify-snapshot's)
and that nothing is said twice. The directories are light: no state, no batches; `divergence.py`
compares logs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations, product

from kraftool.reports.doctor.model import Diagnosis, Examination, ExaminedDirectory
from kraftool.reports.doctor.read import together
from kraftool.reports.doctor.report import diagnose
from kraftool.reports.findings.finding import SEVERITY_RANK, Finding, Severity
from kraftool.reports.findings.kinds import directory as dir_kinds
from kraftool.reports.findings.kinds import fleet as kinds
from kraftool.reports.findings.kinds import signatures
from kraftool.reports.findings.mutes import NOTHING_LEFT_OUT, FindingFilter, MutedFinding
from kraftool.reports.findings.urgency import urgency_of
from kraftool.reports.fleet.model import AUDIT, ClusterSummary, Divergence, FleetFinding
from kraftool.reports.verify.snapshot_compare import between
from kraftool.reports.verify.snapshot_values import VerifiedDirectory
from kraftool.spark.audit.cluster_summary import cluster_summary
from kraftool.spark.audit.divergence import MOST_RANGES, findings_of
from kraftool.spark.audit.examine import ABOUT_FILES, AuditedDirectory
from kraftool.spark.audit.finding_merge import counted
from kraftool.spark.audit.levels import may_be_behind, mixed_levels

_ENDLESS = 1 << 63


@dataclass(frozen=True, slots=True, kw_only=True)
class Misplaced:
    """The directories of a fleet that are not simply of the cluster that their cluster.id names."""

    lent: Mapping[str, str] = field(default_factory=dict)
    """Those with the cluster.id of another cluster, and one directory of that."""
    log_of: Mapping[str, str] = field(default_factory=dict)
    """Those with the log of another cluster, and of which, in words."""
    one_of: Mapping[str, str] = field(default_factory=dict)
    """Those that may belong to any of several clusters, in words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterMembers:
    """The directories of one cluster, and where their logs differ."""

    name: str
    members: tuple[AuditedDirectory, ...]
    divergences: tuple[Divergence, ...] = ()
    misplaced: Misplaced = field(default_factory=Misplaced)


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """The result of comparing them."""

    summary: ClusterSummary
    findings: tuple[FleetFinding, ...]
    ignored: int = 0
    muted: tuple[MutedFinding, ...] = ()


def in_company(members: Sequence[AuditedDirectory]) -> list[AuditedDirectory]:
    """The directories of a cluster, without what each says only because it was looked at alone: a
    directory without a log has lost none where another one of the cluster has it."""
    if not any(one.examined is not None and one.examined.source.has_metadata for one in members):
        return list(members)
    return [_without(member, signatures.LOST_LOG.code) for member in members]


def _without(member: AuditedDirectory, code: str) -> AuditedDirectory:
    kept = tuple(finding for finding in member.findings if finding.finding.code != code)
    if len(kept) == len(member.findings):
        return member
    summary = replace(member.summary, finding_counts=counted(kept))
    return replace(member, findings=kept, summary=summary)


def compare(cluster: ClusterMembers, left_out: FindingFilter = NOTHING_LEFT_OUT) -> Compared:
    """Compare the directories of a cluster. What goes wrong is a finding."""
    members = _in_order(cluster)
    examination = together([])
    fleet_findings: list[FleetFinding] = []
    ours = [member for member in members if member.summary.name not in cluster.misplaced.log_of]
    try:
        fleet_findings += _other_logs(cluster, members)
        fleet_findings += _other_ids(cluster, ours)
        fleet_findings += _undecided(cluster, ours)
        id = ours[0].summary.cluster_id if ours else None
        examination = together(
            [
                _as_of(id, audited_directory.examined)
                for audited_directory in ours
                if audited_directory.examined is not None
            ],
            differing=tuple(_differing(cluster.divergences)),
        )
        fleet_findings += _found(cluster, ours, examination)
    except Exception as error:  # one cluster must not take the others' findings with it
        names = tuple(member.summary.name for member in members)
        failure = kinds.FAILED.at(
            cluster.name, f"its nodes could not be compared: {type(error).__name__}"
        )
        fleet_findings.append(FleetFinding(finding=failure, paths=names, by=(AUDIT,)))
    chosen = left_out.sorted(fleet_findings, lambda finding: finding.finding)
    kept = list(chosen.kept)
    kept.sort(key=lambda finding: urgency_of(finding.finding))
    findings = tuple(replace(finding, cluster=cluster.name) for finding in kept)
    summary = cluster_summary(
        cluster.name, ours or members, examination, counted(findings), len(cluster.divergences)
    )
    return Compared(
        summary=replace(summary, directories=len(members)),
        findings=findings,
        ignored=chosen.ignored,
        muted=chosen.muted,
    )


def _differing(divergences: Sequence[Divergence]) -> Iterator[tuple[str, str, int, int]]:
    """Every two directories on different sides, with the range in which they differ.

    Of more ranges than are kept nothing is known, so that the last one goes on.
    """
    for number, divergence in enumerate(divergences, 1):
        last = divergence.last_offset if number < MOST_RANGES else _ENDLESS
        for one, other in combinations(divergence.sides, 2):
            for mine, theirs in product(one.paths, other.paths):
                yield mine, theirs, divergence.first_offset, last


def _other_logs(
    cluster: ClusterMembers, members: Sequence[AuditedDirectory]
) -> Iterator[FleetFinding]:
    """Directories that are this cluster's by their meta.properties alone."""
    for member in members:
        name = member.summary.name
        if name in cluster.misplaced.log_of:
            finding = kinds.OTHER_LOG.at(
                name,
                f"its log is that of {cluster.misplaced.log_of[name]}, but its"
                f" meta.properties says node {member.summary.node_id} of this one",
                field="cluster.id",
                found=member.summary.cluster_id or "",
            )
            yield FleetFinding(finding=finding, directory=name, paths=(name,), by=(AUDIT,))


def _undecided(
    cluster: ClusterMembers, members: Sequence[AuditedDirectory]
) -> Iterator[FleetFinding]:
    """Directories that were compared with no other, since they may belong to any of several."""
    for member in members:
        name = member.summary.name
        if name in cluster.misplaced.one_of:
            finding = kinds.ONE_OF_CLONES.at(
                name, f"it may belong to {cluster.misplaced.one_of[name]}"
            )
            yield FleetFinding(finding=finding, directory=name, paths=(name,), by=(AUDIT,))


def _other_ids(
    cluster: ClusterMembers, members: Sequence[AuditedDirectory]
) -> Iterator[FleetFinding]:
    """Members that their logs tell, under another cluster's id."""
    first = members[0].summary if members else None
    for member in members:
        mine = member.summary
        if first is None or not mine.cluster_id or mine.cluster_id == first.cluster_id:
            continue
        owner = cluster.misplaced.lent.get(mine.name)
        text = f"its cluster.id is that of {owner}" if owner else "another cluster.id"
        text += f" than that of {first.name}" if not owner else ""
        finding = dir_kinds.CLUSTER_ID.at(
            mine.name,
            f"{text}; its log is the one of {first.name}, so it is compared with that cluster",
            field="cluster.id",
            expected=first.cluster_id or "",
            found=mine.cluster_id,
            advice="nodes with different ids refuse each other: with Kafka stopped, write the"
            " cluster.id of the others into its meta.properties. Do not format it: its log"
            " and its vote belong to this cluster",
        )
        names = (first.name, mine.name)
        yield FleetFinding(finding=finding, paths=names, by=(AUDIT,))


def _as_of(cluster_id: str | None, examined: ExaminedDirectory) -> ExaminedDirectory:
    """A directory under the cluster id that it should have, so that nothing sets it aside."""
    node = examined.source.node
    if not node.cluster_id or node.cluster_id == cluster_id or not examined.is_read:
        return examined
    summary = replace(examined.summary, node=replace(node, cluster_id=cluster_id))
    return examined.with_source(replace(examined.source, summary=summary))


def _in_order(cluster: ClusterMembers) -> list[AuditedDirectory]:
    """The ones of the cluster id that most have first: others are compared with the first."""
    summaries = [member.summary for member in cluster.members]
    lent = cluster.misplaced.lent
    ids = Counter(one.cluster_id for one in summaries if one.cluster_id and one.name not in lent)

    def furthest(id: str | None) -> tuple[int, int]:
        own = (one for one in summaries if one.cluster_id == id)
        return max((one.epoch or -1, one.end_offset or -1) for one in own)

    # Of equally many, the one whose directories are furthest.
    best = max(ids, key=lambda id: (ids[id], furthest(id), id), default=None)

    def place(directory: AuditedDirectory) -> tuple[bool, bool, int, str]:
        one = directory.summary
        return one.cluster_id != best, one.node_id is None, one.node_id or 0, one.name

    return sorted(cluster.members, key=place)


def _found(
    cluster: ClusterMembers, members: Sequence[AuditedDirectory], examination: Examination
) -> Iterator[FleetFinding]:
    names = [member.summary.name for member in members]
    summaries = {member.summary.name: member.summary for member in members}
    for range_finding, places in findings_of(cluster.divergences, summaries):
        directories = tuple(sorted({one for side in places[0].sides for one in side.paths}))
        yield FleetFinding(finding=range_finding, paths=directories, by=(AUDIT,))
    if len(members) < 2:
        return
    known = _Known(members)
    newest = examination.voters.voters
    voters = {voter.id for voter in newest.voters} if newest is not None else set()
    for section in diagnose(examination).sections:
        for diagnosis in section.diagnoses:
            if not known.has(diagnosis):
                yield _of_diagnosis(_weighed(diagnosis, members, voters), names)
    for finding in (*_snapshots(members), *mixed_levels(members, voters)):
        if not known.has(Diagnosis(finding=finding)):
            yield FleetFinding(finding=finding, paths=about(finding, names), by=(AUDIT,))


class _Known:
    """The findings that each directory already has by itself."""

    def __init__(self, members: Sequence[AuditedDirectory]) -> None:
        self._names = [member.summary.name for member in members]
        singles = [
            (member.summary.name, one.finding) for member in members for one in member.findings
        ]
        self._places = {_place(finding) for _, finding in singles}
        self._worst: dict[tuple[str, str], int] = {}
        for name, finding in singles:
            rank = SEVERITY_RANK[finding.severity]
            self._worst[finding.code, name] = min(rank, self._worst.get((finding.code, name), rank))

    def has(self, diagnosis: Diagnosis) -> bool:
        """True if it was said of that place; or, of the directory as a whole, as badly."""
        finding = diagnosis.finding
        if _place(finding) in self._places:
            return True
        name = diagnosis.directory or _holder(finding.file, self._names)
        worst = self._worst.get((finding.code, name))
        return worst is not None and worst <= SEVERITY_RANK[finding.severity]


def _weighed(
    diagnosis: Diagnosis, members: Sequence[AuditedDirectory], voters: Collection[int]
) -> Diagnosis:
    """A voter that lies still and has an older set of voters is more than a node that was removed:
    a fleet's directories are looked at together."""
    finding = diagnosis.finding
    if finding.code != dir_kinds.VOTERS_BEHIND.code:
        return diagnosis
    whose = next((member for member in members if member.summary.name == finding.file), None)
    if whose is None or may_be_behind(whose, voters):
        return diagnosis
    return replace(diagnosis, finding=replace(finding, severity=Severity.WARNING))


def _place(finding: Finding) -> tuple[object, ...]:
    return finding.code, replace(finding.fault, reason="", expected="")


def _of_diagnosis(diagnosis: Diagnosis, names: Sequence[str]) -> FleetFinding:
    places = " ".join(evidence.file for evidence in diagnosis.evidence)
    mentioned = about(diagnosis.finding, names, f"{diagnosis.directory} {places}")
    commands = diagnosis.commands
    if any("://" in name for name in names):
        commands = tuple(command for command in commands if not command.startswith(ABOUT_FILES))
    return FleetFinding(
        finding=diagnosis.finding,
        directory=mentioned[0] if len(mentioned) == 1 else "",
        paths=mentioned,
        by=(AUDIT,),
        evidence=diagnosis.evidence,
        commands=commands,
    )


def about(finding: Finding, names: Sequence[str], more: str = "") -> tuple[str, ...]:
    """The directories that a finding names, in its file or in its words."""
    fault = finding.fault
    text = " ".join((fault.file, fault.reason, fault.expected, fault.found, more))
    mentions = []
    # Longest first: one name may be the beginning of another.
    for name in sorted(names, key=len, reverse=True):
        if name in text:
            mentions.append(name)
            text = text.replace(name, "")
    return tuple(sorted(mentions, key=list(names).index))


def _holder(file: str, names: Sequence[str]) -> str:
    """The directory that a file lies in."""
    for name in sorted(names, key=len, reverse=True):
        if file == name or file.startswith(name.rstrip("/") + "/"):
            return name
    return ""


def _snapshots(members: Sequence[AuditedDirectory]) -> list[Finding]:
    """Snapshots of one offset that hold different states."""
    return between(
        [
            # Whatever id they give, their logs say that they are one cluster's.
            VerifiedDirectory(path=member.summary.name, snapshots=member.snapshots)
            for member in members
        ]
    )
