"""Real elections: a quorum is stopped in a defined way, and its directories are started many times.

Owns the situations (how a quorum came to rest), the ways to start processes, and what the logs of
real controllers say of an election: when the raft thread ran, when the listener was open, and
who could commit first. The directories are prepared once; each start begins with a copy of them.
It refuses to predict anything: `bench/elections.py` compares with simulate-election.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from random import Random
from typing import Any

from kraftool.reports.election.case import ElectionCase
from kraftool.reports.election.read import read_case
from tests.interop import kafka
from tests.interop.clusters import Cluster, Node

_AT = re.compile(r"^\[(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d),(\d{3})\] ", re.MULTILINE)
_HAS_ROLE = "Completed transition to "
_COMMITS = re.compile(r"High watermark set to .*? for the first time for epoch (\d+) .*LeaderState")
_LISTENS = "Awaiting socket connections on"
_TRIES = 6


class NotThere(kafka.KafkaFailed):
    """The quorum came to rest in another state than the situation is about."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """A way for a quorum to come to rest."""

    name: str
    what: str
    voters: int
    stop: Callable[[Cluster], None]
    holds: Callable[[ElectionCase], bool]
    """True if the directories are what the situation is about; else the quorum is stopped again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Started:
    """One node of one start; times are milliseconds after the first process."""

    spawned_ms: int
    raft_ms: int | None = None
    """When the raft thread had its first role."""
    listening_ms: int | None = None
    committed: tuple[tuple[int, int], ...] = ()
    """(time, epoch) of each first high watermark."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Election:
    """One real start."""

    nodes: Mapping[int, Started]
    load: float
    leader: int | None = None
    """The first that led and could commit."""
    epoch: int = 0
    at_ms: int = 0


# --- how quorums come to rest -----------------------------------------------------------------


def kill_together(cluster: Cluster, *nodes: Node) -> None:
    """kill -9 of several nodes at one moment, as a power failure."""
    for node in nodes:
        assert node.process is not None
        os.kill(node.process.pid, signal.SIGSTOP)
    for node in nodes:
        assert node.process is not None
        node.process.kill()
        node.process = None
        cluster.note(f"node {node.id}: kill -9, all at one moment")


def _leader_first(cluster: Cluster) -> tuple[Node, list[Node]]:
    leader = cluster.wait_leader()
    others = [node for node in cluster.running() if node is not leader]
    cluster.wait_caught_up(*others)
    return leader, others


def _power_failure(cluster: Cluster) -> None:
    leader, others = _leader_first(cluster)
    kill_together(cluster, leader, *others)


def _in_order(cluster: Cluster) -> None:
    """SIGTERM: the followers, then the leader, each when the last one is gone."""
    leader, others = _leader_first(cluster)
    cluster.stop(*others)
    process = leader.process
    assert process is not None
    os.kill(process.pid, signal.SIGTERM)
    # Without a majority it may wait for one; an operator kills it then.
    with contextlib.suppress(kafka.KafkaFailed):
        kafka.wait_for("the leader to exit", lambda: not process.alive(), timeout=20)
    process.kill()
    leader.process = None


def _laggard(cluster: Cluster) -> None:
    leader, others = _leader_first(cluster)
    cluster.kill(others[0])
    before = _ends(cluster)[leader.id][0]
    cluster.admin(
        "configs", at_leader=True, type="BROKER", name="", set={"log.cleaner.threads": "2"}
    )
    kafka.wait_for(
        "the others to have more",
        lambda: all(_ends(cluster)[node.id][0] > before + 2 for node in (leader, others[1])),
        every=0.5,
    )
    kill_together(cluster, leader, others[1])


def _alone_before(cluster: Cluster) -> None:
    """All are killed; the old leader is then started alone until its epoch is a later one."""
    leader, others = _leader_first(cluster)
    kill_together(cluster, leader, *others)
    before = _quorum_epoch(cluster, leader)
    cluster.start(leader)
    kafka.wait_for("a later epoch", lambda: _quorum_epoch(cluster, leader) > before, every=0.2)
    cluster.kill(leader)


def _quorum_epoch(cluster: Cluster, node: Node) -> int:
    state = case_of(cluster).by_id[node.id].election
    return state.epoch if state is not None else 0


def _ends(cluster: Cluster) -> dict[int, tuple[int, int]]:
    case = case_of(cluster)
    return {node.id: (node.end.offset, node.end.epoch) for node in case.nodes}


def case_of(cluster: Cluster) -> ElectionCase:
    return read_case([str(node.directory / "server.properties") for node in cluster.controllers])


def _ex_leaders(case: ElectionCase) -> list[int]:
    return [node.id for node in case.nodes if node.election and node.election.leader_id == node.id]


def _is_even(case: ElectionCase) -> bool:
    """True if all logs are equal and one node was the leader."""
    return len({node.end for node in case.nodes}) == 1 and len(_ex_leaders(case)) == 1


def _one_is_behind(case: ElectionCase) -> bool:
    ends = sorted((node.end.epoch, node.end.offset) for node in case.nodes)
    return ends[0] < ends[1] == ends[2] and len(_ex_leaders(case)) == 1


def _epochs_differ(case: ElectionCase) -> bool:
    epochs = {node.election.epoch for node in case.nodes if node.election}
    return len({node.end for node in case.nodes}) == 1 and len(epochs) > 1


SITUATIONS = {
    situation.name: situation
    for situation in (
        Situation(
            name="killed-together",
            what="three voters, all killed at one moment; the logs are equal",
            voters=3,
            stop=_power_failure,
            holds=_is_even,
        ),
        Situation(
            name="stopped-in-order",
            what="three voters, stopped with SIGTERM one after the other, the leader last",
            voters=3,
            stop=_in_order,
            holds=lambda case: True,
        ),
        Situation(
            name="one-behind",
            what="a follower was killed first and misses records; then the others were killed",
            voters=3,
            stop=_laggard,
            holds=_one_is_behind,
        ),
        Situation(
            name="alone-before",
            what="all killed at one moment; then the old leader ran alone, and was killed",
            voters=3,
            stop=_alone_before,
            holds=_epochs_differ,
        ),
        Situation(
            name="four-voters",
            what="four voters, all killed at one moment; the logs are equal",
            voters=4,
            stop=_power_failure,
            holds=_is_even,
        ),
    )
}


@contextmanager
def prepared(version: str, situation: Situation, root: Path) -> Iterator[Cluster]:
    """A quorum at rest, as the situation has it, with a copy of its directories beside it."""
    with Cluster(version, root / "nodes") as cluster:
        nodes = [
            cluster.add_node(number, ("controller",)) for number in range(1, situation.voters + 1)
        ]
        cluster.use_bootstrap_servers()
        cluster.format(nodes, "--initial-controllers", cluster.initial_controllers())
        for _ in range(_TRIES):
            cluster.start(*nodes)
            cluster.wait_leader()
            situation.stop(cluster)
            if situation.holds(case_of(cluster)):
                break
        else:
            raise NotThere(f"{situation.name}: {_TRIES} tries, each in another state")
        cluster.session.process.close()
        for node in nodes:
            shutil.copytree(node.directory, kept(node))
        yield cluster


def kept(node: Node) -> Path:
    return node.directory.parent / f"{node.directory.name}.kept"


def as_scenario(case: ElectionCase) -> dict[str, Any]:
    """The case as a scenario file has it, so that it can be simulated without the directories."""
    nodes = {}
    for node in case.nodes:
        state = node.election
        fields: dict[str, Any] = {
            "log": dict(node.log.epochs),
            "end": node.log.end,
        }
        if state is not None:
            fields["epoch"] = state.epoch
            if state.leader_id is not None:
                fields["leader"] = state.leader_id
            if state.voted is not None:
                fields["voted"] = state.voted.id
        nodes[node.id] = fields
    return {"kraftVersion": case.kraft_version, "nodes": nodes}


# --- real starts ------------------------------------------------------------------------------


def together(random: Random, ids: list[int]) -> list[tuple[int, float]]:
    """(node, seconds after the first) of processes that a script starts at once, in any order."""
    return [(node_id, 0.0) for node_id in random.sample(ids, len(ids))]


def apart(random: Random, ids: list[int]) -> list[tuple[int, float]]:
    """Processes that come up seconds apart, as an operator or a slow machine starts them."""
    at, plan = 0.0, []
    for node_id in random.sample(ids, len(ids)):
        plan.append((node_id, at))
        at += random.uniform(0.5, 4)
    return plan


PACES = {"together": together, "apart": apart}


def start(cluster: Cluster, plan: list[tuple[int, float]], *, timeout: float = 90) -> Election:
    """Start the nodes on copies of the kept directories, until one of them can commit; kill all."""
    load = os.getloadavg()[0]
    for node in cluster.controllers:
        shutil.rmtree(node.directory)
        shutil.copytree(kept(node), node.directory)
        (cluster.logs / f"node-{node.id}.log").unlink(missing_ok=True)
    began = time.time()
    spawned: dict[int, int] = {}
    left = sorted(plan, key=lambda planned: planned[1])
    try:
        deadline = began + timeout
        while time.time() < deadline:
            while left and time.time() - began >= left[0][1]:
                node = cluster.nodes[left.pop(0)[0]]
                command = kafka.java_command(
                    cluster.version, "kafka.Kafka", "server.properties",
                    heap="-Xmx300m", level="INFO",
                )  # fmt: skip
                log = cluster.logs / f"node-{node.id}.log"
                spawned[node.id] = round(1000 * (time.time() - began))
                node.process = kafka.Process(command, log, cwd=node.directory)
            for node in cluster.running():
                assert node.process is not None
                node.process.require_alive()
            if any(_COMMITS.search(_log(cluster, node)) for node in cluster.running()):
                break
            time.sleep(0.1)
        return _read(cluster, spawned, began, load)
    finally:
        running = cluster.running()
        for node in running:
            assert node.process is not None
            if node.process.alive():  # all at one moment: closing waits for each
                os.kill(node.process.pid, signal.SIGKILL)
        for node in running:
            assert node.process is not None
            node.process.close()
            node.process = None


def _log(cluster: Cluster, node: Node) -> str:
    path = cluster.logs / f"node-{node.id}.log"
    return path.read_text(errors="replace") if path.exists() else ""


def _read(cluster: Cluster, spawned: dict[int, int], began: float, load: float) -> Election:
    nodes = {
        id_: _started(_log(cluster, cluster.nodes[id_]), at, began) for id_, at in spawned.items()
    }
    first = min(
        ((at, epoch, id_) for id_, node in nodes.items() for at, epoch in node.committed),
        default=None,
    )
    return Election(
        nodes=nodes,
        load=load,
        leader=first[2] if first else None,
        epoch=first[1] if first else 0,
        at_ms=first[0] if first else 0,
    )


def _started(log: str, spawned_ms: int, began: float) -> Started:
    raft, listening, committed = None, None, []
    for line in log.splitlines():
        stamp = _AT.match(line)
        if stamp is None:
            continue
        second = datetime.strptime(stamp[1], "%Y-%m-%d %H:%M:%S").astimezone()
        at = second.timestamp() + int(stamp[2]) / 1000
        at_ms = round(1000 * (at - began))
        if _LISTENS in line and listening is None:
            listening = at_ms
        elif _HAS_ROLE in line:
            raft = at_ms if raft is None else raft
        elif match := _COMMITS.search(line):
            committed.append((at_ms, int(match[1])))
    return Started(
        spawned_ms=spawned_ms,
        raft_ms=raft,
        listening_ms=listening,
        committed=tuple(committed),
    )


def as_json(election: Election) -> dict[str, Any]:
    return {
        "leader": election.leader,
        "epoch": election.epoch,
        "atMs": election.at_ms,
        "load": round(election.load, 1),
        "nodes": {
            str(id_): [started.spawned_ms, started.raft_ms, started.listening_ms]
            for id_, started in sorted(election.nodes.items())
        },
    }
