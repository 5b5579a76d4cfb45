"""A quorum at rest as directories have it, and what would be cut off if a node led."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from kraftool.decoders.batch import RecordBatch
from kraftool.decoders.segment import scan
from kraftool.raft.names import (
    ElectionState,
    Endpoint,
    OffsetAndEpoch,
    ReplicaKey,
    VersionRange,
    Voter,
    VoterSet,
)
from kraftool.reports.election.assessment import assess
from kraftool.reports.election.assessment_words import state_sentence
from kraftool.reports.election.case import ElectionCase, parts_at
from kraftool.reports.election.losses import CommitStatus, losses
from kraftool.reports.election.read import read_case
from kraftool.reports.election.scenario import parse_scenario
from kraftool.reports.election.what_if import assumed_up, wiped
from tests.support.places import PARTITION


@pytest.fixture
def quorum(fixtures_dir: Path) -> Path:
    return fixtures_dir / "kafka-4.3.0/dynamic-quorum"


def test_a_directory_is_read_as_the_core_needs_it(quorum: Path) -> None:
    case = read_case([str(quorum / f"node-{node_id}/data") for node_id in (4, 2, 3)])
    assert [node.id for node in case.nodes] == [2, 3, 4]
    two = case.by_id[2]
    assert two.log.epochs == ((1, 0), (2, 43), (3, 69))
    assert two.end == OffsetAndEpoch(224, 3)
    assert OffsetAndEpoch(203, 3) in two.log.snapshots
    assert two.election == ElectionState(epoch=3, leader_id=2)
    assert two.key == ReplicaKey(2, "vuSe5hpCRzWlSfeete_vAw")
    assert two.voters.ids == {2, 3, 4}
    assert case.kraft_version == 1
    assert (case.unknown, case.findings) == ((), ())
    assert two.settings.listeners["CONTROLLER"] == Endpoint("127.0.0.1", 41733)


def test_settings_bring_bootstrap_servers_and_timeouts(quorum: Path, tmp_path: Path) -> None:
    shutil.copytree(quorum / "node-2", tmp_path / "2")
    path = tmp_path / "2/server.properties"
    path.chmod(0o644)
    settings = path.read_text().replace("log.dirs=data", f"log.dirs={tmp_path / '2/data'}")
    path.write_text(f"{settings}\ncontroller.quorum.election.timeout.ms=4000\n")
    (node,) = read_case([str(path)]).nodes
    assert node.settings.timing.election_timeout_ms == 4000
    assert node.settings.timing.fetch_timeout_ms == 2000
    assert Endpoint("127.0.0.1", 54627) in node.settings.bootstrap_servers


def test_static_voters_come_from_the_settings(fixtures_dir: Path) -> None:
    node = fixtures_dir / "kafka-4.3.0/static-single/node-1"
    case = read_case([str(node / "data")])
    assert case.kraft_version == 0
    assert case.voters.ids == {1}


def test_voters_without_a_directory_are_unknown(quorum: Path) -> None:
    assert read_case([str(quorum / "node-2/data")]).unknown == (3, 4)


def test_a_removed_voter_is_an_observer(quorum: Path) -> None:
    case = read_case([str(quorum / f"node-{node_id}/data") for node_id in (1, 2)])
    assert not case.by_id[1].is_voter
    assert case.voters.ids == {2, 3, 4}


def test_voters_that_a_directory_of_no_known_node_names_are_not_denied(
    quorum: Path, tmp_path: Path
) -> None:
    shutil.copytree(quorum / "node-2/data", tmp_path / "data")
    (tmp_path / "data").chmod(0o755)
    (tmp_path / "data/meta.properties").unlink()
    case = read_case([str(tmp_path / "data")])
    assert (case.nodes, case.voters.ids) == ((), frozenset())
    assert state_sentence(assess(case)).startswith("No file of a known node names the voters")


def flipped(quorum: Path, target: Path, byte: int) -> str:
    """A copy of a directory with one byte of the batch at offset 150 changed."""
    shutil.copytree(quorum / "node-2/data", target)
    log = target / PARTITION / f"{0:020}.log"
    log.chmod(0o644)
    data = bytearray(log.read_bytes())
    whole = bytes(data)
    batches = scan(lambda at, size: whole[at : at + size])
    batch = next(x for x in batches if isinstance(x, RecordBatch) and x.last_offset >= 150)
    data[batch.position + byte] ^= 0xFF
    log.write_bytes(data)
    return str(target)


def test_an_epoch_that_a_damage_made_up_wins_the_election(quorum: Path, tmp_path: Path) -> None:
    """No CRC covers it, and Kafka adds it to leader-epoch-checkpoint, behind which no lower one
    comes: 3.9.1, 4.1.1 and 4.3.1 elected such a node over the others."""
    case = read_case([flipped(quorum, tmp_path / "data", 13)])
    (node,) = case.nodes
    assert node.end == OffsetAndEpoch(224, 0xFF0003)
    assert node.sound.end.epoch == 3, "it is no evidence of what the node has"
    assert case.findings


def test_an_epoch_of_the_checkpoint_alone_wins_the_election(quorum: Path, tmp_path: Path) -> None:
    shutil.copytree(quorum / "node-2/data", tmp_path / "data")
    path = tmp_path / "data" / PARTITION / "leader-epoch-checkpoint"
    path.chmod(0o644)
    path.write_text("0\n2\n1 0\n77 100\n")
    (node,) = read_case([str(tmp_path / "data")]).nodes
    assert (node.end, node.sound.end) == (OffsetAndEpoch(224, 77), OffsetAndEpoch(224, 3))


def test_whoever_could_depose_the_first_leader_is_not_started_after_it(
    quorum: Path, tmp_path: Path
) -> None:
    """Node 2 came last, with an epoch above that of the leader of 3 and 4: on Kafka 4.3.1 it was
    elected, asked both to truncate what was committed, and both exited."""
    sound = [str(quorum / f"node-{node_id}/data") for node_id in (3, 4)]
    assessment = assess(read_case([flipped(quorum, tmp_path / "data", 13), *sound]))
    assert assessment.harmful == (2,)
    assert assessment.start_first == ()


def test_what_a_damage_hides_is_not_counted(quorum: Path, tmp_path: Path) -> None:
    case = read_case([flipped(quorum, tmp_path / "data", 62)])
    (node,) = case.nodes
    assert node.log.end < 224
    assert node.log.is_cut
    assert case.findings
    assert "would cut its damaged log at" in node.notes[0]


# --- what is lost -----------------------------------------------------------------------------


def stands(text: str, leader: int) -> list[tuple[int, int, CommitStatus]]:
    case = parse_scenario(text.encode(), "test").case
    return [
        (loss.first_offset, loss.end, loss.commit_status)
        for loss in losses(case, case.by_id[leader])
    ]


def test_records_of_one_of_three_were_not_committed() -> None:
    text = "nodes: {1: {end: 60}, 2: {end: 50}, 3: {end: 50}}"
    assert stands(text, 2) == [(50, 60, CommitStatus.NOT)]
    assert stands(text, 1) == []


def test_records_of_a_majority_are_taken_for_committed() -> None:
    text = "nodes: {1: {end: 60}, 2: {end: 50}, 3: {end: 55}}"
    assert stands(text, 2) == [(50, 55, CommitStatus.MAJORITY), (55, 60, CommitStatus.NOT)]


def test_what_an_unknown_voter_may_have_had_is_possibly_committed() -> None:
    for third in ("", ", 3: {voters: []}"):
        text = f"voters: [1, 2, 3]\nnodes: {{1: {{end: 60}}, 2: {{end: 50}}{third}}}"
        assert stands(text, 2) == [(50, 60, CommitStatus.POSSIBLE)]


def with_voters(
    case: ElectionCase, node_id: int, offset: int, ids: tuple[int, ...]
) -> ElectionCase:
    """The case, with a record in one log that makes these the voters."""
    node = case.by_id[node_id]
    sets = (*node.log.voter_sets, (offset, voter_set(ids)))
    return case.with_node(replace(node, log=replace(node.log, voter_sets=sets)))


def voter_set(ids: tuple[int, ...]) -> VoterSet:
    return VoterSet.of(
        *(
            Voter(
                key=ReplicaKey(voter_id, f"directory-{voter_id}"),
                endpoints={"CONTROLLER": Endpoint(f"node-{voter_id}", 0)},
                kraft_version=VersionRange(0, 1),
            )
            for voter_id in ids
        )
    )


def standings(case: ElectionCase, leader: int) -> list[tuple[int, int, CommitStatus]]:
    return [
        (loss.first_offset, loss.end, loss.commit_status)
        for loss in losses(case, case.by_id[leader])
    ]


def test_what_the_voters_before_may_have_committed_is_possibly_committed() -> None:
    # 1 and 2 committed up to 109 while the voters were 1, 2 and 3; then 1 began to add 4.
    text = """
    voters: [1, 2, 3]
    nodes: {1: {end: 111}, 2: {voters: []}, 3: {end: 100}, 4: {end: 100}}
    """
    case = with_voters(parse_scenario(text.encode(), "test").case, 1, 110, (1, 2, 3, 4))
    assert standings(case, 3) == [(100, 110, CommitStatus.POSSIBLE), (110, 111, CommitStatus.NOT)]


def test_what_a_smaller_set_behind_may_have_committed_counts_too() -> None:
    # 4 is removed at 110, and then 1 and 2 are a majority.
    text = """
    voters: [1, 2, 3, 4]
    nodes: {1: {end: 112}, 2: {end: 112}, 3: {end: 100}, 4: {end: 100}}
    """
    case = with_voters(parse_scenario(text.encode(), "test").case, 1, 110, (1, 2, 3))
    case = with_voters(case, 2, 110, (1, 2, 3))
    assert standings(case, 3) == [(100, 112, CommitStatus.MAJORITY)]
    plain = parse_scenario(text.encode(), "test").case
    assert standings(plain, 3) == [(100, 112, CommitStatus.NOT)]


def test_a_change_that_only_a_lost_log_had_counts_for_an_even_number_of_voters() -> None:
    # 2 lost its disk: it may have led, and have removed 3 or 4; then 1 and 2 were a majority.
    even = "voters: [1, 2, 3, 4]\nnodes: {1: {end: 60}, 3: {end: 50}, 4: {end: 50}}"
    assert stands(even, 3) == [(50, 60, CommitStatus.POSSIBLE)]
    odd = "voters: [1, 2, 3, 4, 5]\nnodes: {1: {end: 60}, 3: {end: 50}, 4: {end: 50}, 5: {end: 50}}"
    assert stands(odd, 3) == [(50, 60, CommitStatus.NOT)]
    known = even.replace("{1:", "{2: {end: 50}, 1:")
    assert stands(known, 3) == [(50, 60, CommitStatus.NOT)], "nobody can have led unseen"
    static = f"kraftVersion: 0\n{even}"
    assert stands(static, 3) == [(50, 60, CommitStatus.NOT)], "no record changes static voters"


def test_a_change_that_was_not_committed_had_no_other_behind_it() -> None:
    # The set at 55 was on 1 alone, and 5 cannot be asked: 2 of 4 at most had it.
    text = """
    voters: [1, 2, 3]
    nodes: {1: {end: 60}, 2: {end: 50}, 3: {end: 50}}
    """
    case = with_voters(parse_scenario(text.encode(), "test").case, 1, 55, (1, 2, 3, 5))
    assert standings(case, 2) == [(50, 60, CommitStatus.NOT)]


def test_a_snapshot_proves_a_commit() -> None:
    text = "nodes: {1: {log: {1: 0}, end: 60, snapshot: [55, 1]}, 2: {end: 50}, 3: {end: 50}}"
    # Without an old copy of 2 or 3 there would be no snapshot, so what is behind it may be, too.
    assert stands(text, 2) == [(50, 55, CommitStatus.COMMITTED), (55, 60, CommitStatus.POSSIBLE)]
    two = text.replace("3: {end: 50}", "3: {end: 55}")
    assert stands(two, 2) == [(50, 55, CommitStatus.COMMITTED), (55, 60, CommitStatus.NOT)]


def test_logs_part_at_the_epoch_that_only_one_has() -> None:
    text = """
    nodes:
      1: {log: {1: 0, 3: 40}, end: 45}
      2: {log: {1: 0, 2: 38}, end: 60}
    """
    case = parse_scenario(text.encode(), "test").case
    one, two = case.nodes
    assert parts_at(one, two) == 38
    assert parts_at(two, one) == 38
    assert stands(text, 1) == [(38, 60, CommitStatus.NOT)]


def test_a_log_behind_the_leaders_start_takes_a_snapshot_and_loses_nothing() -> None:
    text = """
    nodes:
      1: {logStart: 100, snapshot: [100, 2], log: {2: 100}, end: 120}
      2: {end: 50}
    """
    assert stands(text, 1) == []


def test_a_wiped_node_is_another_replica_with_nothing(quorum: Path) -> None:
    case = read_case([str(quorum / f"node-{node_id}/data") for node_id in (2, 3, 4)])
    three = wiped(case, 3).by_id[3]
    assert three.key != case.by_id[3].key
    assert three.end == OffsetAndEpoch(0, 0)
    assert not three.is_voter


def test_a_voter_that_is_assumed_up_is_the_replica_that_votes(quorum: Path) -> None:
    case = read_case([str(quorum / "node-2/data")])
    three = assumed_up(case, 3, "equal").by_id[3]
    assert three.is_voter
    assert three.end == case.by_id[2].end
    assert assumed_up(case, 3, "empty").by_id[3].end == OffsetAndEpoch(0, 0)


def test_a_voter_that_is_assumed_up_has_not_forgotten_who_leads_its_epoch(quorum: Path) -> None:
    """If it was the leader itself, it would end with an error when another tells it so."""
    case = read_case([str(quorum / f"node-{node_id}/data") for node_id in (2, 4)])
    elections = {node.election for node in case.nodes if node.election is not None}
    epoch = max(election_state.epoch for election_state in elections)
    (leader,) = {
        election_state.leader_id for election_state in elections if election_state.epoch == epoch
    }
    assert leader is not None
    election = assumed_up(case, 3, "equal").by_id[3].election
    assert election is not None
    assert (election.epoch, election.leader_id, election.voted) == (epoch, leader, None)
