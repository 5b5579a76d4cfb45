"""`kraftool watch --serve`: who gets in, what a browser is given, and how it ends.

The server runs as the command does, in a process of its own; the dashboard behind it is a small
Textual application, so that these tests are about the way there.
"""

from __future__ import annotations

import asyncio
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from kraftool.client.asking import Access
from kraftool.client.target import Target
from kraftool.commands.watch_served import Served
from kraftool.installing import install_hint
from tests.client.scripted_quorum import Quorum
from tests.commands.conftest import PATIENCE_S, apart

if TYPE_CHECKING:
    import aiohttp
else:
    aiohttp = pytest.importorskip("aiohttp")
pytest.importorskip("textual_serve")

pytestmark = [pytest.mark.tui, pytest.mark.slow]

_APPLICATION = """
import os, pathlib, sys
from textual.app import App
from textual.widgets import Label

pathlib.Path(sys.argv[1], str(os.getpid())).touch()

class Small(App):
    def compose(self):
        yield Label("hello", id="said")
    def on_key(self, event):
        size = f"{self.size.width}x{self.size.height}"
        self.query_one("#said", Label).update(f"key {event.key} of {size}")
    def on_mount(self):
        self.open_url("https://example.org/")
        self.deliver_text(__file__)

Small().run()
"""
_SERVER = """
import sys
from kraftool.commands.watch_serve import run
from kraftool.commands.watch_served import Served

def tell(line):
    print(line, flush=True)

run(Served(arguments=tuple(sys.argv[1:])), 0, tell, tell)
"""


@dataclass
class Serving:
    """A server that runs, and where."""

    process: subprocess.Popen[str]
    port: int
    token: str
    dashboards: Path
    """A file for each dashboard that began, called by its pid."""

    @property
    def base(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def pids(self) -> list[int]:
        return [int(path.name) for path in self.dashboards.iterdir()]


def _started(folder: Path) -> Serving:
    application = folder / "small.py"
    application.write_text(_APPLICATION)
    dashboards = folder / "dashboards"
    dashboards.mkdir()
    process = subprocess.Popen(
        [sys.executable, "-c", _SERVER, sys.executable, str(application), str(dashboards)],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    address = re.search(r"http://127\.0\.0\.1:(\d+)/\?token=(\S+)", process.stdout.readline())
    assert address is not None, "the address is the first thing that is told"
    return Serving(process, int(address[1]), address[2], dashboards)


def _end(serving: Serving) -> None:
    serving.process.kill()
    serving.process.wait()
    for pid in serving.pids:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    if serving.process.stdout is not None:
        serving.process.stdout.close()


@pytest.fixture(scope="module")
def serving(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    serving = _started(tmp_path_factory.mktemp("serving"))
    yield serving
    _end(serving)


@pytest.fixture
def own_serving(tmp_path: Path) -> Iterator[Serving]:
    serving = _started(tmp_path)
    yield serving
    _end(serving)


@asynccontextmanager
async def _browser(serving: Serving) -> AsyncIterator[aiohttp.ClientSession]:
    """One that has the cookie."""
    async with aiohttp.ClientSession(cookie_jar=aiohttp.CookieJar(unsafe=True)) as client:
        async with client.get(f"{serving.base}/?token={serving.token}") as answer:
            assert answer.status == 200
        yield client


@asynccontextmanager
async def _window(
    serving: Serving, size: str = ""
) -> AsyncIterator[aiohttp.ClientWebSocketResponse]:
    """A dashboard in a browser."""
    async with (
        _browser(serving) as client,
        client.ws_connect(f"{serving.base}/ws{size}", headers={"Origin": serving.base}) as window,
    ):
        yield window


async def _until(
    window: aiohttp.ClientWebSocketResponse, words: bytes, shown: bytes = b""
) -> bytes:
    """What a terminal is told until these words are in it."""
    while words not in shown:
        shown += (await window.receive()).data
    return shown


async def _until_closed(window: aiohttp.ClientWebSocketResponse) -> None:
    while not window.closed:
        await window.receive()


def _status(serving: Serving, path: str, headers: dict[str, str]) -> int:
    """How a browser with the cookie is answered that says this of itself."""

    async def ask() -> int:
        async with (
            _browser(serving) as client,
            client.get(serving.base + path, headers=headers) as answer,
        ):
            return answer.status

    return asyncio.run(ask())


@pytest.mark.parametrize(
    "path", ["/", "/static/textual.js", "/ws", "/download/1", "/?token=", "/?token=guess"]
)
def test_without_the_token_nothing_is_given(serving: Serving, path: str) -> None:
    async def ask() -> tuple[int, str]:
        async with aiohttp.ClientSession() as client:
            headers = {"Origin": serving.base}
            async with client.get(serving.base + path, headers=headers) as answer:
                return answer.status, await answer.text()

    status, text = asyncio.run(ask())
    assert status == 403
    assert "token" in text
    assert serving.token not in text


@pytest.mark.parametrize("path", ["/", "/static/textual.js", "/ws"])
@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:{port}",
        "127.0.0.1",
        "localhost:1",
        "127.0.0.1:{port}.evil.example",
    ],
)
def test_another_host_name_is_refused_even_with_the_cookie(
    serving: Serving, path: str, host: str
) -> None:
    """A name of somebody's own can lead to 127.0.0.1 (DNS rebinding); the browser tells it."""
    headers = {"Host": host.format(port=serving.port), "Origin": serving.base}
    assert _status(serving, path, headers) == 421


@pytest.mark.parametrize("path", ["/", "/ws"])
@pytest.mark.parametrize(
    "origin", ["https://evil.example", "null", "http://127.0.0.1:1", "https://127.0.0.1:{port}"]
)
def test_another_origin_is_refused_even_with_the_cookie(
    serving: Serving, path: str, origin: str
) -> None:
    assert _status(serving, path, {"Origin": origin.format(port=serving.port)}) == 403


def test_a_websocket_needs_an_origin(serving: Serving) -> None:
    async def ask() -> None:
        async with _browser(serving) as client:
            await client.ws_connect(f"{serving.base}/ws")

    with pytest.raises(aiohttp.WSServerHandshakeError, match="403"):
        asyncio.run(ask())


def test_the_token_leaves_the_address_and_the_cookie_is_another_secret(serving: Serving) -> None:
    async def ask() -> tuple[int, str, str]:
        async with (
            aiohttp.ClientSession() as client,
            client.get(f"{serving.base}/?token={serving.token}", allow_redirects=False) as answer,
        ):
            return answer.status, answer.headers["Location"], answer.headers["Set-Cookie"]

    status, location, cookie = asyncio.run(ask())
    assert (status, location) == (303, "/")
    assert serving.token not in cookie
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie


def test_the_page_needs_nothing_from_elsewhere(serving: Serving) -> None:
    """Every address in the page and in its style is one of ours, and is answered."""

    async def ask() -> tuple[str, str, dict[str, int]]:
        async with _browser(serving) as client:
            async with client.get(f"{serving.base}/") as answer:
                page, policy = await answer.text(), answer.headers["Content-Security-Policy"]
            async with client.get(f"{serving.base}/static/page.css") as answer:
                style = await answer.text()
            named = re.findall(r'(?:href|src)="([^"]+)"', page)
            named += [f"/static/{name}" for name in re.findall(r'url\("([^"]+)"\)', style)]
            statuses = {}
            for url_path in named:
                if not url_path.startswith("data:"):
                    assert url_path.startswith("/"), url_path
                    async with client.get(serving.base + url_path) as answer:
                        statuses[url_path] = answer.status
            return page, policy, statuses

    page, policy, statuses = asyncio.run(ask())
    assert set(statuses.values()) == {200}
    assert "/static/textual.js" in statuses
    assert re.findall(r"(?:https?:)?//[^\s\"']+", page) == [f"//127.0.0.1:{serving.port}/ws"]
    assert "default-src 'none'" in policy
    assert "script-src 'self';" in policy
    assert f"connect-src ws://127.0.0.1:{serving.port}" in policy


def test_a_window_shows_the_dashboard_and_passes_keys_on(serving: Serving) -> None:
    """And gives the browser neither files nor addresses of the dashboard."""

    async def ask() -> tuple[bytes, list[str]]:
        shown, texts = b"", []
        async with _window(serving, "?width=91&height=31") as window:
            await window.send_str("no JSON")
            await window.send_json({"stdin": 1})
            await window.send_json(["stdin", "x"])
            async for message in window:
                if message.type is aiohttp.WSMsgType.TEXT:
                    texts.append(message.data)
                else:
                    shown += message.data
                if b"hello" in shown and not texts:
                    await window.send_json(["ping", 7])
                    await window.send_json(["stdin", "x"])
                    texts.append("")
                if b"91x31" in shown:
                    break
        return shown, texts

    shown, texts = asyncio.run(asyncio.wait_for(ask(), PATIENCE_S))
    assert b"x" in shown
    assert set(texts) <= {"", '["pong", 7]'}


def test_the_command_shows_its_own_dashboard_from_which_nothing_is_written(
    fixtures_dir: Path, tmp_path: Path
) -> None:
    """Of the directory and the view that the command line names; `e` exports nothing."""
    directory = fixtures_dir / "kafka-4.3.0" / "dynamic-quorum" / "node-2" / "data"
    process = subprocess.Popen(
        [
            *(sys.executable, "-m", "kraftool", "watch", "--serve", "0", "--view", "files"),
            str(directory),
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "HOME": str(tmp_path), "PYTHONPATH": str(fixtures_dir.parent)},
        cwd=tmp_path,
    )
    assert process.stdout is not None
    address = re.fullmatch(r"http://127\.0\.0\.1:(\d+)/\?token=(\S+)\n", process.stdout.readline())
    assert address is not None, "the address alone is on stdout"
    serving = Serving(process, int(address[1]), address[2], tmp_path)

    async def ask() -> None:
        async with _window(serving, "?width=100&height=30") as window:
            shown = await _until(window, b"meta.properties")
            await window.send_json(["focus"])  # keys are shown to who looks
            shown = await _until(window, b"Verify", shown)
            await window.send_json(["stdin", "e"])
            await window.send_json(["stdin", "q"])
            assert b"Export" not in shown
            await _until_closed(window)

    try:
        asyncio.run(asyncio.wait_for(ask(), PATIENCE_S))
        process.terminate()
        _, complaints = process.communicate(timeout=PATIENCE_S)
    finally:
        process.kill()
        process.communicate()
    assert process.returncode == 0
    assert complaints == "for this machine and whoever has that address; Ctrl-C ends it\n"
    assert list(tmp_path.iterdir()) == [], "no export, and nothing is remembered"


def _is_there(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def _gone(pids: list[int]) -> bool:
    """Whether they all end; a process that was killed may be noticed late."""
    until = time.monotonic() + PATIENCE_S
    while any(map(_is_there, pids)) and time.monotonic() < until:
        time.sleep(0.02)
    return not any(map(_is_there, pids))


@pytest.mark.parametrize("way", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_a_signal_ends_the_server_and_its_dashboards(
    own_serving: Serving, way: signal.Signals
) -> None:
    async def ask() -> None:
        async with _window(own_serving) as window:
            await _until(window, b"hello")
            own_serving.process.send_signal(way)
            await _until_closed(window)

    asyncio.run(asyncio.wait_for(ask(), PATIENCE_S))
    expected = -signal.SIGKILL if way is signal.SIGKILL else 0
    assert own_serving.process.wait(PATIENCE_S) == expected
    assert len(own_serving.pids) == 1
    assert _gone(own_serving.pids)


def test_a_window_that_is_closed_ends_its_dashboard(own_serving: Serving) -> None:
    async def ask() -> None:
        async with _window(own_serving) as window:
            await _until(window, b"hello")

    asyncio.run(asyncio.wait_for(ask(), PATIENCE_S))
    assert own_serving.pids
    assert _gone(own_serving.pids)
    assert own_serving.process.poll() is None


def test_only_so_many_windows(own_serving: Serving) -> None:
    """A page that reloads for ever must not start processes for ever."""

    async def ask() -> int:
        async with _browser(own_serving) as client:
            address = f"{own_serving.base}/ws"
            headers = {"Origin": own_serving.base}
            windows = [await client.ws_connect(address, headers=headers) for _ in range(4)]
            try:
                async with client.get(address, headers=headers) as answer:
                    return answer.status
            finally:
                for window in windows:
                    await window.close()

    assert asyncio.run(asyncio.wait_for(ask(), PATIENCE_S)) == 503


def test_a_port_that_is_taken_is_told_and_not_a_traceback(serving: Serving) -> None:
    code = (
        "from kraftool.commands.watch_serve import run\n"
        "from kraftool.commands.watch_served import Served\n"
        "from kraftool.commands.exit_code import RefusedError\n"
        "try:\n"
        f"    run(Served(arguments=()), {serving.port}, print, print)\n"
        "except RefusedError as error:\n"
        "    print(error.message)\n"
    )
    completed = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert f"127.0.0.1:{serving.port} cannot be listened on" in completed.stdout
    assert completed.stderr == ""


@pytest.mark.parametrize(
    "options", [("--once", "--serve", "1"), ("--serve", "65536"), ("--serve", "somewhere")]
)
def test_serve_and_once_do_not_go_together_and_a_port_is_one(options: tuple[str, ...]) -> None:
    ran = apart("watch", "/no/such/directory", *options)
    assert (ran.code, ran.out) == (2, b"")
    assert "Traceback" not in ran.err


def test_without_textual_serve_it_says_what_to_install() -> None:
    code = (
        "import sys\n"
        "sys.modules['aiohttp'] = None\n"
        "from kraftool.commands.watch_serve import run\n"
        "from kraftool.commands.watch_served import Served\n"
        "from kraftool.commands.exit_code import UsageError\n"
        "try:\n"
        "    run(Served(arguments=()), 0, print, print)\n"
        "except UsageError as error:\n"
        "    print(error.message, error.hint)\n"
    )
    completed = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert completed.stdout.startswith("--serve needs aiohttp, which is not installed")
    assert install_hint("serve") in completed.stdout


def test_a_new_window_begins_with_every_controller_that_is_known() -> None:
    """The one that was named goes; a page that is reloaded then still finds the others."""

    async def run() -> tuple[tuple[str, ...], tuple[str, ...], str]:
        quorum = Quorum(leader=1)
        async with quorum.running():
            target = Target(bootstrap=(quorum.bound[1],), access=Access(timeout_s=10))
            served = Served(program=("kraftool", "watch"), arguments=("--", "DIR"), target=target)
            first = await served.command()
            await quorum.servers[1].close()
            every = ",".join(str(quorum.bound[number]) for number in (1, 2, 3))
            return first, await served.command(), every

    first, second, every = asyncio.run(run())
    expected = ("kraftool", "watch", "--bootstrap-controller", every, "--", "DIR")
    assert (first, second) == (expected, expected)
