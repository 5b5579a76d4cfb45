"""`kraftool storage info`: how a node's directories are formatted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kraftool.commands.exit_code import ExitCode
from kraftool.commands.options import (
    Debug,
    Out,
    PlainFormat,
    PlainOutput,
    Quiet,
    ServerProperties,
)
from kraftool.commands.output import Output, printable

if TYPE_CHECKING:
    from kraftool.storage.formatted import Formatted


def info(
    config: ServerProperties,
    output: PlainOutput = PlainFormat.TABLE,
    out: Out = "",
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Show how a node's directories are formatted.

    Example: kraftool storage info --config /etc/kafka/server.properties

    Shows every directory of log.dirs and metadata.log.dir, its meta.properties, and any
    contradiction. Exits 1 if there is one. Relative directories are below the working directory, as
    for Kafka. Nothing is written or locked.
    """
    from kraftool.node.config import read_config
    from kraftool.storage.formatted import read_formatted

    to = Output(quiet=quiet, out=out)
    read = read_config(config)
    for note in read.notes:
        to.note(note)
    formatted = read_formatted(read.directories(), read.notes)
    if output is PlainFormat.JSON:
        to.document(formatted)
    else:
        _show(to, formatted)
    if formatted.problems:
        to.raise_code(ExitCode.FINDING)
    to.finish()


def _show(to: Output, formatted: Formatted) -> None:
    """Show it as kafka-storage does."""
    if formatted.log_dirs:
        _list(to, "log director", ("y", "ies"), formatted.log_dirs)
    fields = {
        "cluster.id": formatted.cluster_id,
        "directory.id": formatted.directory_id,
        "node.id": formatted.node_id,
        "version": formatted.version,
    }
    shown = ", ".join(f"{key}={value}" for key, value in fields.items() if value is not None)
    if shown:
        to.line(f"Found metadata: {{{printable(shown)}}}")
        to.line()
    if formatted.problems:
        _list(to, "problem", ("", "s"), formatted.problems)


def _list(to: Output, what: str, endings: tuple[str, str], items: tuple[str, ...]) -> None:
    to.line(f"Found {what}{endings[len(items) > 1]}:")
    for item in items:
        to.line(f"  {printable(item)}")
    to.line()
