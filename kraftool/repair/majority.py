"""A majority of the voters is lost: the plan by which one survivor leads a quorum of its own.

Owns the edits of each method, what speaks against them, and the verdict on what is lost. What was
chosen is `seed_choice.py`'s, the words of the plan are `majority_words.py`'s, its steps
`majority_steps.py`'s.
"""

from __future__ import annotations

from collections.abc import Iterable

from kraftool import __version__
from kraftool.decoders.meta_properties import MetaProperties
from kraftool.raft.endpoints import static_voter
from kraftool.repair import majority_words as words
from kraftool.repair import rest_behind_damage
from kraftool.repair.cases import identity, small_files
from kraftool.repair.cases.endpoints import STATIC_VOTERS
from kraftool.repair.cases.snapshots import bad_removed
from kraftool.repair.edit_builder import (
    epochs_removed,
    jump_snapshot,
    meta_properties_of,
    quorum_state_of,
    relied_on,
    removals,
    voters_appended,
)
from kraftool.repair.judging import forgetful_voters, forgetting_risk, judge
from kraftool.repair.majority_steps import majority_steps
from kraftool.repair.mending import beside
from kraftool.repair.plan import (
    SCHEMA_VERSION,
    Edit,
    HostPlan,
    HostRole,
    Method,
    Plan,
    PlannedLoss,
    Quarantined,
    RequiredSetting,
    Risk,
)
from kraftool.repair.plan_file import PlanFileKind
from kraftool.repair.ranking import Host, is_voter, ranked
from kraftool.repair.refusal import accepted, refuse_ignored
from kraftool.repair.request import Acceptance
from kraftool.repair.seed_choice import Choice, choose
from kraftool.repair.surveyed_quorum import (
    SurveyedQuorum,
    common_risks,
    kafka_risk,
    refuse_missing,
)
from kraftool.reports.election.assessment import Assessment, LossBound
from kraftool.reports.text.words import listed, many


def majority_plan(quorum: SurveyedQuorum) -> Plan:
    """The plan. Raises KraftoolError where none can be made, or none without a word."""
    refuse_ignored(quorum.request, one_leads=True)
    refuse_missing(quorum)
    choice = choose(quorum)
    judged = judge(quorum.request.surveys)
    risks = accepted(quorum.request, tuple(_risks(choice, judged)))
    is_rest = choice.jumps and choice.state.log_start is not None
    rest = (rest_behind_damage.described(choice.source),) if is_rest else ()
    return Plan(
        schema_version=SCHEMA_VERSION,
        created_ms=quorum.request.now_ms,
        tool=__version__,
        method=choice.method,
        cases=("majority-lost", *(rest_behind_damage.CASE for _ in rest)),
        summary=(*words.summary(choice), *_followers(choice), *rest),
        cluster_id=quorum.cluster_id,
        kraft_version=quorum.kraft_version,
        kafka_version=quorum.request.kafka_version,
        seed=choice.seed.name,
        why_seed=words.why_seed(choice),
        ranking=ranked(quorum.hosts, quorum.voters),
        loss=_loss(choice, judged),
        voters_before=quorum.voters,
        voters_after=choice.voters_after,
        risks=risks,
        steps=majority_steps(choice),
        quarantine=tuple(_quarantine(choice)),
        hosts=tuple(_host_plan(choice, host) for host in quorum.hosts),
    )


def _followers(choice: Choice) -> Iterable[str]:
    """Yield what is wrong with those that come back as they are: Kafka may not start on it."""
    quorum = choice.quorum
    hosts = [host for host in quorum.hosts if host is not choice.seed and not quorum.votes(host)]
    yield from (
        mend.text
        for host in quorum.hosts
        for mend in identity.other_nodes_disk(quorum, host)
        if quorum.votes(host)
    )
    yield from beside(quorum, hosts, "is about who leads")


def _risks(choice: Choice, judged: Assessment) -> Iterable[Risk]:
    quorum = choice.quorum
    yield from common_risks(quorum)
    if (forgetting := forgetting_risk(quorum, judged)) is not None:
        yield forgetting
    if not choice.state.whole:
        yield Risk(
            word=Acceptance.INCOMPLETE.value,
            text=f"the state of {choice.source.name} lacks the records before its log",
        )
    for lost in choice.lost_records:
        if lost.host != choice.source.name or quorum.request.rollback is None:
            text = many(lost.end_offset - lost.first_offset, "record")
            yield Risk(
                word=Acceptance.AHEAD.value,
                text=f"{lost.host} has {text} from offset {lost.first_offset} on that will be lost",
            )
    if quorum.request.rollback is not None:
        yield Risk(
            word=Acceptance.ROLLBACK.value,
            text=f"everything from offset {choice.state_offset} on is given up",
        )
    log = choice.source.survey.log
    if choice.jumps and log is not None and log.open_transaction is not None:
        yield Risk(
            word=Acceptance.OPEN_TRANSACTION.value,
            text=f"a metadata transaction is open since offset {log.open_transaction}. Its records"
            " are given up, as a new leader would abort it",
        )
    if quorum.kraft_version > 0:
        risk = kafka_risk(quorum, choice.state.metadata_version)
        if risk is not None:
            yield risk


def _loss(choice: Choice, judged: Assessment) -> PlannedLoss:
    quorum = choice.quorum
    records = choice.lost_records
    with_log = {host.node_id for host in quorum.hosts if quorum.votes(host) and not host.lost_log}
    with_log -= forgetful_voters(quorum, judged).keys()
    gone = [voter for voter in quorum.voters if voter.id not in with_log]
    if len(quorum.voters) - len(gone) < quorum.enough:
        ids = listed(voter.id for voter in gone)
        are = f"voters {ids} are" if len(gone) > 1 else f"voter {ids} is"
        why = (
            f"{are} a majority by {'themselves' if len(gone) > 1 else 'itself'}"
            if len(gone) >= quorum.majority
            else f"{are} half of all, and with a voter that was added later a majority"
        )
        return PlannedLoss(
            verdict=LossBound.UNBOUNDED,
            text=f"unbounded and undetectable: {why}, so they may have committed records that no"
            " directory given here has. It is unknown which topics, brokers, configs or"
            " ACLs these concern",
            records=records,
        )
    if records:
        return PlannedLoss(
            verdict=LossBound.BOUNDED,
            text="bounded: only what is listed. Every committed record is in a directory that was"
            f" given, because {_no_majority(len(gone))}",
            records=records,
        )
    return PlannedLoss(
        verdict=LossBound.NONE,
        text=f"none: {_no_majority(len(gone))}. Every committed record is in a directory"
        " that was given, and the result has all records that those have",
    )


def _no_majority(lost: int) -> str:
    if not lost:
        return "no voter lost its log"
    return f"the lost voter{'s were' if lost > 1 else ' was'} not a majority"


def _quarantine(choice: Choice) -> Iterable[Quarantined]:
    for voter in choice.quarantined:
        yield Quarantined(
            node_id=voter.id,
            directory_id=voter.directory_id or "",
            why=words.why_quarantined(choice),
            returns=words.how_it_returns(choice, voter.id),
        )


# --- the hosts -------------------------------------------------------------------------------


def _host_plan(choice: Choice, host: Host) -> HostPlan:
    edits: list[Edit] = []
    if host is choice.seed:
        edits += _seed_edits(choice)
    elif _must_be_wiped(choice, host):
        edits += removals(host.survey, "the node fetches everything again", _EVERYTHING)
    if choice.is_fenced and not host.survey.meta_complaint:
        edits.append(_fenced(choice, host))
    voter = RequiredSetting(key=STATIC_VOTERS, value=static_voter(choice.voter))
    settings = ((voter,) if choice.static else ()) + identity.own_node_id(host)
    relies = host in (choice.seed, choice.source)
    return HostPlan(
        name=host.name,
        role=_role(choice, host),
        identity=host.survey.identity,
        path=host.survey.path,
        origin=host.survey.origin,
        expected=relied_on(host.survey, edits) if relies else (),
        edits=tuple(edits),
        settings=settings if host.has_metadata or host is choice.seed else (),
    )


_EVERYTHING = frozenset(PlanFileKind) - {PlanFileKind.META_PROPERTIES, PlanFileKind.BOOTSTRAP}


def _must_be_wiped(choice: Choice, host: Host) -> bool:
    """True if what a node has would stand in the way of the new quorum's records.

    A jump is taken over anything. After an append nobody is ahead; with a new cluster id an old
    voter would be one again by what its log says.
    """
    is_old = is_voter(host, choice.quorum.voters) and host is not choice.seed
    return is_old and choice.is_fenced and not choice.jumps


def _seed_edits(choice: Choice) -> Iterable[Edit]:
    edits = list(_leading(choice))
    targets = {edit.target for edit in edits}
    return [*edits, *(edit for edit in _startable(choice) if edit.target not in targets)]


def _startable(choice: Choice) -> Iterable[Edit]:
    """Yield the edits of files that keep Kafka from starting, or make it delete the log."""
    yield from bad_removed(choice.seed.survey)
    cases = (small_files.partition_metadata, small_files.bootstrap, small_files.stray_names)
    for case in cases:
        for mend in case(choice.quorum, choice.seed):
            yield from mend.edits


def _leading(choice: Choice) -> Iterable[Edit]:
    """Yield what makes the seed the new quorum's first voter."""
    survey, frame = choice.seed.survey, choice.frame
    if choice.jumps:
        source = choice.source.name if choice.source is not choice.seed else ""
        yield jump_snapshot(choice.state, source, frame)
        yield from removals(survey, "the checkpoint has all of it")
    else:
        if choice.method is Method.APPEND:
            why = f"node {choice.voter.id} is the only voter"
            yield from voters_appended(survey, frame, why)
        yield from epochs_removed(survey)
    yield quorum_state_of(
        survey,
        frame.epoch,
        choice.quorum.kraft_version,
        [choice.voter.id],
        "above every epoch in which any node may have voted; no vote was promised in it",
    )


def _fenced(choice: Choice, host: Host) -> Edit:
    identity = host.survey.identity
    meta = MetaProperties(
        version=1,
        cluster_id=choice.cluster_id,
        node_id=host.node_id,
        directory_id=identity.directory_id or None,
    )
    return meta_properties_of(
        host.survey,
        meta,
        choice.quorum.request.now_ms,
        "nodes with the old cluster id are refused",
    )


def _role(choice: Choice, host: Host) -> HostRole:
    if host is choice.seed:
        return HostRole.SEED
    if host.node_id in choice.quorum.voters.ids:
        return HostRole.OLD_VOTER
    if host.node_id in choice.brokers:
        return HostRole.BROKER
    return HostRole.OBSERVER
