"""The fixtures of the pipelines' tests: one Spark session and one cluster, which take seconds.

`tests/conftest.py` has one worker of pytest-xdist run all files that use them.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from tests.spark.standalone_cluster import Cluster


SMALL = {
    "spark.driver.memory": "1g",
    "spark.default.parallelism": "2",
}


@pytest.fixture(scope="session")
def spark_log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The log of the session's JVM, for all tests."""
    return tmp_path_factory.mktemp("spark") / "jvm.log"


@pytest.fixture(scope="session")
def spark(spark_log: Path) -> Iterator["SparkSession"]:
    """A session on two cores of this machine, as kraftool makes it."""
    from kraftool.spark.engine import session

    with session("local[2]", SMALL, log=spark_log) as made:
        yield made


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator["Cluster"]:
    """A standalone cluster. A test may kill executors, but neither its master nor its worker."""
    from tests.spark.standalone_cluster import running_cluster

    with running_cluster(tmp_path_factory.mktemp("cluster")) as running:
        yield running


class Collected:
    """A sink that keeps what it is given, and checks it as a real one would need it."""

    def __init__(self) -> None:
        self.batches: list[tuple[str, str | None, str | None, Any]] = []

    def write(self, table: str, cluster_id: str | None, day: str | None, batch: Any) -> None:
        from kraftool.spark.tables.layout import arrow_schema

        assert batch.schema == arrow_schema(table), table
        batch.validate(full=True)
        self.batches.append((table, cluster_id, day, batch))

    def rows(self, table: str) -> list[dict[str, Any]]:
        return [row for name, _, _, batch in self.batches if name == table
                for row in batch.to_pylist()]  # fmt: skip

    @property
    def tables(self) -> set[str]:
        return {name for name, _, _, _ in self.batches}


@pytest.fixture
def collected() -> Collected:
    return Collected()
