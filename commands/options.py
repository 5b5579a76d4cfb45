"""The options that commands share, declared once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, Field, fields
from enum import StrEnum
from functools import wraps
from inspect import Parameter, Signature
from typing import Annotated, Any, TypeVar, cast, get_type_hints

from typer import Option

from kraftool.commands.output import ColorWhen, debugging

Options = TypeVar("Options")


def takes(options: type[Options]) -> Callable[[Callable[[Options], None]], Callable[..., None]]:
    """Let a command have the members of a dataclass for its options, and get one value of it.

    Typer reads a signature; this one is made of the members, their annotations and defaults. The
    help shows the members of the class before those of its bases.
    """
    hints = get_type_hints(options, include_extras=True)
    members = {member.name: member for member in fields(cast("Any", options))}
    own_first = [
        name for owner in options.__mro__ for name in vars(owner).get("__annotations__", ())
    ]
    parameters = [
        Parameter(
            name,
            Parameter.KEYWORD_ONLY,
            default=_default(members[name]),
            annotation=hints[name],
        )
        for name in dict.fromkeys(own_first)
    ]

    def decorate(command: Callable[[Options], None]) -> Callable[..., None]:
        @wraps(command)
        def run(**values: Any) -> None:
            command(options(**values))

        vars(run)["__signature__"] = Signature(parameters)
        run.__annotations__ = hints
        return run

    return decorate


def _default(member: Field[Any]) -> Any:
    if member.default_factory is not MISSING:
        return member.default_factory()
    return Parameter.empty if member.default is MISSING else member.default


class Format(StrEnum):
    """Output formats of most commands."""

    TABLE = "table"
    JSON = "json"
    JSONL = "jsonl"
    CSV = "csv"


class NoOps(StrEnum):
    """The ways in which a table shows runs of no-op records."""

    FOLD = "fold"
    SHOW = "show"


class DumpLogFormat(StrEnum):
    """Output formats of dump-log."""

    TABLE = "table"
    JSON = "json"
    JSONL = "jsonl"
    CSV = "csv"
    KAFKA = "kafka"


class PlainFormat(StrEnum):
    """Output formats of commands whose result is one document without rows."""

    TABLE = "table"
    JSON = "json"


class RowFormat(StrEnum):
    """Output formats of commands whose result is one document, of which CSV has the rows."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"


OUTPUT = Option("--output", "-o", help="Output format.")
"""For `Annotated`, beside the formats that the command has."""
PlainOutput = Annotated[PlainFormat, OUTPUT]
RowOutput = Annotated[RowFormat, OUTPUT]
Out = Annotated[str, Option("--out", metavar="FILE", help="Write to a new file instead of stdout.")]
Color = Annotated[ColorWhen, Option("--color", help="When to use colours.")]
Quiet = Annotated[bool, Option("--quiet", "-q", help="Do not report progress on stderr.")]
Verbose = Annotated[
    bool,
    Option("--verbose", "-v", help="Show notes in full, and all findings of a kind."),
]
ShowSecrets = Annotated[
    bool,
    Option("--show-secrets", help="Show SCRAM keys, tokens and sensitive config values."),
]
TimeZone = Annotated[str, Option("--tz", metavar="ZONE", help="Time zone for times in tables.")]
TakenFor = Annotated[
    str,
    Option("--as", metavar="KIND", help="Read the file as this kind of file."),
]
Offsets = Annotated[
    str,
    Option(
        "--offsets",
        metavar="A..B",
        help="Offsets from A to B, both included. A or B may be omitted.",
    ),
]
Since = Annotated[
    str,
    Option(
        "--since",
        metavar="TIME",
        help="Show records from this time on: ISO-8601, epoch ms, or 2h for two hours ago.",
    ),
]
Until = Annotated[
    str,
    Option(
        "--until",
        metavar="TIME",
        help="Show records up to this time. Takes the same forms as --since.",
    ),
]
ServerProperties = Annotated[
    str,
    Option("--config", "-c", metavar="FILE", help="The node's server.properties."),
]
Debug = Annotated[
    bool,
    Option("--debug", help="Show the traceback of an internal error.", callback=debugging),
]
