"""The dashboard as views, bars and dialogs know it: its picture, its colours, its one message.

Owns what is shared below the program itself (`app.py`). It shows no view.
"""

from __future__ import annotations

from typing import Protocol, cast

from textual.app import App
from textual.timer import Timer
from textual.widget import Widget
from textual.widgets import Static

from kraftool.tui.palette import DARK, PALETTES, Palette
from kraftool.watching.overview import Overview
from kraftool.watching.picture import Picture
from kraftool.watching.sources import Sources
from kraftool.watching.watcher import Shown

_TOLD_S = 8.0
"""How long a message stays."""


class PictureSource(Protocol):
    """The source of pictures: a Watcher, or in tests what was recorded."""

    @property
    def sources(self) -> Sources: ...

    async def run(self, show: Shown) -> None:
        """Hand over pictures until cancelled."""

    def poll_now(self) -> None:
        """Do not wait for the next turn."""


class WatchFrame(App[None]):
    """The program, as far as its parts see it."""

    def __init__(self, watcher: PictureSource) -> None:
        super().__init__()
        self.watcher = watcher
        self.picture: Picture | None = None
        self.overview = Overview()
        self._telling: Timer | None = None

    @property
    def palette(self) -> Palette:
        return PALETTES.get(self.theme, PALETTES[DARK])

    def tell(self, words: str, *, is_bad: bool = False) -> None:
        """A sentence at the bottom, for a while."""
        for line in self.query("#told").results(Static):  # it is gone while the program exits
            line.update(self.palette.text(words, "bad" if is_bad else "key"))
            line.display = bool(words)
        if self._telling is not None:
            self._telling.stop()
        if words:
            self._telling = self.set_timer(_TOLD_S, lambda: self.tell(""))

    def show_again(self) -> None:
        """Show in what is seen what another view has found since the newest picture."""
        raise NotImplementedError

    def show_verdict(self) -> None:
        """Show the worst of what is known in the title and in the tabs."""
        raise NotImplementedError


def frame_of(widget: Widget) -> WatchFrame:
    """The dashboard that shows this widget."""
    return cast("WatchFrame", widget.app)
