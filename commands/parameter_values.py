"""Reads the words of a command line as values.

Owns the types that commands have: text, whole numbers, numbers, yes or no, one of several words. It
does not use typer. Typer converts values with pydantic, which takes longer to import than typer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import Enum
from typing import Any, get_args, get_origin

_YES = {"true", "yes", "on", "1", "t", "y"}
_NO = {"false", "no", "off", "0", "f", "n", ""}


class ValueMaker:
    """Makes a value of a word; a word that it does not take raises ValueError."""

    def __init__(self, convert: Callable[[Any], Any], least: Any, most: Any) -> None:
        self._convert, self._least, self._most = convert, least, most

    def value(self, word: Any) -> Any:
        value = self._convert(word)
        if (self._least is not None and not value >= self._least) or (
            self._most is not None and not value <= self._most
        ):
            raise ValueError(f"must be {bounds(self._least, self._most)}, not {word}")
        return value


def value_maker(
    kind: Any, least: Any = None, most: Any = None, *, case_sensitive: bool = True
) -> ValueMaker | None:
    """Return what makes values of a type; None for a type that is typer's to convert."""
    convert = _CONVERTERS.get(kind)
    if is_choice(kind):
        convert = _one_of(kind, case_sensitive=case_sensitive)
    return None if convert is None else ValueMaker(convert, least, most)


def is_choice(kind: Any) -> bool:
    """True if a value of this type is one of several words."""
    return isinstance(kind, type) and issubclass(kind, Enum)


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
        raise ValueError(f"must be one of {', '.join(words_of(kind))}; not {word!r}")

    return convert


def words_of(kind: Iterable[Enum]) -> list[str]:
    """Return the words of which a value is one."""
    return [str(member.value) for member in kind]


_CONVERTERS: dict[Any, Callable[[Any], Any]] = {
    str: _text,
    int: _whole_number,
    float: _number,
    bool: _yes_or_no,
}


def of_one(annotation: Any) -> Any:
    """Return the type of one value: that of the members, of a list."""
    return get_args(annotation)[0] if get_origin(annotation) is list else annotation
