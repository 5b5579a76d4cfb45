"""`kraftool quorum upgrade`: static voters become dynamic."""

from __future__ import annotations

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


def upgrade(
    *,
    bootstrap_controller: Bootstrap,
    dry_run: DryRun = False,
    access: AccessOptions,
    output: PlainOutput = PlainFormat.TABLE,
    printing: OutputOptions,
) -> None:
    """Upgrade a live quorum from static to dynamic voters.

    Example: kraftool quorum upgrade --bootstrap-controller ctl-1:9093 --dry-run

    The command upgrades kraft.version to 1. Before it writes anything it checks that there is a
    leader, that every voter answers and supports the level, and that the leader accepts the request
    in a dry run. Afterwards you can add and remove voters. Replace controller.quorum.voters with
    controller.quorum.bootstrap.servers in the configuration of every node. The upgrade cannot be
    undone.

    Exits 5 if a check blocks the change (1 with --dry-run), and 1 if the leader refuses it. With
    --dry-run nothing is changed. No file is ever written.
    """
    from kraftool.client.kraft_upgrade import upgrade as carry
    from kraftool.commands.quorum_change_run import carry_out

    target = access.target_at(bootstrap_controller)
    to = printing.open()
    carry_out(to, carry(target, dry_run=dry_run), output, dry_run=dry_run)
