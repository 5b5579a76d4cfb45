"""The last minute as it is drawn: lags on one scale, and rates."""

from __future__ import annotations

from dataclasses import replace

from kraftool.raft.names import ReplicaKey
from kraftool.watching.picture import QuorumSample
from kraftool.watching.trends import (
    DOWN,
    SLOT_MS,
    SLOTS,
    highest,
    is_steady,
    lag_line,
    lag_trends,
    rate_line,
    rate_trend,
)

_KEY = ReplicaKey(2, "directory")
_NOW = 1_000_000 * SLOT_MS


def _sample(ago_ms: int, end: int | None, mark: int = 0, *, down: bool = False) -> QuorumSample:
    return QuorumSample(
        at_ms=_NOW - ago_ms,
        epoch=5,
        leader_id=1,
        high_watermark=mark,
        leader_end=100,
        ends={} if end is None else {_KEY: end},
        unreached=frozenset({2}) if down else frozenset(),
    )


def test_a_slot_has_the_highest_lag_and_what_is_older_than_a_minute_is_left_out() -> None:
    samples = [
        _sample(120_000, 0),
        _sample(SLOT_MS * 2, 90), _sample(SLOT_MS * 2 - 1, 60), _sample(SLOT_MS * 2 - 2, 95),
        _sample(SLOT_MS, None),
        _sample(0, 100),
    ]  # fmt: skip
    trend = lag_trends(samples, _NOW, [_KEY])[_KEY]
    assert len(trend) == SLOTS
    assert trend[-3:] == (40, None, 0)
    assert {*trend[:-3]} == {None}


def test_a_node_that_was_down_is_drawn_as_such_whatever_its_leader_knew() -> None:
    samples = [_sample(SLOT_MS, 90), _sample(1000, 90, down=True), _sample(0, 90, down=True)]
    trend = lag_trends(samples, _NOW, [_KEY])[_KEY]
    assert trend[-2:] == (DOWN, DOWN)
    assert lag_line(trend, 10).endswith(" xx")


def test_a_node_that_is_down_while_no_node_leads_is_drawn_as_down() -> None:
    leaderless = replace(_sample(0, None, down=True), leader_id=None, leader_end=None)
    trend = lag_trends([_sample(SLOT_MS, 90), leaderless], _NOW, [_KEY])[_KEY]
    assert trend[-2:] == (10, DOWN)


def test_lags_share_a_scale_and_a_small_one_is_small() -> None:
    assert lag_line((0, 1, 0), 1) == "▁▂▁ max 1", "of ten at least"
    assert lag_line((0, 50, 100), 100) == "▁▅█ max 100"
    assert lag_line((None, None), 100) == ""
    assert highest([(None, DOWN, 3), (7,)]) == 7


def test_a_narrow_drawing_keeps_the_worst_of_what_it_puts_together() -> None:
    trend = (0, 0, 70, 0, DOWN, 0, None, None)
    assert lag_line(trend, 70, 4) == "▁█x  max 70"


def test_a_constant_rate_is_steady_and_a_burst_is_drawn() -> None:
    steady = [_sample((20 - number) * 1000, 0, number * 2) for number in range(20)]
    assert is_steady(rate_trend(steady, _NOW))
    burst = [*steady, _sample(0, 0, 400)]
    rates = rate_trend(burst, _NOW)
    assert not is_steady(rates)
    assert rate_line(rates).endswith("▂▂█")
    assert is_steady(()), "nothing to draw"


def test_a_rate_that_fell_to_nothing_is_not_steady() -> None:
    samples = [_sample((20 - number) * 1000, 0, min(number, 10) * 2) for number in range(20)]
    assert not is_steady(rate_trend(samples, _NOW))
