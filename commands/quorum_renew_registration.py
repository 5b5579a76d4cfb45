"""`kraftool quorum renew-registration`: today's levels for a controller that is gone."""

from __future__ import annotations

from typing import Annotated

from typer import Argument, Option

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


def renew_registration(
    *,
    node_id: Annotated[
        int, Argument(metavar="ID", min=0, help="node.id of the controller that is gone.")
    ],
    bootstrap_controller: Bootstrap,
    yes: Annotated[
        str, Option("--yes", metavar="ID", help="Give the id here instead of typing it.")
    ] = "",
    dry_run: DryRun = False,
    access: AccessOptions,
    output: PlainOutput = PlainFormat.TABLE,
    printing: OutputOptions,
) -> None:
    """Register a controller that is gone with the levels of today.

    Example: kraftool quorum renew-registration 3 --bootstrap-controller c1:9093 --dry-run

    Kafka refuses an upgrade to a level that a registered controller does not support, even if that
    controller is gone. Before metadata.version 4.4-IV2 no request removes a registration. This
    command registers the controller once more with the levels that the leader supports. Its
    listeners stay as they are. Starting a node with this id for a moment has the same effect.

    kraftool first checks that the controller is registered, and that it neither votes nor runs.
    Then it asks you to type the id. From metadata.version 4.4-IV2 on, use
    quorum unregister-controller.

    Exits 5 if a check blocks the change (1 with --dry-run) or the id is not confirmed, and 1 if the
    leader refuses it. With --dry-run nothing is changed. No file is ever written.
    """
    from kraftool.client.registration_changes import renew_registration as renew
    from kraftool.commands.quorum_change_run import carry_out, confirm_id

    target = access.target_at(bootstrap_controller)
    to = printing.open()
    if not dry_run:
        confirm_id(node_id, yes, renew(target, node_id, dry_run=True), to)
    carry_out(to, renew(target, node_id, dry_run=dry_run), output, dry_run=dry_run)
