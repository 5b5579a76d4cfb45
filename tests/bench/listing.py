"""What it costs the driver to list a fleet, and a stream to remember it.

    python tests/bench/listing.py --directories 20000
    python tests/bench/listing.py --directories 5000 --stream
    python tests/bench/listing.py --directories 5000 --far
    python tests/bench/listing.py --directories 20000 --job

The directories are hard links to a fixture, so that they take no room. Times are CPU seconds of
this process (user and system). `--far` lists them in a store of another process, which answers
each request after 30 ms: by the threads of the driver, and by a job of Spark. `--job` has a job
list the local directories, which pipelines do not do. These two print times of the clock too.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar
from unittest.mock import patch

from kraftool.arrow.fleet import Fleet
from kraftool.arrow.search import find_fleet
from kraftool.arrow.settings import read_settings

FIXTURE = Path(__file__).resolve().parents[2] / "fixtures/kafka-4.3.0/static-single/node-1/data"
Value = TypeVar("Value")


def make(root: Path, count: int) -> None:
    """Make so many directories: one copy without its topics, and links to its files."""
    first = root / "0/data"
    shutil.copytree(FIXTURE / "__cluster_metadata-0", first / "__cluster_metadata-0")
    for path in FIXTURE.iterdir():
        if path.is_file():
            shutil.copy(path, first)
    files = [path.relative_to(first) for path in first.rglob("*") if path.is_file()]
    for number in range(1, count):
        data = root / f"{number}/data"
        for path in files:
            (data / path).parent.mkdir(parents=True, exist_ok=True)
            os.link(first / path, data / path)


def measured(name: str, work: Callable[[], Value]) -> Value:
    """Print the CPU time of some work."""
    before = os.times()
    value = work()
    after = os.times()
    seconds = after.user + after.system - before.user - before.system
    print(f"{name}: {seconds:.2f} s of CPU", flush=True)
    return value


def resident() -> int:
    """The memory of this process, in bytes."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def list_fleet(root: Path, count: int) -> None:
    """Measure one listing, and the memory that it keeps."""
    before = resident()
    fleet = measured("listing", lambda: find_fleet([str(root)]))
    size = resident() - before
    print(f"{len(fleet.files)} files; {size / count:.0f} bytes of memory for each directory")


def follow(root: Path, state: Path) -> None:
    """Measure the micro-batches of a stream: the first, one without news, one with a change."""
    from pyspark.sql.streaming.datasource import ReadAllAvailable

    from kraftool.spark.columns import spark_schema
    from kraftool.spark.stream import stream_reader

    options = {"path": str(root), "stateLocation": str(state)}
    reader = stream_reader("kraft", read_settings(options), spark_schema("kraft"))

    def trigger(start: Any) -> Any:
        end = json.loads(json.dumps(reader.latestOffset(start, ReadAllAvailable())))
        reader.partitions(start, end)
        return end

    first = measured("first micro-batch", lambda: trigger(reader.initialOffset()))
    measured("no news", lambda: trigger(first))
    (log,) = (root / "1/data/__cluster_metadata-0").glob("*.log")
    data = log.read_bytes()
    log.unlink()
    log.write_bytes(data[:-1])
    end = measured("one log changed", lambda: trigger(first))
    print(f"offset: {len(json.dumps(end))} bytes")
    log.write_bytes(data)
    reader.stop()


def list_far(root: Path) -> None:
    """Measure a listing of a store by threads, and by a job in a session that is running."""
    from kraftool.arrow import search
    from kraftool.spark.engine import session
    from kraftool.spark.listing import ListingJob

    command = [sys.executable, str(Path(__file__).with_name("slow_store.py")), str(root), "0.03"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as store:
        try:
            assert store.stdout is not None
            url = f"http://127.0.0.1:{store.stdout.readline().strip()}"
            options = {"key": "k", "secret": "s", "client_kwargs": {"endpoint_url": url}}
            search.JOB_FROM = 2
            with session() as spark:
                timed("threads", lambda: find_fleet(["s3://fleet"], options=options))
                job = ListingJob(lambda: spark)
                timed("a job", lambda: find_fleet(["s3://fleet"], options=options, job=job))
        finally:
            store.terminate()


def list_by_job(root: Path) -> None:
    """Measure a listing of local directories by a job in a session that is running."""
    from kraftool.arrow import search
    from kraftool.spark.engine import session
    from kraftool.spark.listing import ListingJob

    timed("alone", lambda: find_fleet([str(root)]))
    # For the search these are far.
    search.JOB_FROM = 2
    with session() as spark, patch.object(search, "is_far", lambda look: True):
        job = ListingJob(lambda: spark)
        timed("a job", lambda: find_fleet([str(root)], job=job))


def timed(name: str, listing: Callable[[], Fleet]) -> None:
    """Print how long a listing takes the first time, and again, and the CPU time of the driver."""
    for attempt in ("first", "again"):
        began, before = time.monotonic(), os.times()
        fleet = listing()
        after = os.times()
        cpu = after.user + after.system - before.user - before.system
        seconds = time.monotonic() - began
        print(
            f"{name}, {attempt}: {len(fleet.files)} files in {seconds:.1f} s,"
            f" {cpu:.1f} s of CPU of the driver",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--directories", type=int, default=20_000)
    parser.add_argument("--stream", action="store_true")
    parser.add_argument("--far", action="store_true")
    parser.add_argument("--job", action="store_true")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        root = Path(temporary) / "fleet"
        make(root, given.directories)
        if given.far:
            list_far(root)
            return
        if given.job:
            list_by_job(root)
            return
        if not given.stream:
            list_fleet(root, given.directories)
            return
        follow(root, Path(temporary) / "state")


if __name__ == "__main__":
    main()
