"""`kraftool storage`: what kafka-storage does, and what it should refuse."""

from __future__ import annotations

from kraftool.commands.command_line import group_app

app = group_app("storage")


@app.callback()
def storage() -> None:
    """Format a node's directories, or show how they are formatted.

    Example: kraftool storage info --config /etc/kafka/server.properties

    These are the commands, options and output of kafka-storage. Only `format` writes, and it never
    overwrites.
    """
