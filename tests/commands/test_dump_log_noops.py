"""Runs of no-ops in dump-log's table: one line each, and nothing that --head and --tail count."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from kraftool.decoders.batch import encode_batch
from kraftool.decoders.framing import encode_record
from tests.commands.dumped_logs import Run
from tests.support.places import LOG

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


def _no_op(offset: int, *, late_ms: int = 0) -> bytes:
    record, at_ms = encode_record("NoOpRecord", 0, {}), offset * 500 + late_ms
    return encode_batch([(None, record)], base_offset=offset, epoch=1, timestamp=at_ms)


def test_the_note_comes_with_every_no_op_that_is_not_counted(tmp_path: Path, kraftool: Run) -> None:
    """A single no-op is no run, and does not count either; what --tail leaves out is not shown."""
    topic = encode_record("TopicRecord", 0, {"name": "a"})
    topics = [encode_batch([(None, topic)], base_offset=at, epoch=1, timestamp=at) for at in (2, 4)]
    path = tmp_path / LOG
    path.write_bytes(_no_op(0) + _no_op(1) + topics[0] + _no_op(3) + topics[1])
    for count, offsets in ((2, [2, 3, 4]), (1, [4])):
        ran = kraftool("dump-log", "--tail", count, path)
        assert [at for at, _ in _lines(ran.text)] == offsets
        assert ("no-ops are folded and not counted" in ran.err) == (3 in offsets)


def test_a_run_in_a_transaction_has_its_mark(tmp_path: Path, kraftool: Run) -> None:
    names = ["BeginTransactionRecord", "NoOpRecord", "NoOpRecord", "AbortTransactionRecord"]
    data = b""
    for offset, name in enumerate(names):
        record = encode_record(name, 0, {})
        data += encode_batch([(None, record)], base_offset=offset, epoch=1, timestamp=1)
    path = tmp_path / LOG
    path.write_bytes(data)
    assert "✗ ⋯ 2 no-ops" in kraftool("dump-log", "--transactions", "mark", path).text
    assert "  ⋯ 2 no-ops" in kraftool("dump-log", path).text


def test_a_run_that_is_followed_does_not_go_on_beyond_a_truncation(
    tmp_path: Path, kraftool: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / LOG
    path.write_bytes(_no_op(0))

    def append(*offsets: int, late_ms: int = 0) -> None:
        with path.open("ab") as file:
            file.write(b"".join(_no_op(offset, late_ms=late_ms) for offset in offsets))

    def cut() -> None:
        with path.open("r+b") as file:
            file.truncate(len(_no_op(0) + _no_op(1)))
        append(2, 3, late_ms=1)

    looks: list[Callable[[], None]] = [
        partial(append, 1, 2),
        partial(append, 3, 4),
        cut,
        lambda: None,
    ]
    steps = iter(looks)

    def wait(_: float) -> None:
        step = next(steps, None)
        if step is None:
            raise KeyboardInterrupt
        step()

    monkeypatch.setattr("kraftool.commands.log_follow.time.sleep", wait)
    ran = kraftool("dump-log", "--follow", path)
    assert "truncated to position" in ran.err
    assert _lines(ran.text) == [(0, "nooprecord"), (1, "4"), (2, "2")]
