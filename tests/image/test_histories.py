"""Random histories: wherever a replay stops and goes on, it comes to the same image (QC27)."""

from __future__ import annotations

import pytest

from kraftool.decoders import schema
from kraftool.image.delta import MetadataDelta
from kraftool.image.image import EMPTY, Provenance
from kraftool.image.loader import ImageLoader
from kraftool.image.writer import snapshot_records
from tests.image.histories import Batch, History

SEEDS = range(8)


def replay(loader: ImageLoader, batches: list[Batch], offset: int) -> int:
    for batch in batches:
        loader.begin_batch(1, 1)
        for name, value in batch:
            loader.replay(offset, name, value)
            offset += 1
        loader.end_batch(offset - 1, 1, 1)
    return offset


@pytest.mark.parametrize("seed", SEEDS)
def test_a_replay_that_goes_on_from_any_image_comes_to_the_same(seed: int) -> None:
    batches = list(History(seed).batches(60))
    whole = ImageLoader()
    replay(whole, batches, 0)
    expected = whole.image()
    for split in range(0, len(batches), 5):
        first = ImageLoader()
        offset = replay(first, batches[:split], 0)
        second = ImageLoader(first.image())
        replay(second, batches[split:], offset)
        assert second.image() == expected, split


@pytest.mark.parametrize("seed", SEEDS)
def test_any_image_is_what_the_records_of_its_snapshot_make(seed: int) -> None:
    loader = ImageLoader()
    replay(loader, list(History(seed).batches(150)), 0)
    image = loader.image()
    delta = MetadataDelta(EMPTY)
    for name, _, value in snapshot_records(image):
        delta.replay(name, value)
    # ELRs are not written while their feature is off.
    if image.features.is_elr_enabled:
        assert delta.apply(image.provenance) == image
    else:
        assert list(snapshot_records(delta.apply(Provenance()))) == list(snapshot_records(image))


def test_the_histories_have_every_record_that_kafka_still_writes() -> None:
    names = {
        name for seed in range(30) for batch in History(seed).batches(120) for name, _ in batch
    }
    old = {"FenceBrokerRecord", "UnfenceBrokerRecord", "ZkMigrationStateRecord"}
    # 4.3.0, which the histories are compared with, does not know the last one.
    empty = {"NoOpRecord", "UnregisterControllerRecord"}
    assert set(schema.names("metadata")) - names == old | empty
