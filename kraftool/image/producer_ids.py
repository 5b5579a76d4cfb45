"""The next block of producer ids: the cluster's only counter, which never goes back."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from kraftool.image.replay import RecordValue, ReplayError, WrittenRecord, replays


@dataclass(frozen=True, slots=True, kw_only=True)
class ProducerIdsImage:
    """The first producer id that no broker got yet; -1 before the first block."""

    next_producer_id: int = -1

    def records(self) -> Iterator[WrittenRecord]:
        if self.next_producer_id >= 0:
            value = {"brokerId": -1, "brokerEpoch": -1, "nextProducerId": self.next_producer_id}
            yield "ProducerIdsRecord", 0, value


class ProducerIdsDelta:
    """Changes to the counter."""

    def __init__(self, image: ProducerIdsImage) -> None:
        self._image = image
        self._next = image.next_producer_id

    @replays("ProducerIdsRecord")
    def producer_ids(self, record: RecordValue) -> None:
        following = record["nextProducerId"]
        if self._next >= 0 and following <= self._next:
            raise ReplayError(f"the next producer id goes from {self._next} to {following}")
        self._next = following

    def apply(self) -> ProducerIdsImage:
        if self._next == self._image.next_producer_id:
            return self._image
        return ProducerIdsImage(next_producer_id=self._next)
