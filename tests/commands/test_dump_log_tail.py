"""Where --tail begins to read a log that is too large to read whole, and what it says of it."""

from __future__ import annotations

import tarfile
from pathlib import Path

import pytest

from kraftool.commands import log_tail_start
from kraftool.decoders.batch import encode_batch
from kraftool.decoders.framing import encode_record
from kraftool.reports.browse import blocks
from tests.commands.dumped_logs import Run

_PER_SEGMENT = 400
_NO_OP = encode_record("NoOpRecord", 0, {})
_READS_ALL = ("--offsets", "0..")


def _segment(base: int, *, every: int) -> bytes:
    """No-ops, and a topic at each offset that `every` divides."""
    return b"".join(
        encode_batch(
            [
                (
                    None,
                    _NO_OP if at % every else encode_record("TopicRecord", 0, {"name": f"t{at}"}),
                )
            ],
            base_offset=at,
            epoch=1,
            timestamp=at * 500,
        )
        for at in range(base, base + _PER_SEGMENT)
    )


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Three segments, the last of an idle time; what is larger than 2 KiB is read from its end."""
    monkeypatch.setattr(log_tail_start, "WHOLE", 2048)
    monkeypatch.setattr(blocks, "BLOCK", 1024)
    folder = tmp_path / "__cluster_metadata-0"
    folder.mkdir()
    for number, every in enumerate((3, 5, 190)):
        base = number * _PER_SEGMENT
        (folder / f"{base:020}.log").write_bytes(_segment(base, every=every))
    return folder


@pytest.mark.parametrize("count", [1, 2, 5, 30, 100])
@pytest.mark.parametrize("more", [(), ("--noops", "show"), ("--batches-only",)])
def test_it_shows_what_reading_the_whole_log_shows(
    count: int, more: tuple[str, ...], log: Path, kraftool: Run
) -> None:
    late = kraftool("dump-log", "--tail", count, *more, log)
    assert late.text == kraftool("dump-log", "--tail", count, *more, *_READS_ALL, log).text
    assert "did not read or check the first" in late.err


def test_what_is_read_is_near_the_end(log: Path, kraftool: Run) -> None:
    """Damage in the first segment is met by a run that reads it, and by no other."""
    first = log / f"{0:020}.log"
    data = bytearray(first.read_bytes())
    data[40] ^= 1
    first.write_bytes(data)
    late, whole = (kraftool("dump-log", "--tail", 4, *more, log) for more in ((), _READS_ALL))
    assert (late.code, late.text) == (0, whole.text)
    assert "1 problem before the part that --tail shows" in whole.err
    assert whole.code != 0


def test_reading_back_ends_at_the_bound_and_says_so(
    log: Path, kraftool: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log_tail_start, "MOST", 20_000)
    ran = kraftool("dump-log", "--tail", 50, log)
    assert ran.text.count("TopicRecord") == 2
    assert "--tail found only 2 records in the last 20." in ran.err
    assert "--offsets 0.. reads all of it" in ran.err


@pytest.mark.parametrize(
    "more",
    [("-o", "jsonl"), ("--type", "TopicRecord"), ("--epoch", "1"), ("--head", "9")],
    ids=lambda more: more[0],
)
def test_other_formats_and_filters_read_from_the_beginning(
    more: tuple[str, ...], log: Path, kraftool: Run
) -> None:
    assert "did not read" not in kraftool("dump-log", "--tail", 4, *more, log).err


def test_a_stream_and_a_small_log_are_read_from_the_beginning(
    log: Path, kraftool: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive = tmp_path / "node.tar.gz"
    with tarfile.open(archive, "w:gz") as tar:
        tar.add(log, arcname=log.name)
    ran = kraftool("dump-log", "--tail", 4, archive)
    assert ran.text.count("TopicRecord") == 4
    assert "did not read" not in ran.err
    monkeypatch.setattr(log_tail_start, "WHOLE", 1 << 20)
    assert "did not read" not in kraftool("dump-log", "--tail", 4, log).err
