"""Says whether a controller of a live quorum may stop now without risking the leader or a commit.

Owns the checks of a stop, and the wait for one. Which voters count is `judgement.py`'s. It refuses
to judge partitions: a broker's replicas are not looked at.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from kraftool.client.change import Check, CheckResult, blocked, caution, fine, leadership
from kraftool.client.grades import Grade
from kraftool.client.judgement import Judgement, judge
from kraftool.client.model import QuorumView
from kraftool.client.target import Target
from kraftool.client.thresholds import POLLS_APART_S
from kraftool.client.voter_calls import call_checks
from kraftool.decoders.json_marks import in_json
from kraftool.net.errors import Failure
from kraftool.raft.messages import DescribeQuorumResponse
from kraftool.raft.names import Endpoint
from kraftool.reports.text.words import listed, many, numbered

_SEVERAL = (
    "with more than three voters, the voter that asks first after a clean stop of the leader is not"
    " elected, and another one is (KAFKA-20895)"
)
"""Of four or more, the votes of the two that know of the stop are no majority."""


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
    """Poll a quorum until a node may stop, for `wait_s` at most; return the last answer.

    `metrics`: where voters serve their metrics, by id. Those that report their calls to the others
    are believed.
    `waiting` gets each new reason for which the node may not stop yet. If the first poll reaches no
    controller, the address is wrong or nothing runs, and there is no wait.
    """
    deadline, reason = time.monotonic() + wait_s, ""
    before = await target.survey()
    if not before.reached:
        return may_stop(judge(before), node_id), before
    while True:
        await asyncio.sleep(POLLS_APART_S)
        now = await target.survey()
        permission = may_stop(judge(now, before), node_id)
        if metrics:
            checks = await call_checks(metrics, now, node_id, target.access.timeout_s)
            permission = permission.with_checks(checks)
        if permission.verdict is not StopVerdict.NOT_NOW or time.monotonic() >= deadline:
            return permission, now
        if permission.reason != reason:
            reason = permission.reason
            waiting(reason)
        before = now


def may_stop(judgement: Judgement, node_id: int) -> StopPermission:
    """Say whether a node may stop, by the judgement of its quorum."""
    now = judgement.view
    checks = leadership(now)
    never: list[Check] = []
    if now.quorum is not None:
        voters = {voter.id for voter in judgement.voters}
        if node_id not in voters:
            check = _of_no_voter(now, now.quorum, node_id)
            checks.append(check)
            never += [check] if check.verdict is CheckResult.BLOCKED else []
        elif len(voters) - 1 < judgement.majority:
            never.append(_too_few(len(voters)))
            checks += never
        else:
            checks += [
                blocked(words, "wait until one leader stays and commits")
                for words in judgement.unsettled
            ]
            checks += _not_reached(judgement, node_id)
            checks += _without(judgement, node_id)
            checks += (
                [caution(_SEVERAL)] if len(voters) > 3 and node_id == now.quorum.leader_id else []
            )
        checks += _leader_after(judgement, now.quorum, node_id)
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


def _not_reached(judgement: Judgement, node_id: int) -> Iterator[Check]:
    """Yield that a voter is down already, or seems to stop: it fetched just now, and refuses
    connections."""
    node, standing = judgement.view.node(node_id), judgement.standing(node_id)
    if node is None or standing is None:
        return
    if standing.grade is Grade.DOWN:
        yield caution(f"node {node_id} is down already ({node.problem})", "start it")
    elif standing.grade is Grade.OUT_OF_REACH and node.failure is Failure.REFUSED:
        yield blocked(
            f"node {node_id} may be stopping already: {standing.reason}",
            "ask again in some seconds. If it is down then, start it",
        )


def _without(judgement: Judgement, node_id: int) -> Iterator[Check]:
    """Yield what the other voters are able to do."""
    others = [voter for voter in judgement.voters if voter.id != node_id]
    for voter in others:
        if not voter.counts:
            yield caution(f"voter {voter.id} does not count: {voter.reason}")
    ready = [voter.id for voter in others if voter.counts]
    are = "is" if len(ready) == 1 else "are"
    words = f"{len(ready)} of {len(judgement.voters)} voters {are} ready without node {node_id}"
    if len(ready) < judgement.majority:
        yield blocked(
            f"{words}, but {judgement.majority} are needed",
            "wait until the other voters have caught up, or bring them back first",
        )
    else:
        yield fine(f"{words} ({numbered('voter', ready)}), and {judgement.majority} are enough")


def _leader_after(
    judgement: Judgement, quorum: DescribeQuorumResponse, node_id: int
) -> Iterator[Check]:
    """Yield who leads once the node has stopped, and whether that node runs a controller."""
    now = judgement.view
    if now.leader is not None and now.leader.waiting_ms is not None:
        yield blocked(judgement.reason, "wait until the leader answers")
    if quorum.leader_id != node_id:
        if now.lacks_controller:
            yield blocked(
                f"node {quorum.leader_id} leads, but it runs no controller",
                "kraftool quorum health shows how to make a Kafka controller lead",
            )
        return
    able = [
        voter_id
        for voter_id in judgement.ready
        if voter_id != node_id and now.runs_controller(voter_id)
    ]
    if able:
        unseen = (
            ". kraftool cannot see from here whether the other voters can reach each other"
            if len(judgement.voters) > 2
            else ""
        )
        yield caution(
            f"node {node_id} leads: {numbered('voter', able, 'or')} can be elected in its place"
            f"{unseen}",
            "in a rolling restart, stop the leader last, so that leadership moves once",
        )
    else:
        yield blocked(
            f"node {node_id} leads, and no other ready voter is known to run a controller",
            "bring back a Kafka controller first",
        )
