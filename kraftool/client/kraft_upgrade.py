"""From static voters to dynamic ones: kraft.version 0 to 1.

Owns its preflight. The leader has the last word before anything is written: it is asked to validate
first.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from kraftool.client import asking_changes
from kraftool.client.asking_changes import once_committed, with_leader
from kraftool.client.change import QuorumChange, blocked, caution, fine, finished, leadership
from kraftool.client.model import QuorumView
from kraftool.client.target import Target
from kraftool.image.metadata_version import KRAFT_VERSION, METADATA_VERSION, level_of

LEVEL = 1
_FIRST_RELEASE = "4.1-IV0"
"""Kafka 3.9 and 4.0 say that they have done it, and write a metadata record only."""

_SOFTWARE = "upgrade its software to Kafka 4.1 or newer"


async def upgrade(target: Target, *, dry_run: bool) -> QuorumChange:
    """Make the voters dynamic."""
    return await with_leader(target, partial(_upgrade, target, dry_run))


async def _upgrade(target: Target, dry_run: bool, view: QuorumView) -> QuorumChange:
    checks = leadership(view)
    now = view.kraft_version
    change = QuorumChange(
        kind="upgrade",
        subject=f"{KRAFT_VERSION} from {now} to {LEVEL}",
        checks=(),
        is_needed=now < LEVEL,
    )
    if view.leader is None or not change.is_needed:
        return replace(change, checks=tuple(checks))
    voters = {voter.replica.id for voter in view.voters}
    for node_id in sorted(voters):
        node = view.node(node_id)
        if node is None or not node.is_reached:
            checks.append(
                blocked(
                    f"voter {node_id} was not reached",
                    "every voter must report that it supports the level",
                )
            )
            continue
        low, high = node.offered.supported.get(KRAFT_VERSION, (0, 0))
        _, release = node.offered.supported.get(METADATA_VERSION, (0, 0))
        if not low <= LEVEL <= high:
            checks.append(
                blocked(f"voter {node_id} supports {KRAFT_VERSION} {low} to {high}", _SOFTWARE)
            )
        elif release < (level_of(_FIRST_RELEASE) or 0):
            checks.append(
                blocked(
                    f"voter {node_id} runs a Kafka older than 4.1, which would claim the level"
                    " but not apply it",
                    _SOFTWARE,
                )
            )
        else:
            checks.append(fine(f"voter {node_id} supports {KRAFT_VERSION} {LEVEL}"))
    checks.append(
        caution(
            "you cannot go back to static voters",
            "afterwards replace controller.quorum.voters with"
            " controller.quorum.bootstrap.servers in every node's configuration",
        )
    )
    if any(check.verdict.value == "blocked" for check in checks):
        return replace(change, checks=tuple(checks))
    answer = await asking_changes.upgrade(view, target.access, LEVEL, validate_only=True)
    if answer is None:
        checks.append(blocked("the leader did not answer whether it would do it"))
    elif answer.error:
        refusal = f"{answer.error}: {answer.message}".rstrip(": ")
        checks.append(
            blocked(
                f"the leader would refuse: {refusal}",
                "after its election a leader hears from each voter within a few seconds. Then"
                " try again",
            )
        )
    else:
        checks.append(fine("the leader would do it"))
    change = replace(change, checks=tuple(checks))
    if dry_run or not change.is_possible:
        return change
    done = await asking_changes.upgrade(view, target.access, LEVEL, validate_only=False)
    return finished(change, await once_committed(target, view, done))
