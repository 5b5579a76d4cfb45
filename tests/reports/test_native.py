"""The native module and Python give the same bytes and the same findings.

What both make of millions of logs is compared by tests/fuzz/native_checks.py in `make soak`.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from random import Random
from typing import Any

import pytest

from kraftool.decoders import fast_path
from kraftool.decoders.batch import RecordBatch, encode_batch
from kraftool.decoders.errors import KraftoolError
from kraftool.decoders.framing import encode_record
from kraftool.decoders.native_values import NativeValues
from kraftool.decoders.programs import program
from kraftool.decoders.redact import CONFIG_PATHS, MASK, SECRET_PATHS
from kraftool.decoders.schema import names
from kraftool.decoders.segment import BatchSpan
from kraftool.decoders.walk import BEGINNING, Walk
from kraftool.directory.native_reader import Taken, native_reader
from kraftool.reports.browse.blocks import RowPlace
from kraftool.reports.browse.rows import LogRow
from kraftool.reports.browse.window import LogWindow
from kraftool.reports.logs.dump import Selection
from kraftool.reports.logs.render import RenderPlan, render
from kraftool.reports.logs.threads import render_in_threads
from kraftool.reports.timeline.batches import (
    PARTITION_CHANGE_TYPE,
    PARTITIONS,
    WATCHED_TYPES,
    decode,
)
from kraftool.reports.timeline.stretches import StretchReader
from kraftool.storage.source import BytesSource
from tests.fuzz import native_checks, timeline_checks
from tests.fuzz.native_cases import TIE, formats, log, pure, record_value
from tests.support.places import FIXTURES, ROOT, distinct

STRICT = os.environ.get("KRAFTOOL_STRICT") == "1"
CASES = 3000
LONGEST = 200_000

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not fast_path.is_native(), reason="needs the native module: Rust, and make native"
    ),
]


def logs() -> list[Path]:
    """Every segment and checkpoint of the fixtures, healthy and damaged."""
    return distinct(
        path
        for path in FIXTURES.rglob("*")
        if path.suffix in (".log", ".checkpoint") and path.is_file()
    )


def batch_of(*values: bytes) -> bytes:
    return encode_batch(
        [(None, value) for value in values], base_offset=0, epoch=1, timestamp=1_700_000_000_000
    )


def plan_of(form: str, *, secrets: bool = False) -> RenderPlan:
    return RenderPlan(format=form, show_secrets=secrets)


def test_every_fixture_is_read_and_written_the_same() -> None:
    checked = 0
    for number, path in enumerate(logs()):
        data = path.read_bytes()
        if len(data) > LONGEST:
            data = data[:LONGEST]
        plans = native_checks.PLANS
        for plan in (*plans[:6], plans[6 + number % (len(plans) - 6)]):
            native_checks.check(data, plan)
        chosen = native_checks.SELECTIONS[number % len(native_checks.SELECTIONS)]
        for tail in (None, native_checks.TAILS[number % len(native_checks.TAILS)]):
            native_checks.check_entries(data, chosen, tail)
        native_checks.check_summary(data)
        native_checks.check_values(data)
        native_checks.check_replay(data, snapshot=path.suffix == ".checkpoint")
        checked += 1
    assert checked > 100


def test_most_batches_of_a_real_log_are_taken_by_the_native_module() -> None:
    path = FIXTURES / "kafka-4.3.0/many-partitions/node-1/data/__cluster_metadata-0"
    data = (path / f"{0:020}.log").read_bytes()
    batches = data.count(b"\n") and native_checks.outcome(data, plan_of("jsonl"))[0].count(
        b'"kind":"batch"'
    )
    assert len(list(native_checks.accepted(data))) > 0.9 * batches


def test_the_records_of_a_real_snapshot_are_taken_by_the_native_module() -> None:
    """Python reads the two control batches around them."""
    path = FIXTURES / "kafka-4.3.0/many-partitions/node-1/data/__cluster_metadata-0"
    snapshot = max(path.glob("*.checkpoint")).read_bytes()
    reader = native_reader()
    assert reader is not None
    for item in Walk(BytesSource("", snapshot).read_at).spans():
        assert isinstance(item, BatchSpan)
        parts = list(reader.parts(item))
        assert [isinstance(part, RecordBatch) and part.is_control for part in parts] == [
            True, False, True,
        ]  # fmt: skip
        assert isinstance(parts[1], Taken)


def _rows(path: Path, selection: Selection) -> list[LogRow]:
    """The rows of a log forwards, then backwards, a few at a time."""
    window, rows = LogWindow(str(path)), list[LogRow]()
    for pages, start in ((window.forward, window.start), (window.backward, window.end)):
        place: RowPlace | None = start
        while place is not None:
            page = pages(place, 40, selection, 50_000)
            rows += page.rows
            place = page.resume
    window.close()
    return rows


def test_the_browser_shows_the_same_rows_of_a_selection() -> None:
    shown = 0
    for number, path in enumerate(path for path in logs() if path.stat().st_size < LONGEST):
        selections = native_checks.SELECTIONS
        for selection in (selections[5], selections[number % len(selections)]):
            try:
                native = _rows(path, selection)
            except KraftoolError:
                continue  # a name by which no log is found
            with pure():
                assert native == _rows(path, selection), path
            shown += len(native)
    assert shown > 1000


def test_changed_logs_are_read_and_written_the_same() -> None:
    batches, taken = native_checks.run(seed=20, cases=CASES)
    # Only what the native module took can differ.
    assert taken > batches / 10


def test_copies_of_a_log_have_the_same_timeline() -> None:
    batches, taken = timeline_checks.run(seed=8, cases=60)
    assert taken > batches / 2


def test_the_timeline_gets_every_record_that_it_watches() -> None:
    """Of each type, and of each thing that a change of a partition may set."""
    records: list[tuple[str, int, dict[str, Any]]]
    records = [(name, version, {}) for name, version in formats()]
    records += [("PartitionChangeRecord", 2, change) for change in timeline_checks.CHANGES]
    reader, watched = StretchReader("a.log"), []
    for record in records:
        batch = RecordBatch.read(batch_of(encode_record(*record)), 0)
        content = decode("a.log", batch)
        assert reader.content(batch) == content, record
        watched += [shown.name for shown in content.records]
    assert watched.count("PartitionChangeRecord") == 5, "all changes but three"
    assert len(set(watched)) == len({*WATCHED_TYPES, PARTITION_CHANGE_TYPE, PARTITIONS})


def test_every_record_type_is_taken() -> None:
    """As Kafka writes it, without the texts and numbers that are left to Python."""
    for name, version in formats():
        data = batch_of(encode_record(name, version, {}))
        assert list(native_checks.accepted(data)) == [0], (name, version)


def test_tagged_fields_are_taken_between_those_that_have_none() -> None:
    """leaderRecoveryState has a tag, and stands before leaderEpoch, which has none."""
    value = {
        "partitionId": 1,
        "topicId": "A" * 22,
        "replicas": [1, 2],
        "isr": [1],
        "leader": 1,
        "leaderRecoveryState": 1,
        "leaderEpoch": 5,
        "eligibleLeaderReplicas": [2],
    }
    data = batch_of(encode_record("PartitionRecord", 2, value))
    assert list(native_checks.accepted(data)) == [0]
    (batch,) = Walk(BytesSource("a.log", data).read_at)
    assert isinstance(batch, RecordBatch)
    assert len(list(NativeValues().read(batch))) == 1
    native_checks.check_values(data)
    for form in native_checks.FORMATS:
        native_checks.check(data, plan_of(form))


@pytest.mark.parametrize("number", [TIE, 0.5, -0.0, 1e16, float("inf"), float("nan")])
def test_a_double_that_is_not_whole_is_left_to_python(number: float) -> None:
    value = {"entity": [], "key": "producer_byte_rate", "value": number, "remove": False}
    data = batch_of(encode_record("ClientQuotaRecord", 0, value))
    assert not list(native_checks.accepted(data))
    for form in native_checks.FORMATS:
        native_checks.check(data, plan_of(form))


def test_the_tie_has_the_digits_of_java() -> None:
    value = {"entity": [], "key": "k", "value": TIE, "remove": False}
    data = batch_of(encode_record("ClientQuotaRecord", 0, value))
    assert b'"value":1.0000076293945312,' in native_checks.outcome(data, plan_of("jsonl"))[0]


def test_a_secret_is_masked_and_a_harmless_config_is_shown() -> None:
    configs = [
        (2, "retention.ms", "harmless-1"),
        (4, "ssl.keystore.password", "SECRET-2"),
        (4, "retention.ms", "SECRET-3"),
        (99, "retention.ms", "SECRET-4"),
        (4, "listener.name.internal.ssl.keystore.password", "SECRET-5"),
        (2, "no.such.config", "SECRET-6"),
    ]
    data = b"".join(
        batch_of(
            encode_record(
                "ConfigRecord",
                0,
                {"resourceType": kind, "resourceName": "r", "name": name, "value": value},
            )
        )
        for kind, name, value in configs
    )
    scram = {"name": "u", "mechanism": 1, "salt": b"SECRET", "storedKey": b"SECRET",
             "serverKey": b"SECRET", "iterations": 4096}  # fmt: skip
    data += batch_of(encode_record("UserScramCredentialRecord", 0, scram))
    for form in ("jsonl", "csv"):
        written = native_checks.outcome(data, plan_of(form))[0]
        assert b"SECRET" not in written
        assert b"U0VDUkVU" not in written
        assert b"harmless-1" in written
        assert written.count(MASK.encode()) == len(configs) - 1 + 3
        native_checks.check(data, plan_of(form))
        native_checks.check(data, plan_of(form, secrets=True))


def test_a_record_with_secrets_has_a_program_that_masks_or_none() -> None:
    for name in names("metadata"):
        if name in SECRET_PATHS or name in CONFIG_PATHS:
            message = next(key for key, version in _keys(name))
            masked, shown = (program(message, 0, masked=hides) for hides in (True, False))
            assert masked is None or masked != shown, name


def _keys(name: str) -> list[tuple[int, int]]:
    value = encode_record(name, 0, {})
    return [(value[1], value[2])]


@pytest.mark.parametrize(
    "edit",
    [
        lambda value: value[:-1] + b"\x80\x00",  # the number of tags in two bytes
        lambda value: value[:-1] + b"\x01\x63\x00",  # a tag that nobody knows
        lambda value: value + b"\x00",
        lambda value: b"\x81\x00" + value[1:],
    ],
)
def test_what_no_kafka_writes_is_left_to_python(edit: object) -> None:
    assert callable(edit)
    data = batch_of(edit(encode_record("FenceBrokerRecord", 0, {"id": 1, "epoch": 2})))
    assert not list(native_checks.accepted(data))
    native_checks.check(data, plan_of("jsonl"))


def test_a_batch_that_the_native_module_leaves_does_not_end_its_work() -> None:
    """Python takes the batches in between, and the native module goes on behind them."""
    random = Random(3)
    batches = []
    for number in range(200):
        value = record_value(random) if number % 7 else b"\x01\x7f\x00"
        made = bytearray(batch_of(value))
        made[:8] = number.to_bytes(8, "big")
        batches.append(bytes(made))
    data = b"".join(batches)
    taken = list(native_checks.accepted(data))
    assert taken
    assert taken[-1] > 150
    for form in native_checks.FORMATS:
        native_checks.check(data, plan_of(form))


def test_a_batch_that_is_decoded_late_does_not_take_back_the_name_of_a_topic() -> None:
    """The last entries of a dump are decoded at its end, when all topics are known."""
    topic = "AAAAAAAAAAAAAAAAAAAAAA"
    named = [
        batch_of(encode_record("TopicRecord", 0, {"name": name, "topicId": topic}))
        for name in ("first", "second")
    ]
    for tail in (2, 3):
        native_checks.check_entries(_wide(named), Selection(last_offset=0), tail)


def _wide(batches: list[bytes]) -> bytes:
    """Batches as a log, each at the offset behind the one before."""
    data, offset = [], 0
    for made in batches:
        data.append(offset.to_bytes(8, "big") + made[8:])
        offset += int.from_bytes(made[23:27], "big") + 1
    return b"".join(data)


def _large(plain: bytes, other: bytes, *, every: int) -> bytes:
    return _wide([other if number % every == every - 1 else plain for number in range(4000)])


@pytest.mark.parametrize("every", [10_000, 50, 3, 1])
@pytest.mark.parametrize("form", native_checks.FORMATS)
def test_threads_give_the_same_pieces_in_order(form: str, every: int) -> None:
    """A log that is plain, one that is so for the most part, and some that processes take."""
    value = encode_record("TopicRecord", 0, {"name": "orders", "topicId": "A" * 22})
    plain = batch_of(*[value] * 20)
    data = bytearray(_large(plain, batch_of(*[value] * 19, b"\x01\x7f\x00"), every=every))
    data[len(data) // 2] ^= 1  # a batch with a wrong CRC
    data += data[:100]  # and half a batch at the end
    source = BytesSource("a,b.log", bytes(data))
    plan = plan_of(form)
    expected = native_checks.outcome(bytes(data), plan)
    written, problems = bytearray(), []
    rendering = render_in_threads(plan, "a,b.log", source.read_at, 2, BEGINNING)
    while True:
        try:
            piece = next(rendering)
        except StopIteration as end:
            rest = end.value
            break
        written += piece.data
        problems += piece.problems
        state = piece.state
    assert (rest is None) == (every > 1)
    if rest is not None:
        for piece in render(plan, "a,b.log", source.read_at, rest):
            written += piece.data
            problems += piece.problems
            state = piece.state
    assert (bytes(written), problems, state) == expected


def test_a_stale_module_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fast_path, "BUILD_ID", "another")
    described = fast_path._described()
    assert "stale" in described
    monkeypatch.setattr(fast_path, "described", described)
    assert not fast_path.is_native()


@pytest.mark.parametrize(("asked", "path"), [("1", "pure Python"), ("0", "native")])
def test_the_version_names_the_path(asked: str, path: str) -> None:
    command = [sys.executable, "-m", "kraftool", "--version"]
    environment = os.environ | {"KRAFTOOL_PURE": asked}
    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True
    )
    assert f"({path}" in done.stdout


def test_random_logs_have_what_is_plain_and_what_is_not() -> None:
    random = Random(5)
    made = [log(random) for _ in range(200)]
    taken = [list(native_checks.accepted(data)) for data in made]
    assert any(taken)
    assert not all(taken)
