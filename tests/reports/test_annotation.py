"""Annotated files: every byte in exactly one row, its meaning right, and no secret in any row."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kraftool.decoders import codec, control, framing
from kraftool.decoders.batch import encode_batch
from kraftool.decoders.errors import KraftoolError
from kraftool.decoders.kinds import FileKind, detect
from kraftool.decoders.redact import MASK
from kraftool.reports.explain.annotation import ExplainRequest, Rest, Row, explain
from tests.support.places import FIXTURES, LOG, distinct

CANARY = "CANARY"
TIME = 1_700_000_000_000


def annotate(
    name: str,
    data: bytes,
    kind: FileKind | None = None,
    *,
    position: int | None = None,
    offset: int | None = None,
    units: int | None = 0,
    show_secrets: bool = False,
) -> tuple[list[Row], Rest | None]:
    request = ExplainRequest(
        position=position, offset=offset, units=units, show_secrets=show_secrets
    )
    kind = kind or detect(name, data[:4096], len(data)).kind
    items = list(explain(name, kind, lambda at, size: data[at : at + size], len(data), request))
    rest = items.pop() if items and isinstance(items[-1], Rest) else None
    rows = [item for item in items if isinstance(item, Row)]
    assert len(rows) == len(items), "a rest stands at the end only"
    return rows, rest if isinstance(rest, Rest) else None


def leaves(rows: Iterable[Row]) -> list[Row]:
    return [row for row in rows if not row.group]


def assert_tiled(rows: list[Row], data: bytes, start: int = 0, end: int | None = None) -> None:
    """Each byte from start to end is in one row, with its own bytes unless they are withheld."""
    position = start
    for row in leaves(rows):
        assert row.position == position, row
        assert row.size > 0, row
        expected = data[row.position : row.end]
        if row.secret:
            assert row.data == b""
        elif len(row.data) < row.size:
            assert row.type == "raw bytes"
            assert expected.startswith(row.data)
        else:
            assert row.data == expected
        position = row.end
    assert position == (len(data) if end is None else end)
    assert not any(row.data for row in rows if row.group)


def record(name: str, version: int, value: codec.Value) -> tuple[None, bytes]:
    return None, framing.encode_record(name, version, value)


def log(
    *records: tuple[bytes | None, bytes | None], offset: int = 0, is_control: bool = False
) -> bytes:
    return encode_batch(records, base_offset=offset, epoch=3, timestamp=TIME, control=is_control)


def field(rows: list[Row], path: str, kind: str = "") -> Row:
    (row,) = [row for row in leaves(rows) if row.field == path and (not kind or row.type == kind)]
    return row


TOPIC = record("TopicRecord", 0, {"name": "orders", "topicId": "A" * 21 + "Q"})
SCRAM = record(
    "UserScramCredentialRecord",
    0,
    {
        "name": "alice",
        "mechanism": 1,
        "salt": b"CANARY-salt",
        "storedKey": b"CANARY-stored",
        "serverKey": b"CANARY-server",
        "iterations": 4096,
    },
)
PASSWORD = record(
    "ConfigRecord",
    0,
    {"resourceType": 4, "resourceName": "1", "name": "ssl.key.password", "value": "CANARY-ssl"},
)
RETENTION = record(
    "ConfigRecord",
    0,
    {"resourceType": 2, "resourceName": "t", "name": "retention.ms", "value": "1000"},
)


def fixture_files() -> Iterator[Path]:
    root = FIXTURES
    for path in sorted(root.glob("**/*")):
        if path.is_file() and path.stat().st_size < 200_000 and path.name != "SOURCE":
            head = path.read_bytes()[:4096]
            if detect(path.name, head, path.stat().st_size).kind is not FileKind.UNKNOWN:
                yield path


FILES = distinct(fixture_files())


def test_there_are_fixtures_of_every_kind() -> None:
    kinds = {
        detect(path.name, path.read_bytes()[:4096], path.stat().st_size).kind for path in FILES
    }
    assert {
        FileKind.LOG,
        FileKind.CHECKPOINT,
        FileKind.BOOTSTRAP_CHECKPOINT,
        FileKind.QUORUM_STATE,
        FileKind.META_PROPERTIES,
        FileKind.LEADER_EPOCH_CHECKPOINT,
        FileKind.OFFSET_CHECKPOINT,
        FileKind.PARTITION_METADATA,
        FileKind.OFFSET_INDEX,
        FileKind.TIME_INDEX,
        FileKind.PRODUCER_STATE,
    } <= kinds


def test_each_byte_of_the_fixtures_is_in_one_row_and_no_secret_in_any() -> None:
    for number, path in enumerate(FILES):
        # A third of some 1500 files a run would do; the damaged ones are all of them worth it.
        if number % 4 and "damaged" not in path.parts:
            continue
        data = path.read_bytes()
        rows, rest = annotate(path.name, data)
        assert rest is None
        assert_tiled(rows, data)
        for row in rows:
            shown = f"{row.field}{row.value}{row.note}{row.problem}"
            assert CANARY not in shown, (path, row)
            assert CANARY.encode() not in row.data, (path, row)
        if "damaged" not in path.parts and path.suffix != ".properties":
            assert not [row for row in rows if row.problem], path


def test_secrets_are_shown_on_demand_only() -> None:
    data = log(SCRAM, PASSWORD, RETENTION)
    masked, _ = annotate(LOG, data)
    for path in ("salt", "storedKey", "serverKey"):
        row = field(masked, f"records[0].value.{path}", "bytes")
        assert (row.value, row.data, row.secret) == (MASK, b"", True)
    assert field(masked, "records[0].value.iterations").value == 4096
    assert field(masked, "records[1].value.name", "string").value == "ssl.key.password"
    assert field(masked, "records[1].value.value", "string").secret
    assert field(masked, "records[2].value.value", "string").value == "1000"
    assert_tiled(masked, data)
    shown, _ = annotate(LOG, data, show_secrets=True)
    assert field(shown, "records[0].value.salt", "bytes").data == b"CANARY-salt"
    assert field(shown, "records[1].value.value", "string").value == "CANARY-ssl"
    assert not any(row.secret for row in shown)
    assert_tiled(shown, data)


def test_a_record_says_its_field_type_and_value_at_each_position() -> None:
    rows, _ = annotate(LOG, log(TOPIC, offset=41))
    facts = [(row.position, row.size, row.field, row.type, row.value) for row in leaves(rows)]
    assert facts[:3] == [
        (0, 8, "baseOffset", "int64", 41),
        (8, 4, "length", "int32", 83),
        (12, 4, "partitionLeaderEpoch", "int32", 3),
    ]
    assert facts[13:] == [
        (61, 1, "records[0].length", "varint", 33),
        (62, 1, "records[0].attributes", "int8", 0),
        (63, 1, "records[0].timestampDelta", "varlong", 0),
        (64, 1, "records[0].offsetDelta", "varint", 0),
        (65, 1, "records[0].key", "length (varint)", None),
        (66, 1, "records[0].value", "length (varint)", 27),
        (67, 1, "records[0].value.frameVersion", "uvarint", 1),
        (68, 1, "records[0].value.apiKey", "uvarint", 2),
        (69, 1, "records[0].value.version", "uvarint", 0),
        (70, 1, "records[0].value.name", "length (uvarint)", 6),
        (71, 6, "records[0].value.name", "string", "orders"),
        (77, 16, "records[0].value.topicId", "uuid", "A" * 21 + "Q"),
        (93, 1, "records[0].value.taggedFields", "count (uvarint)", 0),
        (94, 1, "records[0].headers", "count (varint)", 0),
    ]
    assert field(rows, "baseTimestamp").note == "2023-11-14T22:13:20.000Z"
    assert field(rows, "records[0].value.apiKey").note == "TOPIC_RECORD"
    assert [row.note for row in rows if row.type == "record"] == ["offset 41, TOPIC_RECORD"]


def test_a_control_record_is_read_by_the_type_in_its_key() -> None:
    kind = control.ControlRecordType.KRAFT_VERSION
    value = control.encode_value(kind, {"version": 0, "kRaftVersion": 1})
    marker = control.encode_value(control.ControlRecordType.ABORT, {"coordinatorEpoch": 9})
    data = log((control.encode_key(kind), value), is_control=True)
    abort = control.encode_key(control.ControlRecordType.ABORT)
    data += log((abort, marker), offset=1, is_control=True)
    rows, _ = annotate(LOG, data)
    types = [row for row in rows if row.field == "records[0].key.type"]
    assert [row.note for row in types] == ["KRaftVersion", "Abort"]
    assert field(rows, "records[0].value.kRaftVersion").value == 1
    assert field(rows, "records[0].value.coordinatorEpoch").value == 9
    assert_tiled(rows, data)


def test_the_row_of_a_position_and_the_batch_of_an_offset_are_marked() -> None:
    data = log(TOPIC) + log(TOPIC, TOPIC, offset=1) + log(TOPIC, offset=3)
    size = len(log(TOPIC))
    rows, rest = annotate(LOG, data, position=size + 80, units=1)
    assert [(row.field, row.position) for row in rows if row.marked] == [
        ("records[0].value.topicId", size + 77)
    ]
    assert_tiled(rows, data, size, len(data) - size)
    assert rest == Rest(position=len(data) - size, size=size)
    rows, rest = annotate(LOG, data, offset=2, units=1)
    assert [row.field for row in rows if row.marked] == ["records[1]"]
    rows, rest = annotate(LOG, data, offset=2)
    assert rest is None


@pytest.mark.parametrize("request_", [{"position": 96}, {"position": 10**12}, {"offset": 7}])
def test_what_the_file_does_not_hold_is_a_sentence(request_: dict[str, Any]) -> None:
    with pytest.raises(KraftoolError, match=r"none at position|no batch of this file"):
        annotate(LOG, log(TOPIC)[:96], **request_)


def test_a_record_type_of_a_newer_kafka_is_shown_by_its_bytes() -> None:
    data = log((None, b"\x01\xff\x01\x00newer"), TOPIC)
    rows, _ = annotate(LOG, data)
    (raw,) = [row for row in rows if row.type == "raw bytes"]
    assert (raw.data, raw.problem) == (b"newer", "not in the catalogue: api key 255")
    assert field(rows, "records[1].value.name", "string").value == "orders"


def test_a_newer_version_of_a_secret_record_is_withheld() -> None:
    data = log((None, b"\x01\x0b\x09CANARY"))
    rows, _ = annotate(LOG, data)
    (raw,) = [row for row in rows if row.type == "raw bytes"]
    assert (raw.secret, raw.data, raw.size) == (True, b"", 6)
    assert "version 9 of USER_SCRAM_CREDENTIAL_RECORD" in raw.problem


def test_damage_inside_a_record_is_marked_and_the_next_is_read() -> None:
    data = bytearray(log(TOPIC, TOPIC))
    data[70] = 0x7F  # the length of the name
    rows, _ = annotate(LOG, bytes(data))
    assert_tiled(rows, bytes(data))
    (crc, name) = [row for row in rows if row.problem]
    assert crc.field == "crc"
    assert (name.field, name.position) == ("records[0].value.name", 70)
    assert "end before" in name.problem
    assert field(rows, "records[1].value.name", "string").value == "orders"


def test_a_torn_tail_is_read_as_far_as_it_goes() -> None:
    whole = log(TOPIC)
    data = whole + log(TOPIC, TOPIC, offset=1)[:-20]
    rows, _ = annotate(LOG, data)
    assert_tiled(rows, data)
    assert [row.type for row in rows if row.field == "damage"] == ["torn tail"]
    names = [row.value for row in rows if row.field == "records[0].value.name" and row.data]
    assert names.count("orders") == 2, "the whole batch, and the first record of the torn one"


def test_a_zero_filled_tail_is_one_row_of_its_full_size() -> None:
    data = log(TOPIC) + bytes(100_000)
    rows, _ = annotate(LOG, data)
    assert (rows[-1].value, rows[-1].size) == ("zeros", 100_000)
    assert_tiled(rows, data)


@settings(max_examples=max(settings().max_examples, 100))
@given(
    st.lists(
        st.tuples(st.integers(0, 2000), st.integers(0, 255), st.sampled_from(["set", "cut"])),
        min_size=1,
        max_size=2,
    )
)
def test_damage_never_shows_a_secret_nor_loses_a_byte(
    accidents: list[tuple[int, int, str]],
) -> None:
    data = log(TOPIC, SCRAM) + log(PASSWORD, RETENTION, SCRAM, offset=2) + log(TOPIC, offset=5)
    for at, byte, how in accidents:
        at %= len(data)
        data = data[:at] + (bytes([byte]) + data[at + 1 :] if how == "set" else b"")
        if not data:
            return
    rows, _ = annotate(LOG, data, kind=FileKind.LOG)
    assert_tiled(rows, data)
    # A single damaged byte cannot make a secret look harmless; two might.
    if len(accidents) == 1:
        for row in rows:
            assert CANARY.encode() not in row.data, row
            assert CANARY not in f"{row.value}{row.field}{row.problem}", row


@given(st.binary(max_size=300), st.sampled_from([k for k in FileKind if k is not FileKind.UNKNOWN]))
def test_any_bytes_taken_for_any_kind_are_tiled(data: bytes, kind: FileKind) -> None:
    rows, _ = annotate("file", data, kind=kind)
    assert_tiled(rows, data)


def test_index_entries_say_the_offset_that_they_stand_for() -> None:
    data = (5).to_bytes(4, "big") + (4096).to_bytes(4, "big") + bytes(800)
    rows, rest = annotate("00000000000000000100.index", data)
    assert [(row.field, row.value, row.note) for row in rows] == [
        ("entries[0].relativeOffset", 5, "offset 105"),
        ("entries[0].position", 4096, ""),
        ("unused", "zeros", ""),
    ]
    assert rest is None
    assert_tiled(rows, data)


def test_an_index_goes_on_from_the_entry_of_a_position() -> None:
    data = b"".join(n.to_bytes(4, "big") + (n * 10).to_bytes(4, "big") for n in range(1, 101))
    rows, rest = annotate("00000000000000000000.index", data, units=10)
    assert rest == Rest(position=80, size=720)
    rows, rest = annotate("00000000000000000000.index", data, position=85, units=2)
    assert (rows[0].position, rest) == (80, Rest(position=96, size=704))
    assert [row.field for row in rows if row.marked] == ["entries[10].position"]


def test_quorum_state_is_told_member_by_member() -> None:
    data = b'{"leaderId":2,"leaderEpoch":3,"votedId":-1,"votedDirectoryId":"AA","data_version":1}'
    rows, _ = annotate("quorum-state", data)
    assert [(row.field, row.value) for row in rows if row.field] == [
        ("leaderId", "2"),
        ("leaderEpoch", "3"),
        ("votedId", "-1"),
        ("votedDirectoryId", '"AA"'),
        ("data_version", "1"),
    ]
    assert [row.field for row in rows if row.problem] == ["votedDirectoryId"]
    assert_tiled(rows, data)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{",
        b"{}",
        b'{"a":1',
        b'{"a":[[[',
        b'{"a":1,}',
        b"null\n{}",
        b'{"a":1} x\ny',
        b"\xff\n",
    ],
)
def test_broken_quorum_state_keeps_every_byte(data: bytes) -> None:
    rows, _ = annotate("quorum-state", data)
    assert_tiled(rows, data)


def test_properties_that_are_not_harmless_are_withheld() -> None:
    data = (
        b"# a comment\n#ssl.key.password=CANARY-1\nnode.id=1\n"
        b"ssl.keystore.password=CANARY-2\\\n  CANARY-3\nunheard.of=CANARY-4\n"
    )
    rows, _ = annotate("server.properties", data)
    assert_tiled(rows, data)
    assert [(row.field, row.value) for row in rows] == [
        ("", "# a comment"),
        ("", MASK),
        ("node.id", "1"),
        ("ssl.keystore.password", MASK),
        ("unheard.of", MASK),
    ]
    rows, _ = annotate("server.properties", data, show_secrets=True)
    assert not any(row.secret for row in rows)


def test_only_logs_have_offsets() -> None:
    with pytest.raises(KraftoolError, match="offset 3"):
        annotate("quorum-state", b"{}", offset=3)


def test_a_kind_that_is_not_known_is_refused() -> None:
    with pytest.raises(KraftoolError, match="no known kind"):
        annotate("x.bin", b"\x00\x01", kind=FileKind.UNKNOWN)
