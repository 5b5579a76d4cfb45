"""A leader that runs no controller: it is an error everywhere, and what to do is what works."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kraftool.client.active_controller import next_step
from kraftool.client.health import Health, health
from kraftool.client.judgement import judge
from kraftool.client.live_sources import node_sources
from kraftool.client.model import QuorumView
from kraftool.client.quorum_json import describe_document
from kraftool.client.thresholds import SILENT_MS
from kraftool.net.api_versions import Offered
from kraftool.node.serving import served
from kraftool.reports.findings.finding import Severity
from kraftool.reports.text.blocks import phrases
from kraftool.reports.text.json_document import json_value
from kraftool.reports.voters.diff import diff_voters
from kraftool.reports.voters.matrix import source_table
from tests.client.views import NOW, described, gone, node, replica, view, well, without_controller


def _judged(now: QuorumView) -> Health:
    return health(without_controller(end=100, at=NOW - 1500), now)


def _codes(report: Health) -> dict[str, Severity]:
    return {finding.code.removeprefix("KT-LIVE-"): finding.severity for finding in report.findings}


def _step(now: QuorumView) -> str:
    assert now.quorum is not None
    return next_step(now, judge(now).ready)


def test_what_our_node_offers_is_not_taken_for_a_controller() -> None:
    """Kafka's are looked at by the interop tests."""
    offered = Offered(apis=served(with_controller=False))
    assert replace(node(1), offered=offered).runs_controller is False


def test_a_leader_without_a_controller_is_an_error() -> None:
    report = _judged(without_controller())
    assert _codes(report) == {"NO-CONTROLLER": Severity.ERROR}
    assert not report.is_well
    assert not report.is_quorum_well
    [finding] = report.findings
    evidence = "it leads, but runs no controller: its ApiVersions lacks CreateTopics"
    assert finding.text == f"{evidence}; no record was written in 1.5 s"
    at_once = health(without_controller(), without_controller())
    assert [finding.text for finding in at_once.findings] == [evidence]


def test_a_witness_that_follows_is_no_fault() -> None:
    before = without_controller(leader=1, end=90, at=NOW - 1500)
    assert _codes(health(before, without_controller(leader=1))) == {}


def test_what_is_not_known_is_not_called_a_witness() -> None:
    unknown = well()
    assert not unknown.lacks_controller
    assert {unknown.is_witness(node_id) for node_id in (1, 2, 3, 4)} == {None}
    broker = replace(node(1), offered=Offered(apis={"CreateTopics": (2, 7), "Fetch": (4, 18)}))
    assert broker.runs_controller is None


@pytest.mark.parametrize("leader", [1, 3])
def test_a_witness_is_one_in_json(leader: int) -> None:
    document = json_value(describe_document(without_controller(leader=leader)))
    assert document["hasActiveController"] is (leader == 1)
    assert {entry["id"]: entry["isWitness"] for entry in document["nodes"]} == {
        1: False,
        2: False,
        3: True,
    }


def test_a_witness_is_one_among_sources_of_voters() -> None:
    sources = node_sources(without_controller())
    assert [source.directory.is_witness for source in sources] == [False, False, True]
    diff = diff_voters(sources)
    assert [source["isWitness"] for source in json_value(diff.sources)] == [
        False,
        False,
        True,
    ]
    words = [
        "".join(phrase.text for phrase in phrases(row.cells[2])) for row in source_table(diff).rows
    ]
    assert ["a witness: it runs no controller" in shown for shown in words] == [False, False, True]


# The steps below are those that made a Kafka lead on real quorums of 4.3.0.


def test_with_two_kafkas_left_it_can_be_stopped() -> None:
    assert _step(without_controller()) == (
        "wait: node 3 hands leadership to a controller that has caught up. If it still leads after"
        " a minute, stop it: nodes 1 and 2 run controllers and have caught up; one of them is"
        " elected"
    )


def test_with_one_kafka_left_its_vote_is_needed() -> None:
    voters = [replica(1, fetched=-1), replica(2), replica(3)]
    leader = node(3, leader=3, quorum=described(voters, leader=3), runs_controller=False)
    now = QuorumView(nodes=(gone(1), node(2, leader=3, runs_controller=True), leader))
    step = _step(now)
    assert step.startswith(
        "wait: node 3 hands leadership to a controller that has caught up. If it"
    )
    assert "restart node 3 without --witness: node 2 runs a controller" in step
    assert "Do not leave node 3 stopped: without it 1 of 3 voters would be left" in step


def test_without_a_kafka_that_caught_up_one_has_to_come_first() -> None:
    for behind in (
        replica(2, fetched=NOW - SILENT_MS - 1),
        replica(2, end=99),
    ):
        quorum = described([replica(1, fetched=-1), behind, replica(3)], leader=3)
        leader = node(3, leader=3, quorum=quorum, runs_controller=False)
        now = QuorumView(nodes=(gone(1), node(2, leader=3, runs_controller=True), leader))
        assert _step(now).startswith(
            "make sure that a voter runs a controller and that its lag is 0"
        )


def test_witnesses_do_not_count_as_spares() -> None:
    quorum = described([replica(number) for number in (1, 2, 3)])
    two_witnesses = (node(2, runs_controller=False), node(3, runs_controller=False))
    before = well(mark=90, at=NOW - 1500)
    assert _codes(health(before, view(quorum, *two_witnesses))) == {
        "ONE-CONTROLLER": Severity.WARNING
    }
    one_witness = (node(2), node(3, runs_controller=False))
    assert _codes(health(before, view(quorum, *one_witness))) == {}
