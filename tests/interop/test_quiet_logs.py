"""Kafka's logs have no WARN or ERROR line that kraftool caused, whatever state a controller is in.

Each command that only looks runs against real controllers whose logs are at INFO: one that cannot
have metadata yet, some that are starting, a whole quorum, and one that lost its majority.
"""

from __future__ import annotations

import asyncio
import re
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import takewhile
from pathlib import Path
from uuid import uuid4

import pytest

from kraftool.client.asking import CLIENT_ID
from kraftool.client.endpoints import parse_endpoints
from kraftool.client.target import target_of
from kraftool.net.connection import connect
from kraftool.watching.pool import Pool
from tests.interop import kafka
from tests.interop.clusters import Cluster, Node
from tests.interop.our_commands import kraftool
from tests.support.backups import NODE, back_up
from tests.support.places import FIXTURES

pytestmark = pytest.mark.interop
IN_CI = kafka.TOOLS_VERSION
VERSIONS = ("3.9.1", "4.1.1", IN_CI, kafka.NEWEST)
VOTERS = (1, 2, 3)

LOOKS = (
    "watch --once",
    "quorum describe",
    "quorum health",
    "quorum may-stop 1",
    "quorum ready --node 1",
    "quorum renew-registration 9 --dry-run",
    "quorum unregister-controller 9 --dry-run",
    "quorum add-controller -i 4 --dry-run",
    "quorum remove-controller -i 3 --dry-run",
    "quorum endpoints -i 3 --endpoint CONTROLLER://127.0.0.1:1 --dry-run",
    "quorum upgrade --dry-run",
    "features",
    "diff-voters",
    "diff-state --at-time 1h",
    "dump-log",
    "state",
    "timeline",
    "doctor",
    "shell -c ls",
    "exporter --once --textfile FILE",
    "backup create STORE",
    "backup restore KEPT",
    "bundle SETTINGS --out CASE",
)
"""Every command that takes --bootstrap-controller, so that it changes nothing."""
NEED_FILES = ("format", "storage format", "recover verify")
"""They ask a quorum as `features` and `quorum health` do."""

_PROBLEM = re.compile(r"\[[^]]*\] (?:WARN|ERROR|FATAL) .*")
_OF_SERVING = re.compile(
    r"\((?:kafka\.network\.|org\.apache\.kafka\.(?:network|common\.network)\.|kafka\.server\.\w*Apis"
    r"|kafka\.server\.KafkaRequestHandler)[^)]*\)$"
)
"""Ends a line that a controller logged while it served a connection or a request."""
_CLIENT = re.compile(r"clientId=(?P<client>[^,)]*)")


def _caused(cluster: Cluster) -> list[str]:
    """The lines that name kraftool, or that come from serving and name no other client."""
    lines = []
    for log in sorted(cluster.logs.glob("*.log")):
        for line in log.read_text(errors="replace").splitlines():
            if not _PROBLEM.fullmatch(line):
                continue
            client = _CLIENT.search(line)
            is_serving = _OF_SERVING.search(line) is not None
            if CLIENT_ID in line or (is_serving and client is None):
                lines.append(f"{log.name}: {line}")
    return lines


def _at(*nodes: Node) -> str:
    return ",".join(node.at("CONTROLLER") for node in nodes)


def _look(*nodes: Node) -> None:
    """Run each command. What it finds differs from state to state; that it ends does not."""
    kept = nodes[0].directory / "kept"
    if not kept.exists():
        back_up(kept, FIXTURES / NODE)

    def run(command: str) -> None:
        command = command.replace("FILE", str(nodes[0].directory / "kraftool.prom"))
        command = command.replace("STORE", str(nodes[0].directory / "backups"))
        command = command.replace("KEPT", str(kept))
        command = command.replace("SETTINGS", str(nodes[0].directory / "server.properties"))
        command = command.replace("CASE", str(nodes[0].directory / f"{uuid4()}.zip"))
        done = kraftool(*command.split(), "--bootstrap-controller", _at(*nodes), "--timeout", "5")
        assert "Traceback" not in done.stderr, f"{command}: {done.stderr}"
        # 5: of a quorum that has no metadata.version yet no backup is made.
        fine = (0, 1, 3, 4, 5) if command.startswith("backup") else (0, 1, 3, 4)
        assert done.returncode in fine, f"{command}: {done.returncode}\n{done.stderr}"

    with ThreadPoolExecutor(4) as pool:
        for _ in pool.map(run, LOOKS):
            pass


@contextmanager
def _asked_all_the_time(*nodes: Node) -> Iterator[None]:
    """Ask without a pause: over new connections, and over those that the dashboard keeps."""
    is_over = threading.Event()

    async def ask() -> int:
        targets = [target_of(_at(*nodes), (), "", 5.0) for _ in range(2)]
        pool = Pool()
        count = 0
        while not is_over.is_set():
            await asyncio.gather(targets[0].survey(), targets[1].survey(pool.ask))
            count += 1
        await pool.close()
        return count

    with ThreadPoolExecutor(1) as thread:
        asking = thread.submit(asyncio.run, ask())
        try:
            yield
        finally:
            is_over.set()
        assert asking.result() > 0


def _ask_what_it_refuses(node: Node) -> None:
    """The control: a request that makes a controller without metadata log an error."""

    async def ask() -> int:
        [endpoint] = parse_endpoints(node.at("CONTROLLER"))
        connection = await connect(endpoint, client_id=CLIENT_ID)
        body = {"includeClusterAuthorizedOperations": False, "endpointType": 2}
        answer = await connection.request("DescribeCluster", 1, body, 30)
        await connection.close()
        return int(answer["errorCode"])

    assert asyncio.run(ask()) != 0


def test_every_command_that_asks_a_quorum_is_tried() -> None:
    pages = (Path(__file__).resolve().parents[2] / "man").glob("kraftool-*.1")
    option = r"\fB\-\-bootstrap\-controller\fR"
    asking = {page.stem for page in pages if option in page.read_text()}
    looks = (takewhile(lambda word: word[0].islower(), words.split()) for words in LOOKS)
    tried = {"-".join(("kraftool", *words)) for words in (*looks, *map(str.split, NEED_FILES))}
    assert asking == tried


@pytest.mark.parametrize(
    "version",
    [v if v == IN_CI else pytest.param(v, marks=pytest.mark.soak) for v in VERSIONS],
)
def test_no_look_leaves_a_line_in_kafkas_logs(
    version: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if problem := kafka.available(version):
        pytest.skip(problem)
    monkeypatch.setenv("KLEVEL", "INFO")
    with Cluster(version, tmp_path / "nodes") as cluster:
        first, *others = nodes = [cluster.add_node(number, ("controller",)) for number in VOTERS]
        cluster.use_bootstrap_servers()
        cluster.format(nodes, "--initial-controllers", cluster.initial_controllers())
        # Without the others it reads no metadata: as if it went on starting for ever.
        cluster.start(first)
        _look(first)
        assert _caused(cluster) == []
        with _asked_all_the_time(*nodes):
            cluster.start(*others)
            leader = cluster.wait_leader()
            cluster.wait_caught_up(*nodes)
            follower = next(node for node in nodes if node is not leader)
            cluster.kill(follower)
            cluster.start(follower)
            cluster.wait_caught_up(*nodes)
        assert _caused(cluster) == []
        _look(*nodes)
        assert _caused(cluster) == []
        cluster.kill(leader, follower)
        _look(*nodes)
        assert _caused(cluster) == []

        cluster.start(follower)
        _ask_what_it_refuses(follower)
        [line] = _caused(cluster)
        assert "DESCRIBE_CLUSTER" in line
