"""Plots as SVG: numbers in, text out.

Owns bars, stacked bars and histograms: their scale, their labels, and the same numbers as rows of
a table for those who cannot see them. It refuses to know what the numbers are about, and to hide
any: a scale that is not linear says so, and values that are not known are counted.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import NamedTuple

from kraftool.reports.fleet.page_text import count, data, shortened

_OUTLIER = 50
"""From so many times the median on, a linear scale would show nothing but the largest value."""
_LABEL_CHARACTERS = 30
_ROW, _BAR_TOP, _BAR = 34, 19, 8
_BIN_ROW, _BIN_BAR = 22, 14
_DAYS = 64
_THINNEST = 0.006
"""Part of the width that is still seen."""
LOGARITHMIC = "Logarithmic scale."


class Bar(NamedTuple):
    """A value and what it is of; None is a value that is not known."""

    label: str
    value: float | None
    value_text: str
    """The value as it is written beside the bar."""
    href: str = ""
    """Where the row of the table leads to."""
    kind: str = "plain"
    """The class that colours it."""


class BarPart(NamedTuple):
    """A kind of value in a stacked bar. The first part of all is drawn thickest."""

    name: str
    """Said after the number, and the class that colours it."""
    glyph: str


class Stack(NamedTuple):
    """Several values of one thing, one for each part."""

    label: str
    values: tuple[int, ...]
    href: str = ""


class SideRange(NamedTuple):
    """A range of offsets, both inclusive, and the number of the side that a log is on there."""

    first: int
    last: int
    side: int


class Lane(NamedTuple):
    """The offsets of one log, the end exclusive; None where it has none."""

    label: str
    start: int | None
    end: int | None
    range_text: str
    marks: tuple[SideRange, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Bins:
    """The edges of a histogram: a bin from each edge to the next."""

    edges: tuple[float, ...]
    """In rising order; what lies below the first is counted in the bin `below`."""
    labels: tuple[str, ...]
    """One for each edge, the last of them without an end."""
    below: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A plot, and what it shows as a table."""

    svg: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    """As they are written, not yet escaped."""
    links: tuple[str, ...] = ()
    """Where each row leads to, if anywhere."""
    notes: tuple[str, ...] = ()

    @property
    def is_empty(self) -> bool:
        return not self.rows


def scale(values: Sequence[float]) -> tuple[Callable[[float], float], bool]:
    """Return how long a bar is for a value, from 0 to 1, and whether that is logarithmic.

    It is where the largest value would leave the others invisible.
    """
    positive = [value for value in values if value > 0 and math.isfinite(value)]
    most = max(positive, default=0.0)
    if not most:
        return (lambda _: 0.0), False
    logarithmic = most > _OUTLIER * median(positive)

    def share(value: float) -> float:
        if value <= 0:
            return 0.0
        if not math.isfinite(value):
            return 1.0
        return math.log1p(value) / math.log1p(most) if logarithmic else value / most

    return share, logarithmic


def bars(title: str, columns: tuple[str, str], rows: Sequence[Bar]) -> Figure:
    """A bar for each row, its label above it."""
    share, logarithmic = scale([row.value for row in rows if row.value is not None])
    drawn = []
    for number, row in enumerate(rows):
        top = number * _ROW
        drawn.append(_labels(top, row.label, row.value_text))
        drawn.append(f'<rect class="track" y="{top + _BAR_TOP}" width="100%" height="{_BAR}"/>')
        if row.value:
            drawn.append(_rectangle(0, share(row.value), top + _BAR_TOP, _BAR, row.kind))
    return Figure(
        svg=_svg(title, _BAR_TOP + _BAR + _ROW * (len(rows) - 1) + 2, drawn) if rows else "",
        columns=columns,
        rows=tuple((row.label, row.value_text) for row in rows),
        links=tuple(row.href for row in rows),
        notes=(LOGARITHMIC,) if logarithmic else (),
    )


def stacked(title: str, column: str, parts: Sequence[BarPart], rows: Sequence[Stack]) -> Figure:
    """A bar of several parts for each row.

    Parts differ in height as well as in colour, and their numbers stand beside the label.
    """
    totals = [sum(stack.values) for stack in rows]
    share, logarithmic = scale(totals)
    drawn = []
    for number, (row, total) in enumerate(zip(rows, totals, strict=True)):
        top = number * _ROW
        numbers = "  ".join(
            f"{part.glyph} {value:,}"
            for part, value in zip(parts, row.values, strict=True)
            if value
        )
        drawn.append(_labels(top, row.label, numbers or "0"))
        drawn.append(f'<rect class="track" y="{top + _BAR_TOP}" width="100%" height="{_BAR}"/>')
        start = 0.0
        for step, (part, value) in enumerate(zip(parts, row.values, strict=True)):
            if value:
                # Within a bar parts are always in proportion; the scale is that of its length.
                length = share(total) * value / total
                thin = _BAR - 2 * step
                drawn.append(
                    _rectangle(start, length, top + _BAR_TOP + step, thin, part.name.lower())
                )
                start += length
    return Figure(
        svg=_svg(title, _BAR_TOP + _BAR + _ROW * (len(rows) - 1) + 2, drawn) if rows else "",
        columns=(column, *(bar_part.name for bar_part in parts)),
        rows=tuple((stack.label, *map(count, stack.values)) for stack in rows),
        links=tuple(stack.href for stack in rows),
        notes=("Logarithmic scale of the bars' lengths.",) if logarithmic else (),
    )


def histogram(
    title: str, columns: tuple[str, str], values: Sequence[float | None], bins: Bins
) -> Figure:
    """Return how many values lie in each bin, a row each. Empty bins at both ends are left out."""
    known = [value for value in values if value is not None and not math.isnan(value)]
    counts = [0] * (len(bins.edges) + 1)
    for value in known:
        counts[sum(value >= edge for edge in bins.edges)] += 1
    named = list(zip((bins.below, *bins.labels), counts, strict=True))
    while named and not named[-1][1]:
        named.pop()
    while named and not named[0][1]:
        named.pop(0)
    unknown = len(values) - len(known)
    bin_rows = [*named, *([("not known", unknown)] if unknown else [])]
    share, logarithmic = scale([bin_count for _, bin_count in bin_rows])
    drawn = []
    for number, (label, many) in enumerate(bin_rows):
        top = number * _BIN_ROW
        drawn.append(f'<text x="28%" dx="-8" y="{top + 12}" class="end">{data(label)}</text>')
        drawn.append(f'<rect class="track" x="28%" y="{top}" width="58%" height="{_BIN_BAR}"/>')
        if many:
            kind = "unknown" if number >= len(named) else "plain"
            width = share(many) * 0.58
            drawn.append(_rectangle(0.28, width, top, _BIN_BAR, kind))
        drawn.append(f'<text x="100%" y="{top + 12}" class="end number">{count(many)}</text>')
    return Figure(
        svg=_svg(title, _BIN_ROW * len(bin_rows), drawn) if bin_rows else "",
        columns=columns,
        rows=tuple((label, count(many)) for label, many in bin_rows),
        notes=(LOGARITHMIC,) if logarithmic else (),
    )


def days(title: str, columns: tuple[str, str], rows: Sequence[tuple[str, int]]) -> Figure:
    """A column for each day, side by side; days between the first and the last may be missing."""
    if not rows:
        return Figure(svg="", columns=columns, rows=())
    share, logarithmic = scale([value for _, value in rows])
    most = max(value for _, value in rows)
    width = 100 / max(len(rows), 14)
    drawn = [
        f'<text x="100%" y="10" class="end number">at most {count(most)}</text>',
        f'<rect class="track" y="{_DAYS + 16}" width="100%" height="1"/>',
    ]
    for number, (_, value) in enumerate(rows):
        height = max(share(value) * _DAYS, 1.5 if value else 0)
        drawn.append(
            f'<rect class="plain" x="{number * width + width * 0.1:.2f}%"'
            f' y="{_DAYS + 16 - height:.1f}" width="{width * 0.8:.2f}%" height="{height:.1f}"/>'
        )
    drawn.append(f'<text y="{_DAYS + 32}" class="number">{data(rows[0][0])}</text>')
    if len(rows) > 1:
        # Too near to the first day's label, the last one would lie upon it.
        last = min(max(len(rows) * width, 52), 100)
        drawn.append(
            f'<text x="{last:.2f}%" y="{_DAYS + 32}" class="end number">{data(rows[-1][0])}</text>'
        )
    return Figure(
        svg=_svg(title, _DAYS + 38, drawn),
        columns=columns,
        rows=tuple((day, count(value)) for day, value in rows),
        notes=(LOGARITHMIC,) if logarithmic else (),
    )


def lanes(title: str, columns: tuple[str, str, str], rows: Sequence[Lane]) -> Figure:
    """From which to which offset each log goes, one above the other, with ranges marked."""
    there = [row for row in rows if row.start is not None and row.end is not None]
    marked = [mark for row in rows for mark in row.marks]
    low = min([lane.start or 0 for lane in there] + [mark.first for mark in marked], default=0)
    high = max([lane.end or 0 for lane in there] + [mark.last + 1 for mark in marked], default=0)
    span = max(high - low, 1)
    drawn = []
    for number, lane in enumerate(rows):
        top = number * _ROW
        drawn.append(_labels(top, lane.label, lane.range_text))
        drawn.append(f'<rect class="track" y="{top + _BAR_TOP}" width="100%" height="{_BAR}"/>')
        if lane.start is not None and lane.end is not None and lane.end > lane.start:
            start, length = (lane.start - low) / span, (lane.end - lane.start) / span
            drawn.append(_rectangle(start, length, top + _BAR_TOP, _BAR, "info"))
        for mark in lane.marks:
            start, length = (mark.first - low) / span, (mark.last + 1 - mark.first) / span
            start = min(start, 1 - _THINNEST)
            # Sides differ in height too: the first is as high as the lane, the others are not.
            step = min(mark.side, 2) * 1.5
            kind = ("plain", "warning", "error")[min(mark.side, 2)]
            drawn.append(
                _rectangle(start, length, top + _BAR_TOP - 2 + step, _BAR + 4 - 2 * step, kind)
            )
    return Figure(
        svg=_svg(title, _BAR_TOP + _BAR + _ROW * (len(rows) - 1) + 4, drawn) if rows else "",
        columns=columns,
        rows=tuple(
            (
                row.label,
                row.range_text,
                ", ".join(f"{mark.first}..{mark.last}" for mark in row.marks),
            )
            for row in rows
        ),
        notes=(f"From offset {count(low)} at the left to {count(high)} at the right.",),
    )


def _labels(top: int, label: str, value_text: str) -> str:
    return (
        f'<text y="{top + 13}" class="name"><title>{data(label)}</title>'
        f"{data(shortened(label, _LABEL_CHARACTERS))}</text>"
        f'<text x="100%" y="{top + 13}" class="end number">{data(value_text)}</text>'
    )


def _rectangle(start: float, length: float, top: float, height: float, kind: str) -> str:
    # What is there at all is drawn wide enough to be seen.
    x, width = start * 100, max(length, _THINNEST) * 100
    return (
        f'<rect class="{kind}" x="{x:.2f}%" y="{top:g}" width="{width:.2f}%" height="{height:g}"/>'
    )


def _svg(title: str, height: int, drawn: Sequence[str]) -> str:
    # Lengths across are in percent, so that bars fit any width and letters keep their size.
    return (
        f'<svg role="img" width="100%" height="{height}"><title>{data(title)}</title>'
        f"{''.join(drawn)}</svg>"
    )
