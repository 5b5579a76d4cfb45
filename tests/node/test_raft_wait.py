"""The longest wait of the core is seen, whatever it waited for."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from kraftool.decoders.framing import encode_record
from kraftool.node.metrics_page import exposition
from kraftool.node.raft_wait import RaftWait
from kraftool.node.runner import Runner
from kraftool.raft.events import Append
from tests.node.quorum import quorum_of

_HELD_S = 0.4


async def hold_the_loop(runner: Runner, _: pytest.MonkeyPatch) -> None:
    time.sleep(_HELD_S)


async def append_to_a_slow_disk(runner: Runner, patch: pytest.MonkeyPatch) -> None:
    append = runner.log.append

    def slow(batches: Any) -> None:
        time.sleep(_HELD_S)
        append(batches)

    patch.setattr(runner.log, "append", slow)
    record = encode_record("NoOpRecord", 0, {})
    await runner.order(Append(epoch=runner.raft.epoch, records=(record,), size=len(record)))


@pytest.mark.parametrize("hold", [hold_the_loop, append_to_a_slow_disk])
def test_what_holds_the_core_is_seen(
    tmp_path: Path,
    hold: Callable[[Runner, pytest.MonkeyPatch], Awaitable[None]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def run() -> tuple[float, bytes]:
        async with quorum_of(tmp_path, 1) as quorum:
            runner = await quorum.leader()
            wait = RaftWait(runner)
            wait.start()
            try:
                await quorum.until("a probe", lambda: wait.longest_ms)
                await hold(runner, monkeypatch)
                await quorum.until("a long wait", lambda: wait.longest_ms >= _HELD_S * 500)
            finally:
                await wait.close()
            return wait.longest_ms, exposition(wait.samples())

    longest_ms, page = asyncio.run(run())
    [line] = [line for line in page.decode().splitlines() if not line.startswith("#")]
    name, value = line.split()
    assert (name, float(value)) == ("kraftool_node_raft_wait_ms_max", round(longest_ms, 1))
