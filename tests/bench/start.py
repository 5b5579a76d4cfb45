"""Measures what the start of each command costs: CPU seconds of whole processes.

    make bench-start
    python tests/bench/start.py --rounds 10 dump doctor

Each command reads a small fixture. `with` has the bytecode that an earlier run left; `without`
compiles every module of ours again, as a read-only installation does. The minimum of the rounds is
shown: other work on the machine only adds to it. The first line is Python itself. Owns the table;
it refuses to judge: nothing here passes or fails.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.bench import results
from tests.commands.start_cases import CASES, variables
from tests.support.places import ROOT

PACKAGES = ("kraftool", "decoders", "commands", "tui")


def copy_packages(folder: Path) -> None:
    """Copy our modules without what is built from them, and link the fixtures beside them."""
    for package in PACKAGES:
        shutil.copytree(
            ROOT / package,
            folder / package,
            symlinks=True,
            ignore=shutil.ignore_patterns("__pycache__", "target"),
        )
    (folder / "fixtures").symlink_to(ROOT / "fixtures")


def cpu_seconds(words: list[str], folder: Path, more: dict[str, str]) -> float:
    """Return user and system time of one run of the modules in this folder."""
    with subprocess.Popen(
        [sys.executable, *words],
        cwd=folder,
        env={**os.environ, **more},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as process:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    return usage.ru_utime + usage.ru_stime


def least(words: list[str], folder: Path, more: dict[str, str], rounds: int) -> float:
    """Return the least of the rounds, after one that is not counted."""
    return min([cpu_seconds(words, folder, more) for _ in range(rounds + 1)][1:])


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("cases", nargs="*", default=[*CASES])
    options = parser.parse_args(arguments)
    print(f"{'CPU seconds, bytecode:':24} {'with':>6} {'without':>8}", flush=True)
    named = {"(Python)": ["-c", "pass"]}
    named |= {name: ["-m", "kraftool", *CASES[name]] for name in options.cases}
    with tempfile.TemporaryDirectory() as with_, tempfile.TemporaryDirectory() as without:
        columns = ((Path(with_), ""), (Path(without), "1"))
        for folder, _ in columns:
            copy_packages(folder)
        for name, words in named.items():
            seconds = [
                least(
                    words,
                    folder,
                    {**variables(name), "PYTHONDONTWRITEBYTECODE": unwritten},
                    options.rounds,
                )
                for folder, unwritten in columns
            ]
            print(f"{name:24} {seconds[0]:6.3f} {seconds[1]:8.3f}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(results.run("the start of commands", main))
