"""The options that commands share, declared once."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from kraftool.commands.output import ColorWhen, UsageError, debugging


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


class FailOn(StrEnum):
    """From which severity on findings make a command fail."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


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
FailOnSeverity = Annotated[
    FailOn, typer.Option("--fail-on", help="End with 1 from this severity on.")
]
IgnoredCodes = Annotated[
    list[str] | None,
    typer.Option("--ignore", metavar="CODE,…", help="Leave these codes out; may be repeated."),
]
ServerProperties = Annotated[
    str,
    typer.Option("--config", "-c", metavar="FILE", help="The node's server.properties."),
]
Debug = Annotated[
    bool,
    typer.Option("--debug", help="Show the traceback of an internal error.", callback=debugging),
]


def ignored_codes(given: list[str] | None) -> frozenset[str]:
    """The codes of --ignore. One that there is not is the user's mistake."""
    words = (code.strip().upper() for each in given or () for code in each.split(","))
    found = frozenset(filter(None, words))
    if found:
        from kraftool.reports.doctor.explain import codes

        for each in sorted(found - codes()):
            raise UsageError(f"--ignore {each} is no code", hint="kraftool doctor --explain list")
    return found
