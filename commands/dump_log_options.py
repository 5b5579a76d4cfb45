"""The options of `kraftool dump-log`, as the command line has them."""

from __future__ import annotations

from dataclasses import dataclass, field
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


@dataclass(frozen=True, slots=True, kw_only=True)
class DumpLogOptions:
    """What was asked for, as it was written."""

    paths: Annotated[
        list[str],
        typer.Argument(metavar="PATH", help="Directory, segment, checkpoint, properties or tar."),
    ] = field(default_factory=list)
    files: Annotated[
        str, typer.Option("--files", metavar="A,B", help="Paths as kafka-dump-log takes them.")
    ] = ""
    output: Annotated[
        DumpLogFormat, typer.Option("--output", "-o", help="Format; kafka is verbatim.")
    ] = DumpLogFormat.TABLE
    offsets: Offsets = ""
    epoch: Annotated[
        int | None, typer.Option(metavar="E", help="Only batches of this leader epoch.")
    ] = None
    type_: Annotated[
        list[str],
        typer.Option("--type", metavar="T", help="Only this record type; may be repeated."),
    ] = field(default_factory=list)
    topic: Annotated[str, typer.Option(metavar="NAME", help="Only records about this topic.")] = ""
    broker: Annotated[
        int | None, typer.Option(metavar="N", help="Only records that name this broker.")
    ] = None
    since: Since = ""
    until: Until = ""
    grep: Annotated[
        str,
        typer.Option(
            metavar="RE",
            help="Only records whose type or JSON payload (as -o jsonl has it) matches.",
        ),
    ] = ""
    control: Annotated[
        bool | None, typer.Option("--control/--no-control", help="Only, or no, control records.")
    ] = None
    transactions: Annotated[
        str,
        typer.Option(metavar="mark|hide", help="Mark transactions, or hide what never applied."),
    ] = ""
    snapshots: Annotated[
        bool, typer.Option("--snapshots", help="Of a directory, the checkpoints too.")
    ] = False
    follow: Annotated[
        bool, typer.Option("--follow", "-f", help="Go on as the log grows, until interrupted.")
    ] = False
    batches_only: Annotated[
        bool, typer.Option("--batches-only", help="Batch headers without their records.")
    ] = False
    head: Annotated[
        int | None, typer.Option(min=0, metavar="N", help="Only the first N records.")
    ] = None
    tail: Annotated[
        int | None, typer.Option(min=0, metavar="N", help="Only the last N records.")
    ] = None
    wide: Annotated[bool, typer.Option("--wide", help="Do not cut lines at the terminal.")] = False
    jobs: Annotated[
        int,
        typer.Option(
            min=0, metavar="N", help="Threads or processes for large files (default: one per core)."
        ),
    ] = 0
    bootstrap_controller: Bootstrap = ""
    command_config: CommandConfig = ""
    resolve: Resolve = None
    timeout: Timeout = TIMEOUT_S
    show_secrets: ShowSecrets = False
    tz: TimeZone = "UTC"
    out: Out = ""
    color: Color = ColorWhen.AUTO
    quiet: Quiet = False
    debug: Debug = False
    cluster_metadata_decoder: Annotated[
        bool, typer.Option("--cluster-metadata-decoder", help="Understood; always on.")
    ] = False
    print_data_log: Annotated[
        bool, typer.Option("--print-data-log", help="Understood; always on.")
    ] = False
    deep_iteration: Annotated[
        bool, typer.Option("--deep-iteration", help="Understood; always on.")
    ] = False
    skip_record_metadata: Annotated[
        bool, typer.Option("--skip-record-metadata", help="With -o kafka, only the payloads.")
    ] = False
