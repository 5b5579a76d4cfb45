"""The typer app. Which commands there are: `command_table.py`."""

from __future__ import annotations

from typing import Annotated

import typer

from kraftool.commands.command_line import SETTINGS, group_app

app = group_app("kraftool", add_completion=True, context_settings=SETTINGS)


@app.callback()
def kraftool(
    version: Annotated[
        bool, typer.Option("--version", "-V", help="Show the version and exit.")
    ] = False,
) -> None:
    """Inspect and repair the KRaft state of Apache Kafka.

    Example: kraftool dump /var/lib/kafka/data

    Nothing is written unless a command's purpose is to write.
    """
