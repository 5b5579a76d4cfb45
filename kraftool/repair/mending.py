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
    log_dirs,
    poison,
    rebuild,
    restored,
    small_files,
    snapshots,
)
from kraftool.repair.cases.model import Mend
from kraftool.repair.edit_builder import relied_on
from kraftool.repair.judging import forgetting_risk, judge
from kraftool.repair.live_majority import described, left_running, takes_what_may_change
from kraftool.repair.mending_steps import mending_steps, started_beside
from kraftool.repair.plan import (
    KAFKA_EXITS,
    RECORD_STOPS,
    SCHEMA_VERSION,
    Edit,
    HostPlan,
    HostRole,
    LostRecords,
    Method,
    Plan,
    PlannedLoss,
    Risk,
)
from kraftool.repair.plan_file import PlanFileKind
from kraftool.repair.ranking import Host, is_voter, ranked
from kraftool.repair.refusal import PlanRefused, accepted, refuse_ignored
from kraftool.repair.request import Acceptance
from kraftool.repair.shortfall import Shortfall, shortfall
from kraftool.repair.start_order import StartOrder, danger, is_better, start_order, start_steps
from kraftool.repair.surveyed_quorum import (
    SurveyedQuorum,
    common_risks,
    refuse_missing,
    unknown_voters,
)
from kraftool.reports.election.assessment import (
    Assessment,
    LossBound,
    QuorumSafety,
)
from kraftool.reports.election.assessment_words import danger_with_reasons, state_sentence
from kraftool.reports.findings.kinds import directory as dir_kinds
from kraftool.reports.text.words import listed

Case = Callable[[SurveyedQuorum, Host], Iterator[Mend]]

ASKED_FOR: tuple[Callable[[SurveyedQuorum], Iterator[Mend]], ...] = (
    rebuild.asked_for,
    endpoints.asked_for,
    poison.asked_for,
)
OF_THE_LOG: tuple[Case, ...] = (
    restored.find,
    log_damage.find,
    snapshots.find,
    small_files.leader_epochs,
)
"""Not asked where the log is made anew."""
OF_THE_REST: tuple[Case, ...] = (
    identity.meta_properties,
    identity.directory_id,
    identity.other_nodes_disk,
    small_files.quorum_state,
    small_files.partition_metadata,
    small_files.bootstrap,
    small_files.stray_names,
    leftovers.find,
)
_OF_PEOPLE = frozenset(
    kind.code for kind in (dir_kinds.METADATA_PLACE, dir_kinds.BOOTSTRAP_FORM, dir_kinds.NO_QUORUM)
)
"""What keeps Kafka from starting and is no file of a data directory: mounts and settings."""
_OF_A_VOTERS_WORD = frozenset(
    {PlanFileKind.SEGMENT, PlanFileKind.SNAPSHOT, PlanFileKind.QUORUM_STATE}
)


def mending_plan(quorum: SurveyedQuorum) -> Plan:
    """The plan; with the method none where there is nothing to mend."""
    request = quorum.request
    refuse_ignored(request, one_leads=False)
    asked = [mend for case in ASKED_FOR for mend in case(quorum)]
    in_log_dirs = (mend for log_dir in quorum.log_dirs for mend in log_dirs.find(quorum, log_dir))
    # Nothing of a lost voter is repaired: a new controller replaces it.
    kept = [host for host in quorum.hosts if host.node_id not in quorum.lost.ids]
    mends = asked or [*_found(quorum, kept), *in_log_dirs]
    order = start_order(quorum, mends)
    if not asked:
        mends, order = _with_best_log(quorum, mends, order)
    mends = [*mends, *_stuck(quorum, mends)]
    real = [mend for mend in mends if not mend.is_note]
    if not real:
        refuse_missing(quorum)
        _refuse_broken(quorum)
        return _nothing(quorum, mends, order)
    _refuse_twice(real)
    _refuse_unknown_voters(quorum, real)
    omissions: Iterable[str] = ()
    if asked:
        omissions = beside(quorum, quorum.hosts, "only includes what you asked for", real)
    fallen = list(_given_up(quorum, order, real))
    live = left_running(quorum, real, order)
    if live and order is not None:
        order = replace(order, first=())  # those that start first run already
    is_settled = bool(live) and not takes_what_may_change(quorum, real)
    risks = [
        *(
            risk
            for risk in common_risks(quorum)
            if not (is_settled and risk.word == Acceptance.RUNNING.value)
        ),
        *(risk for one in real for risk in one.risks),
        *(risk for own, _ in fallen for risk in own),
    ]
    forgetting = forgetting_risk(quorum, judge(request.surveys))
    if forgetting is not None and all(risk.word != forgetting.word for risk in risks):
        risks.append(forgetting)
        fallen.append(((forgetting,), None))
    rebuilds = any(mend.case == "rebuilt" for mend in real)
    after = endpoints.new_voters(quorum) if request.endpoints else quorum.voters
    return Plan(
        schema_version=SCHEMA_VERSION,
        created_ms=request.now_ms,
        tool=__version__,
        method=Method.REBUILD if rebuilds else Method.MEND,
        cases=tuple(dict.fromkeys(mend.case for mend in mends)),
        summary=(
            *(mend.text for mend in mends), *described(live), *_ordered(quorum, order),
            *omissions, *_replaced(quorum),
        ),
        cluster_id=quorum.cluster_id,
        kraft_version=quorum.kraft_version,
        kafka_version=request.kafka_version,
        ranking=ranked(quorum.hosts, quorum.voters),
        loss=_loss([*((mend.risks, mend.lost) for mend in real), *fallen], order),
        voters_before=quorum.voters,
        voters_after=after,
        risks=accepted(
            request, risks, keep_running=listed((host.name for host in live), "or")
        ),
        steps=tuple(mending_steps(quorum, real, order, live)),
        hosts=tuple(_host_plan(quorum, host, real) for host in quorum.hosts),
    )  # fmt: skip


def _stuck(quorum: SurveyedQuorum, mends: Sequence[Mend]) -> Iterator[Mend]:
    """Yield why Kafka exits on a directory that no case repairs, as with settings and mounts."""
    repaired = {mend.host.name for mend in mends if not mend.is_note}
    for host in quorum.hosts:
        node = host.survey.node
        obstacle = node.obstacle if node is not None else None
        if obstacle is None or (host.name in repaired and obstacle.code not in _OF_PEOPLE):
            continue
        yield Mend(
            case=KAFKA_EXITS,
            host=host,
            text=f"{host.name}: Kafka exits when it starts: {obstacle.text}",
            is_note=True,
        )


def _found(
    quorum: SurveyedQuorum, hosts: Sequence[Host], planned: Sequence[Mend] = ()
) -> Iterator[Mend]:
    """Yield what is wrong, beside what is planned already."""
    for host in hosts:
        is_anew = any(mend.replaces_log for mend in planned if mend.host is host)
        own: list[Mend] = []
        for case in () if is_anew else OF_THE_LOG:
            done = [edit for mend in own for edit in mend.edits]
            own += [
                mend
                for mend in case(quorum, host)
                if not mend.edits or any(edit not in done for edit in mend.edits)
            ]
            if any(mend.replaces_log for mend in own):
                break
        yield from own
        for case in OF_THE_REST:
            yield from case(quorum, host)


def beside(
    quorum: SurveyedQuorum, hosts: Sequence[Host], why: str, planned: Sequence[Mend] = ()
) -> Iterator[str]:
    """Yield what is wrong with directories that a plan leaves as it is, and why it does."""
    targets = {(mend.host.name, edit.target) for mend in planned for edit in mend.edits}

    def is_left(mend: Mend) -> bool:
        files = {(mend.host.name, edit.target) for edit in mend.edits}
        return not mend.is_note and not (files and files <= targets)

    try:
        left = [mend for mend in _found(quorum, hosts, planned) if is_left(mend)]
        texts = [mend.text for mend in left]
    except KraftoolError as error:
        texts = [error.message]
    for text in texts:
        then = "Plan again for that, before you start the node."
        yield f"This plan, which {why}, does not repair this: {text}. {then}"


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


def _refuse_unknown_voters(quorum: SurveyedQuorum, mends: Sequence[Mend]) -> None:
    """Refuse to repair if the voters are unknown: an observer can fetch, but a voter's vote
    counts.
    """
    if quorum.voters:
        return
    for mend in mends:
        if any(edit.target.kind in _OF_A_VOTERS_WORD for edit in mend.edits):
            raise unknown_voters(f"{mend.text}; if it is one, that would be a loss")


def _refuse_broken(quorum: SurveyedQuorum) -> None:
    """Nothing to mend is not the same as well."""
    for host in quorum.hosts:
        state = host.survey.state
        if is_voter(host, quorum.voters) and state is not None and not state.whole:
            raise PlanRefused(
                f"{host.name}: its state is not whole:"
                f" {state.complaint or 'its beginning is missing'}",
                hint="rebuild it from another node's directory: --set rebuild=ID",
            )


def _nothing(quorum: SurveyedQuorum, notes: Sequence[Mend], order: StartOrder | None) -> Plan:
    present = len(quorum.present)
    if quorum.voters and present < quorum.majority:
        ids = ", ".join(str(voter.id) for voter in quorum.voters)
        there = {host.node_id for host in quorum.present}
        absent = [voter.id for voter in quorum.voters if voter.id not in there]
        raise PlanRefused(
            f"of the voters {ids} only {present} have a directory with their own metadata",
            hint="run kraftool diff-voters and doctor for the others. If they are lost, declare"
            f" it: --set lost={','.join(map(str, absent))}",
        )
    for host in quorum.hosts:
        if not quorum.voters and host.had_records and host.lost_log:
            raise unknown_voters(f"{host.name}: its log {host.lost_log}, maybe a voter's")
    odd = list(_misfits(quorum.hosts))
    about = (Acceptance.OTHER_CLUSTER.value, Acceptance.DIVERGED.value)
    risks = [common_risk for common_risk in common_risks(quorum) if common_risk.word in about]
    fallen = list(_given_up(quorum, order))
    risks += [risk for own, _ in fallen for risk in own]
    judged = judge(quorum.request.surveys)
    unsafe = "" if order is not None else _unsafe(quorum, judged)
    if unsafe and all(risk.word != Acceptance.AHEAD.value for risk in risks):
        risks.append(Risk(word=Acceptance.AHEAD.value, text=unsafe))
        fallen.append(((risks[-1],), None))
    running = judged.running_voters
    what = f"directories of {present} of {len(quorum.voters)} voters, which is a majority"
    if len(quorum.voters) == 1:
        what = "directory of the only voter"
    notice = f"No action needed: kraftool read the {what}, and nothing there keeps Kafka from"
    notice += " starting."
    notice += " If they still have no leader: kraftool quorum health"
    notice += " asks the running controllers, kraftool doctor compares settings and files."
    started = tuple(started_beside(quorum, running))
    stuck = [note.host.name for note in notes if note.case == KAFKA_EXITS]
    if stuck:
        notice = f"Kafka exits when it starts on {listed(stuck)}, and no plan can repair the cause."
        notice += " Follow the advice below before you start a node, and then plan again."
    elif odd:
        notice = "Kafka can read every file, but a controller exits at a record that does not fit"
        notice += " the state. If yours do, plan again with the option that follows."
    elif running.is_majority or started:
        notice = "No file needs a repair. Leave the nodes that run as they are."
        order = replace(order, first=()) if order is not None else None
    elif order is not None and order.first:
        notice = f"No file needs a repair, but t{next(_ordered(quorum, order))[1:]}"
    elif fallen:
        notice = "No file needs a repair, and no repair can restore what is missing:"
        notice += f" {'; '.join(risk.text for own, _ in fallen for risk in own)}."
    elif judged.is_doubted and any(not voter.is_doubt for voter in judged.forgetful):
        notice = "No file needs a repair, and any order of starts keeps what the directories show."
        notice += " The loss of this plan says what no directory shows."
    return Plan(
        schema_version=SCHEMA_VERSION,
        created_ms=quorum.request.now_ms,
        tool=__version__,
        method=Method.NONE,
        cases=tuple(dict.fromkeys((*(note.case for note in notes), *[RECORD_STOPS][: len(odd)]))),
        summary=(notice, *(note.text for note in notes), *odd, *_replaced(quorum)),
        cluster_id=quorum.cluster_id,
        kraft_version=quorum.kraft_version,
        kafka_version=quorum.request.kafka_version,
        ranking=ranked(quorum.hosts, quorum.voters),
        loss=_loss(fallen, order, is_unchanged=True),
        risks=accepted(quorum.request, risks),
        voters_before=quorum.voters,
        voters_after=quorum.voters,
        steps=tuple(start_steps(quorum, order.first))
        if order is not None and order.first
        else started,
    )


def _misfits(hosts: Iterable[Host]) -> Iterator[str]:
    """Name each record that does not fit the state, once, with the option that replaces it."""
    having: dict[tuple[int, str], list[str]] = {}
    for host in hosts:
        for misfit in host.survey.log.misfits if host.survey.log is not None else ():
            having.setdefault((misfit.offset, misfit.text), []).append(host.name)
    for (offset, reason), names in having.items():
        yield (
            f"{listed(names)} {'has' if len(names) == 1 else 'have'} a record at offset {offset}"
            f" that does not fit the state ({reason}): --set poison={offset}"
        )


def _unsafe(quorum: SurveyedQuorum, judged: Assessment) -> str:
    """Why no order of starts is known to be safe; empty if every order is."""
    if judged.state is QuorumSafety.AT_RISK:
        return danger_with_reasons(judged)
    if judged.state is QuorumSafety.UNKNOWN and quorum.voters:
        return state_sentence(judged)
    return ""


def _replaced(quorum: SurveyedQuorum) -> Iterator[str]:
    """A lost voter counts until it is none any more."""
    if not quorum.lost:
        return
    ids = listed(voter.id for voter in quorum.lost)
    intro = f"Voter {ids} is lost, and counts as a voter until it is replaced: "
    if len(quorum.lost) > 1:
        intro = f"Voters {ids} are lost, and count as voters until they are replaced, one by one: "
    if quorum.kraft_version > 0:
        yield intro + (
            "once there is a leader, format a new controller (kraftool format -N), start it, and"
            " use kraftool quorum add-controller once it has caught up, then kraftool quorum"
            " remove-controller for the lost one. If the new one has the same node id, remove the"
            " lost one first."
        )
    else:
        yield intro + (
            "once there is a leader, start a new controller with its id. It replaces the"
            " voter in controller.quorum.voters."
        )


def _ordered(quorum: SurveyedQuorum, order: StartOrder | None) -> Iterator[str]:
    if order is None or not order.first:
        return
    later = [voter.id for voter in quorum.voters if voter.id not in order.first]
    given = {host.node_id for host in quorum.hosts if quorum.votes(host)}
    before = "first"
    if later and not given & {*later}:
        before = f"before voter {listed(later)} or its replacement"
        if len(later) > 1:
            before = f"before voters {listed(later)} or their replacements"
    yield f"The order of starts matters: start {listed(order.first)} {before}; {danger(order)}."


def _given_up(
    quorum: SurveyedQuorum, order: StartOrder | None, mends: Sequence[Mend] = ()
) -> Iterator[Shortfall]:
    """Yield what the quorum would go on without, in the best order of starts."""
    replaced = {mend.host.name for mend in mends if mend.replaces_log}
    if order is None:
        sources = {mend.source.name for mend in mends if mend.source is not None}
        yield from shortfall(quorum, replaced, sources)
        return
    if order.lost_range is None:
        return
    first, end = order.lost_range
    if end is None or order.holder is None:
        yield (Risk(word=Acceptance.AHEAD.value, text=danger(order)),), None
        return
    host = quorum.host_of(order.holder)
    assert host is not None, "a node of the judgement is a host"
    lost = LostRecords(host=host.name, first_offset=first, end_offset=end)
    known = [mend.lost for mend in mends if mend.lost is not None]
    if not any(one.first_offset <= first and end <= one.end_offset for one in known):
        yield (Risk(word=Acceptance.AHEAD.value, text=danger(order)),), lost


def _with_best_log(
    quorum: SurveyedQuorum, mends: list[Mend], order: StartOrder | None
) -> tuple[list[Mend], StartOrder | None]:
    """The mends, and a voter that gets the log of another node if no voter has all of it."""
    if order is None or order.lost_range is None:
        return mends, order
    if any(host.survey.running for host in quorum.hosts):
        return mends, order
    others = [host for host in quorum.hosts if not quorum.votes(host)]
    source = max(
        (other for other in others if rebuild.can_be_source(other)),
        key=lambda other: other.rank,
        default=None,
    )
    voters = [host for host in quorum.hosts if quorum.votes(host)]
    if source is None or not voters or source.rank <= max(voter.rank for voter in voters):
        return mends, order
    host = max(voters, key=lambda voter: voter.rank)
    why = f"no voter has as many records as {source.name}"
    made = list(rebuild.rebuilt(quorum, host, why, source))
    rest = [mend for mend in mends if mend.host is not host]
    new_mends = [*rest, *made, *_found(quorum, [host], made)]
    better = start_order(quorum, new_mends)
    if better is None or not is_better(better, order):
        return mends, order
    return new_mends, better


def _loss(
    shortfalls: Sequence[tuple[Sequence[Risk], LostRecords | None]],
    order: StartOrder | None,
    *,
    is_unchanged: bool = False,
) -> PlannedLoss:
    lost = tuple(lost_records for _, lost_records in shortfalls if lost_records is not None)
    texts = [risk.text for risks, lost in shortfalls for risk in risks if _is_unknown(risk, lost)]
    if texts:
        return PlannedLoss(
            verdict=LossBound.UNBOUNDED,
            text=f"unbounded and undetectable: {'; '.join(texts)}",
            records=lost,
        )
    if not lost:
        text = "none: no readable record is given up"
        if is_unchanged:
            text = "none: nothing is changed"
        if order is not None and order.first:
            text = "none, if the controllers start in the order of the steps"
        return PlannedLoss(verdict=LossBound.NONE, text=text)
    return PlannedLoss(
        verdict=LossBound.BOUNDED,
        text="bounded: the listed records are given up on those nodes. The quorum loses them only"
        " if no majority has them",
        records=lost,
    )


def _is_unknown(risk: Risk, lost: LostRecords | None) -> bool:
    """True if what is given up cannot be listed."""
    return risk.word == Acceptance.AHEAD.value and lost is None


def _host_plan(quorum: SurveyedQuorum, host: Host, mends: Sequence[Mend]) -> HostPlan:
    own = [mend for mend in mends if mend.host is host]
    edits: dict[str, Edit] = {}
    for mend in own:
        for edit in mend.edits:
            edits.setdefault(edit.target.path, edit)
    lends = any(mend.source is host for mend in mends)
    return HostPlan(
        name=host.name,
        role=HostRole.VOTER if is_voter(host, quorum.voters) else _role(quorum, host),
        identity=host.survey.identity,
        path=host.survey.path,
        origin=host.survey.origin,
        expected=relied_on(host.survey, edits.values()) if own or lends else (),
        edits=tuple(edits.values()),
        settings=tuple(dict.fromkeys(one for mend in own for one in mend.settings)),
    )


def _role(quorum: SurveyedQuorum, host: Host) -> HostRole:
    state = quorum.leader.survey.state
    if state is not None and host.node_id in state.brokers:
        return HostRole.BROKER
    if host.node_id in quorum.voters.ids:
        return HostRole.VOTER
    return HostRole.OBSERVER
