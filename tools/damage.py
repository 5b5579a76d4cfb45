"""Write fixtures/damaged: real files with one exact edit each, and what the edit is.

    python tools/damage.py          write them
    python tools/damage.py --check  compare, write nothing

Each case is a folder with the edited files and SOURCE, which names the healthy file, the edit, the
positions that a finding must name, and the exit code that `dump` must end with.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from filecmp import dircmp
from pathlib import Path

from kraftool.decoders import framing
from kraftool.decoders.batch import HEADER_SIZE, RecordBatch, encode_batch, seal
from kraftool.decoders.segment import scan

ROOT = Path(__file__).resolve().parent.parent
HEALTHY = ROOT / "fixtures" / "kafka-4.3.0" / "static-single" / "node-1" / "data"
PARTITION = HEALTHY / "__cluster_metadata-0"
DAMAGED = ROOT / "fixtures" / "damaged"
LOG = "00000000000000000000.log"


@dataclass
class Case:
    """One damaged fixture under construction."""

    name: str
    edit: str
    files: dict[str, bytes]
    positions: list[int] = field(default_factory=list)
    code: int = 3


CASES: list[Callable[[], Case]] = []


def case(maker: Callable[[], Case]) -> Callable[[], Case]:
    CASES.append(maker)
    return maker


def batches(data: bytes) -> list[RecordBatch]:
    scanned = scan(lambda at, size: data[at : at + size])
    return [item for item in scanned if isinstance(item, RecordBatch)]


def log() -> bytes:
    """The first dozen batches of a real log: enough to be damaged in the middle."""
    data = (PARTITION / LOG).read_bytes()
    return data[: batches(data)[12].position]


def checkpoint() -> tuple[str, bytes]:
    path = min(PARTITION.glob("*.checkpoint"))
    return path.name, path.read_bytes()


def flipped(data: bytes, position: int, bit: int = 0) -> bytes:
    damaged = bytearray(data)
    damaged[position] ^= 1 << bit
    return bytes(damaged)


def put(data: bytes, position: int, piece: bytes) -> bytes:
    return data[:position] + piece + data[position + len(piece) :]


@case
def torn_tail() -> Case:
    data = log()
    last = batches(data)[-1]
    cut = last.position + last.size // 2
    return Case("torn-tail", f"cut to {cut} bytes", {LOG: data[:cut]}, [last.position], code=1)


@case
def torn_header() -> Case:
    data = log()
    last = batches(data)[-1].position
    edit = f"cut to {last + 20} bytes"
    return Case("torn-header", edit, {LOG: data[: last + 20]}, [last], code=1)


@case
def flipped_bit_in_header() -> Case:
    data, at = log(), batches(log())[4].position + 23
    edit = f"bit 4 of byte {at} (lastOffsetDelta) flipped"
    return Case(
        "flipped-bit-in-header", edit, {LOG: flipped(data, at, 4)}, [batches(data)[4].position + 17]
    )


@case
def flipped_bit_in_record() -> Case:
    data = log()
    batch = batches(data)[4]
    at = batch.position + HEADER_SIZE + 12
    return Case(
        "flipped-bit-in-record",
        f"bit 0 of byte {at} flipped",
        {LOG: flipped(data, at)},
        [batch.position + 17],
    )


@case
def flipped_bit_in_crc() -> Case:
    data = log()
    at = batches(data)[4].position + 17
    return Case("flipped-bit-in-crc", f"bit 0 of byte {at} flipped", {LOG: flipped(data, at)}, [at])


@case
def absurd_batch_length() -> Case:
    data = log()
    at = batches(data)[4].position
    damaged = put(data, at + 8, b"\x7f\xff\xff\xff")
    return Case(
        "absurd-batch-length", f"length at {at + 8} set to 2147483647", {LOG: damaged}, [at]
    )


@case
def negative_batch_length() -> Case:
    data = log()
    at = batches(data)[4].position
    damaged = put(data, at + 8, b"\xff\xff\xff\xff")
    return Case("negative-batch-length", f"length at {at + 8} set to -1", {LOG: damaged}, [at])


@case
def absurd_record_length() -> Case:
    data = log()
    batch = batches(data)[4]
    body = b"\xfe\xff\xff\xff\x0f" + batch.data[HEADER_SIZE + 5 :]
    damaged = put(data, batch.position, seal(batch.header, body))
    at = batch.position + HEADER_SIZE
    edit = f"record length at {at} set to 2147483647, CRC made to fit"
    return Case("absurd-record-length", edit, {LOG: damaged}, [at])


@case
def absurd_array_length() -> Case:
    value = bytes.fromhex("010302") + bytes(20) + b"\xff\xff\xff\xff\x07"
    batch = encode_batch([(None, value)], base_offset=0, epoch=1, timestamp=1_700_000_000_000)
    return Case(
        "absurd-array-length",
        "one batch, valid CRC, with a PartitionRecord whose replicas count is 2147483646",
        {LOG: batch},
        [len(batch) - 1 - len(value) + 23],
    )


@case
def zero_filled_tail() -> Case:
    data = log()
    zeros = {LOG: data + bytes(5000)}
    return Case("zero-filled-tail", "5000 zeros appended", zeros, [len(data)], code=1)


@case
def zero_filled_middle() -> Case:
    data = log()
    batch = batches(data)[5]
    damaged = put(data, batch.position, bytes(batch.size))
    edit = f"{batch.size} bytes at {batch.position} zeroed"
    return Case("zero-filled-middle", edit, {LOG: damaged}, [batch.position])


@case
def garbage_log() -> Case:
    return Case("garbage-log", "4096 bytes of 0xA5", {LOG: b"\xa5" * 4096}, [0])


@case
def empty_files() -> Case:
    names = [
        LOG,
        "00000000000000000000.index",
        "00000000000000000000.timeindex",
        "00000000000000000000.snapshot",
        "00000000000000000010-0000000001.checkpoint",
        "leader-epoch-checkpoint",
        "partition.metadata",
        "quorum-state",
    ]
    return Case("empty-files", "every file cut to 0 bytes", dict.fromkeys(names, b""))


@case
def truncated_snapshot() -> Case:
    name, data = checkpoint()
    cut = batches(data)[1].position + 40
    return Case(
        "truncated-snapshot", f"cut to {cut} bytes", {name: data[:cut]}, [batches(data)[1].position]
    )


@case
def snapshot_without_footer() -> Case:
    name, data = checkpoint()
    cut = batches(data)[-1].position
    edit = f"the footer batch cut off: {cut} bytes left"
    return Case("snapshot-without-footer", edit, {name: data[:cut]}, code=1)


@case
def wrong_file_name() -> Case:
    _, data = checkpoint()
    name = "00000000000000009999-0000000007.checkpoint"
    return Case("wrong-file-name", f"renamed to {name}", {name: data}, code=1)


@case
def garbage_index() -> Case:
    garbage = bytes((7 * number + 3) % 256 for number in range(83))
    return Case(
        "garbage-index",
        "83 bytes of a fixed pattern in both indexes",
        {
            LOG: log(),
            "00000000000000000000.index": garbage,
            "00000000000000000000.timeindex": garbage,
        },
    )


def _one_record(name: str, value: bytes, edit: str, wrong: int) -> Case:
    data = log()
    first = batches(data)[-1].last_offset + 1
    batch = encode_batch([(None, value)], base_offset=first, epoch=1, timestamp=1_700_000_000_000)
    at = len(data) + len(batch) - 1 - len(value) + wrong
    return Case(name, edit, {LOG: data + batch}, [at])


@case
def unknown_record_type() -> Case:
    value = bytes.fromhex("01 ce10 00") + b"from the future"
    return _one_record("unknown-record-type", value, "a record of api key 2126 appended", 1)


@case
def newer_record_version() -> Case:
    value = b"\x01\x02\x09" + framing.encode_record("TopicRecord", 0, {"name": "t"})[3:]
    return _one_record("newer-record-version", value, "a TopicRecord of version 9 appended", 2)


@case
def newer_secret_version() -> Case:
    record = {"name": "eve", "mechanism": 1, "salt": b"CANARY-SALT", "iterations": 4096}
    value = b"\x01\x0b\x09" + framing.encode_record("UserScramCredentialRecord", 0, record)[3:]
    return _one_record(
        "newer-secret-version", value, "a UserScramCredentialRecord of version 9 appended", 2
    )


@case
def broken_quorum_state() -> Case:
    text = b'{"leaderId":1,"leaderEpoch":3,"votedId":-1,"votedDirec'
    return Case("broken-quorum-state", "cut inside the JSON", {"quorum-state": text})


@case
def wrong_cluster_id() -> Case:
    meta = (HEALTHY / "meta.properties").read_bytes()
    lines = [
        b"cluster.id=AnotherClusterAltogethr" if line.startswith(b"cluster.id=") else line
        for line in meta.splitlines()
    ]
    return Case(
        "wrong-cluster-id",
        "cluster.id replaced in the second of two data directories",
        {"one/meta.properties": meta, "two/meta.properties": b"\n".join(lines) + b"\n"},
        code=1,
    )


@case
def broken_text_files() -> Case:
    return Case(
        "broken-text-files",
        "leader-epoch-checkpoint, partition.metadata and meta.properties with nonsense inside",
        {
            "leader-epoch-checkpoint": b"0\n3\n1 0\nx y\n",
            "partition.metadata": b"version: 7\ntopic_id: not-an-id\n",
            "meta.properties": b"version=1\nnode.id=seven\ncluster.id=\n",
        },
    )


def write(folder: Path) -> None:
    for maker in CASES:
        made = maker()
        target = folder / made.name
        for name, data in made.files.items():
            path = target / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        source = {
            "from": "fixtures/kafka-4.3.0/static-single, by tools/damage.py",
            "edit": made.edit,
            "positions": made.positions,
            "exitCode": made.code,
        }
        (target / "SOURCE").write_text(json.dumps(source, indent=1) + "\n")


def differences(left: Path, right: Path) -> list[str]:
    """Files that differ between two folders, by name."""
    compared = dircmp(left, right, ignore=[])
    names = [*compared.left_only, *compared.right_only, *compared.diff_files]
    for name in compared.common_dirs:
        names += [f"{name}/{difference}" for difference in differences(left / name, right / name)]
    return sorted(names)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--check", action="store_true")
    if not parser.parse_args().check:
        shutil.rmtree(DAMAGED, ignore_errors=True)
        write(DAMAGED)
        return 0
    with tempfile.TemporaryDirectory() as temporary:
        write(Path(temporary))
        stale = differences(Path(temporary), DAMAGED)
    if stale:
        print(f"fixtures/damaged is stale: {', '.join(stale)}; run: python tools/damage.py")
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
