"""The surveys of a quorum as a case for the one judgement (`reports/election/assessment.py`).

Owns which surveys count.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from kraftool.repair.plan import Plan, Risk
from kraftool.repair.ranking import hosts_of
from kraftool.repair.request import Acceptance, PlanRequest
from kraftool.repair.survey import Survey
from kraftool.repair.surveyed_quorum import SurveyedQuorum
from kraftool.reports.election.assessment import Assessment, LossBound, assess
from kraftool.reports.election.case import ElectionCase
from kraftool.reports.election.losses import CommitEvidence, may_have_unseen_by_doubt
from kraftool.reports.election.memory import Forgotten
from kraftool.reports.election.read import quorum_of
from kraftool.reports.files.home_cluster import home_of
from kraftool.reports.text.words import listed


def judge(surveys: Sequence[Survey]) -> Assessment:
    """Judge a quorum by its surveys. What a person says to be lost counts as it was given."""
    return assess(surveyed_case(surveys))


def forgetful_voters(quorum: SurveyedQuorum, assessment: Assessment) -> dict[int, str]:
    """Given voters that count as lost for what they confirmed, though nobody says they are lost,
    and why: their logs are gone.

    A damaged log is not: its batches behind the damage show how far it went. An old copy or a log
    that was cut counts only if no voter has a whole one.
    """
    forgot = {
        voter.id: voter.reason
        for voter in assessment.forgetful
        if voter.is_gone or (assessment.lacks_whole_voter and not voter.is_damage)
    }
    for host in quorum.hosts:
        if host.node_id is not None and host.lost_log and quorum.votes(host):
            forgot.setdefault(host.node_id, f"has lost its log, which {host.lost_log}")
    lost = {voter.id for voter in quorum.lost}
    return {voter_id: forgot[voter_id] for voter_id in sorted(forgot) if voter_id not in lost}


def forgetting_risk(quorum: SurveyedQuorum, assessment: Assessment) -> Risk | None:
    """The risk that forgetful voters have committed records beyond the best log; None if those
    that forgot nothing have every committed record between them."""
    forgot = forgetful_voters(quorum, assessment)
    lost = {voter.id for voter in (*quorum.lost, *quorum.missing)}
    known = len(quorum.voters) - len(lost)
    if known < quorum.enough or known - len(forgot) >= quorum.enough:
        return None
    reasons = listed(f"voter {voter_id} {reason}" for voter_id, reason in forgot.items())
    end = quorum.leader.survey.end.offset
    return Risk(
        word=Acceptance.AHEAD.value,
        text=f"committed records from offset {end} on may exist that no directory shows: {reasons}."
        f" {_counts_as_lost([*forgot])}",
    )


def doubted(plan: Plan, request: PlanRequest) -> Plan:
    """The plan; if it loses nothing only unless a directory is an old copy, it says so."""
    if plan.loss.verdict is not LossBound.NONE:
        return plan
    restored = [host.survey for host in hosts_of(request.surveys, request.restored)]
    known = CommitEvidence.of(surveyed_case(restored))
    if not may_have_unseen_by_doubt(known):
        known = CommitEvidence.of(surveyed_case(request.surveys))
    if not may_have_unseen_by_doubt(known):
        return plan
    reasons = listed(
        f"voter {voter_id} {known.forgotten[voter_id].reason}"
        for voter_id in sorted(known.forgotten)
        if voter_id in known.case.voters.ids
    )
    condition = plan.loss.text.partition(", ")[2] if plan.loss.text.startswith("none, ") else ""
    given = {node.id for node in known.case.nodes if not node.assumed}
    whom = (
        "each other" if known.case.voters.ids <= given else "a voter whose directory was not given"
    )
    nothing, but = "nothing", "unless a directory is an old copy or lost its end"
    if any(_is_certain(forgotten) for forgotten in known.forgotten.values()):
        nothing = "nothing that a directory shows"
        but = "but a directory is an old copy or lost its end, and others may be"
    text = (
        f"possible: {nothing} is lost{', ' if condition else ''}{condition}, {but}: {reasons}."
        f" No directory here has what such a voter confirmed with {whom}"
    )
    return replace(plan, loss=replace(plan.loss, verdict=LossBound.POSSIBLE, text=text))


def _is_certain(forgotten: Forgotten) -> bool:
    """True if a log that is whole in itself is certainly older than its voter's past."""
    return not (forgotten.is_doubt or forgotten.is_damage or forgotten.is_gone)


def _counts_as_lost(ids: Sequence[int]) -> str:
    if len(ids) == 1:
        return f"Voter {ids[0]} counts as lost for what it confirmed"
    return f"Voters {listed(ids)} count as lost for what they confirmed"


def surveyed_case(surveys: Sequence[Survey]) -> ElectionCase:
    """The quorum at rest, of the cluster that most surveys are of."""
    counting = [survey for survey in surveys if survey.node is not None]
    home = home_of(survey.identity.cluster_id for survey in counting)
    return quorum_of(
        replace(survey.node, source=survey.path)
        for survey in counting
        if survey.node is not None and (survey.identity.cluster_id or home) == home
    )
