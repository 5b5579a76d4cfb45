"""Indexes that are shortened or zeroed, and those of healthy directories, running ones included."""

import shutil
import struct
from pathlib import Path

import pytest

from kraftool.decoders.batch import encode_batch
from kraftool.reports.findings.finding import Finding, Severity
from tests.reports.log_node import Node
from tests.support.places import FIXTURES, PARTITION

LARGE = FIXTURES / "kafka-4.3.0/many-partitions/node-1/data"
"""A log of 61 KB."""
NO_OP = b"\x01\x14\x00\x00"
ROOM = 10 << 20
_ALL = sorted({path.parent.parent for path in FIXTURES.glob(f"kafka-*/**/{PARTITION}/*.index")})


@pytest.fixture
def large(tmp_path: Path) -> Node:
    """A log with small batches too, and the indexes that Kafka recreates when it starts."""
    shutil.copytree(LARGE, tmp_path / "data")
    node = Node(tmp_path / "data")
    last_batch = node.batches()[-1]
    with node.log.open("ab") as log:
        for number in range(60):
            appended = encode_batch(
                [(None, NO_OP)] * 90,
                base_offset=last_batch.last_offset + 1 + 90 * number,
                epoch=last_batch.epoch,
                timestamp=last_batch.header.max_timestamp + 1 + number,
            )
            log.write(appended)
    offsets, times, last, youngest = b"", b"", 0, -1
    for batch in node.batches():
        if batch.position - last > 4096:
            last = batch.position
            offsets += struct.pack(">ii", batch.last_offset, batch.position)
            if batch.header.max_timestamp > youngest:
                youngest = batch.header.max_timestamp
                times += struct.pack(">qi", youngest, batch.last_offset)
    node.log.with_suffix(".index").write_bytes(offsets)
    node.log.with_suffix(".timeindex").write_bytes(times)
    return node


def _of_indexes(node: Node) -> list[Finding]:
    return [finding for finding in node.findings() if "INDEX" in finding.code]


def test_a_shortened_offset_index_has_its_place(large: Node) -> None:
    index = large.log.with_suffix(".index")
    whole = index.read_bytes()
    assert _of_indexes(large) == []
    index.write_bytes(whole[:8])
    (finding,) = _of_indexes(large)
    assert (finding.code, finding.severity) == ("KT-LOG-INDEX-DIFFERS", Severity.INFO)
    assert finding.position == 8
    assert finding.file == str(index)
    assert any("entries are missing" in place.reason for place in (finding.fault, *finding.places))


def test_an_index_shortened_with_its_time_index_has_the_offset_without_an_entry(
    large: Node,
) -> None:
    index, times = (large.log.with_suffix(suffix) for suffix in (".index", ".timeindex"))
    index.write_bytes(index.read_bytes()[:8])
    times.write_bytes(times.read_bytes()[:12])
    (finding,) = _of_indexes(large)
    after = [batch.base_offset for batch in large.batches()]
    assert finding.position == 8
    assert finding.offset in after
    assert "no entry points to" in finding.text


@pytest.mark.parametrize("suffix", [".index", ".timeindex"])
def test_an_index_of_zeros_is_damaged(large: Node, suffix: str) -> None:
    index = large.log.with_suffix(suffix)
    index.write_bytes(bytes(index.stat().st_size))
    damaged = [finding for finding in _of_indexes(large) if finding.code == "KT-LOG-INDEX"]
    (finding,) = damaged
    assert (finding.severity, finding.position) == (Severity.WARNING, 0)
    assert finding.file == str(index)


def test_zeros_behind_the_entries_have_their_place(large: Node) -> None:
    index = large.log.with_suffix(".index")
    whole = index.read_bytes()
    index.write_bytes(whole[:16] + bytes(len(whole) - 16))
    places = [place for finding in _of_indexes(large) for place in (finding.fault, *finding.places)]
    assert 16 in {place.position for place in places}


def test_preallocated_indexes_of_a_running_or_killed_kafka_are_healthy(large: Node) -> None:
    for suffix, size in ((".index", 8), (".timeindex", 12)):
        index = large.log.with_suffix(suffix)
        index.write_bytes(index.read_bytes().ljust(ROOM // size * size, b"\0"))
    assert _of_indexes(large) == []


@pytest.mark.parametrize("path", _ALL, ids=lambda path: str(path.relative_to(FIXTURES)))
def test_no_directory_of_real_kafka_has_a_short_or_zeroed_index(path: Path) -> None:
    assert _of_indexes(Node(path)) == []
