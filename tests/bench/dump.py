"""Measures `kraftool dump-log` and the real kafka-dump-log side by side, in one run.

    make bench-dump
    python tests/bench/dump.py --rounds 5 --megabytes 108

The log is made of a batch of 241 records that real Kafka wrote when a topic of 240 partitions was
created (fixtures/kafka-4.3.0/many-partitions), repeated: its base offset lies outside the CRC, so
that every copy is as valid as the first. The programs take turns, so that whatever else the
machine does falls on all of them, and medians are compared. A log of 200 kB shows what starting
costs. Owns the log and the stopwatch; it refuses to judge: nothing here passes or fails.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from kraftool.decoders.batch import RecordBatch
from kraftool.decoders.segment import scan
from tests.bench import results
from tests.interop import kafka
from tests.interop.dumplog import DECODER
from tests.support.places import LOG, ROOT

SOURCE = ROOT / "fixtures/kafka-4.3.0/many-partitions/node-1/data/__cluster_metadata-0" / LOG
SMALL = 200_000


def widest_batch(log: bytes) -> RecordBatch:
    """The batch with the most records: a topic with all its partitions."""
    parts = scan(lambda at, size: log[at : at + size])
    return max(
        (b for b in parts if isinstance(b, RecordBatch)), key=lambda b: b.header.record_count
    )


def build_log(path: Path, size: int) -> int:
    """Write a log of about `size` bytes, whole batches only; return how many records it has."""
    batch = widest_batch(SOURCE.read_bytes())
    copies = max(size // batch.size, 1)
    step = batch.header.last_offset_delta + 1
    with path.open("wb") as out:
        for number in range(copies):
            out.write((number * step).to_bytes(8, "big"))
            out.write(batch.data[8:])
    return copies * batch.header.record_count


@dataclass(frozen=True)
class Run:
    """What one process, with those that it waited for, took. Memory is its largest process's."""

    wall_s: float
    cpu_s: float
    peak_mb: float


ENVIRONMENT = {
    name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"
} | {"PYTHONPATH": str(ROOT)}
"""So that kraftool is the one of this tree, whatever is installed, and has its bytecode as an
installed one does."""


def output(command: Sequence[str], cwd: Path) -> bytes:
    """What a program writes to stdout."""
    done = subprocess.run(command, cwd=cwd, env=ENVIRONMENT, capture_output=True, check=True)
    return done.stdout


def measure(command: Sequence[str], cwd: Path) -> Run:
    """Run a program with its output thrown away."""
    began = time.perf_counter()
    process = subprocess.Popen(
        command,
        cwd=cwd,
        env=ENVIRONMENT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    assert process.stderr is not None
    message = process.stderr.read().decode(errors="replace")
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - began
    process.returncode = os.waitstatus_to_exitcode(status)
    process.stderr.close()
    if process.returncode:
        raise SystemExit(f"{' '.join(command)} ended with {process.returncode}:\n{message}")
    return Run(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def kafka_command() -> list[str]:
    """kafka-dump-log with the JVM's own defaults but for the heap."""
    return [
        *("java", "-Xmx512m", "-Dfile.encoding=UTF-8", "-Dklevel=WARN"),
        *("-cp", kafka.classpath(kafka.TOOLS_VERSION), kafka.dump_log_class(kafka.TOOLS_VERSION)),
        *(DECODER, "--files", LOG),
    ]


def kraftool_command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "kraftool", "dump-log", LOG, *arguments]


COMMANDS: dict[str, list[str]] = {
    "kraftool -o kafka --jobs 1": kraftool_command("-o", "kafka", "--jobs", "1"),
    "kraftool -o kafka --jobs 2": kraftool_command("-o", "kafka", "--jobs", "2"),
    "kraftool -o jsonl --jobs 1": kraftool_command("-o", "jsonl", "--jobs", "1"),
    "kraftool -o jsonl --jobs 2": kraftool_command("-o", "jsonl", "--jobs", "2"),
}
REFERENCE = f"kafka-dump-log {kafka.TOOLS_VERSION}"


def compare(folder: Path, size: int, rounds: int) -> None:
    """Measure every program on one log, in turns, and print a line for each."""
    records = build_log(folder / LOG, size)
    length = (folder / LOG).stat().st_size
    print(f"\n{length / 1e6:.1f} MB, {records} records, median of {rounds} rounds:")
    print(f"{'':28} {'wall s':>8} {'CPU s':>8} {'peak MB':>8} {'records/s':>10} {'of Kafka':>9}")
    commands = {REFERENCE: kafka_command()} | COMMANDS
    runs: dict[str, list[Run]] = {name: [] for name in commands}
    for _ in range(rounds):
        for name, command in commands.items():
            runs[name].append(measure(command, folder))
    reference = statistics.median(run.wall_s for run in runs[REFERENCE])
    for name, measured in runs.items():
        wall = statistics.median(run.wall_s for run in measured)
        cpu = statistics.median(run.cpu_s for run in measured)
        peak = statistics.median(run.peak_mb for run in measured)
        print(
            f"{name:28} {wall:8.2f} {cpu:8.2f} {peak:8.0f} {records / wall:10.0f}"
            f" {wall / reference:8.2f}x",
            flush=True,
        )


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3, help="how often each program runs")
    parser.add_argument("--megabytes", type=int, default=108, help="size of the large log")
    chosen = parser.parse_args(arguments)
    if problem := kafka.available(kafka.TOOLS_VERSION):
        print(problem, file=sys.stderr)
        return 2
    kafka.home(kafka.TOOLS_VERSION)  # brought before anything is timed
    print(f"Python {sys.version.split()[0]}, {os.cpu_count()} cores")
    with tempfile.TemporaryDirectory(prefix="kraftool-bench-") as temporary:
        folder = Path(temporary)
        compare(folder, SMALL, max(chosen.rounds, 5))
        compare(folder, chosen.megabytes * 1_000_000, chosen.rounds)
    return 0


if __name__ == "__main__":
    sys.exit(results.run("dump-log and kafka-dump-log", main))
