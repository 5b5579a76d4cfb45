"""Rehearsals of a fence, and with a Kafka that is too old.

Two of three controllers are lost under load, as in test_recover; their disks are still there, which
the plan does not know, and come back in the rehearsal. That a rehearsal says what comes is shown in
test_recover_cases.py, on the quorum that is there.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.interop import kafka
from tests.interop.recovering import begin, cluster_of, on, strike
from tests.interop.rehearsing import Rehearsals

pytestmark = [pytest.mark.interop, pytest.mark.soak]


@pytest.fixture
def night(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Rehearsals]:
    with cluster_of(request.param, tmp_path) as cluster:
        controllers, broker = begin(cluster)
        survivor, topics = strike(cluster, broker)
        lost = [controller for controller in controllers if controller is not survivor]
        yield Rehearsals(cluster, survivor, lost, broker, topics)


@on("night", (kafka.TOOLS_VERSION, kafka.NEWEST, "3.9.1"))
def test_a_fence_is_rehearsed_with_both_quorums(night: Rehearsals) -> None:
    report = night.rehearse_all(night.plan("--fence"))
    nodes = report["startedNodes"]
    assert nodes["leaderId"] == night.survivor.id
    old = {node.id for node in night.lost}
    assert {node["leaderId"] for node in nodes["returned"]} <= old
    assert not any(node["isFollowing"] or node["lastWords"] for node in nodes["returned"])


@on("night", ("4.3.0",))
def test_a_kafka_that_is_too_old_is_found_out(night: Rehearsals) -> None:
    """3.9.1 does not know the metadata.version of 4.3: a rehearsal with it ends with its words."""
    if problem := kafka.available("3.9.1"):
        pytest.skip(problem)
    night.plan()
    source = f"node-11={night.broker.metadata_log_dir}"
    given = ("--dir", night.survivor.metadata_log_dir, "--source", source)
    report = night.rehearse(*given, version="3.9.1", code=1)
    assert [finding["code"] for finding in report["findings"]] == ["KT-REC-START"]
    assert "MetadataVersion" in report["findings"][0]["reason"]
