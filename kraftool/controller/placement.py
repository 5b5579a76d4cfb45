"""The placement of the replicas of new partitions: in stripes over racks and brokers, as in Kafka.

Owns the order: a leader from each rack in turn, followers from the racks after it, brokers that are
not fenced first, and a new shuffle after as many partitions as there are such brokers.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple, Protocol, TypeVar

from kraftool.controller.refused import RequestRefused
from kraftool.decoders.error_codes import Error

_T = TypeVar("_T")


class RandomSource(Protocol):
    """The source of chance."""

    def below(self, bound: int) -> int:
        """A number from 0 to bound - 1."""

    def shuffle(self, items: list[_T]) -> None:
        """Put a list into another order."""


class UsableBroker(NamedTuple):
    """A broker that may get replicas."""

    id: int
    rack: str | None
    is_fenced: bool


class _Ring:
    """Brokers in turn: a round gives each of them once, and the next begins one further on."""

    def __init__(self, brokers: list[int], chance: RandomSource) -> None:
        self.brokers = sorted(brokers)
        self._first = chance.below(len(brokers)) if brokers else 0
        self._given = self._round = 0

    def next(self, round_number: int) -> int | None:
        if not self.brokers:
            return None
        if self._round != round_number:
            self._round, self._given = round_number, 0
            self._first = (self._first + 1) % len(self.brokers)
        if self._given >= len(self.brokers):
            return None
        broker = self.brokers[(self._first + self._given) % len(self.brokers)]
        self._given += 1
        return broker


class _Rack:
    def __init__(self, brokers: list[UsableBroker], chance: RandomSource) -> None:
        self.fenced = _Ring([broker.id for broker in brokers if broker.is_fenced], chance)
        self.unfenced = _Ring([broker.id for broker in brokers if not broker.is_fenced], chance)

    def next(self, round_number: int) -> int | None:
        broker = self.unfenced.next(round_number)
        return self.fenced.next(round_number) if broker is None else broker


class _Racks:
    """All racks, and the partition that is placed next."""

    def __init__(self, brokers: Iterable[UsableBroker], chance: RandomSource) -> None:
        by_rack: dict[str, list[UsableBroker]] = {}
        for broker in brokers:
            by_rack.setdefault(broker.rack or "", []).append(broker)
        self._chance = chance
        self._racks = {name: _Rack(by_rack[name], chance) for name in sorted(by_rack)}
        self._order = list(self._racks)
        self._unfenced = sum(len(rack.unfenced.brokers) for rack in self._racks.values())
        self._first = chance.below(len(self._order)) if self._order else 0
        self._round = 0

    def place(self, replicas: int) -> list[int]:
        if self._round == self._unfenced and self._unfenced > 1:
            self._shuffle()
        count = len(self._order)
        self._first %= count
        leads = self._first
        while (leader := self._racks[self._order[leads]].unfenced.next(self._round)) is None:
            leads = (leads + 1) % count
        placed = [leader]
        at, is_skipped = self._first, False
        while len(placed) < replicas:
            if at == leads and not is_skipped:
                is_skipped = True  # the leader's rack has its first replica already
            else:
                broker = self._racks[self._order[at]].next(self._round)
                if broker is not None:
                    placed.append(broker)
            at = (at + 1) % count
        self._round += 1
        self._first += 1
        return placed

    def _shuffle(self) -> None:
        self._chance.shuffle(self._order)
        for rack in self._racks.values():
            self._chance.shuffle(rack.fenced.brokers)
            self._chance.shuffle(rack.unfenced.brokers)
        self._round = 0


def place(
    brokers: list[UsableBroker], *, partitions: int, replicas: int, chance: RandomSource
) -> list[list[int]]:
    """The replicas of each partition, its leader first. Raises RequestRefused."""
    racks = _Racks(brokers, chance)
    problem = None
    if replicas <= 0:
        problem = f"Invalid replication factor {replicas}: the replication factor must be positive."
    elif not any(not broker.is_fenced for broker in brokers):
        problem = "All brokers are currently fenced, or have all their log directories cordoned."
    elif replicas > len(brokers):
        problem = (
            f"The target replication factor of {replicas} cannot be reached because only"
            f" {len(brokers)} broker(s) are registered or some brokers have all their log"
            " directories cordoned."
        )
    if problem is not None:
        raise RequestRefused(Error.INVALID_REPLICATION_FACTOR, problem)
    return [racks.place(replicas) for _ in range(partitions)]
