"""Names of hosts that a request has, as the system resolves them."""

from __future__ import annotations

import socket


def resolves(host: str) -> bool:
    """True for an address, and for a name that the system finds. It may wait for the network, so
    the thread of a turn asks, and never the loop."""
    try:
        return bool(socket.getaddrinfo(host, None))
    except (OSError, UnicodeError, ValueError):
        return False
