"""The marks of a command's parameters: `Annotated[str, Option("--out", help="...")]`.

Owns the settings of a command's parameters, with typer's names. `plain_line.py` reads a plain
command line by these marks alone, so that the command does not wait for typer. For help, errors
and other lines `command_line.py` makes typer's marks of them.
"""

from __future__ import annotations

from typing import Any


class _Mark:
    """Names and settings, as `typer.Option` and `typer.Argument` take them."""

    def __init__(self, *names: str, **settings: Any) -> None:
        self.names, self.settings = names, settings


class Option(_Mark):
    """The mark of an option."""


class Argument(_Mark):
    """The mark of an argument."""
