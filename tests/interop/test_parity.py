"""Corner cases of `kraftool dump-log -o kafka`, each beside kafka-dump-log: the same bytes.

The files are made here: what no fixture holds because no Kafka of our own would write it, and live
(preallocated) indexes. Owns the cases; `test_dump_log.py` compares what Kafka writes.
"""

from __future__ import annotations

import struct
import subprocess
import sys
import tempfile
import zlib
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import pytest

from kraftool.decoders import producer_state
from kraftool.decoders.batch import BatchHeader, seal
from kraftool.decoders.framing import encode_record
from kraftool.decoders.java_text import INT64_MAX, INT64_MIN
from kraftool.decoders.wire import varint, varlong
from tests.interop.dumplog import DUMPING_RELEASES, EACH_SOURCE, dump_each, split
from tests.interop.recorded import Recording
from tests.support.places import LOG, ROOT

NO_OP = encode_record("NoOpRecord", 0, {})
TOPIC = encode_record("TopicRecord", 0, {"name": "orders", "topicId": "AAAAAAAAAAAAAAAAAAAAAg"})
NOW = 1_700_000_000_000


def record(
    delta: int, value: bytes | None = NO_OP, key: bytes | None = None, timestamp: int = 0
) -> bytes:
    body = b"\x00" + varlong(timestamp) + varint(delta)
    for part in (key, value):
        body += varint(-1) if part is None else varint(len(part)) + part
    body += b"\x00"
    return varint(len(body)) + body


def batch(
    section: bytes,
    count: int,
    *,
    base: int = 0,
    last: int | None = None,
    timestamp: int = NOW,
    codec: int = 0,
    producer: tuple[int, int, int] = (-1, -1, -1),
) -> bytes:
    last = count - 1 if last is None else last
    return seal(
        BatchHeader(base, 0, 1, 2, 0, codec, last, timestamp, timestamp, *producer, count), section
    )


def segment(base: int) -> bytes:
    return batch(record(0, TOPIC) + record(1), 2, base=base) + batch(record(0), 1, base=base + 2)


SECOND_BATCH = len(batch(record(0, TOPIC) + record(1), 2))


def index_files() -> dict[str, bytes]:
    files: dict[str, bytes] = {}

    def add(folder: str, base: int, index: bytes, times: bytes) -> None:
        name = f"{folder}/{base:020d}"
        files[f"{name}.log"] = segment(base)
        files[f"{name}.index"] = index
        files[f"{name}.timeindex"] = times

    add("preallocated", 0, bytes(1024), bytes(1200))
    add("preallocated-100", 100, bytes(1024), bytes(1200))
    live = struct.pack(">ii", 2, SECOND_BATCH) + bytes(800), struct.pack(">qi", NOW, 2)
    add("live", 0, live[0], live[1] + bytes(1200))
    add("base-in-the-middle", 5, struct.pack(">6i", 0, 0, 0, SECOND_BATCH, 2, SECOND_BATCH), b"")
    add("base-time-in-the-middle", 5, bytes(8), struct.pack(">qiqiqi", 5, 0, 7, 0, 8, 1))
    add("torn", 0, struct.pack(">ii", 2, SECOND_BATCH) + b"xyz", bytes(5))
    add("less-than-an-entry", 0, bytes(5), bytes(5))
    add("empty", 5, b"", b"")
    aborted = struct.pack(">hqqqq", 0, 1, 5, 6, 7)
    files["aborted/00000000000000000006.txnindex"] = aborted + b"\x00\x03" + aborted[2:] + bytes(34)
    return files


def producer_files() -> dict[str, bytes]:
    def state(last: int, delta: int, **changed: int) -> producer_state.ProducerStateEntry:
        fields = {"last_offset": 40, "current_txn_first_offset": -1} | changed
        return producer_state.ProducerStateEntry(
            producer_id=1,
            epoch=2,
            last_sequence=last,
            offset_delta=delta,
            timestamp=55,
            coordinator_epoch=4,
            **fields,
        )

    good = producer_state.encode(
        (
            state(9, 3),
            state(1, 3),
            state(-1, 0),
            state(5, -3),
            state(-7, 2),
            state(2147483647, -1, current_txn_first_offset=3),
            state(9, 3, last_offset=-1),
        )
    )
    wrong_crc = bytearray(good)
    wrong_crc[3] ^= 1
    cases = (good, bytes(wrong_crc), good[:-5], good + b"xx", good[:4], b"", b"\x00\x02" + good[2:])
    return {f"producers/{number:020d}.snapshot": data for number, data in enumerate(cases)}


def _gzip(data: bytes) -> bytes:
    """A member of gzip that keeps the data as it is: the same bytes with every zlib."""
    pieces = [data[at : at + 0xFFFF] for at in range(0, len(data), 0xFFFF)] or [b""]
    blocks = b"".join(
        struct.pack("<BHH", piece is pieces[-1], len(piece), len(piece) ^ 0xFFFF) + piece
        for piece in pieces
    )
    end = struct.pack("<II", zlib.crc32(data), len(data))
    return b"\x1f\x8b\x08\0\0\0\0\0\x02\xff" + blocks + end


def _zstd(data: bytes) -> bytes:
    """A frame with one block that keeps the data as it is."""
    is_last = 1
    block = (len(data) << 3 | is_last).to_bytes(3, "little") + data
    return b"\x28\xb5\x2f\xfd\x20" + bytes([len(data)]) + block


def log_files() -> dict[str, bytes]:
    first, second = record(0, TOPIC), record(1)
    files = {
        "keyed": batch(record(0, TOPIC, b"k") + record(1, NO_OP, b""), 2),
        "gzip-members": batch(_gzip(first) + _gzip(second), 2, codec=1),
        "gzip-empty-member": batch(_gzip(first) + _gzip(b"") + _gzip(second), 2, codec=1),
        "gzip-members-beyond-a-buffer": batch(_gzip(first * 2000) + _gzip(second), 2001, codec=1),
        "gzip-garbage-behind": batch(
            _gzip(first + second) + b"more than twenty bytes of it", 2, codec=1
        ),
        "gzip-short-member-behind": batch(_gzip(first + second) + _gzip(b"")[:8], 2, codec=1),
        "wrapping-up": batch(
            record(0) + record(1, timestamp=5) + record(5) + record(9, timestamp=INT64_MIN),
            4,
            base=INT64_MAX - 2,
            last=9,
            timestamp=INT64_MAX,
            producer=(5, 1, 2**31 - 3),
        ),
        "wrapping-down": batch(
            record(-1, timestamp=-1) + record(1, timestamp=-500) + record(-(2**31)),
            3,
            base=INT64_MIN,
            last=-1,
            timestamp=INT64_MIN,
        ),
        "wrapping-time": batch(
            record(0, timestamp=INT64_MAX) + record(1, timestamp=INT64_MIN), 2, base=0
        ),
    }
    return {f"{folder}/{LOG}": data for folder, data in files.items()} | {
        f"names/{name}.log": segment(0) for name in ("-5", "+7", "5.x", "\uff11\uff12")
    }


def zstd_files() -> dict[str, bytes]:
    first, second = _zstd(record(0, TOPIC)), _zstd(record(1))
    skippable = b"\x50\x2a\x4d\x18\x03\x00\x00\x00abc"
    return {
        f"zstd-frames/{LOG}": batch(first + second, 2, codec=4),
        f"zstd-skippable-frame/{LOG}": batch(first + skippable + second, 2, codec=4),
    }


ALIKE = index_files() | producer_files() | log_files() | zstd_files()
NOT_OFFSETS = {f"names/{name}.log": segment(0) for name in ("copy", "99999999999999999999")}


def kraftool(files: Sequence[str], cwd: Path) -> bytes:
    command = [sys.executable, "-m", "kraftool", "dump-log", "-o", "kafka", *files]
    environment = {"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin"}
    done = subprocess.run(
        command, cwd=cwd, env=environment, capture_output=True, timeout=120, check=False
    )
    assert done.returncode in (0, 3), done.stderr.decode()
    return done.stdout


FILES = ALIKE | NOT_OFFSETS
ENDS_4_4 = {
    "aborted/00000000000000000006.txnindex": "Unexpected aborted transaction version 3",
}
"""Files at which the tool of 4.4 ends, and with which words."""


def write(folder: Path) -> None:
    for name, data in FILES.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(data)


def _dumped(version: str) -> dict[str, tuple[str, str]]:
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder))
        dumps = dump_each(version, list(FILES), Path(folder))
    return {
        name: (text.decode(), ending.replace(f"{folder}/", ""))
        for name, (text, ending) in dumps.items()
    }


RECORDINGS = [
    Recording(
        name="dump-log-corner-cases",
        release=version,
        command="java/DumpEach.java FILE...",
        sources=(EACH_SOURCE,),
        about=lambda: FILES,
        ask=partial(_dumped, version),
    )
    for version in DUMPING_RELEASES
]


@pytest.fixture(scope="module")
def ours(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """What kraftool wrote for each file."""
    folder = tmp_path_factory.mktemp("parity")
    write(folder)
    names = list(FILES)
    return split(kraftool(names, folder), names)


@pytest.fixture(scope="module", params=RECORDINGS, ids=lambda recording: recording.release)
def dumped(
    request: pytest.FixtureRequest, ours: dict[str, bytes]
) -> dict[str, tuple[bytes, bytes, str]]:
    """What kraftool wrote for each file, what Kafka wrote, and the exception that ended Kafka."""
    theirs = request.param.answers()
    return {name: (ours[name], theirs[name][0].encode(), theirs[name][1]) for name in FILES}


@pytest.mark.parametrize("name", ALIKE)
def test_a_corner_case_is_dumped_as_by_kafka(
    name: str, dumped: dict[str, tuple[bytes, bytes, str]]
) -> None:
    ours, theirs, ending = dumped[name]
    if ending and name in ENDS_4_4:
        assert ENDS_4_4[name] in ending
        assert ours.startswith(theirs)
        return
    assert ending == "", "the tool is to come to its end here"
    assert ours.splitlines() == theirs.splitlines()


def test_4_4_ends_at_what_4_3_prints() -> None:
    """Kraftool prints as much as 4.3 does."""
    ended = [{name for name in ALIKE if recording.answers()[name][1]} for recording in RECORDINGS]
    assert ended == [set(), {*ENDS_4_4}]


@pytest.mark.parametrize("name", NOT_OFFSETS)
def test_a_name_without_an_offset_ends_kafka_and_not_kraftool(
    name: str, dumped: dict[str, tuple[bytes, bytes, str]]
) -> None:
    ours, theirs, ending = dumped[name]
    assert ending.startswith("java.lang.NumberFormatException")
    assert theirs == f"Dumping {name}\n".encode()
    assert ours.startswith(theirs + b"baseOffset: 0 ")
