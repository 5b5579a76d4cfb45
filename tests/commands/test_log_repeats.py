"""Repeated lines: the first at once, then a count for each interval, whoever causes them."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Hashable
from typing import Any

from kraftool.commands.log_repeats import Repeats
from kraftool.commands.node_log import handler
from kraftool.net.lines import Limit
from kraftool.net.security import ServerSecurity
from tests.net.serving import answer_to, serving


def _record(text: str = "no answer", *, key: Hashable = None, burst: int = 1) -> logging.LogRecord:
    record = logging.LogRecord("n", logging.WARNING, "", 0, text, None, None)
    record.fields, record.limit = {"key": str(key)}, Limit(key=key, burst=burst)
    return record


def _written(repeats: Repeats, record: logging.LogRecord, now_s: float) -> list[dict[str, Any]]:
    return [vars(log_record)["fields"] for log_record in repeats.take(record, now_s)]


def test_the_first_is_written_at_once_and_the_others_are_counted() -> None:
    repeats = Repeats(60)
    assert _written(repeats, _record(key="a"), 0) == [{"key": "a"}]
    assert not any(_written(repeats, _record(key="a"), second / 10) for second in range(1, 121))
    [count] = [vars(record)["fields"] for record in repeats.due(60)]
    assert count == {"key": "a", "repeated": 120, "withinSeconds": 60}
    assert not _written(repeats, _record(key="a"), 61), "it still repeats"
    assert [vars(record)["fields"]["repeated"] for record in repeats.due(120)] == [1]
    assert not list(repeats.due(180))
    assert _written(repeats, _record(key="a"), 181) == [{"key": "a"}], "it is new again"


def test_a_burst_is_written_before_anything_is_counted() -> None:
    repeats = Repeats(60)
    written = [_written(repeats, _record("Follower", burst=30), 0) for _ in range(100)]
    assert sum(map(len, written)) == 30
    assert [vars(record)["fields"]["repeated"] for record in repeats.close()] == [70]


def test_other_keys_and_lines_without_a_limit_are_not_held_back() -> None:
    repeats = Repeats(60)
    for key in ("a", "b"):
        assert _written(repeats, _record(key=key), 0)
    assert _written(repeats, _record("another text", key="a"), 0)
    plain = logging.LogRecord("n", logging.INFO, "", 0, "plain", None, None)
    assert all(list(repeats.take(plain, 0)) == [plain] for _ in range(5))


def test_a_peer_that_chooses_keys_makes_a_bounded_number_of_lines() -> None:
    repeats = Repeats(60)
    written = [_written(repeats, _record(key=number), 0) for number in range(10_000)]
    assert sum(map(len, written)) == 101, "100 by themselves, the rest together"
    assert len(list(repeats.due(60))) == 1
    assert not list(repeats.due(120))
    assert _written(repeats, _record(key="later"), 121) == [{"key": "later"}]


def test_a_count_is_written_although_no_other_line_comes() -> None:
    lines: list[str] = []

    async def run() -> None:
        log_handler = handler(lines.append, as_json=True, repeats=Repeats(0.2))
        for _ in range(3):
            log_handler.handle(_record())
        assert len(lines) == 1
        async with asyncio.timeout(20):
            while len(lines) < 2:
                await asyncio.sleep(0.01)
        log_handler.finish()

    asyncio.run(run())
    assert [json.loads(line).get("repeated") for line in lines] == [None, 2]


def test_a_flood_of_bad_connections_is_a_line_and_a_count() -> None:
    lines: list[str] = []
    log_handler = handler(lines.append, as_json=True)
    logger = logging.getLogger("kraftool.net")
    before = logger.level, logger.propagate
    logger.addHandler(log_handler)
    logger.setLevel(logging.INFO)
    logger.propagate = False

    async def run() -> None:
        async with serving(security=ServerSecurity()) as (_, at):
            for _ in range(3):
                await asyncio.gather(*(answer_to(at, b"\xff\xff\xff\xff") for _ in range(20)))

    try:
        asyncio.run(run())
    finally:
        log_handler.finish()
        logger.removeHandler(log_handler)
        logger.level, logger.propagate = before
    first, count = map(json.loads, lines)
    assert (first["listener"], first["level"]) == ("CONTROLLER", "INFO")
    assert first["address"].startswith("127.0.0.1:")
    assert "a frame of -1 bytes" in first["reason"]
    assert count["repeated"] == 59
