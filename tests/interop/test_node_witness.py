"""Two Kafkas and a witness: after the leader is killed under load a Kafka leads again.

One round by default; `make chaos` has 20 (KRAFTOOL_WITNESS_ROUNDS, KRAFTOOL_CHAOS_SEED).
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from kraftool.storage import witness_marker
from kraftool.storage.witness_marker import WitnessMarker
from tests.interop import chaos_witness, kafka
from tests.interop.clusters import Cluster
from tests.interop.our_nodes import start_ours

pytestmark = pytest.mark.interop
ROUNDS = int(os.environ.get("KRAFTOOL_WITNESS_ROUNDS", "1"))
SEED = int(os.environ.get("KRAFTOOL_CHAOS_SEED", "1"))
LONGEST_S = 15.0 if ROUNDS > 1 else chaos_witness.PATIENCE_S
"""From the kill until a Kafka leads. A single round may be slow on a busy machine."""


def test_a_kafka_leads_again_where_the_witness_alone_has_the_newest_records(
    tmp_path: Path,
) -> None:
    if problem := kafka.available(kafka.TOOLS_VERSION):
        pytest.skip(problem)
    done = chaos_witness.run(tmp_path / "nodes", rounds=ROUNDS, seed=SEED)
    print(chaos_witness.shown(done.rounds))
    assert any(chaos_round.has_witness_led for chaos_round in done.rounds), (
        "no round had the stalemate"
    )
    slow = [chaos_round for chaos_round in done.rounds if chaos_round.took_s > LONGEST_S]
    assert not slow, chaos_witness.shown(done.rounds)


@pytest.mark.parametrize(
    "version", [kafka.TOOLS_VERSION, pytest.param("3.9.1", marks=pytest.mark.soak)]
)
def test_kafka_starts_on_a_directory_with_the_marker_which_then_counts_no_more(
    tmp_path: Path, version: str
) -> None:
    if problem := kafka.available(version):
        pytest.skip(problem)
    with Cluster(version, tmp_path / "nodes") as cluster:
        node = cluster.add_node(1, ("controller",))
        cluster.use_static_voters()
        cluster.format([node])
        start_ours(cluster, node, options=chaos_witness.WITNESS)
        directory = str(node.metadata_log_dir)
        directory_id = node.directory_id

        def marker() -> WitnessMarker | None:
            return witness_marker.read(directory, node_id=1, directory_id=directory_id)

        written = kafka.wait_for("the marker", marker, every=0.1)
        assert written.is_last_resort
        cluster.kill(node)
        assert marker() == written, "a node that was killed leaves it"
        cluster.start(node)
        kafka.wait_for("the marker to count no more", lambda: marker() is None, every=0.1)
        assert (node.metadata_log_dir / witness_marker.FILE_NAME).exists()
        cluster.stop(node)
        start_ours(cluster, node, options=chaos_witness.WITNESS)
        kafka.wait_for("the marker", marker, every=0.1)
        cluster.stop(node)
        assert not (node.metadata_log_dir / witness_marker.FILE_NAME).exists()
