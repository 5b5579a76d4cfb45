"""The marks of a command's parameters: `Annotated[str, Option("--out", help="...")]`.

Owns what a command says of its parameters, which is what typer takes. A command line that is
plain is read from these marks alone (`plain_line.py`). For all else, help and errors first of all,
`command_line.py` makes typer's marks of them. So a command does not wait for typer.
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
