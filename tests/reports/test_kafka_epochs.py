"""The epochs by which Kafka goes after a start: the file first, and of the log those above it."""

from __future__ import annotations

from kraftool.decoders.checkpoint_files import EpochEntry
from kraftool.reports.voters.kafka_epochs import believed_epochs, kafka_epochs

Pairs = list[tuple[int, int]]


def _entries(pairs: Pairs) -> list[EpochEntry]:
    return [EpochEntry(epoch=epoch, start_offset=offset) for epoch, offset in pairs]


def _of(checkpoint: Pairs, log: Pairs, start: int = 0, end: int = 50) -> Pairs:
    found = kafka_epochs(_entries(checkpoint), _entries(log), start, end)
    return [(entry.epoch, entry.start_offset) for entry in found]


def test_an_epoch_of_one_batch_that_is_too_high_stays_the_last_one() -> None:
    """A bit of it was flipped on Kafka 3.9.1, 4.1.1 and 4.3.1: the node was elected by it."""
    assert _of([(1, 0)], [(1, 0), (5, 20), (1, 22)]) == [(1, 0), (5, 20)]
    assert _of([], [(1, 0), (5, 20), (1, 22)]) == [(1, 0), (5, 20)]


def test_kafka_trusts_the_file_and_adds_what_is_above() -> None:
    assert _of([(1, 0), (77, 20)], [(1, 0), (2, 10)]) == [(1, 0), (77, 20)]
    assert _of([(1, 0)], [(1, 0), (2, 10)]) == [(1, 0), (2, 10)]
    assert _of([(2, 10), (1, 0)], [(1, 0)]) == [(1, 0)], "a later entry removes an earlier one"


def test_entries_behind_the_end_go_after_they_kept_others_out() -> None:
    assert _of([(1, 0), (77, 1000)], [(1, 0), (2, 10)]) == [(1, 0)]


def test_entries_before_the_start_become_one() -> None:
    assert _of([(1, 0), (2, 10), (3, 30)], [], start=20) == [(2, 20), (3, 30)]


def _believed(checkpoint: Pairs, log: Pairs, sound: Pairs, start: int = 0) -> Pairs | None:
    found = believed_epochs(_entries(checkpoint), _entries(log), _entries(sound), start, 50)
    return None if found is None else [(entry.epoch, entry.start_offset) for entry in found]


def test_a_healthy_directory_has_one_history_of_epochs() -> None:
    log = [(1, 0), (2, 10), (3, 30)]
    for checkpoint in (log, log[:1], log[:2], [], [(3, 35)], [(2, 20), (3, 30)]):
        assert _believed(checkpoint, log, log) is None, checkpoint
    assert _believed([(1, 0)], [(1, 20)], [(1, 20)], start=20) is None


def test_other_epochs_than_those_of_the_records_are_told() -> None:
    sound = [(1, 0), (2, 10)]
    assert _believed([], [(1, 0), (2, 10), (9, 15), (2, 16)], sound) == [(1, 0), (2, 10), (9, 15)]
    assert _believed([(1, 0), (77, 20)], sound, sound) == [(1, 0), (77, 20)]
