"""Metadata transactions: nothing of an open one is visible, and an abort undoes all of it."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import pytest

from kraftool.image.image import EMPTY, MetadataImage, Provenance
from kraftool.image.loader import ImageLoader, OpenTransaction
from kraftool.image.replay import ReplayError
from tests.image.metadata import BAR, FOO, Told, change, feature, partition, replayed, topic

BEGIN: Told = ("BeginTransactionRecord", {"name": "work"})
END: Told = ("EndTransactionRecord", {})
ABORT: Told = ("AbortTransactionRecord", {"reason": "why"})
NOOP: Told = ("NoOpRecord", {})


def refuse(offset: int, name: str, error: ReplayError) -> None:
    raise error


def load(*batches: list[Told], epoch: int = 3) -> ImageLoader:
    """Batches of records from offset 100 on, one millisecond apart."""
    loader = ImageLoader()
    offset = 100
    for number, batch in enumerate(batches):
        loader.begin_batch(epoch, 1000 + number)
        for name, value in batch:
            loader.replay(offset, name, value)
            offset += 1
        loader.end_batch(offset - 1, epoch, 1000 + number)
    return loader


def names(image: MetadataImage) -> list[str]:
    return sorted(image.topics.by_name)


def test_what_an_open_transaction_did_is_not_visible() -> None:
    loader = load([topic()], [BEGIN], [topic("bar", BAR)], [NOOP])
    assert names(loader.image()) == ["foo"]
    assert loader.open_transaction == OpenTransaction(offset=101, name="work", records=2)
    assert loader.image().provenance == Provenance(
        last_offset=100, last_epoch=3, last_timestamp=1000
    )


def test_at_the_end_of_a_transaction_all_of_it_is_visible() -> None:
    loader = load([BEGIN, topic()], [NOOP], [partition(), END])
    assert names(loader.image()) == ["foo"]
    assert loader.open_transaction is None
    assert loader.image().provenance.last_offset == 104


def test_an_abort_undoes_all_and_the_offset_goes_on() -> None:
    base = [topic(), partition(leaderEpoch=5)]
    loader = load(base, [BEGIN, change(leader=2)], [topic("bar", BAR), ABORT], [NOOP])
    image = loader.image()
    assert image.topics == replayed(*base).topics
    assert image.provenance.last_offset == 106


def test_an_abort_and_what_follows_in_one_batch() -> None:
    """Kafka 4.3.0 shows the aborted topic here (digest 10.1); it is not to be."""
    loader = load([BEGIN, topic(), ABORT, topic("bar", BAR)])
    assert names(loader.image()) == ["bar"]


def test_two_transactions_in_one_batch() -> None:
    loader = load([BEGIN, topic(), END, BEGIN, topic("bar", BAR), END])
    assert names(loader.image()) == ["bar", "foo"]


def test_records_before_begin_in_the_same_batch_are_visible_up_to_it() -> None:
    loader = load([NOOP], [topic(), BEGIN, topic("bar", BAR)])
    image = loader.image()
    assert names(image) == ["foo"]
    assert image.provenance == Provenance(last_offset=101, last_epoch=3, last_timestamp=1001)


@pytest.mark.parametrize(
    "records", [[BEGIN, BEGIN], [END], [ABORT], [BEGIN, END, END], [BEGIN, ABORT, END]], ids=str
)
def test_transactions_do_not_nest_and_end_only_what_began(records: list[Any]) -> None:
    with pytest.raises(ReplayError):
        load(records)


def test_an_error_leaves_the_transaction_open() -> None:
    loader = load([topic()], [BEGIN, topic("bar", BAR)])
    with pytest.raises(ReplayError):
        loader.replay(103, *BEGIN)
    with pytest.raises(ReplayError):
        loader.replay(103, *topic("bar", FOO))
    loader.replay(103, *END)
    assert names(loader.image()) == ["bar", "foo"]


def test_reading_the_image_does_not_disturb_the_replay() -> None:
    records = [topic(), BEGIN, partition(), change(isr=[1]), END, feature("group.version", 1)]
    whole, halting = load([*records]), ImageLoader()
    halting.begin_batch(3, 1000)
    for number, (name, value) in enumerate(records):
        halting.image()
        halting.replay(100 + number, name, value)
        halting.image()
    halting.end_batch(105, 3, 1000)
    assert halting.image() == whole.image()


def test_an_image_that_nobody_needs_is_gone_at_once() -> None:
    """A node looks for unreachable cycles rarely, and each image of a large cluster is large."""
    loader = ImageLoader()
    loader.replay_run(0, [topic("foo", FOO)], refuse)
    delta = weakref.ref(loader.delta)
    gc.disable()
    try:
        loader.image()
        loader.replay_run(1, [topic("bar", BAR)], refuse)
        assert delta() is None
    finally:
        gc.enable()


def test_replay_goes_on_from_a_snapshots_image() -> None:
    start = replayed(topic())
    loader = ImageLoader(start)
    assert loader.image().topics is start.topics
    loader.replay(1, *partition())
    assert loader.image().topics.partitions == 1
    assert EMPTY.topics.partitions == 0


def test_partitions_that_another_state_has_too_are_kept_once() -> None:
    """Also over a transaction, and only where they are equal."""
    other = load([topic(), partition(0), partition(1), partition(2, leaderEpoch=7)])
    loader = ImageLoader()
    loader.share_with(other.delta.topics.partition)
    records = [topic(), BEGIN, partition(0), partition(1), partition(2), END, NOOP]
    for offset, (name, value) in enumerate(records):
        loader.replay(offset, name, value)
    mine, theirs = (state.image().topics.by_id[FOO].partitions for state in (loader, other))
    assert [mine[number] is theirs[number] for number in range(3)] == [True, True, False]
    assert (mine[2].leader_epoch, theirs[2].leader_epoch) == (0, 7)
    loader.replay(9, *change(leader=2))
    assert loader.image().topics.by_id[FOO].partitions[0] != theirs[0]
