"""docs/howto-dead-controller.md on real Kafka: a controller gets a new log, keeps its vote."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from kraftool.decoders import quorum_state
from kraftool.decoders.quorum_state import QuorumState
from kraftool.decoders.wire import ZERO_UUID
from kraftool.image.state_hash import state_hash
from kraftool.reports.doctor.read import examine, locations_of
from kraftool.reports.doctor.report import diagnose
from kraftool.reports.state.load import load_state
from tests.interop import kafka
from tests.interop.clusters import Cluster
from tests.support.places import PARTITION


def codes(*paths: Path) -> set[str]:
    locations, findings = locations_of([str(path) for path in paths])
    return {finding.code for finding in diagnose(examine(locations, findings)).findings}


def election(partition: Path) -> QuorumState:
    state = quorum_state.decode((partition / "quorum-state").read_bytes())[0].quorum_state
    assert state is not None
    return state


@pytest.mark.interop
def test_a_voter_without_a_log_fetches_it_while_the_others_have_a_leader(tmp_path: Path) -> None:
    if problem := kafka.available(kafka.TOOLS_VERSION):
        pytest.skip(problem)
    with Cluster(kafka.TOOLS_VERSION, tmp_path / "nodes") as cluster:
        nodes = [cluster.add_node(number, ("controller",)) for number in (1, 2, 3)]
        cluster.use_bootstrap_servers()
        cluster.format(nodes, "--initial-controllers", cluster.initial_controllers())
        cluster.start(*nodes)
        leader = cluster.wait_leader()
        wiped, other = (node for node in nodes if node is not leader)
        cluster.wait_caught_up(wiped, other)
        cluster.stop(wiped)
        partition = wiped.metadata_log_dir / PARTITION
        before = election(partition)
        partition.rename(tmp_path / "aside")
        partition.mkdir()
        assert "KT-SIG-WIPED-VOTER" in codes(*(node.metadata_log_dir for node in nodes))

        # Real Kafka wants to go on as the candidate that it was, and knows no voters any more.
        mine = replace(
            before, leader_id=-1, voted_id=wiped.id, voted_directory_id=wiped.directory_id
        )
        (partition / "quorum-state").write_bytes(quorum_state.encode(mine))
        with pytest.raises(kafka.KafkaFailed, match="must be in the set of voters"):
            cluster.start(wiped)
        wiped.process = None

        epoch = max(election(node.metadata_log_dir / PARTITION).leader_epoch for node in nodes)
        newer = replace(mine, leader_epoch=epoch + 1, voted_id=-1, voted_directory_id=ZERO_UUID)
        (partition / "quorum-state").write_bytes(quorum_state.encode(newer))
        cluster.start(wiped)
        cluster.wait_caught_up(wiped)
        assert "KT-SIG-WIPED-VOTER" not in codes(*(node.metadata_log_dir for node in nodes))
        assert election(partition).leader_epoch > epoch
        pair = [str(node.metadata_log_dir) for node in (wiped, other)]
        common = min(load_state(path).end_offset for path in pair)
        first, second = (state_hash(load_state(path, at=common).image) for path in pair)
        assert first == second
