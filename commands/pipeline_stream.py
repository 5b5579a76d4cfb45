"""`kraftool pipeline stream`: records, problems, changes and findings of a live fleet."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from kraftool.commands.options import Color, Debug, Quiet, ShowSecrets, TimeZone
from kraftool.commands.output import ColorWhen
from kraftool.commands.pipeline_options import (
    DEPTH,
    Conf,
    Depth,
    Master,
    Roots,
    SparkLog,
    StorageOptions,
)


class StreamFormat(StrEnum):
    """Formats of the console."""

    TABLE = "table"
    JSONL = "jsonl"


class Start(StrEnum):
    """Where a new stream begins."""

    EARLIEST = "earliest"
    LATEST = "latest"


def stream(
    roots: Roots,
    to: Annotated[
        str,
        typer.Option(
            "--to",
            metavar="SINK",
            help="console, parquet:DIR, or kafka:HOST:PORT/TOPIC (several HOST:PORT with commas).",
        ),
    ] = "console",
    checkpoint: Annotated[
        str,
        typer.Option(
            metavar="DIR",
            help="Remember here what was read, and go on from there. Without it a console begins"
            " anew, and Parquet has it in its own folder.",
        ),
    ] = "",
    from_: Annotated[
        Start, typer.Option("--from", help="Where a new stream begins.")
    ] = Start.EARLIEST,
    once: Annotated[bool, typer.Option("--once", help="Take what is there, and end.")] = False,
    interval: Annotated[
        float,
        typer.Option(min=0.1, metavar="SECONDS", help="Look for news so often."),
    ] = 1.0,
    rate: Annotated[
        str,
        typer.Option(
            metavar="BYTES",
            help="Read about so much of the logs at a time, such as 64M. [default: 4M to the"
            " console, else 256M]",
        ),
    ] = "",
    type_: Annotated[
        list[str] | None,
        typer.Option("--type", metavar="T", help="Only records of this type; may be repeated."),
    ] = None,
    cluster: Annotated[
        list[str] | None,
        typer.Option(metavar="ID", help="Only this cluster; may be repeated."),
    ] = None,
    findings: Annotated[
        bool, typer.Option("--findings/--no-findings", help="Judge files that change.")
    ] = True,
    kafka_conf: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KEY=VALUE",
            help="A setting of Kafka's producer, as for TLS; may be repeated. Never shown.",
        ),
    ] = None,
    output: Annotated[
        StreamFormat, typer.Option("--output", "-o", help="Format of the console.")
    ] = StreamFormat.TABLE,
    master: Master = "",
    conf: Conf = None,
    storage_options: StorageOptions = "",
    depth: Depth = DEPTH,
    spark_log: SparkLog = "",
    show_secrets: ShowSecrets = False,
    tz: TimeZone = "UTC",
    color: Color = ColorWhen.AUTO,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Follow the logs of a fleet: records, damage, truncations and findings as they appear.

    Example: kraftool pipeline stream /var/lib/kafka/data --once

    To Parquet each row is written exactly once, however often the run is killed and begun again; to
    Kafka at least once, with the directory, epoch and offset for a key. Ctrl-C ends it at once,
    SIGTERM after what is being written. A log that is truncated, cleaned, gone or new is told.

    Nothing is written to the directories, and nothing is locked; a running Kafka is not disturbed.
    """
    from kraftool.commands.pipeline_options import EngineOptions
    from kraftool.commands.pipeline_stream_run import StreamRequest, StreamRun

    StreamRun(
        StreamRequest(
            roots=roots,
            to=to,
            checkpoint=checkpoint,
            from_latest=from_ is Start.LATEST,
            once=once,
            interval_s=interval,
            rate=rate,
            types=type_ or [],
            clusters=cluster or [],
            findings=findings,
            kafka_conf=kafka_conf or [],
            as_lines=output is StreamFormat.JSONL,
            engine=EngineOptions(master=master, conf=conf or (), log=spark_log),
            storage_options=storage_options,
            depth=depth,
            show_secrets=show_secrets,
            tz=tz,
            color=color,
            quiet=quiet,
        )
    ).run()
