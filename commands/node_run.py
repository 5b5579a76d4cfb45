"""`kraftool node run`: a real voter or observer from a Kafka server.properties."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from kraftool.commands.exit_code import RefusedError, UsageError
from kraftool.commands.node_running import (
    LogFormat,
    LogFormatOption,
    MetricsListen,
    ShutdownTimeout,
    endpoint_of,
    output_of,
    run_to_end,
)
from kraftool.commands.options import Color, Debug, Quiet
from kraftool.commands.output import ColorWhen, Output

if TYPE_CHECKING:
    from kraftool.node.config import NodeConfig
    from kraftool.node.identity import NodeIdentity
    from kraftool.node.options import NodeOptions


class RoleOption(StrEnum):
    """What it is to be."""

    VOTER = "voter"
    OBSERVER = "observer"


def run(
    config: Annotated[
        str, typer.Option("--config", "-c", metavar="FILE", help="A Kafka server.properties.")
    ],
    role: Annotated[
        RoleOption | None,
        typer.Option("--role", help="What it is to be; by default what its own log says."),
    ] = None,
    witness: Annotated[
        bool,
        typer.Option(
            "--witness", help="Vote and replicate, but run no controller; lead as a last resort."
        ),
    ] = False,
    image: Annotated[
        bool,
        typer.Option(
            "--image/--no-image",
            help="Replay the metadata and write snapshots of it; a voter that does not is a"
            " witness.",
        ),
    ] = True,
    override: Annotated[
        list[str] | None,
        typer.Option("--override", metavar="KEY=VALUE", help="A property in the file's stead."),
    ] = None,
    metrics_listen: MetricsListen = "",
    shutdown_timeout: ShutdownTimeout = 5.0,
    log_format: LogFormatOption = LogFormat.TEXT,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would run; touch and send nothing.")
    ] = False,
    color: Color = ColorWhen.AUTO,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Run a voter or an observer of a quorum of real Kafka controllers.

    Example: kraftool node run --config /etc/kafka/server.properties --dry-run

    Without --dry-run it runs until a signal ends it. The directories are those of the
    configuration, as Kafka formats them (kraftool storage format); Kafka starts on them again
    afterwards. An observer replicates and is not counted; a voter's
    disk and vote count for majorities. A directory that is a voter's cannot be made to observe.

    A voter is elected like any other: while it leads it is the active controller, at which
    brokers register, and topics and configs are administered. ACLs, quotas, SCRAM users,
    reassignments and upgrades of features are not done yet: until another node leads, brokers do
    not offer them.

    With --witness, or --no-image, a voter replicates and votes for others. It leads as a last
    resort only, if it alone has the newest records, and hands leadership to a voter that runs a
    controller as soon as one has caught up. As long as a witness leads, brokers are not served, and
    admin tools can describe the quorum, change its voters and kraft.version.

    It registers with the active controller, as Kafka's controllers do; --role observer and
    --no-image do not.

    It stops on SIGTERM, SIGHUP and Ctrl-C. It exits with 0 if it stopped in order, with 1 if that
    took too long, and with 70 after an invariant broke; stderr then has its state.

    It writes to the metadata directory of the configuration: log, snapshots, quorum-state and,
    while a witness runs, the file kraftool-witness. With --dry-run nothing is written.
    """
    from kraftool.node.config import read_config
    from kraftool.node.identity import NotStarted, QuorumRole, read_identity
    from kraftool.node.options import NodeOptions

    to = output_of(log_format, Output(color=color, quiet=quiet))
    if role is RoleOption.OBSERVER and witness:
        raise UsageError(
            "an observer does not vote, and a witness does", hint="drop one of the two"
        )
    settings = read_config(config, overrides=dict(map(_override, override or ())))
    for note in settings.notes:
        to.note(f"kraftool: {settings.file}: {note}")
    if not settings.is_controller:
        raise UsageError(f"{settings.source_of('process.roles')}: process.roles has no controller")
    options = NodeOptions(
        part=None if role is None else QuorumRole(role.value),
        witness=witness,
        replays=image,
        metrics=endpoint_of(metrics_listen, "--metrics-listen") if metrics_listen else None,
        shutdown_s=shutdown_timeout,
    )
    if dry_run:
        try:
            _describe(to, settings, read_identity(settings), options)
        except NotStarted as error:
            raise RefusedError(error.message, hint=error.hint) from error
        to.finish()
    run_to_end(to, settings, options, log_format)


def _override(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not equals or not key.strip():
        raise UsageError(
            "--override wants KEY=VALUE", hint="--override controller.quorum.fetch.timeout.ms=5000"
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
