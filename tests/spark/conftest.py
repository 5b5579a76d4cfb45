"""What the tests of the pipelines share: one Spark session a run, since each takes seconds."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# Tests end before code that is compiled well pays.
QUICK_JAVA = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
SMALL = {
    "spark.driver.extraJavaOptions": QUICK_JAVA,
    "spark.driver.memory": "1g",
    "spark.sql.shuffle.partitions": "2",
    "spark.default.parallelism": "2",
}


@pytest.fixture(scope="session")
def spark() -> Iterator["SparkSession"]:
    """A session on two cores of this machine, as kraftool makes it."""
    from kraftool.spark.engine import session

    with session("local[2]", SMALL) as made:
        yield made
