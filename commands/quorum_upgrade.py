"""`kraftool quorum upgrade`: static voters become dynamic."""

from __future__ import annotations

from kraftool.commands.options import Color, Debug, Out, PlainFormat, PlainOutput, Quiet
from kraftool.commands.output import ColorWhen, Output
from kraftool.commands.quorum_options import (
    TIMEOUT_S,
    Bootstrap,
    CommandConfig,
    DryRun,
    Resolve,
    Timeout,
)


def upgrade(
    bootstrap_controller: Bootstrap,
    dry_run: DryRun = False,
    command_config: CommandConfig = "",
    resolve: Resolve = None,
    timeout: Timeout = TIMEOUT_S,
    output: PlainOutput = PlainFormat.TABLE,
    out: Out = "",
    color: Color = ColorWhen.AUTO,
    quiet: Quiet = False,
    debug: Debug = False,
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
    from kraftool.commands.quorum_options import target as target_of

    target = target_of(bootstrap_controller, command_config, timeout, resolve)
    to = Output(color=color, quiet=quiet, out=out)
    carry_out(to, carry(target, dry_run=dry_run), output, dry_run=dry_run)
