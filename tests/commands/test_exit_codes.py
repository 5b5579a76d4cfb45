"""One damage ends all commands that report findings alike; a bad PATH costs no other."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.copies import writable
from tests.support.places import LOG, PARTITION

Run = Callable[..., Any]
NODE = "kafka-4.3.0/static-single/node-1/data"
COMMANDS = {
    "dump": ("dump",),
    "verify-log": ("verify-log",),
    "state": ("state",),
    "timeline": ("timeline",),
    "diff-voters": ("diff-voters",),
    "doctor": ("doctor",),
    "shell": ("shell", "-c", "ls"),
}


@pytest.fixture
def path(fixtures_dir: Path, tmp_path: Path) -> Path:
    return writable(fixtures_dir / NODE, tmp_path / "data")


def torn(path: Path) -> None:
    log = path / PARTITION / LOG
    log.write_bytes(log.read_bytes()[:-5])


def zeroed(path: Path) -> None:
    with (path / PARTITION / LOG).open("ab") as file:
        file.write(bytes(5000))


def flipped(path: Path) -> None:
    log = path / PARTITION / LOG
    data = bytearray(log.read_bytes())
    data[-20] ^= 1
    log.write_bytes(data)


def run(kraftool: Run, name: str, *paths: Path) -> Any:
    command, *options = COMMANDS[name]
    return kraftool(command, *paths, *options)


@pytest.mark.parametrize("name", COMMANDS)
def test_a_healthy_directory_ends_with_0(kraftool: Run, path: Path, name: str) -> None:
    assert run(kraftool, name, path).code == 0


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize("damage", [torn, zeroed])
def test_what_a_kill_leaves_at_the_end_is_a_finding_and_no_failure(
    kraftool: Run, path: Path, name: str, damage: Callable[[Path], None]
) -> None:
    damage(path)
    assert run(kraftool, name, path).code == 1


@pytest.mark.parametrize("name", COMMANDS)
def test_a_batch_with_a_wrong_crc_is_not_decoded(kraftool: Run, path: Path, name: str) -> None:
    flipped(path)
    assert run(kraftool, name, path).code == 3


@pytest.mark.parametrize("name", ["dump", "verify-log", "doctor"])
def test_an_index_that_is_readable_and_does_not_fit_is_a_finding(
    kraftool: Run, path: Path, name: str
) -> None:
    log = path / PARTITION / LOG
    index = log.with_suffix(".index")
    index.write_bytes(index.read_bytes() + (242).to_bytes(4, "big") + (1 << 20).to_bytes(4, "big"))
    assert run(kraftool, name, path).code == 1


@pytest.mark.parametrize("name", ["dump", "verify-log", "doctor", "diff-voters", "features"])
def test_an_upgrade_that_never_happened_weighs_the_same_everywhere(
    kraftool: Run, fixtures_dir: Path, name: str
) -> None:
    claimed = fixtures_dir / "kafka-3.9.1/upgrade/node-1/data"
    ran = kraftool(name, claimed)
    assert ran.code == 1
    assert "warning" in ran.text
    assert "KT-LOG-FALSE-UPGRADE" in ran.text


# --- several PATHs ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["verify-log", "verify-snapshot", "timeline"])
def test_a_path_that_leads_nowhere_costs_no_other(
    kraftool: Run, path: Path, tmp_path: Path, name: str
) -> None:
    missing, empty = tmp_path / "missing", tmp_path / "empty"
    empty.mkdir()
    ran = kraftool(name, path, missing, empty, "-o", "json")
    assert ran.code == 3
    document = json.loads(ran.out)
    assert str(path) in ran.text
    assert [finding["file"] for finding in document["findings"]] == [str(missing), str(empty)]
    assert {finding["code"] for finding in document["findings"]} == {"KT-DIR-READ"}
    table = kraftool(name, missing, path)
    assert table.code == 3
    assert "KT-DIR-READ" in table.text
    assert "Traceback" not in table.err


@pytest.mark.parametrize("name", ["dump", "verify-log", "verify-snapshot", "timeline"])
def test_an_empty_directory_alone_has_a_document(kraftool: Run, tmp_path: Path, name: str) -> None:
    ran = kraftool(name, tmp_path, "-o", "json")
    assert ran.code == 3
    assert [finding["code"] for finding in json.loads(ran.out)["findings"]] == ["KT-DIR-READ"]


def test_a_directory_without_a_log_is_not_called_verified(kraftool: Run, path: Path) -> None:
    for file in (path / PARTITION).iterdir():
        file.unlink()
    ran = kraftool("verify-log", path)
    assert "KT-LOG-NONE" in ran.text
    assert ran.text.splitlines()[-1].startswith("no log to verify, 1 note: ")


def test_the_verdict_says_which_snapshots_were_compared(kraftool: Run, path: Path) -> None:
    text = " ".join(kraftool("verify-log", path).text.split())
    assert "state compared with the snapshot at 196 of 3 snapshots" in text
    assert "kraftool verify-snapshot compares all" in text
    newest = sorted((path / PARTITION).glob("*.checkpoint"))[-1]
    newest.write_bytes(newest.read_bytes()[:3000])
    text = " ".join(kraftool("verify-log", path).text.split())
    assert (
        "states of snapshots not compared with the log; kraftool verify-snapshot compares them"
        in text
    )


def test_a_data_directory_may_be_named_like_a_topics_partition(kraftool: Run, path: Path) -> None:
    named = path.rename(path.with_name("disk-1"))
    flipped(named)
    document = json.loads(kraftool("verify-log", named, "-o", "json").out)
    assert document["verified"][0]["checked"]["replayedTo"] is not None
    alone = (named / PARTITION).rename(named.with_name("node-2"))
    document = json.loads(kraftool("verify-log", alone, "-o", "json").out)
    assert document["verified"][0]["checked"]["replayedTo"] is not None
