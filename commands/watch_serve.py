"""`kraftool watch --serve PORT`: what an operator is told of the server, and how it starts.

Owns the step from a command line to a server, and what is said where the packages for it are not
installed. `watch_served.py` is what is served; `watch_serve_http.py` answers.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Sequence

from kraftool.client.target import Target
from kraftool.commands.exit_code import UsageError
from kraftool.commands.output import Output
from kraftool.commands.watch_served import Served
from kraftool.installing import install_hint


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
            hint=install_hint("serve"),
        ) from error
    asyncio.run(server.run(port))
