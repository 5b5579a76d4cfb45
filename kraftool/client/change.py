"""A change to a live quorum: what is to be done, what was looked at before, what came of it.

Owns the values, and the checks that every change begins with. A check that fails blocks: either
Kafka would refuse, or the quorum would be lost. A caution is told and does not.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from kraftool.client.judgement import judge
from kraftool.client.model import QuorumView
from kraftool.client.not_asked import broker_words
from kraftool.decoders.json_marks import in_json
from kraftool.raft.messages import ReplicaState
from kraftool.raft.names import majority_of
from kraftool.reports.text.words import many


class CheckResult(StrEnum):
    """The result of a check."""

    FINE = "fine"
    CAUTION = "caution"
    BLOCKED = "blocked"


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One thing that was looked at."""

    verdict: CheckResult
    reason: str
    """One check, and the reason if it blocks."""
    advice: str = ""
    """The action to take; may be empty."""


def fine(text: str) -> Check:
    return Check(verdict=CheckResult.FINE, reason=text)


def caution(text: str, advice: str = "") -> Check:
    return Check(verdict=CheckResult.CAUTION, reason=text, advice=advice)


def blocked(text: str, advice: str = "") -> Check:
    return Check(verdict=CheckResult.BLOCKED, reason=text, advice=advice)


class ChangeOutcome(StrEnum):
    """The outcome of a change."""

    NOT_TRIED = "not tried"
    DONE = "done"
    REFUSED = "refused"
    """By the leader."""
    UNKNOWN = "unknown"
    """No answer came, or no commit was seen. A later poll shows whether it was done."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QuorumChange:
    """A change from its plan to its end."""

    kind: str
    """As the command is called: add-controller."""
    subject: str
    """In words: controller 4 with directory id X and endpoints CONTROLLER://h:1."""
    checks: tuple[Check, ...]
    is_needed: bool = True
    """True if there is anything to do: the requested state may already exist."""
    outcome: ChangeOutcome = ChangeOutcome.NOT_TRIED
    reason: str = ""
    """The leader's reason if it refused."""

    @property
    @in_json
    def is_possible(self) -> bool:
        """True if no check blocks."""
        return all(check.verdict is not CheckResult.BLOCKED for check in self.checks)


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaderAnswer:
    """The leader's answer."""

    error: str = ""
    """Kafka's name of it; empty for none."""
    message: str = ""


def finished(change: QuorumChange, answer: LeaderAnswer | None) -> QuorumChange:
    """The change with what came of it; no answer is one that did not come."""
    if answer is None:
        return replace(change, outcome=ChangeOutcome.UNKNOWN)
    if not answer.error:
        return replace(change, outcome=ChangeOutcome.DONE)
    reason = f"{answer.error}: {answer.message}" if answer.message else answer.error
    return replace(change, outcome=ChangeOutcome.REFUSED, reason=reason)


def leadership(view: QuorumView) -> list[Check]:
    """There has to be a leader that commits, and everyone should know it."""
    if view.leader is None or view.quorum is None:
        return [
            blocked(
                "no node leads",
                "run kraftool quorum health to see why; without a leader nothing can be committed",
            )
        ]
    checks = [fine(f"node {view.leader.node_id} leads epoch {view.epoch}")]
    checks += [caution(broker_words(broker), broker.advice) for broker in view.brokers]
    if len(view.cluster_ids) > 1:
        checks.append(blocked(f"the nodes are of clusters {', '.join(view.cluster_ids)}"))
    if view.quorum.high_watermark < 0:
        checks.append(
            blocked("the leader has committed nothing in its epoch yet", "try again in a moment")
        )
    if not view.agrees:
        checks.append(caution("not every node knows this leader", "run kraftool quorum describe"))
    return checks


def is_dynamic(view: QuorumView) -> list[Check]:
    """Voters are changed at kraft.version 1 only."""
    if view.kraft_version >= 1:
        return [fine(f"kraft.version is {view.kraft_version}")]
    return [
        blocked(
            "kraft.version is 0: the voters are static",
            "kraftool quorum upgrade makes them dynamic",
        )
    ]


def majority_after(voters: Iterable[int], keeping: Iterable[int]) -> Check:
    """Check that a majority of the future voters keeps up."""
    after = set(voters)
    well = len(after & set(keeping))
    needed = majority_of(len(after))
    keep, are = "keeps" if well == 1 else "keep", "is" if needed == 1 else "are"
    words = f"{well} of {many(len(after), 'voter')} {keep} up afterwards, {needed} {are} needed"
    if well < needed:
        return blocked(words, "nothing could be committed any more. Bring back voters first")
    return fine(words)


def parity(count: int) -> list[Check]:
    if count > 2 and count % 2 == 0:
        return [caution(f"{count} voters tolerate no more failures than {count - 1} would")]
    if count == 2:
        return [caution("with two voters the quorum cannot tolerate a failure")]
    return []


def keeping(view: QuorumView) -> tuple[int, ...]:
    """Return the voters that the leader can count for a commit."""
    return judge(view).fetching


def of(replicas: Sequence[ReplicaState], node_id: int) -> ReplicaState | None:
    return next((replica for replica in replicas if replica.replica.id == node_id), None)
