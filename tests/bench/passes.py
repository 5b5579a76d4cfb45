"""Measures what passes over a whole log cost, in this checkout and in another one, in turns.

    make bench-passes OTHER=/path/to/another/checkout
    python tests/bench/passes.py /path/to/another/checkout --megabytes 100

The log is of one controller and healthy: the partitions of one topic change again and again. The
last column is this checkout's time divided by the other one's. It refuses to judge: nothing here
passes or fails.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.bench import inspect_state
from tests.support.places import LOG, PARTITION, ROOT

CONTROLLER = ROOT / "fixtures/kafka-4.3.0/static-single/node-1/data"
COMMANDS = (("dump",), ("timeline",), ("doctor",), ("recover", "plan"))


def build_directory(path: Path, size: int) -> int:
    """Write the data directory of a controller with a log of about `size` bytes; return its
    records."""
    (path / PARTITION).mkdir(parents=True)
    for name in ("meta.properties", f"{PARTITION}/quorum-state"):
        shutil.copy(CONTROLLER / name, path / name)
    return inspect_state.build_log(path / PARTITION / LOG, size)


def command(checkout: Path, directory: Path, *words: str) -> list[str]:
    """A command of a checkout. Findings (1) are no failure of the measurement."""
    ours = [sys.executable, "-m", "kraftool", *words, str(directory)]
    return ["sh", "-c", 'PYTHONPATH=$0 "$@" || [ $? = 1 ]', str(checkout), *ours]


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("other", type=Path, help="the checkout to compare with")
    parser.add_argument("--rounds", type=int, default=3, help="how often each command runs")
    parser.add_argument("--megabytes", type=int, default=100, help="size of the log")
    chosen = parser.parse_args(arguments)
    print(f"Python {sys.version.split()[0]}, {os.cpu_count()} cores")
    with tempfile.TemporaryDirectory(prefix="kraftool-bench-") as temporary:
        folder = Path(temporary)
        count = build_directory(folder / "data", chosen.megabytes * 1_000_000)
        for words in COMMANDS:
            both = {
                name: command(checkout.resolve(), folder / "data", *words)
                for name, checkout in (("the other checkout", chosen.other), ("this one", ROOT))
            }
            title = f"{' '.join(words)}, {chosen.megabytes} MB, {count} records"
            inspect_state.show(title, both, folder, chosen.rounds)
    return 0


if __name__ == "__main__":
    sys.exit(main())
