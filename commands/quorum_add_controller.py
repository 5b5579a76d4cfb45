"""`kraftool quorum add-controller`: an observing controller becomes a voter."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

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
)

if TYPE_CHECKING:
    from kraftool.client.listeners import NewVoter


def add_controller(
    *,
    bootstrap_controller: Bootstrap,
    config: Annotated[
        str,
        Option(
            "--config",
            "-c",
            metavar="FILE",
            help="server.properties of the new controller. Its directory must be on this machine"
            " too.",
        ),
    ] = "",
    controller_id: Annotated[
        int | None,
        Option(
            "--controller-id",
            "-i",
            metavar="ID",
            min=0,
            help="node.id of the new controller, instead of --config. kraftool gets the rest from"
            " the quorum.",
        ),
    ] = None,
    controller_directory_id: Annotated[
        str,
        Option(
            "--controller-directory-id",
            "-d",
            metavar="UUID",
            help="directory.id of the new controller (default: the one with which it fetches from"
            " the leader).",
        ),
    ] = "",
    endpoint: Annotated[
        list[str] | None,
        Option(
            "--endpoint",
            metavar="LISTENER://HOST:PORT",
            help="Address for the other controllers, once for each of its controller listeners"
            " (default: those that it has registered).",
        ),
    ] = None,
    dry_run: DryRun = False,
    access: AccessOptions,
    output: PlainOutput = PlainFormat.TABLE,
    printing: OutputOptions,
) -> None:
    """Add a controller to the voters of a live quorum.

    \b
    Examples:
    $ kraftool quorum add-controller --bootstrap-controller c1:9093 -i 4
    $ kraftool quorum add-controller --bootstrap-controller c1:9093 -c /etc/kafka/server.properties

    With --controller-id the leader reports the directory id of the controller, and the cluster's
    metadata has the endpoints that it registered. --controller-directory-id and --endpoint replace
    them. With --config both come from the controller's own files. kafka-metadata-quorum sends the
    same request.

    The controller must already run as an observer that has caught up. Before kraftool asks the
    leader, it checks that there is one, and that the voters are dynamic. It checks that the
    controller observes with this directory id and has nearly caught up. It checks that the
    endpoints answer and include the listener that the voters use, and that a majority of the new
    voter set keeps up.

    Exits 5 if a check blocks the change (1 with --dry-run), and 1 if the leader refuses it. With
    --dry-run nothing is changed. No file is ever written.
    """
    from kraftool.client.voter_changes import add_controller as add
    from kraftool.commands.quorum_change_run import carry_out

    candidate = _candidate(config, controller_id, controller_directory_id, endpoint or [])
    target = access.target_at(bootstrap_controller)
    to = printing.open()
    carry_out(to, add(target, candidate, dry_run=dry_run), output, dry_run=dry_run)


def _candidate(
    config: str, controller_id: int | None, directory_id: str, endpoint: list[str]
) -> NewVoter:
    from kraftool.client.endpoints import EndpointError
    from kraftool.client.listeners import NewVoter, candidate_of, parse_listeners
    from kraftool.commands.quorum_options import directory_id_of
    from kraftool.net.settings import SettingsError

    if bool(config) == (controller_id is not None):
        raise UsageError(
            "name either --config or --controller-id",
            hint="-i ID takes directory id and endpoints from the quorum",
        )
    if config and (directory_id or endpoint):
        raise UsageError("--config already gives the directory id and endpoints")
    try:
        if config:
            return candidate_of(config)
        return NewVoter(
            node_id=controller_id,
            directory_id=directory_id_of(directory_id),
            endpoints=parse_listeners(endpoint),
        )
    except (EndpointError, SettingsError) as error:
        raise UsageError(error.message, hint=error.hint) from None
