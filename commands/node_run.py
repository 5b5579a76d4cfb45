"""`kraftool node run`: a real voter or observer from a Kafka server.properties."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

from typer import Option

from kraftool.commands.exit_code import RefusedError, UsageError
from kraftool.commands.node_running import NodeRunOptions, run_to_end
from kraftool.commands.output import Output

if TYPE_CHECKING:
    from kraftool.node.config import NodeConfig
    from kraftool.node.identity import NodeIdentity
    from kraftool.node.options import NodeOptions


class RoleOption(StrEnum):
    """The role that the node is to have."""

    VOTER = "voter"
    OBSERVER = "observer"


def run(
    *,
    config: Annotated[
        str, Option("--config", "-c", metavar="FILE", help="server.properties of the node.")
    ],
    role: Annotated[
        RoleOption | None,
        Option("--role", help="Role of the node (default: the role that its own log shows)."),
    ] = None,
    witness: Annotated[
        bool,
        Option(
            "--witness", help="Vote and replicate, but run no controller; lead as a last resort."
        ),
    ] = False,
    image: Annotated[
        bool,
        Option(
            "--image/--no-image",
            help="Replay the metadata and write snapshots. A voter with --no-image is a witness.",
        ),
    ] = True,
    override: Annotated[
        list[str] | None,
        Option("--override", metavar="KEY=VALUE", help="Override a property of the file."),
    ] = None,
    running: NodeRunOptions,
) -> None:
    """Run a voter or an observer among Kafka's controllers.

    Example: kraftool node run --config /etc/kafka/server.properties --dry-run

    Without --dry-run the node runs until a signal stops it. It uses the directories of the
    configuration, as Kafka formats them (kraftool storage format). Kafka can start on them again
    afterwards. An observer replicates but is not counted. A voter's disk and vote count for
    majorities. A directory that belongs to a voter cannot be used as an observer.

    A voter is elected like any other. While it leads it is the active controller: brokers register
    with it, and clients administer topics, reassignments, configs, quotas, delegation tokens,
    feature levels, ACLs and SCRAM users.

    With --witness, or --no-image, a voter replicates and votes for others. It leads only as a last
    resort, if it alone has the newest records. It hands the leadership to a voter that runs a
    controller as soon as one has caught up. While a witness leads, brokers are not served. Admin
    tools can describe the quorum, and change its voters and kraft.version.

    The node does not open a damaged log. Kafka cuts it at the damage, and so does the node with
    --cut-damaged-log. Both cut off an unfinished batch at the end of the log.

    The node registers with the active controller, as Kafka's controllers do, but not with --role
    observer or --no-image.

    It stops on SIGTERM, SIGHUP and Ctrl-C. It exits 0 after an orderly shutdown, 1 if the shutdown
    took too long, and 70 after an internal error; stderr then shows the state of the node.

    It writes to the metadata directory of the configuration: log, snapshots, quorum-state and,
    while a witness runs, the file kraftool-witness. With --dry-run nothing is written.
    """
    from kraftool.node.config import read_config
    from kraftool.node.identity import NotStarted, QuorumRole, read_identity
    from kraftool.node.options import NodeOptions

    to = running.open()
    if role is RoleOption.OBSERVER and witness:
        raise UsageError(
            "an observer does not vote, but a witness does", hint="drop one of the two"
        )
    settings = read_config(config, overrides=dict(map(_override, override or ())))
    for note in settings.notes:
        to.note(f"kraftool: {settings.file}: {note}")
    if not settings.is_controller:
        raise UsageError(
            f"{settings.source_of('process.roles')}: process.roles does not include controller"
        )
    options = NodeOptions(
        part=None if role is None else QuorumRole(role.value),
        witness=witness,
        replays=image,
        cuts_batches=running.cut_damaged_log,
        metrics=running.metrics,
        shutdown_s=running.shutdown_timeout,
    )
    if running.dry_run:
        try:
            _describe(to, settings, read_identity(settings), options)
        except NotStarted as error:
            raise RefusedError(error.message, hint=error.hint) from error
        to.finish()
    run_to_end(to, settings, options, running.log_format)


def _override(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not equals or not key.strip():
        raise UsageError(
            "--override requires KEY=VALUE",
            hint="--override controller.quorum.fetch.timeout.ms=5000",
        )
    return key.strip(), value


def _describe(to: Output, config: NodeConfig, identity: NodeIdentity, options: NodeOptions) -> None:
    from kraftool.commands.node_view import write_plan

    write_plan(
        to,
        config,
        identity,
        wanted=options.part,
        runs_controller=options.runs_controller,
    )
