"""The options of `kraftool pipeline stream`, as the command line has them."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated

from typer import Option

from kraftool.commands.options import ShowSecrets, TimeZone
from kraftool.commands.pipeline_options import PipelineOptions


class StreamFormat(StrEnum):
    """Formats of the console."""

    TABLE = "table"
    JSONL = "jsonl"


class Start(StrEnum):
    """The place at which a new stream begins."""

    EARLIEST = "earliest"
    LATEST = "latest"


@dataclass(frozen=True, kw_only=True)
class PipelineStreamOptions(PipelineOptions):
    """The options of `pipeline stream` as they were written."""

    to: Annotated[
        str,
        Option(
            "--to",
            metavar="SINK",
            help="Destination: console, parquet:DIR, or kafka:HOST:PORT/TOPIC (several HOST:PORT"
            " separated by commas).",
        ),
    ] = "console"
    checkpoint: Annotated[
        str,
        Option(
            metavar="DIR",
            help="Folder for the stream's position, so that the next run continues from there."
            " Without it, a console stream starts from scratch, and a Parquet stream stores"
            " its position in its own folder.",
        ),
    ] = ""
    from_: Annotated[Start, Option("--from", help="Position at which a new stream starts.")] = (
        Start.EARLIEST
    )
    once: Annotated[bool, Option("--once", help="Process what the logs have now, and exit.")] = (
        False
    )
    interval: Annotated[
        float,
        Option(min=0.1, metavar="SECONDS", help="Polling interval."),
    ] = 1.0
    rate: Annotated[
        str,
        Option(
            metavar="BYTES",
            help="Amount of the logs to read at a time, such as 64M (default: 4M to the console,"
            " else 256M).",
        ),
    ] = ""
    type_: Annotated[
        list[str],
        Option(
            "--type", metavar="T", help="Show only records of this type. Repeat it for more types."
        ),
    ] = field(default_factory=list)
    cluster: Annotated[
        list[str],
        Option(metavar="ID", help="Read only this cluster. Repeat it for more clusters."),
    ] = field(default_factory=list)
    findings: Annotated[
        bool,
        Option("--findings/--no-findings", help="Also report findings for changed files."),
    ] = True
    kafka_conf: Annotated[
        list[str],
        Option(
            metavar="KEY=VALUE",
            help="Setting of Kafka's producer, such as for TLS. Repeat it for more settings."
            " Values are never shown.",
        ),
    ] = field(default_factory=list, repr=False)
    output: Annotated[StreamFormat, Option("--output", "-o", help="Format of the console.")] = (
        StreamFormat.TABLE
    )
    show_secrets: ShowSecrets = False
    tz: TimeZone = "UTC"
