"""Tar streams that are zipped, endless or slow, and what feeds them."""

import gzip
import io
import random
import subprocess
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path

from kraftool.storage.entry import Entry, EntryProblem
from kraftool.storage.inflate import CountingFeed, PipeFeed
from kraftool.storage.tarheader import BLOCK
from kraftool.storage.tarstream import TarStream
from tests.storage.tars import END, PARTITION, header, peak_below, tar, unzipped, write


def test_damaged_gzip_gives_all_before_the_damage() -> None:
    digits = random.Random(1).randbytes(200_000).hex().encode()
    whole = tar({"a.log": digits, "quorum-state": b"{}"})
    packer = zlib.compressobj(wbits=31)
    zipped = packer.compress(whole[: BLOCK + 123_457]) + packer.flush(zlib.Z_FULL_FLUSH)
    # A block of deflate's type 3, which there is not.
    with unzipped(zipped + b"\x07" + bytes(1000)) as archive:
        data, missing, damage = _read_each(archive)
    assert data == digits[:123_457]
    assert f"{400_000 - 123_457} of 400000 bytes are missing" in str(missing)
    assert "gzip data is damaged" in str(damage)
    assert f"at position {len(zipped)} of the compressed bytes" in str(damage)


def test_gzip_whose_checksum_is_wrong_gives_all_of_it_and_says_so() -> None:
    zipped = bytearray(gzip.compress(tar({"quorum-state": b"{}"})))
    zipped[-8] ^= 1
    with unzipped(bytes(zipped)) as archive:
        data, damage = _read_each(archive)
    assert data == b"{}"
    assert "incorrect data check" in str(damage)


def _read_each(archive: TarStream) -> Iterator[bytes | str]:
    for item in archive.entries():
        if isinstance(item, Entry):
            yield item.open().read_at(0, 1 << 20)
        else:
            yield item.reason


def test_gzip_cut_anywhere_is_told() -> None:
    zipped = gzip.compress(tar({f"{PARTITION}/quorum-state": random.Random(2).randbytes(3000)}))
    for cut in range(2, len(zipped), 37):
        with unzipped(zipped[:cut]) as archive:
            problems = [item for item in archive.entries() if isinstance(item, EntryProblem)]
        assert any("ends early" in problem.reason for problem in problems), cut


def test_bytes_behind_gzip_that_are_none_are_told() -> None:
    zipped = gzip.compress(tar({f"{PARTITION}/quorum-state": b"{}"})) + b"garbage"
    with unzipped(zipped) as archive:
        items = list(archive.entries())
    assert [type(item) for item in items] == [Entry, EntryProblem]


def test_a_gzip_bomb_fills_no_memory() -> None:
    # 400 MB of zeros in one member, 400 kB zipped.
    size = 400 << 20
    out = io.BytesIO()
    with gzip.open(out, "wb", compresslevel=1) as file:
        file.write(header(f"{PARTITION}/{0:020}.log", b"0", size))
        for _ in range(size >> 20):
            file.write(bytes(1 << 20))
        file.write(END)
    with peak_below(12 << 20), unzipped(out.getvalue()) as archive:
        for item in archive.entries():
            assert isinstance(item, Entry)
            source, position = item.open(), 0
            while data := source.read_at(position, 1 << 20):
                position += len(data)
            assert position == size


def test_an_archive_of_endless_members_fills_no_memory() -> None:
    count = 5_000
    parts = (header(f"data/topic-{number}/x.log", b"0", 0) for number in range(count))

    class Many:
        def read(self, wanted: int) -> bytes:
            return next(parts, b"")

    archive = TarStream(PipeFeed(Many()), "-")
    with peak_below(1 << 20):
        list(archive.entries())
    assert archive.folders["data"].topics == count


def test_zeros_without_end_behind_an_archive_are_given_up() -> None:
    class Zeros:
        def __init__(self) -> None:
            self.head = tar({"quorum-state": b"{}"})
            self.given = 0

        def read(self, wanted: int) -> bytes:
            if self.head:
                data, self.head = self.head[:wanted], self.head[wanted:]
                return data
            self.given += wanted
            return bytes(wanted)

    zeros = Zeros()
    list(TarStream(PipeFeed(zeros), "-").entries())
    assert zeros.given < 64 << 20


def test_an_error_of_the_pipe_is_told_as_an_early_end() -> None:
    class Broken:
        def read(self, wanted: int) -> bytes:
            raise OSError(5, "Input/output error")

    (problem, *_) = TarStream(PipeFeed(Broken()), "-").entries()
    assert isinstance(problem, EntryProblem)
    assert "Input/output error" in problem.reason


def test_a_buffered_feed_counts_what_it_gave_and_can_take_it_back() -> None:
    feed = CountingFeed(PipeFeed(io.BytesIO(bytes(range(100)))), ahead=b"")
    data = feed.read_exactly(10)
    feed.put_back(data)
    assert feed.position == 0
    assert feed.read_exactly(100) == bytes(range(100))
    assert feed.skip(5) == 0


def test_what_a_shell_makes_of_a_process_substitution_is_a_stream(tmp_path: Path) -> None:
    archive = write(tmp_path / "x.tar", tar({f"{PARTITION}/quorum-state": b"{}"}))
    code = (
        "import sys; from kraftool.storage.paths import open_path\n"
        "print([item.path for item in open_path(sys.argv[1]).entries()])"
    )
    shell = f'exec "$0" -c "$1" <(cat {archive})'
    ran = subprocess.run(
        ["bash", "-c", shell, sys.executable, code], capture_output=True, text=True, check=False
    )
    assert ran.stdout.strip() == "['__cluster_metadata-0/quorum-state']", ran.stderr
