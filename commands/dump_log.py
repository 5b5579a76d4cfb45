"""`kraftool dump-log`: the batches and records of segments and checkpoints."""

from __future__ import annotations

from typing import Annotated

import typer

from kraftool.commands.options import (
    Color,
    Debug,
    DumpLogFormat,
    Offsets,
    Out,
    Quiet,
    ShowSecrets,
    Since,
    TimeZone,
    Until,
)
from kraftool.commands.output import ColorWhen
from kraftool.commands.quorum_options import TIMEOUT_S, Bootstrap, CommandConfig, Resolve, Timeout


def dump_log(
    paths: Annotated[
        list[str] | None,
        typer.Argument(metavar="PATH", help="Directory, segment, checkpoint, properties or tar."),
    ] = None,
    files: Annotated[
        str, typer.Option("--files", metavar="A,B", help="Paths as kafka-dump-log takes them.")
    ] = "",
    output: Annotated[
        DumpLogFormat, typer.Option("--output", "-o", help="Format; kafka is verbatim.")
    ] = DumpLogFormat.TABLE,
    offsets: Offsets = "",
    epoch: Annotated[
        int | None, typer.Option(metavar="E", help="Only batches of this leader epoch.")
    ] = None,
    type_: Annotated[
        list[str] | None,
        typer.Option("--type", metavar="T", help="Only this record type; may be repeated."),
    ] = None,
    topic: Annotated[str, typer.Option(metavar="NAME", help="Only records about this topic.")] = "",
    broker: Annotated[
        int | None, typer.Option(metavar="N", help="Only records that name this broker.")
    ] = None,
    since: Since = "",
    until: Until = "",
    grep: Annotated[
        str,
        typer.Option(
            metavar="RE",
            help="Only records whose type or JSON payload (as -o jsonl has it) matches.",
        ),
    ] = "",
    control: Annotated[
        bool | None, typer.Option("--control/--no-control", help="Only, or no, control records.")
    ] = None,
    transactions: Annotated[
        str,
        typer.Option(metavar="mark|hide", help="Mark transactions, or hide what never applied."),
    ] = "",
    snapshots: Annotated[
        bool, typer.Option("--snapshots", help="Of a directory, the checkpoints too.")
    ] = False,
    follow: Annotated[
        bool, typer.Option("--follow", "-f", help="Go on as the log grows, until interrupted.")
    ] = False,
    batches_only: Annotated[
        bool, typer.Option("--batches-only", help="Batch headers without their records.")
    ] = False,
    head: Annotated[
        int | None, typer.Option(min=0, metavar="N", help="Only the first N records.")
    ] = None,
    tail: Annotated[
        int | None, typer.Option(min=0, metavar="N", help="Only the last N records.")
    ] = None,
    wide: Annotated[bool, typer.Option("--wide", help="Do not cut lines at the terminal.")] = False,
    jobs: Annotated[
        int,
        typer.Option(min=0, metavar="N", help="Processes for large files; 0 takes what there is."),
    ] = 0,
    bootstrap_controller: Bootstrap = "",
    command_config: CommandConfig = "",
    resolve: Resolve = None,
    timeout: Timeout = TIMEOUT_S,
    show_secrets: ShowSecrets = False,
    tz: TimeZone = "UTC",
    out: Out = "",
    color: Color = ColorWhen.AUTO,
    quiet: Quiet = False,
    debug: Debug = False,
    cluster_metadata_decoder: Annotated[
        bool, typer.Option("--cluster-metadata-decoder", help="Understood; always on.")
    ] = False,
    print_data_log: Annotated[
        bool, typer.Option("--print-data-log", help="Understood; always on.")
    ] = False,
    deep_iteration: Annotated[
        bool, typer.Option("--deep-iteration", help="Understood; always on.")
    ] = False,
    skip_record_metadata: Annotated[
        bool, typer.Option("--skip-record-metadata", help="With -o kafka, only the payloads.")
    ] = False,
) -> None:
    """Show the batches and records of metadata logs and checkpoints.

    Example: kraftool dump-log /var/lib/kafka/data --type PartitionRecord --tail 20

    Example: kraftool dump-log --bootstrap-controller ctl-1:9093 --since 1h

    With --bootstrap-controller the leader's log is read over the network, without joining as a
    replica: its snapshot and the log behind it, up to the high watermark. Records that are not
    committed yet are not shown. --follow shows each record once it is committed,
    through changes of the leader too; --snapshots adds the snapshot. The command exits with 4 if no
    node could be reached, and with 3 if there is no leader.

    Nothing is written to the log, and nothing is locked; a running Kafka is not disturbed.
    """
    from kraftool.commands.live_reading import leader_log, live_quorum, refuse_both
    from kraftool.commands.log_run import DumpRequest, LogRun

    named = [*(paths or []), *(name for name in files.split(",") if name)]
    refuse_both(named, bootstrap_controller)
    run = LogRun(
        DumpRequest(
            format=output,
            offsets=offsets,
            epoch=epoch,
            types=type_ or [],
            topic=topic,
            broker=broker,
            since=since,
            until=until,
            grep=grep,
            control=control,
            transactions=transactions,
            snapshots=snapshots,
            follow=follow,
            batches_only=batches_only,
            head=head,
            tail=tail,
            wide=wide,
            jobs=jobs,
            show_secrets=show_secrets,
            tz=tz,
            out=out,
            color=color,
            quiet=quiet,
            skip_record_metadata=skip_record_metadata,
        )
    )
    access = bootstrap_controller, command_config, timeout, resolve
    with live_quorum(run.output, *access, committed=True) as live:
        if live is None:
            run.run(named)
            return
        from kraftool.commands.log_follow_live import LiveFollowing
        from kraftool.commands.quorum_options import target

        captured = leader_log(run.output, live)
        if follow:
            run.following = LiveFollowing(
                target(bootstrap_controller, command_config, timeout, resolve),
                live.now,
                captured.end,
            )
        run.run([captured.location])
