"""Loopback ports for nodes that tests start, which must still be free when a node is started again.

The system gives outgoing connections ports of its own range, from 32768 up on Linux: a port that it
chooses for a test could be another process's connection a moment later. So these are below it.
"""

from __future__ import annotations

import contextlib
import random
import socket

HOST = "127.0.0.1"
_BELOW_THE_SYSTEMS = range(15_000, 32_000)
_CHOOSER = random.SystemRandom()  # tests run in several processes, and some seed `random`


def free_ports(count: int) -> list[int]:
    """Distinct ports that nobody listens on at the moment."""
    found: list[int] = []
    with contextlib.ExitStack() as held:
        while len(found) < count:
            port = _CHOOSER.choice(_BELOW_THE_SYSTEMS)
            each = held.enter_context(socket.socket())
            with contextlib.suppress(OSError):
                each.bind((HOST, port))
                found.append(port)
    return found
