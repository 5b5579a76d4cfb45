"""Words become values as typer makes them, without pydantic: both, side by side."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any

import pytest
import typer
from typer.core import TyperArgument, TyperOption
from typer.main import get_command

from kraftool.commands.app import app
from kraftool.commands.command_tree import walk
from kraftool.commands.parameter_values import bounds
from kraftool.commands.parameters import PlainValue, plain


class Kind(StrEnum):
    """Words of which an option takes one."""

    ONE = "one"
    OTHER = "other"


def _run(
    text: Annotated[str, typer.Option()] = "",
    whole: Annotated[int | None, typer.Option(min=0, max=9)] = None,
    number: Annotated[float, typer.Option(min=0.1)] = 1.0,
    free: Annotated[float, typer.Option()] = 1.0,
    choice: Annotated[bool | None, typer.Option("--yes/--no")] = None,
    kind: Annotated[Kind, typer.Option()] = Kind.ONE,
    loose: Annotated[Kind, typer.Option(case_sensitive=False)] = Kind.ONE,
    kinds: Annotated[list[Kind] | None, typer.Option()] = None,
    wholes: Annotated[list[int] | None, typer.Option()] = None,
) -> None:
    """Takes every type that commands have."""


def _parameters() -> dict[str, Any]:
    own = typer.Typer(add_completion=False)
    own.command()(_run)
    return {parameter.name: parameter for parameter in get_command(own).params}


PARAMETERS = _parameters()
WORDS = [
    "",
    "x",
    "5",
    "-1",
    "10",
    "0.1",
    "0",
    "1e3",
    "inf",
    "nan",
    "one",
    "ONE",
    "true",
    "off",
    " 7 ",
]


def _value(parameter: Any, given: object) -> object:
    context = typer.Context(get_command(app))
    try:
        made = parameter.get_runtime_param().coerce(given, param=parameter, ctx=context)
    except typer.BadParameter:
        return "refused"
    return repr(made)


@pytest.mark.parametrize("name", PARAMETERS)
@pytest.mark.parametrize("word", WORDS)
def test_a_word_is_taken_or_refused_as_typer_does(name: str, word: str) -> None:
    typers = PARAMETERS[name]
    given = [word] if typers.multiple else word
    if (name, word) == ("free", "nan"):
        assert _value(plain(typers), given) == "refused", "no time is that long"
        return
    assert _value(plain(typers), given) == _value(typers, given)


@pytest.mark.parametrize("name", PARAMETERS)
def test_what_is_not_given_stays_so(name: str) -> None:
    assert _value(plain(PARAMETERS[name]), None) == _value(PARAMETERS[name], None)


def test_no_command_needs_typer_to_convert_a_value() -> None:
    theirs = [
        f"{node.invocation} {parameter.name}"
        for node in walk(get_command(app))
        for parameter in node.command.get_params(node.context)
        if isinstance(parameter, TyperOption | TyperArgument)
        and not isinstance(parameter.get_runtime_param(), PlainValue)
    ]
    assert theirs == []


@pytest.mark.parametrize(
    ("least", "most", "words"),
    [
        (None, None, ""),
        (0, None, "at least 0"),
        (None, 9, "at most 9"),
        (0.1, 2, "from 0.1 to 2"),
    ],
)
def test_bounds_are_said_in_words(least: float | None, most: float | None, words: str) -> None:
    assert bounds(least, most) == words
