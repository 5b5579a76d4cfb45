"""The moments of a run at which a node calls its observers.

Owns the names of the hooks. What each one means is written at `checkers.base.Checker`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Hooks:
    """One call for each moment; it reaches every checker that has this hook."""

    stepped: Callable[..., None]
    rested: Callable[..., None]
    starts: Callable[..., None]
    asks: Callable[..., None]
    role_changed: Callable[..., None]
    watermark: Callable[..., None]
    appended: Callable[..., None]
    written: Callable[..., None]
    truncated: Callable[..., None]
    installed: Callable[..., None]
    delivers: Callable[..., None]
    persisted: Callable[..., None]
    sends: Callable[..., None]
    replies: Callable[..., None]
    consumed: Callable[..., None]
    wrote: Callable[..., None]
