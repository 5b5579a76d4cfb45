"""`kraftool storage`: what kafka-storage does, and what it should refuse."""

from __future__ import annotations

from kraftool.commands.command_line import group_app

app = group_app("storage")


@app.callback()
def storage() -> None:
    """Format a node's directories, and tell how they are formatted.

    Example: kraftool storage info --config /etc/kafka/server.properties

    The commands, options and lines of kafka-storage. Only `format` writes; it never overwrites.
    """
