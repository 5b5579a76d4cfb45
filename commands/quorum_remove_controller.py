"""`kraftool quorum remove-controller`: a voter votes no more."""

from __future__ import annotations

from typing import Annotated

from typer import Option

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


def remove_controller(
    *,
    bootstrap_controller: Bootstrap,
    controller_id: VoterId,
    controller_directory_id: Annotated[
        str,
        Option(
            "--controller-directory-id",
            "-d",
            metavar="UUID",
            help="directory.id of the voter (default: the one that the leader reports).",
        ),
    ] = "",
    unregister: Annotated[
        bool,
        Option(
            "--unregister",
            help="Remove its registration too (metadata.version 4.4-IV2). The controller must be"
            " stopped.",
        ),
    ] = False,
    dry_run: DryRun = False,
    access: AccessOptions,
    output: PlainOutput = PlainFormat.TABLE,
    printing: OutputOptions,
) -> None:
    """Remove a controller from the voters of a live quorum.

    Example: kraftool quorum remove-controller --bootstrap-controller c1:9093 -i 3 --dry-run

    Before kraftool asks the leader, it checks that there is one, that the voters are dynamic, and
    that this is a voter with this directory id. It checks that a majority of the remaining voters
    keeps up. The controller itself continues as an observer. With
    controller.quorum.auto.join.enable=true it would join again. Kafka keeps its registration, which
    can block an upgrade later. --unregister removes that too.

    Exits 5 if a check blocks the change (1 with --dry-run), and 1 if the leader refuses it. With
    --dry-run nothing is changed. No file is ever written.
    """
    from kraftool.client.voter_changes import remove_controller as remove
    from kraftool.commands.quorum_change_run import carry_out
    from kraftool.commands.quorum_options import directory_id_of

    directory_id = directory_id_of(controller_directory_id)
    target = access.target_at(bootstrap_controller)
    to = printing.open()
    work = remove(target, controller_id, directory_id, unregister=unregister, dry_run=dry_run)
    carry_out(to, work, output, dry_run=dry_run)
