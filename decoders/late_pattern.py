"""Regular expressions that are compiled when they are first used.

A module that commands import names its expressions with `late_pattern` in place of `re.compile`:
most of them are not used in a run, and compiling them was a part of every start.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, AnyStr

if TYPE_CHECKING:

    def late_pattern(pattern: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
        """Return a regular expression that is compiled when it is first used."""
        raise NotImplementedError

else:

    def late_pattern(pattern, flags=0):
        """Return a regular expression that is compiled when it is first used."""
        return _LatePattern(pattern, flags)


class _LatePattern:
    """A pattern of which nothing is known yet but its text."""

    def __init__(self, pattern: Any, flags: int) -> None:
        self._arguments = pattern, flags

    def __getattr__(self, name: str) -> Any:
        """Take what is asked for from the compiled pattern; from then on it is found here."""
        if name == "_arguments":
            raise AttributeError(name)
        value = getattr(re.compile(*self._arguments), name)
        setattr(self, name, value)
        return value
