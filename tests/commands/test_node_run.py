"""`node run` up to where it would talk to others: what it says it would be, and what it refuses."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kraftool.storage.lock_taking import DirectoryLock

Run = Callable[..., Any]
DIRECTORY = "kafka-4.3.0/dynamic-quorum/node-2/data"
"""Of voter 2 of 1, 2, 3."""


@pytest.fixture
def server(fixtures_dir: Path, tmp_path: Path) -> Path:
    """The configuration of the controller that wrote the directory, and a copy of that."""
    shutil.copytree(fixtures_dir / DIRECTORY, tmp_path / "data")
    path = tmp_path / "server.properties"
    path.write_text(
        f"""process.roles=controller
node.id=2
controller.quorum.bootstrap.servers=127.0.0.1:1
controller.listener.names=CONTROLLER
listeners=CONTROLLER://127.0.0.1:0
log.dirs={tmp_path / "data"}
"""
    )
    return path


def content(folder: Path) -> dict[str, bytes]:
    return {str(each): each.read_bytes() for each in folder.rglob("*") if each.is_file()}


def test_a_dry_run_says_who_it_would_be_and_touches_nothing(kraftool: Run, server: Path) -> None:
    before = content(server.parent)
    ran = kraftool("node", "run", "--config", server, "--dry-run")
    assert ran.code == 0, ran.err
    words = " ".join(ran.text.split())
    assert "node 2, directory " in words
    assert "lock free" in words
    assert "runs as voter, never stands for election" in words
    assert content(server.parent) == before


def test_a_directory_in_use_is_refused(kraftool: Run, server: Path) -> None:
    with DirectoryLock(str(server.parent / "data")):
        done = subprocess.run(
            [sys.executable, "-m", "kraftool", "node", "run", "--config", str(server)],
            cwd=Path(__file__).parents[2],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
    assert done.returncode == 5, done.stderr
    assert "another process holds its lock" in done.stderr


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("node.id=7", "is of node 2"),
        ("log.dirs=nowhere", "is not formatted"),
    ],
)
def test_a_directory_that_is_not_its_own_is_refused(
    kraftool: Run, server: Path, change: str, said: str
) -> None:
    ran = kraftool("node", "run", "--config", server, "--override", change)
    assert ran.code == 5, ran.err
    assert said in ran.err


def test_a_voter_is_not_made_to_observe(kraftool: Run, server: Path) -> None:
    before = content(server.parent / "data")
    ran = kraftool("node", "run", "--config", server, "--role", "observer")
    assert ran.code == 5, ran.err
    assert "it cannot only observe" in ran.err
    kept = {name: data for name, data in content(server.parent / "data").items() if name in before}
    changed = {name for name, data in kept.items() if before[name] != data}
    assert not changed


@pytest.mark.parametrize(
    "options",
    [
        ("--witness", "--lead-without-controller"),
        ("--role", "observer", "--witness"),
        ("--override", "node.id"),
        ("--metrics-listen", "here"),
        ("--override", "process.roles=broker"),
    ],
)
def test_what_contradicts_itself_is_a_usage_error(
    kraftool: Run, server: Path, options: tuple[str, ...]
) -> None:
    ran = kraftool("node", "run", "--config", server, *options)
    assert ran.code in (2, 3), ran.err
    assert ran.err


def test_a_signal_ends_a_voter_that_waits_for_a_leader(server: Path) -> None:
    """There is nobody that could take over: the second signal ends it at once, with 1."""
    # With it, it would know of a leader, and go at once.
    (server.parent / "data" / "__cluster_metadata-0" / "quorum-state").unlink()
    command = [
        sys.executable, "-m", "kraftool", "node", "run", "--config", str(server),
        "--shutdown-timeout", "60", "--log-format", "json",
    ]  # fmt: skip
    with subprocess.Popen(
        command, cwd=Path(__file__).parents[2], stderr=subprocess.PIPE, text=True
    ) as running:
        assert running.stderr is not None
        for line in running.stderr:
            if '"message":"started"' in line:
                break
        running.send_signal(signal.SIGTERM)
        for line in running.stderr:
            if '"message":"ending"' in line:
                break
        running.send_signal(signal.SIGTERM)
        rest = running.stderr.read()
        assert running.wait(30) == 1, rest
    assert "ended without waiting any longer" in rest
