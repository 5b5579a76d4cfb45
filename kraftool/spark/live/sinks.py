"""The sinks of a stream's micro-batches: Parquet, each exactly once; Kafka, at least once.

Owns the writing of one micro-batch. Spark plans a batch that was not committed again with the same
number and the same rows, so that a folder for each batch, renamed when all of it is there, is
written once whenever the run is killed. Spark's own Parquet sink leaves files of killed runs for
readers other than Spark to find.
"""

from __future__ import annotations

import errno
import os
import shutil
import uuid
from collections.abc import Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from kraftool.decoders.errors import KraftoolError
from kraftool.spark.live.checkpoint import NOTE, Checkpoint, OtherStream, read_note, write_note
from kraftool.spark.live.frame import json_key, json_line
from kraftool.spark.outputs import own_folder, refuse_inside

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import DataFrame, SparkSession

CONNECTOR = "org.apache.spark:spark-sql-kafka-0-10_2.13"
_NOTE = "_kraftool.json"
_STAGING = "_staging"
CHECKPOINT = "_checkpoint"
"""The folder of the checkpoint, unless another one is named."""


def refuse_foreign(folder: Path) -> None:
    """Refuse a folder that is not ours: in a data directory, or with other things in it."""
    refuse_inside(folder)
    if not folder.exists() or read_note(folder / _NOTE):
        return
    there = {name for name in own_folder(folder) if not name.startswith(".")}
    # A first run that was killed early has left its checkpoint, and no note.
    if there - ({CHECKPOINT} if (folder / CHECKPOINT / NOTE).is_file() else set()):
        raise OtherStream(
            f"{folder} contains something other than a stream's output",
            hint="name a new folder with --to parquet:DIR",
        )


class ParquetSink:
    """A folder with one folder a micro-batch: DIR/batch=12/part-….parquet."""

    def __init__(self, folder: Path, checkpoint: Checkpoint) -> None:
        self.folder = folder
        refuse_foreign(folder)
        own_folder(folder)
        self._take(checkpoint)
        shutil.rmtree(folder / _STAGING, ignore_errors=True)
        (folder / _STAGING).mkdir(mode=0o700, exist_ok=True)

    def _take(self, checkpoint: Checkpoint) -> None:
        """Refuse a folder whose batches another checkpoint counts: the numbers are the same."""
        note = read_note(self.folder / _NOTE)
        if not note:
            write_note(self.folder / _NOTE, {"version": 1, "checkpoint": checkpoint.id})
        elif note.get("checkpoint") != checkpoint.id:
            raise OtherStream(
                f"{self.folder} was written with another checkpoint",
                hint="continue with that one, or name a new folder with --to parquet:DIR",
            )

    def write(self, batch: DataFrame, number: int) -> None:
        """Write one micro-batch, unless all of it is there already."""
        target = self.folder / f"batch={number}"
        if target.exists():
            return
        passing = self.folder / _STAGING / f"{number}-{uuid.uuid4().hex}"
        batch.write.parquet(f"file://{passing}")
        _seal(passing)
        passing.rename(target)
        _sync(self.folder)

    def close(self) -> None:
        shutil.rmtree(self.folder / _STAGING, ignore_errors=True)


class KafkaSink:
    """A topic, by Spark's own connector."""

    def __init__(self, servers: str, topic: str, conf: Mapping[str, str]) -> None:
        self._options = {"kafka.bootstrap.servers": servers, "topic": topic}
        self._options |= {f"kafka.{key.removeprefix('kafka.')}": conf[key] for key in conf}
        self._secrets = [secret for secret in conf.values() if len(secret) > 3]

    def check(self, spark: SparkSession) -> None:
        """Raise KraftoolError where Spark's connector is not there."""
        from pyspark.errors import AnalysisException

        try:
            spark.read.format("kafka").options(**self._options).option(
                "subscribe", self._options["topic"]
            ).load()
        except AnalysisException as error:
            if "Failed to find data source: kafka" not in str(error):
                raise
            raise KraftoolError(
                "Spark's connector for Kafka is not installed",
                hint=f"--conf spark.jars.packages={CONNECTOR}:{spark.version} brings it",
            ) from None

    def write(self, batch: DataFrame, number: int) -> None:
        """Send one micro-batch; one that is sent again has the same keys."""
        rows = batch.select(json_key().alias("key"), json_line().alias("value"))
        with self._told_without_secrets():
            rows.write.format("kafka").options(**self._options).save()

    @contextmanager
    def _told_without_secrets(self) -> Iterator[None]:
        """Kafka may say in its errors what it was given."""
        try:
            yield
        except Exception as error:
            text = str(error)
            for secret in self._secrets:
                text = text.replace(secret, "…")
            if text == str(error):
                raise
            raise KraftoolError(text.partition("\n")[0]) from None

    def close(self) -> None:
        """Nothing is kept."""


def _seal(folder: Path) -> None:
    """Leave nothing but Parquet files, for their owner alone, and on the disk."""
    for path in folder.iterdir():
        if path.suffix != ".parquet":
            path.unlink()
            continue
        path.chmod(0o600)
        _sync(path)
    folder.chmod(0o700)
    _sync(folder)


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno != errno.EINVAL:  # some file systems cannot, for a folder
            raise
    finally:
        os.close(handle)
