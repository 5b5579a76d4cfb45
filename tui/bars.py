"""The lines above a view: what is watched and how it is, and the tabs.

Owns their layout. They are one line each, as a terminal of 24 lines has few to spare.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

from rich.text import Text
from textual import events
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Static

from kraftool.tui.views import Registered

if TYPE_CHECKING:
    from kraftool.tui.app import WatchApp


class Headline(Static):
    """The first line: words at the left, and some at the right where there is room."""

    def tell(self, left: Text, right: Text) -> None:
        room = max(self.size.width or self.app.size.width, 1) - 2
        line = left.copy()
        line.truncate(room, overflow="ellipsis")
        if line.cell_len + right.cell_len + 2 <= room:
            line.append(" " * (room - line.cell_len - right.cell_len)).append_text(right)
        self.update(line, layout=False)


class ViewTabs(Widget):
    """One line with a tab for each view; a click chooses."""

    class Chosen(Message):
        def __init__(self, name: str) -> None:
            super().__init__()
            self.view_name = name

    def __init__(self, views: Sequence[Registered]) -> None:
        super().__init__(id="tabs")
        self._views = views
        self._places: list[tuple[int, int, str]] = []
        self._active = ""

    def activate(self, name: str) -> None:
        self._active = name
        self.refresh()

    def render(self) -> Text:
        palette = cast("WatchApp", self.app).palette
        line = Text(no_wrap=True, end="")
        self._places = []
        short = self._width(" {} {} ") > self.size.width
        for number, each in enumerate(self._views, 1):
            began = line.cell_len
            is_active = each.name == self._active
            title = each.title if not short or is_active else each.title[:5]
            style = "bold reverse" if is_active else ""
            line.append(f" {number} ", style=style or palette.key)
            line.append(f"{title} ", style=style or palette.quiet)
            self._places.append((began, line.cell_len, each.name))
        return line

    def _width(self, form: str) -> int:
        return sum(len(form.format(1, each.title)) for each in self._views)

    def on_click(self, event: events.Click) -> None:
        for began, ended, name in self._places:
            if began <= event.x < ended:
                self.post_message(self.Chosen(name))
