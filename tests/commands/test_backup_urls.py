"""Backups at URLs: every command with a STORE, and reading commands with STORE/NAME as PATH."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.commands.test_backup import DATA, HASH, READERS
from tests.support.backups import FIRST, FIRST_MS, HOUR_MS, PUBLIC_KEY, back_up

Run = Callable[..., Any]


@pytest.fixture(params=["memory", "file"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    pytest.importorskip("fsspec")
    if request.param == "file":
        return f"file://{tmp_path}/prod"
    return f"memory://{uuid.uuid4().hex}/prod"


def test_every_command_takes_a_url(kraftool: Run, store: str) -> None:
    created = kraftool("backup", "create", store, DATA)
    assert created.code == 0, created.err
    again = kraftool("backup", "create", store, DATA)
    assert "only a manifest was written" in again.narration
    listed = json.loads(kraftool("backup", "list", store, "-o", "json").out)
    first, second = (backup["name"] for backup in listed["backups"])
    assert json.loads(kraftool("backup", "info", store, "-o", "json").out)["stateHash"] == HASH
    named = kraftool("backup", "info", f"{store}/{first}", "-o", "json")
    assert json.loads(named.out)["name"] == first
    assert "verified: 2 backups" in kraftool("backup", "verify", store).words
    assert "verified: 1 backup" in kraftool("backup", "verify", f"{store}/{second}").words
    pruned = kraftool("backup", "prune", store, "--keep", 1)
    assert pruned.code == 0, pruned.err
    left = json.loads(kraftool("backup", "list", store, "-o", "json").out)
    assert [backup["name"] for backup in left["backups"]] == [second]
    assert not left["findings"]
    assert "verified: 1 backup" in kraftool("backup", "verify", store).words


@pytest.mark.parametrize("command", READERS)
def test_a_command_that_reads_a_path_reads_a_backup_at_a_url(
    kraftool: Run, store: str, tmp_path: Path, command: str
) -> None:
    back_up(store, DATA)
    back_up(tmp_path / "here", DATA)
    ran = kraftool(command, f"{store}/{FIRST}", *READERS[command])
    here = kraftool(command, tmp_path / "here" / FIRST, *READERS[command])
    assert ran.code == here.code == 0, ran.err
    if command == "shell":  # the others print the PATH, by which lines break
        assert ran.out == here.out
    assert ran.out


def test_a_backup_at_a_url_has_no_difference_from_its_directory(kraftool: Run, store: str) -> None:
    back_up(store, DATA)
    ran = kraftool("diff-state", f"{store}/{FIRST}", DATA)
    assert ran.code == 0, ran.err
    assert "no difference" in ran.words


def test_an_old_encrypted_backup_at_a_url_is_removed(kraftool: Run, store: str) -> None:
    for hour, recipients in enumerate([(), (PUBLIC_KEY,)]):
        back_up(store, DATA, recipients=recipients, now_ms=FIRST_MS + hour * HOUR_MS)
    report = json.loads(kraftool("backup", "prune", store, "--keep", 1, "-o", "json").out)
    assert report["removedBackups"] == [FIRST]


def test_a_file_url_is_a_folder_for_its_owner_only(kraftool: Run, tmp_path: Path) -> None:
    kraftool("backup", "create", f"file://{tmp_path}/prod", DATA)
    files = [path for path in (tmp_path / "prod").rglob("*") if path.is_file()]
    assert {path.stat().st_mode & 0o777 for path in files} == {0o600}


def test_a_backup_that_is_not_at_the_url_is_named(kraftool: Run, store: str) -> None:
    assert kraftool("state", f"{store}/{FIRST}").code == 3
    assert kraftool("backup", "verify", f"{store}/{FIRST}").code == 3


def test_a_store_of_an_unknown_kind_is_an_error(kraftool: Run) -> None:
    ran = kraftool("backup", "list", "nosuchstore://me:hunter22@host/x")
    assert ran.code == 3
    assert "hunter22" not in ran.err
