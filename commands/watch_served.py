"""The server of `kraftool watch --serve`: the command line of each window, and this run's
secrets."""

from __future__ import annotations

import asyncio
import secrets
from contextlib import suppress
from dataclasses import dataclass, field

from kraftool.client.target import Target

_POLL_S = 2.0
"""How long a new window waits for the controllers' addresses."""


def _secret() -> str:
    return secrets.token_urlsafe(24)


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """The command that is served, and the secrets of this run."""

    arguments: tuple[str, ...]
    """The command line of each dashboard, behind `program` and the address of the quorum."""
    program: tuple[str, ...] = ()
    target: Target | None = None
    """The quorum that dashboards watch. A new window begins with all controllers that earlier
    windows could begin with, so that it opens while the first of them is down."""
    token: str = field(default_factory=_secret, repr=False)
    """In the address that is printed."""
    cookie: str = field(default_factory=_secret, repr=False)
    """What the token is exchanged for."""

    async def command(self) -> tuple[str, ...]:
        """The command line of a window that opens now."""
        if self.target is None:
            return (*self.program, *self.arguments)

        with suppress(TimeoutError):
            await asyncio.wait_for(self.target.survey(), _POLL_S)
        where = dict.fromkeys((*self.target.bootstrap, *self.target.known.endpoints))
        named = ",".join(map(str, where))
        return (*self.program, "--bootstrap-controller", named, *self.arguments)
