"""Consoles of rich that only capture text, and what decides their width and colour.

`output.py` writes what they captured. Rich is imported when the first console is made.
"""

from __future__ import annotations

import io
import os
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

UNWRAPPED = 1 << 20
"""Columns of a stream that is no terminal: no line is wrapped."""
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


def unfilled(text: str) -> str:
    """Remove the blanks with which rich fills table rows up to the width: they would be copied."""
    return _FILLING.sub(lambda found: found[0].replace(" ", ""), text)


def terminal_width() -> int:
    """Return the columns of the terminal, at least 40."""
    import shutil

    return max(shutil.get_terminal_size().columns, 40)


def colours(*, is_terminal: bool) -> bool:
    """True if a stream is coloured where --color does not say.

    NO_COLOR is against it whatever else is set. FORCE_COLOR is for it where there is no terminal,
    or one of which TERM says that it is dumb.
    """
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR", "0") not in ("", "0"):
        return True
    return is_terminal and os.environ.get("TERM") != "dumb"
