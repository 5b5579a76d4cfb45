"""Pipelines without a package of `kraftool[spark]` say which one it is, and how to install it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from kraftool.installing import install_hint

_WITHOUT = """
import sys
from importlib.machinery import PathFinder
find, absent = PathFinder.find_spec, sys.argv.pop(1)
def found(name, path=None, target=None):
    return None if name.partition(".")[0] == absent else find(name, path, target)
PathFinder.find_spec = found
from kraftool.commands import main
main()
"""
_COMMANDS = {
    "audit": [],
    "tables": ["--out", "tables"],
    "stream": ["--checkpoint", "offsets"],
}


@pytest.mark.parametrize(
    ("package", "command"),
    [
        *(
            (package, command)
            for package in ("pandas", "pyarrow", "pyspark")
            for command in _COMMANDS
        ),
        ("deltalake", "tables"),
    ],
)
def test_a_pipeline_names_the_package_that_is_not_installed(
    package: str, command: str, fixtures_dir: Path, tmp_path: Path
) -> None:
    words = ["pipeline", command, str(fixtures_dir / "kafka-4.3.0"), *_COMMANDS[command]]
    done = subprocess.run(
        [sys.executable, "-c", _WITHOUT, package, *words],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    said, hint = done.stderr.splitlines()
    assert said == f"kraftool: this needs the package {package}, which is not installed"
    assert hint.strip() == install_hint("spark")
    assert (done.returncode, done.stdout) == (2, "")
