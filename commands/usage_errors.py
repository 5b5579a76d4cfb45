"""Typer's errors about a wrong command line, in kraftool's words.

Owns the words; `output.py` writes them. Typer's classes are known by what they have, since typer
exports only some of them.
"""

from __future__ import annotations

import re
from difflib import get_close_matches
from typing import Any

_EXTRA = re.compile(r"Got unexpected extra argument\(s\) \((.*)\)", re.DOTALL)


def sentence(error: Any) -> tuple[str, str]:
    """Return the message and the hint for one of typer's usage errors."""
    return _message(error), _hint(error)


def _message(error: Any) -> str:
    if hasattr(error, "near"):
        return str(error.message)
    if hasattr(error, "possibilities"):
        return f"no option {error.option_name}"
    if hasattr(error, "param_type"):
        return f"{_name(error.param)} is missing"
    message = str(error.message).rstrip(".")
    extra = _EXTRA.fullmatch(message)
    if extra:
        return f"unexpected argument{'s' if ' ' in extra[1] else ''} {extra[1]}"
    if getattr(error, "param", None) is not None:
        return f"{_name(error.param)} {message}"
    option = getattr(error, "option_name", "")
    if option:
        return f"{option} {_without(message, option)}"
    return message[:1].lower() + message[1:]


def _without(message: str, option: str) -> str:
    """Return what typer says of an option, without the option that it begins with."""
    message = message.removeprefix(f"Option {option!r} ")
    return message.replace("requires an argument", "requires a value")


def _name(parameter: Any) -> str:
    """Return the parameter as it is typed: the long name of an option, the place of an argument."""
    if parameter.param_type_name == "argument":
        return str(parameter.place()) if hasattr(parameter, "place") else str(parameter.name)
    return str(max(parameter.opts, key=len))


def _hint(error: Any) -> str:
    context = getattr(error, "ctx", None)
    near = getattr(error, "near", None) or _begun(error)
    if near:
        return f"did you mean {_either(near)}?"
    if context is None:
        return ""
    program, *words = context.command_path.split()
    if hasattr(error, "near"):
        return f"`{' '.join((program, *words))} --help` lists the commands"
    return f"`{' '.join((program, 'help', *words) if words else (program, '--help'))}` explains it"


def _begun(error: Any) -> list[str]:
    """Return of options that look like a mistyped one those that it begins, or the nearest."""
    near = [*(getattr(error, "possibilities", None) or ())]
    begun = [name for name in near if name.startswith(error.option_name)]
    return begun or (get_close_matches(error.option_name, near, cutoff=0.7) if near else [])


def _either(names: list[str]) -> str:
    *first, last = names
    return f"{', '.join(first)} or {last}" if first else last
