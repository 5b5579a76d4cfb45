"""One run of `pipeline stream`: what it follows, where that goes, and how it ends.

Owns the reading of its options, and the order of things: the sink and the checkpoint are checked
before Spark is started, signals are handled from before its start until after its end.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from kraftool.commands.exit_code import UsageError
from kraftool.commands.pipeline_options import (
    absolute,
    check_files,
    spark_session,
    storage_options,
    turned_down,
)
from kraftool.commands.pipeline_stream_options import (
    PipelineStreamOptions,
    Start,
    StreamFormat,
)
from kraftool.commands.pipeline_stream_view import COLUMNS, LiveTable
from kraftool.commands.times import time_zone
from kraftool.decoders.errors import KraftoolError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from kraftool.spark.live.checkpoint import Checkpoint
    from kraftool.spark.live.frame import StreamOptions
    from kraftool.spark.live.run import RunningStream
    from kraftool.spark.live.sinks import KafkaSink, ParquetSink
    from kraftool.spark.live.stopping import Stopping

_CONSOLE_RATE, _SINK_RATE = 4 << 20, 256 << 20
_PRIVATE = "spark.hadoop.fs.permissions.umask-mode=077"
"""Hadoop sets the permissions of what it writes itself, whatever the process has for a umask."""
_UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30}


class StreamSink(NamedTuple):
    """The destination that --to names."""

    kind: str
    folder: Path | None = None
    servers: str = ""
    topic: str = ""

    @property
    def shown(self) -> str:
        if self.kind == "parquet":
            return f"parquet:{self.folder}"
        return f"kafka:{self.servers}/{self.topic}" if self.kind == "kafka" else self.kind


def target_of(text: str) -> StreamSink:
    """Read --to."""
    kind, _, rest = text.partition(":")
    if text == "console":
        return StreamSink("console")
    if kind == "parquet" and rest:
        if "://" in rest:
            raise UsageError("--to parquet: requires a folder of this machine, not a URL")
        return StreamSink("parquet", folder=Path(os.path.abspath(os.path.expanduser(rest))))
    if kind == "kafka":
        match = re.fullmatch(r"([^/\s]+:\d+)/([A-Za-z0-9._-]{1,249})", rest)
        if match is None:
            raise UsageError(
                "--to kafka: requires HOST:PORT/TOPIC", hint="--to kafka:broker-1:9092/metadata"
            )
        return StreamSink("kafka", servers=match[1], topic=match[2])
    raise UsageError(
        f"--to {text!r} is no sink", hint="console, parquet:DIR or kafka:HOST:PORT/TOPIC"
    )


def bytes_of(text: str) -> int:
    """Read --rate."""
    match = re.fullmatch(r"(\d{1,15})\s*([kmg]?)(?:i?b)?", text.strip().lower(), re.ASCII)
    if match is None or not int(match[1]):
        raise UsageError(f"--rate {text!r} is no number of bytes", hint="such as 500k, 64M or 1G")
    return int(match[1]) * _UNITS[match[2]]


class StreamRun:
    """Carries out what was asked for."""

    def __init__(self, options: PipelineStreamOptions) -> None:
        self.options = options
        self.target = target_of(options.to)
        self.zone = time_zone(options.tz)
        self.kafka_conf = dict(map(_kafka_setting, options.kafka_conf))
        if self.kafka_conf and self.target.kind != "kafka":
            raise UsageError("--kafka-conf is for --to kafka:HOST:PORT/TOPIC")
        if self.target.kind == "kafka" and not options.checkpoint:
            raise UsageError("--to kafka: needs --checkpoint DIR, which remembers what was sent")
        self._as_lines = options.output is StreamFormat.JSONL
        self.output = options.printing.open()

    def run(self) -> None:
        from kraftool.spark.ending import EndingSignal, failed_before
        from kraftool.spark.live.stopping import stopping

        following = self._following()
        with turned_down(), stopping() as asked:
            check_files(spark_log=self.options.spark_log)
            try:
                self._stream(following, asked)
            except (EndingSignal, KraftoolError) as error:
                if (failure := failed_before(error)) is not None:
                    raise failure from None
                # What is torn down amid its start may complain.
                if asked.is_streaming or not asked.asked:
                    raise
            if asked.interrupted:
                raise KeyboardInterrupt
        self.output.finish()

    def _following(self) -> StreamOptions:
        from kraftool.arrow.search import require
        from kraftool.spark.live.frame import StreamOptions

        asked = self.options
        rate = _CONSOLE_RATE if self.target.kind == "console" else _SINK_RATE
        following = StreamOptions(
            roots=absolute(asked.roots),
            storage=storage_options(asked.storage_options),
            depth=asked.depth,
            from_latest=asked.from_ is Start.LATEST,
            bytes_per_batch=bytes_of(asked.rate) if asked.rate else rate,
            types=frozenset().union(*map(_types, asked.type_)),
            clusters=frozenset(asked.cluster),
            findings=asked.findings,
            show_secrets=asked.show_secrets,
        )
        require(list(following.roots), options=following.storage)
        return following

    def _stream(self, following: StreamOptions, asked: Stopping) -> None:
        from kraftool.arrow.private_folder import private_folder
        from kraftool.spark.live.checkpoint import STATE

        with ExitStack() as ending:
            ending.enter_context(_private_files())
            kept = self._checkpoint(following)
            checkpoint = ending.enter_context(kept) if kept is not None else None
            sink = self._sink(checkpoint)
            if sink is not None:
                ending.callback(sink.close)
            progress = ending.enter_context(self.output.task_progress("starting Spark"))
            spark = ending.enter_context(self._spark())
            if checkpoint is not None:
                state = checkpoint.folder / STATE
            else:
                state = ending.enter_context(private_folder("kraftool-stream-")) / STATE
            rows = self._rows(spark, replace(following, state=str(state)), sink)
            from kraftool.spark.live.run import running

            run = ending.enter_context(
                running(
                    rows,
                    sink.write if sink is not None else None,
                    checkpoint=checkpoint.folder if checkpoint is not None else None,
                    once=self.options.once,
                    interval_s=self.options.interval,
                )
            )
            asked.is_streaming = True
            self._follow(run, asked, progress)

    def _spark(self) -> AbstractContextManager[SparkSession]:
        private = replace(self.options, conf=[_PRIVATE, *self.options.conf])
        return spark_session(private, "stream")

    def _checkpoint(self, following: StreamOptions) -> AbstractContextManager[Checkpoint] | None:
        from kraftool.spark.live.checkpoint import held, note_of
        from kraftool.spark.live.sinks import CHECKPOINT, refuse_foreign

        named = self.options.checkpoint
        if "://" in named:
            raise UsageError("--checkpoint requires a folder of this machine, not a URL")
        folder = Path(os.path.abspath(os.path.expanduser(named))) if named else None
        if self.target.folder is not None:
            refuse_foreign(self.target.folder)  # before anything is made in it
            folder = folder or self.target.folder / CHECKPOINT
        return None if folder is None else held(folder, note_of(following, self.target.shown))

    def _sink(self, checkpoint: Checkpoint | None) -> ParquetSink | KafkaSink | None:
        from kraftool.spark.live.sinks import KafkaSink, ParquetSink

        if self.target.folder is not None and checkpoint is not None:
            return ParquetSink(self.target.folder, checkpoint)
        if self.target.kind == "kafka":
            return KafkaSink(self.target.servers, self.target.topic, self.kafka_conf)
        return None

    def _rows(
        self, spark: SparkSession, following: StreamOptions, sink: ParquetSink | KafkaSink | None
    ) -> DataFrame:
        from kraftool.spark.live.frame import frame, json_line
        from kraftool.spark.live.sinks import KafkaSink
        from kraftool.spark.source import add_sources

        if isinstance(sink, KafkaSink):
            sink.check(spark)
        add_sources(spark)
        rows = frame(spark, following)
        if sink is not None:
            return rows
        return rows.select(json_line().alias("line")) if self._as_lines else rows.select(*COLUMNS)

    def _follow(
        self,
        run: RunningStream,
        asked: Stopping,
        progress: Callable[[str, int, int], None],
    ) -> None:
        is_console = self.target.kind == "console"
        table = LiveTable(self.output, self.zone)
        for rows in run.tables(lambda: asked.terminated):
            if asked.interrupted or (is_console and self.output.is_abandoned):
                return
            if rows is not None:
                self._show(rows, table)
                self.output.flush()
            elif self.output.is_watched and self._is_free and (last := run.query.lastProgress):
                rows_per_s = float(last["processedRowsPerSecond"] or 0)
                progress(f"micro-batch {last['batchId']}: {rows_per_s:,.0f} rows/s", 0, 0)
        progress("stopping Spark", 0, 0)

    @property
    def _is_free(self) -> bool:
        """True if the terminal shows no rows."""
        return self.target.kind != "console" or not self.output.to_terminal

    def _show(self, rows: Any, table: LiveTable) -> None:
        if self._as_lines:
            for line in rows.column("line").to_pylist():
                self.output.write(f"{line}\n")
            return
        for row in rows.to_pylist():
            table.row(row)


@contextmanager
def _private_files() -> Iterator[None]:
    """Let only this user read what the JVM and its workers write here."""
    before = os.umask(0o077)
    try:
        yield
    finally:
        os.umask(before)


def _kafka_setting(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not equals or not key.strip():
        # What stands there may be a secret, so that it is not repeated.
        raise UsageError(
            "--kafka-conf requires KEY=VALUE", hint="--kafka-conf security.protocol=SSL"
        )
    return key.strip(), value


def _types(name: str) -> frozenset[str]:
    from kraftool.commands.log_selection import check_type
    from kraftool.spark.live.frame import type_names

    check_type(name)
    return type_names(name)
