"""`kraftool quorum remove-controller`: a voter votes no more."""

from __future__ import annotations

from typing import Annotated

import typer

from kraftool.commands.options import Color, Debug, Out, PlainFormat, PlainOutput, Quiet
from kraftool.commands.output import ColorWhen, Output
from kraftool.commands.quorum_options import (
    TIMEOUT_S,
    Bootstrap,
    CommandConfig,
    DryRun,
    Resolve,
    Timeout,
    VoterId,
)


def remove_controller(
    bootstrap_controller: Bootstrap,
    controller_id: VoterId,
    controller_directory_id: Annotated[
        str,
        typer.Option(
            "--controller-directory-id",
            "-d",
            metavar="UUID",
            help="Its directory.id; without one the voter's, as the leader tells it.",
        ),
    ] = "",
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
    """Remove a controller from the voters of a live quorum.

    Example: kraftool quorum remove-controller --bootstrap-controller c1:9093 -i 3 --dry-run

    Before the leader is asked it is checked that there is one, that the voters are dynamic, that
    this is a voter with this directory id, and that a majority of the voters that stay keeps up:
    what would leave none is not done. The controller itself goes on as an observer; with
    controller.quorum.auto.join.enable=true it would join again.

    It ends with 5 where a check blocks, or with 1 with --dry-run; with 1 where the leader refuses.
    With --dry-run nothing is changed. No file is ever written.
    """
    from kraftool.client.voter_changes import remove_controller as remove
    from kraftool.commands.quorum_change_run import carry_out
    from kraftool.commands.quorum_options import directory_id_of
    from kraftool.commands.quorum_options import target as target_of

    directory_id = directory_id_of(controller_directory_id)
    target = target_of(bootstrap_controller, command_config, timeout, resolve)
    to = Output(color=color, quiet=quiet, out=out)
    carry_out(
        to, remove(target, controller_id, directory_id, dry_run=dry_run), output, dry_run=dry_run
    )
