"""`kraftool quorum`: what is asked of, or done to, a live quorum."""

from __future__ import annotations

import typer

from kraftool.commands.quorum_add_controller import add_controller
from kraftool.commands.quorum_describe import describe
from kraftool.commands.quorum_endpoints import endpoints
from kraftool.commands.quorum_health import health
from kraftool.commands.quorum_may_stop import may_stop
from kraftool.commands.quorum_remove_controller import remove_controller
from kraftool.commands.quorum_upgrade import upgrade

app = typer.Typer(
    name="quorum",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@app.callback()
def quorum() -> None:
    """Ask the controllers of a live quorum, or change its voters.

    Example: kraftool quorum describe --bootstrap-controller ctl-1:9093

    kraftool asks every controller itself, so it also works without a leader. It also asks the
    controllers that the first ones name. From outside their network, --resolve sets where to reach
    them.

    Nothing is changed unless the command's purpose is to change it.
    """


app.command("describe")(describe)
app.command("health")(health)
app.command("may-stop")(may_stop)
app.command("add-controller")(add_controller)
app.command("remove-controller")(remove_controller)
app.command("endpoints")(endpoints)
app.command("upgrade")(upgrade)
