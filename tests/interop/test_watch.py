"""The dashboard on a terminal of its own (tmux), watching a real quorum whose leader is killed.

Then the next one is killed too, and what scripts are told of a quorum without a leader is as its
schema says.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import uuid
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from tests.interop import kafka
from tests.interop.clusters import Cluster, Node
from tests.interop.our_commands import document
from tests.interop.watch_record import VERSION, three_and_a_standby
from tests.support.places import ROOT

pytestmark = pytest.mark.interop
_once = partial(document, "watch", "--once")


class Terminal:
    """A command on a tmux server of its own."""

    def __init__(self, folder: Path, *arguments: str, columns: int = 100, lines: int = 30) -> None:
        self._socket = f"kraftool-{uuid.uuid4().hex[:8]}"
        # A size of the caller's own terminal would be believed before that of this one.
        state = {"XDG_STATE_HOME": str(folder), "NO_COLOR": ""}
        kept = {
            name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")
        }
        words = [sys.executable, "-m", "kraftool", "watch", *arguments]
        # The pane stays when the program ends, so that what it left can be read.
        command = f"cd {shlex.quote(str(ROOT))} && {shlex.join(words)}; echo ended with $?; cat"
        self._tmux(
            *("new-session", "-d", "-x", str(columns), "-y", str(lines), command),
            environment=kept | state,
        )

    def _tmux(self, *arguments: str, environment: dict[str, str] | None = None) -> str:
        done = subprocess.run(
            ["tmux", "-f", "/dev/null", "-L", self._socket, *arguments],
            capture_output=True,
            text=True,
            check=True,
            env=environment,
        )
        return done.stdout

    def screen(self) -> str:
        return self._tmux("capture-pane", "-p")

    def press(self, *keys: str) -> None:
        self._tmux("send-keys", *keys)

    def wait(self, pattern: str, *, timeout: float = kafka.PATIENCE_S) -> str:
        """The screen, once it has something."""

        def probe() -> str:
            shown = self.screen()
            return shown if re.search(pattern, shown) else ""

        try:
            return str(kafka.wait_for(pattern, probe, timeout=timeout, every=0.1))
        except kafka.KafkaFailed as error:
            raise AssertionError(f"{error}; the screen:\n{self.screen()}") from None

    def close(self) -> None:
        self._tmux("kill-server")


@pytest.fixture(scope="module")
def quorum(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    if problem := kafka.available(VERSION, kafka.TOOLS_VERSION):
        pytest.skip(problem)
    with Cluster(VERSION, tmp_path_factory.mktemp("watch") / "nodes") as cluster:
        three_and_a_standby(cluster, broker=False)
        yield cluster


def _at(*nodes: Node) -> tuple[str, ...]:
    """The options of whoever asks nodes on a busy machine."""
    servers = ",".join(node.at("CONTROLLER") for node in nodes)
    return "--bootstrap-controller", servers, "--timeout", "60"


@pytest.mark.skipif(shutil.which("tmux") is None, reason="no tmux on PATH: apt-get install tmux")
def test_a_leader_is_killed_while_one_watches(quorum: Cluster, tmp_path: Path) -> None:
    nodes = [quorum.nodes[number] for number in (1, 2, 3)]
    directories = [str(node.metadata_log_dir) for node in nodes]
    leader, epoch = quorum.wait_leader(), quorum.leader_epoch()
    # The one node that is named is the one that is killed.
    terminal = Terminal(tmp_path, *_at(leader), *directories, columns=164)
    try:
        terminal.wait(rf"● node {leader.id} +epoch {epoch}")
        terminal.wait("1, 2, 3  committed  majority 2")
        terminal.wait("3 of 3 voters are ready, 2 are needed")
        terminal.wait(rf"watching begins: node {leader.id} leads epoch {epoch}")
        for node in nodes:  # each says itself who leads
            row = (node.directory_id, node.at("CONTROLLER"), f"node {leader.id}, epoch {epoch}")
            terminal.wait("(?m)^" + "".join(f"(?=.*{re.escape(part)})" for part in row))

        quorum.kill(leader)
        successor = quorum.wait_leader(above_epoch=epoch)
        terminal.wait(rf"▲ node {successor.id} leads epoch (?!{epoch}\b)")
        terminal.wait(rf"node {successor.id} elected, epoch (?!{epoch}\b)")
        terminal.wait(rf"▲ node {leader.id} stopped answering")
        terminal.wait(rf"▲ Node {leader.id} \(\S+\): connection refused")
        terminal.wait(rf"{leader.id} +✖ voter")
        terminal.wait(
            r"Can lose +▲ 0 voters "
        )  # two of three are left, once the other has caught up

        terminal.press("/")
        terminal.wait("search, Enter, then")
        terminal.press("observer", "Enter")
        terminal.wait(r"observer 4 +directory")
        terminal.press("?")
        terminal.wait("Everywhere")
        terminal.press("?")
        terminal.wait(r"(?s)^(?!.*Everywhere)")
        terminal.press("q")
        terminal.wait("ended with 0")
    finally:
        terminal.close()
    assert [path.name for path in (tmp_path / "kraftool").iterdir()] == ["watch.json"]


def test_scripts_are_told_of_a_quorum_without_a_leader(quorum: Cluster) -> None:
    """One of three is down, then two."""
    nodes = [quorum.nodes[number] for number in (1, 2, 3)]
    if all(node.process is not None for node in nodes):
        epoch = quorum.leader_epoch()
        quorum.kill(quorum.wait_leader())
        quorum.wait_leader(above_epoch=epoch)
    report = _once(*_at(*quorum.running()), code=1)
    assert report["leaderId"] is not None
    assert any(
        words["severity"] == "warning" and words["reason"].startswith("No voter can be lost")
        for words in report["statements"]
    )
    assert report["voterState"]["voterIds"] == [1, 2, 3]
    quorum.kill(quorum.wait_leader())
    survivor = next(node for node in nodes if node.process is not None)
    report = _once(*_at(survivor, quorum.nodes[4]), str(survivor.metadata_log_dir), code=1)
    assert report["leaderId"] is None
    assert report["statements"][0]["reason"].startswith("No node leads.")
    row = next(replica for replica in report["replicas"] if replica["id"] == survivor.id)
    assert row["directoryEndOffset"] > 0
    assert row["isReached"]
    assert report["voterState"]["source"] == "directory", "nobody else is there to tell"
