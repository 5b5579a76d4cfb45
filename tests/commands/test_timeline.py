"""`kraftool timeline` over what real Kafka wrote, held against dump-log and against what was done
to those clusters (each fixture's SOURCE)."""

import csv
import io
import json
import re
import shutil
import tarfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kraftool.decoders.batch import CRC_START, HEADER_SIZE, encode_batch
from kraftool.decoders.framing import encode_record
from tests.support.places import FIXTURES, LOG

pytestmark = pytest.mark.slow

Run = Callable[..., Any]
DYNAMIC = FIXTURES / "kafka-4.3.0/dynamic-quorum"
SCENARIOS = sorted(path.parent for path in FIXTURES.glob("*/*/node-1"))
DAMAGED = sorted(FIXTURES.glob("damaged/*/*.log"))


def directories(scenario: Path) -> list[Path]:
    return sorted(path.parent for path in scenario.glob("node-*/data*/__cluster_metadata-0"))


def lines_of(ran: Any, kind: str = "event") -> list[dict[str, Any]]:
    lines = [json.loads(line) for line in ran.out.splitlines()]
    return [line for line in lines if line["kind"] == kind]


def events(kraftool: Run, *arguments: object) -> list[dict[str, Any]]:
    return lines_of(kraftool("timeline", "-o", "jsonl", *arguments))


def records(kraftool: Run, path: Path) -> list[dict[str, Any]]:
    return lines_of(kraftool("dump-log", "-o", "jsonl", path), "record")


# --- against dump-log -----------------------------------------------------------------------------

TOLD_BY = {
    "LeaderChange": {"leader-elected"},
    "KRaftVoters": {"voters"},
    "KRaftVersion": {"kraft-version"},
    "FEATURE_LEVEL_RECORD": {"feature-level"},
    "REGISTER_BROKER_RECORD": {"broker-registered", "broker-restarted", "broker-amended"},
    "UNREGISTER_BROKER_RECORD": {"broker-unregistered"},
    "REGISTER_CONTROLLER_RECORD": {
        "controller-registered",
        "controller-restarted",
        "controller-amended",
    },
    "BEGIN_TRANSACTION_RECORD": {"transaction-began"},
    "END_TRANSACTION_RECORD": {"transaction-committed"},
    "ABORT_TRANSACTION_RECORD": {"transaction-aborted"},
    "TOPIC_RECORD": {"topic-created"},
    "REMOVE_TOPIC_RECORD": {"topic-deleted"},
}


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_each_record_that_tells_something_is_an_event_at_its_offset(
    scenario: Path, kraftool: Run
) -> None:
    for path in directories(scenario):
        by_key = {
            (event["offset"], event["type"]): event for event in events(kraftool, "--topics", path)
        }
        expected = {
            (record["offset"], type)
            for record in records(kraftool, path)
            for type in TOLD_BY.get(record["type"], ())
        }
        of_records = {type for types in TOLD_BY.values() for type in types}
        keys = {key for key in by_key if key[1] in of_records}
        # A registration is one of three events; which one is looked at below.
        assert keys <= expected
        assert {offset for offset, _ in keys} == {offset for offset, _ in expected}
        for record in records(kraftool, path):
            for type in TOLD_BY.get(record["type"], ()):
                event = by_key.get((record["offset"], type))
                if event is not None:
                    assert event["timestampMs"] == record["timestamp"]
                    assert event["epoch"] == record["epoch"]


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_fencings_and_lost_leaders_are_those_of_the_records(scenario: Path, kraftool: Run) -> None:
    for path in directories(scenario):
        counts: Counter[str] = Counter()
        for record in records(kraftool, path):
            data = record["data"]
            if record["type"] == "BROKER_REGISTRATION_CHANGE_RECORD":
                counts["broker-fenced"] += data.get("fenced", 0) == 1
                counts["broker-unfenced"] += data.get("fenced", 0) == -1
                counts["broker-controlled-shutdown"] += data.get("inControlledShutdown", 0) == 1
            elif record["type"] == "UNFENCE_BROKER_RECORD":
                counts["broker-unfenced"] += 1
            elif record["type"] == "FENCE_BROKER_RECORD":
                counts["broker-fenced"] += 1
            elif record["type"] == "PARTITION_CHANGE_RECORD":
                counts["leaderless"] += data.get("leader", -2) == -1
                counts["unclean-election"] += data.get("leaderRecoveryState", -1) == 1
        event_counts: Counter[str] = Counter()
        for event in events(kraftool, path):
            if event["type"] in counts:
                event_counts[event["type"]] += event["data"].get("count", 1)
        assert +event_counts == +counts


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_the_nodes_of_every_real_cluster_agree(scenario: Path, kraftool: Run) -> None:
    ran = kraftool("timeline", "-o", "json", *directories(scenario))
    assert ran.code == 0, ran.err
    document = json.loads(ran.out)
    assert document["findings"] == []
    assert not any(event["isDisputed"] for event in document["events"])
    assert len(document["nodes"]) == len(directories(scenario))


# --- what was done to the cluster -----------------------------------------------------------------


def test_a_quorum_whose_leaders_were_killed_and_voters_changed(kraftool: Run) -> None:
    all_events = events(kraftool, *directories(DYNAMIC))
    elected = [event for event in all_events if event["type"] == "leader-elected"]
    assert [(event["data"]["leader"], event["epoch"]) for event in elected] == [
        (2, 1),
        (3, 2),
        (2, 3),
    ]
    voters = [event["data"] for event in all_events if event["type"] == "voters"]
    assert [voter["added"] for voter in voters] == [[], [4], []]
    assert [voter["removed"] for voter in voters] == [[], [], [1]]
    gone = next(event for event in all_events if event["type"] == "broker-unregistered")
    # Node 12 was stopped before it was unregistered, node 1 when it had been removed.
    assert gone["labels"] == ["2", "3", "4", "11"]
    ends = {
        event["data"]["node"]: event["offset"] for event in all_events if event["type"] == "log-end"
    }
    assert ends == {"1": 81, "2": 224, "3": 224, "4": 224, "11": 224, "12": 185}
    restarts = [
        event["data"]["broker"] for event in all_events if event["type"] == "broker-restarted"
    ]
    assert restarts == [12, 12]


def test_the_first_leader_of_an_epoch_that_others_failed_to_win(kraftool: Run) -> None:
    elections = events(
        kraftool, *directories(FIXTURES / "kafka-4.3.0/upgrade"), "--only", "elections"
    )
    assert [event["data"]["epochsSkipped"] for event in elections] == [0, 0, 0, 1, 0]


def test_a_transaction_that_its_controller_left_open_was_aborted(kraftool: Run) -> None:
    all_events = events(kraftool, FIXTURES / "kafka-4.3.0/aborted-transaction/node-1/data")
    began = [event for event in all_events if event["type"] == "transaction-began"]
    assert [event["visibility"] for event in began] == ["visible", "aborted"]
    aborted = next(event for event in all_events if event["type"] == "transaction-aborted")
    assert aborted["data"]["reason"] == "Controller failover"
    assert aborted["data"]["begin"] == began[1]["offset"]


def test_a_cleaned_log_begins_where_dump_log_does(kraftool: Run) -> None:
    path = FIXTURES / "kafka-4.3.0/log-cleaning/node-1/data"
    start = next(event for event in events(kraftool, path) if event["type"] == "log-start")
    assert start["offset"] == records(kraftool, path)[0]["offset"]


def test_a_follower_that_began_with_a_snapshot_knows_what_came_before(kraftool: Run) -> None:
    path = FIXTURES / "kafka-4.3.0/upgrade/node-11/data"
    all_events = events(kraftool, path)
    disabled = next(event for event in all_events if event["type"] == "feature-level")
    assert disabled["data"]["from"] == 1
    first = next(event for event in all_events if event["type"] == "controller-restarted")
    assert first["offset"] == 53


# --- formats --------------------------------------------------------------------------------------


def test_every_kind_of_event_is_seen(kraftool: Run) -> None:
    paths = [directories(scenario) for scenario in SCENARIOS] + [[damaged] for damaged in DAMAGED]
    types = set()
    for path in paths:
        document = json.loads(kraftool("timeline", "-o", "json", "--topics", *path).out)
        types |= {event["type"] for event in document["events"]}
    assert {"damage", "unclean-election", "topic-deleted", "log-start"} <= types
    lines = kraftool("timeline", "-o", "jsonl", DAMAGED[0]).out.splitlines()
    kinds = {json.loads(line)["kind"] for line in lines}
    assert kinds == {"node", "event", "finding", "statistics"}


def test_csv_has_the_events_of_the_other_formats(kraftool: Run) -> None:
    rows = list(
        csv.DictReader(io.StringIO(kraftool("timeline", "-o", "csv", DYNAMIC / "node-2/data").text))
    )
    all_events = events(kraftool, DYNAMIC / "node-2/data")
    assert [row["what"] for row in rows] == [event["what"] for event in all_events]
    assert [row["offset"] for row in rows] == [str(event["offset"]) for event in all_events]
    assert [json.loads(row["data"]) for row in rows] == [event["data"] for event in all_events]


def test_the_table_fits_80_columns_and_names_days_times_and_nodes(kraftool: Run) -> None:
    text = kraftool("timeline", *directories(DYNAMIC)).text
    assert max(map(len, text.splitlines())) <= 80
    assert "\n2026-11-21\n" in text
    assert re.search(
        r"^04:11:33\.343Z +43 +2 +all +3 elected leader of epoch 2", text, re.MULTILINE
    )
    assert re.search(r"^elections +3: node 2 won 2 and led", text, re.MULTILINE)
    assert "\x1b" not in text
    colored = kraftool("timeline", "--color", "always", *directories(DYNAMIC)).text
    assert re.sub(r"\x1b\[[0-9;]*m", "", colored) == text


def test_one_node_has_no_column_of_nodes(kraftool: Run) -> None:
    text = kraftool("timeline", DYNAMIC / "node-2/data", "--offsets", "0..2").text
    assert "nodes" not in text.splitlines()[0]
    assert re.search(r"^events +1 snapshot, 1 election, 1 feature, 1 voter$", text, re.MULTILINE)


def test_times_are_in_the_zone_asked_for(kraftool: Run) -> None:
    text = kraftool("timeline", "--tz", "Asia/Kolkata", DYNAMIC / "node-2/data").text
    assert "09:41:33.343+05:30" in text


# --- where it is read from ------------------------------------------------------------------------


def test_a_tar_stream_tells_the_same_as_its_directories(kraftool: Run, tmp_path: Path) -> None:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as tar:
        for path in reversed(directories(DYNAMIC)):
            tar.add(path, str(path.relative_to(DYNAMIC)))
    streamed = kraftool("timeline", "-o", "jsonl", "-", stdin=packed.getvalue())
    direct = kraftool("timeline", "-o", "jsonl", *directories(DYNAMIC))
    assert (streamed.code, direct.code) == (0, 0)
    for one, other in zip(lines_of(streamed), lines_of(direct), strict=True):
        if one["type"] == "snapshot":
            one["data"] = other["data"]  # they name files
        assert one == other


def test_another_log_directory_of_a_node_is_passed_over(kraftool: Run) -> None:
    ran = kraftool("timeline", *sorted((DYNAMIC / "node-11").glob("data-*")))
    assert ran.code == 0
    assert "KT-DIR-SKIPPED" in ran.text


def test_a_folder_of_a_topic_is_refused(kraftool: Run) -> None:
    folder = next((DYNAMIC / "node-11/data-a").glob("*-[0-9]"))
    ran = kraftool("timeline", folder)
    assert ran.code == 3
    assert "of a topic" in re.sub(r"\s+", " ", ran.text)


def test_directories_of_different_clusters_are_refused(kraftool: Run) -> None:
    ran = kraftool(
        "timeline", DYNAMIC / "node-2/data", FIXTURES / "kafka-4.3.0/upgrade/node-1/data"
    )
    assert ran.code == 2
    assert "different clusters" in ran.err


@pytest.mark.parametrize(
    "arguments",
    [
        ("--only", "elektions"),
        ("--offsets", "9..3"),
        ("--since", "yesterday"),
        ("--gaps", "-1"),
        ("--tz", "Nowhere"),
    ],
)
def test_what_cannot_be_read_is_a_usage_error(kraftool: Run, arguments: tuple[str, ...]) -> None:
    assert kraftool("timeline", *arguments, DYNAMIC / "node-2/data").code == 2


def test_only_takes_several_kinds_in_one_word(kraftool: Run) -> None:
    all_events = events(kraftool, "--only", "voters,features", DYNAMIC / "node-2/data")
    assert {event["category"] for event in all_events} == {"voters", "features"}


# --- what is wrong --------------------------------------------------------------------------------


def diverged(tmp_path: Path, epoch: int) -> list[Path]:
    """Two copies of a node, one of which got a last batch of its own."""
    copies = []
    for id in (2, 3):
        copy = tmp_path / f"node-{id}"
        shutil.copytree(DYNAMIC / f"node-{id}/data", copy)
        copies.append(copy)
    for number, copy in enumerate(copies):
        batch = encode_batch(
            [(None, encode_record("FeatureLevelRecord", 0, {"name": "x", "featureLevel": number}))],
            base_offset=224,
            epoch=3 if number == 0 else epoch,
            timestamp=1_795_234_330_000,
        )
        with (copy / "__cluster_metadata-0" / LOG).open("ab") as file:
            file.write(batch)
    return copies


def test_logs_that_part_are_a_finding_with_the_first_offset(kraftool: Run, tmp_path: Path) -> None:
    ran = kraftool("timeline", "-o", "json", *diverged(tmp_path, epoch=4))
    assert ran.code == 1
    document = json.loads(ran.out)
    (finding,) = document["findings"]
    assert (finding["code"], finding["offset"]) == ("KT-LOG-DIVERGED", 224)
    disputed = [event for event in document["events"] if event["isDisputed"]]
    assert {tuple(event["labels"]) for event in disputed} == {("2", "3"), ("2",), ("3",)}
    assert min(event["offset"] for event in disputed) == 224


def test_the_table_marks_what_is_disputed(kraftool: Run, tmp_path: Path) -> None:
    text = kraftool("timeline", *diverged(tmp_path, epoch=4)).text
    assert "logs differ from offset 224 on" in text
    assert len(re.findall("≠", text)) == 3  # an epoch without LeaderChange, and two features


def test_a_node_that_is_merely_behind_is_fine(kraftool: Run, tmp_path: Path) -> None:
    first, second = diverged(tmp_path, epoch=3)
    shutil.copy(DYNAMIC / "node-3/data/__cluster_metadata-0" / LOG, second / "__cluster_metadata-0")
    assert kraftool("timeline", first, second).code == 0


@pytest.mark.parametrize("path", DAMAGED, ids=lambda path: path.parent.name)
def test_damage_is_told_at_its_place_and_never_raised(path: Path, kraftool: Run) -> None:
    ran = kraftool("timeline", "-o", "jsonl", path)
    codes = {event["data"]["code"] for event in lines_of(ran) if event["category"] == "damage"}
    findings = lines_of(ran, "finding")
    assert codes <= {finding["code"] for finding in findings}
    warns = any(finding["severity"] != "info" for finding in findings)
    assert ran.code == (3 if any(finding["isUndecoded"] for finding in findings) else int(warns)), (
        ran.err
    )
    if path.parent.name.startswith(("torn", "zero", "flipped", "garbage-log", "negative")):
        assert codes


def test_damage_is_counted_in_cases(kraftool: Run) -> None:
    path = FIXTURES / "damaged/flipped-bit-in-crc" / LOG
    text = " ".join(kraftool("timeline", path).text.split())
    assert "1 case of damage" in text


def test_a_torn_header_is_the_finding_that_dump_has(kraftool: Run) -> None:
    path = FIXTURES / "damaged/torn-tail" / LOG
    dumped = json.loads(kraftool("dump", "-o", "json", path).out)["findings"]
    assert lines_of(kraftool("timeline", "-o", "jsonl", path), "finding") == [
        {"kind": "finding", **finding} for finding in dumped
    ]


@pytest.mark.parametrize(
    "name", ["truncated-snapshot", "snapshot-without-footer", "wrong-file-name"]
)
def test_a_damaged_snapshot_has_the_findings_that_dump_has(name: str, kraftool: Run) -> None:
    for path in sorted((FIXTURES / "damaged" / name).glob("*.checkpoint")):
        dumped = json.loads(kraftool("dump", "-o", "json", path).out)["findings"]
        ran = kraftool("timeline", "-o", "jsonl", path)
        assert lines_of(ran, "finding") == [{"kind": "finding", **finding} for finding in dumped]
        assert (len(dumped) > 0, ran.code > 0) == (True, True)


def flip(file: Path, position: int) -> None:
    data = bytearray(file.read_bytes())
    data[position] ^= 1
    file.write_bytes(data)


def without_bit(finding: dict[str, Any]) -> dict[str, Any]:
    """A finding of dump, which looks for the flipped bit that explains it, without that bit."""
    return {**finding, "reason": finding["reason"].partition("; one flipped bit")[0]}


def test_a_header_whose_bytes_changed_is_a_header_still(kraftool: Run, tmp_path: Path) -> None:
    path = tmp_path / "data"
    shutil.copytree(DYNAMIC / "node-2/data", path)
    newest = sorted((path / "__cluster_metadata-0").glob("*.checkpoint"))[-1]
    flip(newest, HEADER_SIZE + 15)
    findings = lines_of(kraftool("timeline", "-o", "jsonl", path), "finding")
    assert [(finding["code"], finding["position"]) for finding in findings] == [
        ("KT-SNAP-DAMAGE", CRC_START - 4)
    ]
    dumped = json.loads(kraftool("dump", "-o", "json", path).out)["directories"][0]["findings"]
    dumped = [without_bit(finding) for finding in dumped]
    keys = ("code", "position", "offset", "reason", "expected", "found")
    assert [[finding[key] for key in keys] for finding in dumped] == [
        [finding[key] for key in keys] for finding in findings
    ]


def test_a_damaged_snapshot_is_told_and_one_that_is_whole_names_the_topics(
    kraftool: Run, tmp_path: Path
) -> None:
    path = tmp_path / "data"
    shutil.copytree(FIXTURES / "kafka-4.3.0/log-cleaning/node-1/data", path)
    first, second = sorted((path / "__cluster_metadata-0").glob("*.checkpoint"))
    asked = ("timeline", "-o", "jsonl", "--only", "partitions", path)
    clean = [event["what"] for event in lines_of(kraftool(*asked))]
    for damaged in (first, second):
        flip(damaged, 500)
        ran = kraftool(*asked)
        assert ran.code == 3
        files = [finding["file"] for finding in lines_of(ran, "finding")]
        assert files == [str(file) for file in (first, second)[: len(files)]]
        texts = [event["what"] for event in lines_of(ran) if event["category"] == "partitions"]
        assert (texts == clean) == (damaged is first)


@pytest.mark.parametrize("path", DAMAGED, ids=lambda path: path.parent.name)
def test_damage_of_the_log_is_the_same_finding_in_dump_and_state(path: Path, kraftool: Run) -> None:
    """What is wrong with bytes and offsets; timeline and state do not look at every record."""
    codes = {
        f"KT-LOG-{suffix}" for suffix in ("CRC", "DAMAGE", "TORN-TAIL", "ZERO-TAIL", "EPOCH-BACK")
    }
    dumped = json.loads(kraftool("dump", "-o", "json", path).out)["findings"]
    wanted = [without_bit(finding) for finding in dumped if finding["code"] in codes]
    findings = lines_of(kraftool("timeline", "-o", "jsonl", path), "finding")
    assert [{"kind": "finding", **finding} for finding in wanted] == [
        finding for finding in findings if finding["code"] in codes
    ]
    state = json.loads(kraftool("state", "-o", "json", path).out)["findings"]
    first = [finding for finding in state if finding["code"] in codes]
    keys = ("code", "position", "offset", "reason", "expected", "found", "severity")
    assert [[finding[key] for key in keys] for finding in first] == [
        [finding[key] for key in keys] for finding in wanted[: len(first)]
    ]
    assert len(first) == min(len(wanted), 1)


@pytest.mark.parametrize("seconds", ["inf", "nan", "-inf"])
def test_gaps_of_no_number_of_seconds_are_refused(seconds: str, kraftool: Run) -> None:
    ran = kraftool("timeline", DYNAMIC / "node-2/data", f"--gaps={seconds}")
    assert ran.code == 2
    assert "--gaps" in ran.err


def test_gaps_of_ages_are_none(kraftool: Run) -> None:
    ran = kraftool("timeline", DYNAMIC / "node-2/data", "--gaps", "1e300", "-o", "jsonl")
    assert ran.code == 0
    assert not [event for event in lines_of(ran) if event["category"] == "gaps"]


def test_nothing_there_is_unreadable(kraftool: Run, tmp_path: Path) -> None:
    (tmp_path / "meta.properties").write_text("version=1\nnode.id=1\n")
    assert kraftool("timeline", tmp_path).code == 3
    assert kraftool("timeline", tmp_path / "missing").code == 3
