"""Rehearses the plan of a quorum that lost controllers, with their directories or without.

Owns the command lines of `recover rehearse`, and the report of a rehearsal without problems. The
tests make the quorums.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from kraftool.repair.plan import Plan
from kraftool.repair.plan_yaml import plan_from_yaml
from tests.interop import kafka
from tests.interop.clusters import Cluster, Node
from tests.interop.our_commands import document
from tests.interop.our_nodes import end_of
from tests.interop.recovering import kraftool


@dataclass(frozen=True, slots=True)
class Rehearsals:
    """A quorum that lost some controllers, and the plan for the one that survived."""

    cluster: Cluster
    survivor: Node
    lost: Sequence[Node]
    broker: Node
    topics: Sequence[str]

    @property
    def plan_file(self) -> Path:
        return self.cluster.root.parent / "rehearsed.yaml"

    def plan(self, *more: str) -> Plan:
        ids = ",".join(str(node.id) for node in self.lost)
        paths = [node.metadata_log_dir for node in (self.survivor, self.broker)]
        options = ("--set", f"lost={ids}", "--kafka-version", self.cluster.version, *more)
        self.plan_file.unlink(missing_ok=True)
        kraftool("recover", "plan", *paths, *options, "--out", self.plan_file)
        return plan_from_yaml(self.plan_file.read_bytes())

    def rehearse(self, *options: object, version: str = "", code: int = 0) -> Any:
        """Rehearse with a Kafka, by default this one, and return the document."""
        release = version or self.cluster.version
        given = (*options, "--kafka", kafka.home(release), "--seeds", 1, "--timeout", 300)
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("KAFKA_HEAP_OPTS", kafka.light(release))
            return document("recover", "rehearse", self.plan_file, *given, "--quiet", code=code)

    def rehearse_all(self, plan: Plan) -> Any:
        """With the lost directories; all is well, but for what only they have.

        Their leader was killed, too, and may have records that nobody else took.
        """
        known = max((ranked.last_epoch, ranked.end_offset) for ranked in plan.ranking)
        ends = [end_of(node) for node in self.lost]
        is_ahead = any((end.epoch, end.offset) > known for end in ends)
        nodes = (self.survivor, self.broker, *self.lost)
        given = [word for node in nodes for word in ("--dir", node.metadata_log_dir)]
        report = self.rehearse(*given, code=1 if is_ahead else 0)
        # What takes the leader's death at the wrong moment is info.
        codes = {finding["code"] for finding in report["findings"] if finding["severity"] != "info"}
        assert codes == ({"KT-REC-AHEAD"} if is_ahead else set())
        assert report["isWell"] is not is_ahead
        return report
