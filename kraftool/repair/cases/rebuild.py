"""A directory's log and snapshots made from another node's, which is of the same cluster.

Owns the copy: the source's whole snapshots and its log up to where it can be trusted, and nothing
left of the old. The node's own meta.properties stays, and so does its quorum-state, unless its
epoch is below the highest of any node: who it is, and how it voted, is its own. For a broker or an
observer nothing is copied: emptied, it fetches all of it.
"""

from __future__ import annotations

from collections.abc import Iterator

from kraftool.decoders.errors import KraftoolError
from kraftool.decoders.names import write_segment_name
from kraftool.repair.cases import small_files
from kraftool.repair.cases.model import Mend
from kraftool.repair.edit_builder import (
    LARGEST_EPOCH,
    PARTITION_METADATA,
    before,
    quorum_state_of,
    removals,
)
from kraftool.repair.plan import Edit, Fingerprint, Piece, Risk
from kraftool.repair.plan_file import PlanFile, PlanFileKind
from kraftool.repair.ranking import Host, beyond, is_voter
from kraftool.repair.request import Acceptance
from kraftool.repair.survey import Survey
from kraftool.repair.surveyed_quorum import SurveyedQuorum
from kraftool.reports.text.words import listed

_LOG = frozenset({PlanFileKind.SEGMENT, PlanFileKind.SNAPSHOT})


def asked_for(quorum: SurveyedQuorum) -> Iterator[Mend]:
    """`--set rebuild=ID`, with `from=ID` where the best one is not wanted."""
    wanted = quorum.request.rebuild
    if wanted is None:
        return
    host = quorum.host_of(wanted)
    if host is None:
        raise KraftoolError(
            f"--set rebuild={wanted}: no directory of node {wanted} was given",
            hint="give it. If its meta.properties is lost, name its server.properties instead",
        )
    source = None
    if quorum.request.source is not None:
        source = quorum.host_of(quorum.request.source)
        if source is None or source is host or not can_be_source(source):
            raise KraftoolError(
                f"--set from={quorum.request.source}: there is no whole log of that node",
                hint="give its directory, or leave from out: kraftool then uses the best one",
            )
    mends = list(rebuilt(quorum, host, "you asked for it", source))
    if not mends:
        raise KraftoolError(
            f"--set rebuild={wanted}: no other directory given here is whole and reaches as"
            f" far as {host.name}",
            hint="give another node's directory, or name the one to use anyway: --set from=ID",
        )
    yield from mends
    yield from small_files.quorum_state(quorum, host)


def rebuilt(
    quorum: SurveyedQuorum, host: Host, why: str, source: Host | None = None
) -> Iterator[Mend]:
    """The directory made anew; nothing where no other can be its source."""
    if not quorum.votes(host):
        yield Mend(
            case="emptied",
            host=host,
            text=f"{host.name}: {why}. It is not a voter: the plan empties it, and it fetches"
            " everything from the leader",
            edits=removals(host.survey, "the node fetches everything again"),
            replaces_log=True,
        )
        return
    source = source or best_source(quorum, host)
    if source is None:
        return
    end, risks = source.survey.end, list[Risk]()
    lost = beyond(host, source.survey, end.offset, end.epoch)
    if _is_all_that_was_committed(quorum, host, source):
        lost = lost if host.survey.intact else None
    elif host.lost_log:
        if len(quorum.voters) - len(_gone(quorum)) < quorum.majority:
            raise KraftoolError(
                f"{host.name}: {why}, and {source.name} may lack what was committed in it"
                f"{_unseen(quorum)}",
                hint=way_out(quorum, host),
            )
    elif lost is None and _may_go_further(host.survey, source.survey):
        unknown = f"{host.name}: the end of its damaged log is unknown, and may be beyond"
        unknown += f" {source.name}'s{_unseen(quorum)}"
        risks.append(Risk(word=Acceptance.AHEAD.value, text=unknown))
    if lost is not None:
        risks.append(
            Risk(
                word=Acceptance.AHEAD.value,
                text=f"{lost.describe()} that {source.name} does not have{_unseen(quorum)}",
            )
        )
    yield Mend(
        case="rebuilt",
        host=host,
        text=f"{host.name}: {why}. Its log and snapshots are recreated from {source.name}, up to"
        f" offset {source.survey.end.offset} of epoch {source.survey.end.epoch}",
        edits=(*copied(host, source), *_raised(quorum, host, source.survey.end.epoch)),
        source=source,
        lost=lost,
        risks=tuple(risks),
        stops_all=True,
        replaces_log=True,
    )


def _raised(quorum: SurveyedQuorum, host: Host, epoch: int) -> Iterator[Edit]:
    """quorum-state above every epoch that any directory shows, where the node's own is of an
    earlier one: a node whose directory is rebuilt may have forgotten a vote, and no epoch may get a
    second leader by it."""
    state_survey = host.survey.quorum_state
    highest = quorum.highest_epoch
    if (
        state_survey.missing
        or state_survey.complaint
        or state_survey.leader_epoch >= max(epoch, highest)
    ):
        return
    free = small_files.free_epoch(quorum, host)
    why = f"above epoch {highest}, the highest of any node, so no node votes twice in an epoch"
    if free >= LARGEST_EPOCH:  # a false epoch somewhere leaves no room
        free, why = epoch, f"the log ends in epoch {epoch}"
        if state_survey.leader_epoch >= epoch:
            return
    yield quorum_state_of(host.survey, free, quorum.kraft_version, quorum.voters.ids, why)


def _is_all_that_was_committed(quorum: SurveyedQuorum, host: Host, source: Host) -> bool:
    """True if a source has every committed record, whatever was in a damaged log.

    So it is where it is the best of so many whole voters that each majority has one of them.
    """
    whole = [other for other in quorum.present if other is not host and can_be_source(other)]
    return len(whole) >= quorum.enough and source.rank >= max(host.rank for host in whole)


def _may_go_further(damaged: Survey, source: Survey) -> bool:
    """True if what nobody can read may be more than another's log has, which has the same bytes at
    the same place where it has the same records."""
    if damaged.intact or damaged.log is None or source.log is None:
        return False
    if damaged.log.start_offset != source.log.start_offset:
        return damaged.log.broken is None or not damaged.log.broken.lost_batches
    return _log_size(damaged) > _log_size(source)


def _log_size(survey: Survey) -> int:
    return sum(
        fingerprint.size
        for target, fingerprint in survey.contents.items()
        if target.kind is PlanFileKind.SEGMENT
    )


def way_out(quorum: SurveyedQuorum, host: Host) -> str:
    """Return what to do where nothing that was given can take the place of a directory's log."""
    hint = "give the directories of the other nodes too"
    gone = _gone(quorum)
    if not host.lost_log or not quorum.votes(host):
        hint += ": one of them may have a snapshot or a whole log that can be used"
        sources = [other for other in quorum.hosts if other is not host and can_be_source(other)]
        best = max(sources, key=lambda source: source.rank, default=None)
        if best is not None and host.node_id is not None and best.node_id is not None:
            hint += ". Or give up what it has beyond another node's log:"
            hint += f" --set rebuild={host.node_id} --set from={best.node_id}"
        return hint
    if not gone:
        return f"{hint}: one of them may have a snapshot or a whole log that can be used"
    if {*gone} <= quorum.lost.ids:
        return hint
    if len(gone) < len(quorum.voters):
        ids = ",".join(map(str, gone))
        return f"{hint}. Or declare the voters without a log lost: --set lost={ids}"
    return (
        f"{hint}. Or let one lead alone with the best state that is left: --set seed={host.node_id}"
    )


def _gone(quorum: SurveyedQuorum) -> list[int]:
    """Voters of which no log was given."""
    return sorted({voter.id for voter in (*quorum.without_log, *quorum.missing)})


def _unseen(quorum: SurveyedQuorum) -> str:
    """Return who may have them, and was not asked."""
    ids = listed(voter.id for voter in quorum.missing)
    return f" (voter {ids} may have them: give that directory too)" if ids else ""


def can_be_source(host: Host) -> bool:
    """True if a directory has its log, whole but for a torn tail."""
    state = host.survey.state
    return host.survey.intact and not host.lost_log and state is not None and state.whole


def best_source(quorum: SurveyedQuorum, host: Host) -> Host | None:
    """The best whole directory that is at least as far as this one can be trusted."""
    hosts = [
        other
        for other in quorum.hosts
        if other is not host and can_be_source(other) and other.rank >= host.rank
    ]
    return max(hosts, key=lambda peer: (peer.rank, is_voter(peer, quorum.voters)), default=None)


def copied(host: Host, source: Host) -> Iterator[Edit]:
    """The edits that make one directory's log another's."""
    wanted: set[str] = set()
    for target, fingerprint in _files(source):
        wanted.add(target.name)
        old = before(host.survey, target)
        if old == fingerprint:
            continue
        yield Edit(
            target=target,
            before=old,
            after=fingerprint,
            pieces=(Piece(file=target, source=source.name, end=fingerprint.size),),
            why=f"as {source.name} has it",
        )
    yield from removals(host.survey, f"{source.name} does not have it", but=frozenset(wanted))
    if before(host.survey, PARTITION_METADATA) is None:
        there = before(source.survey, PARTITION_METADATA)
        if there is not None:
            yield Edit(
                target=PARTITION_METADATA,
                after=there,
                pieces=(Piece(file=PARTITION_METADATA, source=source.name, end=there.size),),
                why=f"as {source.name} has it",
            )


def _files(source: Host) -> Iterator[tuple[PlanFile, Fingerprint]]:
    """The files of a source that count, the log without its torn tail."""
    survey = source.survey
    whole = {whole_snapshot.name for whole_snapshot in survey.whole_snapshots}
    broken = survey.log.broken if survey.log is not None else None
    for target, content in survey.contents.items():
        fingerprint = content
        if target.kind not in _LOG:
            continue
        if target.kind is PlanFileKind.SNAPSHOT and target.name not in whole:
            continue
        if broken is not None and broken.prefix is not None and target.kind is PlanFileKind.SEGMENT:
            torn = write_segment_name(broken.segment, ".log")
            if target.name == torn:
                fingerprint = broken.prefix
            elif target.name > torn:
                continue
        yield target, fingerprint
