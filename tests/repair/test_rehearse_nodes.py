"""What is said of nodes that run on copies: their voters, their metadata, their end."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from kraftool.image.image import MetadataImage
from kraftool.repair.rehearsal_local import LocalNode
from kraftool.repair.rehearsal_nodes import Cast, rehearse_nodes
from kraftool.repair.rehearsal_software import Running, own_node
from kraftool.reports.findings.finding import Severity
from kraftool.reports.state.load import load_state
from tests.repair.directories import EQUAL, Quorum
from tests.repair.repair_cases import apply

pytestmark = pytest.mark.slow


def a_cast(quorum: Quorum, image: MetadataImage, *, after: Sequence[int], fenced: bool) -> Cast:
    return Cast(
        voters={1: str(quorum[1])},
        back={node: str(quorum[node]) for node in (2, 3)} if fenced else {},
        voters_after=tuple(after),
        voters_before=(1, 2, 3),
        is_static=False,
        is_fenced=fenced,
        is_promised=True,
        expected={1: image},
    )


def test_other_voters_and_other_metadata_than_the_plans_are_errors(tmp_path: Path) -> None:
    quorum = Quorum(tmp_path / "quorum", EQUAL, [1, 11])
    apply(quorum.plan("lost=2,3"), quorum[1])
    old = load_state(str(quorum[1]), at=60).image
    new = load_state(str(quorum[1])).image
    assert new.topics.by_name.keys() > old.topics.by_name.keys()
    (folder := tmp_path / "run").mkdir()
    cast = a_cast(quorum, old, after=[1, 9], fenced=False)
    rehearsal = rehearse_nodes(own_node(), cast, str(folder), 120, lambda words: None)
    assert (rehearsal.leader_id, rehearsal.voters) == (1, (1,))
    assert rehearsal.topics == len(new.topics.by_id)
    assert rehearsal.findings[0].code == "KT-REC-VOTERS"
    assert "the leader names 1, but the plan has 1 and 9" in rehearsal.findings[0].text
    state_findings = [finding for finding in rehearsal.findings if finding.code == "KT-REC-STATE"]
    assert any("is new" in finding.text for finding in state_findings)
    assert {finding.severity for finding in rehearsal.findings} == {Severity.ERROR}


def test_behind_a_fence_the_old_majority_leads_itself_and_that_is_no_finding(
    tmp_path: Path,
) -> None:
    quorum = Quorum(tmp_path / "quorum", EQUAL, [1, 2, 3, 11])
    apply(quorum.plan("lost=2,3", nodes=[1, 11]), quorum[1])
    meta = quorum[1] / "meta.properties"
    lines = [line for line in meta.read_text().splitlines() if not line.startswith("cluster.id")]
    meta.write_text("\n".join([*lines, "cluster.id=AAAAAAAAAAAAAAAAAAAAAg", ""]))
    image = load_state(str(quorum[1])).image
    (folder := tmp_path / "run").mkdir()
    cast = a_cast(quorum, image, after=[1], fenced=True)
    rehearsal = rehearse_nodes(own_node(), cast, str(folder), 120, lambda words: None)
    assert rehearsal.findings == ()
    assert rehearsal.leader_id == 1
    assert {returned.leader_id for returned in rehearsal.returned} <= {2, 3}
    assert not any(returned.is_following or returned.last_words for returned in rehearsal.returned)


def test_the_last_words_are_those_of_an_error(tmp_path: Path) -> None:
    log = tmp_path / "node.log"
    log.write_bytes(b"first\nERROR it cannot be \xff\n\tat a.b.C\nCaused by: x\nlater\n")
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        node = LocalNode(id=1, directory="", folder="", port=1)
        running = Running(node=node, process=process, log=str(log))
        assert running.last_words() == "ERROR it cannot be \ufffd"
        log.write_bytes(b"only\nthis\n")
        assert running.last_words() == "this"
        log.write_bytes(b"")
        assert running.last_words() == "it said nothing"
