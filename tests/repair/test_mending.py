"""Single directories that are damaged while the quorum is not lost: each case, made and mended.

Every plan is carried out on copies of what real Kafka left, and the outcome is surveyed again.
"""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from kraftool.decoders import quorum_state
from kraftool.decoders.batch import encode_batch
from kraftool.decoders.errors import KraftoolError
from kraftool.decoders.framing import encode_record
from kraftool.repair.narration import is_well
from kraftool.repair.plan import Action, Method, Plan
from kraftool.repair.refusal import PlanRefused
from kraftool.reports.election.assessment import LossBound
from kraftool.reports.verify.log import verify_logs
from kraftool.storage.lock_taking import DirectoryLock
from kraftool.storage.paths import open_path
from tests.repair.directories import (
    APART,
    EQUAL,
    NOW,
    Quorum,
    batches,
    cut_log,
    flip,
    flip_in_batch,
    mended,
    poisoned,
    state_of,
)

pytestmark = pytest.mark.slow

VOTERS = (1, 2, 3)


def test_a_quorum_that_is_well_needs_nothing(quorum: Quorum) -> None:
    plan = quorum.plan()
    assert plan.method is Method.NONE
    assert plan.summary[0].startswith("No action needed")
    assert "quorum health" in plan.summary[0], "what to do where there is no leader all the same"
    assert not plan.changes
    assert not plan.steps


@pytest.mark.parametrize(
    ("fixture", "nodes"),
    [
        ("kafka-3.3.2/static-quorum", (1, 2, 3)),
        ("kafka-3.7.2/static-quorum", (1, 2, 3)),
        ("kafka-3.9.1/dynamic-quorum", (1, 3, 4)),
        ("kafka-4.1.1/dynamic-quorum", (2, 3, 4)),
        ("kafka-4.3.0/log-cleaning", (1,)),
        ("kafka-4.3.0/static-single", (1,)),
        ("kafka-4.4.0/dynamic-quorum", (2, 3, 4)),
    ],
)
def test_what_kafka_left_needs_nothing(
    tmp_path: Path, fixture: str, nodes: tuple[int, ...]
) -> None:
    assert Quorum(tmp_path, fixture, nodes).plan().method is Method.NONE


def test_a_lost_voter_is_to_be_replaced(quorum: Quorum) -> None:
    plan = quorum.plan("lost=3", nodes=[1, 2, 11])
    assert plan.method is Method.NONE
    assert "remove-controller for the lost one" in plan.summary[-1]


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ("state=2", "no majority of the voters is lost"),
        ("epoch=50", "no majority of the voters is lost"),
        ("offset=9999", "no majority of the voters is lost"),
        ("from=2", "nothing is to be rebuilt"),
        ("cluster.id=AAAAAAAAAAAAAAAAAAAAAg", "new id of --fence"),
    ],
)
def test_what_would_not_be_done_is_refused(quorum: Quorum, settings: str, words: str) -> None:
    with pytest.raises(KraftoolError, match=words):
        quorum.plan(settings)


def test_a_torn_tail_is_kafkas_to_cut(quorum: Quorum) -> None:
    path = quorum.segment(2)
    path.write_bytes(path.read_bytes()[:-20])
    plan = quorum.plan()
    assert (plan.method, plan.cases) == (Method.NONE, ("torn-tail",))


def test_a_damaged_log_is_made_anew_from_the_best_directory(quorum: Quorum) -> None:
    for snapshot in quorum.snapshots(2):
        snapshot.unlink()
    flip_in_batch(quorum.segment(2), 30)
    plan = quorum.plan()
    assert plan.method is Method.REBUILD
    promise = (quorum.partition(2) / "quorum-state").read_bytes()
    survey = mended(quorum, 2, plan, "rebuilt")
    assert survey.end == (160, 6)
    assert state_of(quorum[2]) == state_of(quorum[3])
    assert (quorum.partition(2) / "quorum-state").read_bytes() == promise
    assert survey.node_id == 2


def test_damage_with_a_snapshot_beyond_is_made_anew_too(quorum: Quorum) -> None:
    """Kafka would wipe the log and go on from the snapshot, without what follows it."""
    assert quorum.snapshots(1)
    flip_in_batch(quorum.segment(1), 10)
    survey = mended(quorum, 1, quorum.plan(), "rebuilt")
    assert survey.end == (160, 6)


def test_a_damaged_log_by_itself_keeps_what_follows_its_snapshot(tmp_path: Path) -> None:
    quorum = Quorum(tmp_path, "kafka-4.3.0/static-single", [1])
    before = state_of(quorum[1])
    end = quorum.survey(1).end
    newest = int(quorum.snapshots(1)[-1].name[:20])
    number = next(
        number
        for number, batch in enumerate(batches(quorum.segment(1)))
        if 10 < batch.base_offset < newest - 10
    )
    flip_in_batch(quorum.segment(1), number)
    plan = quorum.plan()
    assert plan.cases == ("rest-kept",)
    assert plan.loss.verdict is LossBound.NONE
    quorum.carry_out(plan)
    survey = quorum.survey(1)
    assert is_well(survey)
    assert survey.end == end
    assert survey.log is not None
    assert survey.log.start_offset == newest
    assert state_of(quorum[1]) == before


def test_a_damaged_log_by_itself_is_cut_only_by_its_word(tmp_path: Path) -> None:
    quorum = Quorum(tmp_path, "kafka-4.3.0/static-single", [1])
    for snapshot in quorum.snapshots(1):
        snapshot.unlink()
    batch = flip_in_batch(quorum.segment(1), 30)
    with pytest.raises(PlanRefused, match=f"the records of offsets {batch.base_offset} to"):
        quorum.plan()
    plan = quorum.plan(accept=["ahead"])
    assert plan.cases == ("cut",)
    assert plan.loss.verdict is LossBound.BOUNDED
    quorum.carry_out(plan)
    survey = quorum.survey(1)
    assert is_well(survey)
    assert survey.end.offset == batch.base_offset


def test_what_may_be_committed_behind_damage_is_given_up_only_by_its_word(quorum: Quorum) -> None:
    """Of three voters one lags and one was not given: the damaged one alone may have the rest.

    With the bytes of the directories at hand, the laggard fills the damage.
    """
    cut_log(quorum, 2, 4)
    for snapshot in quorum.snapshots(3):
        snapshot.unlink()
    flip_in_batch(quorum.segment(3), 30)
    end = quorum.survey(2).end.offset
    assert end < 160
    with pytest.raises(PlanRefused, match=f"node-3 has records at offsets {end} to 159") as raised:
        quorum.plan(nodes=[2, 3], is_collected=True)
    assert "voter 1 may have them" in raised.value.message
    plan = quorum.plan(nodes=[2, 3], accept=["ahead"], is_collected=True)
    assert plan.loss.verdict is LossBound.BOUNDED
    assert [(record.first_offset, record.end_offset) for record in plan.loss.records] == [
        (end, 160)
    ]
    restoring = quorum.plan(nodes=[2, 3])
    assert restoring.cases[0] == "restored-runs"
    assert restoring.loss.verdict is LossBound.POSSIBLE, "the laggard may be an old copy"


def test_a_damaged_last_batch_may_have_been_committed_too(quorum: Quorum) -> None:
    """Of a batch that was torn nothing was promised; one whose CRC is wrong was whole once."""
    cut_log(quorum, 2, 4)
    batch = flip_in_batch(quorum.segment(3), -1)
    with pytest.raises(PlanRefused, match=f"the records of offset {batch.base_offset} are"):
        quorum.plan(nodes=[2, 3])
    plan = quorum.plan(nodes=[2, 3], accept=["ahead"])
    assert [(record.first_offset, record.end_offset) for record in plan.loss.records] == [
        (batch.base_offset, 160)
    ]


def test_a_tail_below_a_later_segment_is_not_torn(quorum: Quorum) -> None:
    """The log went on at 160, whatever is there now."""
    path = quorum.segment(3)
    path.write_bytes(path.read_bytes()[: batches(path)[-4].position + 10])
    (quorum.partition(3) / f"{160:020}.log").write_bytes(b"")
    cut_log(quorum, 2, 6)
    with pytest.raises(PlanRefused, match="to 159 are given up"):
        quorum.plan(nodes=[2, 3])


def test_two_whole_voters_of_three_have_all_that_was_committed(quorum: Quorum) -> None:
    """What is behind the damage of the third one only was never on a majority."""
    for node in (1, 2):
        cut_log(quorum, node, 4)
    for snapshot in quorum.snapshots(3):
        snapshot.unlink()
    flip_in_batch(quorum.segment(3), 30)
    plan = quorum.plan(nodes=[1, 2, 3], is_collected=True)
    assert plan.cases == ("rebuilt",)
    assert plan.loss.verdict is LossBound.NONE
    restoring = quorum.plan(nodes=[1, 2, 3])
    assert restoring.cases[0] == "restored-runs", "node 3 gets back also what only it had"
    assert restoring.loss.verdict is LossBound.POSSIBLE, "or both others lost their end"


def test_directories_of_two_clusters_are_not_well(tmp_path: Path) -> None:
    """Of whose quorum it is said that nothing is to be done must not be decided by their number."""
    quorum = Quorum(tmp_path, EQUAL, [1])
    other = Quorum(tmp_path / "other", APART, [2, 3, 4])
    quorum.directories |= other.directories
    with pytest.raises(PlanRefused, match="belongs to cluster"):
        quorum.plan()


def test_a_broker_with_a_damaged_log_is_emptied(quorum: Quorum) -> None:
    for snapshot in quorum.snapshots(11):
        snapshot.unlink()
    flip_in_batch(quorum.segment(11), 30)
    plan = quorum.plan()
    assert plan.cases == ("emptied",)
    quorum.carry_out(plan)
    left = {path.name for path in quorum.partition(11).iterdir()}
    assert left == {"partition.metadata", "quorum-state"}
    assert quorum.survey(11).node_id == 11


def test_a_damaged_snapshot_goes_where_the_log_is_whole(quorum: Quorum) -> None:
    newest = quorum.snapshots(3)[-1]
    flip(newest, newest.stat().st_size // 2)
    survey = mended(quorum, 3, quorum.plan(), "snapshot-damaged")
    assert not newest.exists()
    assert survey.end == (160, 6)


def test_a_junk_snapshot_beyond_the_log_goes_before_kafka_wipes_for_it(quorum: Quorum) -> None:
    junk = quorum.partition(1) / "00000000000000009999-0000000009.checkpoint"
    junk.write_bytes(b"what is this")
    assert quorum.survey(1).end == (160, 6), "a name is no state"
    mended(quorum, 1, quorum.plan(), "junk-snapshot")
    assert not junk.exists()


def cleaned(quorum: Quorum, node_id: int) -> Path:
    """Have a node's log begin at its newest snapshot, as after cleaning; that snapshot."""
    newest = quorum.snapshots(node_id)[-1]
    offset = int(newest.name[:20])
    log = quorum.segment(node_id)
    first = next(batch for batch in batches(log) if batch.base_offset == offset)
    data = log.read_bytes()[first.position :]
    for path in quorum.partition(node_id).iterdir():
        if path.name[:20].isdigit() and path != newest:
            path.unlink()
    (quorum.partition(node_id) / f"{offset:020d}.log").write_bytes(data)
    (quorum.partition(node_id) / "leader-epoch-checkpoint").unlink()
    return newest


def why_of(plan: Plan, path: Path) -> str:
    """The reason that a plan gives for making a file."""
    edits = (edit for host in plan.hosts for edit in host.edits)
    return next(edit.why for edit in edits if edit.target.name == path.name)


def test_a_log_start_without_its_snapshot_gets_the_deleted_one_back(quorum: Quorum) -> None:
    newest = cleaned(quorum, 1)
    before = state_of(quorum[1])
    snapshot = newest.read_bytes()
    newest.rename(f"{newest}.deleted")
    plan = quorum.plan()
    assert why_of(plan, newest) == "the log needs it"
    survey = mended(quorum, 1, plan, "snapshot-restored")
    assert newest.read_bytes() == snapshot
    assert survey.end == (160, 6)
    assert state_of(quorum[1]) == before


def test_a_log_start_without_a_snapshot_borrows_one(quorum: Quorum) -> None:
    newest = cleaned(quorum, 1)
    newest.unlink()
    [lent] = [snapshot for snapshot in quorum.snapshots(3) if snapshot.name == newest.name]
    plan = quorum.plan()
    assert why_of(plan, newest) == "the log needs it"
    survey = mended(quorum, 1, plan, "snapshot-copied")
    assert survey.end == (160, 6)
    assert newest.read_bytes() == lent.read_bytes()


def test_epochs_that_were_cut_at_a_lost_snapshot_are_made_anew(quorum: Quorum) -> None:
    """Kafka cuts them at its own snapshot; the one that is borrowed is at another offset."""
    newest = cleaned(quorum, 1)
    newest.unlink()
    epoch, cut = 6, max(batch.base_offset for batch in batches(quorum.segment(1)))
    epochs = quorum.partition(1) / "leader-epoch-checkpoint"
    epochs.write_text(f"0\n1\n{epoch} {cut}\n")
    mended(quorum, 1, quorum.plan(), "snapshot-copied")
    assert not epochs.exists()


def test_a_log_start_without_any_snapshot_is_made_anew(quorum: Quorum) -> None:
    cleaned(quorum, 1).unlink()
    del quorum.directories[11]
    for node in (2, 3):
        for snapshot in quorum.snapshots(node):
            snapshot.unlink()
    survey = mended(quorum, 1, quorum.plan(), "rebuilt")
    assert survey.log is not None
    assert survey.log.start_offset == 0


@pytest.mark.parametrize("text", ["garbage", "0\n1\n9 0\n", "0\n2\n1 0\n9 50\n"])
def test_a_wrong_leader_epoch_checkpoint_goes(quorum: Quorum, text: str) -> None:
    path = quorum.partition(3) / "leader-epoch-checkpoint"
    path.write_text(text)
    mended(quorum, 3, quorum.plan(), "leader-epochs")
    assert not path.exists()


def test_a_partition_metadata_of_another_topic_goes(quorum: Quorum) -> None:
    path = quorum.partition(3) / "partition.metadata"
    path.write_text("version: 0\ntopic_id: BBBBBBBBBBBBBBBBBBBBBQ\n")
    mended(quorum, 3, quorum.plan(), "partition-metadata")
    assert not path.exists()


@pytest.mark.parametrize("name", ["notes.log", "00000000000000000000.log.swap", "x.checkpoint"])
def test_a_name_that_stops_kafka_goes(quorum: Quorum, name: str) -> None:
    (quorum.partition(1) / name).write_bytes(b"x")
    mended(quorum, 1, quorum.plan(), "stray-names")
    assert not (quorum.partition(1) / name).exists()


def test_leftovers_that_kafka_removes_itself_are_left(quorum: Quorum) -> None:
    for name in ("00000000000000000005.log.deleted", "00000000000000000999.index"):
        (quorum.partition(1) / name).write_bytes(b"")
    assert quorum.plan().method is Method.NONE


def test_new_endpoints_are_the_same_record_on_every_voter(quorum: Quorum) -> None:
    plan = quorum.plan(*(f"endpoint.{voter}=CONTROLLER://new-{voter}:9093" for voter in VOTERS))
    assert plan.cases == ("endpoints",)
    quorum.carry_out(plan)
    contents = set()
    for voter in VOTERS:
        survey = quorum.survey(voter)
        assert is_well(survey)
        assert survey.end == (161, 7)
        assert [str(voter.endpoint) for voter in survey.voters] == [
            f"new-{id_}:9093" for id_ in VOTERS
        ]
        assert {one.directory_id for one in survey.voters} == {
            one.directory_id for one in plan.voters_before
        }
        contents.add(quorum.segment(voter).read_bytes())
    assert len(contents) == 1


def test_new_endpoints_want_a_majority_of_equal_logs(quorum: Quorum) -> None:
    for node in (2, 3):
        path = quorum.segment(node)
        path.write_bytes(path.read_bytes()[: batches(path)[-node].position])
    with pytest.raises(KraftoolError, match="2 are needed"):
        quorum.plan("endpoint.1=CONTROLLER://new:9093", accept=["ahead"])


def test_a_poison_record_gives_way_to_noops_on_every_node_that_has_it(quorum: Quorum) -> None:
    before = state_of(quorum[1])
    for node in (1, 2, 3, 11):
        offset = poisoned(quorum, node)
    planned = quorum.plan()
    assert planned.method is Method.NONE
    (line,) = [line for line in planned.summary if f"--set poison={offset}" in line]
    assert line.startswith("node-1, node-2, node-3 and node-11 have a record at offset")
    assert planned.cases == ("record-stops",)
    plan = quorum.plan(f"poison={offset}")
    survey = mended(quorum, 1, plan, "poison")
    assert survey.end == (offset + 2, 6)
    assert state_of(quorum[1]) == before
    assert len({batches(quorum.segment(voter))[-2].data for voter in (1, 2, 3, 11)}) == 1


def test_a_poison_record_is_not_replaced_where_one_log_may_keep_it(quorum: Quorum) -> None:
    """Two voters would have other bytes at one offset of one epoch."""
    offset = poisoned(quorum, 1)
    path = quorum.segment(3)
    noop = encode_record("NoOpRecord", 0, {})
    path.write_bytes(
        path.read_bytes() + encode_batch([(None, noop)], base_offset=offset, epoch=6, timestamp=NOW)
    )
    with pytest.raises(KraftoolError, match="node-3 has that offset too"):
        quorum.plan(f"poison={offset}")


def test_a_record_that_fits_is_not_replaced(quorum: Quorum) -> None:
    with pytest.raises(KraftoolError, match="no log given here has a record at offset 100"):
        quorum.plan("poison=100")


def test_a_directory_is_made_anew_from_another_where_it_is_asked_for(quorum: Quorum) -> None:
    shutil.rmtree(quorum.partition(3))
    quorum.partition(3).mkdir()
    shutil.copy(quorum.partition(2) / "quorum-state", quorum.partition(3))
    plan = quorum.plan("rebuild=3", "from=1")
    survey = mended(quorum, 3, plan, "rebuilt")
    assert survey.end == (160, 6)
    name = "partition.metadata"
    assert (quorum.partition(3) / name).read_bytes() == (quorum.partition(1) / name).read_bytes()
    with pytest.raises(KraftoolError, match="no directory of node 9"):
        quorum.plan("rebuild=9")
    with pytest.raises(KraftoolError, match="no whole log of that node"):
        quorum.plan("rebuild=3", "from=9")


def test_the_others_can_keep_running_only_where_one_runs(quorum: Quorum) -> None:
    (quorum.partition(2) / "quorum-state").write_bytes(b"")
    stop = quorum.plan().steps[0]
    assert (stop.action, stop.text) == (
        Action.STOP,
        "stop the node, and whatever could start it again",
    )
    with DirectoryLock(str(quorum[3])):
        stop = quorum.plan(accept=["running"]).steps[0]
    assert stop.text.endswith("; the others can keep running")


def test_a_log_made_anew_is_not_ahead_of_quorum_state(quorum: Quorum) -> None:
    """As with an old copy of a directory: neither verify nor doctor complains of the outcome. It
    may have voted in epoch 6: the next epoch is the first in which it can vote."""
    path = quorum.partition(3) / "quorum-state"
    state = quorum_state.decode(path.read_bytes())[0].quorum_state
    assert state is not None
    old = replace(state, leader_epoch=2, leader_id=-1, voted_id=1)
    path.write_bytes(quorum_state.encode(old))
    flip_in_batch(quorum.segment(3), 30)
    plan = quorum.plan()
    assert plan.cases == ("rebuilt",)
    quorum.carry_out(plan)
    now = quorum_state.decode(path.read_bytes())[0].quorum_state
    assert now is not None
    assert (now.leader_epoch, now.leader_id, now.voted_id) == (7, -1, -1)
    findings = verify_logs([open_path(str(quorum[3]))]).rows
    assert "KT-DIR-QUORUM-STATE-BEHIND" not in {finding.code for finding in findings}
    flip_in_batch(quorum.segment(3), 30)
    kept = path.read_bytes()
    quorum.carry_out(quorum.plan())
    assert path.read_bytes() == kept, "a higher epoch stays"


def test_nothing_is_stopped_for_static_leftovers(quorum: Quorum, tmp_path: Path) -> None:
    """A plan once stopped a healthy quorum for a setting that Kafka ignores."""
    server = tmp_path / "server.properties"
    server.write_text(
        "process.roles=controller\nnode.id=2\ncontroller.listener.names=CONTROLLER\n"
        f"listeners=CONTROLLER://127.0.0.1:9093\nlog.dirs={quorum[2]}\n"
        "controller.quorum.voters=1@one:9093,2@two:9093,3@three:9093\n"
    )
    quorum.directories[2] = server
    plan = quorum.plan()
    assert (plan.method, plan.cases) == (Method.NONE, ("static-leftovers",))
    assert not plan.steps
    (note,) = (line for line in plan.summary if "next restart" in line)
    assert "replace controller.quorum.voters by controller.quorum.bootstrap.servers=" in note


def test_an_old_copy_is_no_further_voter(tmp_path: Path) -> None:
    """Before 3.7 nothing in a directory tells it from a copy."""
    quorum = Quorum(tmp_path, "kafka-3.3.2/static-quorum", [1])
    shutil.copytree(quorum[1], tmp_path / "again")
    cut_log(quorum, 1, 4)
    quorum.directories[99] = tmp_path / "again"
    with pytest.raises(KraftoolError, match="both belong to voter 1"):
        quorum.plan("lost=2")


def test_one_directory_twice_is_refused(quorum: Quorum, tmp_path: Path) -> None:
    shutil.copytree(quorum[1], tmp_path / "again")
    quorum.directories[99] = tmp_path / "again"
    with pytest.raises(KraftoolError, match="are the same directory"):
        quorum.plan()
