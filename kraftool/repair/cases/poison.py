"""A record that kills every controller that applies it: NoOps in its batch's place.

Owns that all directories that have it get the same bytes, at the same offsets and in the same
epoch, so that the logs stay one. It is done only where it is asked for, by the record's offset:
Kafka bears records that look odd.
"""

from __future__ import annotations

from collections.abc import Iterator

from kraftool.decoders.errors import KraftoolError
from kraftool.decoders.names import write_segment_name
from kraftool.repair.cases.model import Mend
from kraftool.repair.edit_builder import before, epochs_removed
from kraftool.repair.plan import Edit, Piece
from kraftool.repair.plan_file import PlanFile, PlanFileKind
from kraftool.repair.ranking import Host, is_voter
from kraftool.repair.survey import Misfit
from kraftool.repair.surveyed_quorum import SurveyedQuorum, refuse_missing


def asked_for(quorum: SurveyedQuorum) -> Iterator[Mend]:
    wanted = quorum.request.poison
    if wanted is None:
        return
    refuse_missing(quorum)
    misfits = [(host, _misfit(host, wanted)) for host in quorum.hosts]
    having = [(host, misfit) for host, misfit in misfits if misfit is not None]
    if not having:
        raise KraftoolError(
            f"--set poison={wanted}: no log given here has a record at offset {wanted} that could"
            " not be applied",
            hint="kraftool verify-log names such records with their offsets",
        )
    contents = {misfit.noops for _, misfit in having}
    base = having[0][1].base_offset
    for host, misfit in misfits:
        log = host.survey.log
        if misfit is None and log is not None and log.start_offset <= base < log.intact_end:
            raise KraftoolError(
                f"--set poison={wanted}: {host.name} has that offset too, but kraftool does"
                " not know whether the record fits there: its state was read from a later"
                " snapshot, or its log differs",
                hint=f"empty or rebuild it first (--set rebuild={host.node_id}). Or leave it out,"
                " and empty its __cluster_metadata-0 if it is a broker or an observer",
            )
    if len(contents) > 1:
        raise KraftoolError(
            f"--set poison={wanted}: the logs have different batches there",
            hint="run kraftool doctor to see where they diverge, and rebuild the wrong ones first:"
            " --set rebuild=ID",
        )
    for host, misfit in having:
        yield _replaced(quorum, host, misfit)


def _misfit(host: Host, offset: int) -> Misfit | None:
    log = host.survey.log
    misfits = log.misfits if log is not None else ()
    return next(
        (misfit for misfit in misfits if misfit.base_offset <= offset <= misfit.last_offset), None
    )


def _replaced(quorum: SurveyedQuorum, host: Host, misfit: Misfit) -> Mend:
    target = PlanFile(kind=PlanFileKind.SEGMENT, name=write_segment_name(misfit.segment, ".log"))
    old = before(host.survey, target)
    assert old is not None, "a misfit is in a segment that is there"
    end = misfit.position + misfit.size
    edit = Edit(
        target=target,
        before=old,
        after=misfit.after,
        pieces=(
            Piece(file=target, end=misfit.position),
            Piece(data=misfit.noops),
            Piece(file=target, start=end, end=old.size),
        ),
        why=f"NoOps from offset {misfit.base_offset} to {misfit.last_offset}, in the same epoch",
    )
    count = misfit.last_offset - misfit.base_offset + 1
    what = "1 record gives" if count == 1 else f"{count} records of one batch give"
    who = "" if is_voter(host, quorum.voters) else ", which only follows"
    return Mend(
        case="poison",
        host=host,
        text=f"{host.name}{who}: {what} way to NoOps at offset {misfit.base_offset}"
        f" ({misfit.text}). The records that follow stay",
        edits=(edit, *epochs_removed(host.survey)),
        stops_all=True,
    )
