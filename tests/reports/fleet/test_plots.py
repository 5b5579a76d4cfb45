"""Plots: bars are as long as the numbers say, and nothing is hidden by an outlier or a gap."""

from __future__ import annotations

import math
from xml.etree import ElementTree as ET

import pytest

from kraftool.reports.fleet.page_plots import AGES, COUNTS, SIZES
from kraftool.reports.fleet.plots import (
    LOGARITHMIC,
    Bar,
    BarPart,
    Figure,
    Lane,
    SideRange,
    Stack,
    bars,
    days,
    histogram,
    lanes,
    stacked,
)

PARTS = (BarPart("Error", "✕"), BarPart("Warning", "▲"), BarPart("Info", "●"))


def parsed(figure: Figure) -> ET.Element:
    """The SVG as XML, which it has to be, with a name for those who cannot see it."""
    svg = ET.fromstring(figure.svg)
    assert svg.get("role") == "img"
    assert svg[0].tag == "title"
    assert svg[0].text
    return svg


def widths(figure: Figure, kind: str) -> list[float]:
    return [
        float(str(rect.get("width")).rstrip("%"))
        for rect in parsed(figure).iter("rect")
        if rect.get("class") == kind
    ]


def texts(figure: Figure) -> list[str]:
    return [element.text or "" for element in parsed(figure).iter("text") if element.text]


def bar(label: str, value: float | None) -> Bar:
    return Bar(label, value, "unknown" if value is None else f"{value:g}")


def test_bars_are_in_proportion_to_their_values() -> None:
    drawn = bars("Sizes", ("Cluster", "Size"), [bar("a", 100), bar("b", 50), bar("c", 25)])
    assert widths(drawn, "plain") == [100, 50, 25]
    assert drawn.rows == (("a", "100"), ("b", "50"), ("c", "25"))
    assert not drawn.notes


def test_a_value_of_zero_and_one_that_is_not_known_have_no_bar_but_their_row() -> None:
    drawn = bars("Lag", ("Cluster", "Lag"), [bar("a", 4), bar("b", 0), bar("c", None)])
    assert widths(drawn, "plain") == [100]
    assert len(widths(drawn, "track")) == 3
    assert drawn.rows[1:] == (("b", "0"), ("c", "unknown"))


def test_an_enormous_value_leaves_the_others_visible_and_the_scale_is_told() -> None:
    rows = [bar(str(number), 10 + number) for number in range(20)] + [bar("far", 10**15)]
    drawn = bars("Lag", ("Cluster", "Lag"), rows)
    bar_widths = widths(drawn, "plain")
    assert max(bar_widths) == 100
    assert min(bar_widths) > 5
    assert bar_widths[:20] == sorted(bar_widths[:20]), "more is still longer"
    assert LOGARITHMIC in drawn.notes


@pytest.mark.parametrize("value", [math.inf, math.nan, -5.0, 1e308])
def test_no_number_makes_a_bar_that_is_no_length(value: float) -> None:
    drawn = bars("Age", ("Cluster", "Age"), [bar("odd", value), bar("b", 2), bar("c", 3)])
    assert all(0 <= width <= 100 for width in widths(drawn, "plain"))


def test_nothing_is_drawn_of_nothing() -> None:
    for drawn in (
        bars("x", ("a", "b"), []),
        stacked("x", "a", PARTS, []),
        histogram("x", ("a", "b"), [], COUNTS),
        days("x", ("a", "b"), []),
        lanes("x", ("a", "b", "c"), []),
    ):
        assert drawn.is_empty
        assert drawn.svg == ""


def test_parts_of_a_stack_add_up_and_differ_without_their_colour() -> None:
    rows = [Stack("a", (6, 3, 1)), Stack("b", (0, 5, 0)), Stack("c", (0, 0, 0))]
    drawn = stacked("Findings", "Cluster", PARTS, rows)
    assert widths(drawn, "error") == [60]
    assert widths(drawn, "warning") == [30, 50]
    assert widths(drawn, "info") == [10]
    heights = {
        rect.get("class"): float(str(rect.get("height"))) for rect in parsed(drawn).iter("rect")
    }
    assert heights["error"] > heights["warning"] > heights["info"]
    assert "✕ 6  ▲ 3  ● 1" in texts(drawn)
    assert drawn.rows == (("a", "6", "3", "1"), ("b", "0", "5", "0"), ("c", "0", "0", "0"))


def test_every_value_is_in_one_bin_of_a_histogram() -> None:
    values: list[float | None] = [0, 0, 1, 2, 4, 5, 9, 10, 99, 100, 10**9, -3, None, math.nan]
    drawn = histogram("Lag", ("Offsets", "Clusters"), values, COUNTS)
    by_bin = {label: int(many) for label, many in drawn.rows}
    assert sum(by_bin.values()) == len(values)
    assert by_bin["below 0"] == 1
    assert by_bin["0"] == 2
    assert by_bin["1"] == 1
    assert by_bin["2 to 4"] == 2
    assert by_bin["5 to 9"] == 2
    assert by_bin["10 to 99"] == 2
    assert by_bin["1M and up"] == 1
    assert by_bin["not known"] == 2


def test_bins_at_the_ends_that_are_empty_are_left_out_and_those_between_are_not() -> None:
    drawn = histogram("Lag", ("Offsets", "Clusters"), [1, 50], COUNTS)
    assert [label for label, _ in drawn.rows] == ["1", "2 to 4", "5 to 9", "10 to 99"]


@pytest.mark.parametrize("bins", [COUNTS, SIZES, AGES])
def test_every_bin_has_a_label_and_edges_rise(bins: object) -> None:
    assert isinstance(bins, type(COUNTS))
    assert len(bins.edges) == len(bins.labels)
    assert list(bins.edges) == sorted(set(bins.edges))


def test_a_thousand_values_are_counted() -> None:
    drawn = histogram(
        "Lag", ("Offsets", "Clusters"), [float(number) for number in range(1000)], COUNTS
    )
    assert sum(int(many.replace(",", "")) for _, many in drawn.rows) == 1000
    assert len(drawn.svg) < 5000


def test_days_are_columns_from_the_first_to_the_last() -> None:
    drawn = days("Elections", ("Day", "Elections"), [("2026-01-01", 2), ("2026-01-02", 8)])
    heights = [
        float(str(rect.get("height")))
        for rect in parsed(drawn).iter("rect")
        if rect.get("class") == "plain"
    ]
    assert heights[0] * 4 == heights[1]
    assert texts(drawn)[-2:] == ["2026-01-01", "2026-01-02"]


def test_a_lane_goes_from_start_to_end_and_marks_what_differs() -> None:
    drawn = lanes(
        "Logs",
        ("Node", "Offsets", "Differs at"),
        [
            Lane("node 1", 0, 100, "0 to 100", (SideRange(50, 59, 0),)),
            Lane("node 2", 50, 100, "50 to 100", (SideRange(50, 59, 1),)),
            Lane("node 3", None, None, "nothing"),
        ],
    )
    assert widths(drawn, "info") == [100, 50]
    marks = [rect for rect in parsed(drawn).iter("rect") if rect.get("x") == "50.00%"]
    assert [mark.get("width") for mark in marks if mark.get("class") != "info"] == ["10.00%"] * 2
    assert len({mark.get("class") for mark in marks if mark.get("class") != "info"}) == 2
    assert drawn.rows[0] == ("node 1", "0 to 100", "50..59")


def test_a_range_of_one_offset_in_a_huge_log_is_still_seen_and_inside() -> None:
    lane = Lane("node 1", 0, 10**12, "all", (SideRange(10**12 - 1, 10**12 - 1, 1),))
    drawn = lanes("Logs", ("Node", "Offsets", "Differs at"), [lane])
    mark = next(rect for rect in parsed(drawn).iter("rect") if rect.get("class") == "warning")
    start, width = (float(str(mark.get(name)).rstrip("%")) for name in ("x", "width"))
    assert width >= 0.5
    assert start + width <= 100.01


def test_labels_from_data_are_text_and_their_middle_is_left_out_where_they_are_long() -> None:
    name = '<script>"&\x1b[31m\u202e' + "x" * 60 + "end"
    drawn = bars(name, ("Cluster", "Lag"), [bar(name, 1)])
    assert "<script" not in drawn.svg
    shown = next(text_element for text_element in parsed(drawn).iter("text"))
    whole = next(shown.iter("title")).text or ""
    assert whole.startswith('<script>"&\\u001b[31m\\u202exxx')
    assert whole.endswith("end")
    label = next(shown.iter("title")).tail or ""
    assert len(label) <= 30
    assert "…" in label
    assert label.endswith("end")
