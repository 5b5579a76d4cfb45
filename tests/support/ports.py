"""Loopback ports for nodes that tests start, which must still be free when a node is started again.

The system gives outgoing connections ports of its own range, from 32768 up on Linux: a port that it
chooses for a test could be another process's connection a moment later. So these are below it. No
port is given twice while there are others, and each process of pytest-xdist has its own: a node
whose port was chosen may listen much later.
"""

from __future__ import annotations

import contextlib
import os
import random
import socket

HOST = "127.0.0.1"
_BELOW_THE_SYSTEMS = range(15_000, 32_000)
_WORKER = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
_WORKERS = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
_OURS = _BELOW_THE_SYSTEMS[_WORKER::_WORKERS]
_CHOOSER = random.SystemRandom()  # other runs of the tests may be under way, and some seed `random`
_left: list[int] = []


def free_ports(count: int) -> list[int]:
    """Distinct ports that nobody listens on at the moment."""
    ports: list[int] = []
    while len(ports) < count:
        if not _left:
            _left.extend(_CHOOSER.sample(_OURS, len(_OURS)))
        port = _left.pop()
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind((HOST, port))
            ports.append(port)
    return ports
