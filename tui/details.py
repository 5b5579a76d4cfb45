"""The parts of views beside their table: details by label, and how far a long work is.

Owns their look. What they say comes from the view as Text, as everything that data is part of.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.timer import Timer
from textual.widgets import Static

from kraftool.reports.text.words import duration
from kraftool.tui.frame import frame_of
from kraftool.watching.task import Task

if TYPE_CHECKING:
    from textual.widget import Widget

    from kraftool.tui.palette import Palette

_BAR = 24
_EVERY_S = 0.1


class Details(VerticalScroll):
    """Labels at the left, what belongs to them at the right, in as many lines as it takes."""

    DEFAULT_CSS = """
    Details { height: auto; padding: 0 1; scrollbar-size-vertical: 1; }
    """

    def compose(self) -> ComposeResult:
        yield Static()

    def tell(self, rows: Sequence[tuple[str, Text]]) -> None:
        """Show these; an empty label goes on with the one before."""
        quiet = _palette(self).quiet
        table = Table.grid(padding=(0, 1))
        table.add_column(no_wrap=True, style=quiet)
        table.add_column(overflow="fold", ratio=1)
        for label, words in rows:
            line = words.copy()
            line.no_wrap = False
            table.add_row(label, line)
        self.query_one(Static).update(table)
        self.display = bool(rows)


class Working(Static):
    """A line on the running task: phase, progress and elapsed time. Hidden without a task."""

    DEFAULT_CSS = """
    Working { height: 1; padding: 0 1; display: none; text-wrap: nowrap; }
    """

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._task_seen: Task | None = None
        self._what = ""
        self._can_stop = True
        self._timer: Timer | None = None

    def on_mount(self) -> None:
        self._timer = self.set_interval(_EVERY_S, self._draw, pause=True)

    def on_click(self) -> None:
        """Stop the task, as the key x does."""
        if self._can_stop and self._task_seen is not None:
            self.app.simulate_key("x")

    def follow(self, task: Task | None, what: str = "", *, can_stop: bool = True) -> None:
        """Show this task from now on, or no task."""
        self._task_seen, self._what, self._can_stop = task, what, can_stop
        self.display = task is not None
        if self._timer is not None:
            if task is None:
                self._timer.pause()
            else:
                self._timer.resume()
        self._draw()

    def _draw(self) -> None:
        task = self._task_seen
        if task is None:
            return
        palette = _palette(self)
        share = task.share
        heading = ": ".join(filter(None, (self._what, task.label)))
        line = palette.text(heading, "key").append("  ")
        rest = f"  {_elapsed(task.elapsed_s)}" + ("   x stops it" if self._can_stop else "")
        if share is not None:
            width = min(max(self.size.width - line.cell_len - len(rest) - 8, 4), _BAR)
            done = round(share * width)
            line.append("█" * done, style=palette.line)
            line.append("░" * (width - done), style=palette.quiet).append(f" {share:4.0%}")
        line.append(rest, style=palette.quiet)
        self.update(line)


def _elapsed(seconds: float) -> str:
    return f"{seconds:.1f} s" if seconds < 60 else duration(int(seconds * 1000))


def _palette(widget: Widget) -> Palette:
    return frame_of(widget).palette
