"""A live quorum looked at twice, and its metadata read meanwhile: what `health` judges.

Owns the order of it, for every command that tells a quorum's health.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from kraftool.client.cluster_health import cluster_health
from kraftool.client.health import Health, health
from kraftool.client.model import QuorumView
from kraftool.client.observer import Observation, observe
from kraftool.client.observing import Progress, UnobservableError, silent
from kraftool.client.second_poll import second_poll
from kraftool.client.target import Target
from kraftool.client.thresholds import POLLS_APART_S


async def check(
    target: Target, *, with_metadata: bool = True, progress: Progress = silent
) -> Health:
    """Poll, read, poll again, and judge. Where no node was reached that is all that is told."""
    before = await target.survey()
    if not before.reached:
        return health(before, before)
    pause = asyncio.create_task(asyncio.sleep(POLLS_APART_S))
    observed: Observation | str = ""
    if with_metadata:
        observed = await _observed(before, target, progress)
    await pause
    now = await second_poll(target, before)
    if isinstance(observed, str):
        return health(before, now, unobserved=observed)
    return health(before, now, cluster_health(observed, now, before))


async def check_until(
    target: Target,
    judge: Callable[[Health], Health],
    wait_s: float,
    waiting: Callable[[str], None],
    *,
    with_metadata: bool = True,
    progress: Progress = silent,
) -> Health:
    """Check again until the quorum is healthy, or the time is over. `judge` has the last word on
    each health; `waiting` gets the worst finding whenever it changes."""
    gives_up, said = time.monotonic() + wait_s, ""
    while True:
        report = judge(await check(target, with_metadata=with_metadata, progress=progress))
        left_s = gives_up - time.monotonic()
        if report.is_well or left_s <= 0:
            return report
        worst = report.findings[0]
        words = ": ".join(filter(None, (worst.file, worst.text)))
        if words != said:
            said = words
            waiting(words)
        await asyncio.sleep(min(POLLS_APART_S, left_s))


async def _observed(view: QuorumView, target: Target, progress: Progress) -> Observation | str:
    """The metadata, or why it could not be read."""
    try:
        return await observe(view, target.access, progress)
    except UnobservableError as error:
        return error.message
