"""`kraftool features`: feature levels, who supports what, and what a change would meet."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

import typer

from kraftool.commands.exit_code import ExitCode, UsageError
from kraftool.commands.options import Color, Debug, Out, Quiet, RowFormat, RowOutput, TimeZone
from kraftool.commands.output import ColorWhen, Output
from kraftool.commands.quorum_options import TIMEOUT_S, Bootstrap, CommandConfig, Resolve, Timeout
from kraftool.decoders.errors import KraftoolError


def features(
    paths: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="PATH",
            help="Directories of one cluster's nodes, snapshots, server.properties or tar files.",
        ),
    ] = None,
    to: Annotated[
        str,
        typer.Option(
            "--to",
            metavar="RELEASE",
            help="Tell what a change to a release as 4.3 or 4.3-IV0 meets.",
        ),
    ] = "",
    feature: Annotated[
        list[str] | None,
        typer.Option(
            "--feature",
            metavar="NAME=LEVEL",
            help="Tell what a change of this feature meets; with --to, instead of the default.",
        ),
    ] = None,
    assume_nodes: Annotated[
        str,
        typer.Option(
            "--assume-nodes",
            metavar="RELEASE",
            help="Tell it as if every node ran this release, as after an upgrade of the software.",
        ),
    ] = "",
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
    """Show feature levels, and what blocks an upgrade or a downgrade.

    \b
    Example: kraftool features /var/lib/kafka/data --to 4.3
    Example: kraftool features --bootstrap-controller ctl-1:9093 --to 4.3

    metadata.version, kraft.version and the features beside them: the level, when it was last set,
    and what every registered broker and controller supports. Give a server.properties too, so that
    static voters that never registered are seen.

    With --to or --feature, what kafka-features would ask for and what Kafka 4.3's controller would
    refuse it for, node by node; what a downgrade would lose of the state, and which records in the
    log are too new for it; and the command to run. It ends with 1 if the change is blocked. The
    change is the last step of an upgrade: the software of every node comes first.

    With --bootstrap-controller the state is that of the leader's log, read as no replica of it;
    what is not committed yet counts, as in a directory. It ends with 4 where no node could be
    reached, and with 3 where no leader tells its log and no PATH has a state.

    Nothing is written, and no feature is changed; a running Kafka is not disturbed.
    """
    from kraftool.commands.finding_options import settle
    from kraftool.commands.live_reading import live_quorum, refuse_nothing, unavailable
    from kraftool.commands.read_progress import read_progress
    from kraftool.commands.times import time_zone
    from kraftool.reports.features.plan import plan, reach
    from kraftool.reports.features.read import read_features
    from kraftool.reports.features.software import assume_nodes as assumed
    from kraftool.reports.files.locations import open_paths
    from kraftool.reports.logs.processes import quicken

    quicken()
    zone = time_zone(tz)
    named = paths or []
    refuse_nothing(named, bootstrap_controller, "PATH")
    if "-" in named:
        raise UsageError(
            "the log is read twice, which stdin cannot be", hint="name the directory or the archive"
        )
    to_ = Output(color=color, quiet=quiet, out=out)
    locations, _ = open_paths(named, settings_alone=True)
    access = bootstrap_controller, command_config, timeout, resolve
    with live_quorum(to_, *access) as live, read_progress(to_, locations) as progress:
        if live is None:
            cluster = read_features(named, progress)
        else:
            from kraftool.client.live_features import features_of

            if not named and live.captured is None:
                unavailable(live)
            cluster = features_of(live, named, progress)
    if assume_nodes:
        with _words_of_options():
            cluster = assumed(cluster, assume_nodes)
    reached = reach(cluster)
    with _words_of_options():
        planned = plan(cluster, to, feature or []) if to or feature else None
    if output is RowFormat.TABLE:
        from kraftool.commands.features_view import write_features

        write_features(to_, cluster, reached, planned, zone)
    else:
        from kraftool.reports.features.document import features_document

        to_.document(features_document(cluster, reached, planned), output)
    if planned is not None and planned.blocked:
        to_.raise_code(ExitCode.FINDING)
    settle(to_, cluster.findings)
    to_.finish()


@contextmanager
def _words_of_options() -> Iterator[None]:
    """What --to, --feature and --assume-nodes do not take is the user's, and no file's fault."""
    try:
        yield
    except KraftoolError as error:
        raise UsageError(error.message, hint=error.hint) from None
