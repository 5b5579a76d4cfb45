"""The two lines around a log: what is looked at, and how much of it.

Owns their words.
"""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len
from rich.text import Text

from kraftool.reports.browse.feed import RowRange
from kraftool.reports.browse.rows import LogRow
from kraftool.reports.text.words import size
from kraftool.tui.findings import shortened
from kraftool.tui.palette import Palette
from kraftool.tui.widgets.log_lines import LEGEND
from kraftool.watching.staleness import Currency

_LEGEND_FROM = 140
"""From this width on, the last line explains the signs."""


def log_title(
    palette: Palette,
    paths: Sequence[str],
    number: int,
    stretch: RowRange | None,
    problem: str,
    *,
    is_stale: bool,
    damage: str,
) -> Text:
    """Return the words on the log: its name, the part that is shown, its length."""
    if not paths:
        return palette.text("no directory or live quorum is watched", "quiet")
    line = Text("▲ stale  " if is_stale else "", palette.warn, no_wrap=True, end="")
    line = Text(no_wrap=True, end="").append_text(line)
    if damage:
        line.append_text(palette.text(f"▲ {shortened(damage)}  ", "warn"))
    if stretch is not None:
        extent = stretch.extent
        words = f"offsets {extent.start_offset} to {extent.end_offset - 1}, {size(extent.size)}"
        if extent.segments > 1:
            words += f" in {extent.segments} segments"
        line.append(words if extent.end_offset else "empty", palette.quiet)
        if stretch.query.text:
            line.append("  filter ", palette.quiet)
            line.append_text(palette.text(stretch.query.text, "key"))
        line.append("  ")
    elif not problem:
        line.append("opening … ", palette.quiet)
    if len(paths) > 1:
        line.append(f"{number + 1} of {len(paths)}, d: the next  ", palette.quiet)
    return line.append_text(palette.text(paths[number], "name"))


def log_status(
    palette: Palette,
    stretch: RowRange,
    row: LogRow | None,
    high_watermark: int | None,
    *,
    is_at_end: bool,
    currency: Currency,
    searches: bool,
    width: int,
) -> Text:
    """Return the cursor's place in the log, and what is known of the high watermark."""
    mark = "not known here" if high_watermark is None else str(high_watermark)
    words = f"high watermark {mark}"
    if row is None:
        words = "no record" + (" that the filter lets through" if stretch.query.text else "")
    if stretch.query.text and (stretch.seen_from > 0 or stretch.seen_to < 1):
        part = f"{stretch.seen_from:.0%} to {stretch.seen_to:.0%} of the log looked through"
        words += f"; {part}{', x stops' if searches else ''}"
    if is_at_end and currency.is_current:
        words += "; following"
    elif row is not None and row.offset is not None:
        words += f"; {row.offset / max(stretch.extent.end_offset, 1):.0%} of the log"
    line = Text(no_wrap=True, end="")
    if currency.stale:
        # Use two lines if one cannot hold both: no phrase is cut in two.
        fits = cell_len(currency.words) + cell_len(words) + 4 <= width
        line.append_text(palette.text(f"▲ {currency.words}", "warn")).append("  " if fits else "\n")
    elif currency.idle:
        line.append_text(palette.text(f"{currency.idle}; ", "quiet"))
    line.append_text(palette.text(words, "quiet"))
    return line.append(f"    {LEGEND}", palette.quiet) if width >= _LEGEND_FROM else line
