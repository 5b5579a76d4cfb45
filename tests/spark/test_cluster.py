"""A real standalone cluster, a master and one worker, whose Python does not have kraftool.

Both are started by the test on this machine. The worker's Python sees the standard library and the
few packages that are said to be needed there; kraftool comes to it with the job.
"""

import importlib.util
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from kraftool.decoders.log_record import decode_batch
from kraftool.decoders.segment import Damage, scan
from kraftool.spark.java import find_java
from kraftool.spark.shipping import ON_WORKERS
from tests.spark.live_fleet import BATCHES, Live, next_offset
from tests.spark.pipeline_processes import LITTLE_MEMORY, Pipeline, To, ended

pytestmark = pytest.mark.spark
ROOT = Path(__file__).resolve().parents[2]
PATIENCE_S = 120

DRIVER = """
import json, sys
sys.path.insert(0, {root!r})
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
from kraftool.decoders.log_record import decode_batch
from kraftool.decoders.segment import scan
from kraftool.spark.engine import session

class Reader(DataSourceReader):
    def __init__(self, options):
        self.path = options["path"]
    def partitions(self):
        return [InputPartition((self.path, sys.executable))]
    def read(self, partition):
        import pyarrow
        path, planner = partition.value
        with open(path, "rb") as file:
            data = file.read()
        # Both functions are pickled by their names, so that the worker has to import kraftool.
        batches = scan(lambda position, size: data[position : position + size])
        offsets = [each.record.offset for batch in batches for each in decode_batch(batch)]
        module = sys.modules["kraftool.decoders.segment"].__file__
        columns = {{
            "offset": pyarrow.array(offsets, pyarrow.int64()),
            "code": [module] * len(offsets),
            "python": [sys.executable] * len(offsets),
            "planner": [planner] * len(offsets),
        }}
        yield pyarrow.RecordBatch.from_pydict(columns)

class Offsets(DataSource):
    @classmethod
    def name(cls):
        return "offsets"
    def schema(self):
        return "offset long, code string, python string, planner string"
    def reader(self, schema):
        return Reader(self.options)

with session(*sys.argv[3:]) as spark:
    spark.dataSource.register(Offsets)
    rows = spark.read.format("offsets").load(sys.argv[1]).where("offset >= 10").collect()
    context = spark.sparkContext
    said = {{
        "master": context.master,
        "offsets": [row.offset for row in rows],
        **{{name: sorted({{row[name] for row in rows}})
           for name in ("code", "python", "planner")}},
    }}
with open(sys.argv[2], "w") as file:
    json.dump(said, file)
"""


class Cluster(NamedTuple):
    master: str
    python: Path
    environment: dict[str, str]
    spark_home: Path


def said_in(log: Path, pattern: str, process: subprocess.Popen[bytes]) -> str:
    """What a process wrote to its log, once it has."""
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline and process.poll() is None:
        found = re.search(pattern, log.read_text(errors="replace"))
        if found:
            return found[0]
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


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    import pyspark

    folder = tmp_path_factory.mktemp("cluster")
    home = Path(pyspark.__file__).parent
    inherited = {
        key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "SPARK"))
    }
    environment = inherited | {
        "JAVA_HOME": str(find_java(folder).home),
        "SPARK_HOME": str(home),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_DAEMON_MEMORY": "256m",
        "JAVA_TOOL_OPTIONS": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    }
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


@pytest.mark.parametrize("how", ["embedded", "spark-submit"])
def test_a_worker_without_kraftool_decodes_with_the_code_that_came_with_the_job(
    how: str, cluster: Cluster, tmp_path: Path, fixtures_dir: Path
) -> None:
    log = fixtures_dir / "kafka-4.3.0/static-single/node-1/data/__cluster_metadata-0"
    segment = log / "00000000000000000000.log"
    (tmp_path / "driver.py").write_text(DRIVER.format(root=str(ROOT)))
    told = tmp_path / "told.json"
    arguments = [str(tmp_path / "driver.py"), str(segment), str(told)]
    settings = {"spark.executor.memory": "512m", "spark.driver.memory": "512m"}
    environment = cluster.environment | {"PYSPARK_PYTHON": str(cluster.python)}
    if how == "embedded":
        # Unless this file is read, the executor asks for more than the worker has.
        defaults = tmp_path / "spark-defaults.conf"
        defaults.write_text("".join(f"{key} {value}\n" for key, value in settings.items()))
        environment["SPARK_CONF_DIR"] = str(tmp_path)
        command = [sys.executable, *arguments, cluster.master]
    else:
        environment["PYSPARK_DRIVER_PYTHON"] = sys.executable
        conf = [f"--conf={key}={value}" for key, value in settings.items()]
        submit = str(cluster.spark_home / "bin" / "spark-submit")
        command = [submit, "--master", cluster.master, *conf, *arguments]
    done = subprocess.run(
        command,
        env=environment,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE_S,
    )
    assert done.returncode == 0, done.stderr[-6000:]
    if how == "embedded":
        assert done.stdout + done.stderr == ""
    said = json.loads(told.read_text())
    assert said["master"] == cluster.master
    data = segment.read_bytes()
    batches = list(scan(lambda at, size: data[at : at + size]))
    assert not any(isinstance(batch, Damage) for batch in batches)
    offsets = [
        record.record.offset
        for batch in batches
        if not isinstance(batch, Damage)
        for record in decode_batch(batch)
    ]
    assert said["offsets"] == [offset for offset in offsets if offset >= 10]
    assert said["python"] == [str(cluster.python)]
    (code,) = said["code"]
    assert "/kraftool-" in code
    assert code.endswith(".zip/kraftool/decoders/segment.py")
    # Plans are made on the driver's machine, by the Python that is named for the workers.
    assert said["planner"] == [str(cluster.python)]


def test_a_stream_runs_on_a_cluster_and_ends_with_what_it_is_writing(
    cluster: Cluster, tmp_path: Path
) -> None:
    live = Live(tmp_path / "fleet/node-1")
    live.append(*BATCHES[:10])
    read_table = pytest.importorskip("pyarrow.parquet").read_table
    out = tmp_path / "out"
    settings = (f"--master={cluster.master}", "--conf=spark.executor.memory=512m", *LITTLE_MEMORY)
    environment = cluster.environment | {"PYSPARK_PYTHON": str(cluster.python)}
    command = ("stream", tmp_path / "fleet", f"--to=parquet:{out}", "--interval=0.2", *settings)
    run = Pipeline(tmp_path / "run", *command, environment=environment)

    def offsets() -> list[int]:
        files = map(read_table, out.glob("batch=*/*.parquet"))
        rows = (row for file in files for row in file.to_pylist())
        return sorted(row["offset"] for row in rows if row["kind"] == "record")

    with ended(run):
        run.wait_for("rows", lambda: offsets() == list(range(next_offset(BATCHES[9]))))
        live.append(*BATCHES[10:60])
        run.wait_for("more", lambda: len(offsets()) > next_offset(BATCHES[9]))
        assert run.end(signal.SIGTERM, To.ALL) == 0, run.stderr.read_text()
        assert run.leftovers() == []
    assert run.stderr.read_text() == ""
    assert offsets() == list(range(next_offset(BATCHES[59])))
