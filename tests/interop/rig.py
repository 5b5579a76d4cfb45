"""A real quorum in namespaces of its own, whose faults and whose truth the test owns.

Voters of Kafka and of kraftool, a broker, and a client that creates topics all the time. Each fault
is noted as a `Moment`, so that what a command says can be compared with the truth of that time.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import random
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from kraftool.client.target import target_of
from kraftool.decoders.codec import Value
from kraftool.net.connection import connect
from kraftool.net.errors import NetError
from kraftool.raft.names import Endpoint
from kraftool.reports.findings.status import Status
from kraftool.watching.overview import Overview
from kraftool.watching.picture import Picture
from kraftool.watching.sources import Sources
from kraftool.watching.watcher import Watcher
from tests.interop import kafka, our_nodes, rig_truth
from tests.interop.clusters import Cluster, Node
from tests.interop.namespaces import HERE, Link, Network
from tests.interop.our_commands import kraftool
from tests.interop.rig_truth import Moment, Poll, Title, read_poll

BROKER = 11
POLLS = (("watch", "--once"), ("quorum", "health"), ("quorum", "describe"))
_CREATE_EVERY_S = 0.5
_ANSWER_S = 3.0
_WATCH_TIMEOUT_S = 5.0
"""The default of `watch`."""


def amount(name: str, usual: int) -> int:
    """How often the jobs do something, by an environment variable."""
    return int(os.environ.get(name) or usual)


class Rig:
    """The quorum. Voter N and the broker are in the places of their numbers."""

    def __init__(self, cluster: Cluster, network: Network, *, ours: frozenset[int]) -> None:
        self.cluster, self.network, self.ours = cluster, network, ours
        self.voters = frozenset(node.id for node in cluster.controllers)
        self.paused: set[int] = set()
        self.is_slow = False
        self.moments: list[Moment] = []
        self.faults: list[tuple[float, str]] = []
        """When each began, in words."""
        self.created: list[float] = []
        """When the requests began that created a topic."""
        self.polls: list[Poll] = []
        self.events: list[str] = []
        """What the dashboard tells of, the newest last."""

    # --- the truth ----------------------------------------------------------------------------

    def _note(self, words: str, *, is_healthy: bool = False) -> None:
        running = {n.id for n in self.cluster.controllers if n.process is not None}
        moment = Moment(
            at=time.monotonic(),
            voters=self.voters,
            running=frozenset(running - self.paused),
            cut=self.network.links_cut,
            is_slow=self.is_slow,
            is_healthy=is_healthy,
        )
        self.moments.append(moment)
        self.faults.append((moment.at, words))

    def wait_healthy(self) -> None:
        """Until Kafka's own tool sees each voter follow, and topics are created again."""
        began = time.monotonic()

        def follows() -> bool:
            shown = self.cluster.quorum()
            if shown is None or {voter["id"] for voter in shown["voters"]} != self.voters:
                return False
            behind = (shown["highWatermark"] - v["logEndOffset"] for v in shown["voters"])
            return max(behind) <= 2 and any(at > began for at in self.created)

        kafka.wait_for("each voter to follow, and a new topic", follows, every=0.3)
        self._note("all is healthy", is_healthy=True)

    def wait_noticed(self) -> None:
        """Let a fault stay until each command has seen it for so long that it has to tell."""
        self._wait_polled(rig_truth.NOTICED_S)

    def wait_settled(self) -> None:
        """Let polls follow that have no excuse any longer: one of each command."""
        self._wait_polled(rig_truth.SETTLED_S)

    def _wait_polled(self, after_s: float) -> None:
        since = self.moments[-1].at + after_s
        commands = {_name(words) for words in POLLS}
        kafka.wait_for(
            f"a poll of each command after {after_s:g} s",
            lambda: {poll.command for poll in self.polls if poll.began > since} >= commands,
            every=0.2,
        )

    # --- faults -------------------------------------------------------------------------------

    def node(self, voter: int) -> Node:
        return self.cluster.nodes[voter]

    def leader(self) -> int:
        return self.cluster.wait_leader().id

    def stop(self, voter: int, *, clean: bool) -> None:
        node = self.node(voter)
        self._note(f"voter {voter} is stopped" if clean else f"voter {voter} is killed")
        (self.cluster.stop if clean else self.cluster.kill)(node)
        self._note(f"voter {voter} is down")

    def start(self, voter: int) -> None:
        node = self.node(voter)
        if voter in self.ours:
            our_nodes.start_ours(self.cluster, node)
        else:
            self.cluster.start(node)
        self._note(f"voter {voter} is started")

    def pause(self, voter: int) -> None:
        self._signal(voter, signal.SIGSTOP)
        self.paused.add(voter)
        self._note(f"voter {voter} is paused")

    def resume(self, voter: int) -> None:
        self._signal(voter, signal.SIGCONT)
        self.paused.discard(voter)
        self._note(f"voter {voter} goes on")

    def _signal(self, voter: int, number: int) -> None:
        process = self.node(voter).process
        assert process is not None
        os.kill(process.pid, number)

    def cut(self, *links: Link) -> None:
        self.network.cut(*links)
        self._note("cut: " + ", ".join(f"{a} to {b}" for a, b in links))

    def slow(self, seconds: float, *places: int) -> None:
        """Delay what goes to and from some places by so much each way."""
        every = [HERE, *self.voters, BROKER]
        pairs = [(a, b) for a in places for b in every if a != b]
        self.network.delay(seconds, *pairs, *((b, a) for a, b in pairs))
        self.is_slow = True
        self._note(f"{seconds:.2f} s each way to and from {', '.join(map(str, places))}")

    def heal(self) -> None:
        """End every fault; nodes that are down are started."""
        self.network.heal()
        self.is_slow = False
        for voter in [*self.paused]:
            self.resume(voter)
        for voter in sorted(self.voters):
            if self.node(voter).process is None:
                self.start(voter)
        self._note("all faults are over")

    # --- those who ask ------------------------------------------------------------------------

    @property
    def bootstrap(self) -> str:
        return ",".join(self.node(voter).at("CONTROLLER") for voter in sorted(self.voters))

    def may_stop(self, voter: int, *options: str) -> bool:
        """Ask once; anything but an answer is a failure of the test."""
        done = kraftool(
            "quorum", "may-stop", voter, "--bootstrap-controller", self.bootstrap, *options
        )
        assert done.returncode in (0, 1, 4), done.stdout + done.stderr
        return done.returncode == 0

    def metrics(self) -> list[str]:
        """The options with which may-stop reads the metrics of our voters."""
        running = [self.node(v) for v in sorted(self.ours) if self.node(v).process is not None]
        return [f"--metrics={node.id}={our_nodes.metrics_at(node)}" for node in running]

    @contextmanager
    def polled(self, count: int | None = None) -> Iterator[threading.Event]:
        """Run the three commands in turn; the event is set after so many polls."""
        is_over, has_enough = threading.Event(), threading.Event()

        def poll() -> None:
            for words in itertools.cycle(POLLS):
                if is_over.is_set():
                    return
                began = time.monotonic()
                done = kraftool(*words, "-o", "json", "--bootstrap-controller", self.bootstrap)
                command = _name(words)
                ended = time.monotonic()
                assert "Traceback" not in done.stderr, done.stderr
                self.polls.append(read_poll(command, began, ended, done.returncode, done.stdout))
                if count is not None and len(self.polls) >= count:
                    has_enough.set()

        with _thread(poll, is_over):
            yield has_enough

    @contextmanager
    def watched(self) -> Iterator[list[Title]]:
        """Run what the dashboard runs, and note its title each time it shows one."""
        is_over, titles = threading.Event(), list[Title]()
        overview = Overview()

        def show(picture: Picture) -> None:
            overview.take(picture)
            report = overview.report
            assert report is not None
            self.events[:] = [event.reason for event in picture.history.events]
            titles.append(
                Title(
                    at=time.monotonic(),
                    mark=overview.status.mark,
                    leader=report.leader_id,
                    epoch=report.epoch,
                    failures=report.tolerance.failures,
                    is_grey=overview.status is Status.UNKNOWN,
                )
            )

        async def watch() -> None:
            target = target_of(self.bootstrap, (), "", _WATCH_TIMEOUT_S)
            running = asyncio.create_task(Watcher(Sources(target=target)).run(show))
            while not is_over.is_set() and not running.done():
                await asyncio.sleep(0.2)
            running.cancel()
            with suppress(asyncio.CancelledError):
                await running

        with _thread(lambda: asyncio.run(watch()), is_over):
            yield titles

    @contextmanager
    def creating_topics(self) -> Iterator[None]:
        """Create topics through whichever voter is the active controller."""
        is_over = threading.Event()
        client = _TopicClient([Endpoint(*_address(self.node(v))) for v in sorted(self.voters)])

        def create() -> None:
            asyncio.run(client.run(is_over, self.created))

        with _thread(create, is_over):
            yield


def _name(words: Sequence[str]) -> str:
    """The command in one word."""
    return words[1] if words[0] == "quorum" else words[0]


def _address(node: Node) -> tuple[str, int]:
    return node.host, node.ports["CONTROLLER"]


@contextmanager
def _thread(work: Callable[[], None], is_over: threading.Event) -> Iterator[None]:
    """Run it meanwhile; what it raises is raised here at the end."""
    failures: list[BaseException] = []

    def run() -> None:
        try:
            work()
        except BaseException as error:
            failures.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join(120)
    if failures:
        raise failures[0]


class _TopicClient:
    """Creates a topic after the other. It is no part of the rig's truth but its witness."""

    def __init__(self, endpoints: Sequence[Endpoint]) -> None:
        self._endpoints = endpoints
        self._names = itertools.count()

    async def run(self, is_over: threading.Event, created: list[float]) -> None:
        while not is_over.is_set():
            began = time.monotonic()
            answers = await asyncio.gather(*map(self._create, self._endpoints))
            if any(answers):
                created.append(began)
            await asyncio.sleep(_CREATE_EVERY_S)

    async def _create(self, endpoint: Endpoint) -> bool:
        """True if this node is the active controller, and committed the topic."""
        topic: Value = {
            "name": f"rig-{next(self._names)}",
            "numPartitions": 1,
            "replicationFactor": 1,
            "assignments": [],
            "configs": [],
        }
        body = {"topics": [topic], "timeoutMs": int(_ANSWER_S * 1000), "validateOnly": False}
        with suppress(NetError):
            connection = await connect(endpoint, client_id="rig", timeout_s=_ANSWER_S)
            try:
                answer = await connection.request("CreateTopics", (5, 7), body, _ANSWER_S)
            finally:
                await connection.close()
            return all(result["errorCode"] == 0 for result in answer["topics"])
        return False


@contextmanager
def running(version: str, root: Path, *, ours: Sequence[int] = ()) -> Iterator[Rig]:
    """Three voters, a broker and the client, until the first topic is created."""
    voters = (1, 2, 3)
    with Network() as network, Cluster(version, root) as cluster:
        network.start((*voters, BROKER))

        def add(number: int, role: str) -> Node:
            return cluster.add_node(
                number, (role,), host=network.host(number), within=network.within(number)
            )

        nodes = [add(number, "controller") for number in voters]
        broker = add(BROKER, "broker")
        cluster.use_bootstrap_servers()
        cluster.format(nodes, "--initial-controllers", cluster.initial_controllers())
        cluster.format([broker])
        rig = Rig(cluster, network, ours=frozenset(ours))
        cluster.start(*(node for node in nodes if node.id not in rig.ours))
        for voter in sorted(rig.ours):
            our_nodes.start_ours(cluster, rig.node(voter))
        cluster.start(broker)
        with rig.creating_topics():
            rig.wait_healthy()
            yield rig


Fault = Callable[[Rig, random.Random], None]


def _one(rig: Rig, chooser: random.Random) -> int:
    return chooser.choice(sorted(rig.voters))


def _two(rig: Rig, chooser: random.Random) -> Link:
    one, other = chooser.sample(sorted(rig.voters), 2)
    return one, other


def _kill_majority(rig: Rig, chooser: random.Random) -> None:
    for voter in _two(rig, chooser):
        rig.stop(voter, clean=False)


def _cut_both_ways(rig: Rig, chooser: random.Random) -> None:
    one, other = _two(rig, chooser)
    rig.cut((one, other), (other, one))


def _isolate_leader(rig: Rig, chooser: random.Random) -> None:
    leader = rig.leader()
    others = rig.voters - {leader}
    rig.cut(*((leader, v) for v in others), *((v, leader) for v in others))


def _hide(rig: Rig, chooser: random.Random) -> None:
    voter = _one(rig, chooser)
    rig.cut((HERE, voter), (voter, HERE))


def _roll(rig: Rig, chooser: random.Random) -> None:
    for voter in chooser.sample(sorted(rig.voters), len(rig.voters)):
        rig.stop(voter, clean=True)
        rig.start(voter)
        rig.wait_healthy()


FAULTS: dict[str, Fault] = {
    "a voter is killed": lambda rig, chooser: rig.stop(_one(rig, chooser), clean=False),
    "the leader is killed": lambda rig, _: rig.stop(rig.leader(), clean=False),
    "a majority is killed": _kill_majority,
    "a voter is paused": lambda rig, chooser: rig.pause(_one(rig, chooser)),
    "the leader is paused": lambda rig, _: rig.pause(rig.leader()),
    "a link is cut one way": lambda rig, chooser: rig.cut(_two(rig, chooser)),
    "a link is cut both ways": _cut_both_ways,
    "the leader is cut off from the others": _isolate_leader,
    "a voter is cut off from kraftool": _hide,
    "kraftool is slow": lambda rig, chooser: rig.slow(chooser.uniform(0.05, 0.45), HERE),
    "a voter is slow": lambda rig, chooser: rig.slow(
        chooser.uniform(0.05, 0.3), _one(rig, chooser)
    ),
    "a rolling restart": _roll,
}


def faults_in_turn(chooser: random.Random) -> Iterator[tuple[str, Fault]]:
    """Yield every fault in a random order, again and again."""
    while True:
        yield from chooser.sample([*FAULTS.items()], len(FAULTS))
