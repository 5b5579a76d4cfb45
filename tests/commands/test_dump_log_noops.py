"""Runs of no-ops in dump-log's table: one line each, and nothing that --head and --tail count."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.commands.dumped_logs import Run

_LINE = re.compile(r"^ *(\d+)  \S+ +\d+ +(?:[─┌│└]. (\w+)|⋯ ([\d,]+) no-ops)", re.MULTILINE)


@pytest.fixture
def idle(fixtures_dir: Path) -> Path:
    """A leader of real Kafka that wrote 78 no-ops in a row."""
    return fixtures_dir / "kafka-4.3.0/slow-follower/node-1/data"


def _lines(text: str) -> list[tuple[int, str]]:
    """Offset, and the record's type or the number of no-ops."""
    return [
        (int(at), name.lower() or count.replace(",", "")) for at, name, count in _LINE.findall(text)
    ]


def _records(kraftool: Run, path: Path) -> list[tuple[int, str]]:
    """Offset and type of each record, as -o jsonl has them."""
    lines = kraftool("dump-log", "-o", "jsonl", path).out.splitlines()
    return [
        (record["offset"], record["type"].lower().replace("_", ""))
        for record in map(json.loads, lines)
        if record["kind"] == "record"
    ]


def test_a_table_has_every_record_or_a_line_for_its_run(idle: Path, kraftool: Run) -> None:
    records = _records(kraftool, idle)
    shown: list[tuple[int, str]] = []
    for offset, words in _lines(kraftool("dump-log", idle).text):
        count = int(words) if words.isdecimal() else 1
        name = "nooprecord" if words.isdecimal() else words
        shown += [(offset + number, name) for number in range(count)]
    assert shown == records
    assert "⋯ 78 no-ops, 3.1 s" in kraftool("dump-log", idle).text
    assert _lines(kraftool("dump-log", "--noops", "show", idle).text) == records


def test_head_and_tail_count_what_happened(idle: Path, kraftool: Run) -> None:
    assert "no-ops," in kraftool("dump-log", "--tail", "4", idle).text
    events = [record for record in _records(kraftool, idle) if record[1] != "nooprecord"]
    for option, wanted in (("--tail", events[-4:]), ("--head", events[:4])):
        ran = kraftool("dump-log", option, "4", idle)
        shown = [line for line in _lines(ran.text) if not line[1].isdecimal()]
        assert [line for line in shown if line[1] != "nooprecord"] == wanted, option
        has_run = "no-ops," in ran.text
        assert ("no-ops are folded and not counted" in ran.err) == has_run, option
        ran = kraftool("dump-log", option, "4", "--noops", "show", idle)
        assert len(_lines(ran.text)) == 4
        assert "folded" not in ran.err


@pytest.mark.parametrize("form", ["csv", "json", "jsonl", "kafka"])
def test_no_machine_format_folds(form: str, idle: Path, kraftool: Run) -> None:
    folded = kraftool("dump-log", "-o", form, "--noops", "fold", "--tail", "100", idle).out
    assert folded == kraftool("dump-log", "-o", form, "--noops", "show", "--tail", "100", idle).out
    assert folded.count(b"no-ops,") == 0


def test_no_ops_that_are_asked_for_by_name_are_shown(idle: Path, kraftool: Run) -> None:
    lines = _lines(kraftool("dump-log", "--type", "NoOpRecord", "--tail", "7", idle).text)
    assert [name for _, name in lines] == ["nooprecord"] * 7
