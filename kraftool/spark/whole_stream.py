"""`spark.readStream.format("kraft.live")`: records, problems, changes and findings in one stream.

Owns its columns. One source for all of them lists the fleet once for each micro-batch; two sources
would list it twice, since Spark runs each in a process of its own.
"""

from __future__ import annotations

from pyspark.sql.types import StructType

from kraftool.arrow.columns import FINDINGS, RECORDS
from kraftool.arrow.settings import SourceOptions
from kraftool.spark.columns import spark_schema
from kraftool.spark.live.finding_stream import FindingFollower
from kraftool.spark.live.following import FleetFollower, FleetStreamReader
from kraftool.spark.stream import RecordFollower


def live_schema() -> StructType:
    """The columns of records, and then those that only findings have."""
    records = spark_schema(RECORDS)
    others = [field for field in spark_schema(FINDINGS) if field.name not in records.names]
    return StructType([*records, *others])


class LiveStreamReader(FleetStreamReader):
    """The stream of everything that happens to a fleet."""

    def __init__(self, settings: SourceOptions, schema: StructType) -> None:
        followers: dict[str, FleetFollower] = {"logs": RecordFollower(settings)}
        if settings.findings:
            followers["files"] = FindingFollower(settings)
        super().__init__(settings, schema, followers, {"files": "finding"})
