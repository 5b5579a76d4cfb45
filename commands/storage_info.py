"""`kraftool storage info`: how a node's directories are formatted."""

from __future__ import annotations

from kraftool.commands.exit_code import ExitCode
from kraftool.commands.options import Debug, PlainFormat, PlainOutput, Quiet, ServerProperties
from kraftool.commands.output import Output, printable
from kraftool.decoders.dataclass import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class InfoDocument:
    """The format of a node's directories."""

    log_directories: tuple[str, ...]
    """Those of log.dirs and metadata.log.dir that are there, formatted or not."""
    cluster_id: str | None
    """By the first formatted one, like the next three. null if none is formatted."""
    node_id: int | None
    directory_id: str | None
    version: int | None
    """Of meta.properties."""
    problems: tuple[str, ...]
    """Contradictions between the directories, and what is missing, for people."""


def info(
    config: ServerProperties,
    output: PlainOutput = PlainFormat.TABLE,
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
    from kraftool.storage.formatted import look_at

    to = Output(quiet=quiet)
    read = read_config(config)
    for note in read.notes:
        to.note(note)
    formatted = look_at(read.directories())
    meta = formatted.meta
    if output is PlainFormat.JSON:
        to.document(
            InfoDocument(
                log_directories=formatted.directories,
                cluster_id=meta.cluster_id if meta is not None else None,
                node_id=meta.node_id if meta is not None else None,
                directory_id=meta.directory_id if meta is not None else None,
                version=meta.version if meta is not None else None,
                problems=formatted.problems,
            )
        )
        if formatted.problems:
            to.raise_code(ExitCode.FINDING)
        to.finish()
        return
    if formatted.directories:
        _list(to, "log director", ("y", "ies"), formatted.directories)
    if meta is not None:
        fields = {
            "cluster.id": meta.cluster_id,
            "directory.id": meta.directory_id,
            "node.id": meta.node_id,
            "version": meta.version,
        }
        shown = ", ".join(f"{key}={value}" for key, value in fields.items() if value is not None)
        to.line(f"Found metadata: {{{printable(shown)}}}")
        to.line()
    if formatted.problems:
        _list(to, "problem", ("", "s"), formatted.problems)
        to.raise_code(ExitCode.FINDING)
    to.finish()


def _list(to: Output, what: str, endings: tuple[str, str], items: tuple[str, ...]) -> None:
    to.line(f"Found {what}{endings[len(items) > 1]}:")
    for item in items:
        to.line(f"  {printable(item)}")
    to.line()
