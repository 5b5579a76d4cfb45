"""The last minute in slots of three seconds: each replica's lag, and how fast records commit.

Owns the slots and how they are drawn. Slots begin at multiples of their length, so that what was
drawn moves to the left and keeps its shape.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

from kraftool.raft.names import ReplicaKey
from kraftool.watching.picture import QuorumSample

SLOTS = 20
SLOT_MS = 3_000
SPAN_S = SLOTS * SLOT_MS // 1000
DOWN = -1
"""In place of the lag of a node that did not answer."""
_BARS = "▁▂▃▄▅▆▇█"
_LEAST_TOP = 10
"""A lag of one or two records is no tower."""
_STEADY = 0.5
"""Rates that differ from the middle one by less than this share of it are steady."""

Trend = tuple[int | None, ...]
"""A lag for each slot, the oldest first: DOWN if it did not answer, None if it is unknown."""


def _slot(at_ms: int, now_ms: int) -> int:
    return SLOTS - 1 - (now_ms // SLOT_MS - at_ms // SLOT_MS)


def lag_trends(
    samples: Sequence[QuorumSample], now_ms: int, replicas: Iterable[ReplicaKey]
) -> Mapping[ReplicaKey, Trend]:
    """Return the highest lag of each slot, for each replica."""
    recent = [
        (slot, sample) for sample in samples if 0 <= (slot := _slot(sample.at_ms, now_ms)) < SLOTS
    ]
    return {key: _lags(recent, key) for key in replicas}


def _lags(recent: Sequence[tuple[int, QuorumSample]], key: ReplicaKey) -> Trend:
    trend: list[int | None] = [None] * SLOTS
    for slot, sample in recent:
        end, before = sample.ends.get(key), trend[slot]
        if key.id in sample.unreached:
            trend[slot] = DOWN
        elif end is not None and sample.leader_end is not None and before != DOWN:
            trend[slot] = max(sample.leader_end - end, before or 0, 0)
    return tuple(trend)


def rate_trend(samples: Sequence[QuorumSample], now_ms: int) -> tuple[float | None, ...]:
    """Return the records committed a second in each slot; None where that is unknown."""
    records, spans = [0] * SLOTS, [0] * SLOTS
    for before, now in pairwise(samples):
        slot = _slot(now.at_ms, now_ms)
        if not 0 <= slot < SLOTS or before.high_watermark is None or now.high_watermark is None:
            continue
        records[slot] += max(now.high_watermark - before.high_watermark, 0)
        spans[slot] += now.at_ms - before.at_ms
    return tuple(
        count * 1000 / span if span > 0 else None
        for count, span in zip(records, spans, strict=True)
    )


def highest(trends: Iterable[Trend]) -> int:
    """Return the top of the scale that several lags are drawn on."""
    return max((lag for trend in trends for lag in trend if lag is not None and lag > 0), default=0)


def lag_line(trend: Trend, top: int, width: int = SLOTS) -> str:
    """Draw a lag: `x` where the replica was down, a gap where nothing is known."""
    if not any(lag is not None for lag in trend):
        return ""
    bars = "".join(
        " " if lag is None else "x" if lag == DOWN else _bar(lag, max(top, _LEAST_TOP))
        for lag in _narrowed(trend, width)
    )
    peak = highest([trend])
    return f"{bars} max {peak:,}" if peak else bars


def _narrowed(trend: Trend, width: int) -> Trend:
    """Return fewer slots: each has the worst of those that it stands for."""
    if width >= len(trend):
        return trend
    step = -(-len(trend) // width)
    first = len(trend) % step
    groups = [trend[:first]] if first else []
    groups += [trend[at : at + step] for at in range(first, len(trend), step)]
    return tuple(map(_worst, groups))


def _worst(lags: Trend) -> int | None:
    known = [lag for lag in lags if lag is not None]
    if not known:
        return None
    return DOWN if DOWN in known else max(known)


def is_steady(rates: Sequence[float | None]) -> bool:
    """True if the rate hardly changed, so that a drawing of it is not worth its room."""
    known = sorted(rate for rate in rates if rate is not None)
    if not known:
        return True
    middle = known[len(known) // 2]
    return known[-1] - middle <= _STEADY * middle and middle - known[0] <= _STEADY * middle


def rate_line(rates: Sequence[float | None]) -> str:
    """Draw a rate from zero to its highest value."""
    top = max((rate for rate in rates if rate is not None), default=0.0)
    drawn = "".join(" " if rate is None else _bar(rate, top) for rate in rates)
    return drawn.strip()


def _bar(value: float, top: float) -> str:
    if value <= 0 or top <= 0:
        return _BARS[0]
    return _BARS[min(max(-int(-value * (len(_BARS) - 1) // top), 1), len(_BARS) - 1)]
