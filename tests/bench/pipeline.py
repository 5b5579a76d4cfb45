"""Measures the pipelines beside the direct path: tables on one core and two, memory, skew, audit.

    make bench-spark
    python tests/bench/pipeline.py --size 2GB

The logs come from the generated fleet (tools/fleet.py): partition changes and configurations, about
100 bytes a record. Every run is a process tree of its own that is kept to so many cores. Owns the
sets and the table that it prints; it refuses to judge: nothing here passes or fails but for a
command that fails.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import signal
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))

from fleets.answers import answers
from fleets.build import FleetPlan, build, write_cluster
from fleets.cluster import cluster_spec
from fleets.faults import MANIFEST

from tests.bench.processes import Watched, watched

CLUSTERS, NODES = 8, 3
HUGE_SHARE = 0.8
"""Of all bytes, in the one cluster of the uneven set."""
_LOGS = "__cluster_metadata-0/*.log"
_READING, _DUMPING = "reading and CRC", "dump-log -o jsonl"
_UNITS = {"": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9}
_SEED = 1
_SEGMENT = 1 << 30
"""As Kafka's metadata.log.segment.bytes is by default; the fleet's own are tiny, so as to roll."""
_TIMES_THE_SIZE, _BESIDES = 4, 300_000_000
"""What is on disk at once: one set with a tenth of it, its tables, and shuffles."""


@dataclass(frozen=True, slots=True)
class Input:
    """A set of data directories."""

    root: Path
    directories: tuple[Path, ...]
    records: int
    size: int


@dataclass(frozen=True, slots=True)
class Row:
    """A line of the result."""

    what: str
    cores: int
    input: Input
    run: Watched

    def cells(self, start_s: float) -> list[str]:
        """Its cells; `start_s` is how long a session without work takes."""
        peaks = self.run.peaks
        busy_s = max(self.run.wall_s - start_s, 0.0)
        rate = self.input.records / busy_s / self.cores if busy_s else 0
        return [
            self.what,
            str(self.cores),
            f"{self.input.size / 1e6:.0f}",
            f"{self.input.records:,}",
            f"{self.run.wall_s:.1f}",
            f"{self.run.cpu_s:.1f}",
            f"{rate:,.0f}" if rate else "",
            f"{peaks.jvm:.0f}" if peaks.jvm else "",
            f"{peaks.driver:.0f}",
            f"{peaks.worker:.0f}" if peaks.worker else "",
            f"{peaks.together:.0f}",
        ]


_HEADS = (
    "run", "cores", "MB", "records", "wall s", "CPU s", "records/s/core", "JVM MB", "driver MB",
    "worker MB", "together MB",
)  # fmt: skip


_FLOOR = """
import sys
from crc32c import crc32c
for name in sys.argv[1:]:
    crc = 0
    with open(name, "rb") as log:
        while data := log.read(1 << 20):
            crc = crc32c(data, crc)
"""
"""What no run can do without: each byte of the logs is read, and goes into a CRC."""


def size_of(text: str) -> int:
    """A size such as 100MB or 2GB."""
    found = re.fullmatch(r"(\d+)([KMG]B)?", text.strip().upper())
    if found is None:
        raise argparse.ArgumentTypeError(f"{text} is no size such as 100MB or 2GB")
    return int(found[1]) * _UNITS[found[2] or ""]


def make_set(root: Path, size: int, *, is_even: bool) -> Input:
    """Write a set of about `size` bytes of logs: evenly sized, or with one huge cluster."""
    huge = int(size * HUGE_SHARE)
    for number in range(CLUSTERS):
        if is_even:
            share = size // CLUSTERS
        else:
            share = huge if number == CLUSTERS - 1 else (size - huge) // (CLUSTERS - 1)
        spec = cluster_spec(
            _SEED, number, NODES, bulk_bytes=max(share // NODES, 1), segment_bytes=_SEGMENT
        )
        write_cluster(root, spec)
    directories = tuple(sorted(path for path in root.glob("*/*") if path.is_dir()))
    logs = [path for one in directories for path in one.glob(_LOGS)]
    return Input(
        root=root,
        directories=directories,
        records=sum(map(_end_offset, directories)),
        size=sum(log.stat().st_size for log in logs),
    )


def _end_offset(directory: Path) -> int:
    """Where a log ends that begins at 0: the newest producer snapshot says so."""
    newest = max(directory.glob("__cluster_metadata-0/*.snapshot"))
    return int(newest.name.partition(".")[0])


class Bench:
    """Runs the commands, each with an output folder of its own."""

    def __init__(self, folder: Path, memory: str) -> None:
        self._folder = folder
        self._memory = memory
        self.rows: list[Row] = []

    def _kraftool(self, what: str, cores: int, given: Input, *arguments: str, ok: int = 0) -> Row:
        print(f"{what} on {cores} …", file=sys.stderr, flush=True)
        command = [sys.executable, "-m", "kraftool", *arguments]
        root = str(Path(__file__).resolve().parents[2])
        run = watched(command, cores, self._folder, PYTHONPATH=root, TMPDIR=str(self._folder))
        if run.code != ok:
            raise SystemExit(f"{' '.join(arguments[:2])} ended with {run.code}:\n{run.stderr}")
        print(f"  {run.wall_s:.1f} s, {run.cpu_s:.1f} s of CPU", file=sys.stderr, flush=True)
        return Row(what, cores, given, run)

    def tables(self, what: str, cores: int, given: Input) -> Row:
        out = self._folder / "tables"
        row = self._kraftool(
            what, cores, given, "pipeline", "tables", str(given.root), "--out", str(out),
            *self._engine(cores),
        )  # fmt: skip
        shutil.rmtree(out)
        return row

    def floor(self, given: Input) -> Row:
        """The logs read, and their bytes summed up, by one process."""
        logs = [str(log) for one in given.directories for log in one.glob(_LOGS)]
        run = watched([sys.executable, "-c", _FLOOR, *logs], 1, self._folder)
        if run.code:
            raise SystemExit(f"reading the logs ended with {run.code}:\n{run.stderr}")
        return Row(_READING, 1, given, run)

    def direct(self, given: Input) -> Row:
        """The same records as JSON lines, by one process without Spark."""
        names = map(str, given.directories)
        return self._kraftool(_DUMPING, 1, given, "dump-log", "-o", "jsonl", *names)

    def audit(self, given: Input, out: Path, cores: int) -> Row:
        return self._kraftool(
            "audit", cores, given, "pipeline", "audit", str(given.root), "-o", "json",
            "--out", str(out), *self._engine(cores), ok=3,
        )  # fmt: skip

    def _engine(self, cores: int) -> list[str]:
        memory = f"spark.driver.memory={self._memory}"
        return ["--master", f"local[{cores}]", "--conf", memory, "--quiet"]


def show(rows: list[Row], start_s: float) -> None:
    """Print a Markdown table."""
    print(f"\nA session by itself takes {start_s:.1f} s, which records/s leave out.\n")
    lines = [list(_HEADS), ["---"] * len(_HEADS)]
    direct = (_READING, _DUMPING)
    lines += [row.cells(0.0 if row.what in direct else start_s) for row in rows]
    for line in lines:
        print(f"| {' | '.join(line)} |")


def ratios(rows: list[Row], start_s: float) -> list[str]:
    """What the runs are to each other; sessions are started in each, which is left out."""
    tenth, one, two, floor, direct, uneven = rows
    busy = {id(row): max(row.run.wall_s - start_s, 0.001) for row in rows}
    per_core = one.input.records / busy[id(one)]
    directly = direct.input.records / direct.run.wall_s
    return [
        f"{two.cores} cores against 1: {busy[id(one)] / busy[id(two)]:.2f} times as fast",
        f"tables against dump-log, a core each: {per_core / directly:.2f} times the records/s",
        f"tables against reading and CRC: {one.run.cpu_s / floor.run.cpu_s:.0f} times the CPU",
        f"one huge cluster against even ones: {busy[id(uneven)] / busy[id(two)]:.2f} times as long",
        "10 times the input: "
        + ", ".join(
            f"{name} {getattr(two.run.peaks, name) / getattr(tenth.run.peaks, name):.2f}"
            for name in ("jvm", "driver", "worker")
        )
        + " times the memory",
    ]


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--size", type=size_of, default=size_of("100MB"), help="of the large set")
    parser.add_argument("--memory", default="2g", help="of Spark's JVM, driver and executor in one")
    parser.add_argument("--clusters", type=int, default=20, help="of the fleet that is audited")
    chosen = parser.parse_args(arguments)
    # So that a bench that is ended takes its folder with it.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    cores = min(2, len(os.sched_getaffinity(0)))
    there = shutil.disk_usage(tempfile.gettempdir()).free
    needed = _TIMES_THE_SIZE * chosen.size + _BESIDES
    print(
        f"Python {sys.version.split()[0]}, {cores} cores; needs {needed / 1e6:.0f} MB below"
        f" {tempfile.gettempdir()}, where {there / 1e6:.0f} MB are free",
        flush=True,
    )
    if there < needed:
        return 2
    with tempfile.TemporaryDirectory(prefix="kraftool-bench-") as temporary:
        folder = Path(temporary)
        bench = Bench(folder, chosen.memory)
        build(folder / "tiny", FleetPlan(clusters=1, nodes=1))
        tiny = Input(folder / "tiny", (), 0, 0)
        starts = [bench.tables("nothing but a start", cores, tiny).run for _ in range(2)]
        start_s = min(each.wall_s for each in starts)
        small = make_set(folder / "small", chosen.size // 10, is_even=True)
        even = make_set(folder / "even", chosen.size, is_even=True)
        rows = [
            bench.tables("tables, a tenth", cores, small),
            bench.tables("tables", 1, even),
            bench.tables("tables", cores, even),
            bench.floor(even),
            bench.direct(even),
        ]
        shutil.rmtree(even.root)
        uneven = make_set(folder / "uneven", chosen.size, is_even=False)
        rows.append(bench.tables("tables, one huge cluster", cores, uneven))
        shutil.rmtree(uneven.root)
        fleet = folder / "fleet"
        build(fleet, FleetPlan(clusters=chosen.clusters, faults=chosen.clusters // 2))
        directories = tuple(sorted(path for path in fleet.glob("*/*") if path.is_dir()))
        size = sum(path.stat().st_size for path in fleet.rglob("*.log"))
        told = folder / "audit.json"
        audited = bench.audit(Input(fleet, directories, 0, size), told, cores)
        start = Row("nothing but a start", cores, tiny, min(starts, key=lambda each: each.wall_s))
        show([start, *rows, audited], start_s)
        print()
        for line in ratios(rows, start_s):
            print(line)
        document = json.loads(told.read_text())
        compared = answers(json.loads((fleet / MANIFEST).read_text()), document)
        print(
            f"audit of {len(directories)} directories: {audited.run.wall_s:.1f} s; of"
            f" {compared.planted} planted faults {len(compared.missed)} missed,"
            f" {len(compared.invented)} findings invented"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
