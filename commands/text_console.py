"""Consoles of rich that only capture text, and what decides their width and colour.

`output.py` writes what they captured. Rich is imported when the first console is made.
"""

from __future__ import annotations

import io
import os
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

_FILLING = re.compile(r"(?: |\x1b\[[0-9;]*m)+$", re.MULTILINE)


def text_console(width: int, *, colored: bool) -> Console:
    """Return a console that writes to no stream: its text is captured."""
    from rich.console import Console

    return Console(
        file=io.StringIO(),
        width=width,
        markup=False,
        highlight=False,
        emoji=False,
        force_terminal=colored,
        no_color=not colored,
        color_system="standard" if colored else None,
        legacy_windows=False,
    )


def rendered(console: Console, renderables: Iterable[RenderableType], *, unbroken: bool) -> str:
    """Return what a console shows of tables and texts. No word is broken over two lines.

    With `unbroken` no line is broken at all.
    """
    from rich.table import Table
    from rich.text import Text

    from kraftool.commands.text_flow import Beside, Flow, Stacked, Unbroken, fitting

    with console.capture() as capture:
        for renderable in renderables:
            shown = renderable
            if isinstance(renderable, Table):
                if renderable.title:  # rich breaks it at the width of the rows
                    console.print(renderable.title, soft_wrap=True)
                    renderable.title = None
                shown = fitting(renderable, console.width)
            if isinstance(shown, Text) and not unbroken:
                shown = Flow(shown)
            is_flow = isinstance(shown, Flow | Beside | Unbroken | Stacked)
            console.print(shown, soft_wrap=unbroken or is_flow, crop=False)
    return _unfilled(capture.get())


def _unfilled(text: str) -> str:
    """Remove the blanks with which rich fills table rows up to the width: they would be copied."""
    return _FILLING.sub(lambda match: match[0].replace(" ", ""), text)


def stream_width(*, watched: bool) -> int:
    """Return the columns to fill: at least 40, and 80 for a stream that is no terminal."""
    import shutil

    if not watched and "COLUMNS" not in os.environ:
        return 80
    return max(shutil.get_terminal_size().columns, 40)


def allows_colour(*, watched: bool) -> bool:
    """True if a stream is to be coloured, by NO_COLOR, FORCE_COLOR, TERM, and whether it is
    watched: a terminal. NO_COLOR decides before FORCE_COLOR."""
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR", "0") not in ("", "0"):
        return True
    return watched and os.environ.get("TERM") != "dumb"
