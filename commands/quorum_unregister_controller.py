"""`kraftool quorum unregister-controller`: the registration of a controller that is gone."""

from __future__ import annotations

from typing import Annotated

from typer import Argument

from kraftool.commands.options import (
    OutputOptions,
    PlainFormat,
    PlainOutput,
)
from kraftool.commands.quorum_options import (
    AccessOptions,
    Bootstrap,
    DryRun,
)


def unregister_controller(
    *,
    node_id: Annotated[
        int, Argument(metavar="ID", min=0, help="node.id of the controller that is gone.")
    ],
    bootstrap_controller: Bootstrap,
    dry_run: DryRun = False,
    access: AccessOptions,
    output: PlainOutput = PlainFormat.TABLE,
    printing: OutputOptions,
) -> None:
    """Remove the registration of a controller that is gone.

    Example: kraftool quorum unregister-controller 3 --bootstrap-controller c1:9093 --dry-run

    Kafka keeps the registration of a controller that was removed or lost, and refuses an upgrade to
    a level that it does not support. Before kraftool asks the leader, it checks that the controller
    neither votes nor runs, and that metadata.version is 4.4-IV2 or newer. A controller that starts
    again registers itself again. For older levels there is quorum renew-registration.

    Exits 5 if a check blocks the change (1 with --dry-run), and 1 if the leader refuses it. With
    --dry-run nothing is changed. No file is ever written.
    """
    from kraftool.client.registration_changes import unregister_controller as unregister
    from kraftool.commands.quorum_change_run import carry_out

    target = access.target_at(bootstrap_controller)
    to = printing.open()
    carry_out(to, unregister(target, node_id, dry_run=dry_run), output, dry_run=dry_run)
