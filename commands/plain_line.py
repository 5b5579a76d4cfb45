"""Reads plain command lines by the marks of the command's parameters, without typer.

Owns which lines are plain: a command, and options that it has. Each option has its long or its
short name, as one word, and its value is the next word. Typer reads all other lines: other
spellings, errors, and help. So help and errors have one author, and a correct line does not wait
for typer, whose import was a quarter of a start.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from inspect import Parameter, signature
from types import NoneType, UnionType
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

from kraftool.commands.command_table import SUBCOMMANDS, commands_below, place_of
from kraftool.commands.parameter_marks import Argument, Option
from kraftool.commands.parameter_values import ValueMaker, of_one, value_maker

_KNOWN = {"help", "metavar", "min", "max", "hidden", "show_default", "callback"}
"""The settings of marks that this reading takes into account, or that only a help needs."""


class NotPlainError(Exception):
    """A command line that typer has to read."""


def plain_call(words: Sequence[str]) -> Callable[[], object] | None:
    """Return a call of the command with the values of its line; None if the line is not plain."""
    size = 2 if words and words[0] in SUBCOMMANDS else 1
    path = tuple(words[:size])
    if len(path) < size or path[-1] not in commands_below(path[:-1]):
        return None
    module, name = place_of(path)
    function = getattr(import_module(f"kraftool.commands.{module}"), name)
    try:
        return partial(function, **plain_values(function, words[len(path) :]))
    except NotPlainError:
        return None


class _PlainParameter:
    """A parameter of a command by its mark."""

    def __init__(self, name: str, annotation: Any, default: Any) -> None:
        kind, mark = _parts(annotation)
        if not _KNOWN.issuperset(mark.settings):
            raise NotPlainError
        self.name, self.default = name, default
        self.is_argument = isinstance(mark, Argument)
        self.takes_several = get_origin(kind) is list
        self.callback: Callable[[Any], Any] | None = mark.settings.get("callback")
        self._maker = _maker(kind, mark)
        self.is_flag = kind is bool and not self.is_argument
        self.names: dict[str, bool] = {}
        """Names of an option; False for one that says no."""
        for names in mark.names or _own_names(name, is_flag=self.is_flag):
            yes, _, no = names.partition("/")
            self.names |= {yes: True} | ({no: False} if no else {})

    def value(self, given: Sequence[Any]) -> Any:
        """Return the value: of the words that were given, or the default."""
        make = self._maker.value
        try:
            if not given:
                return self._default(make)
            return [*map(make, given)] if self.takes_several else make(given[-1])
        except ValueError:
            raise NotPlainError from None

    def _default(self, make: Callable[[Any], Any]) -> Any:
        default = self.default
        if default is Parameter.empty:
            raise NotPlainError
        if default is None:
            return None
        return [*map(make, default)] if self.takes_several else make(default)


def _parts(annotation: Any) -> tuple[Any, Argument | Option]:
    """Return the type of `Annotated[T, mark]`, without None, and the mark."""
    if get_origin(annotation) is not Annotated:
        raise NotPlainError
    kind, *marks = get_args(annotation)
    if get_origin(kind) in (Union, UnionType):
        kinds = [member for member in get_args(kind) if member is not NoneType]
        if len(kinds) != 1:
            raise NotPlainError
        kind = kinds[0]
    if len(marks) != 1 or not isinstance(marks[0], Argument | Option):
        raise NotPlainError
    return kind, marks[0]


def _maker(kind: Any, mark: Argument | Option) -> ValueMaker:
    maker = value_maker(of_one(kind), mark.settings.get("min"), mark.settings.get("max"))
    if maker is None:
        raise NotPlainError
    return maker


def _own_names(name: str, *, is_flag: bool) -> list[str]:
    """Return the names of an option whose mark has none."""
    words = name.replace("_", "-")
    return [f"--{words}/--no-{words}" if is_flag else f"--{words}"]


def plain_values(function: Callable[..., object], words: Sequence[str]) -> dict[str, Any]:
    """Return the value of each parameter of a command; raise NotPlainError where typer has to."""
    parameters = _parameters(function)
    given: dict[str, list[Any]] = {parameter.name: [] for parameter in parameters}
    _place(_read_options(parameters, words, given), parameters, given)
    values = {}
    for parameter in parameters:
        value = parameter.value(given[parameter.name])
        values[parameter.name] = parameter.callback(value) if parameter.callback else value
    return values


def _parameters(function: Callable[..., object]) -> list[_PlainParameter]:
    hints = get_type_hints(function, include_extras=True)
    return [
        _PlainParameter(name, hints.get(name), parameter.default)
        for name, parameter in signature(function).parameters.items()
    ]


def _read_options(
    parameters: Sequence[_PlainParameter], words: Sequence[str], given: dict[str, list[Any]]
) -> list[str]:
    """Note what options were given, and return the words that are none."""
    options = {
        name: parameter
        for parameter in parameters
        if not parameter.is_argument
        for name in parameter.names
    }
    others: list[str] = []
    rest = iter(words)
    for word in rest:
        if word == "--":
            return [*others, *rest]
        if not _begins_option(word):
            others.append(word)
            continue
        name, equals, value = word.partition("=")
        parameter = options.get(name)
        if parameter is None or (equals and not (value and name.startswith("--"))):
            raise NotPlainError
        if parameter.is_flag:
            if equals:
                raise NotPlainError
            given[parameter.name].append(parameter.names[name])
            continue
        if not equals:
            value = next(rest, "-?")
            if _begins_option(value):
                raise NotPlainError
        given[parameter.name].append(value)
    return others


def _begins_option(word: str) -> bool:
    return word.startswith("-") and len(word) > 1


def _place(
    words: Sequence[str], parameters: Sequence[_PlainParameter], given: dict[str, list[Any]]
) -> None:
    """Give words to arguments in their order; the last of them may take several."""
    arguments = [parameter for parameter in parameters if parameter.is_argument]
    if any(argument.takes_several for argument in arguments[:-1]):
        raise NotPlainError
    left = [*words]
    for argument in arguments:
        count = len(left) if argument.takes_several else 1
        given[argument.name], left = left[:count], left[count:]
    if left:
        raise NotPlainError
