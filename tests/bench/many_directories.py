"""Measures the pipelines on many small directories: seconds, CPU, and memory of each part.

    python tests/bench/many_directories.py --directories 20010

The directories are copies of generated ones, three to a cluster: hard links, but for
meta.properties. `tables` runs twice: the second run finds nothing new, and starts no Spark. CPU is
that of all processes.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator
from multiprocessing import get_context
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))

from tests.bench.processes import Watched, watched
from tests.bench.tables_driver import make

_ROOT = str(Path(__file__).resolve().parents[2])


def runs(root: Path, folder: Path, cores: int) -> Iterator[tuple[str, Watched]]:
    """Yield each command with its run."""
    tables = ["tables", str(root), "--out", str(folder / "tables")]
    for what, words in (
        ("`tables`", tables),
        ("`tables` again, nothing new", tables),
        ("`audit`", ["audit", str(root), "-o", "json", "--out", str(folder / "audit.json")]),
    ):
        command = [sys.executable, "-m", "kraftool", "pipeline", *words, "--quiet"]
        command += ["--master", f"local[{cores}]"]
        run = watched(command, cores, folder, PYTHONPATH=_ROOT, TMPDIR=str(folder))
        if run.code:
            raise SystemExit(f"{what} ended with {run.code}:\n{run.stderr}")
        yield what, run


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--directories", type=int, default=3_000)
    parser.add_argument("--cores", type=int, default=2)
    chosen = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="kraftool-many-") as temporary:
        folder = Path(temporary)
        with get_context("spawn").Pool(1) as maker:
            maker.apply(make, (folder / "made", folder / "fleet", chosen.directories))
        print("| run | seconds | CPU s | driver MB | largest worker MB | JVM MB |")
        print("|---|---|---|---|---|---|")
        for what, run in runs(folder / "fleet", folder, chosen.cores):
            peaks = run.peaks
            memory = f"{peaks.driver:.0f} | {peaks.worker:.0f} | {peaks.jvm:.0f}"
            print(f"| {what} | {run.wall_s:.1f} | {run.cpu_s:.0f} | {memory} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
