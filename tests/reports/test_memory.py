"""A process that reads many damaged files keeps nothing of them.

What may stay is bounded by the catalogue: a decoder for each message and version that was met.
tests/bench/memory.py shows the same as memory of the process.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from kraftool.decoders import framing, schema
from kraftool.decoders.errors import DecodeError
from kraftool.decoders.wire import unsigned_varint
from kraftool.reports.directory.report import read_location
from kraftool.reports.verify.log import verify_logs
from kraftool.reports.verify.snapshot import verify_snapshots
from kraftool.storage.paths import open_path
from tests.support.places import FIXTURES

pytestmark = pytest.mark.slow

PARTITION = FIXTURES / "kafka-4.3.0/static-single/node-1/data/__cluster_metadata-0"
FILES = 40
MOST_BLOCKS = 200
"""Python allocates blocks of its own between two rounds; one leaked object per file is above it."""


@pytest.fixture(scope="module")
def damaged(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Directories with one file each: a segment, snapshot, index or state file, bytes changed."""
    root = tmp_path_factory.mktemp("damaged")
    random = Random(15)
    sources = [path for path in sorted(PARTITION.iterdir()) if path.stat().st_size]
    made = []
    for number in range(FILES):
        source = sources[number % len(sources)]
        data = bytearray(source.read_bytes())
        for _ in range(random.randint(1, 8)):
            data[random.randrange(len(data))] = random.randrange(256)
        folder = root / f"{number}" / PARTITION.name
        folder.mkdir(parents=True)
        (folder / source.name).write_bytes(data)
        made.append(folder.parent)
    return made


def read_directory(path: Path) -> object:
    return read_location(open_path(str(path)))


def verify_log(path: Path) -> object:
    return verify_logs([open_path(str(path))])


def verify_snapshot(path: Path) -> object:
    return verify_snapshots([open_path(str(path))])


def growth(paths: list[Path], read: Callable[[Path], object]) -> int:
    """Blocks of memory that Python has more of after the third round than after the second."""
    blocks = []
    for _ in range(3):
        for path in paths:
            read(path)
        gc.collect()
        blocks.append(sys.getallocatedblocks())
    return blocks[2] - blocks[1]


@pytest.mark.parametrize("read", [read_directory, verify_log, verify_snapshot])
def test_reading_the_same_damaged_files_again_keeps_nothing(
    damaged: list[Path], read: Callable[[Path], object]
) -> None:
    assert growth(damaged, read) < MOST_BLOCKS


def test_the_measure_sees_one_finding_kept_of_each_file(damaged: list[Path]) -> None:
    kept = []

    def leak(path: Path) -> None:
        kept.append(read_directory(path))

    assert growth(damaged, leak) > MOST_BLOCKS


def test_records_of_unknown_types_and_versions_are_not_remembered() -> None:
    for number in range(3 * schema.MOST_KEYS):
        value = b"\x01" + unsigned_varint(1000 + number) + unsigned_varint(number)
        with pytest.raises(DecodeError, match="catalogue lacks"):
            framing.decode_record(value)
    for cached in (framing.record_format, schema.metadata_record):
        info = cached.cache_info()
        assert info.maxsize == schema.MOST_KEYS
        assert info.currsize <= schema.MOST_KEYS
