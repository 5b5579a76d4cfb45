"""A damaged snapshot is refused by a node's storage and by a plan, in the words of the one walk."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from kraftool.decoders.fault import FaultKind
from kraftool.decoders.names import parse_checkpoint_name
from kraftool.decoders.walk import Faulty, Walk, WalkState
from kraftool.repair.snapshot_survey import CheckpointForm
from kraftool.storage.files import Files
from kraftool.storage.snapshots import SnapshotDamaged, checked_at
from kraftool.storage.source import BytesSource

EDITS = 200
SNAPSHOT = (
    "kafka-3.9.1/static-single/node-1/data/__cluster_metadata-0/"
    "00000000000000000118-0000000002.checkpoint"
)


def refusal(path: Path) -> str:
    """Why storage refuses a snapshot; empty where it does not."""
    try:
        checked_at(Files(), str(path))
    except SnapshotDamaged as error:
        return error.message
    return ""


def complaint(path: Path, epoch: int) -> str:
    form = CheckpointForm(epoch)
    for item in Walk(BytesSource("s", path.read_bytes()).read_at):
        form.take(item)
    return form.complaint()


def test_a_fault_has_the_same_words_in_storage_and_in_a_survey(
    fixtures_dir: Path, tmp_path: Path
) -> None:
    source = fixtures_dir / SNAPSHOT
    name = parse_checkpoint_name(source.name)
    assert name is not None
    whole = source.read_bytes()
    path = tmp_path / source.name
    path.write_bytes(whole)
    assert (refusal(path), complaint(path, name.epoch)) == ("", "")
    draw, faulty = random.Random(17), 0
    for number in range(EDITS):
        data, at = bytearray(whole), draw.randrange(len(whole))
        match number % 3:
            case 0:
                data[at] ^= 1 << draw.randrange(8)
            case 1:
                del data[at : at + draw.choice([1, 61, 200])]
            case _:
                del data[at:]
        path.write_bytes(data)
        fault = next(
            (
                item.fault
                for item in Walk(BytesSource("s", bytes(data)).read_at, WalkState(next_offset=0))
                if isinstance(item, Faulty)
            ),
            None,
        )
        if fault is None or fault.kind is FaultKind.EPOCH_BACK:
            continue
        faulty += 1
        assert refusal(path) == f"{path}: {fault.describe()}"
        assert complaint(path, name.epoch) == fault.describe()
    assert faulty > EDITS // 2


@pytest.mark.parametrize("kept", [slice(1, None), slice(None, -1)])
def test_a_snapshot_without_its_first_or_last_batch_is_refused(
    fixtures_dir: Path, tmp_path: Path, kept: slice
) -> None:
    source = fixtures_dir / SNAPSHOT
    name = parse_checkpoint_name(source.name)
    assert name is not None
    batches = list(Walk(BytesSource("s", source.read_bytes()).read_at))
    path = tmp_path / source.name
    path.write_bytes(
        b"".join(batch.data for batch in batches[kept] if not isinstance(batch, Faulty))
    )
    assert refusal(path)
    assert complaint(path, name.epoch)
