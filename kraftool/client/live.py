"""A live quorum as reports take it: who said what, twice, and the leader's log as files.

Owns the order of work: a poll, the log, and a second poll where things are judged that only time
shows. What could not be had is part of it.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from kraftool.client.capture import Captured, Capturing
from kraftool.client.model import QuorumView
from kraftool.client.observing import LIMIT_S, Progress, UnobservableError, silent
from kraftool.client.second_poll import second_poll
from kraftool.client.target import Target
from kraftool.client.thresholds import POLLS_APART_S


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveQuorum:
    """The answers of the nodes, and what could be read of the leader's log."""

    before: QuorumView
    now: QuorumView
    """The same where it was looked at once."""
    captured: Captured | None = None
    unobserved: str = ""
    """Why there is no log of a leader."""


async def read_live(
    target: Target,
    capturing: Capturing,
    *,
    judged: bool = False,
    committed: bool = False,
    with_history: bool = False,
    progress: Progress = silent,
    limit_s: float = LIMIT_S,
) -> LiveQuorum:
    """Ask every node that is found, and read the leader's log. Nothing is raised for what fails.

    What is to be `judged` is looked at twice, and has an image. With `committed` the log ends at
    the high watermark. With `with_history` it begins as early as the leader's log does.
    """
    view = await target.survey()
    if not view.reached:
        return LiveQuorum(before=view, now=view, unobserved="no node was reached")
    pause = asyncio.create_task(asyncio.sleep(POLLS_APART_S if judged else 0))
    captured, unobserved = None, ""
    try:
        captured = await capturing.capture(
            view,
            target.access,
            with_image=judged,
            committed=committed,
            with_history=with_history,
            progress=progress,
            limit_s=limit_s,
        )
    except UnobservableError as error:
        unobserved = error.message
    await pause
    now = await second_poll(target, view) if judged else view
    return LiveQuorum(before=view, now=now, captured=captured, unobserved=unobserved)
