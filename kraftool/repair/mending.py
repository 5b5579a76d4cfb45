"""A quorum that is not lost: what single directories need, or that nothing is to be done.

Owns that each directory is looked at by every case (`cases/`), what is asked for first, and that
two cases never edit one file: what makes a log anew leaves nothing of it to mend. It refuses to
change who votes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from kraftool import __version__
from kraftool.decoders.errors import KraftoolError
from kraftool.repair.cases import (
    endpoints,
    identity,
    leftovers,
    log_damage,
    poison,
    rebuild,
    small_files,
    snapshots,
)
from kraftool.repair.cases.model import Mend
from kraftool.repair.judging import danger, judge, start_steps
from kraftool.repair.making import relied_on
from kraftool.repair.plan import (
    SCHEMA_VERSION,
    Action,
    Edit,
    HostPlan,
    HostRole,
    LostRecords,
    Method,
    Plan,
    PlanFileKind,
    PlannedLoss,
    PlanStep,
    Risk,
)
from kraftool.repair.ranking import Host, is_voter, ranked
from kraftool.repair.refusal import PlanRefused, accepted, refuse_ignored
from kraftool.repair.request import Acceptance
from kraftool.repair.shortfall import shortfall
from kraftool.repair.standing import (
    QuorumAssessment,
    bootstrap_option,
    common_risks,
    refuse_missing,
    unknown_voters,
)
from kraftool.reports.election.assessment import LossBound, QuorumSafety
from kraftool.reports.words import listed

Case = Callable[[QuorumAssessment, Host], Iterator[Mend]]

ASKED_FOR: tuple[Callable[[QuorumAssessment], Iterator[Mend]], ...] = (
    rebuild.asked_for,
    endpoints.asked_for,
    poison.asked_for,
)
OF_THE_LOG: tuple[Case, ...] = (log_damage.find, snapshots.find, small_files.leader_epochs)
"""Not asked where the log is made anew."""
OF_THE_REST: tuple[Case, ...] = (
    identity.meta_properties,
    identity.directory_id,
    small_files.quorum_state,
    small_files.partition_metadata,
    small_files.bootstrap,
    small_files.stray_names,
    leftovers.find,
)


_OF_A_VOTERS_WORD = frozenset(
    {PlanFileKind.SEGMENT, PlanFileKind.SNAPSHOT, PlanFileKind.QUORUM_STATE}
)


def mending_plan(standing: QuorumAssessment) -> Plan:
    """The plan; with the method none where there is nothing to mend."""
    request = standing.request
    refuse_ignored(request, one_leads=False)
    asked = [each for case in ASKED_FOR for each in case(standing)]
    mends = asked or list(_found(standing, standing.hosts))
    real = [each for each in mends if not each.is_note]
    if not real:
        refuse_missing(standing)
        _refuse_broken(standing)
        return _nothing(standing, mends)
    _refuse_twice(real)
    _refuse_unknown_voters(standing, real)
    told: Iterable[str] = ()
    if asked:
        told = beside(standing, standing.hosts, "has only what was asked for", real)
    fallen = list(
        shortfall(
            standing,
            replaced={each.host.name for each in real if each.replaces_log},
            sources={each.source.name for each in real if each.source is not None},
        )
    )
    risks = [
        *common_risks(standing),
        *(each for one in real for each in one.risks),
        *(risk for own, _ in fallen for risk in own),
    ]
    rebuilds = any(each.case == "rebuilt" for each in real)
    after = endpoints.new_voters(standing) if request.endpoints else standing.voters
    return Plan(
        schema_version=SCHEMA_VERSION,
        created_ms=request.now_ms,
        tool=__version__,
        method=Method.REBUILD if rebuilds else Method.MEND,
        cases=tuple(dict.fromkeys(each.case for each in mends)),
        summary=(*(each.text for each in mends), *told, *_replaced(standing)),
        cluster_id=standing.cluster_id,
        kraft_version=standing.kraft_version,
        kafka_version=request.kafka_version,
        ranking=ranked(standing.hosts, standing.keys),
        loss=_loss([*((each.risks, each.lost) for each in real), *fallen]),
        voters_before=standing.voters,
        voters_after=after,
        risks=accepted(request, risks),
        steps=tuple(_steps(standing, real)),
        hosts=tuple(_host_plan(standing, each, real) for each in standing.hosts),
    )


def _found(
    standing: QuorumAssessment, hosts: Sequence[Host], planned: Sequence[Mend] = ()
) -> Iterator[Mend]:
    """What is wrong, beside what is planned already."""
    for host in hosts:
        is_anew = any(each.replaces_log for each in planned if each.host is host)
        own: list[Mend] = []
        for case in () if is_anew else OF_THE_LOG:
            done = [edit for mend in own for edit in mend.edits]
            own += [
                mend
                for mend in case(standing, host)
                if not mend.edits or any(edit not in done for edit in mend.edits)
            ]
            if any(each.replaces_log for each in own):
                break
        yield from own
        for case in OF_THE_REST:
            yield from case(standing, host)


def beside(
    standing: QuorumAssessment, hosts: Sequence[Host], why: str, planned: Sequence[Mend] = ()
) -> Iterator[str]:
    """What is wrong with directories that a plan leaves as it is, and why it does."""
    targets = {(mend.host.name, edit.target) for mend in planned for edit in mend.edits}
    changed = {name for name, _ in targets}

    def is_left(mend: Mend) -> bool:
        files = {(mend.host.name, edit.target) for edit in mend.edits}
        return not mend.is_note and not (files and files <= targets)

    try:
        left = [each for each in _found(standing, hosts, planned) if is_left(each)]
        found = [(each.text, each.host.name in changed) for each in left]
    except KraftoolError as error:
        found = [(error.message, False)]
    for text, is_changed in found:
        then = "Plan again for that, before the node is started."
        if is_changed:  # no plan is applied on top of another before a node has run
            then = "Plan for that alone first, apply it, and let Kafka run on it."
        yield f"Not mended by this plan, which {why}: {text}. {then}"


def _refuse_twice(mends: Sequence[Mend]) -> None:
    seen: dict[tuple[str, str], tuple[Mend, Edit]] = {}
    for mend in mends:
        for edit in mend.edits:
            key = (mend.host.name, edit.target.path)
            other, first = seen.setdefault(key, (mend, edit))
            if other is not mend and replace(edit, why=first.why) != first:
                raise KraftoolError(
                    f"{mend.host.name}: {edit.target.path} needs two repairs, {other.case} and"
                    f" {mend.case}",
                    hint="rebuild the directory from another node's: --set rebuild=ID",
                )


def _refuse_unknown_voters(standing: QuorumAssessment, mends: Sequence[Mend]) -> None:
    """What an observer fetches again, and may be asked of anew, is a voter's word."""
    if standing.voters:
        return
    for mend in mends:
        if any(edit.target.kind in _OF_A_VOTERS_WORD for edit in mend.edits):
            raise unknown_voters(f"{mend.text}; if it is one, that would be a loss")


def _refuse_broken(standing: QuorumAssessment) -> None:
    """Nothing to mend is not the same as well."""
    for host in standing.hosts:
        state = host.survey.state
        if is_voter(host, standing.keys) and state is not None and not state.whole:
            raise PlanRefused(
                f"{host.name}: its state is not whole: {state.complaint or 'its begin is missing'}",
                hint="rebuild it from another node's directory: --set rebuild=ID",
            )


def _nothing(standing: QuorumAssessment, notes: Sequence[Mend]) -> Plan:
    present = len(standing.present)
    if standing.voters and present < standing.majority:
        ids = ", ".join(str(each.id) for each in standing.voters)
        raise PlanRefused(
            f"of the voters {ids} only {present} have a directory with metadata that is theirs",
            hint="kraftool diff-voters and doctor tell about the others; where they are lost, say"
            " so: --set lost=ID,…",
        )
    for host in standing.hosts:
        if not standing.voters and host.had_records and host.lost_log:
            raise unknown_voters(f"{host.name}: its log {host.lost_log}, maybe a voter's")
    odd = [
        f"{host.name} has a record at offset {each.offset} that does not fit the state"
        f" ({each.text}). If controllers die at it: --set poison={each.offset}"
        for host in standing.hosts
        for each in (host.survey.log.misfits if host.survey.log is not None else ())
    ]
    about = (Acceptance.OTHER_CLUSTER.value, Acceptance.DIVERGED.value)
    risks = [each for each in common_risks(standing) if each.word in about]
    fallen = list(shortfall(standing))
    risks += [risk for own, _ in fallen for risk in own]
    judged = judge(standing)
    is_ordered = bool(judged.start_first)
    if judged.state is QuorumSafety.AT_RISK and not is_ordered and not risks:
        risks.append(Risk(word=Acceptance.AHEAD.value, text=danger(judged)))
        fallen.append(((risks[-1],), None))
    told = f"No action needed: {present} of {len(standing.voters)} voters have a whole directory,"
    told += " which is a majority, and nothing in it keeps Kafka from starting."
    told += " If they have no leader all the same: kraftool quorum health"
    told += " asks the running controllers, kraftool doctor compares settings and files."
    unchanged = "none: nothing is changed"
    if is_ordered:
        unchanged = "none, if the controllers start in the order of the steps"
        first = listed(judged.start_first)
        told = f"No file needs a repair, but the order of starts matters: start {first} first."
        told += f" {danger(judged)}."
    return Plan(
        schema_version=SCHEMA_VERSION,
        created_ms=standing.request.now_ms,
        tool=__version__,
        method=Method.NONE,
        cases=tuple(dict.fromkeys(each.case for each in notes)),
        summary=(told, *(each.text for each in notes), *odd, *_replaced(standing)),
        cluster_id=standing.cluster_id,
        kraft_version=standing.kraft_version,
        kafka_version=standing.request.kafka_version,
        ranking=ranked(standing.hosts, standing.keys),
        loss=_loss(fallen) if fallen else PlannedLoss(verdict=LossBound.NONE, text=unchanged),
        risks=accepted(standing.request, risks),
        voters_before=standing.voters,
        voters_after=standing.voters,
        steps=tuple(start_steps(standing, judged)) if is_ordered else (),
    )


def _replaced(standing: QuorumAssessment) -> Iterator[str]:
    """A lost voter counts until it is none any more."""
    if not standing.lost:
        return
    ids = listed(each.id for each in standing.lost)
    told = f"Voter {ids} is lost, and counts as a voter until it is replaced: "
    if len(standing.lost) > 1:
        told = f"Voters {ids} are lost, and count as voters until they are replaced, one by one: "
    if standing.kraft_version > 0:
        yield told + (
            "once there is a leader, format a new controller (kraftool format -N), start it, and"
            " use kafka-metadata-quorum: add-controller once it has caught up, then"
            " remove-controller for the lost one."
        )
    else:
        yield told + "a new controller with its id takes its place in controller.quorum.voters."


def _loss(found: Sequence[tuple[Sequence[Risk], LostRecords | None]]) -> PlannedLoss:
    lost = tuple(each for _, each in found if each is not None)
    told = [each.text for risks, lost in found for each in risks if _is_unknown(each, lost)]
    if told:
        return PlannedLoss(
            verdict=LossBound.UNBOUNDED,
            text=f"unbounded and undetectable: {'; '.join(told)}",
            records=lost,
        )
    if not lost:
        return PlannedLoss(
            verdict=LossBound.NONE,
            text="none: no record that can be trusted is given up",
        )
    return PlannedLoss(
        verdict=LossBound.BOUNDED,
        text="bounded: the records that are listed are given up on those nodes; the quorum loses"
        " them only where no majority has them",
        records=lost,
    )


def _is_unknown(risk: Risk, lost: LostRecords | None) -> bool:
    """Whether what is given up cannot be listed."""
    return risk.word == Acceptance.AHEAD.value and lost is None


def _host_plan(standing: QuorumAssessment, host: Host, mends: Sequence[Mend]) -> HostPlan:
    own = [each for each in mends if each.host is host]
    edits: dict[str, Edit] = {}
    for mend in own:
        for edit in mend.edits:
            edits.setdefault(edit.target.path, edit)
    lends = any(each.source is host for each in mends)
    return HostPlan(
        name=host.name,
        role=HostRole.VOTER if is_voter(host, standing.keys) else _role(standing, host),
        identity=host.survey.identity,
        path=host.survey.path,
        expected=relied_on(host.survey, edits.values()) if own or lends else (),
        edits=tuple(edits.values()),
        settings=tuple(dict.fromkeys(one for each in own for one in each.settings)),
    )


def _role(standing: QuorumAssessment, host: Host) -> HostRole:
    state = standing.leader.survey.state
    if state is not None and host.node_id in state.brokers:
        return HostRole.BROKER
    if host.node_id in {each.id for each in standing.voters}:
        return HostRole.VOTER
    return HostRole.OBSERVER


def _steps(standing: QuorumAssessment, mends: Sequence[Mend]) -> Iterator[PlanStep]:
    mended = list(dict.fromkeys(each.host.name for each in mends))
    by_name = {each.name: each for each in standing.hosts}
    if any(each.stops_all for each in mends):
        yield PlanStep(
            action=Action.STOP,
            hosts=tuple(by_name),
            text="stop every controller and every broker, and whatever would start them again: who"
            " runs meanwhile may elect one another over a log that is shorter",
        )
    else:
        yield PlanStep(
            action=Action.STOP,
            hosts=tuple(mended),
            text="stop the node, and whatever would start it again; the others may go on",
        )
    for mend in mends:
        if mend.source is not None:
            where = mend.source.survey.directory
            yield PlanStep(
                action=Action.COPY,
                hosts=(mend.source.name, mend.host.name),
                text=f"copy {where} of {mend.source.name} to {mend.host.name},"
                " with meta.properties and __cluster_metadata-0 and without the topics' folders",
            )
    for name in mended:
        own = [each for each in mends if each.host.name == name]
        for setting in dict.fromkeys(one for each in own for one in each.settings):
            change = (
                f"set {setting.key}={setting.value}"
                if setting.value
                else (f"take {setting.key} out")
            )
            yield PlanStep(
                action=Action.CONFIGURE,
                hosts=(name,),
                text=f"in its server.properties {change}",
            )
        if any(each.edits for each in own):
            sources = {each.source.name for each in own if each.source is not None}
            more = "".join(f" --source {each}=COPY" for each in sorted(sources))
            where = by_name[name].survey.directory
            yield PlanStep(
                action=Action.APPLY,
                hosts=(name,),
                text="as the user that Kafka runs as; it keeps a backup",
                commands=(f"kraftool recover apply plan.yaml --dir {where}{more}",),
            )
    yield PlanStep(
        action=Action.START,
        hosts=tuple(by_name) if any(each.stops_all for each in mends) else tuple(mended),
        text="start the controllers, and once they have a leader the brokers",
    )
    yield PlanStep(
        action=Action.CHECK,
        hosts=tuple(mended),
        text="everything is as planned, and the quorum has a leader",
        commands=tuple(
            f"kraftool recover verify plan.yaml --dir {by_name[each].survey.directory}"
            f"{bootstrap_option(standing)}"
            for each in mended
        ),
    )
