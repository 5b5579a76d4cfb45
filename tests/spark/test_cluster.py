"""Jobs on a real standalone cluster, whose workers get kraftool's code with the job."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from kraftool.decoders.log_record import decode_batch
from kraftool.decoders.segment import Damage, scan
from tests.spark.live_fleet import BATCHES, Live, next_offset
from tests.spark.pipeline_processes import LITTLE_MEMORY, Pipeline, To, ended
from tests.spark.standalone_cluster import PATIENCE_S, Cluster
from tests.support.places import ROOT

pytestmark = pytest.mark.spark

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

with session() as spark:
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


def test_a_worker_without_kraftool_decodes_with_the_code_that_came_with_the_job(
    cluster: Cluster, tmp_path: Path, fixtures_dir: Path
) -> None:
    log = fixtures_dir / "kafka-4.3.0/static-single/node-1/data/__cluster_metadata-0"
    segment = log / "00000000000000000000.log"
    (tmp_path / "driver.py").write_text(DRIVER.format(root=str(ROOT)))
    report_path = tmp_path / "told.json"
    arguments = [str(tmp_path / "driver.py"), str(segment), str(report_path)]
    settings = {"spark.executor.memory": "512m", "spark.driver.memory": "512m"}
    environment = cluster.environment | {
        "PYSPARK_PYTHON": str(cluster.python), "PYSPARK_DRIVER_PYTHON": sys.executable,
    }  # fmt: skip
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
    report = json.loads(report_path.read_text())
    assert report["master"] == cluster.master
    data = segment.read_bytes()
    batches = list(scan(lambda at, size: data[at : at + size]))
    assert not any(isinstance(batch, Damage) for batch in batches)
    offsets = [
        record.record.offset
        for batch in batches
        if not isinstance(batch, Damage)
        for record in decode_batch(batch)
    ]
    assert report["offsets"] == [offset for offset in offsets if offset >= 10]
    assert report["python"] == [str(cluster.python)]
    (code,) = report["code"]
    assert "/kraftool-" in code
    assert code.endswith(".zip/kraftool/decoders/segment.py")
    # Plans are made on the driver's machine, by the Python that is named for the workers.
    assert report["planner"] == [str(cluster.python)]


def test_a_stream_runs_on_a_cluster_and_ends_with_what_it_is_writing(
    cluster: Cluster, tmp_path: Path
) -> None:
    """Its workers decode with the code that came with the job, too: their Python has no kraftool.
    The settings are in Spark's own file. Without it the executor asks for more than a worker has.
    """
    live = Live(tmp_path / "fleet/node-1")
    live.append(*BATCHES[:10])
    read_table = pytest.importorskip("pyarrow.parquet").read_table
    out = tmp_path / "out"
    environment = cluster.environment | {"PYSPARK_PYTHON": str(cluster.python)}
    defaults = tmp_path / "spark-defaults.conf"
    shared = Path(environment["SPARK_CONF_DIR"], defaults.name).read_text()
    defaults.write_text(f"{shared}spark.executor.memory 512m\n")
    environment["SPARK_CONF_DIR"] = str(tmp_path)
    settings = (f"--master={cluster.master}", *LITTLE_MEMORY)
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
