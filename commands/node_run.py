"""`kraftool node run`: a real voter or observer from a Kafka server.properties."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from kraftool.commands.exit_code import ExitCode, RefusedError, UsageError
from kraftool.commands.options import Color, Debug, Quiet
from kraftool.commands.output import ColorWhen, Output

if TYPE_CHECKING:
    from kraftool.node.config import NodeConfig
    from kraftool.node.identity import NodeIdentity, QuorumRole
    from kraftool.raft.names import Endpoint


class RoleOption(StrEnum):
    """What it is to be."""

    VOTER = "voter"
    OBSERVER = "observer"


class LogFormat(StrEnum):
    """How it tells on stderr what happens."""

    TEXT = "text"
    JSON = "json"


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
        typer.Option("--witness", help="Vote and replicate; lead as a last resort only."),
    ] = False,
    lead_without_controller: Annotated[
        bool,
        typer.Option(
            "--lead-without-controller",
            help="Be an ordinary candidate, too; lead until a Kafka has caught up.",
        ),
    ] = False,
    controller: Annotated[
        bool,
        typer.Option(
            "--controller", help="Be an ordinary voter: run the controller while it leads."
        ),
    ] = False,
    image: Annotated[
        bool,
        typer.Option("--image/--no-image", help="Replay the metadata and write snapshots of it."),
    ] = True,
    override: Annotated[
        list[str] | None,
        typer.Option("--override", metavar="KEY=VALUE", help="A property in the file's stead."),
    ] = None,
    metrics_listen: Annotated[
        str,
        typer.Option("--metrics-listen", metavar="[HOST:]PORT", help="Serve /metrics there."),
    ] = "",
    shutdown_timeout: Annotated[
        float,
        typer.Option("--shutdown-timeout", metavar="S", min=0, help="How long an end may take."),
    ] = 5.0,
    log_format: Annotated[
        LogFormat, typer.Option("--log-format", help="Of what is told on stderr.")
    ] = LogFormat.TEXT,
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

    It runs no controller, so a voter is a witness: it replicates and votes for others. It leads as
    a last resort only, if it alone has the newest records, and hands leadership to a Kafka voter as
    soon as one has caught up. --lead-without-controller makes it an ordinary candidate that hands
    over in the same way. As long as it leads, brokers are not served, and admin tools can describe
    the quorum, change its voters and kraft.version.

    It registers with the active controller, as Kafka's controllers do; --role observer and
    --no-image do not.

    It stops on SIGTERM, SIGHUP and Ctrl-C. It exits with 0 if it stopped in order, with 1 if that
    took too long, and with 70 after an invariant broke; stderr then has its state.

    It writes to the metadata directory of the configuration: log, snapshots, quorum-state and,
    while it runs, the file kraftool-witness. With --dry-run nothing is written.
    """
    from kraftool.node.config import read_config
    from kraftool.node.identity import NotStarted, QuorumRole, read_identity
    from kraftool.node.process import Ended, NodeOptions, run_node
    from kraftool.node.runner import NodeFailedError
    from kraftool.storage.lock_taking import DirectoryInUse

    to = Output(color=color, quiet=quiet)
    if log_format is LogFormat.JSON:
        from kraftool.commands.node_log import json_line

        to.format_lines(json_line)
    if witness and lead_without_controller:
        raise UsageError(
            "--witness leads as a last resort only", hint="drop --lead-without-controller"
        )
    if role is RoleOption.OBSERVER and (witness or lead_without_controller):
        raise UsageError("an observer neither votes nor leads", hint="--role voter")
    settings = read_config(config, overrides=dict(map(_override, override or ())))
    for note in settings.notes:
        to.note(f"kraftool: {settings.file}: {note}")
    if not settings.is_controller:
        raise UsageError(f"{settings.source_of('process.roles')}: process.roles has no controller")
    options = NodeOptions(
        part=None if role is None else QuorumRole(role.value),
        stands=lead_without_controller,
        runs_controller=controller,
        replays=image,
        metrics=_endpoint(metrics_listen) if metrics_listen else None,
        shutdown_s=shutdown_timeout,
    )
    try:
        identity = read_identity(settings)
        if dry_run:
            _describe(to, settings, identity, options.part, stands=options.stands)
            to.finish()
        if lead_without_controller:
            to.note(
                "kraftool: --lead-without-controller: while this node leads, no broker is"
                " registered, fenced or unfenced, and admin tools can change voters and"
                " kraft.version only"
            )
        import asyncio

        from kraftool.node.security import Security

        with _narrated(to, log_format):
            ended = asyncio.run(run_node(settings, identity, options, Security(settings)))
    except (NotStarted, DirectoryInUse) as error:
        raise RefusedError(error.message, hint=error.hint) from error
    except NodeFailedError as error:
        hint = f" ({error.hint})" if error.hint else ""
        to.problem(f"the node has ended: {error.message}{hint}", code=ExitCode.INTERNAL)
        to.finish()
    if ended is not Ended.IN_ORDER:
        to.note(f"kraftool: ended {ended.value}")
        to.raise_code(ExitCode.FINDING)
    to.finish()


def _override(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not equals or not key.strip():
        raise UsageError(
            "--override wants KEY=VALUE", hint="--override controller.quorum.fetch.timeout.ms=5000"
        )
    return key.strip(), value


def _endpoint(text: str) -> Endpoint:
    from kraftool.decoders.addresses import host_and_port
    from kraftool.raft.names import Endpoint

    host, port = host_and_port(text if ":" in text else f":{text}")
    if port is None:
        raise UsageError(f"--metrics-listen {text}: no port", hint="--metrics-listen 9100")
    return Endpoint(host or "127.0.0.1", port)


@contextmanager
def _narrated(to: Output, log_format: LogFormat) -> Iterator[None]:
    """Have what the node says told on stderr, for so long as it runs."""
    import logging

    from kraftool.commands.node_log import handler

    node_handler = handler(to.log_line, as_json=log_format is LogFormat.JSON)
    levels = {"kraftool.node": logging.INFO, "kraftool.net": logging.INFO}
    levels["asyncio"] = logging.WARNING  # which would write plain text to stderr by itself
    loggers = [logging.getLogger(name) for name in levels]
    before = [(each.level, each.propagate, each.handlers) for each in loggers]
    for logger in loggers:
        logger.setLevel(levels[logger.name])
        logger.propagate = False
        logger.handlers = [node_handler]
    try:
        yield
    finally:
        node_handler.finish()
        for logger, (level, propagate, handlers) in zip(loggers, before, strict=True):
            logger.setLevel(level)
            logger.propagate = propagate
            logger.handlers = handlers


def _describe(
    to: Output, config: NodeConfig, identity: NodeIdentity, part: QuorumRole | None, *, stands: bool
) -> None:
    from kraftool.commands.node_view import write_plan

    write_plan(to, config, identity, wanted=part, stands=stands)
