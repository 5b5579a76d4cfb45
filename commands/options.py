"""The options that commands share, declared once."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from kraftool.commands.output import ColorWhen, debugging


class Format(StrEnum):
    """Output formats of most commands."""

    TABLE = "table"
    JSON = "json"
    JSONL = "jsonl"
    CSV = "csv"


class DumpLogFormat(StrEnum):
    """Output formats of dump-log."""

    TABLE = "table"
    JSON = "json"
    JSONL = "jsonl"
    CSV = "csv"
    KAFKA = "kafka"


class PlainFormat(StrEnum):
    """Output formats of commands whose result is one document."""

    TABLE = "table"
    JSON = "json"


OUTPUT = typer.Option("--output", "-o", help="The format of the output.")
"""For `Annotated`, beside the formats that the command has."""
PlainOutput = Annotated[PlainFormat, OUTPUT]
Out = Annotated[
    str, typer.Option("--out", metavar="FILE", help="Write to a new file instead of stdout.")
]
Color = Annotated[ColorWhen, typer.Option("--color", help="When to colour.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No narration on stderr.")]
ShowSecrets = Annotated[
    bool,
    typer.Option("--show-secrets", help="Show SCRAM keys, tokens and sensitive config values."),
]
TimeZone = Annotated[
    str, typer.Option("--tz", metavar="ZONE", help="Time zone of the times in tables.")
]
TakenFor = Annotated[
    str,
    typer.Option("--as", metavar="KIND", help="Take the file for this kind of file."),
]
Offsets = Annotated[
    str,
    typer.Option(
        "--offsets", metavar="A..B", help="Offsets from A to B, both included; either may lack."
    ),
]
Since = Annotated[
    str,
    typer.Option(
        "--since",
        metavar="TIME",
        help="From this time on: ISO-8601, epoch ms, or 2h for so long ago.",
    ),
]
Until = Annotated[str, typer.Option("--until", metavar="TIME", help="Up to this time.")]
ServerProperties = Annotated[
    str,
    typer.Option("--config", "-c", metavar="FILE", help="The node's server.properties."),
]
Debug = Annotated[
    bool,
    typer.Option("--debug", help="Show the traceback of an internal error.", callback=debugging),
]
