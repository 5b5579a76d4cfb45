"""The bench of the exporter sees each cluster polled, and what the process uses for it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.bench import exporter
from tests.interop import kafka

pytestmark = pytest.mark.interop


@pytest.fixture(autouse=True)
def _needs_kafka() -> None:
    if problem := kafka.available(kafka.TOOLS_VERSION):
        pytest.skip(problem)


def test_two_quorums_are_polled_and_the_memory_is_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with (
        exporter.our_cluster(kafka.TOOLS_VERSION, tmp_path / "1" / "nodes") as one,
        exporter.our_cluster(kafka.TOOLS_VERSION, tmp_path / "2" / "nodes") as two,
    ):
        file = exporter.clusters_file(tmp_path / "clusters.yaml", [one, two])
        exporting = exporter.Exporter(file, exporter.FAST_S, tmp_path / "exporter.log")
        with exporting.process:
            uses = exporter.tell(exporting, exporter.FAST_S, 0.0)
    assert uses[-1].polls >= 3
    assert 20 < uses[-1].rss_mb <= uses[-1].peak_mb
    assert uses[-1].page_bytes > 1_000
    assert "a poll of a cluster" in capsys.readouterr().out
