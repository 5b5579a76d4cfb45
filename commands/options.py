"""The options that commands share, declared once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import MISSING, Field, dataclass, fields, is_dataclass
from enum import StrEnum
from functools import wraps
from inspect import Parameter, Signature, signature
from typing import Annotated, Any, get_type_hints

from typer import Option

from kraftool.commands.output import ColorWhen, Output, debugging


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command as typer reads it: with the members of its option groups as parameters.

    A group is a dataclass of options that belong together and are declared once. A parameter of its
    type stands for its members, in the help too, and the command gets a value of it. The members of
    a class come before those of its bases, and a member may be a group itself.
    """
    hints = get_type_hints(command, include_extras=True)
    groups = {name: hint for name, hint in hints.items() if is_dataclass(hint)}
    if not groups:
        return command
    parameters: list[Parameter] = []
    for name, parameter in signature(command).parameters.items():
        if name in groups:
            parameters += _members(groups[name])
        else:
            kind = Parameter.KEYWORD_ONLY
            parameters.append(parameter.replace(annotation=hints[name], kind=kind))

    @wraps(command)
    def run(**values: Any) -> None:
        made = {name: _made(group, values) for name, group in groups.items()}
        command(**values, **made)

    vars(run)["__signature__"] = Signature(parameters)
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run


def _members(group: Any) -> Iterator[Parameter]:
    hints = get_type_hints(group, include_extras=True)
    members = {member.name: member for member in fields(group)}
    own_first = [name for owner in group.__mro__ for name in vars(owner).get("__annotations__", ())]
    for name in dict.fromkeys(own_first):
        if is_dataclass(hints[name]):
            yield from _members(hints[name])
        else:
            default, hint = _default(members[name]), hints[name]
            yield Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=hint)


def _made(group: Any, values: dict[str, Any]) -> Any:
    """Return a value of a group, of values that are no longer among the others then."""
    hints = get_type_hints(group)
    members = {
        member.name: _made(hints[member.name], values)
        if is_dataclass(hints[member.name])
        else values.pop(member.name)
        for member in fields(group)
    }
    return group(**members)


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


@dataclass(frozen=True, kw_only=True)
class ScreenOptions:
    """The options of what a terminal shows."""

    color: Color = ColorWhen.AUTO
    quiet: Quiet = False
    debug: Debug = False

    def open(self, out: str = "") -> Output:
        """Return the output that the options name; `out`: a file in place of stdout."""
        return Output(color=self.color, quiet=self.quiet, out=out)


@dataclass(frozen=True, kw_only=True)
class OutputOptions(ScreenOptions):
    """The same, with a file in place of stdout."""

    out: Out = ""

    def open(self, out: str = "") -> Output:
        return super().open(out or self.out)
