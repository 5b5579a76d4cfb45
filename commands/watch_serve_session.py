"""One browser's dashboard: a process of `kraftool watch` of its own, between pipes.

Owns the process from its start to its certain end, and the frames in which Textual's web driver
speaks: a letter, a length, that many bytes. Files and addresses that the application would hand to
the browser are dropped. It knows no HTTP.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
from asyncio.subprocess import PIPE, Process
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress

from kraftool.reports.logs.processes import ends_with_parent

_READY = b"__GANGLION__\n"
"""What the web driver writes before its first frame."""
_DATA, _META = b"D", b"M"
_LARGEST_FRAME = 16 << 20
_MOST_COMPLAINT = 4000
_PATIENCE_S = 3.0
"""How long the application may take to leave by itself, and then again by a signal."""
_DRIVER = "textual.drivers.web_driver:WebDriver"


def bounded(value: object, low: int, high: int, default: int) -> int:
    """A size that a browser tells, within what a terminal can be."""
    text = str(value)
    if not text.isascii() or not text.isdigit() or len(text) > 6:
        return default
    return min(max(int(text), low), high)


def columns(value: object) -> int:
    return bounded(value, 20, 1000, 80)


def rows(value: object) -> int:
    return bounded(value, 5, 500, 24)


class DashboardSession:
    """A dashboard's process. `show` takes what the terminal is to write."""

    def __init__(self, arguments: Sequence[str], show: Callable[[bytes], Awaitable[None]]) -> None:
        self._arguments = tuple(arguments)
        self._show = show
        self._process: Process | None = None
        self.complaint = ""
        """The end of what the process wrote to stderr, as it was."""

    async def start(self, width: int, height: int) -> None:
        self._process = await asyncio.create_subprocess_exec(
            *self._arguments,
            stdin=PIPE,
            stdout=PIPE,
            stderr=PIPE,
            env=_environment(os.environ, width, height),
            preexec_fn=ends_with_parent(signal.SIGTERM),
            start_new_session=True,  # Ctrl-C in the terminal is the server's, which ends all
        )

    async def run(self) -> None:
        """Pass frames on until the process ends."""
        process = self._process
        assert process is not None, "a session runs after its start"
        assert process.stdout is not None, "stdout is a pipe"
        assert process.stderr is not None, "stderr is a pipe"
        listening = asyncio.create_task(self._listen(process.stderr))
        try:
            while (line := await process.stdout.readline()) != _READY:
                if not line:
                    return
            while frame := await _frame(process.stdout):
                kind, payload = frame
                if kind == _DATA:
                    await self._show(payload)
                elif kind == _META and _type(payload) == "exit":
                    return
        except (asyncio.IncompleteReadError, ConnectionError, ValueError):
            return
        finally:
            # What was said last is there by now, or never will be: who holds the pipe may live on.
            await asyncio.wait({listening}, timeout=0.2)
            listening.cancel()

    async def _listen(self, stderr: asyncio.StreamReader) -> None:
        while data := await stderr.read(4096):
            self.complaint = (self.complaint + data.decode("utf-8", "replace"))[-_MOST_COMPLAINT:]

    async def keys(self, text: str) -> None:
        await self._send(_DATA, text.encode("utf-8", "replace"))

    async def tell(self, type: str, **more: int) -> None:
        """Something about the browser's window."""
        await self._send(_META, json.dumps({"type": type, **more}).encode())

    async def _send(self, kind: bytes, payload: bytes) -> None:
        if self._process is None or self._process.stdin is None:
            return
        with suppress(ConnectionError, RuntimeError):
            self._process.stdin.write(kind + len(payload).to_bytes(4, "big") + payload)
            await self._process.stdin.drain()

    async def stop(self) -> None:
        """End the process: asked first, told then, and killed if it hears neither."""
        process = self._process
        if process is None:
            return
        await self.tell("quit")
        for step in (process.terminate, process.kill, lambda: None):
            with suppress(TimeoutError):
                await asyncio.wait_for(process.wait(), _PATIENCE_S)
                return
            with suppress(ProcessLookupError):
                step()


def _environment(ours: Mapping[str, str], width: int, height: int) -> dict[str, str]:
    """That of an application whose terminal is a browser; `TEXTUAL` would open a debugger."""
    return {
        **{name: value for name, value in ours.items() if name != "TEXTUAL"},
        "TEXTUAL_DRIVER": _DRIVER,
        "TEXTUAL_COLOR_SYSTEM": "truecolor",
        "TERM_PROGRAM": "textual",
        "COLUMNS": str(width),
        "ROWS": str(height),
    }


async def _frame(stream: asyncio.StreamReader) -> tuple[bytes, bytes]:
    kind = await stream.readexactly(1)
    size = int.from_bytes(await stream.readexactly(4), "big")
    if size > _LARGEST_FRAME:
        raise ValueError("no frame is that large")
    return kind, await stream.readexactly(size)


def _type(payload: bytes) -> object:
    message = json.loads(payload)
    return message.get("type") if isinstance(message, dict) else None
