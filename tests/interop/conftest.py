"""Fixtures of the interop tests: fresh data from real Kafka, made once a session."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.interop import kafka, scenarios
from tests.interop.clusters import Cluster


@pytest.fixture(scope="session")
def live_metadata_dir(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A data directory (meta.properties, __cluster_metadata-0, …) just left by Kafka 4.3.0."""
    if problem := kafka.available(kafka.TOOLS_VERSION):
        pytest.skip(problem)
    root = tmp_path_factory.mktemp("live") / "nodes"
    with Cluster(kafka.TOOLS_VERSION, root, common=scenarios.SMALL_SNAPSHOTS) as cluster:
        scenarios.live(cluster)
        yield cluster.nodes[1].metadata_log_dir
