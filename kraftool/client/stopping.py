"""Says whether a controller of a live quorum may stop now without risking the leader or a commit.

Owns that judgement, by two looks at the quorum. It is stricter than `health`, for which a voter
that stopped a moment ago still keeps up: only voters count that fetched between the two looks. It
refuses to judge partitions: a broker's replicas are not looked at.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from kraftool.client.change import Check, CheckResult, blocked, caution, fine, leadership
from kraftool.client.health import health
from kraftool.client.model import QuorumView
from kraftool.client.target import Target
from kraftool.client.thresholds import LOOKS_APART_S, leader_clock
from kraftool.client.voter_calls import call_checks
from kraftool.raft.messages import DescribeQuorumResponse, ReplicaState
from kraftool.raft.names import Endpoint, majority_of
from kraftool.reports.findings.kinds import live as kinds
from kraftool.reports.text.json_form import in_json
from kraftool.reports.text.words import listed, many, numbered

_UNSETTLED = (kinds.TWO_LEADERS, kinds.ELECTION, kinds.STUCK)
"""Findings of `health` with which no voter may stop."""


class StopVerdict(StrEnum):
    """The answer to the question whether a node may stop."""

    YES = "yes"
    NOT_NOW = "not now"
    NEVER = "never"
    """As long as the quorum has these voters; waiting does not help."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StopPermission:
    """The answer for one node, with what was looked at."""

    node_id: int
    """The node that is to stop."""
    verdict: StopVerdict
    """never: not as long as the quorum has these voters."""
    checks: tuple[Check, ...]

    @property
    @in_json
    def is_allowed(self) -> bool:
        """True if it may stop now."""
        return self.verdict is StopVerdict.YES

    def with_checks(self, checks: Iterable[Check]) -> StopPermission:
        """Return the answer with more checks: not now, if one of them blocks."""
        more = tuple(checks)
        is_blocked = any(check.verdict is CheckResult.BLOCKED for check in more)
        is_no_more_yes = is_blocked and self.verdict is StopVerdict.YES
        return replace(
            self,
            checks=(*self.checks, *more),
            verdict=StopVerdict.NOT_NOW if is_no_more_yes else self.verdict,
        )

    @property
    def reason(self) -> str:
        """The first check that blocks; empty if the node may stop."""
        for check in self.checks:
            if check.verdict is CheckResult.BLOCKED:
                return check.reason
        return ""


async def ask_may_stop(
    target: Target,
    node_id: int,
    *,
    wait_s: float,
    waiting: Callable[[str], None],
    metrics: Mapping[int, Endpoint] | None = None,
) -> tuple[StopPermission, QuorumView]:
    """Look at a quorum until a node may stop, for `wait_s` at most; return the last answer.

    `metrics`: where voters serve their metrics, by id. Those that report their calls to the others
    are believed.
    `waiting` gets each new reason for which the node may not stop yet. If the first look reaches no
    controller, the address is wrong or nothing runs, and there is no wait.
    """
    deadline, reason = time.monotonic() + wait_s, ""
    before = await target.survey()
    if not before.reached:
        return may_stop(before, before, node_id), before
    while True:
        await asyncio.sleep(LOOKS_APART_S)
        now = await target.survey()
        permission = may_stop(before, now, node_id)
        if metrics:
            checks = await call_checks(metrics, now, node_id, target.access.timeout_s)
            permission = permission.with_checks(checks)
        if permission.verdict is not StopVerdict.NOT_NOW or time.monotonic() >= deadline:
            return permission, now
        if permission.reason != reason:
            reason = permission.reason
            waiting(reason)
        before = now


def may_stop(before: QuorumView, now: QuorumView, node_id: int) -> StopPermission:
    """Judge whether a node may stop, by two looks at its quorum."""
    checks = leadership(now)
    never: list[Check] = []
    if now.quorum is not None:
        voters = {voter.replica.id for voter in now.voters}
        if node_id not in voters:
            check = _of_no_voter(now, now.quorum, node_id)
            checks.append(check)
            never += [check] if check.verdict is CheckResult.BLOCKED else []
        elif len(voters) - 1 < majority_of(len(voters)):
            never.append(_too_few(len(voters)))
            checks += never
        else:
            checks += _unsettled(before, now)
            checks += _without(before, now, now.quorum, node_id)
    is_blocked = any(check.verdict is CheckResult.BLOCKED for check in checks)
    verdict = StopVerdict.NOT_NOW if is_blocked else StopVerdict.YES
    return StopPermission(
        node_id=node_id,
        verdict=StopVerdict.NEVER if never else verdict,
        checks=tuple(checks),
    )


def _of_no_voter(now: QuorumView, quorum: DescribeQuorumResponse, node_id: int) -> Check:
    if node_id in {observer.replica.id for observer in quorum.observers}:
        return fine(
            f"node {node_id} observes and does not vote: the quorum does not need it. If it is"
            " a broker, its partitions were not checked"
        )
    ids = listed(sorted(voter.replica.id for voter in now.voters))
    return blocked(f"node {node_id} is neither a voter nor an observer", f"the voters are {ids}")


def _too_few(count: int) -> Check:
    return blocked(
        f"{many(count, 'voter')}: without one of them nothing can be committed",
        "add voters first (kraftool quorum add-controller), or accept that the quorum stops",
    )


def _unsettled(before: QuorumView, now: QuorumView) -> Iterator[Check]:
    """Yield what `health` finds that makes any stop a risk."""
    codes = {kind.code for kind in _UNSETTLED}
    for finding in health(before, now).findings:
        if finding.code in codes:
            yield blocked(finding.text, "wait until one leader stays and commits")


def _without(
    before: QuorumView, now: QuorumView, quorum: DescribeQuorumResponse, node_id: int
) -> Iterator[Check]:
    """Yield what the other voters are able to do."""
    ready: list[int] = []
    for voter in quorum.voters:
        if voter.replica.id == node_id:
            continue
        if problem := _problem(before, now, quorum, voter):
            yield caution(f"voter {voter.replica.id} does not count: {problem}")
        else:
            ready.append(voter.replica.id)
    needed = majority_of(len(quorum.voters))
    words = f"{len(ready)} of {len(quorum.voters)} voters are ready without node {node_id}"
    if len(ready) < needed:
        yield blocked(
            f"{words}, but {needed} are needed",
            "wait until the other voters have caught up, or bring them back first",
        )
    else:
        yield fine(f"{words} ({numbered('voter', ready)}), and {needed} are enough")
    yield from _leader_after(now, quorum, node_id, ready)


def _problem(
    before: QuorumView, now: QuorumView, quorum: DescribeQuorumResponse, voter: ReplicaState
) -> str:
    """Why a voter cannot be counted on, or empty."""
    node = now.node(voter.replica.id)
    if node is not None and not node.is_reached:
        return _unreached(before, quorum, voter, node.problem)
    if node is not None and (node.epoch, node.leader_id) != (now.epoch, quorum.leader_id):
        known = "no leader" if node.leader_id is None else f"leader {node.leader_id}"
        return f"it knows {known} of epoch {node.epoch}"
    if voter.replica.id == quorum.leader_id:
        return ""
    then = before.quorum
    if then is None or then.leader_id != quorum.leader_id or then.high_watermark < 0:
        return "the leader is new and has not answered twice yet"
    if voter.last_fetch_timestamp <= leader_clock(then):
        silent = (leader_clock(quorum) - voter.last_fetch_timestamp) / 1000
        has_fetched = voter.last_fetch_timestamp >= 0
        return f"it last fetched {silent:.1f} s ago" if has_fetched else "it has not fetched"
    if voter.log_end_offset < then.high_watermark:
        missing = then.high_watermark - voter.log_end_offset
        return f"it lacks {many(missing, 'committed record')}"
    return ""


def _unreached(
    before: QuorumView, quorum: DescribeQuorumResponse, voter: ReplicaState, problem: str
) -> str:
    """Why a voter that was not reached does not count: it is down, or only out of reach."""
    fetched = voter.last_fetch_timestamp
    then = before.quorum
    is_leader = voter.replica.id == quorum.leader_id
    if is_leader or (then is not None and fetched > leader_clock(then)):
        return (
            f"it fetches, but it cannot be reached from here ({problem}). Set its address with"
            " --resolve"
        )
    silent = (leader_clock(quorum) - fetched) / 1000
    last = f"last fetch {silent:.0f} s ago" if fetched >= 0 else "it has not fetched"
    return f"it is down ({problem}, {last}). Bring it back first"


def _leader_after(
    now: QuorumView, quorum: DescribeQuorumResponse, node_id: int, ready: list[int]
) -> Iterator[Check]:
    """Yield who leads once the node has stopped, and whether that node runs a controller."""
    if quorum.leader_id != node_id:
        if now.lacks_controller:
            yield blocked(
                f"node {quorum.leader_id} leads, but it runs no controller",
                "kraftool quorum health shows how to make a Kafka controller lead",
            )
        return
    able = [voter_id for voter_id in ready if now.runs_controller(voter_id)]
    if able:
        yield caution(
            f"node {node_id} leads: {numbered('voter', able, 'or')} can be elected in its place",
            "in a rolling restart, stop the leader last, so that leadership moves once",
        )
    else:
        yield blocked(
            f"node {node_id} leads, and no other ready voter is known to run a controller",
            "bring back a Kafka controller first",
        )
