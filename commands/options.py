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
Debug = Annotated[
    bool,
    typer.Option("--debug", help="Show the traceback of an internal error.", callback=debugging),
]
