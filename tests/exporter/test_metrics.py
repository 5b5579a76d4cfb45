"""The exporter's page: a value that is known has a sample, and one that is not known has none."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families

from kraftool.client.asking import Access
from kraftool.client.model import QuorumView
from kraftool.client.target import Target
from kraftool.exporter.cluster_watch import ClusterState, WatchedCluster
from kraftool.exporter.metrics import METRICS, ExportedMetric, QuorumCollector
from kraftool.net.metrics_page import page_of
from kraftool.reports.findings.kinds import live as kinds
from kraftool.watching.picture import Picture
from kraftool.watching.poll_history import Remembering
from kraftool.watching.quorum import quorum_report
from kraftool.watching.safety import live_health
from tests.client.views import NOW, described, endpoint, gone, node, replica, view, well

OPEN_METRICS = "application/openmetrics-text; version=1.0.0"
Samples = dict[tuple[str, tuple[tuple[str, str], ...]], float]


def state(
    now: QuorumView, *, voters: tuple[int, ...] = (), earlier: tuple[QuorumView, ...] = ()
) -> ClusterState:
    remembering = Remembering()
    for before, polled in enumerate(earlier):
        remembering.take(NOW - 1_000 * (len(earlier) - before), polled, ())
    history = remembering.take(NOW, now, ())
    picture = Picture(at_ms=NOW, view=now, history=history)
    report = quorum_report(picture)
    health = live_health(picture, None, report.judgement)
    target = Target(bootstrap=(endpoint(1),), access=Access())
    cluster = WatchedCluster(name="payments", target=target, expected_voters=voters)
    return ClusterState(
        cluster=cluster, at_s=7.0, report=report, health=health, findings=health.findings
    )


def samples(*states: ClusterState) -> Samples:
    page, content_type = page_of(QuorumCollector(lambda: states), OPEN_METRICS)
    assert content_type.startswith("application/openmetrics-text")
    parse: Any = text_string_to_metric_families
    families = parse(page.decode())
    return {
        (sample.name.removeprefix("kraftool_"), tuple(sorted(sample.labels.items()))): sample.value
        for family in families
        for sample in family.samples
    }


def of(found: Samples, name: str, **labels: str) -> float | None:
    return found.get((name, tuple(sorted({"cluster": "payments", **labels}.items()))))


def test_a_quorum_that_is_well_is_shown_with_its_nodes() -> None:
    found = samples(state(well()))
    assert of(found, "quorum_leader_id") == 1
    assert of(found, "quorum_epoch") == 5
    assert of(found, "quorum_high_watermark") == 100
    assert of(found, "quorum_voters") == 3
    assert of(found, "quorum_nodes_reached") == 3
    assert of(found, "quorum_leaderless_timestamp_seconds") == 0
    for number in "123":
        assert of(found, "node_reachable", node_id=number) == 1
        assert of(found, "node_leader_id", node_id=number) == 1
        assert of(found, "node_lag_records", node_id=number) == 0


def test_where_no_node_leads_the_leader_is_minus_one_and_nothing_is_said_of_a_watermark() -> None:
    found = samples(state(QuorumView(nodes=(node(1, leader=None), node(2, leader=None), gone(3)))))
    assert of(found, "quorum_leader_id") == -1
    assert of(found, "quorum_high_watermark") is None
    assert of(found, "node_reachable", node_id="3") == 0
    assert of(found, "node_leader_id", node_id="1") == -1
    assert of(found, "node_leader_id", node_id="3") is None, "it said nothing"
    assert of(found, "finding", code=kinds.NO_LEADER.code, severity="error") == 1


def test_where_no_node_was_reached_nothing_is_said_of_a_leader() -> None:
    found = samples(state(QuorumView(nodes=(gone(1), gone(2), gone(3)))))
    assert of(found, "quorum_nodes_reached") == 0
    assert of(found, "quorum_leader_id") is None
    assert of(found, "quorum_leaderless_timestamp_seconds") is None
    assert of(found, "quorum_failures_tolerated") is None


def test_a_majority_that_is_lost_is_a_finding_though_the_leader_has_resigned() -> None:
    """The alert on it would never fire otherwise: a leader resigns after a few seconds."""
    alone = QuorumView(nodes=(node(1, leader=None, epoch=6), gone(2), gone(3)))
    found = samples(state(alone, earlier=(well(),)))
    assert of(found, "finding", code=kinds.NO_MAJORITY.code, severity="error") == 1
    assert of(found, "quorum_failures_tolerated") == 0
    electing = QuorumView(nodes=(*(node(n, leader=None, epoch=6) for n in (1, 2)), gone(3)))
    found = samples(state(electing, earlier=(well(),)))
    assert of(found, "finding", code=kinds.NO_MAJORITY.code, severity="error") is None


def test_nothing_is_said_of_a_majority_that_only_this_exporter_does_not_reach() -> None:
    nobody = QuorumView(nodes=(gone(1), gone(2), gone(3)))
    found = samples(state(nobody, earlier=(well(),)))
    assert of(found, "finding", code=kinds.NO_MAJORITY.code, severity="error") is None
    assert of(found, "quorum_failures_tolerated") is None


def test_two_leaders_are_counted() -> None:
    old = described([replica(number) for number in (1, 2, 3)], epoch=4, leader=2)
    quorum = well().quorum
    assert quorum is not None
    found = samples(state(view(quorum, node(2, leader=2, epoch=4, quorum=old), node(3))))
    assert of(found, "quorum_leaders_claimed") == 2


def test_a_voter_that_is_behind_has_its_lag() -> None:
    voters = [replica(1), replica(2, end=40, caught_up=NOW - 9_000), replica(3)]
    found = samples(state(view(described(voters), node(2), node(3))))
    assert of(found, "node_lag_records", node_id="2") == 60
    assert of(found, "node_lag_seconds", node_id="2") == 9


@pytest.mark.parametrize(
    ("expected", "value"), [((), None), ((1, 2, 3), 0.0), ((1, 2), 1.0), ((1, 2, 4), 1.0)]
)
def test_other_voters_than_expected_are_shown_only_if_some_are(
    expected: tuple[int, ...], value: float | None
) -> None:
    assert of(samples(state(well(), voters=expected)), "quorum_voters_unexpected") == value


def test_findings_are_counted_by_code_and_severity() -> None:
    lag = kinds.LAG.at("voter 2", "60 records behind")
    found = samples(replace(state(well()), findings=(lag, kinds.LAG.at("voter 3", "x"))))
    assert of(found, "finding", code="KT-LIVE-LAG", severity="warning") == 2


def test_two_clusters_are_told_apart_by_their_names() -> None:
    one = state(well())
    other = replace(one, cluster=replace(one.cluster, name="orders"))
    found = samples(one, other)
    leaders = {labels: value for (name, labels), value in found.items() if name == "quorum_epoch"}
    assert leaders == {(("cluster", "orders"),): 5.0, (("cluster", "payments"),): 5.0}


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.name)
def test_names_are_as_prometheus_wants_them(metric: ExportedMetric) -> None:
    """Lower case, a help text each, counters end in _total, times are in seconds."""
    assert re.fullmatch(r"[a-z][a-z0-9_]*[a-z0-9]", metric.name)
    assert metric.name.endswith("_total") == metric.is_counter
    assert not re.search(r"_(ms|millis|milliseconds|minutes|days)$", metric.name)
    assert metric.help
    assert not metric.help.endswith(".")


def test_no_name_is_there_twice() -> None:
    names = [metric.name for metric in METRICS]
    assert len(names) == len(set(names))


def test_labels_are_bounded_by_nodes_racks_and_codes() -> None:
    labels = {label for metric in METRICS for label in metric.labels}
    assert labels == {"node_id", "role", "listener", "state", "rack", "code", "severity"}
