"""`kraftool state`: the overview, the tables, the tree and the exports, and how a run ends."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kraftool.commands.state import StateSection
from kraftool.image.state_hash import state_hash
from kraftool.reports.state.load import load_state
from kraftool.reports.text.printable import UNSAFE
from tests.reports.state_logs import BEGIN, NO_OP, Logs, level, stamp, topic
from tests.support.places import FIXTURES

Run = Callable[..., Any]
QUORUM = FIXTURES / "kafka-4.3.0/dynamic-quorum"
STOPPED = FIXTURES / "kafka-4.3.0/upgrade/node-1/data"
SECTIONS = tuple(state_section.value for state_section in StateSection)


# --- tables ---------------------------------------------------------------------------------------


def test_the_overview_says_which_brokers_are_fenced(kraftool: Run) -> None:
    ran = kraftool("state", STOPPED)
    assert ran.code == 0
    rows = [" ".join(line.split()) for line in ran.text.splitlines()]
    assert "state at offset 160, epoch 6, 2026-11-21T04:12:37.691Z" in rows
    assert "metadata.version 30 (4.3-IV0)" in rows
    assert "brokers 1, all fenced: 11" in rows
    assert "partitions 13, 13 offline, 13 under min ISR, 13 under-replicated" in rows
    assert "SCRAM SCRAM-SHA-256 3 users, SCRAM-SHA-512 1 user" in rows
    assert "next producer id 1000" in rows
    assert f"state hash {state_hash(load_state(str(STOPPED)).image)}" in rows
    assert any(row.startswith("11 fenced, shut down 107 -") for row in rows)


def test_a_healthy_cluster_is_said_to_be_one(kraftool: Run) -> None:
    text = kraftool("state", QUORUM / "node-1/data").text
    assert "2, all unfenced" in text
    assert "6, all in sync" in text


@pytest.mark.parametrize("columns", [60, 80, 120])
def test_no_line_is_wider_than_the_terminal(
    columns: int, kraftool: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    sections = [word for section in SECTIONS if section != "partitions" for word in ("-s", section)]
    for arguments in ((), sections) if columns >= 80 else ((),):
        ran = kraftool("state", *arguments, QUORUM / "node-1/data")
        body = ran.text.splitlines()[1:]  # the path is never broken
        # A word is never broken, so that it can be copied: the hash is one.
        assert not [line for line in body if len(line) > columns and len(line.split()) > 1]


def test_every_section_has_a_table_with_what_there_is(
    kraftool: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "160")
    rows = {
        section: kraftool("state", "-s", section, STOPPED).text.splitlines() for section in SECTIONS
    }
    assert [lines[0] for lines in rows.values()] == [
        "Topics", "Partitions", "Brokers", "Controllers", "Features", "Configs", "Client quotas",
        "ACLs", "SCRAM credentials", "Delegation tokens",
    ]  # fmt: skip
    assert any("TOPIC orders-a" in line and "ALLOW" in line for line in rows["acls"])
    assert any("listener.name.sasl" in line and "redacted" in line for line in rows["configs"])
    assert len(rows["partitions"]) > 13
    empty = kraftool("state", "-s", "tokens", QUORUM / "node-1/data")
    assert empty.text == "Delegation tokens: none\n"


def test_the_partitions_of_a_topic_by_its_name_or_id(kraftool: Run) -> None:
    image = load_state(str(STOPPED)).image
    by_name = kraftool("state", "--topic", "orders-b", STOPPED)
    by_id = kraftool("state", "--topic", image.topics.by_name["orders-b"].id, STOPPED)
    assert by_name.out == by_id.out
    assert by_name.text.splitlines()[0].startswith("Partitions of orders-b, topic id ")
    assert len(by_name.text.splitlines()) >= 2 + 5
    assert re.match(r"orders-b-0 +none ", by_name.text.splitlines()[2])
    unknown = kraftool("state", "--topic", "nope", STOPPED)
    assert (unknown.code, unknown.out) == (2, b"")
    assert "no such topic" in unknown.err


def test_a_long_table_is_cut_and_the_rest_is_counted(kraftool: Run) -> None:
    cut = kraftool("state", "-s", "partitions", "--limit", 3, STOPPED).text
    assert cut.splitlines()[-1] == "… and 10 more; --limit 0 or -o jsonl has all"
    whole = kraftool("state", "-s", "partitions", "--limit", 0, STOPPED).text
    assert "more" not in whole


def test_an_open_transaction_is_told_and_not_shown(kraftool: Run, tmp_path: Path) -> None:
    logs = Logs(tmp_path / "data")
    logs.segment(0, [level()], [BEGIN, topic("unseen")], [topic("neither")])
    ran = kraftool("state", logs.path)
    assert "open 'work' since offset 1; its 2 records are not shown" in " ".join(ran.text.split())
    assert "at offset 1," in ran.text
    for arguments in (("-s", "topics"), ("-o", "tree"), ("-o", "jsonl")):
        assert b"unseen" not in kraftool("state", *arguments, logs.path).out
    document = json.loads(kraftool("state", "-o", "json", logs.path).out)
    assert document["loadedFrom"]["openTransaction"] == {
        "offset": 1, "name": "work", "recordCount": 2
    }  # fmt: skip


# --- where ----------------------------------------------------------------------------------------


def test_an_offset_is_exclusive(kraftool: Run, tmp_path: Path) -> None:
    logs = Logs(tmp_path / "data")
    logs.segment(0, [level()], [topic("a")], [topic("b")])
    for at, count in ((0, 0), (1, 0), (2, 1), (3, 2)):
        document = json.loads(kraftool("state", "-o", "json", "--at", at, logs.path).out)
        assert (document["provenance"]["offset"], document["counts"]["topicCount"]) == (at, count)


def test_an_offset_that_is_not_there_is_told_with_those_that_are(
    kraftool: Run, tmp_path: Path
) -> None:
    logs = Logs(tmp_path / "data")
    logs.snapshot(4, level())
    logs.segment(4, [NO_OP])
    ran = kraftool("state", "--at", 6, logs.path)
    assert (ran.code, ran.out) == (3, b"")
    assert "the log ends at 5; there is no state at 6" in ran.err
    assert "there are states from 4 to 5" in ran.err
    ran = kraftool("state", "--at", 3, logs.path)
    assert (ran.code, ran.out) == (3, b"")
    assert "there are states from 4 on" in ran.err


def test_a_time_chooses_the_state(kraftool: Run, tmp_path: Path) -> None:
    logs = Logs(tmp_path / "data")
    logs.segment(0, [level()], [topic("a")], [topic("b")])
    for moment in (str(stamp(1, 1)), "2023-11-14T22:13:21.001Z", "2023-11-14T23:13:21.001+01:00"):
        document = json.loads(kraftool("state", "-o", "json", "--at-time", moment, logs.path).out)
        assert [entry["name"] for entry in document["topics"]] == ["a"]
    ran = kraftool("state", "--at-time", "tomorrow", logs.path)
    assert ran.code == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--at", 1, "--at-time", "2h"), "--at and --at-time contradict each other"),
        (("-o", "json", "--section", "topics"), "-o json has everything"),
        (("-o", "tree", "--topic", "a"), "-o tree has everything"),
        (("--section", "nonsense"), "nonsense"),
    ],
)
def test_what_makes_no_sense_is_a_usage_error(
    arguments: tuple[object, ...], message: str, kraftool: Run
) -> None:
    ran = kraftool("state", *arguments, STOPPED)
    assert (ran.code, ran.out) == (2, b"")
    assert message in ran.err


def test_a_directory_without_metadata_is_told(kraftool: Run) -> None:
    ran = kraftool("state", QUORUM / "node-11/data-b")
    assert (ran.code, ran.out) == (3, b"")
    assert "no log segment in it" in ran.err


# --- findings -------------------------------------------------------------------------------------


def damaged(tmp_path: Path) -> Logs:
    logs = Logs(tmp_path / "data")
    path = logs.segment(0, [level()], [topic("a")], [topic("b")])
    data = bytearray(path.read_bytes())
    data[-10] ^= 1
    path.write_bytes(data)
    return logs


def test_damage_is_told_and_what_is_before_it_is_shown(kraftool: Run, tmp_path: Path) -> None:
    logs = damaged(tmp_path)
    ran = kraftool("state", logs.path)
    assert ran.code == 3
    assert "1 error" in ran.text
    assert "KT-LOG-CRC" in ran.text
    assert "topics            1" in ran.text
    ran = kraftool("state", "-o", "json", logs.path)
    document = json.loads(ran.out)
    assert ran.code == 3
    assert [finding["code"] for finding in document["findings"]] == ["KT-LOG-CRC"]
    assert document["findingCounts"] == {"error": 1, "warning": 0, "info": 0}
    for arguments in (("-s", "topics"), ("-o", "jsonl"), ("-o", "tree")):
        ran = kraftool("state", *arguments, logs.path)
        assert ran.code == 3
        assert "CRC" in ran.text + ran.err
    assert kraftool("state", "--at", 2, logs.path).code == 0


def test_a_missing_snapshot_is_a_finding(kraftool: Run, tmp_path: Path) -> None:
    logs = Logs(tmp_path / "data")
    logs.segment(5, [topic("a")])
    ran = kraftool("state", logs.path)
    assert ran.code == 1
    assert "KT-SNAP-MISSING" in ran.text


# --- exports --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "node",
    [
        "built/aborted-transaction/node-1",
        "kafka-3.3.2/static-single/node-1",
        "kafka-3.9.1/upgrade/node-2",
        "kafka-4.3.0/upgrade/node-1",
        "kafka-4.4.0/dynamic-quorum/node-4",
    ],
)
@pytest.mark.parametrize("secrets", [(), ("--show-secrets",)])
def test_document_and_lines_fit_the_schema(
    node: str, secrets: tuple[str, ...], kraftool: Run
) -> None:
    path = FIXTURES / node / "data"
    document = json.loads(kraftool("state", "-o", "json", *secrets, path).out)
    assert document["schemaVersion"] == 3
    kinds = set()
    for line in kraftool("state", "-o", "jsonl", *secrets, path).out.splitlines():
        value = json.loads(line)
        kinds.add(value["kind"])
    assert {"state", "feature", "broker"} <= kinds


def test_the_findings_of_a_damaged_log_are_in_document_and_lines(
    kraftool: Run, tmp_path: Path
) -> None:
    path = damaged(tmp_path).path
    document = json.loads(kraftool("state", "-o", "json", path).out)
    lines = map(json.loads, kraftool("state", "-o", "jsonl", path).out.splitlines())
    findings = [line for line in lines if line["kind"] == "finding"]
    assert findings == [{"kind": "finding", **finding} for finding in document["findings"]] != []


def test_the_tree_is_that_of_the_shell(kraftool: Run, tmp_path: Path) -> None:
    logs = Logs(tmp_path / "data")
    logs.segment(0, [level()], [topic("plain"), topic("other")])
    tree = kraftool("state", "-o", "tree", logs.path)
    assert tree.code == 0
    assert "plain" in tree.text
    assert tree.out == kraftool("shell", "-q", "-c", "tree /", logs.path).out


def test_nothing_in_the_tree_acts_on_a_terminal_behind_a_pipe(kraftool: Run) -> None:
    """As with `| less -R` or `| head`; the shell is for what has to be verbatim."""
    path = QUORUM / "node-2/data"
    assert "\x1b[31mred" in kraftool("shell", "-q", "-c", "tree /", path).text
    tree = kraftool("state", "-o", "tree", path)
    assert "\\u001b[31mred" in tree.text
    assert not UNSAFE.search(tree.text)


def test_a_stream_is_read_like_its_directory(kraftool: Run, tmp_path: Path) -> None:
    archive = shutil.make_archive(str(tmp_path / "node"), "gztar", QUORUM / "node-2", "data")
    for arguments in ((), ("--at", "150")):
        ours, theirs = (
            json.loads(kraftool("state", "-o", "json", *arguments, path).out)
            for path in (archive, QUORUM / "node-2/data")
        )
        assert ours.pop("loadedFrom") != theirs.pop("loadedFrom")
        assert ours == theirs


def test_secrets_are_shown_on_demand_only(kraftool: Run) -> None:
    for form in ("json", "jsonl"):
        masked = kraftool("state", "-o", form, STOPPED).text
        shown = kraftool("state", "-o", form, "--show-secrets", STOPPED).text
        assert "CANARY" not in masked
        assert "CANARY" in shown
        assert '"salt":"[redacted]"' in masked
        assert '"salt":"[redacted]"' not in shown


def test_a_name_that_is_no_utf8_does_not_break_the_export(kraftool: Run, tmp_path: Path) -> None:
    logs = Logs(tmp_path / "data")
    name = b"a\xff".decode("utf-8", "surrogateescape")
    logs.segment(0, [level()], [("TopicRecord", 0, {"name": name, "topicId": "A" * 21 + "Q"})])
    for form in ("table", "json", "jsonl", "tree"):
        assert kraftool("state", "-o", form, logs.path).code == 0
    document = json.loads(kraftool("state", "-o", "json", logs.path).out)
    assert document["topics"][0]["name"].startswith("a\\")
    assert kraftool("state", "-s", "topics", logs.path).code == 0


def test_the_partitions_of_a_topic_are_not_all_partitions(kraftool: Run) -> None:
    both = kraftool("state", STOPPED, "-s", "partitions", "--topic", "orders-b")
    alone = kraftool("state", STOPPED, "--topic", "orders-b")
    assert both.code == 0
    assert both.text == alone.text
