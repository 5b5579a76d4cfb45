"""A view of a picture, which every screen of the dashboard is.

Owns what the frame asks of a view. A view takes pictures and reports. It gives work of more than a
few milliseconds to `work`, and shows the result when it comes.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeVar, runtime_checkable

from rich.text import Text
from textual.containers import Vertical
from textual.css.query import NoMatches
from textual.widgets import Input

from kraftool.reports.text.csv_text import csv_rows
from kraftool.reports.text.json_document import json_object
from kraftool.tui.frame import WatchFrame, frame_of
from kraftool.tui.table import ReportTable
from kraftool.watching.result import Failed, attempt

if TYPE_CHECKING:
    from kraftool.tui.palette import Palette
    from kraftool.watching.picture import Picture
    from kraftool.watching.sources import Sources

T = TypeVar("T")


@runtime_checkable
class Examining(Protocol):
    """A view that works on what is watched while another view is seen."""

    def follow(self, picture: Picture) -> None:
        """Take a picture without showing it."""


class View(Vertical):
    """A screen. A subclass composes widgets and implements `show` and `document`."""

    TITLE: ClassVar[str]
    """What its tab says."""
    ABOUT: ClassVar[str] = ""
    """A sentence or two for the help screen."""
    can_focus = False

    @property
    def watch_app(self) -> WatchFrame:
        return frame_of(self)

    @property
    def picture(self) -> Picture | None:
        """The newest; None until there is a first one."""
        return self.watch_app.picture

    @property
    def sources(self) -> Sources:
        return self.watch_app.watcher.sources

    @property
    def columns(self) -> int:
        """The columns to write in. Before its first layout a view has no size, but the app has."""
        return self.size.width or self.app.size.width

    @property
    def palette(self) -> Palette:
        return self.watch_app.palette

    def text(self, value: object, meaning: str = "") -> Text:
        """Text from data, safe to show; meaning: a field of Palette, as `bad` or `quiet`."""
        return self.palette.text(value, meaning)

    def show(self, picture: Picture) -> None:
        """Show this. Called for each new picture while this view is the one that is seen, and when
        it comes to be seen, or the theme or the size changes. It must not take long."""
        raise NotImplementedError

    @property
    def document(self) -> object:
        """The document of the view, as a command writes it; None if there is nothing yet."""
        raise NotImplementedError

    def as_json(self) -> dict[str, Any]:
        """The document as JSON has it."""
        return json_object(self.document)

    def as_rows(self) -> Iterable[Sequence[object]]:
        """The document's rows as CSV has them: a row of headings, then the rows."""
        document = self.document
        return () if document is None else csv_rows(document)

    def search(self, text: str, step: int = 1) -> bool:
        """Go to the next place (step -1: the one before) that has the text; False if there is none.

        By default it looks through the tables.
        """
        return any(result.find(text, step) for result in self.query(ReportTable).results())

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Remove the view's keys from the footer while a line has the focus."""
        return not isinstance(self.app.focused, Input)

    def copied(self) -> str:
        """Return what `y` copies: by default, the focused table's row under the cursor."""
        tables = [*self.query(ReportTable).results()]
        focused = [table for table in tables if table.has_focus]
        return next((report_table.row_text() for report_table in focused or tables), "")

    def first_focus(self) -> None:
        """Give the focus to what keys should go to when this view comes to be seen."""
        for widget in self.query("*"):
            if widget.focusable:
                widget.focus()
                return

    def work(
        self, name: str, function: Callable[[], T], then: Callable[[T], None], *, again: bool = True
    ) -> None:
        """Run what takes long in a thread; `then` gets the result, back where widgets may be used.

        A later work of the same name takes the place of one that still runs (whose result is then
        dropped); with `again` False it is left out instead. What goes wrong is told at the bottom.
        """
        key = f"{self.id}:{name}"
        running = [
            worker for worker in self.workers if worker.name == key and not worker.is_finished
        ]
        if running and not again:
            return

        async def run() -> None:
            result = await asyncio.to_thread(attempt, function)
            if isinstance(result, Failed):
                self.watch_app.tell(result.reason, is_bad=True)
                return
            try:
                then(result)
            except NoMatches:
                # A program that exits takes the widgets away before the work is done.
                if self.is_attached and not self._pruning:
                    raise

        for worker in running:
            worker.cancel()
        self.run_worker(run(), name=key, exit_on_error=True)
