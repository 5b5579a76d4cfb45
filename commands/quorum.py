"""`kraftool quorum`: what is asked of, or done to, a live quorum."""

from __future__ import annotations

from kraftool.commands.command_line import group_app

app = group_app("quorum")


@app.callback()
def quorum() -> None:
    """Ask the controllers of a live quorum, or change its voters.

    Example: kraftool quorum describe --bootstrap-controller ctl-1:9093

    kraftool asks every controller itself, so it also works without a leader. It also asks the
    controllers that the first ones name. If kraftool runs outside their network, use --resolve to
    give the addresses that it can reach.

    Nothing is changed unless the command's purpose is to change it.
    """
