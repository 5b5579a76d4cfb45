"""The form of a snapshot: its voters, its control records, and what stands where in the file.

Each rule on a snapshot that breaks it and on a near miss that does not.
"""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kraftool.decoders.batch import HEADER_SIZE, RecordBatch, encode_batch, seal
from kraftool.decoders.control import ControlRecordType, encode_key, encode_value
from kraftool.decoders.framing import encode_record
from kraftool.image.uuids import LOST
from tests.reports.snapshot_cases import Snapshot, codes, the_one

Change = Callable[[Snapshot], object]
OTHER_ID = "AAAAAAAAAAAAAAAAAAAAZw"
NO_ID = "AAAAAAAAAAAAAAAAAAAAAA"


# --- voters and kraft.version -------------------------------------------------------------------

VERSION, VOTERS = ControlRecordType.KRAFT_VERSION, ControlRecordType.KRAFT_VOTERS
HEADER, FOOTER = ControlRecordType.SNAPSHOT_HEADER, ControlRecordType.SNAPSHOT_FOOTER


def voter(**changed: object) -> Change:
    return lambda snapshot: snapshot.voters[0].update(changed)


def supports(low: int, high: int) -> Change:
    return voter(kRaftVersionFeature={"minSupportedVersion": low, "maxSupportedVersion": high})


BAD_VOTERS: dict[str, Change] = {
    "none": lambda snapshot: snapshot.voters.clear(),
    "one id twice": lambda snapshot: snapshot.voters.append(dict(snapshot.voters[0])),
    "a negative id": voter(voterId=-1),
    "no directory id": voter(voterDirectoryId=NO_ID),
    "a reserved directory id": voter(voterDirectoryId=LOST),
    "no endpoint": voter(endpoints=[]),
    "a voter that is too old": supports(0, 0),
    "a voter that is too new": supports(2, 3),
}


@pytest.mark.parametrize("name", BAD_VOTERS)
def test_a_voter_set_that_kafka_never_writes_is_found(
    name: str, snapshot: Snapshot, tmp_path: Path
) -> None:
    BAD_VOTERS[name](snapshot)
    assert set(codes(snapshot.write(tmp_path))) == {"VOTERS"}


@pytest.mark.parametrize(
    "change",
    [
        lambda snapshot: snapshot.voters.reverse(),
        lambda snapshot: snapshot.voters.pop(),
        supports(1, 1),
        supports(0, 7),
        voter(voterDirectoryId=OTHER_ID),
    ],
    ids=["another order", "one less", "1 only", "more", "another directory"],
)
def test_other_voters_are_no_fault_of_the_snapshot_alone(
    change: Change, snapshot: Snapshot, tmp_path: Path
) -> None:
    change(snapshot)
    assert codes(snapshot.write(tmp_path)) == []


def test_voters_go_with_a_kraft_version(snapshot: Snapshot, tmp_path: Path) -> None:
    del snapshot.controls[VOTERS]
    assert codes(snapshot.write(tmp_path)) == ["KRAFT-VERSION"]
    del snapshot.controls[VERSION]
    assert codes(snapshot.write(tmp_path)) == []


@pytest.mark.parametrize("version", [-1, 2, 77])
def test_a_kraft_version_that_kafka_does_not_have_is_found(
    version: int, snapshot: Snapshot, tmp_path: Path
) -> None:
    for entry in snapshot.voters:
        entry["kRaftVersionFeature"] = {"minSupportedVersion": -1, "maxSupportedVersion": 99}
    changed = control(
        (HEADER, snapshot.controls[HEADER]),
        (VERSION, {"version": 0, "kRaftVersion": version}),
        (VOTERS, snapshot.controls[VOTERS]),
    )
    path = snapshot.write(tmp_path, lambda chunks: [changed, *chunks[1:]])
    assert codes(path) == ["KRAFT-VERSION"]


def test_voters_without_a_kraft_version_are_found(snapshot: Snapshot, tmp_path: Path) -> None:
    for entry in snapshot.voters:
        entry["kRaftVersionFeature"] = {"minSupportedVersion": 0, "maxSupportedVersion": 1}
    changed = control(
        (HEADER, snapshot.controls[HEADER]), (VOTERS, snapshot.controls[VOTERS]), padding=True
    )
    path = snapshot.write(tmp_path, lambda chunks: [changed, *shifted(chunks[1:], 0)])
    assert set(codes(path)) == {"KRAFT-VERSION", "FORM"}


# --- what stands where --------------------------------------------------------------------------


def control(
    *records: tuple[ControlRecordType, Any], base_offset: int = 0, padding: bool = False
) -> bytes:
    """A control batch; `padding` adds a LeaderChange, which has no place there."""
    encoded = [(encode_key(kind), encode_value(kind, value)) for kind, value in records]
    if padding:
        value = {"version": 0, "leaderId": 1, "voters": [], "grantingVoters": []}
        kind = ControlRecordType.LEADER_CHANGE
        encoded.append((encode_key(kind), encode_value(kind, value)))
    return encode_batch(encoded, base_offset=base_offset, epoch=3, timestamp=1, control=True)


def shifted(chunks: list[bytes], by: int) -> list[bytes]:
    """Batches with other base offsets, which no CRC covers."""
    return [
        (int.from_bytes(chunk[:8], "big") + by).to_bytes(8, "big") + chunk[8:] for chunk in chunks
    ]


def sealed(chunk: bytes, body: bytes | None = None, **header: int) -> bytes:
    batch = RecordBatch.read(chunk)
    return seal(batch.header._replace(**header), chunk[HEADER_SIZE:] if body is None else body)


def flipped(chunk: bytes) -> bytes:
    return chunk[:-3] + bytes([chunk[-3] ^ 1]) + chunk[-2:]


def other_body(chunk: bytes, old: bytes, new: bytes) -> bytes:
    assert len(old) == len(new)
    return sealed(chunk, chunk[HEADER_SIZE:].replace(old, new, 1))


FORMS: dict[str, tuple[set[str], Callable[[list[bytes]], list[bytes]]]] = {
    "no header": ({"FORM"}, lambda c: shifted(c[1:], -3)),
    "no footer": ({"FORM"}, lambda c: c[:-1]),
    "the footer before the data": (
        {"FORM"}, lambda c: [c[0], *shifted(c[2:], -77), *shifted([c[1]], 1)]),
    "a batch behind the footer": (
        {"FORM"}, lambda c: [*c, control((FOOTER, {"version": 0}), base_offset=81)]),
    "a footer twice": (
        {"FORM"}, lambda c: [*c[:-1], control((FOOTER, {"version": 0}), (FOOTER, {"version": 0}),
                                              base_offset=80)]),
    "bytes behind the footer": ({"DAMAGE"}, lambda c: [*c, b"\x01" * 80]),
    "offsets that begin at 1": ({"FORM"}, lambda c: shifted(c, 1)),
    "a gap": ({"DAMAGE"}, lambda c: [c[0], *shifted(c[1:], 1)]),
    "a bit": ({"DAMAGE"}, lambda c: [c[0], flipped(c[1]), c[2]]),
    "another epoch": (
        {"FILE-NAME"}, lambda c: [sealed(part, partition_leader_epoch=4) for part in c]),
    "another epoch in one batch": (
        {"FILE-NAME"}, lambda c: [*c[:-1], sealed(c[-1], partition_leader_epoch=4)]),
    "control records in the middle": (
        {"FORM"},
        lambda c: [*c[:-1], control((VERSION, {"version": 0, "kRaftVersion": 1}), base_offset=80),
                   *shifted(c[-1:], 1)]),
    "a compressed batch": (
        {"BATCH-FORM"},
        lambda c: [c[0], sealed(c[1], gzip.compress(c[1][HEADER_SIZE:]), attributes=1), c[2]]),
    "a producer": ({"BATCH-FORM"}, lambda c: [c[0], sealed(c[1], producer_id=5), c[2]]),
    "two times in a batch": (
        {"BATCH-FORM"}, lambda c: [c[0], sealed(c[1], max_timestamp=1 << 41), c[2]]),
}  # fmt: skip


@pytest.mark.parametrize("name", FORMS)
def test_another_form_is_found(name: str, snapshot: Snapshot, tmp_path: Path) -> None:
    expected, change = FORMS[name]
    path = snapshot.write(tmp_path, change)
    assert set(codes(path)) == expected


def test_more_batches_of_data_are_no_fault(snapshot: Snapshot, tmp_path: Path) -> None:
    count = len(snapshot.records)
    values = [(None, encode_record(*record)) for record in snapshot.records]

    def split(chunks: list[bytes]) -> list[bytes]:
        first = encode_batch(values[:40], base_offset=3, epoch=3, timestamp=5)
        second = encode_batch(values[40:], base_offset=43, epoch=3, timestamp=6)
        return [chunks[0], first, second, chunks[-1]]

    assert count == 77
    assert codes(snapshot.write(tmp_path, split)) == []


def test_a_record_with_a_time_of_its_own_kills_kafka(snapshot: Snapshot, tmp_path: Path) -> None:
    def change(chunks: list[bytes]) -> list[bytes]:
        body = bytearray(chunks[1][HEADER_SIZE:])
        assert body[1:3] == b"\x00\x00" or body[2:4] == b"\x00\x00"
        at = 2 if body[0] < 0x80 else 3
        body[at] = 2
        return [chunks[0], sealed(chunks[1], bytes(body)), chunks[2]]

    assert codes(snapshot.write(tmp_path, change)) == ["RECORD-FORM"]


def test_bytes_left_in_a_record_are_damage(snapshot: Snapshot, tmp_path: Path) -> None:
    values = [(None, encode_record(*record)) for record in snapshot.records]
    values[5] = (None, (values[5][1] or b"") + b"\x00")

    def change(chunks: list[bytes]) -> list[bytes]:
        return [
            chunks[0],
            encode_batch(values, base_offset=3, epoch=3, timestamp=5),
            chunks[2],
        ]

    path = snapshot.write(tmp_path, change)
    assert codes(path) == ["DAMAGE"]
    assert the_one("DAMAGE", path).undecoded


def test_behind_damage_nothing_is_judged(snapshot: Snapshot, tmp_path: Path) -> None:
    # Without its topics each partition would be one of an unknown topic.
    values = [(None, encode_record(*record)) for record in snapshot.records]
    at = snapshot.at("TopicRecord")

    def change(chunks: list[bytes]) -> list[bytes]:
        front = encode_batch(values[: at + 1], base_offset=3, epoch=3, timestamp=5)
        rest = encode_batch(values[at + 1 :], base_offset=4 + at, epoch=3, timestamp=5)
        return [chunks[0], flipped(front), rest, chunks[2]]

    assert codes(snapshot.write(tmp_path, change)) == ["DAMAGE"]


def test_a_negative_time_in_the_header_is_found(snapshot: Snapshot, tmp_path: Path) -> None:
    snapshot.controls[HEADER]["lastContainedLogTimestamp"] = -7
    assert codes(snapshot.write(tmp_path)) == ["FORM"]
