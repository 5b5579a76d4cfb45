"""Plans that are made from restored files: applied, verified and undone with what restores them."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import orjson
import pytest
import yaml

from kraftool.decoders.batch import HEADER_SIZE
from kraftool.decoders.errors import KraftoolError
from kraftool.repair.apply import Apply
from kraftool.repair.disk import RepairRefused
from kraftool.repair.document import to_document
from kraftool.repair.edits import sources_needed
from kraftool.repair.plan import Method, Plan
from kraftool.repair.plan_yaml import PlanError, plan_from_yaml
from kraftool.repair.planner import plan_for, read_quorum
from kraftool.repair.request import PlanRequest, with_settings
from kraftool.repair.verify import check_directory
from kraftool.reports.election.assessment import LossBound
from kraftool.storage.repair_journal import Stage
from tests.repair.directories import (
    APART,
    EQUAL,
    NOW,
    Quorum,
    batches,
    cut_log,
    flip,
    flip_in_batch,
    state_of,
)
from tests.repair.repair_cases import NoSync, apply, contents, undo

pytestmark = pytest.mark.slow

LEADS = ("lost=3", "seed=1", "endpoint.1=CONTROLLER://127.0.0.1:9093")


@pytest.fixture
def quorum(tmp_path: Path) -> Quorum:
    """Two voters of three with equal logs; no snapshot is beyond the damage of the tests."""
    made = Quorum(tmp_path, EQUAL, (1, 2))
    for node in (1, 2):
        for snapshot in made.snapshots(node):
            if snapshot.name.startswith(f"{144:020}"):
                snapshot.unlink()
    return made


def test_a_checkpoint_of_a_restored_log_is_applied_with_the_directory_that_lends(
    quorum: Quorum,
) -> None:
    state = state_of(quorum[1])
    flip_in_batch(quorum.segment(1), 20)
    flip_in_batch(quorum.segment(2), 50)
    plan = quorum.plan(*LEADS, accept=["ahead"])
    seed = plan.host("node-1")
    assert seed is not None
    assert [edit.target.name for edit in seed.restored] == [quorum.segment(1).name]
    assert sources_needed(plan, seed) == {"node-2"}
    before = contents(quorum[1])
    with pytest.raises(KraftoolError, match="node-2's directory, which is not given"):
        apply(plan, quorum[1])
    apply(plan, quorum[1], sources={"node-2": str(quorum[2])})
    assert state_of(quorum[1]) == state
    check = check_directory(plan, str(quorum[1]))
    assert not check.findings, check.findings
    undo(plan, quorum[1])
    assert contents(quorum[1]) == before


def test_a_log_that_the_plan_keeps_is_restored_on_the_disk_too(tmp_path: Path) -> None:
    """An append keeps the log: Kafka would cut it at the bit."""
    quorum = Quorum(tmp_path, EQUAL, (1, 2, 3, 11))
    path = quorum.segment(1)
    whole = path.read_bytes()
    flip(path, batches(path)[60].position + HEADER_SIZE + 2, 8)
    plan = quorum.plan("lost=2,3", nodes=[1, 11])
    assert (plan.method, plan.seed) == (Method.APPEND, "node-1")
    assert plan.cases == ("majority-lost", "flipped-bit")
    before = contents(quorum[1])
    apply(plan, quorum[1])
    assert path.read_bytes() == whole
    assert quorum.segment(1) != path, "the voters are in a segment of their own"
    undo(plan, quorum[1])
    assert contents(quorum[1]) == before


def test_a_log_with_a_flipped_bit_lends_its_batch_with_the_bit_put_back(quorum: Quorum) -> None:
    """Node 2 is behind, so that its log alone is no source for node 1."""
    cut_log(quorum, 2, 6)
    whole = quorum.segment(1).read_bytes()
    flip_in_batch(quorum.segment(1), 40)
    path = quorum.segment(2)
    flip(path, batches(path)[40].position + HEADER_SIZE + 2, 8)
    plan = quorum.plan()
    assert plan.loss.verdict is not LossBound.UNBOUNDED
    assert plan.cases == ("restored-runs", "flipped-bit")
    lender = Path(str(quorum[2]))
    apply(plan, quorum[1], sources={"node-2": str(lender)})
    assert quorum.segment(1).read_bytes() == whole


def test_the_state_behind_damage_is_fenced_off_with_its_directory(tmp_path: Path) -> None:
    """The state is another node's, whose log is damaged before its snapshot and whole behind. All
    that the plan changes in that node is the cluster id."""
    quorum = Quorum(tmp_path, APART, (3, 11))
    state = state_of(quorum[11])
    cut_log(quorum, 3, 30)
    for node in (3, 11):  # so that neither restores the other
        flip_in_batch(quorum.segment(node), 20)
    damaged = quorum.segment(11).read_bytes()
    paths = [str(quorum[node]) for node in (3, 11)]
    request = with_settings(PlanRequest(surveys=(), now_ms=NOW, fence=True), ["lost=2,4"])
    request = replace(request, cluster_id="AAAAAAAAAAAAAAAAAAAAAg", accepted=frozenset({"ahead"}))
    plan = plan_for(read_quorum(paths, now_ms=NOW).asked(request))
    assert plan.seed == "node-3"
    assert "rest-kept" in plan.cases
    apply(plan, quorum[3], sources={"node-11": str(quorum[11])})
    apply(plan, quorum[11])
    assert state_of(quorum[3]) == state
    assert quorum.segment(11).read_bytes() == damaged


# --- a plan of an earlier kraftool ------------------------------------------------------------


@pytest.fixture
def planned(tmp_path: Path) -> tuple[Quorum, Plan]:
    quorum = Quorum(tmp_path, APART, (3,))
    path = quorum.segment(3)
    flip(path, batches(path)[60].position + HEADER_SIZE + 2, 8)
    return quorum, quorum.plan("lost=2,4")


def earlier_file(plan: Plan, **changed: Any) -> bytes:
    """The file with which an earlier kraftool had the same plan."""
    document = to_document(plan)
    for host in document["hosts"]:
        flipped = [
            {"target": one["target"], "before": one["before"], "after": one["after"],
             "bits": one["flipped"]}
            for one in host.pop("restored", ())
        ]  # fmt: skip
        for edit in host["edits"]:
            if "snapshot" in edit:
                edit["snapshot"]["flipped"] = flipped
    plan_id = hashlib.sha256(orjson.dumps(document, option=orjson.OPT_SORT_KEYS)).hexdigest()
    return yaml.safe_dump({"id": plan_id, **document, **changed}, sort_keys=False).encode()


@dataclass(frozen=True, slots=True, kw_only=True)
class AppliedBefore(Plan):
    """A plan of today with the id that an earlier kraftool gave it."""

    earlier_id: str

    @property
    def id(self) -> str:
        return self.earlier_id


def test_an_earlier_plan_that_was_applied_is_verified_and_undone(
    planned: tuple[Quorum, Plan],
) -> None:
    quorum, plan = planned
    before = contents(quorum[3])
    earlier = plan_from_yaml(earlier_file(plan))
    members = {field.name: getattr(plan, field.name) for field in fields(Plan)}
    apply(AppliedBefore(**members, earlier_id=earlier.id), quorum[3])
    check = check_directory(earlier, str(quorum[3]))
    assert check.stage is Stage.APPLIED
    assert not check.findings, check.findings
    undo(earlier, quorum[3])
    assert contents(quorum[3]) == before


def test_an_earlier_plan_is_not_applied_any_more(planned: tuple[Quorum, Plan]) -> None:
    quorum, plan = planned
    before = contents(quorum[3])
    earlier = plan_from_yaml(earlier_file(plan))
    with (
        pytest.raises(RepairRefused, match="an earlier kraftool made the plan") as refused,
        Apply(earlier, str(quorum[3]), files=NoSync()) as repair,
    ):
        repair.carry_out(NOW, "1.0")
    assert "recover plan again" in refused.value.hint
    assert contents(quorum[3]) == before


def test_an_earlier_plan_that_was_edited_is_refused(planned: tuple[Quorum, Plan]) -> None:
    _, plan = planned
    with pytest.raises(PlanError):
        plan_from_yaml(earlier_file(plan, kafkaVersion="3.9.0"))
