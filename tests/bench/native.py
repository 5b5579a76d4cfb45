"""Measures the native module: in process by itself, and whole commands beside kafka-dump-log.

    make bench-native
    python tests/bench/native.py --megabytes 108 --rounds 3 --write

Two logs: partitions as they are created, and changes of partitions. Figures are CPU seconds, user
and system; those of commands are medians of whole processes, in turns. `--write` adds them to
RESULTS.md, with date and commit. Owns the stopwatch; it refuses to judge: nothing here passes or
fails.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from kraftool.decoders import fast_path
from kraftool.decoders.segment import BatchSpan
from kraftool.decoders.walk import Walk
from kraftool.directory.native_reader import NativeReader
from kraftool.reports.logs.render import RenderPlan, render
from kraftool.reports.state.replay import Replay
from kraftool.storage.source import FileSource
from tests.bench import dump, inspect_state, results
from tests.interop import kafka
from tests.support.places import LOG

MB = 1_000_000
REPLAYED = 20 * MB
KAFKA = "kafka-dump-log"
STARTED = "of it on 200 kB"


def spans(path: Path) -> Iterator[BatchSpan]:
    with FileSource(str(path)) as source:
        yield from (item for item in Walk(source.read_at).spans() if isinstance(item, BatchSpan))


def checksums(path: Path) -> None:
    """Read, CRC, framing of batches."""
    for _ in spans(path):
        pass


def fields(path: Path) -> None:
    """The same with every field of every record."""
    reader = NativeReader()
    for span in spans(path):
        at = span.at
        while at < span.end:
            taken = reader.read(span, at)
            at = taken.end
            assert not taken.is_stuck, "the logs of the bench are plain"


def text(form: str) -> Callable[[Path], None]:
    """The same and written out."""

    def run(path: Path) -> None:
        with FileSource(str(path)) as source:
            for _ in render(RenderPlan(format=form), path.name, source.read_at):
                pass

    return run


def replay(path: Path) -> None:
    """Replayed into an image."""
    made = Replay()
    with FileSource(str(path)) as source:
        for item in Walk(source.read_at, stop=REPLAYED).spans():
            if isinstance(item, BatchSpan):
                at = item.at
                while at < item.end:
                    at, _ = made.span(path.name, item, at, item.end)


STEPS: dict[str, Callable[[Path], None]] = {
    "read, CRC, framing": checksums,
    "every field": fields,
    "Kafka's text": text("kafka"),
    "JSON lines": text("jsonl"),
    "CSV": text("csv"),
}


def cpu_of(run: Callable[[Path], None], path: Path, rounds: int) -> float:
    """The least CPU seconds of a few runs: what else the machine does only adds to them."""
    run(path)
    taken = []
    for _ in range(rounds):
        began = time.process_time()
        run(path)
        taken.append(time.process_time() - began)
    return min(taken)


def in_process(path: Path, rounds: int) -> list[str]:
    size = path.stat().st_size
    lines = ["", "| in process, one core | CPU s | MB/s |", "|---|---|---|"]
    for name, run in STEPS.items():
        taken = cpu_of(run, path, rounds)
        lines.append(f"| {name} | {taken:.3f} | {size / MB / taken:.0f} |")
    taken = cpu_of(replay, path, 1)
    replayed = min(size, REPLAYED)
    lines.append(f"| replay | {taken:.3f} | {replayed / MB / taken:.0f} |")
    return lines


def commands(folder: Path, small: Path, rounds: int) -> list[str]:
    """Whole commands on a log, and what of it they take on a log of 200 kB."""
    chosen = {}
    if not kafka.available(kafka.TOOLS_VERSION):
        kafka.home(kafka.TOOLS_VERSION)
        chosen[KAFKA] = dump.kafka_command()
    for form in ("kafka", "jsonl"):
        for jobs in ("1", "2"):
            words = "-o", form, "--jobs", jobs
            chosen[f"kraftool {' '.join(words)}"] = dump.kraftool_command(*words)
    runs: dict[str, list[dump.Run]] = {name: [] for name in chosen}
    starts: dict[str, list[dump.Run]] = {name: [] for name in chosen}
    for _ in range(rounds):
        for name, command in chosen.items():
            runs[name].append(dump.measure(command, folder))
            starts[name].append(dump.measure(command, small))
    header = (
        f"| whole command | CPU s | {STARTED} | wall s | peak MB | CPU, of Kafka's | decode only |"
    )
    lines = ["", header, "|---|---|---|---|---|---|---|"]
    medians = {}
    for name, measured in runs.items():
        cpu = statistics.median(run.cpu_s for run in measured)
        start = statistics.median(run.cpu_s for run in starts[name])
        wall = statistics.median(run.wall_s for run in measured)
        peak = statistics.median(run.peak_mb for run in measured)
        medians[name] = cpu, cpu - start
        cells = [name, f"{cpu:.2f}", f"{start:.2f}", f"{wall:.2f}", f"{peak:.0f}", "", ""]
        if KAFKA in medians:
            cells[-2:] = (f"1/{medians[KAFKA][of] / medians[name][of]:.1f}" for of in (0, 1))
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def measured(megabytes: int, rounds: int, folder: Path) -> list[str]:
    """All figures as lines of Markdown."""
    commit = subprocess.run(
        ["git", "describe", "--always", "--dirty"], capture_output=True, text=True, check=False
    ).stdout.strip()
    load = os.getloadavg()[0]
    about = (
        f"{os.cpu_count()} cores, load {load:.1f} at the beginning,"
        f" Python {sys.version.split()[0]}, {fast_path.described}, Kafka {kafka.TOOLS_VERSION}."
        " With a load above 1, wall times say little."
    )
    lines = [f"## {datetime.now(UTC):%Y-%m-%d}, commit {commit}", "", about]
    logs = {"partitions": dump.build_log, "changes of partitions": inspect_state.build_log}
    for name, build in logs.items():
        place, small = folder / name.replace(" ", "-"), folder / f"small-{name.replace(' ', '-')}"
        place.mkdir()
        small.mkdir()
        records = build(place / LOG, megabytes * MB)
        build(small / LOG, dump.SMALL)
        size = (place / LOG).stat().st_size
        lines += ["", f"### {size / MB:.0f} MB of {name}, {records} records"]
        lines += in_process(place / LOG, rounds)
        lines += commands(place, small, rounds)
    return lines


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--megabytes", type=int, default=108)
    parser.add_argument("--write", action="store_true", help="add the figures to RESULTS.md")
    chosen = parser.parse_args(arguments)
    if not fast_path.is_native():
        print(f"there is no native module: {fast_path.described}", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory(prefix="kraftool-bench-") as folder:
        lines = measured(chosen.megabytes, chosen.rounds, Path(folder))
    print("\n".join(lines))
    if chosen.write:
        results.add(lines)
    return 0


if __name__ == "__main__":
    sys.exit(main())
