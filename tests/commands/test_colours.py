"""When the output has colour: --color first, then NO_COLOR, then FORCE_COLOR, then the terminal."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kraftool.commands.text_console import allows_colour

Run = Callable[..., Any]


@pytest.mark.parametrize(
    ("variables", "on_terminal", "elsewhere"),
    [
        ({}, True, False),
        ({"NO_COLOR": "1"}, False, False),
        ({"NO_COLOR": ""}, True, False),
        ({"TERM": "dumb"}, False, False),
        ({"FORCE_COLOR": "1"}, True, True),
        ({"FORCE_COLOR": "1", "TERM": "dumb"}, True, True),
        ({"FORCE_COLOR": "0"}, True, False),
        ({"FORCE_COLOR": ""}, True, False),
        ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, False, False),
    ],
    ids=str,
)
def test_variables_decide_where_no_option_does(
    variables: dict[str, str],
    on_terminal: bool,
    elsewhere: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert allows_colour(watched=True) is on_terminal
    assert allows_colour(watched=False) is elsewhere


def test_a_pipe_gets_colour_where_it_is_forced_and_an_option_wins(
    kraftool: Run, fixtures_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    directory = fixtures_dir / "kafka-4.3.0/static-single/node-1/data"
    plain = kraftool("dump", directory).text
    monkeypatch.setenv("FORCE_COLOR", "1")
    forced = kraftool("dump", directory).text
    assert "\x1b[" not in plain
    assert "\x1b[" in forced
    assert kraftool("dump", directory, "--color", "never").text == plain
