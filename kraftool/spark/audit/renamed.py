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


def renamed(value: Value, renaming: Callable[[str], str]) -> Value:
    """The value with every text in it as `renaming` gives it."""
    renamed_value: Value = _renamed(value, renaming)
    return renamed_value


def _renamed(value: Any, renaming: Callable[[str], str]) -> Any:
    if isinstance(value, Enum):
        return value
    if isinstance(value, str):
        return renaming(value)
    if is_dataclass(value) and not isinstance(value, type):
        return _fields_renamed(value, renaming)
    if isinstance(value, tuple):
        items = [_renamed(item, renaming) for item in value]
        return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
    if isinstance(value, list | set | frozenset | deque):
        return type(value)(_renamed(item, renaming) for item in value)
    if isinstance(value, dict):
        return {
            _renamed(key, renaming): _renamed(content, renaming) for key, content in value.items()
        }
    return value


def _fields_renamed(value: Any, renaming: Callable[[str], str]) -> Any:
    changed = {}
    for field in fields(value):
        if field.init:
            before = getattr(value, field.name)
            after = _renamed(before, renaming)
            if after is not before and after != before:
                changed[field.name] = after
    if not changed:
        return value
    made = object.__new__(type(value))
    for field in fields(value):
        object.__setattr__(made, field.name, changed.get(field.name, getattr(value, field.name)))
    return made
