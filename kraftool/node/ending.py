"""The shutdown of a node: its signals, its time limit, and how it is reported."""

from __future__ import annotations

import asyncio
import logging
import signal
from enum import Enum
from typing import Self

from kraftool.node.narration import say
from kraftool.node.runner import NodeFailedError, Runner

_ENDING = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
"""The JVM's, at which Kafka stops in order too."""


class Ended(Enum):
    """The ways in which a node stopped."""

    IN_ORDER = "in order"
    OUT_OF_TIME = "without waiting any longer for a successor"


class Signals:
    """While entered, a first signal asks a node to end in order, and a second ends it at once.

    A SIGHUP that is ignored, as under nohup, stays ignored; the JVM leaves it ignored too.
    """

    def __init__(self, runner: Runner) -> None:
        self._runner = runner
        self._handled = [number for number in _ENDING if signal.getsignal(number) != signal.SIG_IGN]
        self.came = asyncio.Event()

    def __enter__(self) -> Self:
        for number in self._handled:
            asyncio.get_running_loop().add_signal_handler(number, self._end, number)
        return self

    def __exit__(self, *_: object) -> None:
        for number in self._handled:
            asyncio.get_running_loop().remove_signal_handler(number)

    def _end(self, number: int) -> None:
        if self.came.is_set():
            self._runner.stop_now()
            return
        say("shutting down", signal=signal.Signals(number).name)
        self.came.set()
        self._runner.shut_down()


async def until_ended(runner: Runner, asked: asyncio.Event, *, shutdown_s: float) -> Ended:
    """Run until it is asked to end, and then for as long as it may take."""
    loop = asyncio.get_running_loop()
    running = loop.create_task(runner.run())
    waiting = loop.create_task(asked.wait())
    try:
        await asyncio.wait({running, waiting}, return_when=asyncio.FIRST_COMPLETED)
        if not running.done():
            await asyncio.wait({running}, timeout=shutdown_s)
        ended = Ended.IN_ORDER
        if not running.done() or not runner.raft.is_stopped:
            ended = Ended.OUT_OF_TIME
            runner.stop_now()
        await running
        return ended
    except NodeFailedError as error:
        say("failed", logging.ERROR, reason=error.message, state=error.state)
        raise
    finally:
        waiting.cancel()
