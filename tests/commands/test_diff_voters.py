"""`kraftool diff-voters` as people and programs see it: tables, JSON, exit codes."""

from __future__ import annotations

import csv
import json
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.reports.voter_cases import copied, make_node, server, started, voters
from tests.support.places import LOG, PARTITION

Run = Callable[..., Any]


@pytest.fixture
def quorum(fixtures_dir: Path) -> Path:
    return fixtures_dir / "kafka-4.3.0/dynamic-quorum"


def test_nodes_that_agree_end_with_0(quorum: Path, kraftool: Run) -> None:
    ran = kraftool("diff-voters", *(quorum / f"node-{id}/data" for id in (1, 2, 3, 4)))
    assert (ran.code, ran.err) == (0, "")
    lines = ran.text.splitlines()
    (row,) = [line for line in lines if line.startswith("    4  =")]
    assert row.split() == [
        "4", "=", "=", "=", "=", "6Zz9f7_tnXU2JaSjHqPdiQ", "0-1", "CONTROLLER://127.0.0.1:52501"
    ]  # fmt: skip
    assert any(" ".join(line.split()) == "80 3 L L L L committed voter 1 removed" for line in lines)
    assert "Voters: offset 80, epoch 3, committed, kraft.version 1" in ran.text


def test_everything_fits_80_columns(
    quorum: Path, kraftool: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(quorum)
    paths = [f"node-{id}/{name}" for id in (1, 2, 3) for name in ("data", "server.properties")]
    ran = kraftool("diff-voters", *paths)
    assert ran.code == 0
    assert max(map(len, ran.text.splitlines())) <= 80


def test_marks_of_many_sources_have_a_table_of_their_own(
    quorum: Path, kraftool: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(quorum)
    checkpoints = sorted((quorum / "node-2").glob("data/*/*.checkpoint"))
    ran = kraftool("diff-voters", *(f"node-{id}/data" for id in (1, 2, 3, 4, 12)), *checkpoints)
    lines = ran.text.splitlines()
    voters = lines.index("voter  directory id            range  endpoints")
    assert lines[voters + 1] == "    1  not a voter"
    assert "voter  A  B  C  D  E  F  G  H  I" in lines
    assert "    4  =  =  =  =  =  -  =  =  =" in lines


def test_a_stale_voter_is_marked_in_its_row(quorum: Path, tmp_path: Path, kraftool: Run) -> None:
    swapped = copied(quorum / "node-3", tmp_path / "node-3")
    meta = swapped / "data/meta.properties"
    meta.write_text(meta.read_text().replace("2Z8JApBiRl-Vj1-Gz3rfbg", "NewDiskNewDiskNewDiskA"))
    ran = kraftool("diff-voters", quorum / "node-2/data", swapped / "data")
    assert ran.code == 1
    (row,) = [line for line in ran.text.splitlines() if "2Z8JApBiRl-Vj1-Gz3rfbg" in line][:1]
    assert row.split()[1:3] == ["=", "≠"]
    assert "3 in B: this directory's own id is NewDiskNewDiskNewDiskA" in ran.text
    assert "KT-DIR-STALE-VOTER" in ran.text


def test_voters_that_differ_end_with_1_and_are_told_below_the_matrix(
    tmp_path: Path, kraftool: Run
) -> None:
    first = make_node(tmp_path / "1", 1, started().control(1, voters(1, 2, 3, 4)))
    other = make_node(tmp_path / "2", 2, started().control(2, voters(1, 2, 3, 5)), epoch=2)
    ran = kraftool("diff-voters", first, other)
    assert ran.code == 1
    assert "= the same   ≠ differs, see below   - not a voter there" in ran.text
    assert "4 in A: a voter, Directory-of-node-004A" in ran.text
    assert "KT-DIR-VOTERS-CONFLICT" in ran.text
    assert "offset 8 epoch 1: cannot be known: on 1 of 4 voters' directories given" in ran.text


def test_a_source_that_is_behind_ends_with_1_and_is_no_contradiction(
    quorum: Path, tmp_path: Path, kraftool: Run
) -> None:
    old = quorum / f"node-1/data/{PARTITION}/00000000000000000056-0000000002.checkpoint"
    ran = kraftool("diff-voters", old, quorum / "node-2/data")
    assert ran.code == 1
    assert "behind: ends before the newest change" in ran.text
    assert "KT-DIR-VOTERS-BEHIND" in ran.text
    assert "error" not in ran.text


def test_one_source_is_compared_with_itself(quorum: Path, kraftool: Run) -> None:
    for path in ("server.properties", "data", f"data/{PARTITION}", f"data/{PARTITION}/{LOG}"):
        ran = kraftool("diff-voters", quorum / "node-2" / path)
        assert ran.code == 0, ran.err
        assert "voter 1 removed" in ran.text


def test_what_cannot_be_read_ends_with_3_and_the_rest_is_shown(quorum: Path, kraftool: Run) -> None:
    ran = kraftool("diff-voters", quorum / "gone", quorum / "node-2/data")
    assert ran.code == 3
    assert "KT-DIR-READ" in ran.text
    assert "voter 1 removed" in ran.text


def test_a_stream_from_stdin_is_a_source(
    quorum: Path, tmp_path: Path, kraftool: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    with tarfile.open(tmp_path / "n.tar", "w") as archive:
        archive.add(quorum / "node-3/data", "data")
    ran = kraftool("diff-voters", quorum / "node-2/data", tmp_path / "n.tar")
    assert ran.code == 0
    assert "node 3" in ran.text
    assert kraftool("diff-voters", "-", "-").code == 2


def test_settings_alone_say_who_votes(tmp_path: Path, kraftool: Run) -> None:
    path = server(tmp_path / "s.properties", 1, controller_quorum_voters="1@a:9091,2@b:2")
    ran = kraftool("diff-voters", path)
    assert ran.code == 0
    assert "Voters: by controller.quorum.voters" in ran.text


def test_the_exit_code_is_what_the_document_says(
    fixtures_dir: Path, tmp_path: Path, kraftool: Run
) -> None:
    paths = [
        [*fixtures_dir.glob("kafka-4.3.0/dynamic-quorum/node-*/server.properties")],
        [*fixtures_dir.glob("kafka-4.4.0/upgrade/node-*/data")],
        [*fixtures_dir.glob("kafka-3.7.2/static-quorum/node-*/server.properties")],
        [*fixtures_dir.glob("damaged/*/*.log"), *fixtures_dir.glob("damaged/*/*.checkpoint")],
        [server(tmp_path / "s.properties", 1), tmp_path / "gone"],
        [
            make_node(tmp_path / "1", 1, started().control(1, voters(1, 2, 3, 4))),
            make_node(tmp_path / "2", 2, started().control(2, voters(1, 2, 3, 5)), epoch=2),
            make_node(tmp_path / "3", 3, started(), cluster="AnotherClusterIdAAAAAA"),
        ],
    ]
    commitments, kinds = set(), set()
    for path in paths:
        ran = kraftool("diff-voters", "-o", "json", *path)
        document = json.loads(ran.out)
        assert (ran.code == 0) == (
            not document["hasDifferences"]
            and not document["findingCounts"]["warning"]
            and not document["findingCounts"]["error"]
        )
        kinds |= {one["kind"] for one in document["sources"]}
        commitments |= {
            entry["commitment"] for one in document["sources"] for entry in one["history"]
        }
    assert {"committed", "formatted", "cannot be known offline"} <= commitments
    assert {"server.properties", "data directory", "settings", "unreadable"} <= kinds


def test_the_document_has_voters_and_history_by_source(quorum: Path, kraftool: Run) -> None:
    ran = kraftool("diff-voters", "-o", "json", quorum / "node-2/server.properties")
    document = json.loads(ran.out)
    assert (document["schemaVersion"], document["hasDifferences"], document["kraftVersion"]) == (
        3,
        False,
        1,
    )
    assert [voter["id"] for voter in document["newest"]["voterSet"]["voters"]] == [2, 3, 4]
    (source,) = document["sources"]
    last = source["history"][-1]
    assert (last["offset"], last["differences"], last["commitment"]) == (
        80,
        ["voter 1 removed"],
        "committed",
    )
    assert last["voters"][0] == {
        "id": 2,
        "directoryId": "vuSe5hpCRzWlSfeete_vAw",
        "endpoints": [{"listener": "CONTROLLER", "host": "127.0.0.1", "port": 41733}],
        "supportedKraftVersions": {"min": 0, "max": 1},
    }
    assert len(source["settings"]["bootstrapServers"]) == 4
    assert source["settings"]["advertisedEndpoints"] == [
        {"listener": "CONTROLLER", "host": "127.0.0.1", "port": 41733}
    ]


def test_csv_has_the_voters_of_every_source(quorum: Path, kraftool: Run) -> None:
    ran = kraftool("diff-voters", "-o", "csv", quorum / "node-1/data", quorum / "node-2/data")
    rows = list(csv.DictReader(ran.text.splitlines()))
    assert [row["id"] for row in rows[-3:]] == ["2", "3", "4"]
    assert {row["isBehind"] for row in rows} == {"false"}
    assert rows[-3]["endpoints"] == "CONTROLLER://127.0.0.1:41733"


def test_control_characters_of_settings_do_not_reach_a_terminal(
    tmp_path: Path, kraftool: Run
) -> None:
    path = server(tmp_path / "s.properties", 1, controller_quorum_voters="1@\\u001b[31mred:1")
    ran = kraftool("diff-voters", path)
    assert "\x1b" not in ran.text
    assert "\\u001b[31mred:1" in ran.text


def test_nothing_is_written(quorum: Path, tmp_path: Path, kraftool: Run) -> None:
    node = copied(quorum / "node-2", tmp_path / "node-2")
    before = {path: path.stat().st_mtime_ns for path in node.rglob("*")}
    kraftool("diff-voters", node / "data", node / "server.properties")
    assert {path: path.stat().st_mtime_ns for path in node.rglob("*")} == before
