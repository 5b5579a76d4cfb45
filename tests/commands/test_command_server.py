"""Commands that a loaded process forks do what `python -m kraftool` does, in processes apart."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support import command_server
from tests.support.places import ROOT

NODE = "fixtures/kafka-4.3.0/static-single/node-1/data"


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("--version",), 0),
        (("dump-log", "-o", "jsonl", NODE), 0),
        (("doctor", "-o", "json", NODE), 0),
        (("doctor", "/no/such/directory"), 3),
        (("dump-log", "--no-such-option"), 2),
        (("help",), 0),
    ],
)
def test_a_forked_command_is_the_command(words: tuple[str, ...], code: int) -> None:
    alone = subprocess.run(
        [sys.executable, "-m", "kraftool", *words],
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
    forked = command_server.run(*words)
    assert (forked.returncode, forked.stdout, forked.stderr) == (
        alone.returncode,
        alone.stdout,
        alone.stderr,
    )
    assert forked.returncode == code


def test_a_forked_command_runs_in_its_folder_and_leaves_that_of_others_alone(
    tmp_path: Path,
) -> None:
    (tmp_path / "data").symlink_to(ROOT / NODE)
    assert command_server.run("dump", "data", cwd=tmp_path).returncode == 0
    assert command_server.run("dump", "data").returncode != 0


def test_a_change_of_the_environment_reaches_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KRAFTOOL_PURE", "1")
    assert b"pure Python" in command_server.run("--version").stdout


@pytest.mark.spark
def test_new_settings_of_spark_reach_a_command_that_is_still_forked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A worker's first test with Spark changes them, after other tests have run commands."""
    assert command_server.run("--version").returncode == 0
    (tmp_path / "spark-env.sh").write_text(f"touch {tmp_path}/was-read\nexit 1\n")
    monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path))
    with monkeypatch.context() as forked:
        forked.setattr("subprocess.run", lambda *_, **__: pytest.fail("not forked"))
        done = command_server.run("pipeline", "tables", NODE, "--out", tmp_path / "out")
    assert b"Spark did not start" in done.stderr
    assert (tmp_path / "was-read").exists()


def test_a_command_that_takes_too_long_is_killed() -> None:
    words = ("dump-log", "--follow", NODE)
    with pytest.raises(subprocess.TimeoutExpired):
        command_server.run(*words, timeout=1.5)
    assert command_server.run("--version").returncode == 0, "others go on"
