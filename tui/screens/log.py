"""The records of a log, from its newest end: filtered, opened, followed as they are written.

Owns what is said and which keys do it. The stretch of the log that is at hand is
`reports/browse/feed.py`; it is asked in a thread, one question after the other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container
from textual.widgets import Static

from kraftool.client.model import QuorumView
from kraftool.reports.browse.blocks import RowPlace
from kraftool.reports.browse.detail import Detail
from kraftool.reports.browse.feed import LogFeed, RowRange, plain_row
from kraftool.reports.browse.rows import LogRow
from kraftool.reports.logs.query import EXAMPLE, GoTo, LogQuery, read_goto, read_query
from kraftool.tui.details import Working
from kraftool.tui.serial_queue import Asker
from kraftool.tui.source_choice import PlaceView
from kraftool.tui.widgets.detail_lines import DetailLines
from kraftool.tui.widgets.lines import Lines
from kraftool.tui.widgets.log_detail import detail_lines
from kraftool.tui.widgets.log_lines import LEGEND, LogLines, LogPainter
from kraftool.tui.widgets.log_words import log_status, log_title
from kraftool.tui.widgets.prompt import Prompt
from kraftool.watching.log_document import ShownLog, log_view
from kraftool.watching.picture import Picture
from kraftool.watching.result import Failed, attempt
from kraftool.watching.task import Task
from kraftool.watching.watched_sources import OpenedLog, open_log, place_names

_PAGE = 200
_SHARES = 1000
"""The steps that the progress of a search has."""
_NEAR = 60
"""Rows that are to be at hand above and below the cursor."""
Question = Callable[[], RowRange | None]


@dataclass(frozen=True, slots=True)
class _OpenedAt:
    """A log, and what is seen of it at first."""

    opened: OpenedLog
    stretch: RowRange

    @property
    def took_s(self) -> float:
        return self.opened.took_s

    @property
    def lacking(self) -> str:
        return self.opened.lacking

    def close(self) -> None:
        self.opened.close()


class LogScreen(PlaceView):
    """A log."""

    TITLE = "Log"
    ABOUT = (
        "The records of the metadata log, as they are written. Enter opens a record with its bytes."
        " An idle controller writes no-ops. A run of them is one line, and z shows each of them."
        f" A filter is a list of words: {EXAMPLE}. Signs: {LEGEND}."
    )
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("f", "filter", "Filter"),
        Binding("o", "goto", "Go to"),
        Binding("enter", "open", "Open"),
        Binding("z", "fold", "No-ops"),
        Binding("d", "directory", "Next"),
        Binding("x", "stop", "Stop", show=False),
        Binding("escape", "close", "Close", show=False),
    ]

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._feed: LogFeed | None = None
        self._stretch: RowRange | None = None
        self._asker = Asker[RowRange | None](self, self._answered)
        self._is_halted = False
        self._stamp: object = None
        self._problem = ""
        self._looking: Task | None = None
        """The progress of a search or a filter; None if none runs."""
        self._painter: LogPainter | None = None
        self._shown: Detail | None = None

    def compose(self) -> ComposeResult:
        yield Static(id="log-title")
        yield Working(id="log-working")
        yield Prompt(id="log-prompt")
        with Container(id="log-body"):
            yield LogLines(self._paint, id="log-lines")
            yield DetailLines(id="log-detail")
        yield Static(id="log-status")

    # --- pictures -----------------------------------------------------------------------------

    def show(self, picture: Picture) -> None:
        painter, before = LogPainter(self.palette), self._painter
        if self._shown is not None and before is not None and before.palette is not self.palette:
            self._show_detail(self._shown)
        sample = picture.history.samples[-1] if picture.history.samples else None
        painter.high_watermark = sample.high_watermark if sample is not None else None
        self._painter = painter
        if self.choose_place(picture):
            self._turn()
        feed, stretch = self._feed, self._stretch
        if feed is None:
            self._open(picture)
        elif self.is_live:
            if stretch is not None and self.has_grown(picture, stretch.extent.end_offset):
                self._open(picture)
        elif picture.stamp != self._stamp and stretch is not None:
            self._ask("news", lambda: feed.news(_PAGE))
        self._stamp = picture.stamp
        self._draw()

    def _paint(self, row: LogRow, width: int) -> Text:
        return (self._painter or LogPainter(self.palette)).paint(row, width)

    def first_focus(self) -> None:
        self.lines.focus()

    @property
    def lines(self) -> LogLines:
        return self.query_one("#log-lines", LogLines)

    # --- opening ------------------------------------------------------------------------------

    def _open(self, picture: Picture | None) -> None:
        sources = self.sources
        query = self._stretch.query if self._stretch is not None else LogQuery()
        row = None if self.lines.is_at_end else self.lines.row
        folds = self._feed is None or self._feed.folds

        def read(number: int, view: QuorumView | None) -> _OpenedAt:
            opened = open_log(sources, number, view)
            feed = opened.feed
            feed.query, feed.folds = query, folds
            if row is None or row.offset is None:
                return _OpenedAt(opened, feed.last(_PAGE))
            return _OpenedAt(opened, feed.go(GoTo("offset", row.offset), _PAGE))

        self.open_place(picture, read, self._opened)

    def _opened(self, result: _OpenedAt | Failed) -> None:
        if isinstance(result, Failed):
            self._answered(result)
            return
        self._close_feed()
        self._feed = result.opened.feed
        self._answered(result.stretch)
        self.work("names", self._feed.session.learn_names, lambda _: self._again())

    def _close_feed(self) -> None:
        self._asker.forget()
        if self._feed is not None:
            self.work("close", self._feed.session.close, lambda _: None)
            self._feed = None

    def on_unmount(self) -> None:
        super().on_unmount()
        if self._feed is not None:
            self._feed.session.close()

    def _again(self) -> None:
        """Topics have names now."""
        feed, row = self._feed, self.lines.row
        if feed is not None and row is not None and self.lines.is_at_end:
            self._ask("last", lambda: feed.last(_PAGE))

    def action_directory(self) -> None:
        """The log of the next directory."""
        if self.next_place():
            self._turn()
            self._open(self.picture)
            self._draw()

    def _turn(self) -> None:
        """Let go of the log that was shown: the place is another one."""
        self._close_feed()
        self._stretch, self._problem = None, ""
        self._look(None)
        self.lines.set_rows((), 0)

    # --- what is at hand ----------------------------------------------------------------------

    def _ask(self, name: str, question: Question, *, alone: bool = False) -> None:
        self._asker.ask(name, question, alone=alone)

    def _answered(self, result: RowRange | Failed | None) -> None:
        if isinstance(result, Failed):
            self._problem = result.reason
            self._look(None)
            self._draw()
        elif result is not None:
            self._problem = ""
            self._take(result)

    def _take(self, stretch: RowRange) -> None:
        lines, before = self.lines, self._stretch
        follows = before is not None and before.is_at_end and lines.is_at_end
        self._stretch = stretch
        if stretch.cursor is not None:
            cursor = stretch.cursor
        elif follows and stretch.is_at_end:
            cursor = len(stretch.rows) - 1
        else:
            cursor = _index_of(stretch.rows, lines.row, lines.cursor)
        lines.set_rows(stretch.rows, cursor)
        if stretch.news:
            self.watch_app.tell(stretch.news, is_bad=True)
        self._draw()
        self._want_more()
        if stretch.query.text and self._asker.is_asking:
            self._look(
                "looking for rows that match the filter", stretch.seen_to - stretch.seen_from
            )
        else:
            self._look(None)

    def _want_more(self) -> None:
        """Ask for rows at the end that the cursor is near to."""
        feed, stretch = self._feed, self._stretch
        if feed is None or stretch is None or self._is_halted:
            return
        cursor, room = self.lines.cursor, max(self.lines.size.height, _NEAR)
        if cursor < room and not stretch.is_at_start:
            self._ask("up", lambda: feed.up(_PAGE))
        if len(stretch.rows) - cursor < room and not stretch.is_at_end:
            self._ask("down", lambda: feed.down(_PAGE))

    def on_lines_moved(self, message: Lines.Moved) -> None:
        if message.lines is self.lines:
            self._is_halted = self._is_halted and self._stretch is not None
            self._want_more()
            self._draw()
            if self._detail.display:
                self._read_detail()

    def on_log_lines_edge(self, message: LogLines.Edge) -> None:
        feed = self._feed
        if feed is not None:
            self._is_halted = False
            edge = feed.last if message.step > 0 else feed.first
            self._ask("edge", lambda: edge(_PAGE), alone=True)

    def action_stop(self) -> None:
        """Look no further for what the filter or a search wants."""
        self._is_halted = True
        self._asker.clear()
        self._look(None)
        self._draw()

    def _look(self, what: str | None, share: float = 0.0) -> None:
        """Show the progress and the time of a search or a filter. None hides them."""
        if what is None:
            if self._looking is not None:
                self._looking = None
                self._follow(None)
        elif self._looking is None:
            self._looking = Task()
            self._looking.begin(what, _SHARES)
            self._follow(self._looking)
        else:
            self._looking.set(what, round(share * _SHARES), _SHARES)

    # --- filter and places --------------------------------------------------------------------

    def action_filter(self) -> None:
        text = self._stretch.query.text if self._stretch is not None else ""
        self.query_one(Prompt).ask("filter", EXAMPLE, text)

    def action_goto(self) -> None:
        self.query_one(Prompt).ask("go to", "an offset, epoch 5, 2026-11-21T06:00Z or 2h")

    def on_prompt_answered(self, message: Prompt.Answered) -> None:
        words, feed = message.words, self._feed
        self.lines.focus()
        if words is None or feed is None:
            return
        self._is_halted = False
        if message.prompt.asked == "filter":
            query = attempt(lambda: read_query(words))
            if isinstance(query, Failed):
                self.watch_app.tell(query.reason, is_bad=True)
            else:
                self._look_for_topic(feed, query)
        elif words.strip():
            goto = attempt(lambda: read_goto(words))
            if isinstance(goto, Failed):
                self.watch_app.tell(goto.reason, is_bad=True)
            else:
                wanted = goto
                self._ask("go", lambda: feed.go(wanted, _PAGE), alone=True)

    def _look_for_topic(self, feed: LogFeed, query: LogQuery) -> None:
        """Look for a topic's id where it was created: records that change it have only the id."""
        topic = query.selection.topic
        if not topic:
            self._filter(feed, query)
            return

        def looked(share: float | None) -> None:
            if share is None or self._is_halted:
                self._filter(feed, query)
            else:
                self._look(f"looking for topic {topic}", share)
                self._look_for_topic(feed, query)
            self._draw()

        if self._looking is None:
            self._look(f"looking for topic {topic}")
        self.work("topic", lambda: feed.session.look_for_topic(topic), looked)

    def _filter(self, feed: LogFeed, query: LogQuery) -> None:
        row = self.lines.row
        place = None if row is None or self.lines.is_at_end else row.place
        if query.text and not self._is_halted:
            self._look("looking for rows that match the filter")
        self._ask("filter", lambda: feed.filter(query, place, _PAGE), alone=True)

    def action_fold(self) -> None:
        """Fold runs of no-ops, or show each of them."""
        feed = self._feed
        if feed is None:
            return
        self._is_halted = False
        folds, row = not feed.folds, self.lines.row
        place = None if row is None or self.lines.is_at_end else row.place
        self._ask("fold", lambda: feed.fold(folds, place, _PAGE), alone=True)
        self.watch_app.tell("no-ops folded" if folds else "every no-op is shown")

    # --- search -------------------------------------------------------------------------------

    def search(self, text: str, step: int = 1) -> bool:
        if self.lines.find(text, step, plain_row):
            return True
        feed = self._feed
        if feed is None or self._stretch is None:
            return False
        up, down = feed.edges
        place = down if step > 0 else up
        if place is None:
            return False
        self._is_halted = False
        self._look_for(feed, text, place, step)
        return True

    def _look_for(self, feed: LogFeed, text: str, place: RowPlace, step: int) -> None:
        def looked(result: tuple[RowPlace | None, RowPlace | None]) -> None:
            row_place, further = result
            if row_place is not None:
                at = row_place
                self._look(None)
                self._ask("found", lambda: feed.around(at, _PAGE), alone=True)
            elif self._is_halted:
                self.watch_app.tell(f"stopped: {text!r} was not found so far")
            elif further is None:
                self._look(None)
                self.watch_app.tell(f"no further place has {text!r}")
            else:
                self._look(f"looking for {text!r}", feed.session.fraction(further))
                self._look_for(feed, text, further, step)
            self._draw()

        if self._looking is None:
            self._look(f"looking for {text!r}", feed.session.fraction(place))
        self.work("search", lambda: feed.find(text, place, step), looked)

    # --- one record ---------------------------------------------------------------------------

    @property
    def _detail(self) -> DetailLines:
        return self.query_one(DetailLines)

    def action_open(self) -> None:
        self._detail.display = not self._detail.display
        if self._detail.display:
            self._read_detail()

    def on_lines_chosen(self, message: Lines.Chosen) -> None:
        if message.lines is self.lines:
            self.action_open()

    def action_close(self) -> None:
        self._detail.display = False
        self.lines.focus()

    def _read_detail(self) -> None:
        feed, row = self._feed, self.lines.row
        if feed is not None and row is not None:
            self.work("detail", lambda: feed.session.opened(row), self._show_detail)

    def _show_detail(self, detail: Detail) -> None:
        self._shown = detail
        self._detail.set_rows(detail_lines(detail, self.palette), 0)

    # --- what is said -------------------------------------------------------------------------

    def _draw(self) -> None:
        title, status = self.query_one("#log-title", Static), self.query_one("#log-status", Static)
        names = [*place_names(self.sources)]
        if self._feed is not None:
            names[self._number] = self._feed.session.path
        words = log_title(
            self.palette,
            names,
            self._number,
            self._stretch,
            self._problem,
            is_stale=bool(self.currency_of(self.picture).stale),
            damage=self.damage_of(self.picture),
        )
        title.update(words)
        status.update(self._status())
        self.lines.refresh()

    def _status(self) -> Text:
        if self._problem or self._stretch is None:
            return self.text(self._problem, "bad")
        return log_status(
            self.palette,
            self._stretch,
            self.lines.row,
            self._painter.high_watermark if self._painter is not None else None,
            is_at_end=self._stretch.is_at_end and self.lines.is_at_end,
            currency=self.currency_of(self.picture),
            searches=self._asker.is_asking,
            width=self.columns,
        )

    # --- ways out -----------------------------------------------------------------------------

    def copied(self) -> str:
        if self._detail.has_focus:
            return "\n".join(text.plain for text in self._detail.rows)
        row = self.lines.row
        return "" if row is None else plain_row(row)

    @property
    def document(self) -> ShownLog:
        if self._stretch is None or self._feed is None:
            return ShownLog()
        mark = self._painter.high_watermark if self._painter is not None else None
        return log_view(self._feed.session.path, self._stretch, mark)


def _index_of(rows: Sequence[LogRow], row: LogRow | None, near: int) -> int:
    """Return the index of a row now, or else of the cursor."""
    if row is None:
        return near
    return next((at for at, log_row in enumerate(rows) if log_row.has(row.place)), near)
