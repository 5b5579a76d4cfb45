"""`kraftool diff-voters`: who votes, by every source that tells it, and where sources differ."""

from __future__ import annotations

from typing import Annotated

import typer

from kraftool.commands.exit_code import ExitCode, UsageError
from kraftool.commands.options import Color, Debug, Out, Quiet, RowFormat, RowOutput, TimeZone
from kraftool.commands.output import ColorWhen, Output
from kraftool.commands.quorum_options import (
    TIMEOUT_S,
    Bootstrap,
    CommandConfig,
    Resolve,
    Timeout,
    tell_agreement,
)


def diff_voters(
    sources: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="SOURCE",
            help="Data directory, __cluster_metadata-0, checkpoint, segment, server.properties,"
            " tar or -.",
        ),
    ] = None,
    bootstrap_controller: Bootstrap = "",
    command_config: CommandConfig = "",
    resolve: Resolve = None,
    timeout: Timeout = TIMEOUT_S,
    output: RowOutput = RowFormat.TABLE,
    tz: TimeZone = "UTC",
    out: Out = "",
    color: Color = ColorWhen.AUTO,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Compare the voter sets that directories, snapshots, settings and live controllers tell.

    \b
    Example: kraftool diff-voters /var/lib/kafka/data
    Example: kraftool diff-voters /var/lib/kafka/data --bootstrap-controller ctl-1:9093

    Voters by id, directory id, endpoints and supported kraft.version, source by source; the
    history of voter sets and of kraft.version by offset, with what can be said about its commit;
    meta.properties, quorum-state and settings against it. A server.properties counts with its
    settings and with its directory. One SOURCE is compared with itself, file by file. It ends with
    1 if voters differ, also where a source is only behind.

    With --bootstrap-controller every controller that is found is a source too. The leader's log
    is read as no replica of it, what is not committed yet included; its high watermark tells which
    is which. Other controllers tell nobody their voters: of them epoch, leader and directory id
    are compared. It ends with 1 also without a leader, and with 4 where no node could be reached.

    Nothing is written, and nothing is locked; a running Kafka is not disturbed.
    """
    from kraftool.commands.finding_options import settle
    from kraftool.commands.live_reading import live_quorum, refuse_nothing
    from kraftool.commands.times import time_zone
    from kraftool.reports.directory.voter_sources import read_sources
    from kraftool.reports.voters.diff import diff_voters as compare

    zone = time_zone(tz)
    paths = sources or []
    refuse_nothing(paths, bootstrap_controller, "SOURCE")
    if paths.count("-") > 1:
        raise UsageError("stdin can be read once only", hint="name - once")
    to = Output(color=color, quiet=quiet, out=out)
    access = bootstrap_controller, command_config, timeout, resolve
    with live_quorum(to, *access, shown=lambda view: view.nodes) as live:
        source_reports = read_sources(paths)
        if live is not None:
            from kraftool.client.live_sources import live_sources

            source_reports += live_sources(live)
            tell_agreement(to, live.now)
        diff = compare(source_reports)
    if output is RowFormat.TABLE:
        from kraftool.commands.voters_view import write_voters

        write_voters(to, diff, zone)
    else:
        from kraftool.reports.voters.voters_json import diff_voters_document

        to.document(diff_voters_document(diff), output)
    if diff.differ:
        to.raise_code(ExitCode.FINDING)
    settle(to, diff.findings)
    to.finish()
