"""From records to images, with metadata transactions (KIP-868).

Owns what is visible: nothing between Begin and End is, and after Abort it never was. Two Begins, or
an End or Abort by itself, are errors; so is any of them inside a snapshot. It refuses to read a
log: records come in as values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from kraftool.decoders.native_rows import Place, RowChanges
from kraftool.image.delta import MetadataDelta
from kraftool.image.image import EMPTY, MetadataImage, Provenance
from kraftool.image.replay import RecordValue, Replayer, ReplayError
from kraftool.image.seen import SeenChanges
from kraftool.image.topics import PartitionOf

BEGIN, END, ABORT = "BeginTransactionRecord", "EndTransactionRecord", "AbortTransactionRecord"
TRANSACTION_RECORDS = frozenset({BEGIN, END, ABORT})


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenTransaction:
    """A transaction without an end yet."""

    offset: int
    """Of its Begin."""
    name: str = ""
    records: int = 0


Misfit = Callable[[int, str, ReplayError], None]
"""Takes the offset and the name of a record that does not fit, and why."""


class ImageLoader:
    """Replays records in offset order; `image()` is what a reader may see of them."""

    by_itself: frozenset[str] = TRANSACTION_RECORDS
    """The records that only `replay` replays."""

    def __init__(self, image: MetadataImage = EMPTY) -> None:
        self._seen: SeenChanges | None = None
        self._twin: PartitionOf | None = None
        self._delta = MetadataDelta(image)
        self._before: MetadataImage | None = None
        """What is visible while a transaction is open."""
        self._begun: tuple[int, str] | None = None
        self._records = 0
        self._last = self._batch = image.provenance
        self._quick: dict[str, Replayer] = {}
        self._quick_of: MetadataDelta | None = None

    @property
    def open_transaction(self) -> OpenTransaction | None:
        if self._begun is None:
            return None
        offset, name = self._begun
        return OpenTransaction(offset=offset, name=name, records=self._records)

    @property
    def delta(self) -> MetadataDelta:
        """The state as the last record left it, an open transaction's included."""
        return self._delta

    def begin_batch(self, epoch: int, timestamp: int) -> None:
        """Say of which batch the next records are."""
        self._batch = Provenance(last_epoch=epoch, last_timestamp=timestamp)

    def replay(self, offset: int, name: str, record: RecordValue) -> None:
        """Apply a record. Raises ReplayError where it does not fit; the state is then as before."""
        if name in TRANSACTION_RECORDS:
            self._transaction(offset, name, record)
        else:
            self._delta.replay(name, record)
            self._records += 1

    def replay_run(
        self,
        offset: int,
        records: Iterable[tuple[str, RecordValue]],
        misfit: Misfit,
        *,
        is_snapshot: bool = False,
    ) -> int:
        """Apply records that have one offset after the other; return the offset after them.

        It does what `replay` does, with fewer calls: most of a log are such runs.
        """
        quick, before, first = self._quick_replayers(), self._records, offset
        for name, record in records:
            replayer = quick.get(name)
            try:
                if replayer is not None:
                    replayer(record)
                elif is_snapshot and name in TRANSACTION_RECORDS:
                    raise ReplayError(f"{name} in a snapshot")
                else:
                    self._records = before + offset - first
                    self.replay(offset, name, record)
                    quick, before, first = self._quick_replayers(), self._records, offset + 1
            except ReplayError as error:
                misfit(offset, name, error)
                first += 1
            offset += 1
        self._records = before + offset - first
        return offset

    def replay_natively(
        self, data: bytes, place: Place, end: int, changes: RowChanges | None = None
    ) -> tuple[Place, int]:
        """Apply the records of sound batches, from a place on and as far as the native module can.
        The native module notes partitions in `changes`, not in the object given to `watch`.
        Returns the place of the first one left, which `replay_run` takes, and their number."""
        place, records, last = self._delta.topics.replay_natively(data, place, end, changes)
        self._records += records
        if last is not None:
            self.end_batch(*last)
        return place, records

    def _quick_replayers(self) -> dict[str, Replayer]:
        if self._quick_of is not self._delta:
            self._quick_of = self._delta
            self._quick = self._delta.replayers()
            for name in self.by_itself:
                self._quick.pop(name, None)
        return self._quick

    def _transaction(self, offset: int, name: str, record: RecordValue) -> None:
        if name == BEGIN:
            if self._begun is not None:
                raise ReplayError(
                    f"a transaction begins inside the one that began at {self._begun[0]}"
                )
            # What may be seen ends right before Begin, in the middle of its batch if need be.
            visible = self._last
            if visible.last_offset != offset - 1:
                visible = replace(self._batch, last_offset=offset - 1)
            self._before = self._delta.apply(visible)
            self._delta = self._delta_of(self._before)
            self._begun, self._records = (offset, record["name"] or ""), 0
            return
        if self._begun is None or self._before is None:
            raise ReplayError(f"{name} without a transaction")
        if name == ABORT:
            self._delta = self._delta_of(self._before)
        self._begun, self._before = None, None

    def end_batch(self, last_offset: int, epoch: int, timestamp: int) -> None:
        """Say up to where the records of a batch went, with no gap after it."""
        self._last = Provenance(last_offset=last_offset, last_epoch=epoch, last_timestamp=timestamp)

    @property
    def next_offset(self) -> int:
        """The offset after the last batch that ended."""
        return self._last.last_offset + 1

    def image(self) -> MetadataImage:
        """Return what is visible now. Replaying may go on after it."""
        if self._before is not None:
            return self._before
        image = self._delta.apply(self._last)
        self._delta = self._delta_of(image)
        return image

    def watch(self, seen: SeenChanges) -> None:
        """Put what the next records change into `seen`, an open transaction's included."""
        if self._seen is not seen:
            self._seen = seen
            self._delta.watch(seen)

    def share_with(self, twin: PartitionOf | None) -> None:
        """Have one value for partitions that are equal in another state; None: no longer."""
        self._twin = self._delta.topics.twin = twin

    def _delta_of(self, image: MetadataImage) -> MetadataDelta:
        """The next delta. Nothing keeps the one before, which has another image below it."""
        self._quick, self._quick_of = {}, None
        delta = MetadataDelta(image)
        delta.topics.twin = self._twin
        if self._seen is not None:
            delta.watch(self._seen)
        return delta
