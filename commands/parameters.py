"""Arguments and options: what they are called in the help, and how a word becomes a value.

Owns both for the types that commands have: text, whole numbers, numbers, yes or no, one of several
words, and lists of these. Typer has pydantic convert every value, which takes longer to import than
all of typer; here no command needs it. A type that is not one of these goes to typer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import Enum
from typing import Any, get_args, get_origin

import typer
from typer.core import TyperArgument, TyperOption

_YES = {"true", "yes", "on", "1", "t", "y"}
_LONG = 44
"""Columns of words that fit beside an option on 80 columns."""
_NO = {"false", "no", "off", "0", "f", "n", ""}


class PlainValue:
    """Makes values of one parameter's words; in place of typer's `RuntimeParam`."""

    def __init__(self, convert: Callable[[Any], Any], least: Any, most: Any) -> None:
        self._convert = convert
        self._least = least
        self._most = most

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        several = param.multiple or param.nargs == -1
        if value is None:
            return () if several else None
        try:
            return [self._one(each) for each in value] if several else self._one(value)
        except ValueError as error:
            raise typer.BadParameter(str(error), ctx=ctx, param=param) from None

    def _one(self, word: Any) -> Any:
        value = self._convert(word)
        if (self._least is not None and not value >= self._least) or (
            self._most is not None and not value <= self._most
        ):
            raise ValueError(f"must be {bounds(self._least, self._most)}, not {word}")
        return value


def bounds(least: float | None, most: float | None) -> str:
    """Say in words which numbers an option takes; nothing where it takes all of them."""
    if least is None:
        return "" if most is None else f"at most {most}"
    return f"at least {least}" if most is None else f"from {least} to {most}"


def _text(word: Any) -> str:
    return str(word)


def _whole_number(word: Any) -> int:
    try:
        return int(word)
    except ValueError:
        raise ValueError(f"must be a whole number, not {word!r}") from None


def _number(word: Any) -> float:
    try:
        number = float(word)
    except ValueError:
        raise ValueError(f"must be a number, not {word!r}") from None
    if number != number:
        raise ValueError(f"must be a number, not {word!r}")
    return number


def _yes_or_no(word: Any) -> bool:
    if isinstance(word, bool):
        return word
    if str(word).strip().lower() in _YES | _NO:
        return str(word).strip().lower() in _YES
    raise ValueError(f"must be true or false, not {word!r}")


def _one_of(kind: type[Enum], *, case_sensitive: bool) -> Callable[[Any], Enum]:
    def convert(word: Any) -> Enum:
        for member in kind:
            value = str(member.value)
            if word is member or word == value:
                return member
            if not case_sensitive and str(word).casefold() == value.casefold():
                return member
        raise ValueError(f"must be one of {', '.join(_words(kind))}; not {word!r}")

    return convert


def _words(kind: Iterable[Enum]) -> list[str]:
    return [str(member.value) for member in kind]


_CONVERTERS: dict[Any, Callable[[Any], Any]] = {
    str: _text,
    int: _whole_number,
    float: _number,
    bool: _yes_or_no,
}


class _Plain:
    """The differences of our arguments and options from typer's."""

    type_descriptor: Any

    def plain_value(self) -> PlainValue | None:
        """Return what makes the values; None for a type that is typer's to convert."""
        info = self.type_descriptor.parameter_info
        kind = _of_one(self.type_descriptor.annotation)
        convert = _CONVERTERS.get(kind)
        if isinstance(kind, type) and issubclass(kind, Enum):
            convert = _one_of(kind, case_sensitive=info.case_sensitive)
        if convert is None or info.parser is not None or info.clamp:
            return None
        return PlainValue(convert, info.min, info.max)

    def choices(self) -> list[str]:
        """Return the words of which it takes one, if it takes no others."""
        kind = _of_one(self.type_descriptor.annotation)
        return _words(kind) if isinstance(kind, type) and issubclass(kind, Enum) else []


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
        kind = _of_one(self.type_descriptor.annotation)
        return {int: "N", float: "NUMBER"}.get(kind, "TEXT")

    def default_words(self) -> str:
        """Return the default as words; nothing where it says nothing."""
        if isinstance(self.show_default, str):
            return self.show_default
        default = self.default
        if not self.show_default or callable(default):
            return ""
        if self.is_flag:
            said = self.secondary_opts and default is not None
            return (self.opts if default else self.secondary_opts)[0].lstrip("-") if said else ""
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


def _of_one(annotation: Any) -> Any:
    """Return the type of one value: that of the members, of a list."""
    return get_args(annotation)[0] if get_origin(annotation) is list else annotation


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
