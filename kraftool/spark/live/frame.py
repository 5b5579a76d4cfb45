"""The rows of `kraftool pipeline stream`: records, problems, changes and findings in one frame.

Owns which rows there are, and their JSON: one form for the console and for Kafka, made by Spark's
own functions on the workers. docs/schemas/pipeline-stream.json describes it. What is not known of
a row is absent from its JSON.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import orjson
from pyspark.sql import functions as F
from pyspark.sql.types import StringType

from kraftool.arrow.columns import message_of, record_types
from kraftool.reports.logs.dump import type_words
from kraftool.spark.live.following import LIVE

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

KINDS = ("record", "problem", "change", "finding")

_COLUMNS = (
    "kind", "cluster_id", "node_id", "directory_id", "directory", "file", "generation", "position",
    "base_offset", "offset", "epoch", "timestamp_ms", "control", "key_size", "value_size", "valid",
    "type", "version", "raw", "error", "damage", "size", "code", "severity", "text", "field",
    "expected", "found", "advice", "undecoded",
)  # fmt: skip
_NAMES = {"timestamp_ms": "timestamp", "error": "reason"}


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamOptions:
    """The options of a stream."""

    roots: Sequence[str] = field(repr=False)
    storage: Mapping[str, object] = field(default_factory=dict, repr=False)
    depth: int = 6
    from_latest: bool = False
    bytes_per_batch: int | None = None
    types: frozenset[str] = frozenset()
    """Words as the column `type` has them; none for all."""
    clusters: frozenset[str] = frozenset()
    findings: bool = True
    show_secrets: bool = False
    state: str = ""
    """The folder in which the stream keeps how far it is, once that is known."""

    def options(self) -> dict[str, str]:
        """The options of the source."""
        options = {
            "paths": orjson.dumps(list(self.roots)).decode(),
            "depth": str(self.depth),
            "startingOffsets": "latest" if self.from_latest else "earliest",
            "showSecrets": str(self.show_secrets).lower(),
            "findings": str(self.findings).lower(),
            "stateLocation": self.state,
        }
        if self.clusters:
            options["cluster"] = ",".join(sorted(self.clusters))
        if self.storage:
            options["storageOptions"] = orjson.dumps(self.storage).decode()
        return options


def type_names(name: str) -> frozenset[str]:
    """The words of the column `type` for a record type as a user may write it; none if unknown."""
    words = type_words(name)
    return frozenset(
        name for name in record_types() if words & (type_words(name) | type_words(message_of(name)))
    )


def frame(spark: SparkSession, following: StreamOptions) -> DataFrame:
    """The stream of all rows: one source, so that the fleet is listed once for each micro-batch.
    Types narrow records alone."""
    reader = spark.readStream.format(LIVE).options(**following.options())
    if following.types:
        reader = reader.option("type", ",".join(sorted(following.types)))
    if following.bytes_per_batch is not None:
        reader = reader.option("maxBytesPerTrigger", following.bytes_per_batch)
    return reader.load()


def json_line() -> Column:
    """A row as one JSON object; a payload stands in it as Kafka's own JSON."""
    members = F.struct(*(F.col(column).alias(_json_name(column)) for column in _COLUMNS))
    head = F.to_json(members)
    opened = F.expr("payload").isNotNull()
    but_the_last = F.substring(head, F.lit(1), F.length(head) - 1).cast(StringType())
    with_data = F.concat(but_the_last, F.lit(',"data":'), F.col("payload"), F.lit("}"))
    return F.when(opened, with_data).otherwise(head)


def json_key() -> Column:
    """Return what a row is known by: a record by its directory, epoch and offset."""

    def of_others(column: str) -> Column:
        return F.when(F.col("kind") != "record", F.col(column)).alias(_json_name(column))

    others = map(of_others, ("kind", "file", "position", "code", "field", "text", "timestamp_ms"))
    directory = F.coalesce("directory_id", "directory").alias("directory")
    return F.to_json(F.struct(directory, "epoch", "offset", *others))


def _json_name(column: str) -> str:
    """The name in JSON, as dump-log's and dump's documents have it."""
    first, *others = _NAMES.get(column, column).split("_")
    return first + "".join(map(str.capitalize, others))
