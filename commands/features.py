"""`kraftool features`: feature levels, who supports what, and what a change would meet."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

from typer import Argument, Option

from kraftool.commands.exit_code import ExitCode, UsageError
from kraftool.commands.options import (
    OutputOptions,
    RowFormat,
    RowOutput,
    TimeZone,
)
from kraftool.commands.quorum_options import (
    LiveOptions,
)
from kraftool.decoders.errors import KraftoolError


def features(
    *,
    paths: Annotated[
        list[str] | None,
        Argument(
            metavar="PATH",
            help="Directories of one cluster's nodes, snapshots, server.properties or tar files.",
        ),
    ] = None,
    to: Annotated[
        str,
        Option(
            "--to",
            metavar="RELEASE",
            help="Check an upgrade or downgrade to a release, such as 4.3 or 4.3-IV0.",
        ),
    ] = "",
    feature: Annotated[
        list[str] | None,
        Option(
            "--feature",
            metavar="NAME=LEVEL",
            help="Check a change of this feature. With --to it replaces the release's default.",
        ),
    ] = None,
    assume_nodes: Annotated[
        str,
        Option(
            "--assume-nodes",
            metavar="RELEASE",
            help="Check as if every node ran this release, as after a software upgrade.",
        ),
    ] = "",
    quorum: LiveOptions,
    output: RowOutput = RowFormat.TABLE,
    tz: TimeZone = "UTC",
    printing: OutputOptions,
) -> None:
    """Show feature levels, and what blocks a change of them.

    \b
    Example: kraftool features /var/lib/kafka/data --to 4.3
    Example: kraftool features --bootstrap-controller ctl-1:9093 --to 4.3

    For metadata.version, kraft.version and the other features: the level, when it was last set, and
    the levels that every registered broker and controller supports. Also give a server.properties,
    so that kraftool sees static voters that never registered.

    With --to or --feature kraftool checks an upgrade or downgrade as Kafka 4.3's controller would.
    It shows what the controller would refuse, node by node. It shows which state a downgrade would
    lose, which records in the log would be too new, and the command to run. Exits 1 if the change
    is blocked. Upgrade the software of every node first: this change is the last step of an
    upgrade.

    With --bootstrap-controller the state comes from the leader's log, read without joining as a
    replica. Records that are not committed yet count, as they do in a directory. Exits 4 if no node
    could be reached, and 3 if no leader serves its log and no PATH has a state.

    Nothing is written, and no feature is changed. A running Kafka is not disturbed.
    """
    from kraftool.commands.finding_options import set_exit_code
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
    refuse_nothing(named, quorum.bootstrap_controller, "PATH")
    to_ = printing.open()
    locations, _ = open_paths(named, settings_alone=True)
    with live_quorum(to_, quorum) as live, read_progress(to_, locations) as progress:
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
    if planned is not None and planned.is_blocked:
        to_.raise_code(ExitCode.FINDING)
    set_exit_code(to_, cluster.findings)
    to_.finish()


@contextmanager
def _words_of_options() -> Iterator[None]:
    """Report a wrong value of --to, --feature or --assume-nodes as a usage error."""
    try:
        yield
    except KraftoolError as error:
        raise UsageError(error.message, hint=error.hint) from None
