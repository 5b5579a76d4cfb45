"""Serves /metrics to Prometheus, and /health and /ready to supervisors of processes.

Owns the small part of HTTP that this takes. It listens on loopback unless the operator names
another address. It refuses bodies, other methods and slow senders.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from kraftool.decoders.addresses import shown_address
from kraftool.decoders.errors import KraftoolError

_LONGEST_HEAD = 8 << 10
_PATIENCE_S = 5.0
_TYPE = "text/plain; charset=utf-8"

Page = Callable[[str], tuple[bytes, str]]
"""Takes the Accept header of a scrape, and returns the page and its type."""


class MetricsServer:
    """Serves what a function gives."""

    def __init__(self, page: Page, is_ready: Callable[[], bool] = lambda: True) -> None:
        """`is_ready`: whether /ready says so; /health does as long as anybody answers."""
        self._page, self._is_ready = page, is_ready
        self._server: asyncio.Server | None = None

    async def start(self, host: str, port: int) -> int:
        """Listen, and give the port (another than asked for if that was 0)."""
        try:
            self._server = await asyncio.start_server(self._serve, host, port, limit=_LONGEST_HEAD)
        except OSError as error:
            reason = error.strerror or error
            raise KraftoolError(
                f"metrics cannot be served at {shown_address(host, port)}: {reason}"
            ) from None
        return int(self._server.sockets[0].getsockname()[1])

    async def close(self) -> None:
        if self._server is not None:
            self._server.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(_PATIENCE_S):
                head = await reader.readuntil(b"\r\n\r\n")
                writer.write(self._answer(head))
                await writer.drain()
        except (TimeoutError, OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            pass
        finally:
            writer.close()

    def _answer(self, head: bytes) -> bytes:
        words = head.split(b"\r\n", 1)[0].split()
        if len(words) != 3 or not words[2].startswith(b"HTTP/1."):
            return _response("400 Bad Request", b"not HTTP\n")
        if words[0] not in (b"GET", b"HEAD"):
            return _response("405 Method Not Allowed", b"only GET\n")
        match words[1].split(b"?", 1)[0]:
            case b"/metrics":
                page = _response("200 OK", *self._page(_accepted(head)))
            case b"/health":
                page = _response("200 OK", b"ok\n")
            case b"/ready" if self._is_ready():
                page = _response("200 OK", b"ready\n")
            case b"/ready":
                page = _response("503 Service Unavailable", b"not ready\n")
            case _:
                return _response("404 Not Found", b"only /metrics, /health and /ready\n")
        return page if words[0] == b"GET" else page.split(b"\r\n\r\n", 1)[0] + b"\r\n\r\n"


def _accepted(head: bytes) -> str:
    """The Accept header: Prometheus says in it that it takes OpenMetrics."""
    for line in head.split(b"\r\n")[1:]:
        name, _, value = line.partition(b":")
        if name.strip().lower() == b"accept":
            return value.strip().decode("latin-1")
    return ""


def _response(status: str, body: bytes, content_type: str = _TYPE) -> bytes:
    head = (
        f"HTTP/1.1 {status}\r\nContent-Type: {content_type}\r\nContent-Length: {len(body)}\r\n"
        "Connection: close\r\n\r\n"
    )
    return head.encode() + body
