"""`kraftool dump`: all that a PATH holds, decoded, with a summary that answers at a glance."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from kraftool.commands.exit_code import UsageError
from kraftool.commands.options import (
    OutputOptions,
    RowFormat,
    RowOutput,
    ShowSecrets,
    TakenFor,
    TimeZone,
    Verbose,
)
from kraftool.commands.output import Output

if TYPE_CHECKING:
    from kraftool.decoders.errors import KraftoolError
    from kraftool.decoders.kinds import FileKind
    from kraftool.directory.file_report import EntryBounds
    from kraftool.storage.paths import Location

_TABLE_ROWS = 20
_JSON_ROWS = 10_000


def dump(
    *,
    path: Annotated[
        str,
        Argument(
            metavar="PATH",
            help="Data directory, __cluster_metadata-0, one file, server.properties, tar or -.",
        ),
    ],
    kind: TakenFor = "",
    records: Annotated[
        bool, Option("--records", help="Also list the records of the log or checkpoint.")
    ] = False,
    head: Annotated[
        int | None,
        Option("--head", metavar="N", min=0, help="Show the first N entries of an index."),
    ] = None,
    tail: Annotated[
        int | None,
        Option("--tail", metavar="N", min=0, help="Show the last N entries of an index."),
    ] = None,
    verbose: Verbose = False,
    output: RowOutput = RowFormat.TABLE,
    show_secrets: ShowSecrets = False,
    tz: TimeZone = "UTC",
    printing: OutputOptions,
) -> None:
    """Show the content of a data directory, or of one file.

    Example: kraftool dump /var/lib/kafka/data

    For a directory: node and cluster, epoch and leader, voters, range of the log, snapshots,
    kraft.version and metadata.version, and findings with what to do about them. For a file: all of
    it. kraftool recognizes a file by its name, then by its content.

    Nothing is written to the directory, and nothing is locked. A running Kafka is not disturbed.
    """
    from kraftool.commands.finding_options import set_exit_code
    from kraftool.commands.read_progress import read_progress
    from kraftool.commands.times import time_zone
    from kraftool.decoders.errors import KraftoolError
    from kraftool.directory.file_report import ReadOptions
    from kraftool.reports.directory.report import read_location, with_comparison
    from kraftool.reports.logs.processes import quicken
    from kraftool.storage.paths import LocationKind, open_path

    quicken()
    zone = time_zone(tz)
    wanted = _kind(kind)
    if records and output is not RowFormat.TABLE:
        raise UsageError(
            "--records prints only tables", hint="for programs, use kraftool dump-log -o jsonl"
        )
    try:
        location = open_path(path)
    except KraftoolError as error:
        if output is RowFormat.TABLE:
            raise
        _write_unopened(path, error, printing.open(), output)
        return
    if wanted is not None:
        location = _one_file(location)
    if records and location.is_stream:
        raise UsageError(
            "--records reads the log twice, but a stream can be read only once",
            hint="kraftool dump-log reads a stream in one pass",
        )
    single = location.kind is LocationKind.FILE
    to = printing.open()
    options = ReadOptions(
        kind=wanted,
        bounds=_bounds(head, tail, output, single=single),
        show_secrets=show_secrets,
    )
    with read_progress(to, [location]) as progress:
        report = with_comparison(read_location(location, options, progress=progress))
    if output is not RowFormat.TABLE:
        to.document(report, output)
    else:
        from kraftool.commands.dump_view import write_report

        write_report(to, report, zone, verbose=verbose)
        if records:
            from kraftool.commands.dump_records import write_records

            write_records(to, report, zone, show_secrets=show_secrets)
    set_exit_code(to, report.all_findings)
    to.finish()


def _write_unopened(path: str, error: KraftoolError, to: Output, output: RowFormat) -> None:
    """The document of a PATH that leads nowhere: a program gets one whatever happens."""
    from kraftool.commands.finding_options import set_exit_code
    from kraftool.reports.directory.report import unopened_report

    report = unopened_report(path, error)
    to.document(report, output)
    set_exit_code(to, report.all_findings)
    to.finish()


def _kind(word: str) -> FileKind | None:
    from kraftool.decoders.kinds import FileKind

    if not word:
        return None
    words = [file_kind.value for file_kind in FileKind if file_kind is not FileKind.UNKNOWN]
    if word not in words:
        raise UsageError(f"--as {word!r} is not a kind of file", hint=f"one of {', '.join(words)}")
    return FileKind(word)


def _one_file(location: Location) -> Location:
    """Return what --as is about: the file itself, also where its name would lead on to a
    directory.
    """
    import os

    from kraftool.storage.paths import Location, LocationKind

    if location.path == "-" or os.path.isdir(location.path):
        raise UsageError("--as requires one file", hint="name the file itself")
    directory = os.path.dirname(location.path)
    return Location(path=location.path, kind=LocationKind.FILE, directory=directory)


def _bounds(head: int | None, tail: int | None, output: RowFormat, *, single: bool) -> EntryBounds:
    from kraftool.directory.file_report import EntryBounds

    if head is not None or tail is not None:
        if not single:
            raise UsageError("--head and --tail require one file", hint="name the file itself")
        return EntryBounds(head=head or 0, tail=tail or 0)
    if not single:
        return EntryBounds()
    return EntryBounds(head=_TABLE_ROWS if output is RowFormat.TABLE else _JSON_ROWS, tail=0)
