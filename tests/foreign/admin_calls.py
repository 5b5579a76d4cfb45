"""Every method of Kafka's Admin, called in one order by `java/AdminCalls.java`."""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from pathlib import Path

from tests.foreign.cluster import addresses
from tests.foreign.suite import Outcomes, Suite, run_program
from tests.interop import kafka
from tests.interop.clusters import Cluster

_JAVA = Path(__file__).with_name("java")
_MAIN = _JAVA / "AdminCalls.java"


class AdminCalls(Suite):
    """One program, whose steps need each other."""

    name = "admin"
    programs = ("java",)
    may_run_again = False

    def may_differ(self, kafka: str, kraftool: str) -> bool:
        """Return True for another sentence of the same error."""
        return kafka.partition(":")[0] == kraftool.partition(":")[0]

    def bring(self, cache: Path) -> None:
        """Bring nothing: it is compiled with the jars of the cluster's release."""

    def run(self, cluster: Cluster, folder: Path, only: Collection[str] = ()) -> Outcomes:
        """Run the program; `only` selects from its outcomes."""
        others = sorted(path for path in _JAVA.glob("*.java") if path != _MAIN)
        classes = kafka.compiled(cluster.version, _MAIN, *others)
        command = kafka.java_command(
            cluster.version,
            "AdminCalls",
            *(addresses(cluster, listener) for listener in ("BROKER", "SASL", "CONTROLLER")),
            heap="-Xmx200m",
            level="ERROR",
        )
        place = command.index("-cp") + 1
        command[place] = f"{command[place]}:{classes}"
        output = run_program(command, folder / "admin.log", timeout_s=600)
        lines = [json.loads(line) for line in output.splitlines() if line.startswith("{")]
        outcomes = {line["test"]: _without_chance(line["outcome"], cluster) for line in lines}
        assert len(outcomes) == len(lines), "each step has a name of its own"
        return {name: outcomes[name] for name in only} if only else outcomes


def _without_chance(outcome: str, cluster: Cluster) -> str:
    """Return an outcome without ports, without the node that happens to lead, and without ids."""
    for node in cluster.nodes.values():
        for listener, port in node.ports.items():
            outcome = re.sub(rf"\b{port}\b", f"{listener}-{node.id}", outcome)
    outcome = re.sub(r"CONTROLLER-[123]", "CONTROLLER", outcome)
    outcome = re.sub(r"directoryId=[A-Za-z0-9_-]{22}", "directoryId=ID", outcome)
    outcome = _VOTERS.sub(lambda found: str(sorted(_VOTER.findall(found[0]))), outcome)
    outcome = re.sub(r"(Local controller )[123]\b", r"\1N", outcome)
    # kraftool may support a newer level than the release of the cluster.
    return re.sub(r"(only supports versions 7-)\d+", r"\1N", outcome)


_VOTER = re.compile(r"ReplicaKey\([^)]*\)")
_VOTERS = re.compile(rf"\[{_VOTER.pattern}(, {_VOTER.pattern})*\]")
"""A set of voters, which Kafka shows in the order of a hash map."""
