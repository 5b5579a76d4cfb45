"""Snapshots that are damaged, missing, marked `.deleted`, or named beyond the log.

Owns what a log needs: whole from 0 it needs none; begun later, one at or behind its start. Kafka
believes a name: for a snapshot beyond its log it wipes the log, and then dies if that is junk. So a
bad one goes before Kafka starts, and a good one is put in its place where the log cannot do
without.
"""

from __future__ import annotations

from collections.abc import Iterator

from kraftool.decoders.errors import KraftoolError
from kraftool.repair.cases.model import Mend
from kraftool.repair.cases.rebuild import rebuilt, way_out
from kraftool.repair.edit_builder import epochs_removed, removed
from kraftool.repair.plan import Edit, Piece
from kraftool.repair.plan_file import PlanFile, PlanFileKind
from kraftool.repair.ranking import Host, common_end
from kraftool.repair.survey import Survey, SurveyedLog, SurveyedSnapshot
from kraftool.repair.surveyed_quorum import SurveyedQuorum


def find(quorum: SurveyedQuorum, host: Host) -> Iterator[Mend]:
    survey, log = host.survey, host.survey.log
    bad = [live_snapshot for live_snapshot in survey.live_snapshots if not live_snapshot.intact]
    if log is None or host.lost_log:
        if quorum.votes(host) and not _goes_on_from_a_jump(quorum, host):
            yield from _anew(quorum, host, f"it is a voter, and its log {host.lost_log}")
        elif bad:
            why = f"{bad[-1].name} is damaged, and its log {host.lost_log}"
            yield from _anew(quorum, host, why)
        return
    starts_late = log.start_offset > 0
    covered = any(_covers(whole_snapshot, log) for whole_snapshot in survey.whole_snapshots)
    # Kafka cut the epochs at a snapshot that is not there any more.
    edits = (*bad_removed(survey), *epochs_removed(survey))
    if not starts_late or covered:
        if bad:
            yield Mend(case=_case(bad, log), host=host, text=_text(host, bad, log), edits=edits)
        return
    why = (
        f"its log begins at offset {log.start_offset}, and no whole snapshot has the records"
        " before that"
    )
    deleted = [
        surveyed_snapshot
        for surveyed_snapshot in survey.snapshots
        if surveyed_snapshot.deleted and surveyed_snapshot.intact
    ]
    deleted = [
        surveyed_snapshot for surveyed_snapshot in deleted if _covers(surveyed_snapshot, log)
    ]
    if deleted:
        yield Mend(
            case="snapshot-restored",
            host=host,
            text=f"{host.name}: {why}. {deleted[-1].name} has them, and gets its name back",
            edits=(*edits, *_restored(survey, deleted[-1])),
        )
        return
    lent = list(_lent(quorum, host, log))
    if lent:
        source, snapshot = max(lent, key=lambda offer: (offer[1].offset, offer[0].name))
        yield Mend(
            case="snapshot-copied",
            host=host,
            text=f"{host.name}: {why}. {source.name} has the one at {snapshot.offset}, of the same"
                " log",
            edits=(*(edit for edit in edits if edit.target.name != snapshot.name),
                   _copy(host.survey, source, snapshot)),
            source=source,
        )  # fmt: skip
        return
    yield from _anew(quorum, host, why)


def _goes_on_from_a_jump(quorum: SurveyedQuorum, host: Host) -> bool:
    """True if it is a sole voter with a checkpoint alone, as a plan leaves it."""
    return len(quorum.voters) == 1 and host.has_metadata and not host.survey.has_epochs


def _anew(quorum: SurveyedQuorum, host: Host, why: str) -> Iterator[Mend]:
    mends = list(rebuilt(quorum, host, why))
    if not mends:
        raise KraftoolError(f"{host.name}: {why}", hint=way_out(quorum, host))
    yield from mends


def _covers(snapshot: SurveyedSnapshot, log: SurveyedLog) -> bool:
    return log.start_offset <= snapshot.offset <= log.intact_end


def _is_beyond(snapshot: SurveyedSnapshot, log: SurveyedLog) -> bool:
    return (snapshot.epoch, snapshot.offset) > (log.last_epoch, log.intact_end)


def _case(bad: list[SurveyedSnapshot], log: SurveyedLog) -> str:
    return "junk-snapshot" if _is_beyond(bad[-1], log) else "snapshot-damaged"


def _text(host: Host, bad: list[SurveyedSnapshot], log: SurveyedLog) -> str:
    newest = bad[-1]
    more = f" (and {len(bad) - 1} more)" if len(bad) > 1 else ""
    if _is_beyond(newest, log):
        return (
            f"{host.name}: {newest.name}{more} has a name beyond the log's end and is not a"
            f" whole snapshot ({newest.complaint}): Kafka would delete the log for it, and"
            " exit"
        )
    return (
        f"{host.name}: {newest.name}{more} is damaged ({newest.complaint}). The log and the"
        " rest do not need it. The plan removes it"
    )


def bad_removed(survey: Survey) -> Iterator[Edit]:
    """Snapshots that Kafka would believe, and die of."""
    for live_snapshot in survey.live_snapshots:
        if not live_snapshot.intact:
            edit = removed(survey, live_snapshot.name, live_snapshot.complaint)
            assert edit is not None, "a snapshot of the survey is among its files"
            yield edit


def _restored(survey: Survey, snapshot: SurveyedSnapshot) -> Iterator[Edit]:
    old = removed(survey, snapshot.name, "it gets its own name back")
    assert old is not None, "a snapshot of the survey is among its files"
    assert old.before is not None, "what is removed was there"
    target = PlanFile(kind=PlanFileKind.SNAPSHOT, name=snapshot.name.removesuffix(".deleted"))
    there = survey.file(target)
    yield Edit(
        target=target,
        before=there.fingerprint if there is not None else None,
        after=old.before,
        pieces=(Piece(file=old.target, end=old.before.size),),
        why="the log needs it",
    )
    yield old


def _lent(
    quorum: SurveyedQuorum, host: Host, log: SurveyedLog
) -> Iterator[tuple[Host, SurveyedSnapshot]]:
    """Others' snapshots that are of this very log: both logs are the same up to there."""
    for other in quorum.hosts:
        if other is host:
            continue
        shared = common_end(host.survey, other.survey)
        for whole_snapshot in other.survey.whole_snapshots:
            if _covers(whole_snapshot, log) and whole_snapshot.offset <= shared:
                yield other, whole_snapshot


def _copy(survey: Survey, source: Host, snapshot: SurveyedSnapshot) -> Edit:
    target = PlanFile(kind=PlanFileKind.SNAPSHOT, name=snapshot.name)
    after = source.survey.contents[target]
    there = survey.file(target)
    return Edit(
        target=target,
        before=there.fingerprint if there is not None else None,
        after=after,
        pieces=(Piece(file=target, source=source.name, end=after.size),),
        why="the log needs it",
    )
