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
    """Upgrade a live quorum from static voters to dynamic ones (kraft.version 1).

    Example: kraftool quorum upgrade --bootstrap-controller ctl-1:9093 --dry-run

    Before anything is written it is checked that there is a leader, that every voter is reached and
    supports it, and the leader itself is asked whether it would. Afterwards voters can be added and
    removed, and controller.quorum.bootstrap.servers takes the place of controller.quorum.voters in
    every node's configuration. There is no way back.

    It ends with 5 where a check blocks, or with 1 with --dry-run; with 1 where the leader refuses.
    With --dry-run nothing is changed. No file is ever written.
    """
    from kraftool.client.kraft_upgrade import upgrade as carry
    from kraftool.commands.quorum_change_run import carry_out
    from kraftool.commands.quorum_options import target as target_of

    target = target_of(bootstrap_controller, command_config, timeout, resolve)
    to = Output(color=color, quiet=quiet, out=out)
    carry_out(to, carry(target, dry_run=dry_run), output, dry_run=dry_run)
