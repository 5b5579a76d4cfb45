"""A value of reports with other names of files in it, all through.

What a directory was copied to must not be told. Each text passes through `pickle`, which knows the
way into every value that travels to the driver.
"""

from __future__ import annotations

import io
import pickle
from collections.abc import Callable
from typing import Any, TypeVar

Value = TypeVar("Value")


class _Pickler(pickle.Pickler):
    def __init__(self, file: io.BytesIO, renaming: Callable[[str], str]) -> None:
        super().__init__(file)
        self._renaming = renaming

    def persistent_id(self, value: Any) -> str | None:
        return self._renaming(value) if type(value) is str else None


class _Unpickler(pickle.Unpickler):
    def persistent_load(self, text: str) -> str:
        return text


def renamed(value: Value, renaming: Callable[[str], str]) -> Value:
    """The value with every text in it as `renaming` gives it."""
    file = io.BytesIO()
    _Pickler(file, renaming).dump(value)
    file.seek(0)
    renamed_value: Value = _Unpickler(file).load()
    return renamed_value
