"""Whose directory it is: meta.properties lost or damaged, and a directory id that is another.

Every plan is carried out on copies of what real Kafka left, and the outcome is surveyed again.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from kraftool.decoders.errors import KraftoolError
from kraftool.repair.plan import Method
from kraftool.repair.refusal import PlanRefused
from tests.repair.directories import APART, EQUAL, Quorum, batches, flip_in_batch, mended


def settings_of(quorum: Quorum, node_id: int, folder: Path) -> Path:
    """A server.properties of a node, which tells whose directory it is."""
    server = folder / "server.properties"
    server.write_text(
        f"process.roles=controller\nnode.id={node_id}\ncontroller.listener.names=CONTROLLER\n"
        f"listeners=CONTROLLER://127.0.0.1:9093\nlog.dirs={quorum[node_id]}\n"
        "controller.quorum.bootstrap.servers=127.0.0.1:9093\n"
    )
    return server


def damaged(quorum: Quorum, node_id: int) -> None:
    """A bit in the middle of a log, with no snapshot beyond."""
    for snapshot in quorum.snapshots(node_id):
        snapshot.unlink()
    flip_in_batch(quorum.segment(node_id), 30)


def test_a_lost_meta_properties_is_written_from_what_the_others_tell(
    quorum: Quorum, tmp_path: Path
) -> None:
    was = quorum.survey(2).identity
    (quorum[2] / "meta.properties").unlink()
    with pytest.raises(KraftoolError, match="does not show which node it belongs to"):
        quorum.plan()
    directory = quorum[2]
    quorum.directories[2] = settings_of(quorum, 2, tmp_path)
    plan = quorum.plan()
    assert plan.cases == ("meta-properties",)
    quorum.directories[2] = directory
    plan_host = plan.host("node-2")
    assert plan_host is not None
    assert plan_host.path == str(directory)
    quorum.carry_out(plan)
    assert quorum.survey(2).identity == was


def test_a_broker_gets_the_directory_id_back_that_its_replicas_are_in(tmp_path: Path) -> None:
    """Only where it has one log directory: of several it cannot be told which one this is."""
    for broker, has_one in ((12, True), (11, False)):
        quorum = Quorum(tmp_path / str(broker), APART, (2, 3, broker))
        was = quorum.survey(broker)
        assert (len(was.registered_directories) == 1) is has_one
        (quorum[broker] / "meta.properties").unlink()
        server = settings_of(quorum, broker, tmp_path)
        text = server.read_text().replace("roles=controller", "roles=broker")
        server.write_text(text.replace("listeners=CONTROLLER", "listeners=BROKER"))
        directory = quorum[broker]
        quorum.directories[broker] = server
        plan = quorum.plan("lost=4")
        quorum.directories[broker] = directory
        quorum.carry_out(plan)
        identity = quorum.survey(broker).identity
        assert identity.cluster_id == was.identity.cluster_id
        assert identity.directory_id == (was.identity.directory_id if has_one else "")


def test_a_voter_without_its_name_is_a_voter_still_and_never_emptied(
    quorum: Quorum, tmp_path: Path
) -> None:
    """With its id back and an empty log it would vote for whoever lacks what was committed."""
    was = quorum.survey(2).identity
    (quorum[2] / "meta.properties").unlink()
    damaged(quorum, 2)
    directory = quorum[2]
    quorum.directories[2] = settings_of(quorum, 2, tmp_path)
    plan = quorum.plan()
    assert plan.cases == ("rebuilt", "meta-properties")
    quorum.directories[2] = directory
    quorum.carry_out(plan)
    survey = quorum.survey(2)
    assert (survey.identity, survey.end) == (was, (160, 6))


def test_a_voter_that_has_neither_name_nor_metadata_gets_no_old_id(
    quorum: Quorum, tmp_path: Path
) -> None:
    (quorum[2] / "meta.properties").unlink()
    shutil.rmtree(quorum.partition(2))
    quorum.directories[2] = settings_of(quorum, 2, tmp_path)
    with pytest.raises(KraftoolError, match="vote without its old log") as refused:
        quorum.plan()
    assert "--set lost=2" in refused.value.hint
    del quorum.directories[2]
    assert quorum.plan("lost=2").method is Method.NONE


def test_a_directory_that_has_to_be_emptied_gets_no_voters_id_back(quorum: Quorum) -> None:
    path = quorum[2] / "meta.properties"
    other = "9PTPM4xATAiPu0uKMvmPmg"
    path.write_text(path.read_text().replace(quorum.survey(2).identity.directory_id, other))
    damaged(quorum, 2)
    plan = quorum.plan(accept=["own-log"])
    assert plan.cases == ("emptied",)
    quorum.carry_out(plan)
    assert quorum.survey(2).identity.directory_id == other


def test_a_sole_voter_without_anything_is_not_given_a_promise_alone(tmp_path: Path) -> None:
    quorum = Quorum(tmp_path, EQUAL, [1, 11])
    quorum.carry_out(quorum.plan("lost=2,3"))
    data = quorum.segment(1).read_bytes()
    (quorum.partition(11) / quorum.segment(1).name).write_bytes(data)
    for path in quorum.partition(1).iterdir():
        path.unlink()
    with pytest.raises(KraftoolError, match="may lack what was committed"):
        quorum.plan()


@pytest.mark.parametrize("has_snapshot", [True, False])
def test_a_voter_whose_log_is_gone_is_made_anew_with_its_promise(
    quorum: Quorum, has_snapshot: bool
) -> None:
    """Kafka would go on from the snapshot, or from nothing, and vote."""
    quorum.segment(2).unlink()
    if not has_snapshot:
        shutil.rmtree(quorum.partition(2))
        quorum.partition(2).mkdir()
    for path in quorum.partition(2).glob("*.log"):
        path.unlink()
    with pytest.raises(KraftoolError, match="may lack what was committed"):
        quorum.plan(nodes=[1, 2])
    plan = quorum.plan()
    survey = mended(quorum, 2, plan, "rebuilt", *(() if has_snapshot else ("quorum-state",)))
    assert survey.end == (160, 6)
    assert survey.quorum_state.leader_epoch == (6 if has_snapshot else 7)


def test_a_directory_id_is_put_back_only_by_its_word(quorum: Quorum) -> None:
    """Formatted anew, the directory would have forgotten its votes."""
    was = quorum.survey(2).identity
    path = quorum[2] / "meta.properties"
    path.write_text(path.read_text().replace(was.directory_id, "9PTPM4xATAiPu0uKMvmPmg"))
    with pytest.raises(PlanRefused, match="node's own old ones"):
        quorum.plan()
    plan = quorum.plan(accept=["own-log"])
    assert plan.cases == ("directory-id",)
    quorum.carry_out(plan)
    assert quorum.survey(2).identity == was


def test_the_voters_are_known_from_others_where_the_best_log_begins_late(quorum: Quorum) -> None:
    """Without the snapshot that held their record it has their ids at most, by later elections."""
    whole = quorum.survey(1)
    log = quorum.segment(1)
    assert whole.voters_offset is not None
    first = next(batch for batch in batches(log) if batch.base_offset > whole.voters_offset)
    data = log.read_bytes()[first.position :]
    for path in quorum.partition(1).iterdir():
        if path.name[:20].isdigit():
            path.unlink()
    (quorum.partition(1) / f"{first.base_offset:020d}.log").write_bytes(data)
    (quorum.partition(1) / "leader-epoch-checkpoint").unlink()
    assert quorum.survey(1).end == whole.end
    assert quorum.survey(1).voters_offset is None
    plan = quorum.plan()
    assert plan.cases == ("snapshot-copied",)
    assert plan.kraft_version == 1
    assert plan.voters_before == whole.voters


def test_a_survivor_without_its_name_is_told_how_it_can_lead(
    quorum: Quorum, tmp_path: Path
) -> None:
    """Nothing leads away from its log: no new controller is advised."""
    (quorum[3] / "meta.properties").unlink()
    with pytest.raises(KraftoolError, match=r"which node it belongs to: meta.properties: it"):
        quorum.plan("lost=1,2", nodes=[3, 11])
    known = quorum.survey(11).identity.cluster_id
    quorum.directories[3] = settings_of(quorum, 3, tmp_path)
    for settings in (("lost=1,2",), ("lost=1,2", "seed=3")):
        for nodes, cluster_id in (([3, 11], known), ([3], "CLUSTER_ID")):
            with pytest.raises(
                KraftoolError, match=r"be the seed: meta.properties: it is"
            ) as raised:
                quorum.plan(*settings, nodes=nodes)
            assert (
                f"version=1, cluster.id={cluster_id}, node.id=3, directory.id=" in raised.value.hint
            )
