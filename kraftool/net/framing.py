"""Frames on a stream: four bytes of size, then as many bytes.

Owns the limits that let a node survive whoever is at the other end: a size is bounded before
anything is kept for it, bytes are kept only as they come, and a frame that was begun has to go on
coming.
"""

from __future__ import annotations

import asyncio
from collections import deque

from kraftool.net.errors import Failure, ProtocolViolation

_TLS_ALERT = b"\x15\x03"
"""The first bytes of a TLS alert of any version since SSL 3; as a size they are far too large."""
_PART_BYTES = 64 << 10
"""So much has to come within the patience: whoever sends slower is cut off."""


async def read_frame(
    reader: asyncio.StreamReader,
    max_bytes: int,
    *,
    idle_s: float | None,
    patience_s: float,
    budget: Budget | None = None,
) -> bytes | None:
    """The next frame without its size; None where the stream ends between two frames.

    Raises TimeoutError where nothing comes, or a part of a frame comes too slowly.
    """
    async with asyncio.timeout(idle_s):
        first = await reader.read(4)
    if not first:
        return None
    if len(first) < 4:
        async with asyncio.timeout(patience_s):
            first += await reader.readexactly(4 - len(first))
    if first.startswith(_TLS_ALERT):
        raise ProtocolViolation("a TLS alert instead of a Kafka answer", failure=Failure.NO_TLS)
    size = int.from_bytes(first, "big", signed=True)
    if not 0 <= size <= max_bytes:
        raise ProtocolViolation(f"a frame of {size} bytes; 0 to {max_bytes} are accepted")
    if size <= _PART_BYTES:
        async with asyncio.timeout(patience_s):
            return await reader.readexactly(size)
    # A buffer that grows is memory of its own, which goes back to the system. Parts would be pieces
    # of a heap that stays as large as it was.
    data = bytearray()
    held = 0
    try:
        while size > 0:
            part = min(size, _PART_BYTES)
            async with asyncio.timeout(patience_s):
                piece = await reader.readexactly(part)
                if budget is not None:
                    await budget.take(part)
                    held += part
                data += piece
            size -= part
        return bytes(data)
    finally:
        data.clear()  # an error that goes on holds this frame for longer
        if budget is not None:
            budget.give_back(held)


async def write_frame(writer: asyncio.StreamWriter, frame: bytes, *, patience_s: float) -> None:
    """Send a frame; raises TimeoutError where the other side does not take it."""
    writer.writelines((len(frame).to_bytes(4, "big"), frame))
    async with asyncio.timeout(patience_s):
        await writer.drain()


class Budget:
    """Bytes that all large frames together may take while they come in.

    They are taken as they come, so that an announced size alone keeps nobody waiting. Where all are
    taken everyone waits, and who waits for longer than the patience goes: that frees them.
    """

    def __init__(self, total: int) -> None:
        self._left = total
        self._waiting: deque[asyncio.Future[None]] = deque()

    async def take(self, size: int) -> None:
        while self._left < size:
            turn = asyncio.get_running_loop().create_future()
            self._waiting.append(turn)
            await turn
        self._left -= size

    def give_back(self, size: int) -> None:
        self._left += size
        while self._waiting:
            turn = self._waiting.popleft()
            if not turn.done():
                turn.set_result(None)
