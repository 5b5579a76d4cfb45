"""A leader in a thread, for commands that read a live quorum: its log over a real connection.

The survey is what it would have found; everything after it is as with Kafka.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from kraftool.client.model import QuorumView
from kraftool.client.target import Target
from tests.client.scripted_leader import ScriptedLeader

OPTIONS = ("--bootstrap-controller", "ctl-1:9093")


@contextmanager
def live_leader(leader: ScriptedLeader, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Every survey finds this leader while the context lasts."""
    ready, done = threading.Event(), asyncio.Event()
    views: list[QuorumView] = []
    loop = asyncio.new_event_loop()

    async def serve() -> None:
        async with leader.running() as view:
            views.append(view)
            ready.set()
            await done.wait()

    async def survey(_: Target, asking: object = None) -> QuorumView:
        return views[0]

    thread = threading.Thread(target=lambda: loop.run_until_complete(serve()))
    thread.start()
    try:
        assert ready.wait(30), "it listens"
        monkeypatch.setattr(Target, "survey", survey)
        yield
    finally:
        loop.call_soon_threadsafe(done.set)
        thread.join(30)
        loop.close()
