"""`kraftool node`: this software as a node of a quorum."""

from __future__ import annotations

from kraftool.commands.command_line import group_app

app = group_app("node")


@app.callback()
def node() -> None:
    """Run a node of a quorum on a controller's own directories.

    Example: kraftool node run --config /etc/kafka/server.properties --dry-run

    It speaks Kafka's protocol with Kafka's own controllers and brokers. Stop the Kafka whose
    directories it takes; the lock of the directory sees to it that two of them never run.
    """
