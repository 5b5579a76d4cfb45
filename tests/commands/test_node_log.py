"""The lines of a running node: what other nodes name is told as text, whatever it is."""

from __future__ import annotations

import json
import logging

import pytest

from kraftool.commands.node_log import handler

NO_UTF8 = "host\udcff.example"


@pytest.mark.parametrize("as_json", [False, True])
@pytest.mark.parametrize("host", [NO_UTF8, f"a {NO_UTF8}", "nul\0", "\x1b[31m", "[red]x[/red]", ""])
def test_a_line_is_told_whatever_is_in_it(host: str, as_json: bool) -> None:
    lines: list[str] = []
    record = logging.LogRecord("n", logging.WARNING, "", 0, "no answer", None, None)
    record.fields = {"endpoint": host, "all": [host], "none": None}
    handler(lines.append, as_json=as_json).emit(record)
    [line] = lines
    if as_json:
        assert json.loads(line)["endpoint"] == host
    else:
        assert " WARNING no answer endpoint=" in line
        assert "none=" not in line
