"""`kraftool dump-log`: byte for byte what kafka-dump-log prints, and what it adds."""

import csv
import hashlib
import io
import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from kraftool.decoders import framing
from kraftool.decoders.batch import encode_batch

Run = Callable[..., Any]

PARTITION = "static-single/node-1/data/__cluster_metadata-0"
LOG = "00000000000000000000.log"


def goldens(fixtures: Path) -> Iterator[tuple[Path, str, dict[str, object]]]:
    """Every file whose kafka-dump-log output was kept: its scenario, its path, the golden."""
    for golden in sorted(fixtures.glob("kafka-*/*/dump-log-4.3.0.json")):
        for path, facts in json.loads(golden.read_text()).items():
            yield golden.parent, path, facts


@pytest.fixture
def partition(fixtures_dir: Path) -> Path:
    return fixtures_dir / "kafka-4.3.0" / PARTITION


def test_every_fixture_is_dumped_as_kafka_dump_log_4_3_0_dumped_it(
    fixtures_dir: Path, kraftool: Run, monkeypatch: pytest.MonkeyPatch
):
    compared = 0
    for scenario, path, facts in goldens(fixtures_dir):
        monkeypatch.chdir(scenario)
        arguments = facts["args"] or (["--batches-only"] if path.endswith(".log") else [])
        ran = kraftool("dump-log", "-o", "kafka", *arguments, path)
        found = hashlib.sha256(ran.out).hexdigest()
        if facts.get("undecoded"):  # a record type that 4.3.0 does not know
            continue
        assert (len(ran.out), found) == (facts["bytes"], facts["sha256"]), (scenario, path)
        assert ran.code == 0, ran.err
        compared += 1
    assert compared >= 100


def test_jsonl_carries_the_payloads_of_the_kafka_format(partition: Path, kraftool: Run):
    text = kraftool("dump-log", "-o", "kafka", partition / LOG).text
    payloads = [
        line.partition(" payload: ")[2] for line in text.splitlines() if " payload: " in line
    ]
    lines = kraftool("dump-log", "-o", "jsonl", "--show-secrets", partition / LOG).out.splitlines()
    records = [line for line in lines if b'"kind":"record"' in line and b'"control":false' in line]
    assert len(payloads) == len(records) > 100
    for payload, record in zip(payloads, records, strict=True):
        assert record.decode().endswith(payload[1:]), payload


def test_json_is_one_document_with_the_same_entries(partition: Path, kraftool: Run):
    document = json.loads(kraftool("dump-log", "-o", "json", partition).out)
    lines = kraftool("dump-log", "-o", "jsonl", partition).out.splitlines()
    assert document["schemaVersion"] == 1
    assert document["entries"] == [json.loads(line) for line in lines]


def test_csv_has_a_row_for_each_record(partition: Path, kraftool: Run):
    rows = list(csv.DictReader(io.StringIO(kraftool("dump-log", "-o", "csv", partition).text)))
    lines = kraftool("dump-log", "-o", "jsonl", partition).out.splitlines()
    records = [json.loads(line) for line in lines if b'"kind":"record"' in line]
    assert [int(row["offset"]) for row in rows] == [record["offset"] for record in records]
    assert [json.loads(row["data"]) for row in rows] == [record["data"] for record in records]


def offsets(ran: bytes) -> list[int]:
    found = [json.loads(line) for line in ran.splitlines()]
    return [each["offset"] for each in found if each["kind"] == "record"]


def test_a_directory_is_its_segments_and_with_snapshots_its_checkpoints_too(
    partition: Path, kraftool: Run
):
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
def test_offsets_are_inclusive(partition: Path, kraftool: Run, range_: str, expected: list[int]):
    ran = kraftool("dump-log", "-o", "jsonl", "--offsets", range_, partition)
    assert offsets(ran.out) == expected


def test_types_are_found_in_any_spelling(partition: Path, kraftool: Run):
    found = [
        kraftool("dump-log", "-o", "jsonl", "--type", spelling, partition).out
        for spelling in ("TopicRecord", "TOPIC_RECORD", "topic")
    ]
    assert found[0] == found[1] == found[2]
    records = [json.loads(line) for line in found[0].splitlines()]
    assert {each["type"] for each in records if each["kind"] == "record"} == {"TOPIC_RECORD"}


def test_a_topic_is_followed_through_all_record_types(partition: Path, kraftool: Run):
    ran = kraftool("dump-log", "-o", "jsonl", "--topic", "payments-a", partition)
    records = [json.loads(line) for line in ran.out.splitlines()]
    types = {each["type"] for each in records if each["kind"] == "record"}
    assert types >= {"TOPIC_RECORD", "PARTITION_RECORD", "CONFIG_RECORD"}
    names = {each["data"].get("name") for each in records if each["kind"] == "record"}
    assert "orders-a" not in names


def test_a_broker_is_found_wherever_its_id_stands(partition: Path, kraftool: Run):
    ran = kraftool("dump-log", "-o", "jsonl", "--broker", "1", partition)
    types = {json.loads(line).get("type") for line in ran.out.splitlines()}
    assert types >= {"REGISTER_BROKER_RECORD", "PARTITION_RECORD", "CONFIG_RECORD"}
    assert offsets(kraftool("dump-log", "-o", "jsonl", "--broker", "77", partition).out) == []


def test_grep_looks_at_types_and_payloads(partition: Path, kraftool: Run):
    ran = kraftool("dump-log", "-o", "jsonl", "--grep", "orders-[ab]", partition)
    lines = [line for line in ran.out.splitlines() if b'"record"' in line]
    assert lines
    assert all(b"orders-" in line for line in lines)


def test_grep_cannot_find_what_is_masked(partition: Path, kraftool: Run):
    assert offsets(kraftool("dump-log", "-o", "jsonl", "--grep", "CANARY", partition).out) == []


def test_control_records_alone_and_left_out(partition: Path, kraftool: Run):
    every = offsets(kraftool("dump-log", "-o", "jsonl", partition).out)
    only = offsets(kraftool("dump-log", "-o", "jsonl", "--control", partition).out)
    without = offsets(kraftool("dump-log", "-o", "jsonl", "--no-control", partition).out)
    assert sorted(only + without) == every
    assert only


def test_epoch_and_time_select_batches(partition: Path, kraftool: Run):
    lines = kraftool("dump-log", "-o", "jsonl", "--epoch", "2", partition).out.splitlines()
    found = [json.loads(line) for line in lines]
    assert {each["epoch"] for each in found} == {2}
    first = min(each["timestamp"] for each in found)
    since = kraftool("dump-log", "-o", "jsonl", "--since", str(first), partition).out
    assert min(json.loads(line)["timestamp"] for line in since.splitlines()) == first
    until = kraftool("dump-log", "-o", "jsonl", "--until", str(first), partition).out
    assert max(json.loads(line)["timestamp"] for line in until.splitlines()) == first


def test_head_and_tail_count_records(partition: Path, kraftool: Run):
    every = offsets(kraftool("dump-log", "-o", "jsonl", partition).out)
    assert offsets(kraftool("dump-log", "-o", "jsonl", "--head", "7", partition).out) == every[:7]
    assert offsets(kraftool("dump-log", "-o", "jsonl", "--tail", "7", partition).out) == every[-7:]
    assert offsets(kraftool("dump-log", "-o", "jsonl", "--tail", "0", partition).out) == []


def test_batches_only_leaves_the_records_out(partition: Path, kraftool: Run):
    ran = kraftool("dump-log", "-o", "jsonl", "--batches-only", partition)
    assert {json.loads(line)["kind"] for line in ran.out.splitlines()} == {"batch"}


def test_several_processes_write_the_same_bytes(
    partition: Path, kraftool: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("kraftool.commands.log_run.WORTH_SPLITTING", 1)
    monkeypatch.setattr("kraftool.reports.log_render.SLICE", 3000)
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
):
    monkeypatch.chdir(partition)
    plain = kraftool("dump-log", "-o", "kafka", LOG)
    flags = ["--cluster-metadata-decoder", "--print-data-log", "--deep-iteration"]
    assert kraftool("dump-log", "-o", "kafka", *flags, "--files", LOG).out == plain.out


def transaction_log(tmp_path: Path) -> Path:
    """A committed, an aborted and an open transaction, with plain records around them."""
    names = [
        "NoOpRecord",
        *("BeginTransactionRecord", "TopicRecord", "EndTransactionRecord"),
        *("BeginTransactionRecord", "TopicRecord", "AbortTransactionRecord"),
        "NoOpRecord",
        *("BeginTransactionRecord", "TopicRecord"),
    ]
    data = b""
    for offset, name in enumerate(names):
        value = {"name": f"t{offset}"} if name == "TopicRecord" else {}
        record = framing.encode_record(name, 0, value)
        data += encode_batch([(None, record)], base_offset=offset, epoch=1, timestamp=1)
    path = tmp_path / LOG
    path.write_bytes(data)
    return path


def test_transactions_are_marked_with_how_they_ended(tmp_path: Path, kraftool: Run):
    path = transaction_log(tmp_path)
    ran = kraftool("dump-log", "-o", "jsonl", "--transactions", "mark", path)
    records = [json.loads(line) for line in ran.out.splitlines() if b'"record"' in line]
    assert [each.get("transaction", "") for each in records] == [
        "",
        *["committed"] * 3,
        *["aborted"] * 3,
        "",
        *["open"] * 2,
    ]


def test_hiding_transactions_leaves_what_readers_of_the_metadata_see(tmp_path: Path, kraftool: Run):
    path = transaction_log(tmp_path)
    ran = kraftool("dump-log", "-o", "jsonl", "--transactions", "hide", path)
    assert offsets(ran.out) == [0, 2, 7]


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
def test_a_wrong_command_line_ends_with_2_and_says_why(kraftool: Run, arguments: list[str]):
    ran = kraftool("dump-log", *arguments)
    assert (ran.code, ran.out) == (2, b"")
    assert ran.err


def test_a_file_that_is_not_there_ends_with_3_and_the_others_are_shown(
    partition: Path, kraftool: Run
):
    ran = kraftool("dump-log", "-o", "jsonl", partition / "missing.log", partition / LOG)
    assert ran.code == 3
    assert "missing.log" in ran.err
    assert offsets(ran.out)


def test_an_output_file_is_new_and_its_owners_alone(partition: Path, kraftool: Run, tmp_path: Path):
    target = tmp_path / "out.jsonl"
    ran = kraftool("dump-log", "-o", "jsonl", "--out", target, partition)
    assert (ran.code, ran.out) == (0, b"")
    assert target.read_bytes() == kraftool("dump-log", "-o", "jsonl", partition).out
    assert target.stat().st_mode & 0o777 == 0o600
    again = kraftool("dump-log", "-o", "jsonl", "--out", target, partition)
    assert (again.code, "exists already" in again.err) == (5, True)


def test_a_closed_pipe_is_not_an_error(partition: Path):
    import subprocess
    import sys

    read, write = os.pipe()
    os.close(read)
    command = [sys.executable, "-m", "kraftool", "dump-log", "-o", "jsonl", str(partition)]
    ran = subprocess.run(command, stdout=write, stderr=subprocess.PIPE, check=False)
    os.close(write)
    assert (ran.returncode, ran.stderr) == (0, b"")
