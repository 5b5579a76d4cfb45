"""Refusals that once led nowhere: each has a next step now, and the step leads to a plan."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from kraftool.decoders.errors import KraftoolError
from kraftool.decoders.meta_properties import decode
from kraftool.repair.apply import Apply
from kraftool.repair.plan import Method
from kraftool.repair.planner import plan_for, read_quorum
from kraftool.repair.request import PlanRequest, with_settings
from kraftool.reports.doctor.read import examine, locations_of
from kraftool.reports.doctor.report import diagnose
from tests.repair.directories import EQUAL, NOW, Quorum
from tests.repair.repair_cases import NoSync


def properties(quorum: Quorum, *nodes: int) -> list[str]:
    """A server.properties for each node, with its own node.id."""
    paths = []
    for node in nodes:
        path = quorum[node].with_name(f"node-{node}.properties")
        path.write_text(
            f"process.roles={'broker' if node > 10 else 'controller'}\nnode.id={node}\n"
            "controller.listener.names=CONTROLLER\nlisteners=CONTROLLER://127.0.0.1:9093\n"
            "controller.quorum.bootstrap.servers=127.0.0.1:9093\n"
            f"log.dirs={quorum[node]}\n"
        )
        paths.append(str(path))
    return paths


def request(paths: list[str], *settings: str) -> PlanRequest:
    asked = with_settings(PlanRequest(surveys=(), now_ms=NOW), settings)
    read = read_quorum(paths, now_ms=NOW, lost=asked.lost)
    return read.asked(asked)


def test_the_properties_of_lost_nodes_may_lead_nowhere(tmp_path: Path) -> None:
    """The runbook asks for server.properties, and the disks of 2 and 3 are gone."""
    quorum = Quorum(tmp_path, EQUAL, [1, 2, 3, 11])
    paths = properties(quorum, 1, 2, 3, 11)
    for node in (2, 3):
        shutil.rmtree(quorum[node])
    with pytest.raises(KraftoolError, match=r"node-2\.properties leads to .*node-3\.prop") as error:
        request(paths)
    assert error.value.hint.endswith("declare it: --set lost=2,3")
    plan = plan_for(request(paths, "lost=2,3"))
    assert (plan.method, plan.seed) == (Method.APPEND, "node-1")


def test_a_node_that_is_not_lost_has_to_have_its_directory(tmp_path: Path) -> None:
    quorum = Quorum(tmp_path, EQUAL, [1, 2, 3])
    paths = properties(quorum, 1, 2, 3)
    shutil.rmtree(quorum[2])
    with pytest.raises(KraftoolError, match="which is not there") as error:
        request(paths, "lost=3")
    assert "--set lost=2,3" in error.value.hint


def edited(quorum: Quorum, node: int, other: int) -> list[str]:
    """The properties of three voters, after somebody edited the node.id of one directory."""
    paths = properties(quorum, 1, 2, 3)
    file = quorum[node] / "meta.properties"
    file.write_text(file.read_text().replace(f"node.id={node}\n", f"node.id={other}\n"))
    return paths


def test_an_edited_node_id_is_written_back(tmp_path: Path) -> None:
    """There was a host node-2-2 in the plan, and the directory was to be mounted on node 2."""
    quorum = Quorum(tmp_path, EQUAL, [1, 2, 3])
    paths = edited(quorum, 3, 2)
    plan = plan_for(request(paths))
    assert plan.cases == ("meta-properties",)
    assert [host.name for host in plan.hosts] == ["node-1", "node-2", "node-3"]
    with Apply(plan, str(quorum[3]), files=NoSync()) as apply:
        apply.carry_out(NOW, "1.0")
    meta, _ = decode((quorum[3] / "meta.properties").read_bytes())
    assert meta.node_id == 3
    assert plan_for(request(paths)).method is Method.NONE


def test_the_doctor_says_one_thing_of_an_edited_node_id(tmp_path: Path) -> None:
    """One finding said: do not edit node.id. Another one said: write 3 back."""
    paths = edited(Quorum(tmp_path, EQUAL, [1, 2, 3]), 3, 2)
    locations, findings = locations_of(paths)
    report = diagnose(examine(locations, findings))
    advice = {finding.code: finding.advice for finding in report.findings if finding.advice}
    about = {code: advice[code] for code in ("KT-DIR-NODE-ID", "KT-DIR-STALE-VOTER")}
    assert all("rite node.id=3 back" in text for text in about.values()), about
    assert "KT-DIR-SAME-NODE-ID" not in advice


def test_a_swapped_disk_is_not_an_edited_node_id(tmp_path: Path) -> None:
    quorum = Quorum(tmp_path, EQUAL, [1, 2, 3])
    paths = properties(quorum, 1, 2, 3)
    for path, node in ((paths[1], 3), (paths[2], 2)):
        file = Path(path)
        kept = [line for line in file.read_text().splitlines() if not line.startswith("log.dirs")]
        file.write_text("\n".join([*kept, f"log.dirs={quorum[node]}"]) + "\n")
    plan = plan_for(request(paths))
    assert plan.cases == ("other-nodes-disk",)
    assert not any(host.edits for host in plan.hosts)
