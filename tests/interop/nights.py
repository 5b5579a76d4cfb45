"""The night of two lost controllers: what an operator does, with kraftool's commands and Kafka's.

Owns the steps from the loss of the disks to new controllers. The quorum is for the tests.
"""

from __future__ import annotations

import re
import shlex
import shutil

from kraftool.repair.plan import Action, Plan
from kraftool.repair.plan_yaml import plan_from_yaml
from tests.interop import kafka, recovering
from tests.interop.clusters import Cluster, Node
from tests.interop.recovering import kraftool


class Night:
    """A cluster, what it had before, and the files that recovery makes."""

    def __init__(
        self, cluster: Cluster, controllers: list[Node], broker: Node, topics: list[str]
    ) -> None:
        self.cluster, self.controllers, self.broker = cluster, controllers, broker
        self.plan_file = cluster.root.parent / "plan.yaml"
        self.topics = list(topics)

    def strike(self) -> tuple[Node, list[Node]]:
        """Kill the leader, let the others go on, kill them all; the survivor and the lost."""
        survivor, self.topics = recovering.strike(self.cluster, self.broker)
        return survivor, self.lose(survivor)

    def lose(self, survivor: Node) -> list[Node]:
        """The disks of all controllers but one; those that are lost."""
        lost = [controller for controller in self.controllers if controller is not survivor]
        for node in lost:
            shutil.move(node.metadata_log_dir, node.directory / "lost")
        return lost

    def collect_and_plan(self, survivor: Node, lost: list[Node], *more: str) -> Plan:
        collected = []
        for node in (survivor, self.broker):
            file = self.plan_file.with_name(f"node-{node.id}.collect")
            file.unlink(missing_ok=True)
            kraftool("recover", "collect", node.directory / "server.properties", "--out", file)
            collected.append(file)
        ids = ",".join(str(node.id) for node in lost)
        options = ("--set", f"lost={ids}", "--kafka-version", self.cluster.version, *more)
        self.plan_file.unlink(missing_ok=True)
        kraftool("recover", "plan", *collected, *options, "--out", self.plan_file)
        return plan_from_yaml(self.plan_file.read_bytes())

    def do(self, plan: Plan, action: Action) -> None:
        """Run kraftool's commands of a step as the plan prints them."""
        for step in plan.steps:
            for command in step.commands if step.action is action else ():
                words = shlex.split(command)
                if words[0] != "kraftool":
                    continue
                words = [word.replace("plan.yaml", str(self.plan_file)) for word in words[1:]]
                words = [
                    re.sub(r"=node-\d+-data$", f"={self.broker.metadata_log_dir}", word)
                    for word in words
                ]
                kraftool(*words, *(("--yes", plan.id) if action is Action.APPLY else ()))

    def has_everything(self) -> None:
        """Topics, configs and messages are the same as before."""
        kafka.wait_for(
            "the broker to know of every topic",
            lambda: set(self.topics) <= set(self.cluster.admin("list-topics")),
        )
        shown = kraftool("state", self.broker.metadata_log_dir, "-o", "json")
        assert '"retention.ms"' in shown
        recovering.consumed(self.cluster, self.broker)

    def add_controllers(self, survivor: Node) -> list[Node]:
        """Add two new controllers with Kafka's own tools, as the plan says."""
        cluster = self.cluster
        for controller in self.controllers:
            if controller is not survivor:
                del cluster.nodes[controller.id]
        new = [cluster.add_node(number, ("controller",)) for number in (4, 5)]
        cluster.use_bootstrap_servers()
        cluster.format(new, "--no-initial-controllers")
        for node in new:
            cluster.start(node)
            cluster.wait_caught_up(node)
            at = ("--bootstrap-controller", survivor.at("CONTROLLER"))
            options = (*at, "--command-config", "server.properties", "add-controller")
            tool = "org.apache.kafka.tools.MetadataQuorumCommand"
            kafka.run(cluster.version, tool, *options, cwd=node.directory, check=True)
        # A broker finds a new leader by its bootstrap servers alone, which are others now.
        cluster.stop(self.broker)
        cluster.start(self.broker)
        return new
