"""A backup without secrets has none in any byte, and says what is missing in it."""

from __future__ import annotations

from pathlib import Path

import pytest

from kraftool.backup.verify import verify_all
from kraftool.reports.state.load import load_state
from kraftool.storage.backup_files import BackupFiles
from tests.commands.test_secrets import CANARY, SCENARIOS, scram_keys
from tests.support.backups import FIRST_MS, HOUR_MS, NODE, back_up
from tests.support.places import FIXTURES


def _directory(scenario: str) -> Path:
    return sorted(FIXTURES.joinpath(scenario).glob("node-*/data*/__cluster_metadata-0"))[0].parent


def _bytes_of(store: Path) -> bytes:
    return b"".join(path.read_bytes() for path in sorted(store.rglob("*")) if path.is_file())


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_no_secret_is_in_any_file_of_the_store(scenario: str, tmp_path: Path) -> None:
    """The same backup with secrets has them, so that the search can find them."""
    directory = _directory(scenario)
    back_up(tmp_path / "whole", directory)
    manifest = back_up(tmp_path / "reduced", directory, with_secrets=False)
    whole, reduced = _bytes_of(tmp_path / "whole"), _bytes_of(tmp_path / "reduced")
    assert CANARY.found(whole) or scram_keys(scenario).found(whole)
    assert CANARY.found(reduced) is None
    assert scram_keys(scenario).found(reduced) is None
    assert not manifest.has_secrets


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_no_manifest_has_a_secret(scenario: str, tmp_path: Path) -> None:
    manifest = back_up(tmp_path, _directory(scenario))
    data = (tmp_path / manifest.name / "backup.json").read_bytes()
    assert CANARY.found(data) is None
    assert scram_keys(scenario).found(data) is None


def test_the_manifest_lists_what_was_left_out(tmp_path: Path) -> None:
    """By the state of the directory: 4 credentials, and configs whose values are masked there."""
    whole = back_up(tmp_path, FIXTURES / NODE)
    reduced = back_up(tmp_path, FIXTURES / NODE, with_secrets=False)
    assert (whole.left_out_scram_credentials, whole.left_out_configs) == (0, ())
    assert reduced.left_out_scram_credentials == whole.scram_credentials == 4
    assert reduced.scram_credentials == 0
    assert len(reduced.left_out_configs) == whole.configs - reduced.configs > 0
    image = load_state(str(tmp_path / reduced.name)).image
    kept = {
        (resource.name, name)
        for resource, configs in image.configs.resources.items()
        for name in configs
    }
    every = {
        (resource.name, name)
        for resource, configs in load_state(str(FIXTURES / NODE)).image.configs.resources.items()
        for name in configs
    }
    left_out = {tuple(config.split(" ")[1:]) for config in reduced.left_out_configs}
    assert {(name or "default", key) for name, key in every - kept} == left_out


def test_everything_else_is_kept(tmp_path: Path) -> None:
    back_up(tmp_path, FIXTURES / NODE, with_secrets=False)
    [verified] = verify_all(BackupFiles(str(tmp_path)), lambda *_: None).backups
    assert verified.is_verified
    assert verified.manifest is not None
    image = load_state(str(tmp_path / verified.name)).image
    original = load_state(str(FIXTURES / NODE)).image
    assert image.topics == original.topics
    assert image.acls == original.acls
    assert image.client_quotas == original.client_quotas
    assert image.delegation_tokens == original.delegation_tokens
    assert image.cluster == original.cluster


def test_backups_with_and_without_secrets_take_turns(tmp_path: Path) -> None:
    """Neither uses the checkpoint of the other."""
    for hour, with_secrets in enumerate((True, False, True, False)):
        manifest = back_up(
            tmp_path, FIXTURES / NODE, with_secrets=with_secrets, now_ms=FIRST_MS + hour * HOUR_MS
        )
        assert manifest.has_own_checkpoint
        assert manifest.has_secrets is with_secrets
