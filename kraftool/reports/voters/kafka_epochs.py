"""The leader epochs by which Kafka goes after a start: of leader-epoch-checkpoint and the log.

Owns how a start puts the two together. No CRC covers a batch's epoch, and Kafka trusts the file, so
these may be others than the log's records have.
"""

from __future__ import annotations

from collections.abc import Sequence

from kraftool.decoders.checkpoint_files import EpochEntry


def kafka_epochs(
    checkpoint: Sequence[EpochEntry], log: Sequence[EpochEntry], start: int, end: int
) -> tuple[EpochEntry, ...]:
    """Return the epochs of a log from `start` to `end`, whose last one an election compares.

    `checkpoint` is in the order of its file, `log` in the order of the batches. Of the log, Kafka
    adds only epochs above the last one that it has.
    """
    entries: list[EpochEntry] = []
    for entry in checkpoint:
        _assign(entries, entry)
    for entry in log:
        if entry.start_offset < end and (not entries or entry.epoch > entries[-1].epoch):
            _assign(entries, entry)
    inside = [entry for entry in entries if entry.start_offset < end]
    passed = [entry for entry in inside if entry.start_offset <= start]
    first = [EpochEntry(epoch=passed[-1].epoch, start_offset=start)] if passed else []
    return (*first, *inside[len(passed) :])


def believed_epochs(
    checkpoint: Sequence[EpochEntry],
    log: Sequence[EpochEntry],
    sound: Sequence[EpochEntry],
    start: int,
    end: int,
) -> tuple[EpochEntry, ...] | None:
    """Return the epochs by which Kafka goes, if they are others than the sound ones of a log.

    Kafka cuts the file at its log start, where no segment need begin: what is missing before its
    first entry says nothing.
    """
    believed = kafka_epochs(checkpoint, log, start, end)
    if not believed:
        return None
    first = believed[0]
    before = [entry for entry in sound if entry.start_offset <= first.start_offset]
    after = [entry for entry in sound if entry.start_offset > first.start_offset]
    if before and before[-1].epoch == first.epoch and [*believed[1:]] == after:
        return None
    kept = [entry for entry in before if entry.epoch < first.epoch]
    return (*(entry for entry in kept if entry.start_offset < first.start_offset), *believed)


def _assign(entries: list[EpochEntry], entry: EpochEntry) -> None:
    """Take an entry as Kafka's cache does: those that it contradicts go."""
    while entries and (
        entries[-1].epoch >= entry.epoch or entries[-1].start_offset >= entry.start_offset
    ):
        entries.pop()
    entries.append(entry)
