"""`kraftool demo`: the quorum that the package ships, and folders that are left alone."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kraftool.commands.exit_code import ExitCode
from tests.support.places import ROOT

sys.path.insert(0, str(ROOT / "tools"))

import demo

Run = Callable[..., Any]


def test_the_archive_has_the_files_of_the_fixture() -> None:
    shipped = demo.unpacked(demo.TARGET.read_bytes())
    assert shipped == demo.files()
    assert {name.partition("/")[0] for name in shipped} == {"node-1", "node-2", "node-3", "node-11"}
    assert demo.unpacked(demo.archive(shipped)) == shipped
    assert demo.archive(shipped) == demo.archive(shipped)


def test_a_stale_archive_fails_the_check(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["demo.py", "--check"])
    assert demo.main() == 0
    monkeypatch.setattr(demo, "ROOT", tmp_path)
    monkeypatch.setattr(demo, "TARGET", tmp_path / "demo.tar.gz")
    demo.TARGET.write_bytes(demo.archive({"node-1/data/meta.properties": b""}))
    assert demo.main() == 1


def test_it_unpacks_the_quorum_and_its_next_commands_run(
    kraftool: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    ran = kraftool("demo", "my quorum")
    assert ran.code == ExitCode.FINE
    found = {
        path.relative_to("my quorum").as_posix(): path.read_bytes()
        for path in Path("my quorum").rglob("*")
        if path.is_file()
    }
    assert found == demo.files()
    go, *commands = [line[4:] for line in ran.text.splitlines() if line.startswith("  $ ")]
    assert go == "cd 'my quorum'"
    monkeypatch.chdir("my quorum")
    assert len(commands) == 3
    for command in commands:
        words = command.removeprefix("kraftool ").split()
        given = [
            str(path)
            for word in words
            for path in (sorted(Path().glob(word)) if "*" in word else [word])
        ]
        assert kraftool(*given).code == ExitCode.FINE, command


def test_an_empty_folder_is_taken(kraftool: Run, tmp_path: Path) -> None:
    assert kraftool("demo", tmp_path).code == ExitCode.FINE
    assert (tmp_path / "node-3" / "server.properties").exists()


def test_a_folder_that_has_something_is_left_alone(kraftool: Run, tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("kept")
    ran = kraftool("demo", tmp_path)
    assert ran.code == ExitCode.REFUSED
    assert "is not empty" in ran.err
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]


def test_a_file_in_the_way_is_named(kraftool: Run, tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("kept")
    ran = kraftool("demo", tmp_path / "mine")
    assert ran.code == ExitCode.UNREADABLE
    assert "mine" in ran.err
    assert (tmp_path / "mine").read_text() == "kept"
