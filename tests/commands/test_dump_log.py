"""`kraftool dump-log`: byte for byte what kafka-dump-log prints, and what it adds."""

import csv
import io
import json
import os
import re
import tarfile
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from kraftool.commands import log_run
from kraftool.decoders import framing
from kraftool.decoders.batch import RecordBatch, encode_batch
from kraftool.decoders.walk import Walk
from kraftool.reports.logs import parallel as log_parallel
from kraftool.storage.source import FileSource
from tests.commands.dumped_logs import Run, offsets, transaction_log
from tests.support.places import LOG

pytestmark = pytest.mark.slow

PARTITION = "static-single/node-1/data/__cluster_metadata-0"


@pytest.fixture
def partition(fixtures_dir: Path) -> Path:
    return fixtures_dir / "kafka-4.3.0" / PARTITION


def test_jsonl_carries_the_payloads_of_the_kafka_format(partition: Path, kraftool: Run) -> None:
    text = kraftool("dump-log", "-o", "kafka", partition / LOG).text
    payloads = [
        line.partition(" payload: ")[2] for line in text.splitlines() if " payload: " in line
    ]
    lines = kraftool("dump-log", "-o", "jsonl", "--show-secrets", partition / LOG).out.splitlines()
    records = [line for line in lines if b'"kind":"record"' in line and b'"control":false' in line]
    assert len(payloads) == len(records) > 100
    for payload, record in zip(payloads, records, strict=True):
        assert record.decode().endswith(payload[1:]), payload


@pytest.mark.parametrize("processes", [1, 2])
def test_offsets_that_are_missing_between_two_segments_are_damage(
    processes: int, partition: Path, tmp_path: Path, kraftool: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As dump and verify-log report it. Between segments that are named by themselves others may
    lie."""
    monkeypatch.setattr(log_run, "WORTH_SPLITTING", 0)
    folder = tmp_path / "__cluster_metadata-0"
    folder.mkdir()
    data = (partition / LOG).read_bytes()
    with FileSource(str(partition / LOG)) as source:
        first, _, third = islice(Walk(source.read_at), 3)
    assert isinstance(third, RecordBatch)
    assert isinstance(first, RecordBatch)
    (folder / LOG).write_bytes(first.data)
    (folder / f"{third.base_offset:020}.log").write_bytes(data[third.position :])
    ran = kraftool("dump-log", "-o", "jsonl", "--jobs", str(processes), folder)
    assert ran.code == 1
    gaps = [entry for line in ran.out.splitlines() if "damage" in (entry := json.loads(line))]
    assert [(gap["damage"], gap["position"]) for gap in gaps] == [("gap", 0)]
    assert f"expected {first.last_offset + 1}, found {third.base_offset}" in gaps[0]["reason"]
    assert kraftool("dump-log", "-o", "jsonl", *sorted(folder.glob("*.log"))).code == 0


def test_segments_in_no_order_are_not_compared(
    partition: Path, tmp_path: Path, kraftool: Run
) -> None:
    """A tar has its members in any order, and a directory may be named twice."""
    folder = tmp_path / "__cluster_metadata-0"
    folder.mkdir()
    with FileSource(str(partition / LOG)) as source:
        for batch in islice(Walk(source.read_at), 3):
            assert isinstance(batch, RecordBatch)
            (folder / f"{batch.base_offset:020}.log").write_bytes(batch.data)
    assert kraftool("dump-log", "-o", "jsonl", folder, folder).code == 0
    with tarfile.open(tmp_path / "unsorted.tar", "w") as tar:
        for path in sorted(folder.iterdir(), reverse=True):
            tar.add(path, f"{folder.name}/{path.name}")
    assert kraftool("dump-log", "-o", "jsonl", tmp_path / "unsorted.tar").code == 0


def test_json_is_one_document_with_the_same_entries(partition: Path, kraftool: Run) -> None:
    document = json.loads(kraftool("dump-log", "-o", "json", partition).out)
    lines = kraftool("dump-log", "-o", "jsonl", partition).out.splitlines()
    assert document["schemaVersion"] == 3
    assert document["entries"] == [json.loads(line) for line in lines]


def test_csv_has_a_row_for_each_record(partition: Path, kraftool: Run) -> None:
    rows = list(csv.DictReader(io.StringIO(kraftool("dump-log", "-o", "csv", partition).text)))
    lines = kraftool("dump-log", "-o", "jsonl", partition).out.splitlines()
    records = [json.loads(line) for line in lines if b'"kind":"record"' in line]
    assert [int(row["offset"]) for row in rows] == [record["offset"] for record in records]
    assert [json.loads(row["data"]) for row in rows] == [record["data"] for record in records]


def test_a_directory_is_its_segments_and_with_snapshots_its_checkpoints_too(
    partition: Path, kraftool: Run
) -> None:
    plain = kraftool("dump-log", "-o", "jsonl", partition.parent)
    files = {json.loads(line)["file"] for line in plain.out.splitlines()}
    assert files == {str(partition / LOG)}
    more = kraftool("dump-log", "-o", "jsonl", "--snapshots", partition.parent)
    files = {json.loads(line)["file"] for line in more.out.splitlines()}
    assert files == {str(p) for p in partition.glob("*.checkpoint")} | {str(partition / LOG)}


@pytest.mark.parametrize(
    ("range_", "expected"),
    [("15..17", [15, 16, 17]), ("3", [3]), ("..2", [0, 1, 2])],
)
def test_offsets_are_inclusive(
    partition: Path, kraftool: Run, range_: str, expected: list[int]
) -> None:
    ran = kraftool("dump-log", "-o", "jsonl", "--offsets", range_, partition)
    assert offsets(ran.out) == expected


def test_types_are_found_in_any_spelling(partition: Path, kraftool: Run) -> None:
    outputs = [
        kraftool("dump-log", "-o", "jsonl", "--type", spelling, partition).out
        for spelling in ("TopicRecord", "TOPIC_RECORD", "topic")
    ]
    assert outputs[0] == outputs[1] == outputs[2]
    records = [json.loads(line) for line in outputs[0].splitlines()]
    assert {record["type"] for record in records if record["kind"] == "record"} == {"TOPIC_RECORD"}


def test_a_topic_is_followed_through_all_record_types(partition: Path, kraftool: Run) -> None:
    ran = kraftool("dump-log", "-o", "jsonl", "--topic", "payments-a", partition)
    records = [json.loads(line) for line in ran.out.splitlines()]
    types = {record["type"] for record in records if record["kind"] == "record"}
    assert types >= {"TOPIC_RECORD", "PARTITION_RECORD", "CONFIG_RECORD"}
    names = {record["data"].get("name") for record in records if record["kind"] == "record"}
    assert "orders-a" not in names


def test_a_broker_is_found_wherever_its_id_stands(partition: Path, kraftool: Run) -> None:
    ran = kraftool("dump-log", "-o", "jsonl", "--broker", "1", partition)
    types = {json.loads(line).get("type") for line in ran.out.splitlines()}
    assert types >= {"REGISTER_BROKER_RECORD", "PARTITION_RECORD", "CONFIG_RECORD"}
    assert offsets(kraftool("dump-log", "-o", "jsonl", "--broker", "77", partition).out) == []


def test_grep_looks_at_types_and_payloads(partition: Path, kraftool: Run) -> None:
    ran = kraftool("dump-log", "-o", "jsonl", "--grep", "orders-[ab]", partition)
    lines = [line for line in ran.out.splitlines() if b'"record"' in line]
    assert lines
    named = [json.loads(line)["data"] for line in lines if b"TOPIC_RECORD" in line]
    ids = {data["topicId"].encode() for data in named if "name" in data}
    assert len(ids) == 2
    assert all(b"orders-" in line or any(id in line for id in ids) for line in lines)
    assert any(b"orders-" not in line for line in lines), "records that only have the id"


def test_grep_cannot_find_what_is_masked(partition: Path, kraftool: Run) -> None:
    assert offsets(kraftool("dump-log", "-o", "jsonl", "--grep", "CANARY", partition).out) == []


def test_control_records_alone_and_left_out(partition: Path, kraftool: Run) -> None:
    every = offsets(kraftool("dump-log", "-o", "jsonl", partition).out)
    only = offsets(kraftool("dump-log", "-o", "jsonl", "--control", partition).out)
    without = offsets(kraftool("dump-log", "-o", "jsonl", "--no-control", partition).out)
    assert sorted(only + without) == every
    assert only


def test_epoch_and_time_select_batches(partition: Path, kraftool: Run) -> None:
    lines = kraftool("dump-log", "-o", "jsonl", "--epoch", "2", partition).out.splitlines()
    entries = [json.loads(line) for line in lines]
    assert {entry["epoch"] for entry in entries} == {2}
    first = min(entry["timestamp"] for entry in entries)
    since = kraftool("dump-log", "-o", "jsonl", "--since", str(first), partition).out
    assert min(json.loads(line)["timestamp"] for line in since.splitlines()) == first
    until = kraftool("dump-log", "-o", "jsonl", "--until", str(first), partition).out
    assert max(json.loads(line)["timestamp"] for line in until.splitlines()) == first


def test_head_and_tail_count_records(partition: Path, kraftool: Run) -> None:
    every = offsets(kraftool("dump-log", "-o", "jsonl", partition).out)
    assert offsets(kraftool("dump-log", "-o", "jsonl", "--head", "7", partition).out) == every[:7]
    assert offsets(kraftool("dump-log", "-o", "jsonl", "--tail", "7", partition).out) == every[-7:]
    assert offsets(kraftool("dump-log", "-o", "jsonl", "--tail", "0", partition).out) == []


def test_batches_only_leaves_the_records_out(partition: Path, kraftool: Run) -> None:
    ran = kraftool("dump-log", "-o", "jsonl", "--batches-only", partition)
    assert {json.loads(line)["kind"] for line in ran.out.splitlines()} == {"batch"}


def test_several_processes_write_the_same_bytes(
    partition: Path, kraftool: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kraftool.commands.log_run.WORTH_SPLITTING", 1)
    monkeypatch.setattr("kraftool.reports.logs.parallel.SLICE", 3000)
    for form in ("kafka", "jsonl", "csv", "json"):
        one = kraftool("dump-log", "-o", form, "--jobs", 1, partition / LOG)
        two = kraftool("dump-log", "-o", form, "--jobs", 2, partition / LOG)
        assert one.out == two.out
    # Damage in one slice must be told once, at its place in the file.
    damaged = tmp_path / LOG
    data = bytearray((partition / LOG).read_bytes())
    data[9000] ^= 1
    damaged.write_bytes(bytes(data) + b"torn")
    one = kraftool("dump-log", "-o", "jsonl", "--jobs", 1, damaged)
    two = kraftool("dump-log", "-o", "jsonl", "--jobs", 2, damaged)
    assert (one.out, one.code) == (two.out, two.code)
    assert one.code == 3


def test_kafka_flags_are_understood(
    partition: Path, kraftool: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(partition)
    plain = kraftool("dump-log", "-o", "kafka", LOG)
    flags = ["--cluster-metadata-decoder", "--print-data-log", "--deep-iteration"]
    assert kraftool("dump-log", "-o", "kafka", *flags, "--files", LOG).out == plain.out


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["--offsets", "x", "f"],
        ["--grep", "(", "f"],
        ["--since", "yesterday", "f"],
        ["--transactions", "maybe", "f"],
        ["-o", "xml", "f"],
        ["--no-such-option", "f"],
        ["--tz", "Nowhere/None", "f"],
    ],
)
def test_a_wrong_command_line_ends_with_2_and_says_why(kraftool: Run, arguments: list[str]) -> None:
    ran = kraftool("dump-log", *arguments)
    assert (ran.code, ran.out) == (2, b"")
    assert ran.err


def test_a_file_that_is_not_there_ends_with_3_and_the_others_are_shown(
    partition: Path, kraftool: Run
) -> None:
    ran = kraftool("dump-log", "-o", "jsonl", partition / "missing.log", partition / LOG)
    assert ran.code == 3
    assert "missing.log" in ran.err
    assert offsets(ran.out)


def test_an_output_file_is_new_and_its_owners_alone(
    partition: Path, kraftool: Run, tmp_path: Path
) -> None:
    target = tmp_path / "out.jsonl"
    ran = kraftool("dump-log", "-o", "jsonl", "--out", target, partition)
    assert (ran.code, ran.out) == (0, b"")
    assert target.read_bytes() == kraftool("dump-log", "-o", "jsonl", partition).out
    assert target.stat().st_mode & 0o777 == 0o600
    again = kraftool("dump-log", "-o", "jsonl", "--out", target, partition)
    assert (again.code, "exists already" in again.err) == (5, True)


def test_a_closed_pipe_is_not_an_error(partition: Path) -> None:
    import subprocess
    import sys

    read, write = os.pipe()
    os.close(read)
    command = [sys.executable, "-m", "kraftool", "dump-log", "-o", "jsonl", str(partition)]
    ran = subprocess.run(command, stdout=write, stderr=subprocess.PIPE, check=False)
    os.close(write)
    assert (ran.returncode, ran.stderr) == (0, b"")


def big_log(path: Path, flip: int | None = None, count: int = 1500) -> list[int]:
    """A log of several megabytes, one bit of one batch's length flipped; its batch positions."""
    record = framing.encode_record("TopicRecord", 0, {"name": "x" * 7000})
    data, positions = bytearray(), []
    for offset in range(count):
        positions.append(len(data))
        data += encode_batch([(None, record)], base_offset=offset, epoch=1, timestamp=1)
    if flip is not None:
        data[positions[20] + 11 - flip // 8] ^= 1 << flip % 8
    path.write_bytes(bytes(data))
    return positions


@pytest.mark.parametrize("bit", [0, 6, 13, 16, 20, 21, 22, 23, 24, 31])
def test_one_flipped_bit_of_a_length_costs_one_batch_in_one_process_and_in_several(
    tmp_path: Path, kraftool: Run, bit: int
) -> None:
    path = tmp_path / LOG
    positions = big_log(path, bit)
    runs = [
        kraftool("dump-log", "-o", "jsonl", "--batches-only", "--jobs", jobs, path)
        for jobs in (1, 2)
    ]
    assert runs[0].out == runs[1].out
    assert runs[0].code == runs[1].code == 3
    values = [json.loads(line) for line in runs[0].out.splitlines()]
    assert [value["position"] for value in values if value["kind"] == "batch"] == [
        position for number, position in enumerate(positions) if number != 20
    ]
    assert [value["position"] for value in values if value["kind"] == "error"] == [positions[20]]


def test_a_small_file_that_holds_millions_of_records_does_not_fill_the_memory(
    tmp_path: Path, kraftool: Run
) -> None:
    import gzip
    import tracemalloc

    from kraftool.decoders.batch import HEADER_SIZE, BatchHeader, seal

    count = 100_000
    plain = encode_batch(
        [(None, b"\x01\x14\x00\x00")] * count, base_offset=0, epoch=1, timestamp=1
    )[HEADER_SIZE:]
    header = BatchHeader(0, 0, 1, 2, 0, 1, count - 1, 1, 1, -1, -1, -1, count)
    path = tmp_path / LOG
    path.write_bytes(seal(header, gzip.compress(plain)))
    assert path.stat().st_size < 1 << 20
    tracemalloc.start()
    try:
        ran = kraftool("dump-log", "-o", "jsonl", "--head", "3", path)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert offsets(ran.out) == [0, 1, 2]
    assert peak < 24 << 20
    assert offsets(kraftool("dump-log", "-o", "jsonl", path).out) == list(range(count))


def test_a_transaction_goes_on_in_the_next_segment(tmp_path: Path, kraftool: Run) -> None:
    whole = transaction_log(tmp_path).read_bytes()
    partition = tmp_path / "data" / "__cluster_metadata-0"
    partition.mkdir(parents=True)
    end = 0
    for offset in range(10):
        size = 12 + int.from_bytes(whole[end + 8 : end + 12], "big")
        (partition / f"{offset:020}.log").write_bytes(whole[end : end + size])
        end += size
    ran = kraftool("dump-log", "-o", "jsonl", "--transactions", "hide", tmp_path / "data")
    assert offsets(ran.out) == [0, 2, 7]


def test_transactions_of_two_directories_are_told_apart(tmp_path: Path, kraftool: Run) -> None:
    log = transaction_log(tmp_path).read_bytes()
    plain = b"".join(
        encode_batch([(None, b"\x01\x14\x00\x00")], base_offset=n, epoch=1, timestamp=1)
        for n in range(10)
    )
    for name, data in (("one", log), ("two", plain)):
        partition = tmp_path / name / "__cluster_metadata-0"
        partition.mkdir(parents=True)
        (partition / LOG).write_bytes(data)
    ran = kraftool(
        "dump-log", "-o", "jsonl", "--transactions", "hide", tmp_path / "one", tmp_path / "two"
    )
    assert offsets(ran.out) == [0, 2, 7, *range(10)]


def test_a_topic_whose_record_is_only_in_a_checkpoint_is_found_by_name(
    fixtures_dir: Path, kraftool: Run
) -> None:
    data = fixtures_dir / "kafka-4.3.0/log-cleaning/node-1/data"
    topic_offsets = offsets(kraftool("dump-log", "-o", "jsonl", "--topic", "orders-a", data).out)
    assert len(topic_offsets) >= 5
    unknown = kraftool("dump-log", "-o", "jsonl", "--topic", "no-such-topic", data)
    assert "no-such-topic" in unknown.err


def test_a_control_bit_that_flipped_brings_no_secret_to_light(
    partition: Path, kraftool: Run, tmp_path: Path
) -> None:
    data = bytearray((partition / LOG).read_bytes())
    for line in kraftool("dump-log", "-o", "jsonl", "--type", "config", partition).out.splitlines():
        value = json.loads(line)
        if value["kind"] == "batch":
            data[value["position"] + 22] ^= 0x20
    path = tmp_path / LOG
    path.write_bytes(bytes(data))
    ran = kraftool("dump-log", "-o", "jsonl", path)
    values = [json.loads(line) for line in ran.out.splitlines()]
    hidden = [decoded for decoded in values if decoded.get("raw", "") is None]
    assert hidden
    assert not [decoded for decoded in values if decoded.get("raw")]


def test_one_file_that_cannot_be_read_does_not_keep_the_others_back(
    partition: Path, kraftool: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = tmp_path / "a" / "__cluster_metadata-0"
    first.mkdir(parents=True)
    (first / LOG).write_bytes((partition / LOG).read_bytes())
    real = os.open

    def refuse(path: str, *more: Any, **named: Any) -> int:
        if str(path) == str(first / LOG):
            raise PermissionError(13, "Permission denied")
        return real(path, *more, **named)

    monkeypatch.setattr(os, "open", refuse)
    ran = kraftool("dump-log", "-o", "json", tmp_path / "a", partition)
    assert ran.code == 3
    assert str(first) in ran.err
    assert json.loads(ran.out)["entries"]


@pytest.mark.parametrize("arguments", [["--type", "nosuch", "f"], ["--offsets", "5..3", "f"]])
def test_filters_that_can_find_nothing_are_usage_errors(
    kraftool: Run, arguments: list[str]
) -> None:
    assert kraftool("dump-log", *arguments).code == 2


def test_head_and_tail_of_a_topics_log_count_batches(fixtures_dir: Path, kraftool: Run) -> None:
    topic = fixtures_dir / "kafka-4.3.0/static-single/node-1/data/orders-a-0"

    def bases(*arguments: str) -> list[int]:
        out = kraftool("dump-log", "-o", "jsonl", *arguments, topic).out
        return [json.loads(line)["baseOffset"] for line in out.splitlines()]

    every = bases()
    assert len(every) >= 4
    assert bases("--head", "2") == every[:2]
    assert bases("--tail", "2") == every[-2:]


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_batch_that_does_not_follow_on_is_shown_as_by_verify_log(
    jobs: int, kraftool: Run, partition: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where the hole is at the border between two processes' parts of the file."""
    monkeypatch.setattr(log_parallel, "SLICE", 1)
    monkeypatch.setattr(log_run, "WORTH_SPLITTING", 1)
    log = tmp_path / f"{0:020}.log"
    with FileSource(str(partition / LOG)) as source:
        whole = [batch.data for batch in Walk(source.read_at) if isinstance(batch, RecordBatch)]
    log.write_bytes(b"".join(whole[:3] + whole[4:]))
    shown = kraftool("dump-log", "-o", "jsonl", "--jobs", str(jobs), log)
    errors = [
        entry for entry in map(json.loads, shown.out.splitlines()) if entry["kind"] == "error"
    ]
    assert [(error["position"], error["damage"]) for error in errors] == [
        (sum(map(len, whole[:3])), "gap")
    ]
    assert shown.code == kraftool("verify-log", log).code


def test_record_types_are_spelled_as_in_kafka_s_sources(partition: Path, kraftool: Run) -> None:
    """In tables; the lines have Kafka's converters' spelling, and --type takes both."""
    table = kraftool("dump-log", partition, "--type", "FEATURE_LEVEL_RECORD").text
    assert "FeatureLevelRecord  metadata.version=" in table
    assert table == kraftool("dump-log", partition, "--type", "FeatureLevelRecord").text
    counted = kraftool("dump", partition).text
    assert re.search(r"^ *\d+ +PartitionChangeRecord +\d+ +\w+", counted, re.MULTILINE)
    assert "LeaderChange" in counted


def test_problems_before_the_tail_are_counted(fixtures_dir: Path, kraftool: Run) -> None:
    damaged = fixtures_dir / "damaged/flipped-bit-in-record" / f"{0:020}.log"
    assert (
        "kraftool: 1 problem before the part that --tail shows\n"
        in kraftool("dump-log", damaged, "--tail", "1").err
    )
