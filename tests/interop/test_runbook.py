"""docs/runbook.md on real Kafka: a controller gets a new log from the others, keeps its vote."""

from __future__ import annotations

from pathlib import Path

import kafka
import pytest
from clusters import Cluster

from kraftool.decoders import quorum_state
from kraftool.image.state_hash import state_hash
from kraftool.reports.doctor.read import examine, locations_of
from kraftool.reports.doctor.report import diagnose
from kraftool.reports.state.load import load_state

PARTITION = "__cluster_metadata-0"


def codes(*paths: Path) -> set[str]:
    locations, findings = locations_of([str(each) for each in paths])
    return {each.code for each in diagnose(examine(locations, findings)).findings}


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
        wiped = next(each for each in nodes if each is not leader)
        cluster.stop(wiped)
        others = [each for each in nodes if each is not wiped]

        partition = wiped.metadata_log_dir / PARTITION
        vote = (partition / "quorum-state").read_bytes()
        partition.rename(tmp_path / "aside")
        partition.mkdir()
        told = codes(*(each.metadata_log_dir for each in nodes))
        assert "KT-SIG-WIPED-VOTER" in told

        (partition / "quorum-state").write_bytes(vote)
        cluster.start(wiped)
        cluster.wait_caught_up(wiped)
        assert "KT-SIG-WIPED-VOTER" not in codes(*(each.metadata_log_dir for each in nodes))

        before = quorum_state.decode(vote)[0].state
        after = quorum_state.decode((partition / "quorum-state").read_bytes())[0].state
        assert before is not None
        assert after is not None
        assert after.leader_epoch >= before.leader_epoch
        pair = [str(each.metadata_log_dir) for each in (wiped, others[0])]
        common = min(load_state(each).end_offset for each in pair)
        first, second = (state_hash(load_state(each, at=common).image) for each in pair)
        assert first == second
