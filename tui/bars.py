"""The lines above a view: what is watched and how it is, and the tabs.

Owns their layout. They are one line each, as a terminal of 24 lines has few to spare.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.text import Text
from textual import events
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Static

from kraftool.tui.frame import frame_of
from kraftool.tui.views import ViewEntry
from kraftool.watching.overview import TabStatus

NAME = "kraftool"
"""The first word of the first line."""


class Headline(Static):
    """The first line: words at the left, and some at the right where there is room."""

    _told: tuple[Text, Text] | None = None

    def tell(self, left: Text, right: Text) -> None:
        self._told = left, right
        self._fit(left, right)

    def on_resize(self) -> None:
        if self._told is not None:
            self._fit(*self._told)

    def _fit(self, left: Text, right: Text) -> None:
        room = max(self.size.width or self.app.size.width, 1) - 2
        line = left.copy()
        if line.cell_len + right.cell_len + 2 > room and line.plain.startswith(f"{NAME}  "):
            line = line[len(NAME) + 2 :]  # what is watched matters more than by what
        # The right has the clock, and that it is paused: the left gives way.
        line.truncate(max(room - right.cell_len - 2, 1), overflow="ellipsis")
        if line.cell_len + right.cell_len + 2 <= room:
            line.append(" " * (room - line.cell_len - right.cell_len)).append_text(right)
        self.update(line, layout=False)


class ViewTabs(Widget):
    """One line with a tab for each view; a click chooses."""

    class Chosen(Message):
        def __init__(self, name: str) -> None:
            super().__init__()
            self.view_name = name

    def __init__(self, views: Sequence[ViewEntry]) -> None:
        super().__init__(id="tabs")
        self._views = views
        self._places: list[tuple[int, int, str]] = []
        self._active = ""
        self._found: Mapping[str, TabStatus | None] = {}

    def tell(self, statuses: Mapping[str, TabStatus | None]) -> None:
        """Show how much is wrong in each view."""
        if statuses != self._found:
            self._found = statuses
            self.refresh()

    def activate(self, name: str) -> None:
        self._active = name
        self.refresh()

    def render(self) -> Text:
        palette = frame_of(self).palette
        line = Text(no_wrap=True, end="")
        self._places = []
        counts = {view.name: self._count(view.name) for view in self._views}
        # " 1▲Quorum 2": the mark is where a blank was. Then a blank, where there is room for all.
        titles = sum(len(f" 1 {view.title}") for view in self._views)
        tight = titles + sum(map(len, counts.values()))
        after = " " if tight + len(self._views) <= self.size.width else ""
        short, has_counts = titles > self.size.width, tight <= self.size.width
        for number, view in enumerate(self._views, 1):
            began = line.cell_len
            is_active = view.name == self._active
            title = view.title if not short or is_active else view.title[:5]
            style = "bold reverse" if is_active else ""
            tab_status = self._found.get(view.name)
            worst = (
                palette.quiet if tab_status is None else getattr(palette, tab_status.status.meaning)
            )
            line.append(f" {number}", style=style or palette.key)
            line.append(" " if tab_status is None else tab_status.status.mark, style=style or worst)
            count = counts[view.name] if has_counts else ""
            line.append(f"{title}{count}{after}", style=style or worst)
            self._places.append((began, line.cell_len, view.name))
        return line

    def _count(self, name: str) -> str:
        tab_status = self._found.get(name)
        return "" if tab_status is None else f" {tab_status.count}"

    def on_click(self, event: events.Click) -> None:
        for began, ended, name in self._places:
            if began <= event.x < ended:
                self.post_message(self.Chosen(name))
