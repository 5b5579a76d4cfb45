"""The dialogs of the frame: help, and where to export to.

Owns their layout. What they decide they hand back; they do nothing themselves.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rich.style import Style
from rich.table import Table
from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Footer, Input, Static

from kraftool.tui.frame import frame_of
from kraftool.tui.views import VIEWS
from kraftool.tui.widgets.prompt import LineInput

if TYPE_CHECKING:
    from kraftool.tui.view import View

_KEYS = (
    ("1 … 8, [ ]", "", "another view, as a click on its tab"),
    ("j k g G  ^d ^u", "", "down, up, top, bottom, half a page down, half a page up"),
    ("/", "slash", "search this view"),
    ("n", "n", "the next match"),
    ("N", "N", "the match before"),
    ("p", "p", "pause the screen; kraftool goes on watching"),
    ("r", "r", "poll now"),
    ("y", "y", "copy the row under the cursor to the terminal's clipboard"),
    ("e", "e", "export this view as JSON, CSV or SVG"),
    ("t", "t", "the next theme: dark, light, high contrast, colour-blind, no colour"),
    ("^p", "ctrl+p", "command palette: find a command by its name"),
    ("tab", "tab", "the next part of the view"),
    ("?", "question_mark", "this help"),
    ("q", "q", "quit"),
)
"""How a key is written, which key a click on its line presses, and what the key does."""


class Help(ModalScreen[None]):
    """Keys, and what the view before it shows."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss", "Close", key_display="Esc"),
        Binding("question_mark,q", "dismiss", show=False),
        Binding("j", "scroll(1)", show=False),
        Binding("k", "scroll(-1)", show=False),
    ]

    def __init__(self, view: View | None) -> None:
        super().__init__()
        self._view = view

    def compose(self) -> ComposeResult:
        with VerticalScroll(id="help"):
            yield Static(self._text())
        yield Footer(show_command_palette=False, compact=True)

    def action_scroll(self, lines: int) -> None:
        self.query_one("#help", VerticalScroll).scroll_relative(y=lines, animate=False)

    def _text(self) -> Table:
        palette = frame_of(self).palette
        table = Table.grid(padding=(0, 2))
        table.add_column(no_wrap=True)
        table.add_column()

        def part(words: str, more: str = "") -> None:
            table.add_row(Text(words, style=palette.name), Text(more, style=palette.quiet))

        def line(shown: str, key: str, words: str) -> None:
            # A click does what the key does.
            click = Style(meta={"@click": f"app.press({key!r})"}) if key else Style()
            table.add_row(Text(shown, style=palette.key + click), Text(words, style=click))

        if self._view is not None:
            part(self._view.TITLE)
            table.add_row(Text(""), Text(self._view.ABOUT, style=palette.quiet))
            for binding in self._view.BINDINGS:
                if isinstance(binding, Binding) and binding.description:
                    name = binding.key.partition(",")[0]
                    line(binding.key_display or name, name, binding.description)
            table.add_row(Text(""), Text(""))
        part("Everywhere", "press the key, or click its line here")
        for shown, key, words in _KEYS:
            line(shown, key, words)
        table.add_row(Text(""), Text(""))
        part("Views")
        for number, view in enumerate(VIEWS, 1):
            line(str(number), str(number), view.title)
        return table


class Export(ModalScreen[str | None]):
    """Asks for a file's name; its ending is the format."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self._name = name

    def compose(self) -> ComposeResult:
        with Vertical(id="export"):
            yield Static("Export this view to a new file (.json, .csv or .svg)")
            yield LineInput(f"{self._name}.json", id="path", compact=True)
            yield Static(id="why")
        yield Footer(show_command_palette=False, compact=True)

    def on_line_input_left(self, message: LineInput.Left) -> None:
        message.stop()
        self.dismiss()

    def on_input_submitted(self, message: Input.Submitted) -> None:
        path = message.value.strip()
        if path.endswith((".json", ".csv", ".svg")):
            self.dismiss(path)
        else:
            self.query_one("#why", Static).update("the name must end in .json, .csv or .svg")
