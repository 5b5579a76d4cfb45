"""`kraftool backup`: what the commands print, how they exit, and which commands read a backup."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.client.scripted_leader import ScriptedLeader
from tests.commands.live_leader import OPTIONS, live_leader
from tests.support.backups import FIRST, FIRST_MS, HOUR_MS, NODE, PUBLIC_KEY, back_up
from tests.support.places import FIXTURES, PARTITION

Run = Callable[..., Any]
DATA = FIXTURES / NODE
HASH = "4ff3a0eb148550341a196db3dfa9396e9dd333c92cc740f0ed76ac9ab2bd1d9e"
"""Of the state of DATA, as `kraftool state` prints it."""


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A store with one backup."""
    back_up(tmp_path / "prod", DATA)
    return tmp_path / "prod"


def damage(store: Path) -> None:
    [path] = store.glob("*/*.checkpoint")
    path.write_bytes(path.read_bytes()[:-1])


# --- create ---------------------------------------------------------------------------------------


def test_create_says_what_it_kept(kraftool: Run, tmp_path: Path) -> None:
    ran = kraftool("backup", "create", tmp_path / "prod", DATA)
    assert ran.code == 0
    [folder] = (tmp_path / "prod").iterdir()
    assert ran.text.startswith(str(folder))
    assert "offset 224, epoch 3" in ran.words
    assert "7 topics, 18 partitions, 17 configs, 4 ACLs, 9 quotas, 4 SCRAM credentials" in ran.words
    assert HASH in ran.text
    assert "has secrets, and is not encrypted" in ran.narration


def test_create_says_that_it_wrote_only_a_manifest(kraftool: Run, store: Path) -> None:
    ran = kraftool("backup", "create", store, DATA)
    assert ran.code == 0
    assert "only a manifest was written" in ran.narration
    assert f"as in {FIRST}" in ran.words


def test_create_says_what_it_left_out(kraftool: Run, tmp_path: Path) -> None:
    ran = kraftool("backup", "create", tmp_path / "prod", DATA, "--without-secrets")
    assert "A restore will not bring back 4 SCRAM credentials" in ran.narration
    assert "left out" in ran.words
    shown = kraftool("backup", "info", tmp_path / "prod")
    assert "A restore will not bring back 4 SCRAM credentials" in shown.words


def test_the_document_of_create_is_the_manifest(kraftool: Run, tmp_path: Path) -> None:
    ran = kraftool("backup", "create", tmp_path / "prod", DATA, "-o", "json")
    document = json.loads(ran.out)
    [path] = (tmp_path / "prod").glob("*/backup.json")
    assert json.loads(path.read_bytes()) == document
    assert json.loads(kraftool("backup", "info", path.parent, "-o", "json").out) == document


@pytest.mark.parametrize("damaged", ["flipped-bit-in-record", "unknown-record-type"])
def test_a_damaged_log_is_refused(kraftool: Run, tmp_path: Path, damaged: str) -> None:
    ran = kraftool("backup", "create", tmp_path / "prod", FIXTURES / "damaged" / damaged)
    assert (ran.code, ran.out) == (5, b"")
    assert "no backup is made" in ran.narration
    assert not (tmp_path / "prod").exists()


def test_another_cluster_is_refused(kraftool: Run, store: Path) -> None:
    other = FIXTURES / "kafka-4.3.0/static-single/node-1/data"
    before = sorted(store.rglob("*"))
    ran = kraftool("backup", "create", store, other)
    assert ran.code == 5
    assert "has backups of another cluster: xxuyFdGYSvOPfcYJRNjaMA" in ran.narration
    assert sorted(store.rglob("*")) == before


def test_create_needs_a_path_or_a_quorum(kraftool: Run, tmp_path: Path) -> None:
    assert kraftool("backup", "create", tmp_path).code == 2
    assert kraftool("backup", "create", tmp_path, DATA, "--bootstrap-controller", "c:1").code == 2


def test_a_wrong_public_key_writes_nothing(kraftool: Run, tmp_path: Path) -> None:
    ran = kraftool("backup", "create", tmp_path / "prod", DATA, "--encrypt-to", "age1x")
    assert ran.code == 3
    assert "is no public key" in ran.narration
    assert not (tmp_path / "prod").exists()


def test_a_leaders_backup_is_committed(
    kraftool: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    leader = ScriptedLeader(DATA / PARTITION, with_snapshot=False)
    leader.high_watermark = 190
    with live_leader(leader, monkeypatch):
        ran = kraftool("backup", "create", tmp_path / "prod", *OPTIONS, "-o", "json")
    assert ran.code == 0, ran.err
    document = json.loads(ran.out)
    assert document["isCommitted"] is True
    assert document["offset"] <= 190
    whole = kraftool("state", DATA, "--at", document["offset"], "-o", "json")
    assert document["stateHash"] == json.loads(whole.out)["stateHash"]


# --- list, info, verify, prune --------------------------------------------------------------------


def test_list_shows_the_newest_first(kraftool: Run, store: Path) -> None:
    back_up(store, DATA, now_ms=FIRST_MS + HOUR_MS)
    ran = kraftool("backup", "list", store)
    assert ran.code == 0
    assert re.findall(r"^(2026\S+)", ran.text, re.MULTILINE) == ["2026-12-01T01-00-00Z", FIRST]
    document = json.loads(kraftool("backup", "list", store, "-o", "json").out)
    assert [backup["offset"] for backup in document["backups"]] == [224, 224]
    lines = kraftool("backup", "list", store, "-o", "csv").text.splitlines()
    assert len(lines) == 3


def test_list_exits_3_if_a_manifest_cannot_be_read(kraftool: Run, store: Path) -> None:
    (store / FIRST / "backup.json").write_bytes(b"{")
    ran = kraftool("backup", "list", store)
    assert ran.code == 3
    assert "KT-BAK-MANIFEST" in ran.text


@pytest.mark.parametrize("command", ["list", "info", "verify"])
def test_a_place_without_backups_is_not_read(kraftool: Run, tmp_path: Path, command: str) -> None:
    assert kraftool("backup", command, tmp_path / "nothing").code == 3


def test_verify_exits_0_for_whole_backups(kraftool: Run, store: Path) -> None:
    for place in (store, store / FIRST):
        ran = kraftool("backup", "verify", place)
        assert ran.code == 0
        assert "verified: 1 backup" in ran.words


def test_verify_exits_1_for_a_damaged_backup(kraftool: Run, store: Path) -> None:
    damage(store)
    for place in (store, store / FIRST):
        ran = kraftool("backup", "verify", place)
        assert ran.code == 1
        assert "KT-BAK-CHECKPOINT" in ran.text
    document = json.loads(kraftool("backup", "verify", store, "-o", "json").out)
    assert [backup["isVerified"] for backup in document["backups"]] == [False]
    assert document["findingCounts"]["error"] == 1


def test_an_encrypted_backup_without_identity_exits_3(
    kraftool: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("KRAFTOOL_AGE_IDENTITY", raising=False)
    back_up(tmp_path, DATA, recipients=(PUBLIC_KEY,))
    ran = kraftool("backup", "verify", tmp_path)
    assert ran.code == 3
    assert "KT-BAK-ENCRYPTED" in ran.text
    assert "KRAFTOOL_AGE_IDENTITY" in ran.words
    for command in (("state",), ("diff-state", DATA), ("dump",), ("timeline",)):
        ran = kraftool(*command, tmp_path / FIRST)
        assert ran.code == 3, command
        assert "KRAFTOOL_AGE_IDENTITY" in ran.narration + ran.words, command
    assert kraftool("backup", "prune", tmp_path, "--keep", 1).code == 0


def test_prune_requires_what_to_keep(kraftool: Run, store: Path) -> None:
    assert kraftool("backup", "prune", store).code == 2
    assert kraftool("backup", "prune", store, "--keep", 0).code == 2


def test_prune_says_what_it_removed(kraftool: Run, store: Path, tmp_path: Path) -> None:
    back_up(store, DATA, now_ms=FIRST_MS + HOUR_MS)
    planned = kraftool("backup", "prune", store, "--keep", 1, "--dry-run")
    assert f"{FIRST} would be removed" in planned.words
    assert (store / FIRST / "backup.json").exists()
    ran = kraftool("backup", "prune", store, "--keep", 1)
    assert ran.code == 0
    assert f"{FIRST} removed 1 backup removed, 1 kept." in ran.words
    assert not (store / FIRST / "backup.json").exists()


def test_prune_removes_nothing_if_no_backup_verifies(kraftool: Run, store: Path) -> None:
    back_up(store, DATA, now_ms=FIRST_MS + HOUR_MS)
    damage(store)
    before = sorted(store.rglob("*"))
    ran = kraftool("backup", "prune", store, "--keep", 1, "-o", "json")
    assert ran.code == 1
    document = json.loads(ran.out)
    assert (document["newestVerified"], document["removedBackups"]) == (None, [])
    assert "nothing is removed" in kraftool("backup", "prune", store, "--keep", 1).words
    assert sorted(store.rglob("*")) == before


# --- a backup as PATH -----------------------------------------------------------------------------

READERS = {
    "diff-voters": (),
    "doctor": (),
    "dump": (),
    "dump-log": (),
    "features": (),
    "shell": ("-c", "ls /image/topics/byName"),
    "state": (),
    "timeline": (),
    "verify-log": (),
    "verify-snapshot": (),
}


@pytest.mark.parametrize("command", READERS)
def test_a_command_that_reads_a_path_reads_a_backup(
    kraftool: Run, store: Path, command: str
) -> None:
    """As it reads the checkpoint itself."""
    backup, [checkpoint] = store / FIRST, list(store.glob("*/*.checkpoint"))
    ran = kraftool(command, backup, *READERS[command])
    direct = kraftool(command, checkpoint, *READERS[command])
    assert ran.code == direct.code == 0
    assert ran.out == direct.out
    assert ran.out


def test_a_backup_has_no_difference_from_its_directory(kraftool: Run, store: Path) -> None:
    ran = kraftool("diff-state", store / FIRST, DATA)
    assert ran.code == 0
    assert "no difference" in ran.words
    back_up(store, DATA, at=164, now_ms=FIRST_MS + HOUR_MS)
    changed = kraftool("diff-state", store / "2026-12-01T01-00-00Z", store / FIRST)
    assert "no difference" not in changed.words


def test_a_backup_without_a_usable_manifest_is_not_read(kraftool: Run, store: Path) -> None:
    (store / FIRST / "backup.json").write_bytes(b"{}")
    ran = kraftool("state", store / FIRST)
    assert ran.code == 3
    assert "is no manifest of a backup" in ran.narration


def test_the_text_of_a_hostile_manifest_cannot_control_the_terminal(
    kraftool: Run, store: Path
) -> None:
    path = store / FIRST / "backup.json"
    document = json.loads(path.read_bytes())
    evil = "\x1b]0;owned\x07\x1b[2J[bold]x[/bold]\u202e"
    for member in ("host", "source", "clusterId"):
        document[member] = evil
    document["leftOutConfigs"], document["hasSecrets"] = [evil], False
    document["voterKeys"] = [{"id": 1, "directoryId": evil}]
    document["features"] = [{"name": evil, "level": 1}]
    document["encryptedTo"] = [evil]
    path.write_text(json.dumps(document))
    for command in ("info", "list", "verify"):
        ran = kraftool("backup", command, store)
        assert ran.code in (0, 3), command
        assert "\x1b" not in ran.text + ran.err
        assert "\u202e" not in ran.text + ran.err
