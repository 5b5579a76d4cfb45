"""`kraftool watch --serve PORT`: what is served, to whom, and what an operator is told of it.

Owns the step from a command line to a server: each window's own command line, this run's secrets,
and what is said where the packages for it are not installed. `watch_serve_http.py` answers.
"""

from __future__ import annotations

import asyncio
import secrets
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from kraftool.commands.output import Output, UsageError

if TYPE_CHECKING:
    from kraftool.client.target import Target

_LOOK_S = 2.0
"""How long a new window waits for the controllers' addresses."""


def _secret() -> str:
    return secrets.token_urlsafe(24)


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """What is served, and the secrets of this run."""

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
            await asyncio.wait_for(self.target.survey(), _LOOK_S)
        where = dict.fromkeys((*self.target.bootstrap, *self.target.known.endpoints))
        named = ",".join(map(str, where))
        return (*self.program, "--bootstrap-controller", named, *self.arguments)


def serve(arguments: Sequence[str], port: int, to: Output, target: Target | None = None) -> None:
    """Serve until a signal ends it. `arguments` are those of `kraftool watch` for each window.

    Raises UsageError without textual-serve, RefusedError where the port cannot be had.
    """
    # This Python's kraftool, whatever is in the PATH.
    program = (sys.executable, "-m", "kraftool", "watch")

    def announce(address: str) -> None:
        to.line(address)
        to.flush()
        to.note("for this machine and whoever has that address; Ctrl-C ends it")

    served = Served(program=program, arguments=tuple(arguments), target=target)
    run(served, port, announce, to.note)


def run(
    served: Served, port: int, announce: Callable[[str], None], tell: Callable[[str], None]
) -> None:
    """Serve any application. `announce` gets the address, `tell` what else happens."""
    try:
        from kraftool.commands.watch_serve_http import DashboardServer
        from kraftool.commands.watch_serve_page import assets

        server = DashboardServer(served, assets(), announce, tell)
    except ModuleNotFoundError as error:
        raise UsageError(
            f"--serve needs {error.name}, which is not installed",
            hint="pip install 'kraftool[serve]'",
        ) from error
    asyncio.run(server.run(port))
