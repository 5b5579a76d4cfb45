"""Arguments and options as typer runs them: what they are called in the help.

Owns typer's side of them. `parameter_values.py` makes the values, so that no command needs
pydantic. A type that it does not know goes to typer.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import typer
from typer.core import TyperArgument, TyperOption

from kraftool.commands.parameter_values import (
    ValueMaker,
    bounds,
    is_choice,
    of_one,
    value_maker,
    words_of,
)

_LONG = 44
"""Columns of words that fit beside an option on 80 columns."""


class PlainValue:
    """Makes values of one parameter's words; in place of typer's `RuntimeParam`."""

    def __init__(self, maker: ValueMaker) -> None:
        self._maker = maker

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        several = param.multiple or param.nargs == -1
        if value is None:
            return () if several else None
        make = self._maker.value
        try:
            return [make(word) for word in value] if several else make(value)
        except ValueError as error:
            raise typer.BadParameter(str(error), ctx=ctx, param=param) from None


class _Plain:
    """The differences of our arguments and options from typer's."""

    type_descriptor: Any

    def plain_value(self) -> PlainValue | None:
        """Return what makes the values; None for a type that is typer's to convert."""
        info = self.type_descriptor.parameter_info
        kind = of_one(self.type_descriptor.annotation)
        maker = value_maker(kind, info.min, info.max, case_sensitive=info.case_sensitive)
        if maker is None or info.parser is not None or info.clamp:
            return None
        return PlainValue(maker)

    def choices(self) -> list[str]:
        """Return the words of which it takes one, if it takes no others."""
        kind = of_one(self.type_descriptor.annotation)
        return words_of(kind) if is_choice(kind) else []


class PlainArgument(_Plain, TyperArgument):
    """An argument of ours."""

    def get_runtime_param(self) -> Any:
        """Return what makes the values; typer asks for it when it parses."""
        return self.plain_value() or super().get_runtime_param()

    def place(self) -> str:
        """Return its name as the usage line has it, with dots where there may be several."""
        name = str(self.metavar or self.name.upper())
        return name if self.nargs == 1 or name.endswith(("...", "…")) else f"{name}..."

    def get_usage_pieces(self, ctx: Any) -> list[str]:
        return [self.place() if self.required else f"[{self.place()}]"]

    def get_help_record(self, ctx: Any) -> tuple[str, str] | None:
        return None if self.hidden else (self.place(), self.help or "")


class PlainOption(_Plain, TyperOption):
    """An option of ours."""

    def get_runtime_param(self) -> Any:
        """Return what makes the values; typer asks for it when it parses."""
        return self.plain_value() or super().get_runtime_param()

    def names(self) -> tuple[list[str], list[str]]:
        """Return the names, and those that say no, each short ones first."""
        return _short_first(self.opts), _short_first(self.secondary_opts)

    def value_name(self) -> str:
        """Return what the help calls its value; nothing for one without."""
        if self.is_flag or self.count:
            return ""
        if self.metavar:
            return self.metavar
        choices = "|".join(self.choices())
        return "NAME" if len(choices) > _LONG else choices or self._name_of_kind()

    def _name_of_kind(self) -> str:
        kind = of_one(self.type_descriptor.annotation)
        return {int: "N", float: "NUMBER"}.get(kind, "TEXT")

    def default_words(self) -> str:
        """Return the default as words; nothing where it says nothing."""
        if isinstance(self.show_default, str):
            return self.show_default
        default = self.default
        if not self.show_default or callable(default):
            return ""
        if self.is_flag:
            is_shown = self.secondary_opts and default is not None
            return (
                (self.opts if default else self.secondary_opts)[0].lstrip("-") if is_shown else ""
            )
        if default is None or default == "" or isinstance(default, list | tuple):
            return ""
        return str(getattr(default, "value", default))

    def limits(self) -> str:
        """Return what it takes, where its value's name does not say so.

        That no number is below zero goes without saying.
        """
        if self.value_name() == "NAME" and self.choices():
            return f"one of {', '.join(self.choices())}"
        return bounds(self.min or None, self.max)

    def get_help_record(self, ctx: Any) -> tuple[str, str] | None:
        if self.hidden:
            return None
        value = f" {self.value_name()}".rstrip()
        names = " / ".join(f"{', '.join(names)}{value}" for names in self.names() if names)
        default = self.default_words()
        more = [
            f"default: {default}" if default else "",
            self.limits(),
            "required" if self.required else "",
        ]
        brackets = "; ".join(filter(None, more))
        return names, f"{self.help or ''}{f'  [{brackets}]' if brackets else ''}".strip()


def _short_first(names: Iterable[str]) -> list[str]:
    return sorted(names, key=lambda name: name.startswith("--"))


def plain(parameter: Any) -> Any:
    """Return typer's parameter as one of ours. Typer makes them itself and has no other way in."""
    ours: type[Any]
    if type(parameter) is TyperOption:
        ours = PlainOption
    elif type(parameter) is TyperArgument:
        ours = PlainArgument
    else:
        return parameter
    adopted = ours.__new__(ours)
    vars(adopted).update(vars(parameter))
    return adopted
