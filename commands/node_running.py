"""A node's run as the commands of `kraftool node` have it: its lines on stderr, and how it ends."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

from typer import Option

from kraftool.commands.exit_code import ExitCode, RefusedError, UsageError
from kraftool.commands.options import ScreenOptions
from kraftool.commands.output import Output

if TYPE_CHECKING:
    from kraftool.node.config import NodeConfig
    from kraftool.node.options import NodeOptions
    from kraftool.raft.names import Endpoint


class LogFormat(StrEnum):
    """The format of a node's log on stderr."""

    TEXT = "text"
    JSON = "json"


@dataclass(frozen=True, kw_only=True)
class NodeRunOptions(ScreenOptions):
    """The options of every run of a node."""

    metrics_listen: Annotated[
        str,
        Option("--metrics-listen", metavar="[HOST:]PORT", help="Address for serving /metrics."),
    ] = ""
    shutdown_timeout: Annotated[
        float,
        Option("--shutdown-timeout", metavar="S", min=0, help="Seconds allowed for shutdown."),
    ] = 5.0
    log_format: Annotated[LogFormat, Option("--log-format", help="Log format on stderr.")] = (
        LogFormat.TEXT
    )
    cut_damaged_log: Annotated[
        bool,
        Option(
            "--cut-damaged-log",
            help="Cut a damaged log at the damage, and lose the records after it.",
        ),
    ] = False
    dry_run: Annotated[
        bool, Option("--dry-run", help="Show what would run. Write and send nothing.")
    ] = False

    @property
    def metrics(self) -> Endpoint | None:
        """The address for /metrics."""
        given = self.metrics_listen
        return endpoint_of(given, "--metrics-listen") if given else None

    def open(self, out: str = "") -> Output:
        """Return the output, with lines of JSON on stderr if that is wanted."""
        to = super().open(out)
        if self.log_format is LogFormat.JSON:
            from kraftool.commands.node_log import json_line

            to.format_lines(json_line)
        return to


def endpoint_of(text: str, option: str, *, host: str = "127.0.0.1") -> Endpoint:
    """The [HOST:]PORT of an option."""
    from kraftool.decoders.addresses import host_and_port
    from kraftool.raft.names import Endpoint

    named_host, port = host_and_port(text if ":" in text else f":{text}")
    if port is None:
        raise UsageError(f"{option} {text}: no port", hint=f"{option} 9100")
    return Endpoint(named_host or host, port)


def run_to_end(to: Output, config: NodeConfig, options: NodeOptions, log_format: LogFormat) -> None:
    """Run until a signal ends it, and end the command."""
    import asyncio

    from kraftool.node.ending import Ended
    from kraftool.node.identity import NotStarted, read_identity
    from kraftool.node.process import run_node
    from kraftool.node.runner import NodeFailedError
    from kraftool.node.security import Security
    from kraftool.storage.lock_taking import DirectoryInUse

    try:
        identity = read_identity(config)
        with _narrated(to, log_format):
            ended = asyncio.run(run_node(config, identity, options, Security(config)))
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


@contextmanager
def _narrated(to: Output, log_format: LogFormat) -> Iterator[None]:
    """Have what the node says told on stderr, for so long as it runs."""
    import logging

    from kraftool.commands.node_log import handler

    node_handler = handler(to.log_line, as_json=log_format is LogFormat.JSON)
    levels = {"kraftool.node": logging.INFO, "kraftool.net": logging.INFO}
    levels["asyncio"] = logging.WARNING  # which would write plain text to stderr by itself
    loggers = [logging.getLogger(name) for name in levels]
    before = [(logger.level, logger.propagate, logger.handlers) for logger in loggers]
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
