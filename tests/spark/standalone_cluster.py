"""A real standalone cluster, a master and one worker, whose Python does not have kraftool.

Both are started by the tests on this machine. The worker's Python sees the standard library and the
few packages that are said to be needed there; kraftool comes to it with the job.
"""

import importlib.util
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from kraftool.spark.java import find_java
from kraftool.spark.shipping import ON_WORKERS
from tests.spark.class_archive import variables

PATIENCE_S = 120


class Cluster(NamedTuple):
    master: str
    python: Path
    environment: dict[str, str]
    spark_home: Path


def said_in(log: Path, pattern: str, process: subprocess.Popen[bytes]) -> str:
    """Wait for a pattern in the log of a process, and return the match."""
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline and process.poll() is None:
        match = re.search(pattern, log.read_text(errors="replace"))
        if match:
            return match[0]
        time.sleep(0.05)
    raise AssertionError(f"{log.name}: no {pattern!r} in:\n{log.read_text(errors='replace')}")


@contextmanager
def started(command: list[str], log: Path, **options: Any) -> Iterator[subprocess.Popen[bytes]]:
    with log.open("wb") as output:
        process = subprocess.Popen(command, stdout=output, stderr=output, **options)
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def worker_python(folder: Path) -> Path:
    """A Python that has the packages which are said to be needed on workers, and no other."""
    command = [sys.executable, "-m", "venv", "--without-pip", str(folder)]
    subprocess.run(command, check=True)
    (site_packages,) = folder.glob("lib/python*/site-packages")
    for name in ON_WORKERS:
        spec = importlib.util.find_spec(name)
        assert spec is not None
        assert spec.submodule_search_locations is not None
        place = Path(spec.submodule_search_locations[0])
        metadata = place.parent.glob(f"{name}-*.dist-info")  # crc32c asks for its own version
        for path in (place, *metadata):
            (site_packages / path.name).symlink_to(path)
    return folder / "bin" / "python"


@contextmanager
def running_cluster(folder: Path) -> Iterator[Cluster]:
    """A master and a worker with one core."""
    import pyspark

    home = Path(pyspark.__file__).parent
    inherited = {
        key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "SPARK"))
    }
    own = {
        "JAVA_HOME": str(find_java(folder).home),
        "SPARK_HOME": str(home),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_DAEMON_MEMORY": "256m",
        "JAVA_TOOL_OPTIONS": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    }
    environment = inherited | variables() | own
    python = worker_python(folder / "python")
    lacking = subprocess.run(
        [python, "-c", "import kraftool"], capture_output=True, cwd=folder, check=False
    )
    assert b"No module named 'kraftool'" in lacking.stderr
    run = [str(home / "bin" / "spark-class")]
    here = ["--host", "127.0.0.1", "--port", "0", "--webui-port", "0"]
    options: dict[str, Any] = {"env": environment, "cwd": folder}
    log = folder / "master.log"
    master_class = "org.apache.spark.deploy.master.Master"
    with started([*run, master_class, *here], log, **options) as process:
        master = said_in(log, r"spark://127\.0\.0\.1:\d+", process)
        log = folder / "worker.log"
        size = ["--cores", "1", "--memory", "700m", "--work-dir", str(folder / "work")]
        worker_class = "org.apache.spark.deploy.worker.Worker"
        with started([*run, worker_class, *here, *size, master], log, **options) as process:
            said_in(log, "Successfully registered with master", process)
            yield Cluster(master, python, environment, home)
