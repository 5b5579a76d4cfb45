"""Voters that forgot: copies of real directories that are older than what the voters confirmed.

Node 1 was stopped before five topics were made. Nodes 2 and 3 were replaced by older copies. Of the
topics, a broker's log that lagged shows the first two; the others are in no directory.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.interop import our_commands, recovering
from tests.interop.recovering import begin, cluster_of

pytestmark = pytest.mark.interop
LOST = [f"lost-{number}" for number in range(5)]


class Forgotten:
    """The directories that are left, by node."""

    def __init__(self, version: str, folder: Path) -> None:
        self.directories: dict[int, Path] = {}
        self.folder = folder
        with cluster_of(version, folder) as cluster:
            (one, two, three), broker = begin(cluster)
            cluster.wait_caught_up(one, two, three)
            for node in (two, three):
                self._keep(node.id, node.metadata_log_dir)
            cluster.admin("create-topic", topic="early", partitions=1, replication=1)
            cluster.wait_caught_up(one, two, three)
            cluster.stop(one)
            self._keep(one.id, one.metadata_log_dir)
            cluster.wait_leader()
            for topic in LOST[:2]:
                cluster.admin("create-topic", topic=topic, partitions=1, replication=1)
            cluster.wait_caught_up(two, three, broker)
            self._keep(broker.id, broker.metadata_log_dir)
            for topic in LOST[2:]:
                cluster.admin("create-topic", topic=topic, partitions=1, replication=1)
            cluster.kill(*cluster.running())
            self.whole = [str(node.metadata_log_dir) for node in (one, two, three, broker)]

    def _keep(self, node_id: int, directory: Path) -> None:
        self.directories[node_id] = self.folder / f"left-{node_id}"
        # The broker runs, and writes such files for a moment.
        written = shutil.ignore_patterns("*.tmp")
        shutil.copytree(directory, self.directories[node_id], ignore=written)
        (self.directories[node_id] / ".lock").unlink(missing_ok=True)

    @property
    def paths(self) -> Sequence[Path]:
        return [self.directories[node_id] for node_id in (1, 2, 3, 11)]


@pytest.fixture(scope="module")
def forgotten(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Forgotten:
    return Forgotten(request.param, tmp_path_factory.mktemp("forgotten"))


on_each = recovering.on("forgotten", always=True)


def topics(path: Path | str) -> str:
    return our_commands.kraftool("shell", path, "-c", "ls /image/topics/byName").stdout


@on_each
def test_a_seed_is_refused_where_voters_forgot_what_they_confirmed(forgotten: Forgotten) -> None:
    asked = ("--set", "seed=1", "--kafka-version", "4.3.0")
    shown = topics(forgotten.directories[11])
    assert LOST[1] in shown
    assert LOST[2] not in shown
    done = our_commands.kraftool("recover", "plan", *forgotten.paths, *asked)
    assert done.returncode == 5, done.stdout
    assert "Voters 1, 2 and 3 count as lost for what they confirmed" in " ".join(
        done.stderr.split()
    )
    assert "--accept ahead" in " ".join(done.stderr.split())
    done = our_commands.kraftool("recover", "plan", "-o", "json", *forgotten.paths, *asked)
    document = json.loads(done.stdout)
    assert document["plan"] is None
    assert document["assessment"]["loss"] == "unbounded and undetectable"
    done = our_commands.kraftool("recover", "plan", *forgotten.paths, *asked, "--accept", "ahead")
    assert done.returncode == 0, done.stderr
    assert "DATA LOSS unbounded and undetectable" in " ".join(done.stderr.split())


@on_each
def test_an_emptied_voter_and_a_laggard_are_no_quorum_to_start(forgotten: Forgotten) -> None:
    emptied = forgotten.folder / "emptied"
    shutil.copytree(forgotten.directories[2], emptied, dirs_exist_ok=True)
    shutil.rmtree(emptied / "__cluster_metadata-0")
    ran = our_commands.kraftool(
        "simulate-election", "--runs", 3, "-o", "json", emptied, forgotten.directories[1]
    )
    document: dict[str, Any] = json.loads(ran.stdout)
    assert ran.returncode == 1
    assert (document["leaderIds"], document["hasDataLoss"]) == ([1], True)
    assert document["assessment"]["notGivenIds"] == [3]


@on_each
def test_the_whole_directories_of_the_same_quorum_are_safe(forgotten: Forgotten) -> None:
    done = our_commands.kraftool("recover", "plan", "-o", "json", *forgotten.whole)
    document = json.loads(done.stdout)
    assert document["assessment"]["loss"] in ("none", "bounded"), document["assessment"]
    assert document["assessment"]["nextStep"] in ("nothing", "start these first")
    assert document["plan"]["method"] == "none"
