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
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TypeAlias

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
_TIMES_THE_SIZE, _BESIDES = 5, 300_000_000
"""The most on disk at a time, in sets of logs: two sets and a tenth, tables, and shuffles."""


@dataclass(frozen=True, slots=True)
class Input:
    """A set of data directories."""

    root: Path
    directories: tuple[Path, ...]
    records: int
    size: int


Starts: TypeAlias = Mapping[int, float]
"""Seconds of a session without work, by cores."""


@dataclass(frozen=True, slots=True)
class Row:
    """A line of the result."""

    what: str
    cores: int
    input: Input
    run: Watched

    def busy_s(self, starts: Starts) -> float:
        """Return the seconds of the work, without those of an idle session on as many cores."""
        start_s = 0.0 if self.what in (_READING, _DUMPING) else starts[self.cores]
        return max(self.run.wall_s - start_s, 0.001)

    def cells(self, starts: Starts) -> list[str]:
        peaks = self.run.peaks
        busy_s = self.busy_s(starts)
        rate = self.input.records / busy_s / self.cores
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
    match = re.fullmatch(r"(\d+)([KMG]B)?", text.strip().upper())
    if match is None:
        raise argparse.ArgumentTypeError(f"{text} is no size such as 100MB or 2GB")
    return int(match[1]) * _UNITS[match[2] or ""]


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


def make_large(root: Path, size: int) -> None:
    """Write one directory with a log of about `size` bytes."""
    write_cluster(root, cluster_spec(_SEED, 9_999, 1, bulk_bytes=size, segment_bytes=_SEGMENT))


def make_small(root: Path, directories: int) -> None:
    """Write about so many small directories."""
    clusters = max(round(directories / NODES), 1)
    build(root, FleetPlan(clusters=clusters, nodes=NODES, seed=_SEED))


def options_of_tasks(documentation: str | None) -> argparse.ArgumentParser:
    """The options of benches that do the tasks of a pipeline without Spark."""
    parser = argparse.ArgumentParser(description=(documentation or "").splitlines()[0])
    parser.add_argument(
        "--log", type=size_of, default=0, help="size of the one large log (default: no large log)"
    )
    parser.add_argument("--small", type=int, default=0, help="number of small directories")
    parser.add_argument(
        "--cores", type=int, default=2, help="cores for which kraftool divides the work"
    )
    return parser


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

    def audit(self, what: str, cores: int, given: Input, out: Path, ok: int = 0) -> Row:
        return self._kraftool(
            what, cores, given, "pipeline", "audit", str(given.root), "-o", "json",
            "--out", str(out), *self._engine(cores), ok=ok,
        )  # fmt: skip

    def _engine(self, cores: int) -> list[str]:
        memory = f"spark.driver.memory={self._memory}"
        return ["--master", f"local[{cores}]", "--conf", memory, "--quiet"]


def show(rows: list[Row], starts: Starts) -> None:
    """Print a Markdown table."""
    lines = [list(_HEADS), ["---"] * len(_HEADS), *(row.cells(starts) for row in rows)]
    print()
    for line in lines:
        print(f"| {' | '.join(line)} |")


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """The runs that are compared."""

    start: Row
    start_of_one: Row
    tenth: Row
    one: Row
    two: Row
    floor: Row
    direct: Row
    audit_of_one: Row
    audit: Row
    uneven: Row

    def all(self) -> list[Row]:
        return [getattr(self, field.name) for field in fields(self)]


def ratios(rows: Rows, starts: Starts) -> list[str]:
    """What the runs are to each other; sessions are started in each, which is left out."""
    one_s, two_s = rows.one.busy_s(starts), rows.two.busy_s(starts)
    directly_s, uneven_s = rows.direct.busy_s(starts), rows.uneven.busy_s(starts)
    audits = rows.audit_of_one.busy_s(starts) / rows.audit.busy_s(starts)
    peaks, of_tenth = rows.two.run.peaks, rows.tenth.run.peaks
    cpu = rows.one.run.cpu_s / rows.floor.run.cpu_s
    return [
        f"{rows.two.cores} cores against 1: {one_s / two_s:.2f} times as fast",
        f"{rows.audit.cores} cores against 1, audit: {audits:.2f} times as fast",
        f"tables against dump-log, a core each: {directly_s / one_s:.2f} times the records/s",
        f"tables against reading and CRC: {cpu:.0f} times the CPU",
        f"one huge cluster against even ones: {uneven_s / two_s:.2f} times as long",
        "10 times the input: "
        + ", ".join(
            f"{name} {getattr(peaks, name) / getattr(of_tenth, name):.2f}"
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
        start_of_one, start = (bench.tables("nothing but a start", n, tiny) for n in (1, cores))
        small = make_set(folder / "small", chosen.size // 10, is_even=True)
        even = make_set(folder / "even", chosen.size, is_even=True)
        uneven = make_set(folder / "uneven", chosen.size, is_even=False)
        rows = Rows(
            start=start,
            start_of_one=start_of_one,
            tenth=bench.tables("tables, a tenth", cores, small),
            one=bench.tables("tables", 1, even),
            two=bench.tables("tables", cores, even),
            floor=bench.floor(even),
            direct=bench.direct(even),
            audit_of_one=bench.audit("audit", 1, even, folder / "one.json"),
            audit=bench.audit("audit", cores, even, folder / "two.json"),
            uneven=bench.tables("tables, one huge cluster", cores, uneven),
        )
        fleet = folder / "fleet"
        build(fleet, FleetPlan(clusters=chosen.clusters, faults=chosen.clusters // 2))
        directories = tuple(sorted(path for path in fleet.glob("*/*") if path.is_dir()))
        size = sum(path.stat().st_size for path in fleet.rglob("*.log"))
        answer = folder / "audit.json"
        given = Input(fleet, directories, 0, size)
        audited = bench.audit("audit of small directories", cores, given, answer, ok=3)
        starts = {1: start_of_one.run.wall_s, cores: start.run.wall_s}
        show([*rows.all(), audited], starts)
        print()
        for line in ratios(rows, starts):
            print(line)
        document = json.loads(answer.read_text())
        compared = answers(json.loads((fleet / MANIFEST).read_text()), document)
        print(
            f"audit of {len(directories)} directories: {audited.run.wall_s:.1f} s; of"
            f" {compared.planted} planted faults {len(compared.missed)} missed,"
            f" {len(compared.invented)} findings invented"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
