"""`kraftool node standalone`: a cluster's only controller, in one command."""

from __future__ import annotations

from typing import Annotated

from typer import Argument, Option

from kraftool.commands.exit_code import RefusedError, UsageError
from kraftool.commands.node_running import NodeRunOptions, endpoint_of, run_to_end
from kraftool.commands.output import printable


def standalone(
    *,
    directory: Annotated[
        str, Argument(metavar="DIR", help="An empty directory, or one from an earlier run.")
    ],
    listen: Annotated[
        str,
        Option(
            "--listen",
            metavar="[HOST:]PORT",
            help="Address for brokers (default 127.0.0.1:9093).",
        ),
    ] = "",
    release_version: Annotated[
        str,
        Option(
            "--release-version",
            "-r",
            metavar="RELEASE",
            help="Start with the feature levels of this release, such as 3.9 (default: the newest"
            " that Kafka 4.3 and 4.4 accept).",
        ),
    ] = "",
    running: NodeRunOptions,
) -> None:
    """Run the only controller of a new cluster.

    Example: kraftool node standalone /tmp/controller --dry-run

    Formats an empty directory, starts the controller, and prints the configuration that a broker
    needs. Brokers of Kafka 3.9 and newer can join: format their directories with the cluster id
    that is printed. The next run on the same directory continues with the same cluster.

    Use it for development and debugging: one controller is not a safe place for metadata. Brokers
    register, fail and return. Kafka's tools create, alter and delete topics, change configs, quotas
    and feature levels, set ACLs and SCRAM users, move partitions and elect leaders.

    It does not open a damaged log. With --cut-damaged-log it cuts the log at the damage.

    It writes server.properties and data/ to DIR. With --dry-run nothing is written. It stops on
    SIGTERM, SIGHUP and Ctrl-C.
    """
    from kraftool.node.identity import read_identity
    from kraftool.node.options import NodeOptions
    from kraftool.node.standalone import (
        NotStandalone,
        broker_lines,
        default_release,
        existing,
        prepare,
    )
    from kraftool.storage.format_levels import FormatImpossible

    to = running.open()
    endpoint = endpoint_of(listen or "127.0.0.1:9093", "--listen")
    metrics = running.metrics
    release = release_version or default_release()
    try:
        standalone = existing(directory)
        if not standalone.is_new and (listen or release_version):
            raise UsageError(
                f"{printable(standalone.path)} already has a cluster, with its feature levels and"
                " its address",
                hint="leave out --listen and --release-version, or name another directory. The"
                f" address is in {printable(standalone.config_path)}",
            )
        if running.dry_run:
            verb = "start a cluster in" if standalone.is_new else "continue the cluster in"
            to.line(f"Would {verb} {printable(standalone.path)}")
            if standalone.is_new:
                to.line(f"  with the levels of {release}, at {endpoint}")
            to.finish()
        config = prepare(standalone, listen=endpoint, release=release)
    except NotStandalone as error:
        raise RefusedError(error.message, hint=error.hint) from None
    except FormatImpossible as error:
        raise UsageError(error.message, hint=error.hint) from None
    cluster_id = read_identity(config).cluster_id
    begins = f" starts with the feature levels of {release}" if standalone.is_new else " continues"
    to.line(f"Cluster {printable(cluster_id)}{begins}. A broker's server.properties:")
    to.line()
    for line in broker_lines(config):
        to.line(f"    {line}")
    to.line()
    to.line(f"Format its directory with kafka-storage format -t {printable(cluster_id)} -c FILE")
    to.flush()
    options = NodeOptions(
        cuts_batches=running.cut_damaged_log, metrics=metrics, shutdown_s=running.shutdown_timeout
    )
    run_to_end(to, config, options, running.log_format)
