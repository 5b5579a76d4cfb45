"""No secret comes out of any view of the dashboard, of what it exports, or of what it copies.

The passwords, salts and tokens in these directories hold CANARY, or come from what does.
"""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from types import SimpleNamespace

import pytest
from textual.pilot import Pilot

from kraftool.reports.text.csv_text import csv_text
from kraftool.tui.app import WatchApp
from kraftool.tui.views import VIEWS
from kraftool.watching.sources import Sources
from kraftool.watching.watcher import Watcher
from tests.commands.test_secrets import assert_no_secret
from tests.tui.screens import screen

pytestmark = [pytest.mark.tui, pytest.mark.slow]
SCENARIO = "kafka-4.3.0/static-single"


async def _settled(app: WatchApp, pilot: Pilot[None]) -> None:
    """Until the view's own work is done."""
    while app.picture is None or any(
        not worker.is_finished for worker in app.workers if worker.name != "watcher"
    ):
        await pilot.pause(0.02)
    await pilot.pause()


@pytest.mark.parametrize("name", [view.name for view in VIEWS])
def test_no_view_shows_a_secret(name: str, fixtures_dir: Path) -> None:
    directory = str(fixtures_dir / SCENARIO / "node-1/data")

    async def run() -> list[str]:
        app = WatchApp(
            Watcher(Sources(directories=(directory,)), interval_s=60), view=name, environment={}
        )
        outputs = []
        async with app.run_test(size=(200, 120)) as pilot:
            await _settled(app, pilot)
            for keys in ((), ("G",), ("enter",), ("y",)):
                await pilot.press(*keys)
                await _settled(app, pilot)
                outputs += [app.export_screenshot(), screen(app)]
            assert app.seen is not None
            outputs += [json.dumps(app.seen.as_json(), default=str), csv_text(app.seen.as_rows())]
            outputs.append(app.clipboard)
        return outputs

    outputs = asyncio.run(run())
    ran = SimpleNamespace(out="\n".join(outputs).encode(), err="", code=0)
    assert_no_secret(SCENARIO, ran, name)
