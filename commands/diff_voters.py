"""`kraftool diff-voters`: who votes, by every source that tells it, and where sources differ."""

from __future__ import annotations

from typing import Annotated

import typer

from kraftool.commands.options import Color, Debug, Out, PlainFormat, Quiet, TimeZone
from kraftool.commands.output import ColorWhen, ExitCode, Output, UsageError


def diff_voters(
    sources: Annotated[
        list[str],
        typer.Argument(
            metavar="SOURCE…",
            help="Data directory, __cluster_metadata-0, checkpoint, segment, server.properties,"
            " tar or -.",
        ),
    ],
    output: Annotated[
        PlainFormat, typer.Option("--output", "-o", help="The format of the output.")
    ] = PlainFormat.TABLE,
    tz: TimeZone = "UTC",
    out: Out = "",
    color: Color = ColorWhen.AUTO,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Compare the voter sets that directories, snapshots and settings tell.

    Example: kraftool diff-voters /var/lib/kafka/data

    Voters by id, directory id, endpoints and supported kraft.version, source by source; the
    history of voter sets and of kraft.version by offset, with what can be said about its commit;
    meta.properties, quorum-state and settings against it. A server.properties counts with its
    settings and with its directory. One SOURCE is compared with itself, file by file. It ends with
    1 if voters differ, also where a source is only behind.

    Nothing is written, and nothing is locked; a running Kafka is not disturbed.
    """
    from kraftool.commands.times import time_zone
    from kraftool.reports.voters.diff import diff_voters as compare
    from kraftool.reports.voters.read import read_sources

    zone = time_zone(tz)
    if sources.count("-") > 1:
        raise UsageError("stdin can be read once only", hint="name - once")
    to = Output(color=color, quiet=quiet, out=out)
    with to.progress(None, "voters"):
        diff = compare(read_sources(sources))
    if output is PlainFormat.JSON:
        from kraftool.commands.output import json_document
        from kraftool.reports.voters.voters_json import document

        to.write(json_document(document(diff)))
    else:
        from kraftool.commands.voters_view import write_voters

        write_voters(to, diff, zone)
    from kraftool.commands.finding_view import settle

    if diff.differ:
        to.raise_code(ExitCode.FINDING)
    settle(to, diff.findings)
    to.finish()
