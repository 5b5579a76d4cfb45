"""`kraftool features` as people and programs see it: tables, JSON, exit codes."""

from __future__ import annotations

import csv
import io
import json
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kraftool.image.metadata_version import LATEST_LEVEL, level_name
from tests.reports.feature_cases import Log, broker, controller, level, node
from tests.reports.voter_cases import make_node

Run = Callable[..., Any]
MV = "metadata.version"


@pytest.fixture
def quorum(fixtures_dir: Path) -> Path:
    return fixtures_dir / "kafka-4.3.0/dynamic-quorum"


def test_a_cluster_at_its_software_s_levels_ends_with_0(quorum: Path, kraftool: Run) -> None:
    ran = kraftool("features", quorum / "node-2/data")
    assert (ran.code, ran.err) == (0, "")
    (row,) = [line for line in ran.text.splitlines() if line.startswith("metadata.version ")]
    assert row.split()[:4] == ["metadata.version", "30", "4.3-IV0", "30"]
    assert "all nodes support metadata.version 30 (4.3-IV0): the cluster is there" in ran.text


def test_a_level_is_told_with_offset_and_time(quorum: Path, kraftool: Run) -> None:
    ran = kraftool("features", fixtures := quorum.parent / "upgrade/node-1/data", "--tz", "UTC")
    assert fixtures.exists()
    (row,) = [line for line in ran.text.splitlines() if line.startswith("metadata.version ")]
    assert row.split()[-2:] == ["34", "2026-11-21T04:12:14Z"]


def test_software_that_is_newer_than_the_levels_is_an_information(
    tmp_path: Path, kraftool: Run
) -> None:
    ran = kraftool("features", node(tmp_path, level(MV, 21), controller(1), broker(11)))
    assert ran.code == 0
    assert "metadata.version 30 (4.3-IV0): the cluster runs below it" in ran.text
    assert "→ kraftool features … --to 4.3-IV0" in ran.text


def test_what_is_blocked_ends_with_1_and_names_node_and_level(
    tmp_path: Path, kraftool: Run
) -> None:
    path = node(tmp_path, level(MV, 27), controller(1), broker(11), broker(12, "4.1"))
    ran = kraftool("features", path, "--to", "4.3")
    assert ran.code == 1
    assert "broker 12 supports metadata.version only from 7 (3.3-IV3) to 27 (4.1-IV1)" in " ".join(
        ran.text.split()
    )
    assert "kafka-features.sh" not in ran.text


def test_what_is_not_ends_with_0_and_the_command(tmp_path: Path, kraftool: Run) -> None:
    ran = kraftool("features", node(tmp_path, level(MV, 27), controller(1), broker(11)), "--to=4.2")
    assert ran.code == 0
    assert "Nothing known blocks it." in ran.text
    words = " ".join(ran.text.split())
    assert "kafka-features.sh --bootstrap-server HOST:9092 upgrade --release-version 4.2" in words


def test_a_refused_downgrade_names_records_and_losses(quorum: Path, kraftool: Run) -> None:
    ran = kraftool("features", quorum / "node-2/data", "--to", "3.9")
    assert ran.code == 1
    words = " ".join(ran.text.split())
    assert (
        "records changed at 23 (4.0-IV1), 30 (4.3-IV0): Kafka refuses, even with --unsafe" in words
    )
    assert "eligible leader replicas of partitions: " in words
    assert "RegisterBrokerRecord v4" in words


def test_a_false_upgrade_is_a_finding(fixtures_dir: Path, kraftool: Run) -> None:
    ran = kraftool("features", fixtures_dir / "kafka-3.9.1/upgrade/node-1/data")
    assert ran.code == 1
    assert "KT-LOG-FALSE-UPGRADE" in ran.text
    row = next(line for line in ran.text.splitlines() if line.startswith("kraft.version "))
    assert row.split()[1] == "0"


def test_a_voter_of_the_settings_that_never_registered_is_named(
    tmp_path: Path, kraftool: Run
) -> None:
    voters = "1@localhost:9091,2@localhost:9092"
    path = node(tmp_path, level(MV, 30), controller(1), broker(11), voters=voters)
    ran = kraftool("features", path)
    assert ran.code == 0
    assert "never registered: 2" in ran.text
    assert kraftool("features", path, "--feature", "group.version=1").code == 1


@pytest.mark.parametrize("arguments", [(), ("--to", "3.3"), ("--to", "4.4")])
def test_every_cluster_fits_80_columns(
    arguments: tuple[str, ...],
    fixtures_dir: Path,
    kraftool: Run,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(fixtures_dir)
    folders = sorted(Path().glob("kafka-*/*/node-1/data"))
    assert len(folders) > 12
    for folder in folders:
        ran = kraftool("features", folder, *arguments)
        assert ran.code in (0, 1), ran.err
        long = [line for line in ran.text.splitlines() if len(line) > 80]
        assert not [line for line in long if len(line.split()) > 1], "a path is never broken"
        document = json.loads(kraftool("features", "-o", "json", folder, *arguments).out)
        assert (document["plan"] is None) == (not arguments)


def test_json_has_the_whole_plan(tmp_path: Path, kraftool: Run) -> None:
    path = node(tmp_path, level(MV, 27), controller(1), broker(11), broker(12, "4.1"))
    document = json.loads(kraftool("features", "-o", "json", path, "--to", "4.3").out)
    assert document["plan"]["isBlocked"] is True
    first = document["plan"]["blockers"][0]
    assert (first["rule"], first["blockingNodes"], first["blockingLevels"]) == (
        "range of a node",
        ["broker 12"],
        [7, 27],
    )
    by_name = {feature["name"]: feature for feature in document["features"]}
    assert (by_name[MV]["level"], by_name[MV]["levelName"], by_name[MV]["offset"]) == (
        27,
        "4.1-IV1",
        0,
    )
    assert document["nodes"][0]["software"] == "4.3"


def test_an_archive_reads_like_the_directory(quorum: Path, tmp_path: Path, kraftool: Run) -> None:
    archive = tmp_path / "node.tar"
    with tarfile.open(archive, "w") as tar:
        tar.add(quorum / "node-2/data", arcname="data")
    there = json.loads(kraftool("features", "-o", "json", quorum / "node-2/data").out)
    packed = json.loads(kraftool("features", "-o", "json", archive).out)
    for name in ("offset", "nodes", "voterIds", "reach"):
        assert packed[name] == there[name]
    levels = [
        (feature["name"], feature["level"], feature["offset"]) for feature in there["features"]
    ]
    assert [(e["name"], e["level"], e["offset"]) for e in packed["features"]] == levels
    piped = json.loads(kraftool("features", "-o", "json", "-", stdin=archive.read_bytes()).out)
    assert [(e["name"], e["level"], e["offset"]) for e in piped["features"]] == levels
    assert [(e["nodeId"], e["endOffset"]) for e in piped["sources"]] == [
        (e["nodeId"], e["endOffset"]) for e in there["sources"]
    ]


def test_an_archive_of_several_nodes_has_a_source_for_each(
    quorum: Path, tmp_path: Path, kraftool: Run
) -> None:
    archive = tmp_path / "nodes.tar"
    folders = [f"node-{number}/data" for number in (1, 2, 3)]
    with tarfile.open(archive, "w") as tar:
        for folder in folders:
            tar.add(quorum / folder, arcname=folder)
    packed = json.loads(kraftool("features", "-o", "json", archive).out)
    paths = [quorum / folder for folder in folders]
    there = json.loads(kraftool("features", "-o", "json", *paths).out)
    assert len(packed["sources"]) == 3
    for name in ("offset", "nodes", "voterIds", "reach"):
        assert packed[name] == there[name]
    newest = [source["isNewest"] for source in packed["sources"]]
    assert newest == [source["isNewest"] for source in there["sources"]]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--to", "4.3-IV7"), f"no Kafka up to {level_name(LATEST_LEVEL)}"),
        (("--feature", "share.version"), "is not NAME=LEVEL"),
    ],
)
def test_what_cannot_be_done_is_said(
    arguments: tuple[str, ...], words: str, quorum: Path, kraftool: Run
) -> None:
    ran = kraftool("features", quorum / "node-2/data", *arguments)
    assert ran.code == 2
    assert words in ran.err
    assert ran.out == b""


def test_damage_is_told_with_what_came_before_it(tmp_path: Path, kraftool: Run) -> None:
    log = Log().data_records(level(MV, 30), controller(1), broker(11))
    log.data_records(level("group.version", 1))
    log.data = log.data[:-3] + b"\xff" * 40
    ran = kraftool("features", make_node(tmp_path, 1, log))
    assert ran.code == 3
    assert "metadata.version" in ran.text
    assert "KT-LOG-" in ran.text


def test_no_damaged_fixture_makes_it_fail(fixtures_dir: Path, kraftool: Run) -> None:
    for path in sorted((fixtures_dir / "damaged").iterdir()):
        for target in (path, *sorted(path.glob("*.log")), *sorted(path.glob("*.checkpoint"))):
            ran = kraftool("features", target, "--to", "3.9")
            assert "Traceback" not in ran.err, target
            assert ran.code in (0, 1, 2, 3), (target, ran.err)


def test_names_of_data_do_not_act_on_the_terminal(tmp_path: Path, kraftool: Run) -> None:
    odd = "x\x1b[31m[red]‮"
    path = node(tmp_path, level(MV, 30), level(odd, 1), controller(1), broker(11))
    ran = kraftool("features", path, "--to", "4.3")
    assert "\x1b" not in ran.text
    assert "‮" not in ran.text
    assert "[red]" in ran.text


def test_a_path_that_leads_nowhere_is_a_finding_and_the_rest_is_told(
    fixtures_dir: Path, kraftool: Run, tmp_path: Path
) -> None:
    good = fixtures_dir / "kafka-4.3.0/static-single/node-1/data"
    alone = kraftool("features", good)
    ran = kraftool("features", good, tmp_path / "nowhere")
    assert (alone.code, ran.code) == (0, 3)
    assert "KT-DIR-READ" in ran.text
    assert str(tmp_path / "nowhere") in "".join(ran.text.split())
    assert any(line.startswith("metadata.version ") for line in ran.text.splitlines())


def test_an_archive_that_cannot_be_read_is_a_finding_and_the_rest_is_told(
    quorum: Path, tmp_path: Path, kraftool: Run
) -> None:
    archive = tmp_path / "node.tar.gz"
    archive.write_bytes(b"\x1f\x8b\x08\x00" + bytes(range(256)))
    ran = kraftool("features", "-o", "json", archive, quorum / "node-2/data")
    document = json.loads(ran.out)
    (finding,) = document["findings"]
    assert (ran.code, finding["code"], finding["file"]) == (3, "KT-DIR-READ", str(archive))
    assert [source["isNewest"] for source in document["sources"]] == [True]
    alone = kraftool("features", archive)
    assert (alone.code, alone.out) == (3, b"")
    assert f"{archive}: the gzip data is damaged" in alone.err


def test_csv_has_a_row_for_each_feature(quorum: Path, kraftool: Run) -> None:
    path = quorum / "node-2/data"
    rows = list(csv.DictReader(io.StringIO(kraftool("features", "-o", "csv", path).text)))
    document = json.loads(kraftool("features", "-o", "json", path).out)
    assert [(row["name"], row["levelName"], int(row["level"])) for row in rows] == [
        (feature["name"], feature["levelName"], feature["level"])
        for feature in document["features"]
    ]
