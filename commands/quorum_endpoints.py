"""`kraftool quorum endpoints`: where the quorum is told that a voter is reached."""

from __future__ import annotations

from typing import Annotated

from typer import Option

from kraftool.commands.exit_code import UsageError
from kraftool.commands.options import (
    OutputOptions,
    PlainFormat,
    PlainOutput,
)
from kraftool.commands.quorum_options import (
    AccessOptions,
    Bootstrap,
    DryRun,
    VoterId,
)


def endpoints(
    *,
    bootstrap_controller: Bootstrap,
    controller_id: VoterId,
    endpoint: Annotated[
        list[str],
        Option(
            "--endpoint",
            metavar="LISTENER://HOST:PORT",
            help="New endpoint of the voter. Repeat it for each of its listeners.",
        ),
    ],
    dry_run: DryRun = False,
    access: AccessOptions,
    output: PlainOutput = PlainFormat.TABLE,
    printing: OutputOptions,
) -> None:
    """Correct the endpoints of a voter in a live quorum.

    Example: kraftool quorum endpoints --bootstrap-controller c1:9093 -i 3 --endpoint C://c3:9093

    Use it for a voter that moved and cannot report its new endpoint to the leader. A running
    controller reports its advertised.listeners itself and undoes other values, so change those
    first. Before kraftool asks the leader, it checks that a controller of this cluster answers
    there. kraftool quorum describe shows the current endpoints.

    Exits 5 if a check blocks the change (1 with --dry-run), and 1 if the leader refuses it. With
    --dry-run nothing is changed. No file is ever written.
    """
    from kraftool.client.endpoints import EndpointError
    from kraftool.client.listeners import parse_listeners
    from kraftool.client.voter_changes import move_controller
    from kraftool.commands.quorum_change_run import carry_out

    try:
        wanted = parse_listeners(endpoint)
    except EndpointError as error:
        raise UsageError(error.message, hint=error.hint) from None
    target = access.target_at(bootstrap_controller)
    to = printing.open()
    carry_out(
        to, move_controller(target, controller_id, wanted, dry_run=dry_run), output, dry_run=dry_run
    )
