"""`kraftool state`: the cluster's metadata at an offset, for people, as a tree, or to keep."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from kraftool.commands.exit_code import UsageError
from kraftool.commands.options import (
    OUTPUT,
    OutputOptions,
    ShowSecrets,
    TimeZone,
)
from kraftool.commands.output import Output
from kraftool.commands.quorum_options import (
    LiveOptions,
)

if TYPE_CHECKING:
    from kraftool.reports.state.load import LoadedState

_LINES_AT_ONCE = 1000


class StateFormat(StrEnum):
    """Output formats of state."""

    TABLE = "table"
    TREE = "tree"
    JSON = "json"
    JSONL = "jsonl"


class StateSection(StrEnum):
    """The sections of a state that have a table."""

    TOPICS = "topics"
    PARTITIONS = "partitions"
    BROKERS = "brokers"
    CONTROLLERS = "controllers"
    FEATURES = "features"
    CONFIGS = "configs"
    QUOTAS = "quotas"
    ACLS = "acls"
    SCRAM = "scram"
    TOKENS = "tokens"


def state(
    *,
    path: Annotated[
        str,
        Argument(
            metavar="PATH",
            help="Data directory, __cluster_metadata-0, checkpoint, segment, server.properties,"
            " tar or -.",
        ),
    ] = "",
    at: Annotated[
        int | None,
        Option(
            "--at",
            metavar="OFFSET",
            min=0,
            help="Show the state before this offset: 100 includes 0 to 99, as in a snapshot's"
            " name.",
        ),
    ] = None,
    at_time: Annotated[
        str,
        Option(
            "--at-time",
            metavar="TIME",
            help="Show the state at this time: ISO-8601, epoch ms, or 2h for two hours ago.",
        ),
    ] = "",
    section: Annotated[
        list[StateSection] | None,
        Option(
            "--section",
            "-s",
            help="Show the table of this section instead. Repeat it for more sections.",
        ),
    ] = None,
    topic: Annotated[
        list[str] | None,
        Option(
            "--topic",
            metavar="NAME",
            help="Show the partitions of this topic. Repeat it for more topics.",
        ),
    ] = None,
    limit: Annotated[
        int,
        Option(
            "--limit",
            metavar="N",
            min=0,
            help="Maximum number of rows in a table. kraftool counts the rows that it leaves out. 0"
            " shows all.",
        ),
    ] = 1000,
    quorum: LiveOptions,
    output: Annotated[StateFormat, OUTPUT] = StateFormat.TABLE,
    show_secrets: ShowSecrets = False,
    tz: TimeZone = "UTC",
    printing: OutputOptions,
) -> None:
    """Show the cluster's metadata at an offset or a time.

    Example: kraftool state /var/lib/kafka/data

    Example: kraftool state /var/lib/kafka/data --at 100 --section topics --section acls

    Example: kraftool state --bootstrap-controller ctl-1:9093

    The state comes from the best snapshot and the log. The table shows fenced brokers, finalized
    features, and the number of partitions with problems. min.insync.replicas comes from dynamic
    configs; if only a server.properties can set it, kraftool assumes 1. -o tree prints the tree of
    kafka-metadata-shell. -o json and -o jsonl have everything, sorted, with one entity per line in
    jsonl. The offset of --at is not included. Changes of an unfinished transaction are not shown.
    One node's files do not show whether the last records were committed.

    With --bootstrap-controller kraftool reads the leader's log over the network, without
    joining as a replica: its snapshot and the log after it, up to the high watermark. Records
    that are not committed yet are not shown. --at and --at-time reach back as far as the
    leader's log does. Exits 4 if no node could be reached, and 3 if there is no leader.

    Nothing is written to the directory, and nothing is locked. A running Kafka is not disturbed.
    """
    from kraftool.commands.finding_options import set_exit_code
    from kraftool.commands.live_reading import leader_log, live_quorum, refuse_both
    from kraftool.commands.read_progress import read_progress
    from kraftool.commands.times import parse_time, time_zone
    from kraftool.reports.logs.processes import quicken
    from kraftool.reports.state.load import load_state
    from kraftool.storage.paths import open_path

    quicken()
    zone = time_zone(tz)
    moment = parse_time(at_time, "--at-time")
    if at is not None and moment is not None:
        raise UsageError("--at and --at-time contradict each other", hint="use one of them")
    if output is not StateFormat.TABLE and (section or topic):
        raise UsageError(
            f"--section and --topic choose tables, but -o {output.value} has everything",
            hint="leave them out, or leave out -o",
        )
    refuse_both([path] if path else [], quorum.bootstrap_controller)
    to = printing.open()
    is_past = at is not None or moment is not None
    with live_quorum(to, quorum, committed=True, with_history=is_past) as live:
        location = open_path(path) if live is None else leader_log(to, live).location
        with read_progress(to, [location]) as progress:
            loaded = load_state(location, at=at, at_time=moment, progress=progress)
    if output is StateFormat.TABLE:
        from kraftool.commands.state_view import write_overview

        if section or topic:
            from kraftool.commands.state_tables import TableOptions, write_sections

            options = TableOptions(limit=limit, zone=zone, show_secrets=show_secrets)
            write_sections(
                to,
                loaded,
                [state_section.value for state_section in section or ()],
                topic or [],
                options,
            )
        else:
            write_overview(to, loaded, zone, limit)
    else:
        _write(to, loaded, output, show_secrets=show_secrets)
    set_exit_code(to, loaded.findings)
    to.finish()


def _write(to: Output, loaded: LoadedState, output: StateFormat, *, show_secrets: bool) -> None:
    from kraftool.reports.state import export

    if output is StateFormat.JSON:
        to.document(export.state_document(loaded, show_secrets=show_secrets))
    elif output is StateFormat.JSONL:
        for piece in export.lines(loaded, show_secrets=show_secrets):
            to.write(piece)
    else:
        _write_tree(to, loaded, show_secrets=show_secrets)


def _write_tree(to: Output, loaded: LoadedState, *, show_secrets: bool) -> None:
    from itertools import islice

    from kraftool.commands.output import printable
    from kraftool.commands.shell_load import image_of
    from kraftool.reports.state.shell.tree import shell_tree
    from kraftool.reports.state.shell.walk import tree_lines

    for finding in loaded.findings:
        to.note(printable(f"{finding.severity.value}: {finding.where()}: {finding.sentence()}"))
    lines = tree_lines(shell_tree(image_of(loaded), show_secrets=show_secrets))
    # In a pipe, too: a pager behind it is a terminal. The shell is for what has to be verbatim.
    while some := list(islice(map(printable, lines), _LINES_AT_ONCE)):
        to.write("\n".join(some) + "\n")
