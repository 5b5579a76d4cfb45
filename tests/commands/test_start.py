"""What each command imports until it is done: a module more fails here, and not in a measurement.

`tests/commands/start/` has a list for each of CASES: our modules, the packages of others, and of
Python's library what is large. A module that is not in the list has to be worth its time, or be
imported where it is used. `KRAFTOOL_REWRITE=1 pytest tests/commands/test_start.py` writes the
lists, to be read in the diff; `make bench-start` measures.
"""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from tests.commands.start_cases import CASES, variables

ROOT = Path(__file__).resolve().parents[2]
LISTS = Path(__file__).parent / "start"
LARGE = {
    "argparse",
    "asyncio",
    "concurrent",
    "ctypes",
    "email",
    "http",
    "importlib.metadata",
    "logging",
    "multiprocessing",
    "sqlite3",
    "ssl",
    "tarfile",
    "unittest",
    "xml",
    "zipfile",
}
"""Of Python's library: what takes over a millisecond and nothing here needs at the start."""
JYTHON = "org"
"""What Python's own `copy` tries to import."""
READING = ("dump", "doctor", "state", "dump-log", "timeline", "verify-log", "features")


def _imported(words: list[str], more: dict[str, str] | None = None) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-X", "importtime", *words],
        cwd=ROOT,
        env=os.environ | (more or {}),
        capture_output=True,
        text=True,
        check=False,
    )
    assert "Traceback" not in done.stderr, done.stderr
    lines = (line for line in done.stderr.splitlines() if line.startswith("import time:"))
    return {line.rpartition("|")[2].strip() for line in lines}


@cache
def _bare() -> set[str]:
    """What Python imports before anything of ours, with what an installation adds to that."""
    return _imported(["-c", "pass"])


def _listed(modules: set[str]) -> set[str]:
    """Of these modules what a list has."""
    listed = {name for name in modules if name.startswith("kraftool.")}
    for name in modules - _bare():
        package = name.partition(".")[0]
        if package not in {*sys.stdlib_module_names, "kraftool", JYTHON}:
            listed.add(package)
    return listed | (modules & LARGE)


def _read(name: str) -> set[str]:
    return set((LISTS / f"{name}.txt").read_text(encoding="utf-8").split())


@pytest.mark.parametrize("name", CASES)
def test_a_command_imports_no_more_than_its_list_has(name: str) -> None:
    imported = _listed(_imported(["-m", "kraftool", *CASES[name]], variables(name)))
    if os.environ.get("KRAFTOOL_REWRITE") == "1":
        assert not os.environ.get("CI"), "nothing is rewritten there"
        (LISTS / f"{name}.txt").write_text("".join(f"{module}\n" for module in sorted(imported)))
    assert "kraftool.commands" in imported
    assert sorted(imported - _read(name)) == []


@pytest.mark.parametrize("name", CASES)
def test_a_list_has_only_modules_that_there_are(name: str) -> None:
    ours = {module for module in _read(name) if module.startswith("kraftool.")}
    gone = [
        module
        for module in sorted(ours)
        if not (ROOT / module.replace(".", "/")).with_suffix(".py").exists()
        # The native module has its types only.
        and not (ROOT / module.replace(".", "/")).with_suffix(".pyi").exists()
        and not (ROOT / module.replace(".", "/") / "__init__.py").exists()
    ]
    assert gone == []


def test_no_command_waits_for_typer_pydantic_or_another_command() -> None:
    listed = {name: _read(name) for name in CASES}
    assert not [name for name, modules in listed.items() if "pydantic" in modules]
    assert not [name for name in listed if name.startswith("dump") and "textual" in listed[name]]
    assert "kraftool.commands.recover_plan" not in listed["dump"]
    assert [name for name in listed if "typer" in listed[name]] == [*filter(_is_help, listed)]


def _is_help(name: str) -> bool:
    """True for a case that typer answers; every other command line is plain."""
    return "help" in name


def test_modules_at_the_start_take_the_quicker_dataclass() -> None:
    """Those that read directories: the standard decorator was a third of their start."""
    slow = []
    for module in sorted(set().union(*map(_read, READING))):
        path = (ROOT / module.replace(".", "/")).with_suffix(".py")
        if not module.startswith("kraftool.") or not path.exists():
            continue
        tree = ast.parse(path.read_text(encoding="utf-8"))
        slow += [
            module
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom)
            and node.module == "dataclasses"
            and "dataclass" in {alias.name for alias in node.names}
        ]
    assert slow == ["kraftool.decoders.dataclass"], "which shows it to type checkers"
