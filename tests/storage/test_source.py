"""Reading bytes at a position, from files that change and streams that only move on."""

import io
import os
from pathlib import Path

import pytest

from kraftool.decoders.errors import KraftoolError
from kraftool.storage.source import CHUNK, BytesSource, FileSource, StreamSource, read_whole


def stream(data: bytes, *, size: int | None = None, back_window: int = 16) -> StreamSource:
    return StreamSource("x", io.BytesIO(data).read, size=size, back_window=back_window)


def test_a_file_is_read_at_any_position_and_short_only_at_its_end(tmp_path: Path) -> None:
    path = tmp_path / "x.log"
    data = os.urandom(2 * CHUNK + 7)
    path.write_bytes(data)
    with FileSource(str(path)) as source:
        assert source.size() == len(data)
        assert source.read_at(CHUNK - 3, CHUNK + 5) == data[CHUNK - 3 : 2 * CHUNK + 2]
        assert source.read_at(5, 3) == data[5:8]
        assert source.read_at(len(data) - 4, 100) == data[-4:]
        assert source.read_at(len(data) + 10, 100) == b""
        assert source.read_at(0, 3 * CHUNK) == data


def test_no_single_system_call_asks_for_more_than_a_chunk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "x.log"
    path.write_bytes(bytes(3 * CHUNK))
    asked: list[int] = []
    real = os.pread

    def pread(fd: int, size: int, at: int) -> bytes:
        asked.append(size)
        return real(fd, size, at)

    monkeypatch.setattr(os, "pread", pread)
    with FileSource(str(path)) as source:
        assert len(source.read_at(1, 3 * CHUNK)) == 3 * CHUNK - 1
    assert max(asked) <= CHUNK


def test_a_read_that_the_file_system_cuts_short_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "x.log"
    path.write_bytes(b"0123456789")
    real = os.pread
    monkeypatch.setattr(os, "pread", lambda fd, size, at: real(fd, min(size, 3), at))
    with FileSource(str(path)) as source:
        assert source.read_at(1, 8) == b"12345678"


def test_a_file_that_is_truncated_under_us_reads_short(tmp_path: Path) -> None:
    path = tmp_path / "x.log"
    path.write_bytes(bytes(100))
    with FileSource(str(path)) as source:
        os.truncate(path, 10)
        assert source.read_at(0, 100) == bytes(10)
        assert source.read_at(50, 10) == b""
        assert source.size() == 10


def test_a_file_that_is_removed_under_us_can_be_read_to_its_end(tmp_path: Path) -> None:
    path = tmp_path / "x.log"
    path.write_bytes(b"still here")
    with FileSource(str(path)) as source:
        path.unlink()
        assert source.read_at(0, 100) == b"still here"


def test_a_disk_error_names_the_file_and_the_position(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "x.log"
    path.write_bytes(b"x")

    def failing(fd: int, size: int, position: int) -> bytes:
        raise OSError(5, "Input/output error")

    with FileSource(str(path)) as source:
        monkeypatch.setattr(os, "pread", failing)
        with pytest.raises(KraftoolError, match=r"x\.log: .* position 7: input/output error"):
            source.read_at(7, 1)


@pytest.mark.parametrize("name", ["pipe", "folder", "/dev/null", "missing", "a\0b", "loop"])
def test_what_is_no_regular_file_is_refused_at_once(tmp_path: Path, name: str) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(KraftoolError):
        FileSource(str(tmp_path / name))


def test_a_refusal_for_permissions_says_whose_file_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "x.checkpoint"
    path.write_bytes(b"x")

    def denied(*_: object) -> int:
        raise PermissionError(13, "Permission denied")

    # Root may read everything, and tests often run as root.
    monkeypatch.setattr(os, "open", denied)
    with pytest.raises(KraftoolError, match="permission denied") as caught:
        FileSource(str(path))
    assert str(path.stat().st_uid) in caught.value.hint


def test_a_refused_file_leaves_no_descriptor_open(tmp_path: Path) -> None:
    before = os.listdir("/proc/self/fd") if os.path.isdir("/proc/self/fd") else []
    for _ in range(3):
        with pytest.raises(KraftoolError):
            FileSource(str(tmp_path))
    after = os.listdir("/proc/self/fd") if before else []
    assert len(after) == len(before)


def test_a_small_file_is_read_whole_and_a_large_one_is_refused() -> None:
    assert read_whole(BytesSource("x", b"12345"), limit=5) == b"12345"
    with pytest.raises(KraftoolError, match="larger than"):
        read_whole(BytesSource("x", b"123456"), limit=5)


def test_a_stream_can_be_read_again_within_its_window() -> None:
    source = stream(bytes(range(200)))
    assert source.read_at(0, 50) == bytes(range(50))
    assert source.read_at(40, 60) == bytes(range(40, 100))
    assert source.read_at(30, 5) == bytes(range(30, 35))
    assert source.read_at(99, 101) == bytes(range(99, 200))


def test_a_stream_says_so_where_it_has_passed() -> None:
    source = stream(bytes(200))
    source.read_at(100, 10)
    with pytest.raises(KraftoolError, match="position 3 has passed"):
        source.read_at(3, 1)


def test_a_stream_whose_end_was_overrun_can_still_be_read_before_it() -> None:
    source = stream(bytes(range(100)))
    assert source.read_at(5000, 10) == b""
    assert source.read_at(90, 20) == bytes(range(90, 100))


def test_a_stream_knows_its_true_size_once_its_end_was_seen() -> None:
    source = stream(bytes(60), size=100)
    assert source.size() == 100
    source.read_at(50, 50)
    assert source.size() == 60


def test_a_stream_keeps_no_more_than_its_window_and_one_read() -> None:
    source = stream(bytes(4 << 20), back_window=1000)
    for position in range(0, 4 << 20, 500):
        source.read_at(position, 500)
        assert len(source._buffer) <= 1500 + 500


def test_a_stream_that_gives_little_at_a_time_is_asked_again() -> None:
    data = io.BytesIO(bytes(range(100)))
    source = StreamSource("x", lambda size: data.read(min(size, 7)))
    assert source.read_at(10, 50) == bytes(range(10, 60))
