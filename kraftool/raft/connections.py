"""The nodes that may be asked now: one request in flight a connection, a pause after a failure.

Owns that bookkeeping (Kafka's RequestManager), by destination id. A time-out makes a connection
free again; the answer that comes then is of a request that nobody waits for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Protocol


class Random(Protocol):
    """The source of all chance, so that it can be repeated."""

    def randrange(self, stop: int, /) -> int:
        """A number from 0 on, below `stop`."""
        ...


class _State(Enum):
    AWAITING = "awaiting"
    BACKING_OFF = "backing off"


_AWAITING, _BACKING_OFF = _State  # as names of the module they are found faster
_NOBODY: frozenset[int] = frozenset()


@dataclass(slots=True)
class _Connection:
    state: _State
    ends_ms: int
    """When the request has timed out, or the pause is over."""
    correlation_id: int | None


@dataclass(slots=True, kw_only=True)
class Connections:
    """All connections of a node that are not simply ready."""

    request_timeout_ms: int
    retry_backoff_ms: int
    _busy: dict[int, _Connection] = field(default_factory=dict)

    def sent(self, destination: int, correlation_id: int, now_ms: int) -> None:
        ends_ms = now_ms + self.request_timeout_ms
        self._busy[destination] = _Connection(_AWAITING, ends_ms, correlation_id)

    def is_expected(self, source: int, correlation_id: int) -> bool:
        """True if somebody still waits for this answer."""
        connection = self._busy.get(source)
        return connection is not None and connection.correlation_id == correlation_id

    def answered(self, source: int, correlation_id: int, now_ms: int, *, well: bool) -> None:
        """An answer was handled; one that was no good makes the connection pause."""
        connection = self._busy.get(source)
        if connection is None or connection.correlation_id != correlation_id:
            return
        if well:
            del self._busy[source]
        else:
            ends_ms = now_ms + self.retry_backoff_ms
            self._busy[source] = _Connection(_BACKING_OFF, ends_ms, None)

    def reset(self, destination: int) -> None:
        self._busy.pop(destination, None)

    def reset_all(self) -> None:
        self._busy.clear()

    def has_timed_out(self, destination: int, now_ms: int) -> bool:
        connection = self._busy.get(destination)
        return (
            connection is not None
            and connection.state is _AWAITING
            and now_ms >= connection.ends_ms
        )

    def is_backing_off(self, destination: int, now_ms: int) -> bool:
        connection = self._busy.get(destination)
        return (
            connection is not None
            and connection.state is _BACKING_OFF
            and now_ms < connection.ends_ms
        )

    def paused(self, now_ms: int) -> frozenset[int]:
        """Return the destinations that pause after a failure."""
        destinations = [
            destination
            for destination, connection in self._busy.items()
            if connection.state is _BACKING_OFF and now_ms < connection.ends_ms
        ]
        return frozenset(destinations) if destinations else _NOBODY

    def is_ready(self, destination: int, now_ms: int) -> bool:
        connection = self._busy.get(destination)
        if connection is not None and now_ms >= connection.ends_ms:
            del self._busy[destination]
            return True
        return connection is None

    def ready_ms(self, destination: int, now_ms: int) -> int:
        """When a destination may be asked (again)."""
        connection = self._busy.get(destination)
        return now_ms if connection is None else max(connection.ends_ms, now_ms)

    def has_request_in_flight(self, now_ms: int) -> bool:
        self._free(now_ms)
        return any(connection.state is _AWAITING for connection in self._busy.values())

    def ready_bootstrap(self, servers: Sequence[int], now_ms: int, random: Random) -> int | None:
        """A bootstrap server that may be asked, from a random one on; none while any request is in
        flight, since one fetch at a time is allowed over all connections."""
        if not servers or self.has_request_in_flight(now_ms):
            return None
        start = random.randrange(len(servers))
        turned = (*servers[start:], *servers[:start])
        return next((server for server in turned if self.is_ready(server, now_ms)), None)

    def bootstrap_ready_ms(self, servers: Sequence[int], now_ms: int) -> int:
        """When to look for a bootstrap server again."""
        self._free(now_ms)
        waiting = [
            connection for connection in self._busy.values() if connection.state is _AWAITING
        ]
        if waiting:
            return min(connection.ends_ms for connection in waiting)
        if any(server not in self._busy for server in servers):
            return now_ms
        pauses = [connection.ends_ms for connection in self._busy.values()]
        return min([*pauses, now_ms + self.retry_backoff_ms])

    def _free(self, now_ms: int) -> None:
        over = [key for key, connection in self._busy.items() if now_ms >= connection.ends_ms]
        for key in over:
            del self._busy[key]
