"""The records that the directories show together and that the voters among them lack.

Owns two proofs that a log was cut, though each by itself looks well. A snapshot is made of what a
majority confirmed: fewer voters that go as far have lost it. And what a broker has was on the
leader before: where no voter has it, the leader's log was longer. Kafka would elect over the
shorter logs, and cut the others. It refuses to tell where anything ran while it was read.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from kraftool.repair.plan import LostRecords, Risk
from kraftool.repair.ranking import Host, beyond
from kraftool.repair.request import Acceptance
from kraftool.repair.surveyed_quorum import SurveyedQuorum
from kraftool.reports.text.words import listed

Shortfall = tuple[tuple[Risk, ...], LostRecords | None]


def shortfall(
    quorum: SurveyedQuorum, replaced: Collection[str] = (), sources: Collection[str] = ()
) -> Iterator[Shortfall]:
    """Yield what the quorum would go on without, with hosts whose log is made anew, and those that
    it is made from.
    """
    if not quorum.voters or any(host.survey.running for host in quorum.hosts):
        return
    yield from unconfirmed(quorum, replaced)
    if not quorum.lost and not quorum.missing:
        yield from _only_others_have(quorum, sources)


def unconfirmed(quorum: SurveyedQuorum, replaced: Collection[str] = ()) -> Iterator[Shortfall]:
    """The proof by a snapshot that voters lost what they confirmed."""
    if not quorum.voters or any(host.survey.running for host in quorum.hosts):
        return
    end = quorum.leader.survey.end
    known = [
        (whole_snapshot.offset, host.name)
        for host in quorum.hosts
        for whole_snapshot in host.survey.whole_snapshots
        if whole_snapshot.offset <= end.offset and whole_snapshot.epoch <= end.epoch
    ]
    committed, name = max(known, default=(0, ""))
    short = [
        host
        for host in quorum.present
        if host.survey.end.offset < committed and host.name not in replaced
    ]
    if len(quorum.voters) - len(short) < quorum.majority:
        ends = listed(f"{host.name} ends at {host.survey.end.offset}" for host in short)
        text = f"{name} has a snapshot at {committed}. A majority had confirmed the log up to"
        text += f" there, but {ends}: what these lost may have been committed, and they could elect"
        text += " a leader without it"
        yield (Risk(word=Acceptance.AHEAD.value, text=text),), None


def _only_others_have(quorum: SurveyedQuorum, sources: Collection[str]) -> Iterator[Shortfall]:
    best = max(quorum.present, key=lambda host: host.rank, default=None)
    if best is None:
        return
    others = [host for host in quorum.hosts if not quorum.votes(host)]
    for other in others:
        lost_records = _more(other, best)
        if lost_records is not None and other.name not in sources:
            text = f"{lost_records.describe()} that no voter has: they were on an earlier leader."
            text += " To continue with them, let one voter lead alone: --set seed=ID"
            yield (Risk(word=Acceptance.AHEAD.value, text=text),), lost_records


def _more(host: Host, best: Host) -> LostRecords | None:
    end = best.survey.end
    return beyond(host, best.survey, end.offset, end.epoch) if host.rank > best.rank else None
