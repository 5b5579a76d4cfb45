"""`kraftool diff-voters`: who votes, by every source that tells it, and where sources differ."""

from __future__ import annotations

from typing import Annotated

from typer import Argument

from kraftool.commands.exit_code import ExitCode, UsageError
from kraftool.commands.options import (
    OutputOptions,
    RowFormat,
    RowOutput,
    TimeZone,
)
from kraftool.commands.quorum_options import (
    LiveOptions,
    tell_agreement,
)


def diff_voters(
    *,
    sources: Annotated[
        list[str] | None,
        Argument(
            metavar="SOURCE",
            help="Data directory, __cluster_metadata-0, checkpoint, segment, server.properties,"
            " tar or -.",
        ),
    ] = None,
    quorum: LiveOptions,
    output: RowOutput = RowFormat.TABLE,
    tz: TimeZone = "UTC",
    printing: OutputOptions,
) -> None:
    """Compare the voter sets of several sources.

    \b
    Example: kraftool diff-voters /var/lib/kafka/data
    Example: kraftool diff-voters /var/lib/kafka/data --bootstrap-controller ctl-1:9093

    A source is a directory, a snapshot, a server.properties or a live controller. kraftool shows
    the voters of each source: id, directory id, endpoints and supported kraft.version. It shows the
    history of voter sets and of kraft.version by offset, and whether each change is committed. It
    also compares them with meta.properties, quorum-state and settings. For a server.properties
    kraftool compares its settings and its directory. If you give one SOURCE, kraftool compares its
    files with each other. Exits 1 if voters differ, even if a source is only behind.

    With --bootstrap-controller every controller that kraftool finds is a source too. The leader's
    log is read without joining as a replica, including records that are not committed yet. The
    leader's high watermark shows which records are committed. Other controllers do not report their
    voters: kraftool compares their epoch, leader and directory id. Exits 1 also without a leader,
    and 4 if no node could be reached.

    Nothing is written or locked. A running Kafka is not disturbed.
    """
    from kraftool.commands.finding_options import set_exit_code
    from kraftool.commands.live_reading import live_quorum, refuse_nothing
    from kraftool.commands.times import time_zone
    from kraftool.reports.directory.voter_sources import read_sources
    from kraftool.reports.voters.diff import diff_voters as compare

    zone = time_zone(tz)
    paths = sources or []
    refuse_nothing(paths, quorum.bootstrap_controller, "SOURCE")
    if paths.count("-") > 1:
        raise UsageError("stdin can be read only once", hint="name - once")
    to = printing.open()
    with live_quorum(to, quorum, shown=lambda view: view.nodes) as live:
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
        to.document(diff, output)
    if diff.has_differences:
        to.raise_code(ExitCode.FINDING)
    set_exit_code(to, diff.findings)
    to.finish()
