"""The options of `kraftool dump-log`, as the command line has them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

from typer import Argument, Option

from kraftool.commands.options import (
    DumpLogFormat,
    NoOps,
    Offsets,
    OutputOptions,
    ShowSecrets,
    Since,
    TimeZone,
    Until,
)
from kraftool.commands.quorum_options import LiveOptions


@dataclass(frozen=True, slots=True, kw_only=True)
class DumpLogOptions:
    """The options of `dump-log` as they were written."""

    paths: Annotated[
        list[str],
        Argument(metavar="PATH", help="Directory, segment, checkpoint, properties or tar."),
    ] = field(default_factory=list)
    files: Annotated[
        str,
        Option(
            "--files",
            metavar="A,B",
            help="Paths, as kafka-dump-log takes them, separated by commas.",
        ),
    ] = ""
    output: Annotated[
        DumpLogFormat,
        Option(
            "--output",
            "-o",
            help="Output format. kafka prints secrets unmasked, exactly as kafka-dump-log does.",
        ),
    ] = DumpLogFormat.TABLE
    offsets: Offsets = ""
    epoch: Annotated[
        int | None, Option(metavar="E", help="Show only batches of this leader epoch.")
    ] = None
    type_: Annotated[
        list[str],
        Option(
            "--type", metavar="T", help="Show only records of this type. Repeat it for more types."
        ),
    ] = field(default_factory=list)
    topic: Annotated[str, Option(metavar="NAME", help="Show only records about this topic.")] = ""
    broker: Annotated[
        int | None, Option(metavar="N", help="Show only records that name this broker.")
    ] = None
    since: Since = ""
    until: Until = ""
    grep: Annotated[
        str,
        Option(
            metavar="RE",
            help="Show only records that match in type, JSON payload (as in -o jsonl) or topic"
            " name.",
        ),
    ] = ""
    control: Annotated[
        bool | None,
        Option("--control/--no-control", help="Show only control records, or hide them."),
    ] = None
    transactions: Annotated[
        str,
        Option(
            metavar="mark|hide", help="Mark transactions, or hide records that were never applied."
        ),
    ] = ""
    snapshots: Annotated[
        bool, Option("--snapshots", help="Also show the checkpoints of a directory.")
    ] = False
    follow: Annotated[
        bool,
        Option(
            "--follow", "-f", help="Keep showing new records as the log grows, until interrupted."
        ),
    ] = False
    batches_only: Annotated[
        bool, Option("--batches-only", help="Show batch headers without their records.")
    ] = False
    head: Annotated[
        int | None,
        Option(
            min=0,
            metavar="N",
            help="Show only the first N records. Folded no-ops do not count.",
        ),
    ] = None
    tail: Annotated[
        int | None,
        Option(
            min=0,
            metavar="N",
            help="Show only the last N records. Folded no-ops do not count.",
        ),
    ] = None
    noops: Annotated[
        NoOps,
        Option(
            "--noops",
            help="In a table, fold each run of no-op records into one line, or show each record.",
        ),
    ] = NoOps.FOLD
    wide: Annotated[bool, Option("--wide", help="Do not cut lines at the terminal's width.")] = (
        False
    )
    jobs: Annotated[
        int,
        Option(
            min=0,
            metavar="N",
            help="Number of threads or processes for large files. 0 uses all processors.",
        ),
    ] = 0
    quorum: LiveOptions
    show_secrets: ShowSecrets = False
    tz: TimeZone = "UTC"
    printing: OutputOptions
    cluster_metadata_decoder: Annotated[
        bool,
        Option("--cluster-metadata-decoder", help="Option of kafka-dump-log; always on."),
    ] = False
    print_data_log: Annotated[
        bool,
        Option("--print-data-log", help="Option of kafka-dump-log; always on."),
    ] = False
    deep_iteration: Annotated[
        bool,
        Option("--deep-iteration", help="Option of kafka-dump-log; always on."),
    ] = False
    skip_record_metadata: Annotated[
        bool, Option("--skip-record-metadata", help="With -o kafka, print only the payloads.")
    ] = False
