"""The batch data sources: `spark.read.format("kraft")` and its likes, and their registration.

Owns what Spark asks of a data source. Planning runs beside the driver, reading on the workers;
between them travel file names, byte ranges and options. No reader takes Spark's filters: a
DataFrame of a Python source that does gives wrong rows (docs/observed.md). Nothing here is a
failed job but a PATH or an option that leads nowhere: files that are damaged or cannot be read
are rows.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import TYPE_CHECKING, Any

from pyspark.cloudpickle import register_pickle_by_value
from pyspark.sql.datasource import (
    DataSource,
    DataSourceReader,
    DataSourceStreamReader,
    DataSourceWriter,
    InputPartition,
)
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructType

from kraftool.arrow.choices import chosen_source
from kraftool.arrow.columns import FINDINGS, RECORDS, sources
from kraftool.arrow.reading import parts_of
from kraftool.arrow.search import require
from kraftool.arrow.settings import SourceOptions, check_batch, check_stream, read_settings
from kraftool.arrow.untyped import ArrowBatch
from kraftool.decoders.errors import KraftoolError
from kraftool.spark import unpickling
from kraftool.spark.catalog import options_of, with_options
from kraftool.spark.columns import spark_schema
from kraftool.spark.conditions import (
    INVALID_COLUMN,
    INVALID_OPTION,
    INVALID_PATH,
    UNSUPPORTED,
    condition,
)
from kraftool.spark.shipping import archive_name
from kraftool.spark.tasks import ReadTask

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


class KraftReader(DataSourceReader):
    """Plans and reads one of the sources."""

    def __init__(self, source: str, settings: SourceOptions, schema: StructType) -> None:
        self._source, self._settings = source, settings
        with condition(INVALID_COLUMN):
            check_schema(source, schema)
        self._schema = schema

    def partitions(self) -> list[InputPartition]:
        """The tasks: ranges of large files, small files together."""
        settings = self._settings
        with condition(INVALID_PATH):
            parts = parts_of(self._source, settings)
        return [ReadTask(part) for part in parts]

    def read(self, partition: InputPartition) -> Iterator[ArrowBatch]:
        """The rows of one task. An empty plan is one task without anything to read."""
        if not isinstance(partition, ReadTask):
            return
        arrow = to_arrow_schema(self._schema, timezone="UTC")
        yield from partition.rows(self._source, arrow, self._settings)


def _check_streams(source: str) -> None:
    """Raise KraftoolError where a source, or PySpark, has no streams whose offsets have limits."""
    import pyspark

    if source not in (RECORDS, FINDINGS):
        raise KraftoolError(f"{source} is no stream; {RECORDS} and {FINDINGS} are")

    try:
        import pyspark.sql.streaming.datasource
    except ModuleNotFoundError:
        raise KraftoolError(
            f"streams need PySpark 4.2 or newer, but {pyspark.__version__} is installed;"
            " tables can be read with 4.1"
        ) from None


class KraftDataSource(DataSource):
    """The common part of the sources; each has its format's name."""

    source = ""

    def __reduce__(self) -> tuple[Any, ...]:
        """Spark pickles a source into processes that may not find kraftool by themselves."""
        by_value: Callable[[ModuleType], None] = register_pickle_by_value
        by_value(unpickling)
        kind = type(self)
        return unpickling.restored, (
            archive_name(), kind.__module__, kind.__name__, self.__dict__
        )  # fmt: skip

    @classmethod
    def name(cls) -> str:
        return cls.source

    def chosen(self, schema: StructType | None = None) -> tuple[str, SourceOptions]:
        """The source and its options; those of a table are in its schema."""
        with condition(INVALID_OPTION):
            options = options_of(self.options, schema)
            source = chosen_source(options, self.source)
            return source, read_settings(options, source)

    def schema(self) -> StructType:
        source, settings = self.chosen()
        with condition(INVALID_PATH):
            require(list(settings.paths), options=settings.storage)
        schema = self.columns(source, settings)
        with condition(UNSUPPORTED):
            return with_options(schema, self.options)

    def columns(self, source: str, settings: SourceOptions) -> StructType:
        """The columns of the rows."""
        variant = settings.variant and source == RECORDS
        with condition(INVALID_COLUMN):
            return spark_schema(source, settings.columns, variant=variant)

    def reader(self, schema: StructType) -> DataSourceReader:
        source, settings = self.chosen(schema)
        with condition(INVALID_OPTION):
            check_batch(settings)
        return KraftReader(source, settings, schema)

    def stream_reader(self, schema: StructType) -> DataSourceStreamReader:
        source, settings = self.chosen(schema)
        with condition(UNSUPPORTED):
            _check_streams(source)
        with condition(INVALID_OPTION):
            check_stream(settings)
        with condition(INVALID_COLUMN):
            check_schema(source, schema)
        from kraftool.spark.stream import stream_reader

        return stream_reader(source, settings, schema)

    def writer(self, schema: StructType, overwrite: bool) -> DataSourceWriter:
        """Nothing is ever written to what Kafka wrote."""
        with condition(UNSUPPORTED):
            raise KraftoolError(f"{self.source} can be read only: kraftool writes no logs")

    streamReader = stream_reader


class RecordsSource(KraftDataSource):
    """`kraft`: every record, every problem, in streams every change; or what `rows` names."""

    source = RECORDS


class LiveSource(KraftDataSource):
    """`kraft.live`: the stream of all rows, records and findings; it has no table."""

    source = RECORDS

    @classmethod
    def name(cls) -> str:
        return "kraft.live"

    def chosen(self, schema: StructType | None = None) -> tuple[str, SourceOptions]:
        with condition(INVALID_OPTION):
            if any(name.lower() in ("rows", "columns", "variant") for name in self.options):
                raise KraftoolError("kraft.live has all rows and columns; select() chooses some")
        return super().chosen(schema)

    def columns(self, source: str, settings: SourceOptions) -> StructType:
        with condition(UNSUPPORTED):
            _check_streams(RECORDS)
        from kraftool.spark.stream import live_schema

        return live_schema()

    def reader(self, schema: StructType) -> DataSourceReader:
        with condition(UNSUPPORTED):
            raise KraftoolError("kraft.live is a stream; kraft and kraft.findings have tables")

    def stream_reader(self, schema: StructType) -> DataSourceStreamReader:
        _, settings = self.chosen(schema)
        with condition(INVALID_OPTION):
            check_stream(settings)
        from kraftool.spark.stream import stream_reader

        return stream_reader(self.name(), settings, schema)

    streamReader = stream_reader


def _plain_source(source: str) -> type[KraftDataSource]:
    """The class of a source that has nothing of its own."""
    name = f"{''.join(part.title() for part in source.replace('_', '.').split('.'))}Source"
    body = {"source": source, "__module__": __name__, "__doc__": f"`{source}`."}
    made = type(name, (KraftDataSource,), body)
    # Found again under its name when a worker asks for it.
    globals()[name] = made
    return made


SOURCES: dict[str, type[KraftDataSource]] = {
    source: RecordsSource if source == RECORDS else _plain_source(source) for source in sources()
}
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
    spark.dataSource.register(LiveSource)
