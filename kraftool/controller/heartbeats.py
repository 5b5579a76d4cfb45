"""The active controller's knowledge of brokers from their heartbeats alone; no record has it.

Owns sessions (when each incarnation was last heard of), how far each broker has read the metadata,
and the state that a heartbeat leads to. It is lost when another controller becomes the active one.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from enum import Enum
from typing import Any, NamedTuple


class BrokerState(Enum):
    """The state that a broker is informed of."""

    FENCED = "fenced"
    UNFENCED = "unfenced"
    CONTROLLED_SHUTDOWN = "controlled shutdown"
    SHUTDOWN_NOW = "shutdown now"

    @property
    def is_fenced(self) -> bool:
        return self in (BrokerState.FENCED, BrokerState.SHUTDOWN_NOW)


class Session(NamedTuple):
    """One life of a broker: a new registration gives it a new epoch."""

    broker_id: int
    epoch: int


@dataclass(slots=True)
class _Broker:
    is_fenced: bool
    metadata_offset: int = -1
    shutdown_offset: int = -1
    """Once all others have read so far, nobody takes this broker for a leader any more."""

    @property
    def is_shutting_down(self) -> bool:
        return self.shutdown_offset >= 0

    @property
    def state(self) -> BrokerState:
        if self.is_shutting_down:
            return BrokerState.CONTROLLED_SHUTDOWN
        return BrokerState.FENCED if self.is_fenced else BrokerState.UNFENCED


class Heartbeats:
    """The sessions and offsets of all registered brokers."""

    def __init__(self, session_timeout_ms: int) -> None:
        self._timeout_ms = session_timeout_ms
        self._arrived: deque[tuple[Session, int]] = deque()
        """Heartbeats that `_heard_ms` does not have yet. Another thread may add to it."""
        self._heard_ms: dict[Session, int] = {}
        self._brokers: dict[int, _Broker] = {}

    # Sessions

    def heard(self, session: Session, now_ms: int) -> None:
        """A heartbeat has arrived, before anything else is done about it. Any thread may say so,
        also while a decision is being worked out."""
        self._arrived.append((session, now_ms))

    def _take_arrived(self) -> None:
        while self._arrived:
            session, heard_ms = self._arrived.popleft()
            self._heard_ms[session] = heard_ms

    def has_valid_session(self, session: Session, now_ms: int) -> bool:
        self._take_arrived()
        heard_ms = self._heard_ms.get(session)
        return heard_ms is not None and not self._is_expired(heard_ms, now_ms)

    def take_expired(self, now_ms: int) -> Session | None:
        """Forget one session that nothing was heard of for too long."""
        self._take_arrived()
        expired = [
            session
            for session, heard_ms in self._heard_ms.items()
            if self._is_expired(heard_ms, now_ms)
        ]
        if not expired:
            return None
        session = self.first_of(expired)
        del self._heard_ms[session]
        return session

    def first_of(self, expired: list[Session]) -> Session:
        """The one that is fenced first; Kafka takes any."""
        return min(expired, key=lambda session: self._heard_ms[session])

    def _is_expired(self, heard_ms: int, now_ms: int) -> bool:
        return heard_ms + self._timeout_ms < now_ms

    # Brokers

    def register(self, broker_id: int, *, is_fenced: bool) -> None:
        """Follow a registration or a change of it. What it has read counts anew, unless the change
        is that of its fencing."""
        broker = self._brokers.setdefault(broker_id, _Broker(is_fenced))
        offset = broker.metadata_offset if broker.is_fenced != is_fenced else -1
        self.note(broker_id, is_fenced=is_fenced, metadata_offset=offset)

    def remove(self, broker_id: int) -> None:
        self._brokers.pop(broker_id, None)

    def fence(self, broker_id: int) -> None:
        broker = self._brokers.get(broker_id)
        if broker is not None:
            broker.is_fenced = True

    def note(self, broker_id: int, *, is_fenced: bool, metadata_offset: int) -> None:
        broker = self._brokers[broker_id]
        broker.is_fenced, broker.metadata_offset = is_fenced, metadata_offset
        if is_fenced:
            broker.shutdown_offset = -1

    def begin_shutdown(self, broker_id: int, offset: int) -> None:
        """Its leadership has moved by this offset; the first one counts."""
        broker = self._brokers[broker_id]
        if broker.shutdown_offset < 0:
            broker.shutdown_offset = offset

    def is_steady(self, request: dict[str, Any]) -> bool:
        """True for a heartbeat after which its broker is what it was: unfenced."""
        broker = self._brokers.get(request["brokerId"])
        return (
            broker is not None
            and broker.state is BrokerState.UNFENCED
            and not request["wantFence"]
            and not request["wantShutDown"]
            and not request.get("offlineLogDirs")
        )

    def usable(self) -> list[tuple[int, bool]]:
        """Brokers that may get replicas, and whether they are fenced."""
        return [
            (broker_id, broker.is_fenced)
            for broker_id, broker in self._brokers.items()
            if not broker.is_shutting_down
        ]

    def next_state(
        self, request: dict[str, Any], *, registered_at: int, leads: bool
    ) -> tuple[BrokerState, BrokerState]:
        """The state that a broker is in and the one that its heartbeat leads to."""
        broker = self._brokers[request["brokerId"]]
        current = broker.state
        wants_shutdown, wants_fence = request["wantShutDown"], request["wantFence"]
        match current:
            case BrokerState.FENCED:
                if wants_shutdown:
                    return current, BrokerState.SHUTDOWN_NOW
                if not wants_fence and request["currentMetadataOffset"] >= registered_at:
                    return current, BrokerState.UNFENCED
                return current, BrokerState.FENCED
            case BrokerState.UNFENCED:
                if wants_fence:
                    return current, (
                        BrokerState.SHUTDOWN_NOW if wants_shutdown else BrokerState.FENCED
                    )
                if wants_shutdown:
                    return current, (
                        BrokerState.CONTROLLED_SHUTDOWN if leads else BrokerState.SHUTDOWN_NOW
                    )
                return current, BrokerState.UNFENCED
        if leads or not self._all_have_read(broker.shutdown_offset):
            return current, BrokerState.CONTROLLED_SHUTDOWN
        return current, BrokerState.SHUTDOWN_NOW

    def _all_have_read(self, offset: int) -> bool:
        """True if every broker that is neither fenced nor shutting down has read so far."""
        return all(
            broker.metadata_offset >= offset
            for broker in self._brokers.values()
            if not broker.is_fenced and not broker.is_shutting_down
        )
