"""Damaged copies of a quorum with a past (`past.py`), started by Kafka in an order, and judged.

Owns the harms, what a start shows of a quorum, and by which facts a judgement is better or worse
than the truth. What the directories say to kraftool is read before Kafka changes them.
"""

from __future__ import annotations

import os
import shutil
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from random import Random

from kraftool.reports.election.assessment import Assessment, LossBound, QuorumSafety, assess
from kraftool.reports.election.read import read_case
from kraftool.reports.state.load import load_state
from tests.interop import damages, kafka
from tests.interop.clusters import Node
from tests.interop.ondisk import batches, partition, segments, snapshots
from tests.interop.past import EARLY, LATE, Past
from tests.repair import directories

ACKNOWLEDGED = frozenset((*(f"early-{number}" for number in range(EARLY)), *LATE))
"""Each of these topics was created before the quorum was killed."""
_LEADERLESS_S = 15
"""So long a majority runs without a leader before it counts as one that elects none."""
_CALM_S = 2
"""So long a state has to stay that is not waited for."""

Harm = Callable[[Past, Node, Random], object]


# --- harms ----------------------------------------------------------------------------------------


def _cut(past: Past, node: Node, random: Random) -> None:
    path = segments(node)[-1]
    os.truncate(path, random.randrange(path.stat().st_size // 2, path.stat().st_size))


def _emptied(past: Past, node: Node, random: Random) -> None:
    shutil.rmtree(partition(node))


def _flipped_header(past: Past, node: Node, random: Random) -> None:
    """A byte of a batch's offset or epoch, which no CRC covers."""
    path = segments(node)[0]
    batch = random.choice(batches(path))
    directories.flip(path, batch.position + random.choice((6, 7, 14, 15)), 1 << random.randrange(8))


def _flipped_record(past: Past, node: Node, random: Random) -> None:
    path = segments(node)[0]
    batch = random.choice(batches(path))
    directories.flip(path, batch.position + batch.size - 3, 1 << random.randrange(8))


def _noise(name: str) -> Harm:
    def harm(past: Past, node: Node, random: Random) -> None:
        path = partition(node) / name
        path.write_bytes(random.choice((b"", b"\n\n", random.randbytes(40))))

    return harm


def _noise_in_bootstrap(past: Past, node: Node, random: Random) -> None:
    path = node.metadata_log_dir / "bootstrap.checkpoint"
    path.write_bytes(random.choice((b"", random.randbytes(200))))


def _cut_snapshot(past: Past, node: Node, random: Random) -> None:
    newest = snapshots(node)[-1]
    os.truncate(newest, random.randrange(newest.stat().st_size))


def _random_snapshot(past: Past, node: Node, random: Random) -> None:
    newest = snapshots(node)[-1]
    half = newest.stat().st_size // 2
    newest.write_bytes(newest.read_bytes()[:half] + random.randbytes(half))


def _other_node_id(past: Past, node: Node, random: Random) -> None:
    path = node.metadata_log_dir / "meta.properties"
    path.write_text(path.read_text().replace(f"node.id={node.id}", "node.id=77"))


def _of_node(harm: Callable[[Node], object]) -> Harm:
    return lambda past, node, random: harm(node)


HARMS: dict[str, Harm] = {
    "a copy of before": lambda past, node, random: past.restore(node, "level"),
    "cut log": _cut,
    "emptied": _emptied,
    "flipped bit in a header": _flipped_header,
    "flipped bit in a record": _flipped_record,
    "two bits in the middle": _of_node(damages.damage_middle),
    "flipped byte in the newest snapshot": _of_node(damages.damage_snapshot),
    "cut newest snapshot": _cut_snapshot,
    "half of the newest snapshot random": _random_snapshot,
    "no snapshots": _of_node(damages.without_snapshots),
    "no quorum-state": _of_node(damages.forget_promise),
    "quorum-state": _noise("quorum-state"),
    "leader-epoch-checkpoint": _noise("leader-epoch-checkpoint"),
    "partition.metadata": _noise("partition.metadata"),
    "bootstrap.checkpoint": _noise_in_bootstrap,
    "node.id of another": _other_node_id,
    "torn tail": _of_node(damages.tear_tail),
    "zeros at the end": _of_node(damages.put_zeros),
    "a log without its segments": _of_node(damages.lose_log),
    "no meta.properties": _of_node(damages.lose_meta),
}
"""What happens to a directory by its name."""


@dataclass(slots=True)
class Harmed:
    """The directories after a seed's harms, and what kraftool says of them."""

    seed: int
    harms: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        return f"seed {self.seed}: {'; '.join(self.harms)}"

    @classmethod
    def made(cls, past: Past, seed: int) -> Harmed:
        random = Random(seed)
        past.put_back()
        made = cls(seed)
        for node in random.sample(past.controllers, random.choice((1, 1, 2, 2, 3))):
            name = random.choice(list(HARMS))
            HARMS[name](past, node, random)
            role = "the laggard" if node is past.laggard else f"node {node.id}"
            made.harms.append(f"{role} ({node.id}): {name}")
        return made


def judged(past: Past) -> Assessment:
    """What every command says of the directories."""
    paths = [str(node.directory / "server.properties") for node in past.controllers]
    return assess(read_case(paths))


# --- starts ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Started:
    """What a start of the voters in an order came to."""

    order: tuple[tuple[int, ...], ...]
    exited: frozenset[int]
    """Those that exited when they were started a second time, too: a voter with an empty log may
    exit once, if a leader is elected while it starts."""
    leader: int | None
    lost: frozenset[str]
    """Acknowledged topics that the last leader does not have."""


def orders(assessment: Assessment, voters: Sequence[int]) -> Iterator[tuple[tuple[int, ...], ...]]:
    """What the judgement advises, or all at once; and then those first that may do harm."""
    first = tuple(assessment.start_first)
    rest = tuple(voter for voter in voters if voter not in first)
    yield (first, rest) if first else (rest,)
    forgetful = (voter.id for voter in assessment.forgetful)
    doubted = [*assessment.harmful, *assessment.to_repair, *forgetful]
    worst = list(dict.fromkeys(voter for voter in (*doubted, *reversed(voters)) if voter in voters))
    yield tuple(worst[: len(voters) // 2 + 1]), tuple(worst[len(voters) // 2 + 1 :])


def started(past: Past, order: tuple[tuple[int, ...], ...]) -> Started:
    """Start the voters group after group; each has a leader, or has none for long."""
    cluster = past.cluster
    exited: set[int] = set()
    leader: int | None = None
    for group in order:
        for voter in group:
            _spawn(past, cluster.nodes[voter])
        leader = _settled(past, exited)
    running = [node for node in past.controllers if node.process is not None]
    for node in running:
        assert node.process is not None
        os.kill(node.process.pid, signal.SIGKILL)
    past.end()
    lost = frozenset[str]()
    if leader is not None:
        image = load_state(str(cluster.nodes[leader].metadata_log_dir)).image
        lost = ACKNOWLEDGED - set(image.topics.by_name)
    return Started(order=order, exited=frozenset(exited), leader=leader, lost=lost)


def _spawn(past: Past, node: Node) -> None:
    cluster = past.cluster
    command = kafka.java_command(
        cluster.version, "kafka.Kafka", "server.properties", heap="-Xmx300m"
    )
    log = cluster.logs / f"node-{node.id}.log"
    node.process = kafka.Process(command, log, cwd=node.directory)


def _settled(past: Past, exited: set[int]) -> int | None:
    """The leader that all who run follow; None if they elect none."""
    cluster = past.cluster
    calm: list[tuple[object, float]] = []
    again: set[int] = set()

    def probe() -> tuple[int | None] | None:
        for node in cluster.running():
            assert node.process is not None
            if not node.process.alive():
                node.process.close()
                node.process = None
                calm.clear()
                if node.id in again:
                    exited.add(node.id)
                else:
                    again.add(node.id)
                    _spawn(past, node)
        if len(cluster.running()) <= len(past.controllers) // 2:
            return _calm_for(calm, "no majority", _CALM_S, (None,))
        shown = cluster.quorum()
        if shown is None:
            return _calm_for(calm, "no leader", _LEADERLESS_S, (None,))
        leader = cluster.nodes[shown["leaderId"]]
        if leader.process is None or shown["highWatermark"] < 0:
            return _calm_for(calm, "a leader that commits nothing", _LEADERLESS_S, (None,))
        ends = {one["id"]: one["logEndOffset"] for one in shown["voters"] + shown["observers"]}
        if any(ends.get(node.id, -1) < shown["highWatermark"] for node in cluster.running()):
            return _calm_for(calm, "some do not follow", _LEADERLESS_S, (leader.id,))
        return _calm_for(calm, ("all follow", leader.id), _CALM_S, (leader.id,))

    return kafka.wait_for("the quorum to settle", probe, timeout=180, every=0.2)[0]


def _calm_for(
    calm: list[tuple[object, float]], state: object, seconds: float, answer: tuple[int | None]
) -> tuple[int | None] | None:
    """The answer once the same state was seen for so long."""
    now = time.monotonic()
    if not calm or calm[0][0] != state:
        calm[:] = [(state, now)]
    return answer if now - calm[0][1] >= seconds else None


# --- the truth ------------------------------------------------------------------------------------


def better_than(start: Started, assessment: Assessment, *, is_advised: bool) -> Iterator[str]:
    """In what the judgement is better than what the start shows."""
    doubted = {one.id for one in assessment.forgetful} | set(assessment.harmful)
    can_lead, unseen = set(assessment.can_lead), set(assessment.not_given)
    if is_advised or assessment.state is QuorumSafety.SAFE:
        for voter in sorted(start.exited - set(assessment.to_repair) - doubted - unseen):
            yield f"{voter} exits"
        is_told = assessment.state is QuorumSafety.SAFE or bool(assessment.start_first)
        if start.leader is None and can_lead and is_told:
            yield f"nobody leads, and {sorted(can_lead)} can"
    # A node that exits when its controller loads the metadata may have led, and fed others.
    may_be_fed = bool(assessment.to_repair)
    if start.leader not in (None, *can_lead) and can_lead and not may_be_fed:
        yield f"{start.leader} leads"
    if start.lost:
        if assessment.loss is LossBound.NONE or assessment.state is QuorumSafety.SAFE:
            yield f"{sorted(start.lost)} are lost"
        elif is_advised and assessment.start_first and assessment.loss is not LossBound.UNBOUNDED:
            yield f"by the order {start.order} {sorted(start.lost)} are lost"


def worse_than(starts: Sequence[Started], assessment: Assessment) -> Iterator[str]:
    """In what it is worse than what all starts show."""
    exited = frozenset[int]().union(*(start.exited for start in starts))
    for voter in sorted(set(assessment.to_repair) - exited):
        yield f"{voter} starts"
    if assessment.state is QuorumSafety.NO_LEADER and any(start.leader for start in starts):
        yield f"{[start.leader for start in starts]} lead"
