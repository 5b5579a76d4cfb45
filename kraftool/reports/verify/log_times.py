"""The time in each snapshot's header against the batches of the log, while these pass.

Owns the rule. The header has the time of the last batch that the snapshot covers, or a later one. A
leader (Kafka 3.3 to 4.4, `KafkaRaftClient.appendBatch`) releases the buffer of a batch once it is
appended, and reads the time from that buffer when the batch is committed. Until then a later batch
may have used the buffer: of the log, or of a snapshot that was written then, since both take their
buffers from one pool. That batch need not be here: the leader lost it, the log was copied before,
or the snapshot was deleted. So a later time contradicts nothing. An earlier one does, unless a
later batch of the same leader epoch has it, after the clock was set back.
"""

from __future__ import annotations

from kraftool.decoders.batch import RecordBatch


class HeaderTimes:
    """Collects the times of headers, and shows them the batches."""

    def __init__(self) -> None:
        self._times: dict[int, set[int]] = {}
        """By the offset in the snapshot's name."""
        self._open: dict[int, list[int]] = {}
        """Offsets of snapshots whose last batch has passed and has a later time than theirs."""
        self._contradicted: set[tuple[int, int]] = set()
        self._epoch = -1
        self._next_offset = -1

    def header(self, offset: int, timestamp: int) -> None:
        """Take the time of a snapshot whose segment is still to come."""
        self._times.setdefault(offset, set()).add(timestamp)

    @property
    def is_waiting(self) -> bool:
        """True if later batches matter to a snapshot."""
        return bool(self._open)

    def batch(self, batch: RecordBatch) -> None:
        """See a batch that a snapshot ends with, or each batch while `is_waiting`."""
        header = batch.header
        epoch, timestamp = header.partition_leader_epoch, header.max_timestamp
        if self._open and (epoch != self._epoch or header.base_offset != self._next_offset):
            self.stop()
        self._open.pop(timestamp, None)
        self._epoch = epoch
        self._next_offset = batch.last_offset + 1
        for snapshot_time in self._times.pop(self._next_offset, ()):
            if snapshot_time < timestamp:
                self._open.setdefault(snapshot_time, []).append(self._next_offset)

    def stop(self) -> None:
        """No further batch of the epoch is known."""
        for timestamp, offsets in self._open.items():
            self._contradicted.update((offset, timestamp) for offset in offsets)
        self._open.clear()

    def contradict(self, offset: int, timestamp: int) -> bool:
        """True if the log shows that a leader cannot have written this time."""
        self.stop()
        return (offset, timestamp) in self._contradicted
