"""`kraftool storage`: what kafka-storage does, and what it should refuse."""

from __future__ import annotations

import typer

from kraftool.commands.storage_feature_dependencies import feature_dependencies
from kraftool.commands.storage_format import format_
from kraftool.commands.storage_info import info
from kraftool.commands.storage_random_uuid import random_uuid
from kraftool.commands.storage_version_mapping import version_mapping

app = typer.Typer(
    name="storage",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@app.callback()
def storage() -> None:
    """Format a node's directories, or show how they are formatted.

    Example: kraftool storage info --config /etc/kafka/server.properties

    These are the commands, options and output of kafka-storage. Only `format` writes, and it never
    overwrites.
    """


app.command("format")(format_)
app.command("info")(info)
app.command("random-uuid")(random_uuid)
app.command("version-mapping")(version_mapping)
app.command("feature-dependencies")(feature_dependencies)
