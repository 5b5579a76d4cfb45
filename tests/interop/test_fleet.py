"""Real controllers start on directories of a generated fleet, and elect a leader there."""

from __future__ import annotations

import shutil
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from tests.interop import kafka
from tests.interop.clusters import Cluster, Node

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))

from fleets.build import write_cluster
from fleets.cluster import ClusterSpec, Voter, cluster_spec
from fleets.template import Template, templates

from kraftool.reports.findings.finding import Severity
from kraftool.reports.state.load import load_state
from kraftool.reports.verify.log import verify_logs
from kraftool.storage.paths import open_path
from tests.support.ports import HOST

# The brokers of the image do not come back, and are to be left as they are for the test's length.
SETTINGS = {"broker.session.timeout.ms": "600000"}


def template(release: str) -> Template:
    return next(candidate for candidate in templates() if candidate.release == release)


def laid_out(cluster: Cluster, spec: ClusterSpec, nodes: list[Node], folder: Path) -> ClusterSpec:
    """The directories of a generated cluster as those of the nodes, with the nodes' endpoints."""
    voters: tuple[Voter, ...] = tuple(
        replace(voter, host=HOST, port=node.ports["CONTROLLER"])
        for voter, node in zip(spec.voters, nodes, strict=True)
    )
    made = write_cluster(folder, replace(spec, voters=voters, moves_voter=False))
    for voter, node in zip(voters, nodes, strict=True):
        node.metadata_log_dir.parent.mkdir(parents=True, exist_ok=True)
        shutil.move(made.path(voter), node.metadata_log_dir)
    return made.spec


@pytest.mark.interop
@pytest.mark.parametrize(
    ("release", "is_dynamic"),
    [
        pytest.param("4.3.0", True, id="dynamic"),
        pytest.param("3.9.1", False, id="static", marks=pytest.mark.soak),
    ],
)
def test_three_controllers_elect_a_leader_on_generated_directories(
    release: str, is_dynamic: bool, tmp_path: Path
) -> None:
    spec = cluster_spec(
        11, 4, 3, template=template(release), is_dynamic=is_dynamic, segment_bytes=16 << 10
    )
    with Cluster(release, tmp_path / "nodes", common=SETTINGS) as cluster:
        nodes = [cluster.add_node(voter.id, ("controller",)) for voter in spec.voters]
        if is_dynamic:
            cluster.use_bootstrap_servers()
        else:
            cluster.use_static_voters()
        spec = laid_out(cluster, spec, nodes, tmp_path / "fleet")
        paths = [open_path(str(node.metadata_log_dir)) for node in nodes]
        before = verify_logs(paths)
        assert not [finding for finding in before.rows if finding.severity is not Severity.INFO]
        states = [load_state(str(node.metadata_log_dir)) for node in nodes]
        epoch = max(loaded_state.image.provenance.last_epoch for loaded_state in states)
        end = max(loaded_state.end_offset for loaded_state in states)
        cluster.start(*nodes)

        # Seen in the logs: admin clients ask the brokers of the image, which are not there.
        def follow_a_leader() -> bool:
            for node in nodes:
                assert node.process is not None
                node.process.require_alive()
            return all(
                state.image.provenance.last_epoch > epoch and state.end_offset > end
                for state in (load_state(str(node.metadata_log_dir)) for node in nodes)
            )

        kafka.wait_for("a leader that all follow", follow_a_leader)
        cluster.stop(*nodes)
    after = verify_logs([open_path(str(node.metadata_log_dir)) for node in nodes])
    assert not [finding for finding in after.rows if finding.severity is not Severity.INFO]
    for verified in after.verified:
        # Not one of them threw the generated log away.
        assert (verified.checked.end_offset or 0) > end
        assert verified.checked.records > 0
