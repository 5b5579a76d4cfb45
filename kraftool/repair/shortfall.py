"""The records that the directories show together and that the voters among them lack.

Owns two proofs that a log was cut, though each by itself looks well. A snapshot is made of what a
majority confirmed: fewer voters that go as far have lost it. And what a broker has was on the
leader before: where no voter has it, the leader's log was longer. Kafka would elect over the
shorter logs, and cut the others. It refuses to tell where anything ran while it was read.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from kraftool.repair.plan import LostRecords, Risk
from kraftool.repair.quorum_assessment import QuorumAssessment
from kraftool.repair.ranking import Host, beyond
from kraftool.repair.request import Acceptance
from kraftool.reports.text.words import listed

Shortfall = tuple[tuple[Risk, ...], LostRecords | None]


def shortfall(
    standing: QuorumAssessment, replaced: Collection[str] = (), sources: Collection[str] = ()
) -> Iterator[Shortfall]:
    """Yield what the quorum would go on without, with hosts whose log is made anew, and those that
    it is made from.
    """
    if not standing.voters or any(host.survey.running for host in standing.hosts):
        return
    yield from unconfirmed(standing, replaced)
    if not standing.lost and not standing.missing:
        yield from _only_others_have(standing, sources)


def unconfirmed(standing: QuorumAssessment, replaced: Collection[str] = ()) -> Iterator[Shortfall]:
    """The proof by a snapshot that voters lost what they confirmed."""
    if not standing.voters or any(host.survey.running for host in standing.hosts):
        return
    end = standing.leader.survey.end
    known = [
        (whole_snapshot.offset, host.name)
        for host in standing.hosts
        for whole_snapshot in host.survey.whole_snapshots
        if whole_snapshot.offset <= end.offset and whole_snapshot.epoch <= end.epoch
    ]
    committed, name = max(known, default=(0, ""))
    short = [
        host
        for host in standing.present
        if host.survey.end.offset < committed and host.name not in replaced
    ]
    if len(standing.voters) - len(short) < standing.majority:
        ends = listed(f"{host.name} ends at {host.survey.end.offset}" for host in short)
        text = f"{name} has a snapshot at {committed}. A majority had confirmed the log up to"
        text += f" there, but {ends}: what these lost may have been committed, and they could elect"
        text += " a leader without it"
        yield (Risk(word=Acceptance.AHEAD.value, text=text),), None


def _only_others_have(standing: QuorumAssessment, sources: Collection[str]) -> Iterator[Shortfall]:
    best = max(standing.present, key=lambda host: host.rank, default=None)
    if best is None:
        return
    others = [host for host in standing.hosts if not standing.votes(host)]
    for other in others:
        lost_records = _more(other, best)
        if lost_records is not None and other.name not in sources:
            text = f"{lost_records.describe()} that no voter has: they were on an earlier leader."
            text += " To continue with them, let one voter lead alone: --set seed=ID"
            yield (Risk(word=Acceptance.AHEAD.value, text=text),), lost_records


def _more(host: Host, best: Host) -> LostRecords | None:
    end = best.survey.end
    return beyond(host, best.survey, end.offset, end.epoch) if host.rank > best.rank else None
