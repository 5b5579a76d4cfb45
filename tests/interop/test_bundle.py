"""A bundle of a broken quorum of real Kafka, carried away: the same findings, and no secret."""

from __future__ import annotations

import json
import re
import zipfile
from pathlib import Path
from typing import Any

import pytest

from kraftool.repair.plan import Plan
from kraftool.repair.plan_yaml import plan_from_yaml
from tests.interop import operations, recovering
from tests.interop.clusters import Node
from tests.interop.our_commands import document, kraftool

pytestmark = pytest.mark.interop
COMMANDS = ("doctor", "diff-voters", "timeline", "simulate-election")


def test_a_bundle_of_a_broken_quorum_has_its_verdicts_its_plan_and_no_secret(
    tmp_path: Path,
) -> None:
    """Two of three voters are killed; the bundle is made while the third waits for a leader, and
    again when it is killed too, since the log of a running node goes on. The plan that was made
    from the bundle alone brings the quorum back."""
    running, stopped = tmp_path / "running.zip", tmp_path / "case.zip"
    with recovering.cluster_of("4.3.0", tmp_path) as cluster:
        controllers, broker = recovering.begin(cluster)
        operations.topics(cluster, [broker], "a")
        operations.configs(cluster, broker, "a")
        operations.scram(cluster, "a")
        alive, *dead = controllers
        cluster.kill(*dead, broker)
        nodes = [*controllers, broker]
        paths = [node.directory / "server.properties" for node in nodes]
        for path in paths:
            with path.open("a") as settings:
                settings.write("listener.name.controller.ssl.keystore.password=CANARY-setting\n")
        log = alive.directory / "server.log"
        log.write_text("cut off\nsasl.jaas.config = X required password=CANARY-in-log;\nthe end\n")
        at = ("--bootstrap-controller", alive.at("CONTROLLER"), "--server-logs", log)
        made = document("bundle", *paths, "--out", running, *at)
        cluster.kill(alive)
        document("bundle", *paths, "--out", stopped)
        _has_all(running, made, nodes)
        _has_no_canary(running)
        _has_no_canary(stopped)
        there = _answers(*paths)
        cluster.root.rename(tmp_path / "elsewhere")
        here = _answers(stopped)
        plan = _plan(tmp_path / "plan.yaml", dead, f"{stopped}:node-1", f"{stopped}:node-11")
        (tmp_path / "elsewhere").rename(cluster.root)
        _apply(plan, tmp_path / "plan.yaml", alive, broker)
        cluster.start(alive)
        assert cluster.wait_leader() is alive
    for name, answer in there.items():
        carried = re.sub(rf"{re.escape(str(stopped))}(:node-\d+(?=[/ \"]))?", "", here[name])
        assert carried == answer, name


def _has_all(file: Path, made: Any, nodes: list[Node]) -> None:
    with zipfile.ZipFile(file) as bundle:
        names = set(bundle.namelist())
        assert json.loads(bundle.read("bundle.json")) == made
        assert {"doctor.json", "live/describe.json", "live/health.json"} <= names
        assert bundle.read("node-1/server-logs/server.log").endswith(b"\nthe end\n")
    assert [node["name"] for node in made["nodes"]] == [f"node-{node.id}" for node in nodes]
    assert [bool(node["running"]) for node in made["nodes"]] == [True, False, False, False]
    for node in made["nodes"]:
        for name in ("node.collect", "listing.txt", "server.properties"):
            assert f"{node['name']}/{name}" in names
        assert sum(part["maskedBytes"] for part in node["files"]) > 0, node["name"]


def _has_no_canary(file: Path) -> None:
    with zipfile.ZipFile(file) as bundle:
        for name in bundle.namelist():
            assert b"CANARY" not in bundle.read(name), name


def _answers(*paths: object) -> dict[str, str]:
    """What the commands say of the nodes."""
    return {name: kraftool(name, *paths, "-o", "json").stdout for name in COMMANDS}


def _plan(file: Path, dead: list[Node], *paths: object) -> Plan:
    """A plan from nothing but the bundle."""
    facts = ("--set", f"lost={','.join(str(node.id) for node in dead)}", "--kafka-version", "4.3.0")
    recovering.kraftool("recover", "plan", *paths, *facts, "--out", file)
    return plan_from_yaml(file.read_bytes())


def _apply(plan: Plan, file: Path, seed: Node, broker: Node) -> None:
    """The plan on the directory that it was not made from."""
    assert plan.seed == f"node-{seed.id}"
    words = [word for risk in plan.risks for word in ("--accept", risk.word)]
    given = [f"--source={name}={broker.metadata_log_dir}" for name in
             recovering.sources_of(plan, plan.seed)]  # fmt: skip
    data = ("--dir", seed.metadata_log_dir, "--yes", plan.id)
    recovering.kraftool("recover", "apply", file, *data, *words, *given)
