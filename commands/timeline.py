"""`kraftool timeline`: what happened to the metadata, in offset order, merged over nodes."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from kraftool.commands.exit_code import UsageError
from kraftool.commands.options import (
    OUTPUT,
    Format,
    Offsets,
    OutputOptions,
    Since,
    TimeZone,
    Until,
)
from kraftool.commands.output import Output
from kraftool.commands.quorum_options import (
    LiveOptions,
)

if TYPE_CHECKING:
    from kraftool.reports.timeline.report import TimelineOptions


def timeline(
    *,
    paths: Annotated[
        list[str] | None,
        Argument(metavar="PATH", help="Directories of one cluster's nodes, segments, tar or -."),
    ] = None,
    only: Annotated[
        list[str] | None,
        Option(
            metavar="KIND,…",
            help="Show only elections, voters, features (kraft.version too), brokers, controllers,"
            " transactions, snapshots, partitions, topics, configs, quotas, acls, users, tokens,"
            " gaps or nodes. Damage and diverged logs are always shown.",
        ),
    ] = None,
    topic: Annotated[
        str,
        Option(
            "--topic",
            metavar="NAME",
            help="Show only events about this topic, its partitions, configs and ACLs.",
        ),
    ] = "",
    offsets: Offsets = "",
    since: Since = "",
    until: Until = "",
    topics: Annotated[
        bool,
        Option("--topics", help="List created and deleted topics instead of only counting them."),
    ] = False,
    gaps: Annotated[
        float,
        Option(
            "--gaps",
            min=0,
            metavar="SECONDS",
            help="Show times without a record that are longer than this.",
        ),
    ] = 10.0,
    quorum: LiveOptions,
    output: Annotated[Format, OUTPUT] = Format.TABLE,
    tz: TimeZone = "UTC",
    printing: OutputOptions,
) -> None:
    """Show what happened: elections, brokers, topics, configs, ACLs.

    Example: kraftool timeline /var/lib/kafka/data

    Example: kraftool timeline --bootstrap-controller ctl-1:9093 --since 24h

    Give the directories of several nodes to compare their logs. An event that all logs have is
    shown once. If two logs have different records at one offset, both are shown and marked.

    A directory does not show whether a record is committed, so all of the log is shown. An epoch
    without a record comes from a failed election, or from a leader that wrote nothing.

    With --bootstrap-controller kraftool reads the leader's log over the network, without joining
    as a replica: all of the log that the leader still has, up to the high watermark. You may
    also give PATHs. Exits 4 if no node could be reached, and 3 if there is no leader.

    Kafka deletes old segments. If --offsets, --since or --until reach back before all logs,
    kraftool reports the start of the oldest one, and exits 3.

    kraftool decodes every record, even those that are not shown. Of a snapshot it checks only the
    form and the name; verify-snapshot checks its records.

    Nothing is written to the directories, and nothing is locked. A running Kafka is not disturbed.
    """
    from kraftool.commands.finding_options import set_exit_code
    from kraftool.commands.live_reading import leader_log, live_quorum, refuse_nothing
    from kraftool.commands.read_progress import read_progress
    from kraftool.commands.times import time_zone
    from kraftool.reports.files.locations import open_paths
    from kraftool.reports.logs.processes import quicken
    from kraftool.reports.timeline.report import build, other_clusters
    from kraftool.reports.timeline.sources import clusters, open_nodes

    quicken()
    zone = time_zone(tz)
    options = _options(only or [], offsets, since, until, gaps, topics=topics or bool(topic))
    options = replace(options, topic=topic)
    refuse_nothing(paths, quorum.bootstrap_controller, "PATH")
    locations, unopened = open_paths(paths or [])
    to = printing.open()
    with live_quorum(to, quorum, committed=True, with_history=True) as live:
        if live is not None:
            locations = [*locations, leader_log(to, live).location]
        with read_progress(to, locations) as progress:
            nodes, findings = open_nodes(locations, progress)
            if different := other_clusters(clusters(nodes)):
                raise UsageError(
                    f"{different.sentence()}: {different.file} belongs to another cluster than"
                    " the rest",
                    hint="name the directories of one cluster",
                )
            result = build(nodes, [*unopened, *findings], options, progress)
    if output is Format.TABLE:
        from kraftool.commands.timeline_view import write_timeline

        write_timeline(to, result, zone, options)
    else:
        _write(to, result, output)
    set_exit_code(to, result.findings)
    to.finish()


def _write(to: Output, result: object, output: Format) -> None:
    from kraftool.reports.timeline.document import lines, timeline_document
    from kraftool.reports.timeline.events import Timeline

    assert isinstance(result, Timeline), "what `build` gives"
    if output is Format.JSONL:
        for line in lines(result):
            to.write(line + b"\n")
    else:
        to.document(timeline_document(result), output)


def _options(
    only: list[str], offsets: str, since: str, until: str, gaps: float, *, topics: bool
) -> TimelineOptions:
    from kraftool.commands.log_selection import offset_range
    from kraftool.commands.times import parse_time
    from kraftool.reports.timeline.events import Category
    from kraftool.reports.timeline.report import TimelineOptions

    if not math.isfinite(gaps):
        raise UsageError(f"--gaps {gaps} is not a number of seconds")
    words = [word.strip() for kind_list in only for word in kind_list.split(",") if word.strip()]
    known = {category.value: category for category in Category if category is not Category.DAMAGE}
    for word in words:
        if word not in known:
            raise UsageError(
                f"--only {word!r} is not a kind of event", hint=f"one of {', '.join(known)}"
            )
    first, last = offset_range(offsets)
    chosen = frozenset(known[word] for word in words)
    return TimelineOptions(
        gaps_ms=round(gaps * 1000),
        list_topics=topics or Category.TOPICS in chosen,
        only=chosen | {Category.TOPICS} if chosen and topics else chosen,
        first_offset=first,
        last_offset=last,
        since=parse_time(since, "--since"),
        until=parse_time(until, "--until"),
    )
