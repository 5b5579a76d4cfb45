"""`kraftool node`: this software as a node of a quorum."""

from __future__ import annotations

from kraftool.commands.command_line import group_app

app = group_app("node")


@app.callback()
def node() -> None:
    """Run a node of a quorum on a controller's directories.

    Example: kraftool node run --config /etc/kafka/server.properties --dry-run

    The node speaks Kafka's protocol with Kafka's own controllers and brokers. Stop the Kafka that
    uses the directories first. Each node locks its directories, so two nodes never use the same
    ones.
    """
