"""`kraftool node standalone`: a cluster's only controller, in one command."""

from __future__ import annotations

from typing import Annotated

import typer

from kraftool.commands.exit_code import RefusedError, UsageError
from kraftool.commands.node_running import (
    LogFormat,
    LogFormatOption,
    MetricsListen,
    ShutdownTimeout,
    endpoint_of,
    output_of,
    run_to_end,
)
from kraftool.commands.options import Color, Debug, Quiet
from kraftool.commands.output import ColorWhen, Output, printable


def standalone(
    directory: Annotated[
        str, typer.Argument(metavar="DIR", help="An empty directory, or one of an earlier run.")
    ],
    listen: Annotated[
        str,
        typer.Option(
            "--listen",
            metavar="[HOST:]PORT",
            help="Where brokers reach it; 127.0.0.1:9093 if it is left out.",
        ),
    ] = "",
    release_version: Annotated[
        str,
        typer.Option(
            "--release-version",
            "-r",
            metavar="RELEASE",
            help="Begin with the feature levels of this release, such as 3.9; by default the newest"
            " that Kafka 4.3 and 4.4 accept.",
        ),
    ] = "",
    metrics_listen: MetricsListen = "",
    shutdown_timeout: ShutdownTimeout = 5.0,
    log_format: LogFormatOption = LogFormat.TEXT,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would run; write and send nothing.")
    ] = False,
    color: Color = ColorWhen.AUTO,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Run the only controller of a new cluster, for brokers of Kafka.

    Example: kraftool node standalone /tmp/controller --dry-run

    It formats an empty directory, starts the controller, and prints what the configuration of a
    broker needs. Brokers of Kafka 3.9 and newer can join; format their directories with the cluster
    id that is printed. The next run on the same directory goes on with the same cluster.

    It is for development and for debugging: one controller is no safe place for metadata. Topics
    can be created, and brokers register, fail and come back. Deleting topics, configs, ACLs,
    quotas, reassignments and upgrades of features are not done yet.

    It writes server.properties and data/ to DIR. With --dry-run nothing is written. It stops on
    SIGTERM, SIGHUP and Ctrl-C.
    """
    from kraftool.node.identity import read_identity
    from kraftool.node.options import NodeOptions
    from kraftool.node.standalone import (
        NotStandalone,
        broker_lines,
        default_release,
        look,
        prepare,
    )
    from kraftool.storage.format_levels import FormatImpossible

    to = output_of(log_format, Output(color=color, quiet=quiet))
    endpoint = endpoint_of(listen or "127.0.0.1:9093", "--listen")
    metrics = endpoint_of(metrics_listen, "--metrics-listen") if metrics_listen else None
    release = release_version or default_release()
    try:
        found = look(directory)
        if not found.is_new and (listen or release_version):
            raise UsageError(
                f"{printable(found.path)} has a cluster already, with its levels and its address",
                hint=f"leave --listen and --release-version out, or name another directory; the"
                f" address is in {printable(found.config_path)}",
            )
        if dry_run:
            verb = "begin a cluster in" if found.is_new else "go on with the cluster in"
            to.line(f"Would {verb} {printable(found.path)}")
            if found.is_new:
                to.line(f"  with the levels of {release}, at {endpoint}")
            to.finish()
        config = prepare(found, listen=endpoint, release=release)
    except NotStandalone as error:
        raise RefusedError(error.message, hint=error.hint) from None
    except FormatImpossible as error:
        raise UsageError(error.message, hint=error.hint) from None
    cluster_id = read_identity(config).cluster_id
    begins = f" begins with the feature levels of {release}" if found.is_new else " goes on"
    to.line(f"Cluster {printable(cluster_id)}{begins}. A broker's server.properties:")
    to.line()
    for line in broker_lines(config):
        to.line(f"    {line}")
    to.line()
    to.line(f"Format its directory with kafka-storage format -t {printable(cluster_id)} -c FILE")
    to.flush()
    options = NodeOptions(metrics=metrics, shutdown_s=shutdown_timeout)
    run_to_end(to, config, options, log_format)
