"""The dashboard as a browser shows it: headless Chromium opens the address that is printed.

What it draws is a picture; that it is the right one is seen in what the page was sent, and by
whoever looks at the screenshot, which lies in the folder that is printed. Chromium is driven over
its own protocol, so that nothing has to be installed but Debian's package.
"""

from __future__ import annotations

import asyncio
import base64
import itertools
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

aiohttp = pytest.importorskip("aiohttp")
pytest.importorskip("textual_serve")

pytestmark = [pytest.mark.tui, pytest.mark.soak]

_ROOT = Path(__file__).resolve().parents[2]
_LIMIT_S = 90


@pytest.fixture(scope="module")
def chromium() -> str:
    program = shutil.which("chromium") or shutil.which("google-chrome")
    if program is None:
        pytest.skip("needs a browser: apt-get install chromium")
    return program


@contextmanager
def _serving(*arguments: str) -> Iterator[str]:
    """The address of `kraftool watch --serve`."""
    process = subprocess.Popen(
        [sys.executable, "-m", "kraftool", "watch", "--serve", "0", *arguments],
        stdout=subprocess.PIPE,
        text=True,
        cwd=_ROOT,
    )
    assert process.stdout is not None
    try:
        yield process.stdout.readline().strip()
    finally:
        process.terminate()
        assert process.wait(30) == 0
        process.stdout.close()


@contextmanager
def _browser(chromium: str, folder: Path) -> Iterator[str]:
    """The address of a browser's own protocol."""
    process = subprocess.Popen(
        [
            chromium, "--headless", "--no-sandbox", "--disable-gpu", "--enable-unsafe-swiftshader",
            "--hide-scrollbars", "--window-size=1200,720", "--remote-debugging-port=0",
            f"--user-data-dir={folder}", "about:blank",
        ],
        stderr=subprocess.PIPE,
        text=True,
    )  # fmt: skip
    assert process.stderr is not None
    try:
        for line in process.stderr:
            if match := re.search(r"DevTools listening on ws://([^/]+)/", line):
                yield f"http://{match[1]}"
                break
        else:
            pytest.fail("the browser did not begin")
    finally:
        process.kill()
        process.wait()
        process.stderr.close()


class Page:
    """A tab of the browser, and what it has told."""

    def __init__(self, socket: Any) -> None:
        self._socket = socket
        self._numbers = itertools.count(1)
        self.requested: list[str] = []
        self.complaints: list[str] = []
        self.received = b""

    async def call(self, method: str, **parameters: object) -> dict[str, Any]:
        number = next(self._numbers)
        await self._socket.send_json({"id": number, "method": method, "params": parameters})
        while (message := await self._next()).get("id") != number:
            pass
        assert "error" not in message, message
        result: dict[str, Any] = message["result"]
        return result

    async def until(self, wanted: bytes) -> None:
        """Wait until the page was sent this."""
        while wanted not in self.received:
            await self._next()

    async def _next(self) -> dict[str, Any]:
        message: dict[str, Any] = await self._socket.receive_json()
        parameters = message.get("params", {})
        match message.get("method"):
            case "Network.requestWillBeSent":
                self.requested.append(parameters["request"]["url"])
            case "Network.webSocketCreated":
                self.requested.append(parameters["url"])
            case "Network.webSocketFrameReceived" if parameters["response"]["opcode"] == 2:
                self.received += base64.b64decode(parameters["response"]["payloadData"])
            case "Log.entryAdded" if parameters["entry"]["level"] == "error":
                self.complaints.append(parameters["entry"]["text"])
            case "Runtime.exceptionThrown":
                self.complaints.append(str(parameters["exceptionDetails"]))
        return message

    async def picture(self) -> bytes:
        answer = await self.call("Page.captureScreenshot", format="png")
        return base64.b64decode(answer["data"])

    async def key(self, text: str) -> None:
        for kind in ("keyDown", "keyUp"):
            more = {"text": text} if kind == "keyDown" else {}
            await self.call("Input.dispatchKeyEvent", type=kind, key=text, **more)


async def _look(browser: str, address: str, folder: Path) -> Page:
    async with aiohttp.ClientSession() as client:
        async with client.put(f"{browser}/json/new?about:blank") as answer:
            where = (await answer.json(content_type=None))["webSocketDebuggerUrl"]
        async with client.ws_connect(where, max_msg_size=0) as socket:
            page = Page(socket)
            for domain in ("Page", "Network", "Log", "Runtime"):
                await page.call(f"{domain}.enable")
            await page.call("Page.navigate", url=address)
            await page.until(b"meta.properties")
            await asyncio.sleep(1)  # for the picture alone: a frame of the browser
            (folder / "files.png").write_bytes(await page.picture())
            await page.key("?")
            await page.until(b"verifies")
            await asyncio.sleep(1)
            (folder / "help.png").write_bytes(await page.picture())
            return page


def test_a_browser_shows_the_dashboard_and_fetches_nothing_from_elsewhere(
    chromium: str, fixtures_dir: Path, tmp_path: Path
) -> None:
    directory = fixtures_dir / "kafka-4.3.0" / "dynamic-quorum" / "node-2" / "data"
    with (
        _serving("--view", "files", str(directory)) as address,
        _browser(chromium, tmp_path / "profile") as browser,
    ):
        page = asyncio.run(asyncio.wait_for(_look(browser, address, tmp_path), _LIMIT_S))
    print(f"screenshots: {tmp_path}")
    own = address.partition("/?")[0]
    elsewhere = [
        url
        for url in page.requested
        if not url.startswith((own, own.replace("http:", "ws:"), "data:", "about:"))
    ]
    assert elsewhere == []
    assert f"{own}/static/textual.js" in page.requested
    assert page.complaints == []
    pictures = [tmp_path / "files.png", tmp_path / "help.png"]
    assert all(picture.stat().st_size > 20_000 for picture in pictures), "an empty page is smaller"
