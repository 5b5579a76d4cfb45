"""The rows of a log around a cursor: more at either end when it comes near, news at the tail.

Owns which rows are at hand and how many: a bounded stretch of the log, which moves. Each call looks
through a bounded piece and gives the stretch as it is then; whoever shows it asks again.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from kraftool.reports.browse.blocks import RowPlace
from kraftool.reports.browse.rows import LogRow, cut_fold, fold, joins
from kraftool.reports.browse.session import LogSession, WindowExtent
from kraftool.reports.browse.window import Page, note
from kraftool.reports.logs.dump import Selection
from kraftool.reports.logs.query import GoTo, LogQuery

MOST = 6000
"""Rows at hand; beyond it the far end is let go."""
_LOOKED_AT_ONCE = 20_000


@dataclass(frozen=True, slots=True, kw_only=True)
class RowRange:
    """Rows that follow each other in the log, as far as the filter lets them."""

    rows: tuple[LogRow, ...]
    cursor: int | None = None
    """Where the cursor is to go; None leaves it on its row."""
    is_at_start: bool = False
    is_at_end: bool = False
    seen_from: float = 0.0
    seen_to: float = 1.0
    """The part of the log that was looked through, by bytes."""
    extent: WindowExtent
    query: LogQuery = field(default_factory=LogQuery)
    news: str = ""
    """A sentence on what happened to the log."""


class LogFeed:
    """A stretch of one log. Calls may come from any thread, but one after the other."""

    def __init__(self, session: LogSession) -> None:
        self.session = session
        self.query = LogQuery()
        self.folds = True
        """True if a run of no-ops is one row."""
        self._rows: list[LogRow] = []
        self._up: RowPlace | None = None
        self._down: RowPlace | None = None
        self._end: RowPlace | None = None
        """Where reading on at the end of the log goes on."""

    # --- where --------------------------------------------------------------------------------

    def last(self, count: int) -> RowRange:
        """The end of the log."""
        end = self.session.end
        page = self._before(end, count)
        self._rows, self._up, self._down, self._end = [*page.rows], page.resume, None, end
        return self._stretch(cursor=len(self._rows) - 1)

    def first(self, count: int) -> RowRange:
        """The start of the log."""
        page = self._behind(None, count)
        self._rows, self._up = [*page.rows], None
        self._down, self._end = page.resume, page.reached
        return self._stretch(cursor=0)

    def go(self, goto: GoTo, count: int) -> RowRange:
        return self.around(self.session.place_of(goto), count)

    def around(self, place: RowPlace, count: int) -> RowRange:
        """Rows on both sides of a place, and the cursor at it."""
        before = self._before(place, count)
        behind = self._behind(place, count)
        self._rows = [*before.rows, *behind.rows]
        self._up, self._down, self._end = before.resume, behind.resume, behind.reached
        return self._stretch(cursor=min(len(before.rows), len(self._rows) - 1))

    def filter(self, query: LogQuery, place: RowPlace | None, count: int) -> RowRange:
        """Other rows, around the same place."""
        self.query = query
        return self.last(count) if place is None else self.around(place, count)

    def fold(self, folds: bool, place: RowPlace | None, count: int) -> RowRange:
        """Fold runs of no-ops, or show every record, around the same place."""
        self.folds = folds
        return self.last(count) if place is None else self.around(place, count)

    @property
    def _folds(self) -> bool:
        """False where somebody asks for no-ops by name."""
        return self.folds and not self.query.selection.names_type("NoOpRecord")

    def _before(self, place: RowPlace | None, count: int) -> Page:
        return self.session.before(place, count, self._selection, folds=self._folds)

    def _behind(self, place: RowPlace | None, count: int) -> Page:
        return self.session.behind(place, count, self._selection, folds=self._folds)

    def _joined(self, rows: Iterable[LogRow], following: Iterable[LogRow]) -> list[LogRow]:
        """Two stretches as one, without a seam in a run of no-ops."""
        joined, more = [*rows], [*following]
        if self._folds and joined and more and joins(joined[-1], more[0]):
            joined[-1] = fold(joined[-1], more.pop(0))
        return [*joined, *more]

    @property
    def _selection(self) -> Selection | None:
        return None if self.query.is_everything else self.query.selection

    # --- more ---------------------------------------------------------------------------------

    def up(self, count: int) -> RowRange:
        """Look further back, a piece."""
        if self._up is None:
            return self._stretch()
        page = self._before(self._up, count)
        self._up = page.resume
        self._rows = self._joined(page.rows, self._rows)
        if len(self._rows) > MOST:
            self._down = self._rows[MOST].place
            del self._rows[MOST:]
        return self._stretch()

    def down(self, count: int) -> RowRange:
        """Look further on, a piece."""
        if self._down is None:
            return self._stretch()
        return self._on(self._down, count)

    def _on(self, place: RowPlace, count: int) -> RowRange:
        page = self._behind(place, count)
        self._down, self._end = page.resume, page.reached
        self._rows = self._joined(self._rows, page.rows)
        over = max(len(self._rows) - MOST, 0)
        if over:
            self._up = self._rows[over].place
            del self._rows[:over]
        return self._stretch()

    def news(self, count: int) -> RowRange | None:
        """Return what happened to the log since it was last looked at; None if nothing did."""
        change = self.session.poll()
        if not change.is_news:
            return None
        notice = ""
        if change.start_moved:
            kept = [row for row in self._rows if self.session.has(row.place)]
            if len(kept) < len(self._rows):
                self._rows, self._up = kept, None
                start = self.session.extent.start_offset
                notice = f"cleaned: the log now begins at offset {start}"
        if change.cut_offset is not None:
            notice = self._cut(change.cut_offset)
        if self._down is None and self._end is not None:
            stretch = self._on(self._end, count)
        else:
            stretch = self._stretch()
        return replace(stretch, news=notice)

    def _cut(self, offset: int) -> str:
        """The log lost its records from an offset on."""
        notice = f"truncated: the records from offset {offset} on are no longer in the log"
        place = self.session.place_of(GoTo("offset", offset))
        kept = [
            row if row.end_offset is None or row.end_offset < offset else cut_fold(row, offset)
            for row in self._rows
            if row.offset is None or row.offset < offset
        ]
        if len(kept) < len(self._rows) or self._down is None:
            self._rows = [*kept, note(notice, place, offset)]
            self._down, self._end = None, place
        return notice

    # --- looking for words --------------------------------------------------------------------

    def find(
        self, text: str, place: RowPlace | None, step: int
    ) -> tuple[RowPlace | None, RowPlace | None]:
        """Look for a row with the text, a piece further: its place, or where to look on; neither at
        the end."""
        wanted = text.casefold()
        if step > 0:
            page = self.session.behind(place, _LOOKED_AT_ONCE, self._selection)
        else:
            page = self.session.before(place, _LOOKED_AT_ONCE, self._selection)
        for row in page.rows if step > 0 else reversed(page.rows):
            if wanted in plain_row(row).casefold():
                return row.place, None
        return None, page.resume

    @property
    def edges(self) -> tuple[RowPlace | None, RowPlace | None]:
        """Return where to look on before and behind the stretch; None at the ends of the log."""
        return self._up, self._down

    def _stretch(self, *, cursor: int | None = None) -> RowRange:
        fraction = self.session.fraction
        return RowRange(
            rows=tuple(self._rows),
            cursor=cursor,
            is_at_start=self._up is None,
            is_at_end=self._down is None,
            seen_from=0.0 if self._up is None else fraction(self._up),
            seen_to=1.0 if self._down is None else fraction(self._down),
            extent=self.session.extent,
            query=self.query,
        )


def plain_row(row: LogRow) -> str:
    """Return what a search looks at."""
    return f"{row.offset} {row.label} {row.text}"
