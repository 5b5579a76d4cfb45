"""No command on backups prints a secret, encrypted or not, and no URL shows how to log in."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.commands.test_secrets import assert_no_secret
from tests.support.backups import PUBLIC_KEY
from tests.support.places import FIXTURES

Run = Callable[..., Any]
SCENARIOS = ("kafka-3.9.1/upgrade", "kafka-4.3.0/static-single", "kafka-4.4.0/dynamic-quorum")


def _directory(scenario: str) -> Path:
    return sorted(FIXTURES.joinpath(scenario).glob("node-*/data*/__cluster_metadata-0"))[0].parent


@pytest.mark.parametrize("scenario", SCENARIOS)
@pytest.mark.parametrize("form", ["table", "json"])
@pytest.mark.parametrize("options", [(), ("--without-secrets",), ("--encrypt-to", PUBLIC_KEY)])
def test_the_commands_show_no_secret(
    kraftool: Run, tmp_path: Path, scenario: str, form: str, options: tuple[str, ...]
) -> None:
    store = tmp_path / "prod"
    for words in (
        ("create", store, _directory(scenario), *options),
        ("create", store, _directory(scenario), *options),
        ("list", store),
        ("info", store),
        ("verify", store),
        ("prune", store, "--keep", 1),
    ):
        ran = kraftool("backup", *words, "-o", form)
        assert ran.code in (0, 3), ran.err
        assert_no_secret(scenario, ran, words)


@pytest.mark.parametrize("command", ["state", "dump", "dump-log", "timeline"])
def test_a_backup_is_read_as_masked_as_a_directory(
    kraftool: Run, tmp_path: Path, command: str
) -> None:
    scenario = "kafka-4.3.0/static-single"
    kraftool("backup", "create", tmp_path / "prod", _directory(scenario))
    [backup] = (tmp_path / "prod").iterdir()
    assert_no_secret(scenario, kraftool(command, backup), command)


def test_a_url_is_shown_without_its_password(kraftool: Run, tmp_path: Path) -> None:
    pytest.importorskip("fsspec")
    url = f"memory://me:hunter22@{tmp_path.name}/prod"
    directory = _directory("kafka-4.3.0/static-single")
    for words in (("create", url, directory), ("list", url), ("info", url), ("verify", url)):
        ran = kraftool("backup", *words)
        assert ran.code == 0, ran.err
        assert "hunter22" not in ran.text + ran.err, words


def test_the_source_of_a_backup_has_no_password(kraftool: Run, tmp_path: Path) -> None:
    """A backup of a backup at a URL."""
    pytest.importorskip("fsspec")
    store = f"memory://me:hunter22@{tmp_path.name}/prod"
    directory = _directory("kafka-4.3.0/static-single")
    name = kraftool("backup", "create", store, directory).text.split()[0].rpartition("/")[2]
    ran = kraftool("backup", "create", tmp_path / "copy", f"{store}/{name}", "-o", "json")
    assert ran.code == 0, ran.err
    assert "hunter22" not in ran.text
