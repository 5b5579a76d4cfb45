"""The options of `kraftool pipeline stream`, as the command line has them."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated

import typer

from kraftool.commands.options import ShowSecrets, TimeZone
from kraftool.commands.pipeline_options import PipelineOptions


class StreamFormat(StrEnum):
    """Formats of the console."""

    TABLE = "table"
    JSONL = "jsonl"


class Start(StrEnum):
    """Where a new stream begins."""

    EARLIEST = "earliest"
    LATEST = "latest"


@dataclass(frozen=True, kw_only=True)
class PipelineStreamOptions(PipelineOptions):
    """What was asked for, as it was written."""

    to: Annotated[
        str,
        typer.Option(
            "--to",
            metavar="SINK",
            help="console, parquet:DIR, or kafka:HOST:PORT/TOPIC (several HOST:PORT with commas).",
        ),
    ] = "console"
    checkpoint: Annotated[
        str,
        typer.Option(
            metavar="DIR",
            help="Remember here what was read, and go on from there. Without it a console begins"
            " anew, and Parquet has it in its own folder.",
        ),
    ] = ""
    from_: Annotated[Start, typer.Option("--from", help="Where a new stream begins.")] = (
        Start.EARLIEST
    )
    once: Annotated[bool, typer.Option("--once", help="Take what is there, and end.")] = False
    interval: Annotated[
        float,
        typer.Option(min=0.1, metavar="SECONDS", help="Look for news so often."),
    ] = 1.0
    rate: Annotated[
        str,
        typer.Option(
            metavar="BYTES",
            help="Read about so much of the logs at a time, such as 64M. [default: 4M to the"
            " console, else 256M]",
        ),
    ] = ""
    type_: Annotated[
        list[str],
        typer.Option("--type", metavar="T", help="Only records of this type; may be repeated."),
    ] = field(default_factory=list)
    cluster: Annotated[
        list[str],
        typer.Option(metavar="ID", help="Only this cluster; may be repeated."),
    ] = field(default_factory=list)
    findings: Annotated[
        bool, typer.Option("--findings/--no-findings", help="Judge files that change.")
    ] = True
    kafka_conf: Annotated[
        list[str],
        typer.Option(
            metavar="KEY=VALUE",
            help="A setting of Kafka's producer, as for TLS; may be repeated. Never shown.",
        ),
    ] = field(default_factory=list, repr=False)
    output: Annotated[
        StreamFormat, typer.Option("--output", "-o", help="Format of the console.")
    ] = StreamFormat.TABLE
    show_secrets: ShowSecrets = False
    tz: TimeZone = "UTC"
