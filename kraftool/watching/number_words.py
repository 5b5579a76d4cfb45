"""Numbers as people read them: ages, counts, times of the day.

Owns their form.
"""

from __future__ import annotations

from kraftool.reports.text.times import utc


def age(ms: int | None) -> str:
    """Return a span in two or three digits and a unit."""
    if ms is None:
        return "-"
    ms = max(ms, 0)  # Clocks of two machines differ.
    if ms < 1_000:
        return f"{ms} ms"
    for unit, size in (("s", 1_000), ("min", 60_000), ("h", 3_600_000)):
        if ms < size * (60 if unit != "h" else 48):
            value = ms / size
            return f"{value:.1f} {unit}" if value < 10 else f"{value:.0f} {unit}"
    return f"{ms // 86_400_000} d"


def count(value: int | None) -> str:
    """A number with its thousands apart; a question mark for what is not known."""
    return "?" if value is None else f"{value:,}"


def clock(ms: int, now_ms: int) -> str:
    """A time of the day, UTC; with the date where that was another day."""
    form = "%H:%M:%SZ" if abs(now_ms - ms) < 86_400_000 else "%Y-%m-%d %H:%M:%SZ"
    return utc(ms, form)
