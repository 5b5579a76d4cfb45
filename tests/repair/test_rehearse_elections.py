"""What a rehearsal shows of elections after a plan."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from kraftool.decoders import quorum_state
from kraftool.decoders.names import write_checkpoint_name
from kraftool.repair.plan import Fingerprint, Method, Piece, Plan, RequiredSetting
from kraftool.repair.plan_file import PlanFileKind, target_of
from kraftool.repair.planner import plan_for, read_quorum
from kraftool.repair.rehearsal import Rehearsal
from kraftool.repair.rehearsal_election import is_promised
from kraftool.repair.rehearsal_nodes import NodesRehearsal
from kraftool.repair.request import PlanRequest, with_settings
from kraftool.reports.election.read import read_case
from kraftool.reports.findings.finding import Severity
from kraftool.sim.conditions import Conditions
from kraftool.sim.returning import Ending, Returning, Way
from tests.repair.directories import (
    APART,
    EQUAL,
    NOW,
    Quorum,
    batches,
    cut_log,
    flip_in_batch,
)
from tests.repair.rehearsing import SEEDS, rehearsed
from tests.support.places import PARTITION

pytestmark = pytest.mark.slow

ENDINGS = 30 if os.environ.get("KRAFTOOL_SOAK") == "1" else 12
"""Seeds that are played of each election: with fewer, some have no ending that hurts."""
STATIC = "kafka-3.7.2/static-quorum"


def codes(rehearsal: Rehearsal) -> set[tuple[str, Severity]]:
    return {(finding.code, finding.severity) for finding in rehearsal.findings}


def worst(rehearsal: Rehearsal) -> set[tuple[str, Severity]]:
    """The codes that count for the verdict."""
    return {
        (code, severity) for code, severity in codes(rehearsal) if severity is not Severity.INFO
    }


# --- elections ----------------------------------------------------------------------------------


def test_a_jump_keeps_what_it_commits_however_old_voters_return(tmp_path: Path) -> None:
    quorum = Quorum(tmp_path / "quorum", APART, [2, 3, 4, 11])
    plan = quorum.plan("lost=2,4", "seed=3", nodes=[3, 11])
    rehearsal = rehearsed(plan, quorum, [3, 11, 2, 4], tmp_path / "kept")
    elections = rehearsal.elections
    assert elections is not None
    assert (elections.started, elections.back, elections.assumed) == ((3, 11), (2, 4), ())
    assert [trial.way for trial in elections.trials] == [
        Way.AFTERWARDS,
        Way.APART,
        Way.LEADER_DIES,
    ]
    for trial in elections.trials[:2]:
        for ending in trial.endings:
            assert (ending.leader_id, ending.lost_from, ending.broken) == (3, None, ())
            assert [node for node, _ in ending.leaders] == [3]
            assert ending.epoch > 1003
            assert {voters for _, voters in ending.voters_by_node} == {(3,)}, (
                "they take the new voters"
            )
    assert any(ending.led_apart for ending in elections.trials[1].endings), (
        "they can elect while apart"
    )
    assert {finding.severity for finding in rehearsal.findings} <= {Severity.INFO}, (
        "unless the leader dies"
    )
    assert all("while the leader dies" in finding.text for finding in rehearsal.findings)


@pytest.mark.parametrize(
    ("fixture", "settings", "method", "what"),
    [
        (APART, ["lost=2,4", "seed=3"], Method.SNAPSHOT_JUMP, "broken"),
        (EQUAL, ["lost=1,2", "seed=3"], Method.APPEND, "lost_from"),
    ],
)
def test_old_voters_come_back_one_by_one_since_the_leader_may_die(
    tmp_path: Path, fixture: str, settings: list[str], method: Method, what: str
) -> None:
    """Two that have heard of its epoch, and not of the new voters, elect in a later one. One alone
    cannot, and the next one finds it among the followers."""
    old = [int(part) for part in settings[0].removeprefix("lost=").split(",")]
    quorum = Quorum(tmp_path / "quorum", fixture, [*old, 3, 11])
    plan = quorum.plan(*settings, nodes=[3, 11])
    assert plan.method is method
    assert not is_promised(plan, Way.LEADER_DIES, is_ahead=False)
    quorum.carry_out(plan)
    case = read_case([str(quorum[node]) for node in (*old, 3, 11)])

    def endings(back: Sequence[int], down: Sequence[int]) -> list[Ending]:
        conditions = Conditions(down=frozenset(down))
        return [
            Returning(case, conditions, seed, back, Way.LEADER_DIES).ending()
            for seed in range(ENDINGS)
        ]

    for ending in endings(old[:1], old[1:]):
        assert (ending.lost_from, ending.broken, ending.led_twice) == (None, (), ())
        assert [node for node, _ in ending.leaders] == [3]
        assert ending.leaders[0][1] > ending.epoch, "the leader died, and leads a later epoch"
    hurt = [ending for ending in endings(old, ()) if getattr(ending, what)]
    assert hurt
    if method is Method.SNAPSHOT_JUMP:
        assert any(ending.led_twice for ending in hurt)


def test_a_repaired_quorum_goes_on_when_its_leader_dies(tmp_path: Path) -> None:
    """A voter was rebuilt, and nobody is kept off: no leader can lack what is committed."""
    quorum = Quorum(tmp_path / "quorum", EQUAL, [1, 2, 3, 11])
    plan = quorum.plan()
    assert is_promised(plan, Way.LEADER_DIES, is_ahead=False)
    case = read_case([str(quorum[node]) for node in (1, 2, 3, 11)])
    for seed in range(ENDINGS):
        ending = Returning(case, Conditions(), seed, (1,), Way.LEADER_DIES).ending()
        assert (ending.lost_from, ending.led_twice) == (None, ())
        assert len(ending.leaders) == 1
        assert ending.leaders[0][1] > ending.epoch, "in a later epoch than before the leader died"
        assert ending.broken == ()


def test_an_append_does_not_bear_an_old_majority_that_was_apart(tmp_path: Path) -> None:
    """With real directories it is a warning, for a disk that is only imagined it is told."""
    quorum = Quorum(tmp_path / "quorum", EQUAL, [1, 2, 3, 11])
    plan = quorum.plan("lost=2,3", nodes=[1, 11])
    assert plan.method is Method.APPEND
    rehearsal = rehearsed(plan, quorum, [1, 11, 2, 3], tmp_path / "given")
    assert rehearsal.elections is not None
    afterwards, apart, _ = rehearsal.elections.trials
    assert (afterwards.losing, afterwards.breaking, afterwards.parted) == ((), (), ())
    assert apart.breaking, "they are told to cut what they committed"
    assert worst(rehearsal) == {("KT-REC-ENDS", Severity.WARNING)}
    assert not rehearsal.is_well
    rehearsal = rehearsed(plan, quorum, [1, 11], tmp_path / "assumed")
    assert rehearsal.elections is not None
    assert rehearsal.elections.assumed == (2, 3)
    assert [trial.is_ahead for trial in rehearsal.elections.trials] == [False, True, True, False]
    assert {severity for _, severity in codes(rehearsal)} == {Severity.INFO}
    assert rehearsal.is_well


def test_a_fence_keeps_both_apart(tmp_path: Path) -> None:
    quorum = Quorum(tmp_path / "quorum", EQUAL, [1, 2, 3, 11])
    paths = [str(quorum[node]) for node in (1, 11)]
    request = with_settings(PlanRequest(surveys=(), now_ms=NOW, fence=True), ["lost=2,3"])
    request = replace(read_quorum(paths, now_ms=NOW).asked(request), cluster_id="fenced")
    rehearsal = rehearsed(plan_for(request), quorum, [1, 11, 2, 3], tmp_path / "kept")
    assert rehearsal.is_well, rehearsal.findings
    assert rehearsal.elections is not None
    for trial in rehearsal.elections.trials:
        for ending in trial.endings:
            assert sorted(node for node, _ in ending.leaders)[0] == 1, "the recovered one leads"
            assert len(ending.leaders) == 2, "and the old majority has its own quorum"
            assert ending.lost_from is None


def test_static_voters_are_those_of_the_plans_settings(tmp_path: Path) -> None:
    quorum = Quorum(tmp_path / "quorum", STATIC, [1, 2, 3, 11])
    plan = quorum.plan("lost=2,3", "endpoint.1=CONTROLLER://controller-1:9093", nodes=[1, 11])
    assert plan.method is Method.STATIC_PROPERTIES
    rehearsal = rehearsed(plan, quorum, [1, 11, 2, 3], tmp_path / "kept")
    assert rehearsal.elections is not None
    first = rehearsal.elections.trials[0].endings[0]
    assert first.leader_id == 1
    assert dict(first.voters_by_node)[1] == (1,)
    assert dict(first.voters_by_node)[11] == (1,), "a broker goes by the setting of the plan, too"
    assert dict(first.voters_by_node)[2] == (1, 2, 3), "old nodes have their old settings"
    assert {severity for _, severity in codes(rehearsal)} <= {Severity.WARNING, Severity.INFO}


def test_old_voters_that_never_hear_of_a_new_node_stay_a_quorum(tmp_path: Path) -> None:
    """All controllers lost, a new one seeded: nobody among the old ones knows where it is."""
    quorum = Quorum(tmp_path / "quorum", EQUAL, [1, 2, 3, 11])
    for name in ("meta.properties", f"{PARTITION}/partition.metadata"):
        path = tmp_path / "new" / name
        path.parent.mkdir(exist_ok=True, parents=True)
        shutil.copyfile(quorum[1] / name, path)
    meta = tmp_path / "new" / "meta.properties"
    text = "\n".join(
        line for line in meta.read_text().splitlines() if not line.startswith(("node.id", "dir"))
    )
    meta.write_text(f"{text}\nnode.id=5\ndirectory.id=KWiRmMHrku1KXke3QcBn_w\n")
    quorum.directories[5] = tmp_path / "new"
    settings = ("lost=1,2,3", "seed=5", "endpoint.5=CONTROLLER://new:9093")
    plan = quorum.plan(*settings, nodes=[5, 11], accept=["ahead"])
    rehearsal = rehearsed(plan, quorum, [5, 11, 1, 2, 3], tmp_path / "kept")
    assert rehearsal.refused is None, rehearsal.refused
    assert rehearsal.elections is not None
    for trial in rehearsal.elections.trials[:2]:
        assert (trial.leaders, trial.losing, trial.breaking) == ({5: SEEDS}, (), ())
    assert rehearsal.elections.trials[1].parted
    assert worst(rehearsal) == {("KT-REC-TWO-QUORUMS", Severity.WARNING)}


def test_a_lost_disk_that_has_more_than_the_plan_knew_of_is_told(tmp_path: Path) -> None:
    """It is found again, and given to the rehearsal only: planned with, less would be lost."""
    quorum = Quorum(tmp_path / "quorum", EQUAL, [1, 2, 11])
    for node in (1, 11):
        cut_log(quorum, node, 2)
    plan = quorum.plan("lost=2,3", nodes=[1, 11])
    end = quorum.survey(2).end
    assert end > quorum.survey(1).end
    rehearsal = rehearsed(plan, quorum, [1, 11, 2], tmp_path / "kept")
    assert rehearsal.elections is not None
    assert rehearsal.elections.further == ((2, end.offset, end.epoch),)
    assert ("KT-REC-AHEAD", Severity.WARNING) in codes(rehearsal)
    assert Severity.ERROR not in {severity for _, severity in codes(rehearsal)}


def test_a_jump_that_is_no_jump_is_caught(tmp_path: Path) -> None:
    """The checkpoint at the log's end in the old epoch: old voters that are ahead take it all."""
    quorum = Quorum(tmp_path / "quorum", EQUAL, [1, 2, 3, 11])
    jump = _jumped(quorum)
    assert rehearsed(jump, quorum, [1, 11], tmp_path / "as-planned").is_well
    rehearsal = rehearsed(_lowered(jump), quorum, [1, 11], tmp_path / "lowered")
    assert any(
        code in ("KT-REC-LOSES", "KT-REC-TWO-QUORUMS", "KT-REC-ENDS") and severity is Severity.ERROR
        for code, severity in codes(rehearsal)
    ), rehearsal.findings


def _jumped(quorum: Quorum) -> Plan:
    request = PlanRequest(surveys=(), now_ms=NOW, method=Method.SNAPSHOT_JUMP)
    request = with_settings(request, ["lost=2,3"])
    paths = [str(quorum[node]) for node in (1, 11)]
    return plan_for(read_quorum(paths, now_ms=NOW).asked(request))


def _lowered(plan: Plan) -> Plan:
    """The same checkpoint at offset 160 of epoch 6."""
    state = quorum_state.encode(quorum_state.QuorumState(data_version=1, leader_epoch=6))
    seed = plan.host(plan.seed)
    assert seed is not None
    edits = []
    for edit in seed.edits:
        if edit.snapshot is not None:
            recipe = replace(edit.snapshot, offset=160, epoch=6)
            edit = replace(edit, target=target_of(write_checkpoint_name(160, 6)), snapshot=recipe)
        elif edit.target.kind is PlanFileKind.QUORUM_STATE:
            edit = replace(edit, after=Fingerprint.of(state), pieces=(Piece(data=state),))
        edits.append(edit)
    hosts = [replace(seed, edits=tuple(edits)) if host is seed else host for host in plan.hosts]
    return replace(plan, hosts=tuple(hosts))


def test_a_mended_directory_elects_with_the_others(tmp_path: Path) -> None:
    quorum = Quorum(tmp_path / "quorum", EQUAL, [1, 2, 3])
    (quorum.partition(2) / "quorum-state").write_bytes(b"")
    plan = quorum.plan()
    assert plan.method is Method.MEND
    rehearsal = rehearsed(plan, quorum, [1, 2, 3], tmp_path / "kept")
    assert rehearsal.is_well
    assert rehearsal.elections is not None
    (trial,) = rehearsal.elections.trials
    assert trial.leaderless_runs == 0
    same = tuple((node, (1, 2, 3)) for node in (1, 2, 3))
    assert {ending.voters_by_node for ending in trial.endings} == {same}


def test_without_a_majority_of_the_voters_nothing_is_shown_and_that_is_told(
    tmp_path: Path,
) -> None:
    quorum = Quorum(tmp_path / "quorum", EQUAL, [1, 2, 3])
    (quorum.partition(2) / "quorum-state").write_bytes(b"")
    plan = quorum.plan()
    rehearsal = rehearsed(plan, quorum, [2], tmp_path / "kept")
    assert rehearsal.elections is not None
    assert (rehearsal.elections.absent, rehearsal.elections.trials) == ((1, 3), ())
    assert rehearsal.not_given == ("node-1", "node-3")
    assert codes(rehearsal) == {("KT-REC-NOT-SHOWN", Severity.WARNING)}


@pytest.fixture
def started_late(tmp_path: Path) -> Quorum:
    """Node 1's log begins at its newest snapshot by a plan, an older one is left; 2 is empty."""
    quorum = Quorum(tmp_path / "quorum", EQUAL, [1, 2])
    newest = int(quorum.snapshots(1)[-1].name[:20])
    number = next(
        number
        for number, batch in enumerate(batches(quorum.segment(1)))
        if 10 < batch.base_offset < newest - 10
    )
    flip_in_batch(quorum.segment(1), number)
    plan = quorum.plan(nodes=[1], accept=["ahead", "incomplete"])
    assert plan.cases == ("rest-kept",)
    quorum.carry_out(plan)
    assert int(quorum.snapshots(1)[0].name[:20]) < newest, "which a start of Kafka removes"
    for path in quorum.partition(2).iterdir():
        if path.is_file() and path.name != "quorum-state":
            path.unlink()
    return quorum


def test_snapshots_below_the_log_do_not_keep_a_simulated_leader_from_leading(
    started_late: Quorum,
) -> None:
    """Kafka 4.3.0 removes them at its start, and led in such a case."""
    case = read_case([str(started_late[1]), str(started_late[2])])
    ending = Returning(case, Conditions(), 0, (), Way.AFTERWARDS).ending()
    assert (ending.leader_id, ending.leaders) == (1, ((1, 7),))


def test_real_nodes_that_lead_are_believed_against_the_simulator(tmp_path: Path) -> None:
    quorum = Quorum(tmp_path / "quorum", EQUAL, [1, 2, 3])
    (quorum.partition(2) / "quorum-state").write_bytes(b"")
    rehearsal = rehearsed(quorum.plan(), quorum, [1, 2, 3], tmp_path / "kept")
    assert rehearsal.elections is not None
    (trial,) = rehearsal.elections.trials
    silent = replace(trial, endings=tuple(Ending(seed=ending.seed) for ending in trial.endings))
    rehearsal = replace(rehearsal, elections=replace(rehearsal.elections, trials=(silent,)))
    assert codes(rehearsal) == {("KT-REC-NO-LEADER", Severity.ERROR)}
    rehearsal = replace(rehearsal, nodes=NodesRehearsal(software="Kafka 4.3.0"))
    assert codes(rehearsal) == {("KT-REC-NO-LEADER", Severity.ERROR)}
    rehearsal = replace(rehearsal, nodes=NodesRehearsal(software="Kafka 4.3.0", leader_id=2))
    assert codes(rehearsal) == {("KT-REC-SIMULATOR-DIFFERS", Severity.WARNING)}
    assert "Kafka 4.3.0 elected one" in rehearsal.findings[0].text


def test_the_same_seeds_give_the_same_endings(tmp_path: Path) -> None:
    quorum = Quorum(tmp_path / "quorum", EQUAL, [1, 11])
    plan = quorum.plan("lost=2,3")
    one, other = (rehearsed(plan, quorum, [1, 11], tmp_path / name) for name in ("a", "b"))
    assert one.elections == other.elections


def test_settings_that_are_no_ids_are_passed_over(tmp_path: Path) -> None:
    quorum = Quorum(tmp_path / "quorum", EQUAL, [1, 11])
    plan = quorum.plan("lost=2,3")
    strange = RequiredSetting(key="controller.quorum.voters", value="x@y:1, ,1@")
    hosts = [replace(host, settings=(strange,)) for host in plan.hosts]
    rehearsal = rehearsed(replace(plan, hosts=tuple(hosts)), quorum, [1, 11], tmp_path / "kept")
    assert rehearsal.is_well, "kraft.version 1 looks at no setting"
