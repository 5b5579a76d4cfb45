"""Voters whose logs were emptied, cut or damaged, in more than a minority: what they confirmed may
be nowhere else, so that nothing but a person's word leads on.

Kafka takes such a log for a new one, or one that lags behind: its voters elect one another, and the
whole log of another is cut.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from kraftool.decoders.errors import KraftoolError
from kraftool.repair.plan import Action, Method, Plan
from kraftool.repair.verify import check_directory
from kraftool.reports.election.assessment import LossBound
from kraftool.reports.findings.finding import Severity
from tests.repair.directories import APART, Quorum, batches
from tests.repair.repair_cases import apply

pytestmark = pytest.mark.slow

STATIC = "kafka-3.7.2/static-quorum"
VOTERS = {APART: (2, 3, 4), STATIC: (1, 2, 3)}
SOLE = "kafka-4.3.0/static-single"

Damage = Callable[[bytes], bytes]
DAMAGES: dict[str, Damage] = {
    "empty": lambda data: b"",
    "ten bytes": lambda data: data[:10],
    "random": lambda data: os.urandom(len(data)),
}


def altered(path: Path, change: Damage) -> None:
    path.chmod(0o644)
    path.write_bytes(change(path.read_bytes()))


def cut(quorum: Quorum, node_id: int, share: float) -> int:
    """Leave the first batches of a log alone; where it ends then. Snapshots stay."""
    path = quorum.segment(node_id)
    log_batches = batches(path)
    first = log_batches[int(len(log_batches) * share)]
    altered(path, lambda data: data[: first.position])
    return first.base_offset


def without_snapshots(quorum: Quorum, *nodes: int) -> None:
    for node_id in nodes or quorum.directories:
        for snapshot in quorum.snapshots(node_id):
            snapshot.unlink()


@pytest.fixture(params=VOTERS)
def quorum(request: pytest.FixtureRequest, tmp_path: Path) -> Quorum:
    return Quorum(tmp_path, request.param, VOTERS[request.param])


@pytest.fixture
def apart(tmp_path: Path) -> Quorum:
    return Quorum(tmp_path, APART, (2, 3, 4, 11))


def refused(quorum: Quorum, words: str, *settings: str, nodes: list[int] | None = None) -> str:
    """The hint."""
    with pytest.raises(KraftoolError, match=words) as caught:
        quorum.plan(*settings, nodes=nodes)
    return caught.value.hint


@pytest.mark.parametrize("damage", [*DAMAGES, "gone"])
@pytest.mark.parametrize("snapshots", [True, False])
def test_a_majority_without_its_logs_is_a_lost_one(
    quorum: Quorum, damage: str, snapshots: bool
) -> None:
    if not snapshots:
        without_snapshots(quorum)
    first, *others = quorum.directories
    for other in others:
        if damage == "gone":
            quorum.segment(other).unlink()
        else:
            altered(quorum.segment(other), DAMAGES[damage])
    ids = ",".join(map(str, others))
    words = f"node-{first} may lack what was committed in it"
    assert f"--set lost={ids}" in refused(quorum, words)
    refused(quorum, words, f"lost={others[0]}", nodes=[first, others[1]])
    at = f"endpoint.{first}=CONTROLLER://127.0.0.1:9093"
    plan = quorum.plan(f"lost={ids}", at)
    assert plan.loss.verdict is LossBound.UNBOUNDED, "their snapshots are no logs"
    assert plan.seed == f"node-{first}"
    refused(quorum, "count as lost for what they confirmed", f"seed={first}", at)
    plan = quorum.plan(f"seed={first}", at, accept=["ahead"])
    assert plan.loss.verdict is LossBound.UNBOUNDED
    assert "have no whole log any more" in plan.summary[0]


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("snapshots", [True, False])
def test_one_is_made_anew_of_the_others(quorum: Quorum, damage: str, snapshots: bool) -> None:
    if not snapshots:
        without_snapshots(quorum)
    last = max(quorum.directories)
    altered(quorum.segment(last), DAMAGES[damage])
    plan = quorum.plan()
    assert plan.cases == ("rebuilt",)
    assert plan.loss.verdict is LossBound.NONE
    quorum.carry_out(plan)
    assert quorum.plan().method is Method.NONE


@pytest.mark.parametrize("damage", DAMAGES)
def test_all_logs_emptied_is_nothing_to_go_on_from(quorum: Quorum, damage: str) -> None:
    for directory in quorum.directories:
        altered(quorum.segment(directory), DAMAGES[damage])
    if damage != "random":
        assert "--set seed=" in refused(quorum, "is a voter, and its log")
    without_snapshots(quorum)
    refused(quorum, "no directory has any metadata")


def test_a_broker_alone_has_records(apart: Quorum) -> None:
    """The state is its own; what the voters confirmed since is not known."""
    without_snapshots(apart)
    for node in (2, 3, 4):
        altered(apart.segment(node), lambda data: b"")
    assert "--set seed=" in refused(apart, "node-11 may lack what was committed in it")
    refused(apart, "count as lost for what they confirmed", "seed=2")
    plan = apart.plan("seed=2", accept=["ahead"])
    assert plan.loss.verdict is LossBound.UNBOUNDED
    assert "Node 2 itself has no record" in "; ".join(plan.summary)


def test_a_brokers_torn_log_without_a_record_is_kafkas_to_cut(apart: Quorum) -> None:
    altered(apart.segment(11), DAMAGES["ten bytes"])
    plan = apart.plan()
    assert plan.method is Method.NONE
    assert "the log has a torn tail and no record before it" in plan.summary[1]


def test_a_broker_that_is_emptied_fetches_again(apart: Quorum) -> None:
    altered(apart.segment(11), lambda data: b"")
    assert apart.plan().method is Method.NONE


def begun(quorum: Quorum, epoch: int | None) -> None:
    """Directories that were formatted and started, and had no leader."""
    without_snapshots(quorum)
    for directory in quorum.directories:
        folder = quorum.partition(directory)
        altered(quorum.segment(directory), lambda data: b"")
        (folder / "leader-epoch-checkpoint").write_bytes(b"0\n0\n")
        file = folder / "quorum-state"
        state = json.loads(file.read_bytes()) | {"leaderId": -1, "votedId": -1}
        file.write_text(json.dumps(state | {"leaderEpoch": epoch or 0}))
        if epoch is None:
            file.unlink()


def test_a_quorum_that_never_had_a_leader_needs_nothing(tmp_path: Path) -> None:
    quorum = Quorum(tmp_path, STATIC, VOTERS[STATIC])
    begun(quorum, 0)
    summary = quorum.plan().summary[0]
    assert summary.startswith("No action needed: kraftool read the directories of 3 of 3 voters")
    begun(quorum, None)
    assert quorum.plan().method is Method.NONE


def test_one_that_had_an_epoch_is_not_taken_for_new(tmp_path: Path) -> None:
    quorum = Quorum(tmp_path, STATIC, VOTERS[STATIC])
    begun(quorum, 1)
    refused(quorum, "no directory has any metadata")


def test_a_log_that_begins_at_a_snapshot_from_the_leader_is_whole(apart: Quorum) -> None:
    """As Kafka leaves a voter that took a snapshot and has had no record since."""
    folder = apart.partition(4)
    newest = apart.snapshots(4)[-1]
    apart.segment(4).unlink()
    (folder / f"{newest.name[:20]}.log").write_bytes(b"")
    (folder / "leader-epoch-checkpoint").write_bytes(b"0\n0\n")
    assert apart.plan().method is Method.NONE
    (folder / "leader-epoch-checkpoint").write_bytes(b"0\n1\n3 200\n")
    assert apart.plan().cases == ("rebuilt",), "it had records of that epoch"


# --- logs that are cut ------------------------------------------------------------------------


def test_a_log_that_ends_before_its_own_snapshot_is_a_lost_one(quorum: Quorum) -> None:
    """Kafka wipes it for the snapshot, and what was behind that is gone."""
    _, *others = quorum.directories
    end = cut(quorum, others[1], 0.4)
    plan = quorum.plan()
    assert f"its log ends at offset {end}, before its own snapshot" in plan.summary[0]
    assert plan.loss.verdict is LossBound.NONE
    cut(quorum, others[0], 0.4)
    refused(quorum, "may lack what was committed in it")


def test_what_a_snapshot_says_was_confirmed_a_majority_must_have(apart: Quorum) -> None:
    """Each log by itself is one that lags behind."""
    without_snapshots(apart, 3, 4)
    for node in (3, 4):
        cut(apart, node, 0.4)
    nodes = [2, 3, 4]
    plan = apart.plan(nodes=nodes)
    assert plan.method is Method.NONE
    assert plan.loss.verdict is LossBound.POSSIBLE
    assert "node 2 has a snapshot at 203, which a majority had confirmed" in plan.loss.text
    assert "No action needed" not in plan.summary[0]


def test_one_voter_may_lag_behind_a_snapshot(apart: Quorum) -> None:
    without_snapshots(apart, 4)
    cut(apart, 4, 0.4)
    assert apart.plan().method is Method.NONE


def test_what_only_a_broker_has_was_on_a_leader_before(apart: Quorum) -> None:
    without_snapshots(apart)
    for node in (2, 3, 4):
        cut(apart, node, 0.4)
    refused(apart, "node 2 lacks records up to offset 223 that it wrote as leader of epoch 3")
    plan = apart.plan(accept=["ahead"])
    assert plan.loss.verdict is LossBound.UNBOUNDED, "a majority forgot what it confirmed"
    assert plan.method is Method.REBUILD, "a voter gets the broker's log"
    # The leader of the last epoch lacks its own records: the broker may have lagged behind it.
    refused(apart, "committed records from offset 224 on may exist", "seed=2")
    seeded = apart.plan("seed=2", accept=["ahead"])
    assert seeded.loss.verdict is LossBound.UNBOUNDED
    apart.carry_out(plan)
    first = next(step.hosts for step in plan.steps if step.action is Action.START)
    ends = [apart.survey(int(host.removeprefix("node-"))).end.offset for host in first]
    assert max(ends) == 224


def test_how_far_a_damaged_log_went_is_not_known(apart: Quorum) -> None:
    """Of three voters the only whole one is shorter than the others were."""
    without_snapshots(apart)
    cut(apart, 2, 0.9)
    for node in (3, 4):
        half = apart.segment(node).stat().st_size // 2

        def second_half_random(data: bytes, half: int = half) -> bytes:
            return data[:half] + os.urandom(half)

        altered(apart.segment(node), second_half_random)
    nodes = [2, 3, 4]
    refused(apart, "the end of its damaged log is unknown", nodes=nodes)
    plan = apart.plan(nodes=nodes, accept=["ahead"])
    assert plan.loss.verdict is LossBound.UNBOUNDED
    refused(apart, "node 2 lacks records up to offset 223 that it wrote")
    plan = apart.plan(accept=["ahead"])
    assert plan.loss.verdict is LossBound.UNBOUNDED, "the broker may have lagged, too"


# --- a sole voter -----------------------------------------------------------------------------


@pytest.fixture
def sole(tmp_path: Path) -> Quorum:
    return Quorum(tmp_path, SOLE, [1])


def planned(sole: Quorum) -> Plan:
    at = "endpoint.1=CONTROLLER://127.0.0.1:9093"
    refused(sole, "voter 1 has lost its log, which has no record left", "seed=1", at)
    return sole.plan("seed=1", at, accept=["ahead"])


def test_a_sole_voters_snapshot_is_not_its_log(sole: Quorum) -> None:
    altered(sole.segment(1), lambda data: b"")
    assert "--set seed=" in refused(sole, "is a voter, and its log has no record left")
    assert planned(sole).loss.verdict is LossBound.UNBOUNDED


def test_what_was_behind_the_snapshot_of_a_damaged_log_is_not_known(sole: Quorum) -> None:
    half = sole.segment(1).stat().st_size // 2
    altered(sole.segment(1), lambda data: data[:half] + os.urandom(half))
    refused(sole, "what its log had after offset 195 is unknown")
    plan: Plan = sole.plan(accept=["ahead"])
    assert plan.cases == ("snapshot-only",)
    assert plan.loss.verdict is LossBound.UNBOUNDED
    apply(plan, sole[1])
    findings = check_directory(plan, str(sole[1])).findings
    assert all(finding.severity is Severity.INFO for finding in findings), "as planned: no log"
    assert sole.plan().method is Method.NONE, "a checkpoint alone is what the plan left"
