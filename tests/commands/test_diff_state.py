"""`kraftool diff-state`: what is compared, how differences look, and how a run ends."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.reports.state_logs import Logs, config, level, topic, topic_id
from tests.support.places import ROOT

Run = Callable[..., Any]
QUORUM = ROOT / "fixtures/kafka-4.3.0/dynamic-quorum"
UPGRADE = ROOT / "fixtures/kafka-4.3.0/upgrade"


def test_two_nodes_are_compared_where_both_reach(kraftool: Run) -> None:
    ran = kraftool("diff-state", QUORUM / "node-1/data", QUORUM / "node-2/data")
    assert ran.code == 0
    text = " ".join(ran.text.split())
    assert "compared at offset 81, where" in text
    assert "continues to 224: --at-end shows what changed" in text
    assert (
        "no difference up to offset 81; 143 further offsets not compared state hash ec4dee31"
        in text
    )


def test_the_credential_that_a_snapshot_lost_is_found(kraftool: Run) -> None:
    """Kafka's bug, in real directories: node-4 started from a snapshot without it."""
    ran = kraftool("diff-state", QUORUM / "node-4/data", QUORUM / "node-2/data")
    assert ran.code == 1
    assert "SCRAM credentials  1 added\n+ alice-a SCRAM-SHA-256" in ran.text
    assert ran.text.splitlines()[-1] == "1 difference"


def test_one_directory_at_two_offsets_tells_what_happened(kraftool: Run) -> None:
    ran = kraftool("diff-state", UPGRADE / "node-1/data", "--at", 60, "--to", 120)
    assert ran.code == 1
    assert "- group.version" in ran.text
    # As dump-log shows the records: the broker at 109, the partition at 111, in one batch.
    when = "2026-11-21T04:12:33.022Z"
    assert f"~ broker 11  {when} at 109\n  epoch 2 → 107\n" in ran.text
    assert "+ payments-b" in ran.text
    assert "  6 of topics added or removed" in ran.text
    partition = f"~ orders-a-0  {when} at 111\n  leaderEpoch 0 → 2\n  partitionEpoch 1 → 3\n"
    assert partition in ran.text
    assert kraftool("diff-state", UPGRADE / "node-1/data", "--at", 60, "--to", 60).code == 0


def test_no_change_has_the_record_of_an_earlier_one(kraftool: Run, tmp_path: Path) -> None:
    """A topic's removal takes its configs along, and one record clears the ELR of a topic. It is
    unknown if they changed what an earlier record between the offsets had changed."""
    ids = {"topicId": topic_id("kept")}
    brokers = {"replicas": [1, 2], "isr": [1], "removingReplicas": [], "addingReplicas": []}
    epochs = {"leader": 1, "leaderEpoch": 0, "partitionEpoch": 0, "lastKnownElr": []}
    directories = {"directories": [topic_id("d")] * 2, "eligibleLeaderReplicas": [2]}
    partitions = [
        ("PartitionRecord", 2, {**ids, **brokers, **epochs, **directories, "partitionId": number})
        for number in range(2)
    ]
    removal = ("RemoveTopicRecord", 0, {"topicId": topic_id("gone")})
    before = [level(), topic("gone"), config("gone", "retention.ms", "1"), topic("kept")]
    before += [config("gone", "segment.ms", "1"), *partitions]
    change = ("PartitionChangeRecord", 2, {**ids, "partitionId": 1, "isr": [1, 2]})
    after = [config("gone", "segment.ms", "2"), change, removal]
    after += [("ClearElrRecord", 0, {"topicName": "kept"}), topic("new")]
    logs = Logs(tmp_path / "log")
    logs.segment(0, before, after)
    done = kraftool("diff-state", logs.directory, "--at", 7, "--to", 12, "-o", "json")
    offsets = {
        (change["entityKind"], change["entity"].get("name"), change["entity"].get("partition")): (
            change["lastOffset"]
        )
        for change in json.loads(done.out)["changes"]
    }
    assert offsets == {
        ("topic", "gone", None): 9,
        ("topic", "new", None): 11,
        ("config", "retention.ms", None): 9,
        ("config", "segment.ms", None): None,
        ("partition", None, 0): 10,
        ("partition", None, 1): None,
    }


def test_one_offset_is_for_both_directories(kraftool: Run) -> None:
    paths = (QUORUM / "node-1/data", QUORUM / "node-2/data")
    assert kraftool("diff-state", "--at", 70, *paths).code == 0
    ran = kraftool("diff-state", "--at", 100, *paths)
    assert (ran.code, ran.out) == (3, b"")
    assert "the log ends at 81; there is no state at 100" in ran.err
    assert kraftool("diff-state", "--at-end", *paths).code == 1


def test_two_clusters_are_told_apart(kraftool: Run, tmp_path: Path) -> None:
    """Also where what is compared is the same in both, as after a format of a copy."""
    other = ROOT / "fixtures/kafka-4.3.0/static-single/node-1/data"
    ran = kraftool("diff-state", QUORUM / "node-2/data", other)
    assert ran.code == 1
    text = " ".join(ran.text.split())
    assert "KT-DIR-CLUSTER-ID" in text
    assert "(expected xxuyFdGYSvOPfcYJRNjaMA, found " in text
    paths = []
    for name in ("one", "two"):
        logs = Logs(tmp_path / name)
        logs.segment(0, [level()], [topic("same")])
        meta = logs.directory / "meta.properties"
        meta.write_text(f"version=1\nnode.id=1\ncluster.id={name}\n")
        paths.append(logs.directory)
    ran = kraftool("diff-state", *paths)
    assert ran.code == 1
    assert "no difference" in ran.text
    assert "expected one, found two" in " ".join(ran.text.split())
    (paths[1] / "meta.properties").unlink()
    assert kraftool("diff-state", *paths).code == 0, "nothing is known of its cluster"


def test_ignored_fields_are_no_difference(kraftool: Run) -> None:
    epochs = ("--ignore", "leaderEpoch,partitionEpoch")
    where = (UPGRADE / "node-1/data", "--at", 60, "--to", 120)
    document = json.loads(kraftool("diff-state", "-o", "json", *epochs, *where).out)
    assert document["ignored"] == ["leaderEpoch", "partitionEpoch"]
    assert document["counts"]["partition"] == {"added": 6, "removed": 0, "changed": 0}
    ran = kraftool("diff-state", "--ignore", "epochs", *where)
    assert ran.code == 2
    assert "'epochs' is not a field" in ran.err


def test_a_long_table_is_cut_and_the_rest_is_counted(kraftool: Run) -> None:
    where = (UPGRADE / "node-1/data", "--at", 60, "--to", 120)
    ran = kraftool("diff-state", "--limit", 2, *where)
    assert "Partitions  6 added, 6 changed" in ran.text
    assert "… and 4 more; --limit 0 or -o jsonl has all" in ran.text
    assert ran.text.splitlines()[-1] == "29 differences"
    assert "more;" not in kraftool("diff-state", "--limit", 0, *where).text


@pytest.mark.parametrize(
    "arguments",
    [
        (UPGRADE / "node-1/data", "--at", "60", "--to", "120"),
        (UPGRADE / "node-1/data", "--at", "0"),
        (QUORUM / "node-4/data", QUORUM / "node-2/data"),
        (QUORUM / "node-1/data", QUORUM / "node-1/data"),
    ],
    ids=["two offsets", "from nothing", "two nodes", "the same"],
)
def test_document_and_lines_say_the_same(arguments: tuple[object, ...], kraftool: Run) -> None:
    ran = kraftool("diff-state", "-o", "json", *arguments)
    document = json.loads(ran.out)
    lines = kraftool("diff-state", "-o", "jsonl", *arguments).out.splitlines()
    values = [json.loads(line) for line in lines]
    first, *changed, last = values
    assert first["old"] == document["old"]
    assert changed == [{"kind": "change", **change} for change in document["changes"]]
    assert last["counts"] == document["counts"]
    assert document["isSame"] == (not document["changes"]) == (ran.code == 0)
    counted = sum(sum(by_type.values()) for by_type in document["counts"].values())
    assert counted == len(document["changes"])


def test_secrets_are_compared_and_masked(kraftool: Run, tmp_path: Path) -> None:
    logs = Logs(tmp_path / "data")
    logs.segment(
        0,
        [level()],
        [config("1", "ssl.key.password", "CANARY1", kind=4)],
        [config("1", "ssl.key.password", "CANARY2", kind=4)],
    )
    where = (logs.path, "--at", 2, "--to", 3)
    for form in ("table", "json", "jsonl"):
        ran = kraftool("diff-state", "-o", form, *where)
        assert ran.code == 1
        assert "CANARY" not in ran.text + ran.err
        assert "ssl.key.password" in ran.text
        assert "CANARY1" in kraftool("diff-state", "-o", form, "--show-secrets", *where).text
    assert "value [redacted] → [redacted]" in kraftool("diff-state", *where).text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "one PATH has only one state to compare"),
        (("--at-end",), "one PATH has only one state to compare"),
        (("--at-end", "--at", 5), "--at-end requires two PATHs"),
    ],
)
def test_one_path_without_an_offset_is_a_usage_error(
    arguments: tuple[object, ...], message: str, kraftool: Run
) -> None:
    ran = kraftool("diff-state", QUORUM / "node-1/data", *arguments)
    assert (ran.code, ran.out) == (2, b"")
    assert message in ran.err


def test_stdin_is_read_once(kraftool: Run) -> None:
    ran = kraftool("diff-state", "-", "-")
    assert ran.code == 2
    assert "stdin can be read only once" in ran.err


def test_damage_weighs_more_than_a_difference(kraftool: Run, tmp_path: Path) -> None:
    whole, damaged = Logs(tmp_path / "whole"), Logs(tmp_path / "damaged")
    whole.segment(0, [level()], [topic("a")], [topic("b")])
    path = damaged.segment(0, [level()], [topic("z")], [topic("b")])
    data = bytearray(path.read_bytes())
    data[-10] ^= 1
    path.write_bytes(data)
    ran = kraftool("diff-state", whole.path, damaged.path)
    assert ran.code == 3
    assert "compared at offset 2" in " ".join(ran.text.split())
    assert "KT-LOG-CRC" in ran.text
    assert "+ z" in ran.text
    assert "- a" in ran.text
