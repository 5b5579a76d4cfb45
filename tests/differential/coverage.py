"""Counts what trials really did: a fuzz that never reaches a role, or a download, shows nothing."""

from __future__ import annotations

from collections.abc import Iterator

from tests.differential.outcome import Outcome
from tests.differential.random_start import LAST_EPOCH
from tests.differential.steps import Answer, Ask, Restart, Step

ROLES = ("Unattached", "Prospective", "Candidate", "Follower", "Leader", "Resigned")
SITUATIONS = (
    *(f"role {role}" for role in ROLES),
    "message before the timers",
    "late answer",
    "second listener",
    "restart",
    "epoch near the last one",
    "log truncated",
    "voters changed",
    "snapshot written",
    "snapshot slice served",
    "snapshot downloaded",
    "log start moved",
)


def situations(step: Step, before: Outcome, ours: Outcome) -> Iterator[str]:
    """Yield the situations that a step was in."""
    yield f"role {ours.state['role']}"
    if step.arrives_while_waiting:
        yield "message before the timers"
    match step.action:
        case Answer() if ours.ignored_after_ms is not None:
            yield "late answer"
        case Ask(listener="EXTERNAL"):
            yield "second listener"
        case Restart():
            yield "restart"
        case _:
            pass
    if ours.state["epoch"] > LAST_EPOCH - (1 << 20):
        yield "epoch near the last one"
    if ours.has_truncated and not before.has_truncated:
        yield "log truncated"
    if ours.state["voters"] != before.state["voters"]:
        yield "voters changed"
    if any(
        reply.name == "FetchSnapshot" and len(reply.data) > 100 for reply in ours.replies.values()
    ):
        yield "snapshot slice served"
    was_downloading = before.state["download"] is not None
    if ours.state["logStart"] > before.state["logStart"]:
        yield "snapshot downloaded" if was_downloading else "log start moved"
    elif len(ours.state["files"]["snapshots"]) > len(before.state["files"]["snapshots"]):
        yield "snapshot written"
