"""Work that may fail for reasons of its input: a result, or the sentence that says why not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from kraftool.decoders.errors import KraftoolError

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Failed:
    """Why there is no result."""

    reason: str


def attempt(function: Callable[[], T]) -> T | Failed:
    """The result, or why there is none; a broken invariant is raised."""
    try:
        return function()
    except KraftoolError as error:
        return Failed(error.message)
    except OSError as error:
        return Failed(f"{error.filename or 'the system'}: {error.strerror or error}")
