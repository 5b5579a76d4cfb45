"""A plain command line gives a command the values that typer gives it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import wraps
from importlib import import_module
from inspect import Parameter, signature
from random import Random
from typing import Annotated, Any

import pytest
import typer
from typer.exceptions import TyperException
from typer.main import get_command

from kraftool.commands import command_line, plain_line
from kraftool.commands.command_table import SUBCOMMANDS, commands_below, place_of
from kraftool.commands.parameter_marks import Argument, Option
from kraftool.commands.plain_line import NotPlainError, plain_call, plain_values

COMMANDS = [
    *((name,) for name in commands_below(()) if name not in SUBCOMMANDS),
    *((group, name) for group, names in SUBCOMMANDS.items() for name in names),
]
WORDS = ("", "x", "5", "0", "-1", "1.5", "json", "table", "JSON", "a,b", "host:9093", "-", "true")
CHOICES = ("json", "2", "7", "0.5", "observer", "fold")


def _function(path: tuple[str, ...]) -> Callable[..., object]:
    module, name = place_of(path)
    function: Callable[..., object] = getattr(import_module(f"kraftool.commands.{module}"), name)
    return function


def _typers_reading(function: Callable[..., object]) -> Callable[[list[str]], Any]:
    """Return what gives the values with which typer calls the command; None for a line that it
    refuses."""
    seen: list[dict[str, Any]] = []

    @wraps(function)
    def take(**values: Any) -> None:
        seen.append(values)

    vars(take)["__signature__"] = signature(function)
    app = typer.Typer(add_completion=False, rich_markup_mode=None)
    app.command("it", cls=command_line.ExplainedCommand)(command_line._marked(take))
    command = get_command(app)

    def values(words: list[str]) -> dict[str, Any] | None:
        seen.clear()
        with suppress(TyperException):
            command(words, standalone_mode=False)
        return seen[0] if seen else None

    return values


def _lines(function: Callable[..., object], random: Random) -> list[list[str]]:
    """Lines of options that the command has, with values that it takes or refuses."""
    parameters = plain_line._parameters(function)
    options = [parameter for parameter in parameters if not parameter.is_argument]
    lines: list[list[str]] = [[], ["x"], ["x", "y"], ["--", "-x"], ["--help"]]
    required = [
        word
        for option in options
        if option.default is Parameter.empty
        for word in (next(iter(option.names)), "2")
    ]
    while len(lines) < 100:
        line = [random.choice("x2")] * random.randrange(3) + required * (random.random() < 0.8)
        for option in random.choices(options, k=random.randrange(5) if options else 0):
            name = random.choice([*option.names])
            words = random.choice([WORDS, CHOICES])
            value = [] if option.is_flag else [random.choice(words)]
            odd = random.random()
            if odd < 0.05:
                name = name[:-1]
            elif odd < 0.1:
                value.append("z")
            if value and random.random() < 0.2:
                line.append(f"{name}={value[0]}")
            else:
                line += [name, *value]
        lines.append(line)
    return lines


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_plain_lines_have_the_values_that_typer_reads(path: tuple[str, ...]) -> None:
    function = _function(path)
    plain, typers_values = 0, _typers_reading(function)
    for line in _lines(function, Random(" ".join(path))):
        try:
            values = plain_values(function, line)
        except NotPlainError:
            continue
        plain += 1
        assert repr(typers_values(line)) == repr(values), line
    assert plain >= 2, "so few say nothing"


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["--help"],
        ["nothing"],
        ["quorum"],
        ["quorum", "nothing"],
        ["quorum", "--help"],
        ["dump", "--help"],
        ["dump", "-h"],
        ["dump", "--jso"],
        ["dump-log", "x", "--head"],
        ["dump-log", "x", "--head", "-1"],
        ["dump-log", "x", "--head", "many"],
        ["dump-log", "x", "-ojson"],
        ["dump-log", "x", "-fq"],
        ["dump-log", "x", "-o=json"],
        ["dump-log", "x", "--follow=1"],
        ["state", "x", "y"],
        ["explain"],
    ],
    ids=" ".join,
)
def test_everything_else_is_typers(words: list[str]) -> None:
    assert plain_call(words) is None


def test_a_parameter_that_typer_alone_understands_makes_no_line_plain() -> None:
    def marked_by_typer(place: Annotated[str, typer.Option()] = "") -> None: ...
    def with_a_setting(place: Annotated[str, Option(envvar="PLACE")] = "") -> None: ...
    def of_a_type(place: Annotated[bytes, Argument()] = b"") -> None: ...
    def unmarked(place: str = "") -> None: ...

    for function in (marked_by_typer, with_a_setting, of_a_type, unmarked):
        function.__annotations__ = {
            name: eval(hint, globals()) if isinstance(hint, str) else hint
            for name, hint in function.__annotations__.items()
        }
        with pytest.raises(NotPlainError):
            plain_values(function, [])
