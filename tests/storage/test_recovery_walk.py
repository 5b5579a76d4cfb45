"""Recovery's fast way over sound batches comes to what the one walk over a log comes to."""

from __future__ import annotations

import random
import shutil
from pathlib import Path
from typing import NamedTuple

import pytest

from kraftool.decoders.batch import BatchHeader, RecordBatch
from kraftool.decoders.errors import KraftoolError
from kraftool.decoders.fault import FaultKind
from kraftool.decoders.names import segment_offset
from kraftool.decoders.walk import Faulty, Walk, WalkState
from kraftool.storage.recovery import Cut, _Reading, read_segments
from kraftool.storage.segment_writer import Segment
from kraftool.storage.source import BytesSource
from tests.storage.metadata_logs import NoSync, batch, opened
from tests.support.places import LOG, PARTITION

EDITS = 500


class Outcome(NamedTuple):
    """What reading a log comes to."""

    ends: list[tuple[int, int, int]]
    cut: Cut | None
    needed: list[tuple[int, BatchHeader]]
    """The batches that must be taken: those that begin an epoch, and control batches."""


def outcome(folder: Path) -> Outcome | str:
    """The result of reading a log, or why it is refused."""
    taken: list[RecordBatch] = []
    offsets = [
        offset for path in folder.iterdir() if (offset := segment_offset(path.name)) is not None
    ]
    try:
        segments, cut = read_segments(NoSync(), str(folder), offsets, 4096, taken.append)
    except KraftoolError as error:
        return error.message
    for segment in segments:
        segment.close()
    epoch, needed = -1, []
    for record_batch in taken:
        if record_batch.epoch > epoch or record_batch.is_control:
            needed.append((record_batch.position, record_batch.header))
        epoch = record_batch.epoch
    ends = [(segment.base_offset, segment.next_offset, segment.size) for segment in segments]
    return Outcome(ends, cut, needed)


def by_walk_alone(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Outcome | str:
    """The same without the fast way."""

    def nothing(self: _Reading, segment: Segment) -> int:
        return 0

    with monkeypatch.context() as patch:
        patch.setattr(_Reading, "_read_sound", nothing)
        return outcome(folder)


def test_damaged_fixtures_are_read_as_the_walk_reads_them(
    fixtures_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    logs = sorted((fixtures_dir / "damaged").rglob("*.log"))
    assert len(logs) > 10
    for number, path in enumerate(logs):
        folder = tmp_path / str(number)
        folder.mkdir()
        shutil.copy(path, folder / LOG)
        assert outcome(folder) == by_walk_alone(folder, monkeypatch), path


def edited(data: bytes, draw: random.Random) -> bytes:
    """A log with one to three flips, holes, doubled stretches, zeros or a torn end."""
    changed = bytearray(data)
    for _ in range(draw.randint(1, 3)):
        at = draw.randrange(len(changed))
        size = draw.choice([1, 8, 61, 200])
        match draw.randrange(5):
            case 0:
                changed[at] ^= 1 << draw.randrange(8)
            case 1:
                del changed[at : at + size]
            case 2:
                changed[at:at] = changed[max(at - size, 0) : at]
            case 3:
                changed[at : at + size] = bytes(size)
            case _:
                del changed[max(at, 200) :]
    return bytes(changed)


def walked(data: bytes) -> Walk:
    return Walk(BytesSource("log", data).read_at, WalkState(next_offset=0))


def whole_batches(data: bytes, draw: random.Random) -> bytes:
    """A log without a batch, with two exchanged, or with another epoch, which no CRC covers."""
    batches = [item.data for item in walked(data) if isinstance(item, RecordBatch)]
    one, other = draw.randrange(len(batches)), draw.randrange(len(batches))
    match draw.randrange(3):
        case 0:
            batches[one], batches[other] = batches[other], batches[one]
        case 1:
            epoch = draw.randrange(6).to_bytes(4, "big")
            batches[one] = batches[one][:12] + epoch + batches[one][16:]
        case _:
            del batches[one]
    return b"".join(batches)


def test_edited_logs_are_read_as_the_walk_reads_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = opened(tmp_path)
    for number in range(20):
        size = 90 * (number % 4)
        log.append([batch(2 * number, 2, epoch=1 + number // 7, timestamp=number, size=size)])
    log.close()
    folder = tmp_path / PARTITION
    whole = (folder / LOG).read_bytes()
    draw, cuts, refusals = random.Random(17), 0, 0
    for number in range(EDITS):
        data = (edited if number % 3 else whole_batches)(whole, draw)
        (folder / LOG).write_bytes(data)
        result = outcome(folder)
        assert result == by_walk_alone(folder, monkeypatch), number
        fault = next((item for item in walked(data) if isinstance(item, Faulty)), None)
        if isinstance(result, str):
            refusals += 1
            assert fault is not None
            assert fault.fault.kind is FaultKind.GAP
            continue
        cut = result.cut
        cuts += cut is not None
        assert (cut and cut.position) == (fault and fault.position), number
        assert (cut and cut.reason) == (fault and fault.fault.reason), number
    assert cuts > EDITS // 3
    assert refusals > 20
