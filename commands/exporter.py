"""`kraftool exporter`: live quorums as metrics for Prometheus."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from typer import Option

from kraftool.commands.exit_code import UsageError
from kraftool.commands.finding_options import IgnoredCodes, MuteFile, finding_filter
from kraftool.commands.options import ScreenOptions
from kraftool.commands.quorum_options import (
    LiveOptions,
)

if TYPE_CHECKING:
    from kraftool.exporter.cluster_watch import WatchedCluster
    from kraftool.reports.findings.mutes import FindingFilter


def exporter(
    *,
    quorum: LiveOptions,
    name: Annotated[
        str,
        Option("--name", metavar="NAME", help="Value of the label cluster (default: default)."),
    ] = "",
    expect_voters: Annotated[
        str,
        Option(
            "--expect-voters",
            metavar="ID,…",
            help="Ids that the voters should have. Others are a finding.",
        ),
    ] = "",
    clusters: Annotated[
        str,
        Option(
            "--clusters",
            metavar="FILE",
            help="File with several clusters, in place of --bootstrap-controller.",
        ),
    ] = "",
    listen: Annotated[
        str,
        Option(
            "--listen",
            metavar="[HOST:]PORT",
            help="Address for serving /metrics (default 127.0.0.1:9404).",
        ),
    ] = "",
    textfile: Annotated[
        str,
        Option(
            "--textfile",
            metavar="FILE",
            help="File to write after each poll, for node_exporter's textfile collector. Nothing is"
            " served unless --listen is given, too.",
        ),
    ] = "",
    once: Annotated[bool, Option("--once", help="Poll once, write --textfile, and exit.")] = False,
    interval: Annotated[
        float,
        Option("--interval", metavar="SECONDS", min=2, max=60, help="Polling interval."),
    ] = 15.0,
    quorum_only: Annotated[
        bool,
        Option(
            "--quorum-only",
            help="Do not read the metadata: no metrics of brokers, partitions and registrations.",
        ),
    ] = False,
    no_endpoints: Annotated[
        bool,
        Option(
            "--no-endpoints", help="Do not dial the addresses that the metadata records for nodes."
        ),
    ] = False,
    ignore: IgnoredCodes = None,
    mute: MuteFile = "",
    printing: ScreenOptions,
) -> None:
    """Export live quorums as metrics for Prometheus.

    \b
    Example: kraftool exporter --bootstrap-controller ctl-1:9093
    Example: kraftool exporter --clusters clusters.yaml --listen 0.0.0.0:9404

    kraftool polls each cluster from outside, as watch and quorum health do, and needs no JMX. It
    shows what no node can report of itself: that no node leads, that two nodes lead, how many
    voters can be lost, which node does not answer, and which findings quorum health has. Once a
    minute, and soon after a controller stops or starts to answer, it dials every address that the
    metadata records for a controller or a broker, and reads the certificates there.

    /health answers as long as the process runs, /ready once each cluster was polled.
    docs/exporter.md lists all metrics, and the alert rules and the dashboard that come with them.

    A value that is not known has no sample. No metric has a secret. Nothing is changed. The quorum
    does not see kraftool as an observer.
    """
    if bool(quorum.bootstrap_controller) == bool(clusters):
        raise UsageError(
            "one of --bootstrap-controller and --clusters is required",
            hint="--clusters names a file with several clusters",
        )
    if once and not textfile:
        raise UsageError("--once requires --textfile", hint="name the file to write")
    known = finding_filter(ignore, mute)  # an error in the file is told at once

    import asyncio
    import time
    from dataclasses import replace

    from kraftool.commands.node_running import endpoint_of
    from kraftool.exporter.serving import Exporter, ExporterOptions

    address = listen or ("" if textfile else "127.0.0.1:9404")
    to = printing.open()

    def left_out() -> FindingFilter:
        """The file as it is now. While it cannot be used, what it said before counts."""
        nonlocal known
        try:
            known = finding_filter(ignore, mute)
        except UsageError as error:
            to.note(error.message)
            known = replace(known, now_ms=int(time.time() * 1000))
        return known

    options = ExporterOptions(
        clusters=_clusters(clusters, name, expect_voters, quorum),
        listen=endpoint_of(address, "--listen") if address and not once else None,
        textfile=textfile,
        interval_s=interval,
        with_metadata=not quorum_only,
        with_endpoints=not no_endpoints,
        left_out=left_out,
    )
    exporting = Exporter(options, to.note)
    asyncio.run(exporting.once() if once else exporting.run())
    to.finish()


def _clusters(
    file: str,
    name: str,
    expect_voters: str,
    quorum: LiveOptions,
) -> tuple[WatchedCluster, ...]:
    from kraftool.commands.quorum_health import ids_of
    from kraftool.exporter.cluster_watch import WatchedCluster
    from kraftool.exporter.clusters_file import ClustersFileError, read_clusters

    if not file:
        return (
            WatchedCluster(
                name=name or "default",
                target=quorum.target(),
                expected_voters=ids_of(expect_voters),
            ),
        )
    for option, value in (
        ("--name", name),
        ("--expect-voters", expect_voters),
        ("--command-config", quorum.command_config),
        ("--resolve", quorum.resolve),
    ):
        if value:
            raise UsageError(f"{option} and --clusters cannot be used together", hint="the file"
                             " has these for each cluster")  # fmt: skip
    try:
        return read_clusters(file, quorum.timeout)
    except ClustersFileError as error:
        raise UsageError(error.message, hint=error.hint) from None
