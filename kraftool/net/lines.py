"""Lines of a log: a constant text, its fields, and the limit for a line that others can repeat.

Owns what a record carries for the handler. The handler counts: it writes a line with a limit at
once, and reports further ones with the same key as a number for each interval. Every line that a
failing or hostile peer can cause has a limit.
"""

from __future__ import annotations

import logging
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

MAX_NAME = 80
"""Characters of a name that a peer claims."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """Lines with the same text and key are repeats of each other."""

    key: Hashable = None
    burst: int = 1
    """Lines in an interval before repeats are only counted."""


def write(
    logger: logging.Logger,
    text: str,
    level: int = logging.INFO,
    *,
    limit: Limit | None = None,
    exc_info: bool = False,
    **fields: Any,
) -> None:
    """Write a line; with `exc_info` the exception that is being handled goes with it."""
    logger.log(level, text, exc_info=exc_info, extra={"fields": fields, "limit": limit})


def claimed(name: str) -> str:
    """A name as a peer claims it, no longer than a line can bear."""
    return name if len(name) <= MAX_NAME else name[:MAX_NAME] + "…"
