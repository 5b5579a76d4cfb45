"""`kraftool dump`: what it shows of directories, files and streams, and how it ends."""

import csv
import io
import json
import re
import shutil
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kraftool.decoders.batch import encode_batch
from tests.support.places import LOG, ROOT

pytestmark = pytest.mark.slow

Run = Callable[..., Any]

DAMAGED = ROOT / "fixtures" / "damaged"
RELEASES = sorted(path.name for path in (ROOT / "fixtures").glob("kafka-*"))
CASES = sorted(path.parent for path in DAMAGED.glob("*/SOURCE"))
NODE = "kafka-4.3.0/dynamic-quorum/node-2"
PARTITION = f"{NODE}/data/__cluster_metadata-0"
ESCAPE = re.compile(r"\x1b\[[0-9;]*m")


def tarred(*paths: Path, below: Path) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for path in paths:
            archive.add(path, arcname=str(path.relative_to(below)))
    return buffer.getvalue()


def test_a_directory_answers_at_a_glance(kraftool: Run, fixtures_dir: Path) -> None:
    ran = kraftool("dump", fixtures_dir / NODE / "data")
    assert ran.code == 0
    for words in (
        "2, a voter, directory vuSe5hpCRzWlSfeete_vAw",
        "xxuyFdGYSvOPfcYJRNjaMA",
        "epoch 3, leader 2",
        "CONTROLLER://127.0.0.1:41733",
        "offsets 0 to 223 (end offset 224), epochs 1 to 3",
        "30 (4.3-IV0)",
        "13 files readable",
        "this node, leader",
    ):
        assert words in ran.text, words


@pytest.mark.parametrize("columns", [60, 80, 120])
@pytest.mark.parametrize("release", RELEASES)
def test_the_tables_fit_the_terminal(
    kraftool: Run, fixtures_dir: Path, release: str, columns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.chdir(fixtures_dir)
    for path in sorted(Path(release).glob("*/node-*/data*")):
        lines = kraftool("dump", path).text.splitlines()
        # Only paths and commands are never broken, so that they can be copied.
        long = [line for line in lines[2:] if len(line) > columns]
        assert not [line for line in long if not line.startswith("    $ ")], path
        assert not [line for line in lines if "…" in line], path


def test_color_has_meaning_and_says_nothing_more(kraftool: Run, fixtures_dir: Path) -> None:
    path = fixtures_dir / "damaged/flipped-bit-in-record"
    colored = kraftool("dump", "--color", "always", path)
    plain = kraftool("dump", "--color", "never", path)
    assert "\x1b[" in colored.text
    assert "\x1b[" not in plain.text
    assert ESCAPE.sub("", colored.text) == plain.text
    assert colored.code == plain.code == 3, "a batch could not be decoded"


def test_every_real_and_damaged_path_has_a_document(kraftool: Run, fixtures_dir: Path) -> None:
    paths = [
        *fixtures_dir.glob("kafka-*/*/node-*/data*"),
        *fixtures_dir.glob("kafka-4.*/*/node-1/server.properties"),
        *(child for child in (fixtures_dir / NODE).rglob("*") if child.is_file()),
        *(child for child in fixtures_dir.glob("kafka-3.3.2/static-single/node-1/data/*")),
        *(child for child in DAMAGED.glob("*/*") if child.name != "SOURCE"),
    ]
    kinds = set()
    for path in paths:
        if path.is_dir() and not path.name.startswith(("data", "__cluster")):
            continue
        ran = kraftool("dump", "-o", "json", path)
        document = json.loads(ran.out)
        files = [file_entry for one in document["directories"] for file_entry in one["files"]]
        kinds |= {file_entry["kind"] for file_entry in document["files"] + files}
    assert len(kinds) >= 12, kinds
    properties = fixtures_dir / NODE / "server.properties"
    ran = kraftool("dump", "--as", "properties", "-o", "json", properties)
    (file,) = json.loads(ran.out)["files"]
    assert file["content"]["settings"]["process.roles"]


def test_csv_has_a_row_for_each_file(kraftool: Run, fixtures_dir: Path) -> None:
    path = fixtures_dir / NODE / "data"
    rows = list(csv.DictReader(io.StringIO(kraftool("dump", "-o", "csv", path).text)))
    (directory,) = json.loads(kraftool("dump", "-o", "json", path).out)["directories"]
    assert [(row["path"], row["kind"], int(row["size"])) for row in rows] == [
        (file["path"], file["kind"], file["size"]) for file in directory["files"]
    ]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_every_damaged_file_is_told_with_its_place_and_code(case: Path, kraftool: Run) -> None:
    expected = json.loads((case / "SOURCE").read_text())
    worst, positions = 0, []
    for path in sorted(child for child in case.rglob("*") if child.is_file()):
        if path.name == "SOURCE":
            continue
        ran = kraftool("dump", "-o", "json", path)
        as_text = kraftool("dump", path)
        assert as_text.code == ran.code
        assert "Traceback" not in as_text.err
        findings = json.loads(ran.out)["findings"]
        positions += [finding["position"] for finding in findings]
        for finding in findings:
            assert finding["code"] in as_text.text or len(findings) > 3
        worst = max(worst, ran.code)
    if case.name == "wrong-cluster-id":  # which no file by itself tells
        data = tarred(case / "one", case / "two", below=case)
        ran = kraftool("dump", "-", stdin=data)
        assert "KT-DIR-CLUSTER-ID" in ran.text
        worst = ran.code
    assert worst == expected["exitCode"]
    assert set(expected["positions"]) <= set(positions)


def test_a_tar_stream_gives_a_summary_for_each_directory(
    kraftool: Run, fixtures_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scenario = fixtures_dir / "kafka-4.3.0/dynamic-quorum"
    data = tarred(scenario / "node-2/data", scenario / "node-3/data", below=scenario)
    ran = kraftool("dump", "-o", "json", "-", stdin=data)
    monkeypatch.chdir(scenario)
    directories = json.loads(ran.out)["directories"]
    assert [directory["path"] for directory in directories] == ["node-2/data", "node-3/data"]
    for streamed in directories:
        ran = kraftool("dump", "-o", "json", streamed["path"])
        (direct,) = json.loads(ran.out)["directories"]
        for name in ("node", "log", "leaderChange", "features", "recordTypes", "findings"):
            assert streamed[name] == direct[name], name
        assert [file["size"] for file in streamed["files"]] == [
            file["size"] for file in direct["files"]
        ]


def test_dead_fields_of_quorum_state_are_marked(kraftool: Run, fixtures_dir: Path) -> None:
    path = fixtures_dir / "kafka-4.3.0/static-single/node-1/data/__cluster_metadata-0/quorum-state"
    text = kraftool("dump", path).text
    dead = [line.split()[0] for line in text.splitlines() if "dead field" in line]
    assert dead == ["clusterId", "appliedOffset", "currentVoters"]
    state = json.loads(kraftool("dump", "-o", "json", path).out)["files"][0]["content"][
        "quorumState"
    ]
    assert "appliedOffset" not in state
    assert state["deadFields"]["appliedOffset"] == 0


def test_entries_beyond_the_bound_are_counted(kraftool: Run, tmp_path: Path) -> None:
    path = tmp_path / f"{0:020}.index"
    path.write_bytes(
        b"".join((number * 10).to_bytes(4, "big") * 2 for number in range(1, 101)) + bytes(800)
    )
    text = kraftool("dump", path).text
    assert "… and 80 more" in text
    assert "800 bytes of preallocated zeros" in text
    both = kraftool("dump", "--head", "1", "--tail", "2", path).text
    assert re.findall(r"^ *(\d+) +\d+ *$", both, re.MULTILINE) == ["10", "990", "1000"]
    assert "97 more" in both


def test_records_appends_what_dump_log_shows(kraftool: Run, fixtures_dir: Path) -> None:
    path = fixtures_dir / PARTITION / LOG
    listed = kraftool("dump-log", path).text.splitlines()
    assert kraftool("dump", "--records", path).text.splitlines()[-len(listed) :] == listed


def test_nothing_of_the_data_acts_on_the_terminal(kraftool: Run, tmp_path: Path) -> None:
    (tmp_path / "meta.properties").write_bytes(
        b"version=1\ncluster.id=\x1b]0;own\x07[red]x[/red]\nnode.id=1\nodd=\xc2\x9b31m\n"
    )
    evil = tmp_path / "\x1b[31mevil\n[bold]"
    evil.write_text("x")
    for arguments in ((tmp_path,), (tmp_path / "meta.properties",), (evil,)):
        text = kraftool("dump", *arguments).text
        assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]", text)
    assert "[red]x[/red]" in kraftool("dump", tmp_path).text


def test_secrets_are_masked_unless_asked_for(kraftool: Run, fixtures_dir: Path) -> None:
    node = fixtures_dir / "kafka-4.3.0/static-single/node-1"
    for path in (node / "data", node / "server.properties"):
        for form in ("table", "json"):
            assert "CANARY" not in kraftool("dump", "-o", form, path).text
    assert "CANARY" not in kraftool("dump", "--records", node / "data").text
    file = node / "server.properties"
    assert "CANARY" not in kraftool("dump", "--as", "properties", file).text
    assert "CANARY" in kraftool("dump", "--as", "properties", "--show-secrets", file).text


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["no-such-path"], 3),
        (["--as", "nonsense", "x"], 2),
        (["--as", "log", "-"], 2),
        (["--records", "-o", "json", "x"], 2),
        (["--tz", "Nowhere/Land", "x"], 2),
    ],
)
def test_what_cannot_be_done_is_a_sentence(kraftool: Run, arguments: list[str], code: int) -> None:
    ran = kraftool("dump", *arguments)
    assert ran.code == code
    assert ran.err.startswith("kraftool: ")
    assert not ran.out


def test_a_file_of_no_kind_asks_for_one(kraftool: Run, tmp_path: Path) -> None:
    path = tmp_path / "whatever"
    path.write_bytes(b"\x00\x01\x02 neither fish nor fowl")
    ran = kraftool("dump", path)
    assert ran.code == 3
    assert "--as KIND" in ran.text


def test_thousands_of_topic_folders_are_counted_and_not_read(
    kraftool: Run, tmp_path: Path, fixtures_dir: Path
) -> None:
    (tmp_path / "meta.properties").write_text("version=1\ncluster.id=c\nnode.id=1\n")
    for number in range(2000):
        (tmp_path / f"topic-{number}").mkdir()
    ran = kraftool("dump", tmp_path)
    assert "2000 topic partitions" in ran.text
    assert ran.code == 0, ran.text


def test_what_is_wrong_shows_in_the_summary_too(
    kraftool: Run, tmp_path: Path, fixtures_dir: Path
) -> None:
    data = tmp_path / "data"
    shutil.copytree(fixtures_dir / NODE / "data", data)
    meta, state = data / "meta.properties", data / "__cluster_metadata-0/quorum-state"
    meta.write_text(meta.read_text().replace("vuSe5hpCRzWlSfeete_vAw", "AAAAAAAAAAAAAAAAAAAAZw"))
    state.write_text("{")
    ran = kraftool("dump", data)
    assert ran.code == 3
    assert "not a voter: its directory id is another" in ran.text
    assert re.search(r"^quorum-state +unreadable", ran.text, re.MULTILINE)
    assert "never delete it" in ran.text


def test_a_log_in_which_no_crc_holds_has_no_epoch(kraftool: Run, tmp_path: Path) -> None:
    batch = bytearray(
        encode_batch([(None, b"\x01\x14\x00\x00")], base_offset=0, epoch=1, timestamp=1)
    )
    batch[-1] ^= 1
    path = tmp_path / "00000000000000000000.log"
    path.write_bytes(bytes(batch))
    ran = kraftool("dump", path)
    assert ran.code == 3
    assert b"KT-LOG-CRC" in ran.out
    assert b"epochs" not in ran.out


def test_files_of_entries_that_cannot_be_read_are_marked_as_damaged(
    kraftool: Run, fixtures_dir: Path, tmp_path: Path
) -> None:
    """On a full disk Kafka 4.4.0 created the next segment's files, and wrote nothing."""
    data = shutil.copytree(fixtures_dir / "kafka-4.4.0/dynamic-quorum/node-1/data", tmp_path / "d")
    empty = data / "__cluster_metadata-0" / f"{10**6:020}.snapshot"
    empty.write_bytes(b"")
    ran = kraftool("dump", data)
    (row,) = [line for line in ran.text.splitlines() if line.startswith(f"  {empty.name}")]
    assert row.endswith("0 B  0 producers, damaged")
