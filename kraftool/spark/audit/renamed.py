"""A value of reports with other names of files in it, all through.

Owns the walk over dataclasses and collections. What a directory was copied to must not be told.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any, TypeVar

Value = TypeVar("Value")


def renamed(value: Value, told: Callable[[str], str]) -> Value:
    """The value with every text in it as `told` gives it."""
    found: Value = _renamed(value, told)
    return found


def _renamed(value: Any, told: Callable[[str], str]) -> Any:
    if isinstance(value, Enum):
        return value
    if isinstance(value, str):
        return told(value)
    if is_dataclass(value) and not isinstance(value, type):
        return _fields_renamed(value, told)
    if isinstance(value, tuple):
        items = [_renamed(each, told) for each in value]
        return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
    if isinstance(value, list | set | frozenset | deque):
        return type(value)(_renamed(each, told) for each in value)
    if isinstance(value, dict):
        return {_renamed(key, told): _renamed(each, told) for key, each in value.items()}
    return value


def _fields_renamed(value: Any, told: Callable[[str], str]) -> Any:
    changed = {}
    for each in fields(value):
        if each.init:
            before = getattr(value, each.name)
            after = _renamed(before, told)
            if after is not before and after != before:
                changed[each.name] = after
    if not changed:
        return value
    made = object.__new__(type(value))
    for each in fields(value):
        object.__setattr__(made, each.name, changed.get(each.name, getattr(value, each.name)))
    return made
