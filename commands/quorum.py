"""`kraftool quorum`: what is asked of, or done to, a live quorum."""

from __future__ import annotations

from kraftool.commands.command_line import group_app

app = group_app("quorum")


@app.callback()
def quorum() -> None:
    """Ask the controllers of a live quorum, and change who votes.

    Example: kraftool quorum describe --bootstrap-controller ctl-1:9093

    Every controller is asked itself, so that it works without a leader too. Controllers that the
    first ones name are asked as well; --resolve tells where to reach them from outside.

    Nothing is changed unless the command's purpose is to change it.
    """
