"""The command that installs what an extra brings fits the tool that made the installation."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from kraftool.installing import install_hint

REQUIRES = [
    "rich>=14.2",
    'absent-one>=1,<2; extra == "serve"',
    'absent-two[sql]>=4; extra == "serve"',
    'rich>=14; extra == "serve"',
    'other>=1; extra == "arrow"',
]
BOTH = "'absent-one>=1,<2' 'absent-two[sql]>=4'"


@pytest.fixture
def prefix(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    monkeypatch.setattr(sys, "executable", "/opt/my tools/bin/python")
    monkeypatch.setattr(importlib.metadata, "requires", lambda _: REQUIRES)
    return tmp_path


def _from_checkout(monkeypatch: pytest.MonkeyPatch) -> None:
    real = importlib.metadata.distribution

    def distribution(name: str) -> object:
        if name != "kraftool":
            return real(name)
        return SimpleNamespace(read_text=lambda _: '{"url": "file:///src/kraftool"}')

    monkeypatch.setattr(importlib.metadata, "distribution", distribution)


def test_pip_gets_all_that_is_missing_by_the_python_that_runs(prefix: Path) -> None:
    assert install_hint("serve") == f"'/opt/my tools/bin/python' -m pip install {BOTH}"


def test_without_pip_uv_installs_into_that_python(
    prefix: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    hint = install_hint("serve")
    assert hint == f"uv pip install --python '/opt/my tools/bin/python' {BOTH}"


def test_pipx_injects(prefix: Path) -> None:
    (prefix / "pipx_metadata.json").write_text("{}")
    assert install_hint("serve") == f"pipx inject kraftool {BOTH}"


def test_a_tool_of_uv_is_installed_again_from_where_it_came(
    prefix: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (prefix / "uv-receipt.toml").write_text("")
    _from_checkout(monkeypatch)
    both = "--with 'absent-one>=1,<2' --with 'absent-two[sql]>=4'"
    assert install_hint("serve") == f"uv tool install --force {both} /src/kraftool"


def test_uvx_runs_it_from_where_it_came(prefix: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "prefix", "/var/cache/uv/archive-v0/abc")
    _from_checkout(monkeypatch)
    both = "--with 'absent-one>=1,<2' --with 'absent-two[sql]>=4'"
    assert install_hint("serve") == f"uvx {both} --from /src/kraftool kraftool"


def test_where_nothing_is_missing_all_of_the_extra_is_named(
    prefix: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A package that is too old is there."""
    monkeypatch.setattr(importlib.metadata, "requires", lambda _: ['rich>=14; extra == "serve"'])
    assert install_hint("serve").endswith("-m pip install 'rich>=14'")


def test_the_program_that_needs_no_python_takes_nothing_in(
    prefix: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    assert (
        install_hint("arrow") == "this program has no arrow: install kraftool[arrow] into a Python"
    )
