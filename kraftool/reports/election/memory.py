"""The voters that have forgotten records: their directory is older than their own past.

Owns the evidence for that. A voter that lost its log, or has an old copy of it, starts as if it had
confirmed nothing beyond. What it confirmed counts as unknown then, and never as not confirmed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from kraftool.raft.names import OffsetAndEpoch
from kraftool.reports.election.case import ElectionCase, NodeCase, parts_at


@dataclass(frozen=True, slots=True, kw_only=True)
class Forgotten:
    """The records that a voter may have had and does not have now."""

    first: int
    """It may have had any record from this offset on."""
    reason: str
    """A clause without a subject, as in `has an empty log`."""
    is_gone: bool = False
    """True if the log is gone, with the end that it had: nothing shows how far it went."""
    is_damage: bool = False
    """True if the log is damaged: what is behind the damage shows how far it went."""
    is_doubt: bool = False
    """True if the log may as well be that of a voter that lagged or was stopped. It then counts for
    records that another directory shows, and is no reason to expect records that no directory
    shows."""
    is_explained: bool = False
    """True for a doubt if a leader that was cut off leaves the same: alone, it cannot write for
    longer than that, since it resigns."""
    is_lag: bool = False
    """True for a doubt if nothing but a log that ends before another one is the reason."""


def forgetful(case: ElectionCase) -> Mapping[int, Forgotten]:
    """Return the voters that may have had more than their directory shows, by id."""
    forgotten: dict[int, Forgotten] = {}
    given = [node_case for node_case in case.nodes if not node_case.assumed]
    # If all voters were given, and no log has a record, then the quorum is new.
    has_records = any(node_case.end.offset or node_case.unseen for node_case in given)
    is_new = not has_records and case.voters.ids <= {node_case.id for node_case in given}
    for node in given:
        end = node.end.offset
        if node.unseen:
            forgotten[node.id] = Forgotten(first=end, reason=node.unseen, is_gone=True)
        elif end == 0 and not is_new:
            is_damaged = node.log.is_cut
            reason = "has a log that is damaged at its start" if is_damaged else "has an empty log"
            forgotten[node.id] = Forgotten(first=0, reason=reason, is_gone=True)
        elif node.log.is_cut:
            reason = f"has a damaged log, which is readable up to offset {end}"
            forgotten[node.id] = Forgotten(first=end, reason=reason, is_damage=True)
        elif 0 < node.log.end < end:  # without a log at all it may be as a recovery left it
            reason = f"has a log that ends at {node.log.end}, before its own snapshot at {end}"
            forgotten[node.id] = Forgotten(first=end, reason=reason, is_gone=True)
    voters = [node_case for node_case in given if case.voters.has(node_case.key)]
    # What is certain of one voter comes before what may be of others.
    proofs = sorted(_less_than_its_leader(case, voters), key=lambda proof: proof[1].is_doubt)
    for node, proof in proofs:
        forgotten.setdefault(node.id, proof)
    best = case.most_complete
    for node, reason in _unconfirmed(case, best, forgotten) if best is not None else ():
        forgotten.setdefault(node.id, Forgotten(first=node.end.offset, reason=reason))
    for node in voters:
        lag = _lags(best, node) if best is not None else ""
        is_torn = node.log.is_torn and not node.is_running
        is_short = node.named_end is not None and not node.is_running
        if best is None or not (lag or is_torn or is_short):
            continue
        alone_ms = 2 * best.settings.timing.check_quorum_ms
        doubt = Forgotten(
            first=parts_at(best, node) if lag else node.end.offset,
            reason="lost the end of its log, perhaps in a crash: another of its files names offset"
            f" {node.named_end}"
            if is_short
            else lag or _TORN,
            is_doubt=True,
            is_lag=not is_torn and not is_short,
            is_explained=not is_torn and not is_short and _behind_ms(best, node) <= alone_ms,
        )
        forgotten.setdefault(node.id, doubt)
    return forgotten


_TORN = "has a torn tail: a crash leaves one, or the end of its log was lost later"
"""A voter flushes its log before it confirms records, so that a crash tears nothing confirmed."""


def _less_than_its_leader(
    case: ElectionCase, voters: Sequence[NodeCase]
) -> Iterator[tuple[NodeCase, Forgotten]]:
    """Yield leaders that lack records of their own epoch, and voters that may lack them, too."""
    for other in case.nodes:
        behind = other.log.behind
        ends = (other.end,) if behind is None else (other.end, behind)
        for last in ends if not other.assumed else ():
            leader = _leader_that_forgot(case, other, last)
            for node in voters if leader is not None else ():
                if node.end.rank >= last.rank:
                    continue
                first = parts_at(other, node) if last is not behind else node.end.offset
                end = last.offset - 1
                reason = (
                    f"lacks records up to offset {end} that it wrote as leader of epoch"
                    f" {last.epoch}, and that node {other.id} has"
                    if node is leader
                    else f"ends before node {other.id}, which has records up to offset {end} that"
                    " their leader lacks: it lagged or was stopped, or it is an old copy"
                )
                yield node, Forgotten(first=first, reason=reason, is_doubt=node is not leader)


def _leader_that_forgot(
    case: ElectionCase, other: NodeCase, last: OffsetAndEpoch
) -> NodeCase | None:
    """Return the leader of which the end of a node's log proves that it has forgotten records.

    A leader has every record of its epoch before anyone else. If it lacks one, its directory is an
    old copy, or a power failure took the end of its log. Sound batches behind damage prove it too.
    """
    epoch, end = last.epoch, last.offset
    leader_id = _leader_of(case, epoch)
    if end == 0 or leader_id == other.id:
        return None
    leader = case.by_id.get(leader_id) if leader_id is not None else None
    if leader is None or leader.assumed or leader.is_running:
        return None  # the log of a running leader may have grown since it was read
    if leader.end.offset == 0:
        return None  # it was emptied, which says nothing about the others
    if leader.election is not None and leader.election.epoch > epoch:
        return None  # it may have dropped the record because a later leader did not have it
    return None if leader.end.is_at_least(last) else leader


def _unconfirmed(
    case: ElectionCase, best: NodeCase, known: Collection[int]
) -> Iterator[tuple[NodeCase, str]]:
    """The voters that end before a snapshot, if too few reach it: one of them had confirmed it.

    A snapshot is made of what a majority has confirmed. Voters that are known to have forgotten
    records had confirmed it, as far as they can be.
    """
    voters = case.voters
    given = [node_case for node_case in case.nodes if not node_case.assumed]
    if any(node_case.is_running for node_case in given):
        return
    proofs = [
        (snapshot.offset, node.id)
        for node in given
        for snapshot in node.log.snapshots
        if best.end.is_at_least(snapshot)
    ]
    committed, maker = max(proofs, default=(0, 0))
    short = [
        node_case
        for node_case in given
        if voters.has(node_case.key) and node_case.end.offset < committed
    ]
    forgot = sum(node_case.id in known for node_case in short)
    if len(voters) - len(short) + forgot < voters.majority:
        proof = f"node {maker} has a snapshot at {committed}, which a majority had confirmed"
        for node_case in short:
            yield (
                node_case,
                f"may be an old copy (it ends at offset {node_case.end.offset}; {proof})",
            )


def _leader_of(case: ElectionCase, epoch: int) -> int | None:
    """Return who led an epoch, by the LeaderChange records and the files quorum-state."""
    for node in case.nodes:
        for led_epoch, leader_id in node.log.leaders:
            if led_epoch == epoch:
                return leader_id
        election = node.election
        if election is not None and election.epoch == epoch and election.leader_id is not None:
            return election.leader_id
    return None


def _lags(best: NodeCase, node: NodeCase) -> str:
    """Why a log may be older than its voter's past; empty if it is as long as any, or if that is no
    evidence.

    A voter that lagged or was stopped leaves the same log as an old copy, however short the time
    is. Logs of running nodes are read one after the other, so that their ends prove nothing.
    """
    times = node.log.last_timestamp_ms, best.log.last_timestamp_ms
    if node.is_running or node.end.is_at_least(best.end) or min(times) < 0:
        return ""
    seconds = _behind_ms(best, node) / 1000
    behind = f"{seconds:.1f} s" if seconds >= 0.05 else "less than 0.1 s"
    return f"ends {behind} before node {best.id}: it lagged or was stopped, or it is an old copy"


def _behind_ms(best: NodeCase, node: NodeCase) -> int:
    return max(best.log.last_timestamp_ms - node.log.last_timestamp_ms, 0)
