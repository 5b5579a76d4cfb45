"""A log that is damaged: in the middle, with or without a snapshot beyond, or at its very end.

Owns what is saved. Kafka cuts such a log at the damage without a word, and with a snapshot beyond
wipes all of it; so the whole log of another node is the better one. Alone, what follows the
snapshot is kept where that is whole, and only then the log is cut. A torn tail is Kafka's to cut.
"""

from __future__ import annotations

from collections.abc import Iterator

from kraftool.decoders.names import write_segment_name
from kraftool.repair.cases.model import Mend
from kraftool.repair.cases.rebuild import rebuilt
from kraftool.repair.cases.snapshots import bad_removed
from kraftool.repair.edit_builder import before, cut_at_break, epochs_removed, removals
from kraftool.repair.plan import Edit, LostRecords, Piece, Risk
from kraftool.repair.plan_file import PlanFile, PlanFileKind
from kraftool.repair.ranking import Host, behind_damage
from kraftool.repair.refusal import PlanRefused
from kraftool.repair.request import Acceptance
from kraftool.repair.survey import LogBreak, Survey, SurveyedLog
from kraftool.repair.surveyed_quorum import SurveyedQuorum
from kraftool.reports.text.words import listed, many, offsets

_LOG_FILES = frozenset(
    {
        PlanFileKind.SEGMENT, PlanFileKind.INDEX, PlanFileKind.TIME_INDEX,
        PlanFileKind.TRANSACTION_INDEX, PlanFileKind.PRODUCER_STATE, PlanFileKind.LEADER_EPOCHS,
    }
)  # fmt: skip


def find(quorum: SurveyedQuorum, host: Host) -> Iterator[Mend]:
    log = host.survey.log
    if log is None or log.broken is None:
        return
    broken = log.broken
    if broken.torn:
        after = f"after offset {broken.offset - 1}"
        if log.intact_end == log.start_offset:
            after = "and no record before it"
        if not (host.lost_log and quorum.votes(host)):
            yield Mend(
                case="torn-tail",
                host=host,
                text=f"{host.name}: the log has a torn tail {after} ({broken.reason}). Kafka cuts"
                " it off when it starts, and no whole batch is lost",
                is_note=True,
            )
        return
    why = (
        f"its log is damaged from offset {broken.offset} on ({broken.reason};"
        f" {_no_bit(host)}), with {many(broken.lost_batches, 'whole batch')} after the damage"
    )
    mends = list(rebuilt(quorum, host, why))
    if not mends:
        _refuse_where_another_goes_further(quorum, host, why)
    yield from mends or [_alone(host, log, broken, why)]


def _no_bit(host: Host) -> str:
    others = host.evidence.contradicted_by
    if others:
        have = "has" if len(others) == 1 else "have"
        return f"one flipped bit would explain it, but {listed(others)} {have} other bytes there"
    return "no single bit explains it"


def _refuse_where_another_goes_further(quorum: SurveyedQuorum, host: Host, why: str) -> None:
    """A damaged directory may be mended by itself, and then be the source of this one."""
    best = max(quorum.present, key=lambda other: other.rank, default=host)
    if best.rank > host.rank:
        end = best.survey.end
        raise PlanRefused(
            f"{host.name}: {why}. {best.name} is damaged too, but is readable up to offset"
            f" {end.offset} of epoch {end.epoch}",
            hint=f"repair that node first: run recover plan with {best.name} alone, and recover"
            f" apply. Before you start anything, plan again with all directories: {host.name} is"
            " then recreated from it",
            is_loss=True,
        )


def _alone(host: Host, log: SurveyedLog, broken: LogBreak, why: str) -> Mend:
    """Return what can be saved of a damaged log by itself."""
    survey = host.survey
    beyond = [
        whole_snapshot
        for whole_snapshot in survey.whole_snapshots
        if whole_snapshot.offset > broken.offset
    ]
    if not beyond:
        return Mend(
            case="cut",
            host=host,
            text=f"{host.name}: {why}. No other directory given here has a whole log as far."
            " The plan cuts the log there, as Kafka would do with only warnings in its log",
            edits=(
                *cut_at_break(survey, log, "nothing after it can be trusted"),
                *epochs_removed(survey),
            ),
            lost=_lost(host, broken.offset, broken),
            risks=_risk(host, broken.offset, broken),
            stops_all=True,
        )
    newest = beyond[-1]
    kept = tuple(_rest(survey, log, newest.offset))
    if kept:
        return Mend(
            case="rest-kept",
            host=host,
            text=f"{host.name}: {why}. The snapshot at {newest.offset} is beyond it, and the log is"
            " whole from there on. The log now begins there. Kafka would have deleted that"
            " part too",
            edits=(*kept, *bad_removed(survey)),
            stops_all=True,
            replaces_log=True,
        )
    return Mend(
        case="snapshot-only",
        host=host,
        text=f"{host.name}: {why}. The snapshot at {newest.offset} is beyond it. The plan removes"
        " the log, and the node continues from the snapshot",
        edits=(
            *removals(survey, "the snapshot is beyond the damage", _LOG_FILES),
            *bad_removed(survey),
        ),
        lost=_lost(host, newest.offset, broken),
        risks=_risk(host, newest.offset, broken),
        stops_all=True,
        replaces_log=True,
    )


def _rest(survey: Survey, log: SurveyedLog, offset: int) -> Iterator[Edit]:
    """The log from a snapshot's offset on, in a first segment of that name."""
    if not log.rest:
        return
    first, *later = log.rest
    name = write_segment_name(offset, ".log")
    target = PlanFile(kind=PlanFileKind.SEGMENT, name=name)
    old = PlanFile(kind=PlanFileKind.SEGMENT, name=write_segment_name(first.segment, ".log"))
    keeps = {write_segment_name(part.segment, ".log") for part in later}
    if first.segment != offset:
        yield Edit(
            target=target,
            before=before(survey, target),
            after=first.fingerprint,
            pieces=(Piece(file=old, start=first.start, end=first.end),),
            why="the whole rest after the snapshot",
        )
    keeps.add(name)
    yield from removals(
        survey,
        "it is before the snapshot, or Kafka recreates it",
        _LOG_FILES,
        but=frozenset(keeps),
    )


def _lost(host: Host, first: int, broken: LogBreak) -> LostRecords | None:
    return behind_damage(host, first, broken) if broken.end_offset > first else None


def _risk(host: Host, first: int, broken: LogBreak) -> tuple[Risk, ...]:
    if broken.end_offset > first:
        text = f"the records of {offsets(first, broken.end_offset)} are given up, and may"
        text += " have been committed"
    elif broken.lost_batches:
        return ()
    else:
        text = f"what its log had after offset {first - 1} is unknown; it is given up, and may"
        text += " have been committed"
    return (Risk(word=Acceptance.AHEAD.value, text=f"{host.name}: {text}"),)
