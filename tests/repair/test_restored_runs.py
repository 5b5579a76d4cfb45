"""Damaged logs of several nodes, each restored with the good batches of the others."""

from __future__ import annotations

import os
import random
import re
from collections.abc import Callable
from itertools import combinations, permutations
from pathlib import Path

import pytest
from crc32c import crc32c

from kraftool.decoders.errors import KraftoolError
from kraftool.repair.log_runs import BatchKey, LogCopies, PlacedBatch
from kraftool.repair.plan import Action, Method
from kraftool.reports.election.assessment import LossBound
from tests.repair.directories import (
    EQUAL,
    Quorum,
    batches,
    cut_log,
    flip,
    flip_in_batch,
    mended,
    state_of,
)
from tests.repair.repair_cases import apply, undo

pytestmark = pytest.mark.slow

VOTERS = (1, 2, 3)
SOAK = os.environ.get("KRAFTOOL_SOAK") == "1"


@pytest.fixture
def quorum(tmp_path: Path) -> Quorum:
    """Three equal logs; no snapshot is beyond the damage of the tests."""
    made = Quorum(tmp_path, EQUAL, VOTERS)
    for node in VOTERS:
        for snapshot in made.snapshots(node):
            if snapshot.name.startswith(f"{144:020}"):
                snapshot.unlink()
    return made


def logs(quorum: Quorum) -> dict[int, bytes]:
    return {voter: quorum.segment(voter).read_bytes() for voter in VOTERS}


def damage_three(quorum: Quorum) -> None:
    for node, number in ((1, 20), (2, 50), (3, 40)):
        flip_in_batch(quorum.segment(node), number)


def test_three_damaged_logs_restore_each_other(quorum: Quorum) -> None:
    """Together they prove the whole log; from one source each would lose what is behind."""
    whole, state = logs(quorum), state_of(quorum[1])
    damage_three(quorum)
    plan = quorum.plan()
    assert plan.cases == ("restored-runs",)
    assert plan.loss.verdict is LossBound.NONE
    assert "offset 34 from node-" in plan.summary[0]
    assert "the rest from node-1 itself" in plan.summary[0]
    quorum.carry_out(plan)
    assert logs(quorum) == whole
    assert {state_of(quorum[voter]) for voter in VOTERS} == {state}
    assert quorum.plan().method is Method.NONE


def test_the_plan_is_applied_and_undone_host_by_host(quorum: Quorum) -> None:
    """Each host lends what it was before the plan, whichever comes first."""
    whole = logs(quorum)
    damage_three(quorum)
    damaged = logs(quorum)
    plan = quorum.plan()
    assert len([step for step in plan.steps if step.action is Action.COPY]) >= 3
    commands = " ".join(one for step in plan.steps for one in step.commands)
    assert "--source node-" in commands
    folders = {f"node-{voter}": str(quorum[voter]) for voter in VOTERS}
    for node in VOTERS:
        apply(plan, quorum[node], sources=folders)
    assert logs(quorum) == whole
    for node in VOTERS:
        undo(plan, quorum[node])
    assert logs(quorum) == damaged


def cut_out(quorum: Quorum) -> None:
    """Whole batches are missing in the middle of one log."""
    path = quorum.segment(1)
    data, log_batches = path.read_bytes(), batches(path)
    path.write_bytes(data[: log_batches[20].position] + data[log_batches[23].position :])


def zeroed(quorum: Quorum) -> None:
    """A sector of one log is zero, over the borders of batches."""
    path = quorum.segment(1)
    data = path.read_bytes()
    path.write_bytes(data[:4096] + bytes(512) + data[4608:])


def damaged_at_its_end(quorum: Quorum) -> None:
    flip_in_batch(quorum.segment(1), -1)


def in_two_places(quorum: Quorum) -> None:
    flip_in_batch(quorum.segment(1), 20)
    flip_in_batch(quorum.segment(1), 60)


@pytest.mark.parametrize("damage", [cut_out, zeroed, damaged_at_its_end, in_two_places])
def test_kinds_of_damage(quorum: Quorum, damage: Callable[[Quorum], None]) -> None:
    whole = logs(quorum)
    damage(quorum)
    flip_in_batch(quorum.segment(2), 50)
    flip_in_batch(quorum.segment(3), 40)
    mended(quorum, 1, quorum.plan(), "restored-runs")
    assert logs(quorum) == whole


def test_a_lost_majority_goes_on_with_the_restored_log(quorum: Quorum) -> None:
    """The state of one survivor's log, with batches of the other one."""
    state = state_of(quorum[1])
    flip_in_batch(quorum.segment(1), 20)
    flip_in_batch(quorum.segment(2), 50)
    settings = ("lost=3", "seed=1", "endpoint.1=CONTROLLER://127.0.0.1:9093")
    plan = quorum.plan(*settings, nodes=[1, 2], accept=["ahead"])
    assert plan.loss.verdict is LossBound.NONE
    assert "restored-runs" in plan.cases
    back = [text for text in plan.summary if "gets back the log that it had" in text]
    assert [text.partition(":")[0] for text in back] == ["node-1"], "node 2 lends, and stays"
    quorum.carry_out(plan)
    assert state_of(quorum[1]) == state


def test_one_nodes_own_tail_comes_back_to_it_alone(quorum: Quorum) -> None:
    """No other node gets a record that its log did not have, committed or not."""
    for node in (1, 2):  # node 3 led the last epoch
        cut_log(quorum, node, 6)
    whole = logs(quorum)
    damage = ((1, 20), (2, 50), (3, 40))
    for node, number in damage:
        flip_in_batch(quorum.segment(node), number)
    quorum.carry_out(quorum.plan())
    assert logs(quorum) == whole


def test_other_bytes_at_one_offset_of_one_epoch_prove_nothing(quorum: Quorum) -> None:
    """Two leaders wrote, or a log was altered: neither of the two batches is taken."""
    place = batches(quorum.segment(2))[56]
    flip_in_batch(quorum.segment(1), 56)
    flip_in_batch(quorum.segment(3), 40)
    data = bytearray(quorum.segment(2).read_bytes())
    altered = data[place.position : place.position + place.size]
    altered[-3] ^= 0x41
    altered[17:21] = crc32c(bytes(altered[21:])).to_bytes(4, "big")
    data[place.position : place.position + place.size] = altered
    quorum.segment(2).write_bytes(bytes(data))
    flip_in_batch(quorum.segment(2), 50)
    plan = quorum.plan(accept=["ahead", "diverged"])
    assert all(f"offset {place.base_offset} from" not in line for line in plan.summary)
    assert "diverged" in {risk.word for risk in plan.risks}


# --- the proof ------------------------------------------------------------------------------


def key(base: int, epoch: int, crc: int = 0) -> BatchKey:
    return BatchKey(base, base + 1, epoch, crc or base, 10)


def copies(**nodes: list[BatchKey]) -> LogCopies:
    return LogCopies(
        {
            name: [PlacedBatch(batch_key, 0, 10 * batch_key.base_offset) for batch_key in keys]
            for name, keys in nodes.items()
        }
    )


def test_the_first_batch_of_an_epoch_follows_what_its_leader_had() -> None:
    """Node b has an uncommitted offset 3 of epoch 1. The leader of epoch 2 did not have it."""
    damaged = [key(0, 1), key(1, 1), key(4, 2)]
    tail = [key(0, 1), key(1, 1), key(2, 1), key(3, 1)]
    assert copies(a=damaged, b=tail).between(key(1, 1), 2, key(4, 2)) == []
    leader = [key(2, 1), key(3, 2), key(4, 2)]
    keys = copies(a=damaged, b=tail, c=leader).between(key(1, 1), 2, key(4, 2))
    assert keys == [key(2, 1), key(3, 2)], "of epoch 2, and not the tail of epoch 1"


def test_runs_of_several_nodes_join_where_one_has_both_or_the_epoch_is_one() -> None:
    damaged = [key(0, 1), key(4, 1)]
    one, two = [key(1, 1), key(2, 1)], [key(3, 1)]
    assert copies(a=damaged, b=one, c=two).between(key(0, 1), 1, key(4, 1)) == [
        key(1, 1), key(2, 1), key(3, 1),
    ]  # fmt: skip
    other = [key(3, 1, crc=99)]
    assert copies(a=damaged, b=one, c=two, d=other).between(key(0, 1), 1, key(4, 1)) == []
    assert copies(a=damaged, b=one).between(key(0, 1), 1, key(4, 1)) == []


# --- the order of mending -------------------------------------------------------------------


def ends(quorum: Quorum) -> int:
    """Up to where the best log of the quorum can be trusted."""
    return max(quorum.survey(voter).end.offset for voter in VOTERS)


def one_by_one(quorum: Quorum, order: tuple[int, ...]) -> int:
    """How far the logs go if each directory is repaired alone, and then all together."""
    for node in order:
        try:
            plan = quorum.plan(nodes=[node], accept=["ahead"], is_collected=True)
        except KraftoolError:
            continue
        if plan.changes:
            quorum.carry_out(plan)
    return ends(quorum)


def as_advised(quorum: Quorum) -> int:
    """How far the logs go by the plan for all, and by what a refusal says to do first."""
    try:
        plan = quorum.plan(accept=["ahead"])
    except KraftoolError as refused:
        (first,) = re.findall(r"recover plan with node-(\d) alone", refused.hint)
        quorum.carry_out(quorum.plan(nodes=[int(first)], accept=["ahead"]))
        plan = quorum.plan(accept=["ahead"])
    quorum.carry_out(plan)
    return ends(quorum)


@pytest.mark.parametrize("seed", range(60 if SOAK else 3))
def test_no_order_of_single_repairs_keeps_more(tmp_path: Path, seed: int) -> None:
    """Random damage in three logs; brute force over the directories that are repaired first."""
    chosen = random.Random(seed)
    numbers = {node: chosen.sample(range(1, 50), chosen.randint(1, 3)) for node in VOTERS}

    def damaged(name: str) -> Quorum:
        made = Quorum(tmp_path / name, EQUAL, VOTERS)
        for node in VOTERS:
            for snapshot in made.snapshots(node):
                if snapshot.name.startswith(f"{144:020}"):
                    snapshot.unlink()
            log_batches = batches(made.segment(node))
            late = [record_batch for record_batch in log_batches if record_batch.base_offset >= 47]
            for number in sorted(numbers[node]):
                batch = late[number]
                flip(made.segment(node), batch.position + batch.size - 3)
        return made

    together = damaged("together")
    best = as_advised(together)
    tried = {
        order: one_by_one(damaged("".join(map(str, order))), order)
        for size in (1, 2, 3)
        for order in permutations(VOTERS, size)
    }
    assert best >= max(tried.values()), (numbers, best, tried)
    pairs = [
        (one, two)
        for first, second in combinations(VOTERS, 2)
        for one in numbers[first]
        for two in numbers[second]
    ]
    if all(abs(one - two) > 1 for one, two in pairs):
        assert best == 160, "no batch is damaged in two logs, nor is a neighbour of it"
