"""The changes between two polls of a live quorum, and the risks of a stop that follow from them.

Owns the choice of the earlier poll, and the words on elections and commits between the two.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kraftool.client.model import QuorumView
from kraftool.client.second_poll import awaits_commit, leader_end
from kraftool.client.thresholds import POLLS_APART_S, leader_clock
from kraftool.reports.text.words import many

_TOO_OLD_MS = 60_000
"""An older poll says nothing about now."""


def earlier_poll(polls: Sequence[QuorumView], now: QuorumView) -> QuorumView | None:
    """Return the newest poll that is old enough to compare this one with; None if there is none.

    The age counts between the leaders' answers: on a slow path two polls may show the same one.
    """
    at_ms = _answered_ms(now)
    fit = [
        poll for poll in polls if POLLS_APART_S * 1000 <= at_ms - _answered_ms(poll) <= _TOO_OLD_MS
    ]
    return fit[-1] if fit else None


def _answered_ms(view: QuorumView) -> int:
    if view.leader is not None:
        return view.leader.asked_ms
    return max((node.asked_ms for node in view.nodes), default=0)


def two_leaders(now: QuorumView) -> str:
    """Return who says that it leads if several nodes of a cluster do; empty if not."""
    if len(now.leaders) < 2 or len(now.cluster_ids) > 1:
        return ""
    return ", ".join(f"{leader.name} leads epoch {leader.epoch}" for leader in now.leaders)


def election_between(before: QuorumView | None, now: QuorumView) -> str:
    """Return that an epoch began between two polls; empty if none did."""
    if before is None or before.epoch is None or now.epoch is None or now.epoch <= before.epoch:
        return ""
    return f"the epoch went from {before.epoch} to {now.epoch}"


def stuck_between(before: QuorumView | None, now: QuorumView) -> str:
    """Return that the leader committed nothing between two polls, though it has something to
    commit; else empty."""
    if before is None or not awaits_commit(before, now):
        return ""
    then, this = before.quorum, now.quorum
    assert then is not None, "a leader answered in both polls"
    assert this is not None, "a leader answered in both polls"
    grown = leader_end(this) - leader_end(then)
    seconds = (leader_clock(this) - leader_clock(then)) / 1000
    return stuck_words(grown, seconds, has_committed=this.high_watermark >= 0)


def stuck_words(grown: int, seconds: float, *, has_committed: bool) -> str:
    """Return that a leader committed nothing; `has_committed`: it did earlier in its epoch."""
    if not has_committed and grown <= 0:
        return f"the leader has committed nothing in its epoch; it was watched for {seconds:.1f} s"
    return f"the leader wrote {many(grown, 'record')} in {seconds:.1f} s, but committed none"


def unsettled(now: QuorumView, before: QuorumView | None, *, is_change_open: bool) -> Iterator[str]:
    """Yield what makes any stop a risk."""
    for words in (two_leaders(now), election_between(before, now), stuck_between(before, now)):
        if words:
            yield words
    then = None if before is None else before.quorum
    if is_change_open or (
        then is not None
        and now.quorum is not None
        and {voter.replica for voter in then.voters}
        != {voter.replica for voter in now.quorum.voters}
    ):
        yield "a voter change is not known to be committed"
