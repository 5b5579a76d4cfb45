"""The batch data sources: `spark.read.format("kraft")` and its likes, and their registration.

Owns what Spark asks of a data source. Planning runs beside the driver, reading on the workers;
between them travel file names, byte ranges and options. No reader takes Spark's filters: a
DataFrame of a Python source that does gives wrong rows (docs/observed.md). Nothing here is a
failed job but a PATH or an option that leads nowhere: files that are damaged or cannot be read
are rows.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from pyspark.sql.datasource import (
    DataSource,
    DataSourceReader,
    DataSourceStreamReader,
    InputPartition,
)
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructType

from kraftool.decoders.errors import KraftoolError
from kraftool.spark.arrow import ArrowBatch
from kraftool.spark.columns import (
    BATCHES,
    FILES,
    FINDINGS,
    RECORDS,
    record_types,
    spark_schema,
)
from kraftool.spark.file_rows import file_rows, finding_rows
from kraftool.spark.fleet import (
    Fleet,
    FleetDirectory,
    FleetFile,
    find_fleet,
    require,
    with_batches,
)
from kraftool.spark.settings import SourceOptions, read_settings
from kraftool.spark.splits import Split, packed, plan
from kraftool.spark.tasks import ReadTask, row_reader, without_collector

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PUSHDOWN = "spark.sql.python.filterPushdown.enabled"
_PUSHDOWN_IS_ON = (
    f"{PUSHDOWN} is true. With it, Spark 4.1 to 4.3 return wrong rows when a DataFrame or view "
    "is used twice, for every Python data source that takes filters. kraftool's sources take no "
    "filters and stay correct; others do not. Switch it off with "
    f'spark.conf.set("{PUSHDOWN}", "false").'
)


def check_schema(source: str, schema: StructType) -> None:
    """Raise KraftoolError where the schema that a user gave has what the source has not."""
    known = {
        struct_field.name: struct_field
        for struct_field in spark_schema(source, variant=source == RECORDS)
    }
    for struct_field in schema:
        if struct_field.name not in known:
            text = f"{source} has no column {struct_field.name}; it has {', '.join(known)}"
            raise KraftoolError(text)
        if known[struct_field.name].dataType != struct_field.dataType:
            kind = known[struct_field.name].dataType.simpleString()
            raise KraftoolError(f"{source}: the column {struct_field.name} is {kind}")


@contextmanager
def told_whole() -> Iterator[None]:
    """Put the hint of an error into its message, which is all that Spark hands on."""
    try:
        yield
    except KraftoolError as error:
        hint = f" ({error.hint})" if error.hint else ""
        raise KraftoolError(f"{error.message}{hint}") from None


class KraftReader(DataSourceReader):
    """Plans and reads one of the sources."""

    def __init__(self, source: str, settings: SourceOptions, schema: StructType) -> None:
        self._source, self._settings = source, settings
        check_schema(source, schema)
        self._schema = schema

    def partitions(self) -> list[InputPartition]:
        """The tasks: ranges of large files, small files together."""
        settings = self._settings
        with told_whole():
            fleet = find_fleet(list(settings.paths), depth=settings.depth, options=settings.storage)
        tasks: list[InputPartition] = [ReadTask(splits) for splits in self._splits(fleet)]
        unread = [
            problem
            for problem in fleet.problems
            if settings.narrowing.wants_owner(FleetDirectory(name=problem.name))
        ]
        if unread and self._source == FINDINGS:
            tasks.append(ReadTask((), unread))
        return tasks

    def _splits(self, fleet: Fleet) -> Iterable[Sequence[Split]]:
        settings = self._settings
        if self._source in (FILES, FINDINGS):
            files: Iterable[FleetFile] = fleet.files
        else:
            files = with_batches(fleet, snapshots=settings.snapshots)
        wanted = [file for file in files if settings.narrowing.wants_owner(file.directory)]
        if self._source in (FILES, FINDINGS):
            # A file is judged as a whole: by offsets that follow on each other, for one.
            total = sum(file.size for file in wanted)
            return packed((Split(file=file) for file in wanted), max(total // 16, 1 << 20))
        return plan(wanted, fleet.files, settings.split_bytes)

    def read(self, partition: InputPartition) -> Iterator[ArrowBatch]:
        """The rows of one task. An empty plan is one task without anything to read."""
        if not isinstance(partition, ReadTask):
            return
        arrow = to_arrow_schema(self._schema, timezone="UTC")
        with without_collector():
            if self._source == FINDINGS:
                yield from finding_rows(arrow, partition.splits, partition.unread)
            elif self._source == FILES:
                yield from file_rows(arrow, partition.splits, findings=self._settings.findings)
            else:
                reader = row_reader(self._source, arrow, self._settings)
                yield from reader.read(partition.splits)


def _check_streams() -> None:
    """Raise KraftoolError where PySpark has no streams whose offsets a source can limit."""
    import pyspark

    try:
        import pyspark.sql.streaming.datasource
    except ModuleNotFoundError:
        raise KraftoolError(
            f"streams need PySpark 4.2 or newer, but {pyspark.__version__} is installed;"
            " tables can be read with 4.1"
        ) from None


class KraftDataSource(DataSource):
    """What the sources have in common; each has its format's name."""

    source = ""

    @classmethod
    def name(cls) -> str:
        return cls.source

    def settings(self) -> SourceOptions:
        return read_settings(self.options, self.source)

    def schema(self) -> StructType:
        with told_whole():
            settings = self.settings()
            require(list(settings.paths), options=settings.storage)
            variant = settings.variant and self.source == RECORDS
            return spark_schema(self.source, settings.columns, variant=variant)

    def reader(self, schema: StructType) -> DataSourceReader:
        return KraftReader(self.source, self.settings(), schema)


class RecordsSource(KraftDataSource):
    """`kraft`: every record, every problem, and in streams every change."""

    source = RECORDS

    def stream_reader(self, schema: StructType) -> DataSourceStreamReader:
        _check_streams()
        from kraftool.spark.stream import KraftStreamReader

        check_schema(self.source, schema)
        return KraftStreamReader(self.settings(), schema)

    streamReader = stream_reader


class BatchesSource(KraftDataSource):
    """`kraft.batches`: every batch by its header."""

    source = BATCHES


class FilesSource(KraftDataSource):
    """`kraft.files`: every file of the directories."""

    source = FILES


class FindingsSource(KraftDataSource):
    """`kraft.findings`: what is odd in each file by itself."""

    source = FINDINGS

    def stream_reader(self, schema: StructType) -> DataSourceStreamReader:
        _check_streams()
        from kraftool.spark.live.finding_stream import FindingStreamReader

        check_schema(self.source, schema)
        return FindingStreamReader(self.settings(), schema)

    streamReader = stream_reader


def _typed_source(record: str) -> type[KraftDataSource]:
    name = f"{record}Source"
    body = {"source": f"{RECORDS}.{record}", "__module__": __name__, "__doc__": record}
    made = type(name, (KraftDataSource,), body)
    # Found again under its name when a worker asks for it.
    globals()[name] = made
    return made


_ALL: list[type[KraftDataSource]] = [RecordsSource, BatchesSource, FilesSource, FindingsSource]
SOURCES = {each.source: each for each in (*_ALL, *map(_typed_source, record_types()))}
"""Every source by the name of its format."""


def register(spark: SparkSession) -> None:
    """Make all sources known to a session. Its settings stay as they are."""
    if str(spark.conf.get(PUSHDOWN, "false")).lower() == "true":
        warnings.warn(_PUSHDOWN_IS_ON, stacklevel=2)
    add_sources(spark)


def add_sources(spark: SparkSession) -> None:
    """Make all sources known to a session, without a look at its settings."""
    for source in SOURCES.values():
        spark.dataSource.register(source)
