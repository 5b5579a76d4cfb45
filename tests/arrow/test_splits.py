"""Cutting files: the ranges together give what the whole file gives, damaged or not."""

from pathlib import Path

import pytest

pytest.importorskip("pyarrow")

from hypothesis import given
from hypothesis import strategies as st

from kraftool.arrow.fleet import FleetDirectory, FleetFile
from kraftool.arrow.splits import Split, cut, packed
from kraftool.decoders.batch import RecordBatch
from kraftool.decoders.indexes import OffsetIndex, decode_offset_index
from kraftool.decoders.segment import scan
from kraftool.storage.entry import EntryPlace
from tests.support.places import FIXTURES

LOG = (
    FIXTURES / "kafka-4.3.0/static-single/node-1/data/__cluster_metadata-0/00000000000000000000.log"
)
WIDE = (
    FIXTURES
    / "kafka-4.3.0/many-partitions/node-1/data/__cluster_metadata-0/00000000000000000000.log"
)
SNAPSHOT = next(FIXTURES.glob("kafka-4.3.0/many-partitions/**/*.checkpoint"))

Item = tuple[str, int, int]


def _items(data: bytes, start: int = 0, stop: int | None = None) -> list[Item]:
    def read_at(position: int, size: int) -> bytes:
        return data[position : position + size]

    return [(type(item).__name__, item.position, item.size) for item in scan(read_at, start, stop)]


def _cut(
    data: bytes, split_bytes: int, index: OffsetIndex | None = None
) -> list[tuple[int, int | None]]:
    return cut(lambda at, size: data[at : at + size], len(data), split_bytes, index)


def _index_of(log: Path) -> OffsetIndex:
    return decode_offset_index(log.with_suffix(".index").read_bytes(), int(log.stem))[0]


@st.composite
def damaged(draw: st.DrawFn) -> bytes:
    """A real file with a few edits: flipped bits, zeros, bytes gone, bytes added, lengths set."""
    data = bytearray(draw(st.sampled_from([LOG, WIDE, SNAPSHOT])).read_bytes())
    borders = [at for kind, at, _ in _items(bytes(data)) if kind == "RecordBatch"]
    for _ in range(draw(st.integers(0, 6))):
        at = draw(st.integers(0, max(len(data) - 1, 0)))
        size = draw(st.integers(1, 300))
        match draw(st.sampled_from(["flip", "zero", "cut", "add", "repeat", "length"])):
            case "flip" if data:
                data[at] ^= 1 << draw(st.integers(0, 7))
            case "zero":
                data[at : at + size] = bytes(size)
            case "cut":
                del data[at : at + size]
            case "add":
                data[at:at] = draw(st.binary(min_size=1, max_size=100))
            case "repeat":
                data[at:at] = data[max(at - size, 0) : at]
            case "length":
                begin = draw(st.sampled_from(borders))
                length = draw(st.sampled_from([0, -1, 10**9]) | st.integers(0, 50_000))
                data[begin + 8 : begin + 12] = length.to_bytes(4, "big", signed=True)
    return bytes(data)


@given(damaged(), st.integers(50, 60_000), st.booleans())
def test_the_ranges_together_are_the_whole_scan(
    data: bytes, split_bytes: int, with_index: bool
) -> None:
    index = _index_of(WIDE) if with_index else None
    ranges = _cut(data, split_bytes, index)
    assert [item for start, stop in ranges for item in _items(data, start, stop)] == _items(data)
    assert ranges[0][0] == 0
    assert ranges[-1][1] is None


def _long_log(copies: int) -> bytes:
    """The widest batch of a real log again and again, with offsets that follow on each other."""
    data = WIDE.read_bytes()
    items = scan(lambda at, size: data[at : at + size])
    batch = max((item for item in items if isinstance(item, RecordBatch)), key=lambda b: b.size)
    step = batch.header.last_offset_delta + 1
    return b"".join((number * step).to_bytes(8, "big") + batch.data[8:] for number in range(copies))


def test_a_long_file_is_cut_into_ranges_of_about_one_size() -> None:
    data = _long_log(100)
    ranges = _cut(data, len(data) // 8)
    sizes = [(len(data) if stop is None else stop) - start for start, stop in ranges]
    assert len(ranges) in (8, 9)
    assert max(sizes) < 1.5 * min(sizes)


def test_with_an_index_little_of_the_file_is_read() -> None:
    data = _long_log(400)
    borders = [at for _, at, _ in _items(data)]
    batches = [RecordBatch.read(data[at : at + 61], at) for at in borders]
    entries = b"".join(
        (batch.last_offset).to_bytes(4, "big") + batch.position.to_bytes(4, "big")
        for batch in batches[1:]
    )
    index = decode_offset_index(entries, 0)[0]
    read = 0

    def read_at(position: int, size: int) -> bytes:
        nonlocal read
        read += min(size, len(data) - position)
        return data[position : position + size]

    ranges = cut(read_at, len(data), len(data) // 4, index)
    assert len(ranges) == 4
    assert read < len(data) // 4


def test_an_index_of_another_segment_leads_to_no_wrong_border() -> None:
    data = WIDE.read_bytes()
    foreign = _index_of(LOG)
    assert [
        item for start, stop in _cut(data, 5_000, foreign) for item in _items(data, start, stop)
    ] == _items(data)


def _file(name: str, size: int) -> FleetFile:
    owner = FleetDirectory(name="d")
    return FleetFile(
        directory=owner,
        root=name,
        path="",
        name=name,
        relative=name,
        place=EntryPlace.LOOSE,
        size=size,
    )


def test_small_files_share_a_task_and_none_is_lost() -> None:
    splits = [Split(file=_file(str(number), 10)) for number in range(1000)]
    tasks = list(packed(splits, 1000))
    assert [split for task in tasks for split in task] == splits
    assert len(tasks) == 10
    assert len(list(packed(splits, 10**9))) == 5
