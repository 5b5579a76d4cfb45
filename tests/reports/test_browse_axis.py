"""Where events fall on a time axis, at any zoom."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from kraftool.reports.browse.time_axis import SHORTEST_MS, TimeAxis, TimeSpan
from kraftool.reports.findings.finding import Severity
from kraftool.reports.timeline.events import Category, Event


def event(time: int | None, category: Category = Category.ELECTIONS) -> Event:
    return Event(category=category, type="any", offset=0, what="it", timestamp=time)


times = st.lists(st.integers(0, 10**6), min_size=1, max_size=40)


@given(times, st.integers(1, 200))
def test_every_event_is_drawn_once_when_all_is_seen(moments: list[int], width: int) -> None:
    axis = TimeAxis([event(moment) for moment in moments])
    cells = axis.cells(axis.whole, width)
    drawn = [cell for lane in cells.values() for cell in lane.values()]
    assert sum(cell.count for cell in drawn) == len(moments)
    assert all(0 <= column < width for lane in cells.values() for column in lane)


@given(times, st.lists(st.sampled_from(["in", "out", "on", "back"]), max_size=20), st.data())
def test_whatever_the_keys_what_is_seen_stays_within_the_whole(
    moments: list[int], keys: list[str], data: st.DataObject
) -> None:
    axis = TimeAxis([event(moment) for moment in moments])
    span = axis.whole
    for key in keys:
        here = data.draw(st.sampled_from(moments))
        if key in ("in", "out"):
            span = axis.zoomed(span, here, 1 if key == "in" else -1)
        else:
            span = axis.moved(span, 0.25 if key == "on" else -0.25)
        assert axis.whole.first <= span.first < span.last <= axis.whole.last
        assert span.width >= min(SHORTEST_MS, axis.whole.width)
        shown = axis.showing(span, here)
        assert shown.first <= here <= shown.last
        assert shown.width == span.width


def test_zooming_keeps_what_is_under_the_cursor_in_its_column() -> None:
    axis = TimeAxis([event(moment) for moment in (0, 600_000, 1_000_000)])
    span = axis.zoomed(axis.whole, 600_000, 1)
    assert span.width == 500_000
    assert axis.column(600_000, axis.whole, 100) == axis.column(600_000, span, 100) == 60
    assert axis.column(0, span, 100) is None


def test_an_event_without_a_time_stands_at_that_of_the_one_before_it() -> None:
    axis = TimeAxis([event(None), event(500), event(None), event(900)])
    assert axis.times == [500, 500, 500, 900]


def test_a_column_shows_the_worst_of_what_happened_in_it() -> None:
    bad = replace(event(5), severity=Severity.ERROR)
    good = replace(event(5), good=True)
    axis = TimeAxis([good, bad, event(1000)])
    cell = axis.cells(axis.whole, 4)[Category.ELECTIONS][0]
    assert (cell.count, cell.severity, cell.good) == (2, Severity.ERROR, False)
    assert axis.seen(TimeSpan(0, 10)) == 2


def test_only_lanes_with_events_are_there() -> None:
    axis = TimeAxis([event(1, Category.DAMAGE), event(2, Category.VOTERS)])
    assert axis.lanes == (Category.VOTERS, Category.DAMAGE)
    assert TimeAxis([]).lanes == ()
