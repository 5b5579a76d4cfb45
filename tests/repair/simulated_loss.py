"""A simulated quorum loses voters, and is repaired by the real plan and the real apply.

Owns a history's first two parts: a quorum with faults, ended at any moment; and directories of its
disks, surveyed, planned for and repaired. How it goes on is `simulated_recovery.py`'s.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from random import Random

from kraftool.decoders.errors import KraftoolError
from kraftool.repair.apply import Apply
from kraftool.repair.plan import Method, Plan
from kraftool.repair.planner import plan_for, read_quorum
from kraftool.repair.request import PlanRequest, with_settings
from kraftool.reports.election.assessment import LossBound
from kraftool.reports.state.load import load_state
from kraftool.sim.disk import Disk
from tests.repair.directories import NOW
from tests.repair.repair_cases import NoSync
from tests.repair.simulated_directories import (
    CLUSTER,
    Reader,
    Records,
    numbers_in,
    write,
)
from tests.simulator.checkers import CHECKERS
from tests.simulator.checkers.base import checked_world
from tests.simulator.node import Node
from tests.simulator.options import Options
from tests.simulator.runner import Play

BEFORE = ("kill", "crash", "partition", "loss", "duplication", "delay", "slow-disk", "pause")
"""What goes wrong until the majority is lost."""
AFTER = (*BEFORE, "corruption", "skew", "resign")
"""What goes wrong in the recovered quorum."""


class Return(Enum):
    """When old voters come back, and whom they reach."""

    NEVER = "never"
    AFTERWARDS = "afterwards, all at once"
    ONE_BY_ONE = "afterwards, each when the one before follows"
    BEFORE = "before, and while it is recovered"
    APART = "apart, and meets the new leader in the end"
    APART_FOR_EVER = "apart"


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """What is tried with a seed; what is None is drawn from it."""

    dynamic: bool | None = None
    method: Method | None = None
    """Asked for; the planner chooses otherwise."""
    fence: bool = False
    returns: Return | None = None
    everyone_given: bool = False
    """Whether the planner sees all directories that are left, and may append."""
    only_behind: bool = False
    """Whether only those return that were not ahead of the seed."""
    old_settings: bool = False
    """Whether static voters return with the old controller.quorum.voters."""
    mortal: bool = False
    """Whether processes may end by the protocol, to be started again; it is a violation else."""
    rough: bool = False
    """Whether faults go on while old voters return: the leader ends, or is not reached."""
    faults: tuple[str, ...] = AFTER
    lost: str = "majority"
    """Or `minority`: then a seed is asked for."""
    trace: bool = False


APPEND = Case(dynamic=True, method=Method.APPEND, everyone_given=True, only_behind=True)
JUMP = Case(dynamic=True, method=Method.SNAPSHOT_JUMP)
FENCED = Case(fence=True, rough=True)
"""With a new cluster id, whatever the method: nothing has to be waited for, and nobody reached."""


class NothingLeft(Exception):
    """No voter is left that has anything: there is nothing to plan for."""


class NotAllowed(NothingLeft):
    """The planner refuses the method that was asked for, and rightly so."""


# --- the quorum that is lost ---------------------------------------------------------------------


class Past:
    """A quorum until most of it is gone."""

    def __init__(self, random: Random, case: Case) -> None:
        self.random = random
        self.dynamic = random.random() < 0.6 if case.dynamic is None else case.dynamic
        voters, observers = random.choice((3, 3, 4, 5)), random.randrange(3)
        self.voters = range(1, voters + 1)
        self.observers = range(voters + 1, voters + observers + 1)
        faults = (*BEFORE, "voters") if self.dynamic and random.random() < 0.3 else BEFORE
        options = Options(
            voters=voters,
            observers=observers,
            dynamic=self.dynamic,
            faults=tuple(random.sample(faults, random.randrange(1, len(faults)))),
        )
        self.checkers = [checker() for checker in CHECKERS]
        world = self.world = checked_world(options, random, self.checkers)
        for node in world.nodes.values():
            world.after(random.randrange(30), node.start)
        Play(world).trouble(random.randrange(6_000, 20_000))
        for node in world.nodes.values():
            node.end(power=random.random() < 0.5)
        self.nodes = dict(world.nodes)
        self.committed = numbers_in(world.committed.items)
        self._lose(case)

    def _lose(self, case: Case) -> None:
        """Choose whose disks are lost, and which of the others are given to the planner."""
        random = self.random
        members = sorted(max(self.nodes.values(), key=_rank).voters.ids)
        fewest = (len(members) + 1) // 2
        if case.lost == "majority":
            lost = random.sample(members, random.randrange(fewest, max(len(members), fewest + 1)))
        else:
            lost = random.sample(members, random.randrange(fewest))
        left = [member for member in members if member not in lost]
        others = [node for node in self.nodes if node not in members]
        chance = 1.0 if case.everyone_given else 0.7
        self.given = left + [other for other in others if random.random() < chance]
        usable = [node_id for node_id in left if self.nodes[node_id].disk.log.end > 0]
        if not usable:
            raise NothingLeft
        known = sorted(self.best.voters.ids)
        self.lost = [node_id for node_id in known if node_id not in self.given]
        """Of those that the newest log that is left names as voters, as a person would say it."""
        usable = [node_id for node_id in usable if node_id in known]
        is_lost = len(known) - len(self.lost) <= len(known) // 2
        has_begun = 0 in self.numbers_of(self.best)  # metadata.version is known
        if not usable or not has_begun or is_lost != (case.lost == "majority"):
            raise NothingLeft
        self.known = known
        self.members = sorted({*members, *known})
        self.asked_for = random.choice(usable) if case.lost == "minority" else None

    @property
    def best(self) -> Node:
        """Of those that are given: the last epoch first, then the offset."""
        return max((self.nodes[node_id] for node_id in self.given), key=_rank)

    def numbers_of(self, node: Node) -> list[int]:
        log = node.disk.log
        return numbers_in(self.world.committed.between(0, log.start)) + numbers_in(log.items)


def _rank(node: Node) -> tuple[int, int]:
    return node.disk.last_epoch, node.disk.log.end


# --- the repair ----------------------------------------------------------------------------------


class Repaired:
    """The directories of what is left, planned for and repaired; and what is on them then."""

    def __init__(self, past: Past, root: Path, case: Case) -> None:
        self.past = past
        self.records = Records(past.observers)
        disks = {node.id: node.disk for node in past.nodes.values()}
        paths = {
            node_id: write(
                disks[node_id],
                root / f"node-{node_id}",
                past.nodes[node_id].settings,
                self.records,
                past.world.committed,
                past.random,
            )
            for node_id in past.given
        }
        self.plan = self._planned([str(paths[node_id]) for node_id in past.given], case)
        data = {f"node-{node_id}": str(paths[node_id].parent / "data") for node_id in past.given}
        self.data = data
        for host in self.plan.hosts:
            if host.edits:
                names = {edit.snapshot.source for edit in host.edits if edit.snapshot is not None}
                sources = {name: where for name, where in data.items() if name in names}
                with Apply(self.plan, data[host.name], sources=sources, files=NoSync()) as apply:
                    apply.carry_out(NOW, "1.0")
        reader = Reader(self.records, disks.values())
        self.disks, self.clusters = disks, dict.fromkeys(disks, CLUSTER)
        for node_id in past.given:
            self.disks[node_id], self.clusters[node_id] = reader.read(Path(data[f"node-{node_id}"]))
        seed = self.plan.host(self.plan.seed)
        assert seed is not None
        assert seed.identity.node_id is not None
        self.seed = seed.identity.node_id
        self.before = past.nodes[self.seed].disk

    def _planned(self, paths: Sequence[str], case: Case) -> Plan:
        settings = [f"lost={','.join(map(str, self.past.lost))}"] if self.past.lost else []
        if self.past.asked_for is not None:
            settings.append(f"seed={self.past.asked_for}")
        request = PlanRequest(
            surveys=(),
            now_ms=NOW,
            method=case.method,
            kafka_version="4.3.0",
            fence=case.fence,
            cluster_id="YW5vdGhlci1jbHVzdGVyLg" if case.fence else "",
        )
        request = with_settings(request, settings)
        read = read_quorum(paths, now_ms=NOW)
        try:
            return plan_for(read.asked(request))
        except KraftoolError:
            if case.method is Method.APPEND and self._is_somebody_ahead():
                raise NotAllowed from None
            raise

    def _is_somebody_ahead(self) -> bool:
        """Of those that are given, by what is on their disks."""
        given = [self.past.nodes[node_id] for node_id in self.past.given]
        seed = max((node for node in given if node.id in self.past.known), key=_rank)
        reach = max(
            max(node.disk.log.end, *(key.offset for key in node.disk.snapshots), 0)
            for node in given
        )
        return reach > seed.disk.log.end or max(map(_rank, given)) > _rank(seed)

    @property
    def disk(self) -> Disk:
        return self.disks[self.seed]

    @property
    def written(self) -> set[tuple[int, int]]:
        """Where the repair wrote a voter set into the log."""
        log = self.disk.log
        return {(log.end - 1, log.items[-1].epoch)} if self.plan.method is Method.APPEND else set()

    @property
    def jumps(self) -> bool:
        """Whether the seed goes on from a checkpoint."""
        return not self.disk.log.items and self.disk.newest is not None

    @property
    def numbers(self) -> list[int]:
        """What the recovered state is made of, as a start of the seed reads it."""
        return self.records.of_image(load_state(self.data[f"node-{self.seed}"]).image)

    def is_behind(self, node: Node) -> bool:
        """Whether a node was not ahead of the seed, neither by its log nor by a snapshot."""
        end = self.before.log.end
        newest = max((snapshot.offset for snapshot in node.disk.snapshots), default=0)
        return (
            _rank(node) <= (self.before.last_epoch, end) and max(node.disk.log.end, newest) <= end
        )


def repaired_quorum(random: Random, root: Path, case: Case) -> Repaired:
    """A quorum that was lost and repaired, and not started yet."""
    past = Past(random, case)
    repaired = Repaired(past, root, case)
    _judge_state(past, repaired)
    return repaired


def _judge_state(past: Past, repaired: Repaired) -> None:
    """The repair keeps the best state that was given, and its verdict says what is lost."""
    expected = past.numbers_of(past.best)
    numbers = repaired.numbers
    assert numbers == expected, "the recovered state is that of the best directory"
    missing = set(past.committed) - set(numbers)
    match repaired.plan.loss.verdict:
        case LossBound.NONE:
            assert not missing, f"said to be lost: none, and {len(missing)} records are"
        case LossBound.POSSIBLE:
            equal = sum(_rank(past.nodes[voter]) == _rank(past.best) for voter in past.known)
            is_shown = not past.lost and equal > len(past.known) // 2
            assert not is_shown, "every voter is there, and a majority ends where the best log does"
        case LossBound.BOUNDED:
            lost_count = sum(
                one.count for record in repaired.plan.loss.records for one in record.types
            )
            assert len(missing) <= lost_count
        case _:
            assert 2 * len(past.lost) >= len(past.known)
