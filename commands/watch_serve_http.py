"""The server behind `kraftool watch --serve`: who gets in, and a dashboard for whoever did.

It listens on loopback. A token, made for each run, is exchanged for a cookie; Host and Origin are
checked for pages and for the websocket alike, so that no other site that is open in the same
browser, and no name that leads here, gets anything. What runs is fixed before the first request.
"""

from __future__ import annotations

import asyncio
import hmac
import json
import signal
from collections.abc import Callable, Mapping
from contextlib import suppress

from aiohttp import WSCloseCode, WSMsgType, web
from aiohttp.typedefs import Handler

from kraftool.commands.exit_code import RefusedError
from kraftool.commands.output import printable
from kraftool.commands.watch_serve_page import HTML, TEXT, Asset, headers, page
from kraftool.commands.watch_serve_session import DashboardSession, bounded, columns, rows
from kraftool.commands.watch_served import Served

MOST_WINDOWS = 4
"""Each asks every node of the quorum again and again."""
ADDRESS = "127.0.0.1"
_LARGEST_MESSAGE = 64 << 10
_HEARTBEAT_S = 15.0
_ENDING_S = 10.0
_WHERE = "open the address that kraftool watch --serve has printed"


class DashboardServer:
    """One run of it."""

    def __init__(
        self,
        served: Served,
        assets: Mapping[str, Asset],
        announce: Callable[[str], None],
        tell: Callable[[str], None],
    ) -> None:
        self._served = served
        self._assets = assets
        self._announce = announce
        self._tell = tell
        self._hosts: frozenset[str] = frozenset()
        """The names under which a browser on this machine may reach us, with the port."""
        self._cookie_name = ""
        self._windows: set[web.WebSocketResponse] = set()

    async def run(self, port: int) -> None:
        """Serve until SIGINT, SIGTERM or SIGHUP; then end every dashboard."""
        ended = asyncio.Event()
        loop = asyncio.get_running_loop()
        for signal_number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            loop.add_signal_handler(signal_number, ended.set)
        runner = web.AppRunner(
            self._application(), access_log=None, shutdown_timeout=_ENDING_S, handle_signals=False
        )
        await runner.setup()
        try:
            site = web.TCPSite(runner, ADDRESS, port)
            try:
                await site.start()
            except OSError as error:
                reason = error.strerror or str(error)
                raise RefusedError(f"{ADDRESS}:{port} cannot be listened on: {reason}") from error
            self.listens_on(int(runner.addresses[0][1]))
            address = f"http://{ADDRESS}:{runner.addresses[0][1]}/?token={self._served.token}"
            self._announce(address)
            await ended.wait()
        finally:
            await runner.cleanup()

    def listens_on(self, port: int) -> None:
        """Set what follows from the port: the names of this server and the cookie.

        Browsers share cookies between the ports of a host.
        """
        names = {ADDRESS, "localhost"}
        self._hosts = frozenset(
            {f"{name}:{port}" for name in names} | (names if port == 80 else set())
        )
        self._cookie_name = f"kraftool-{port}"

    def _application(self) -> web.Application:
        application = web.Application(middlewares=[self._guarded], client_max_size=1024)
        application.on_response_prepare.append(self._with_headers)
        application.on_shutdown.append(self._close_windows)
        application.add_routes(
            [
                web.get("/", self._page),
                web.get("/static/{name}", self._asset),
                web.get("/ws", self._window),
            ]
        )
        return application

    # --- who gets in --------------------------------------------------------------------------

    @web.middleware
    async def _guarded(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Refuse whoever does not come from our own page on this machine, with this run's token."""
        if request.host not in self._hosts:
            return _refused(421, f"no such host here; {_WHERE}")
        origin = request.headers.get("Origin")
        wants_window = request.path == "/ws"
        if origin is None and wants_window:
            return _refused(403, "a websocket without Origin is nobody's")
        if origin is not None and origin not in {f"http://{host}" for host in self._hosts}:
            return _refused(403, "another site has no business here")
        token = request.query.get("token")
        if request.path == "/" and token is not None:
            return self._exchanged(token)
        if not _same(request.cookies.get(self._cookie_name, ""), self._served.cookie):
            return _refused(403, f"{_WHERE}: it carries this run's token")
        return await handler(request)

    def _exchanged(self, token: str) -> web.StreamResponse:
        """The token for a cookie, so that it does not stay in the address."""
        if not _same(token, self._served.token):
            return _refused(403, f"not this run's token; {_WHERE}")
        answer = web.Response(status=303, headers={"Location": "/"})
        answer.set_cookie(
            self._cookie_name, self._served.cookie, httponly=True, samesite="Strict", path="/"
        )
        return answer

    # --- what there is ------------------------------------------------------------------------

    async def _page(self, request: web.Request) -> web.StreamResponse:
        size = bounded(request.query.get("fontsize", ""), 8, 40, 15)
        text = page(host=request.host, font_size=size)
        return web.Response(text=text, content_type=HTML, charset="utf-8")

    async def _asset(self, request: web.Request) -> web.StreamResponse:
        asset = self._assets.get(request.match_info["name"])
        if asset is None:
            return _refused(404, "there is no such file")
        return web.Response(body=asset.body, content_type=asset.content_type)

    async def _window(self, request: web.Request) -> web.StreamResponse:
        if len(self._windows) >= MOST_WINDOWS:
            return _refused(503, f"{MOST_WINDOWS} windows are open already; close one")
        window = web.WebSocketResponse(heartbeat=_HEARTBEAT_S, max_msg_size=_LARGEST_MESSAGE)
        if not window.can_prepare(request):
            return _refused(400, "this is the place of a websocket")
        self._windows.add(window)
        try:
            await window.prepare(request)
            await self._dashboard(request, window)
        finally:
            self._windows.discard(window)
        return window

    async def _dashboard(self, request: web.Request, window: web.WebSocketResponse) -> None:
        """A dashboard's process, as long as the window and it are there."""
        session = DashboardSession(await self._served.command(), window.send_bytes)
        width, height = columns(request.query.get("width")), rows(request.query.get("height"))
        running: asyncio.Task[None] | None = None
        try:
            await session.start(width, height)
            running = asyncio.create_task(self._running(session, window))
            async for message in window:
                if message.type is WSMsgType.TEXT:
                    await _take(session, window, message.data)
        finally:
            await session.stop()
            if running is not None:
                await running

    async def _running(self, session: DashboardSession, window: web.WebSocketResponse) -> None:
        await session.run()
        if session.complaint:
            for line in session.complaint.strip().splitlines()[-10:]:
                self._tell(f"dashboard: {printable(line)}")
        await window.close()

    async def _with_headers(self, request: web.Request, response: web.StreamResponse) -> None:
        host = request.host if request.host in self._hosts else ""
        for name, value in headers(host).items():
            response.headers[name] = value

    async def _close_windows(self, application: web.Application) -> None:
        for window in tuple(self._windows):
            await window.close(code=WSCloseCode.GOING_AWAY, message=b"kraftool has ended")


async def _take(session: DashboardSession, window: web.WebSocketResponse, text: str) -> None:
    """One message of the terminal in the browser; what it never sends is passed over."""
    try:
        message = json.loads(text)
    except (ValueError, RecursionError):
        return
    match message:
        case ["stdin", str(keys)]:
            await session.keys(keys)
        case ["resize", {"width": width, "height": height}]:
            await session.tell("resize", width=columns(width), height=rows(height))
        case ["ping", sent]:
            with suppress(ConnectionError):
                await window.send_str(json.dumps(["pong", sent]))
        case ["focus" | "blur" as what, *_]:
            await session.tell(what)


def _same(claim: str, secret: str) -> bool:
    return hmac.compare_digest(claim.encode("utf-8", "replace"), secret.encode())


def _refused(status: int, why: str) -> web.Response:
    return web.Response(status=status, text=f"{why}\n", content_type=TEXT)
