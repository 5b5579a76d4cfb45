r"""One component of a path as a pattern: `*`, `?`, `{a,b}`, and a backslash before any of them.

Owns matching. There are no character classes and no groups within groups; what is malformed is
taken literally, as Kafka's shell takes it.
"""

from __future__ import annotations

import re
from functools import lru_cache

_QUOTED = re.compile(r"\\(.)", re.DOTALL)
_SPECIAL = re.compile(r"[*?{}\\]")
_GLOBBING = re.compile(r"[*?{]")


@lru_cache(maxsize=256)
def pattern_of(component: str) -> re.Pattern[str] | None:
    """The expression that names have to match; None for what can name only itself."""
    parts: list[str] = []
    literal, grouped = True, False
    characters = iter(component)
    for character in characters:
        if character == "\\":
            parts.append(re.escape(next(characters, character)))
            continue
        if character in "*?{":
            literal = False
        if character == "*":
            parts.append(".*")
        elif character == "?":
            parts.append(".")
        elif character == "{":
            if grouped:
                return None
            grouped = True
            parts.append("(?:")
        elif grouped and character in ",}":
            grouped = character == ","
            parts.append("|" if grouped else ")")
        else:
            parts.append(re.escape(character))
    return None if literal or grouped else re.compile("".join(parts), re.DOTALL)


def unquoted(component: str) -> str:
    """What a component without patterns names, where its backslashes are not part of the name."""
    return _QUOTED.sub(lambda each: each[1], component)


def quoted(name: str) -> str:
    """A component that finds this name; what could act on a terminal in it is matched by `?`."""
    if name.isprintable() and not _GLOBBING.search(name):
        return name  # its backslashes need no others before them
    return "".join(
        "?" if not each.isprintable() else f"\\{each}" if _SPECIAL.match(each) else each
        for each in name
    )
