"""A quorum of real Kafka with a past: the directories of three moments, to be damaged and repaired.

At `level` all logs end alike. Then one controller, the laggard, was killed, five topics were made,
and all others were killed at once: `struck`. In between, with two of the topics, the broker's
directory was copied: `lagging`. So each directory has an older copy, as a backup is. It refuses to
damage anything: `incidents.py` does.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from kraftool.repair.plan import Plan
from tests.interop import kafka
from tests.interop.clusters import Node
from tests.interop.ondisk import snapshots
from tests.interop.our_nodes import end_of
from tests.interop.real_elections import kill_together
from tests.interop.recovering import STAYS, Kept

SNAPSHOTS = {"metadata.log.max.record.bytes.between.snapshots": "1000"}
"""Settings by which every five topics make a snapshot."""
PATIENCE = {"controller.quorum.fetch.timeout.ms": "60000"}
"""Settings that prevent an election while the past is made, however busy the machine is: a voter
with a copy from an earlier epoch exits when it meets the others."""
EARLY = 8
"""So many topics are known to all."""
LATE = [f"late-{number}" for number in range(5)]
"""The topics that the laggard does not know."""


def newest(node: Node) -> list[Path]:
    """A node's newest snapshot, if there is one."""
    return snapshots(node)[-1:]


class Past(Kept):
    """Three controllers and a broker. `survivor` is the laggard; the `others` went on."""

    def _struck(self, *, cleaned: bool) -> tuple[Node, list[str]]:
        assert not cleaned, "its logs begin at 0"
        cluster = self.cluster
        begun = cluster.leader_epoch()
        cluster.admin("upsert-scram", user=STAYS, password="CANARY-stays", salt="CANARY-salt")
        self._create(*(f"early-{number}" for number in range(EARLY)))
        kafka.wait_for("all logs to end alike", self._photograph_level, every=0.2)
        leader = cluster.wait_leader()
        laggard = next(controller for controller in self.controllers if controller is not leader)
        others = [member for member in self.nodes if member is not laggard]
        cluster.kill(laggard)
        self._create(*LATE[:2])
        cluster.wait_caught_up(self.broker)
        with self._paused(self.broker):
            self.photograph("lagging", self.broker)
        self._create(*LATE[2:-1])
        end = end_of(laggard).offset
        kafka.wait_for(
            "a snapshot that the laggard does not reach",
            lambda: all(int(path.name[:20]) > end for node in others for path in newest(node)),
        )
        self._create(LATE[-1])
        topics = sorted(cluster.admin("list-topics"))
        assert cluster.leader_epoch() == begun, "its copies have one epoch"
        kafka.wait_for("the others to end alike", lambda: self._killed(others), every=0.2)
        for node in self.nodes:
            node.settings = {
                key: value for key, value in node.settings.items() if key not in PATIENCE
            }
            node.write_properties()
        return laggard, topics

    def _killed(self, nodes: list[Node]) -> bool:
        """Kill nodes at one moment if their logs end alike then."""
        self.cluster.wait_caught_up(*nodes)
        with self._paused(*nodes):
            is_level = len({end_of(node) for node in nodes}) == 1
            if is_level:
                kill_together(self.cluster, *nodes)
        return is_level

    @property
    def laggard(self) -> Node:
        return self.survivor

    @property
    def good(self) -> Node:
        """One of the two controllers that have everything: the one that did not lead."""
        return self.others[0]

    def _create(self, *topics: str) -> None:
        for topic in topics:
            self.cluster.admin("create-topic", topic=topic, partitions=1, replication=1)

    def _photograph_level(self) -> bool:
        self.cluster.wait_caught_up(*self.nodes)
        with self._paused(*self.nodes):
            is_level = len({end_of(node) for node in self.nodes}) == 1
            if is_level:
                self.photograph("level", *self.nodes)
        return is_level

    @contextmanager
    def _paused(self, *nodes: Node) -> Iterator[None]:
        """All at one moment, so that copies are as a file system's snapshot."""
        with ExitStack() as stack:
            for node in nodes:
                stack.enter_context(self.cluster.paused(node))
            yield

    def mount(self, plan: Plan) -> None:
        """Move each disk to the node that the plan names for it."""
        moved = []
        for host in plan.hosts:
            if any(setting.key == "node.id" for setting in host.settings):
                place = Path(host.path)
                moved.append((self.node_of(host), place.rename(f"{place}.moved")))
        for node, place in moved:
            place.rename(node.metadata_log_dir)

    def restore(self, node: Node, name: str) -> None:
        """Put an older copy of a node's directory in its place, as from a backup."""
        shutil.rmtree(node.metadata_log_dir)
        shutil.copytree(self.kept(node, name), node.metadata_log_dir)
