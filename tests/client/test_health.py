"""What is told of a live quorum: each finding with its threshold, from both sides of it."""

from __future__ import annotations

from dataclasses import replace

from kraftool.client.health import health
from kraftool.client.judgement import judge
from kraftool.client.model import QuorumView
from kraftool.client.thresholds import LAG_MS, LAG_RECORDS, SILENT_MS
from kraftool.raft.names import Endpoint
from kraftool.reports.findings.finding import Severity
from tests.client.views import NOW, described, gone, node, replica, view, well


def _codes(now: QuorumView, before: QuorumView | None = None) -> set[str]:
    findings = health(before or well(mark=90, at=NOW - 1500), now).findings
    return {finding.code.removeprefix("KT-LIVE-") for finding in findings}


def test_a_quorum_that_is_well_has_no_findings() -> None:
    report = health(well(mark=90, at=NOW - 2000), well())
    assert report.findings == ()
    assert report.is_well
    assert report.commits_per_second == 5
    assert report.judgement.ready == (1, 2, 3)


def test_a_voter_is_silent_after_three_fetch_timeouts() -> None:
    """It does not count as a spare before that: it has not fetched since the earlier poll."""
    for fetched, expected in (
        (NOW - 1499, set()),
        (NOW - 1500, {"NO-SPARE"}),
        (NOW - SILENT_MS, {"NO-SPARE"}),
        (NOW - SILENT_MS - 1, {"SILENT", "NO-SPARE"}),
    ):
        voters = [replica(1), replica(2), replica(3, fetched=fetched, caught_up=NOW)]
        assert _codes(view(described(voters), node(2), node(3))) == expected


def test_without_a_majority_nothing_is_committed() -> None:
    voters = [replica(1, end=105), replica(2, fetched=NOW - 9000), replica(3, fetched=-1)]
    quorum = described(voters, mark=90)
    codes = _codes(view(quorum, node(2), gone(3)))
    assert codes == {"NO-MAJORITY", "SILENT", "UNREACHED", "STUCK"}
    report = health(well(mark=90, at=NOW - 1500), view(quorum, node(2), gone(3)))
    assert not report.is_well
    assert report.findings[0].severity is Severity.ERROR


def test_a_majority_is_lost_though_the_leader_has_resigned() -> None:
    """Whoever saw the last leader knows the voters."""
    alone = QuorumView(nodes=(node(1, leader=None, epoch=6), gone(2), gone(3)))
    before = well(mark=90, at=NOW - 1500)
    judged = judge(alone, before, last_voters=(1, 2, 3))
    codes = {one.code for one in health(before, alone, judgement=judged).findings}
    assert "KT-LIVE-NO-MAJORITY" in codes
    assert "NO-MAJORITY" not in _codes(alone), "nobody says who the voters are"


def test_a_voter_that_stopped_some_seconds_ago_does_not_lag() -> None:
    """The leader cannot know yet why it does not fetch; its address shows it."""
    stopped = replica(3, end=90, fetched=NOW - SILENT_MS + 1, caught_up=NOW - SILENT_MS)
    voters = [replica(1), replica(2), stopped]
    assert "LAG" in _codes(view(described(voters), node(2), node(3))), "it answers"
    assert "LAG" not in _codes(view(described(voters), node(2), gone(3)))
    lagging = [replica(1), replica(2), replica(3, caught_up=NOW - LAG_MS - 1)]
    assert "LAG" in _codes(view(described(lagging), node(2), gone(3))), "it still fetches"


def test_lag_is_told_in_records_and_in_time() -> None:
    end = 5000
    for behind, expected in ((LAG_RECORDS, set()), (LAG_RECORDS + 1, {"LAG"})):
        voters = [replica(1, end=end), replica(2, end=end), replica(3, end=end - behind)]
        now = view(described(voters, mark=end), node(2), node(3))
        assert _codes(now) == expected
    voters = [replica(1), replica(2), replica(3, caught_up=NOW - LAG_MS - 1)]
    assert _codes(view(described(voters), node(2), node(3))) == {"LAG"}
    observers = [replica(4, end=0)]
    now = view(described([replica(n, end=end) for n in (1, 2, 3)], observers, mark=end), node(2))
    assert "LAG" in _codes(now), "an observer's counts too"


def test_without_a_leader() -> None:
    now = QuorumView(nodes=(gone(1), node(2, leader=None, epoch=6), node(3, leader=None, epoch=6)))
    assert _codes(now) == {"NO-LEADER", "UNREACHED", "ELECTION"}


def test_nothing_is_known_of_a_quorum_that_no_address_reached() -> None:
    """The only address that was given is that of a dead controller: the others may be healthy."""
    now = QuorumView(nodes=(gone(2),))
    assert _codes(now) == {"NO-ANSWER", "UNREACHED"}
    (finding,) = (
        finding for finding in health(now, now).findings if finding.code == "KT-LIVE-NO-ANSWER"
    )
    assert finding.text == "unknown: 1 address asked, and none answered"
    assert "name the other controllers" in finding.advice


def test_a_leader_that_others_know_to_be_old_is_none() -> None:
    old = view(described([replica(n) for n in (1, 2, 3)]), node(2, leader=None, epoch=6))
    assert old.leader is None
    assert {"NO-LEADER", "ELECTION"} <= _codes(old)


def test_two_leaders_of_one_epoch_are_worse_than_of_two() -> None:
    second = described([replica(n) for n in (1, 2, 3)], leader=2)
    for epoch, severity in ((5, Severity.ERROR), (4, Severity.WARNING)):
        other = node(2, leader=2, epoch=epoch, quorum=replace(second, leader_epoch=epoch))
        now = view(described([replica(n) for n in (1, 2, 3)]), other, node(3))
        findings = [e for e in health(well(), now).findings if e.code == "KT-LIVE-TWO-LEADERS"]
        assert [finding.severity for finding in findings] == [severity]


def test_whoever_names_another_leader_disagrees() -> None:
    quorum = described([replica(n) for n in (1, 2, 3)])
    for other in (node(3, leader=3, epoch=4), node(3, leader=None, epoch=5)):
        assert _codes(view(quorum, node(2), other)) == {"DISAGREE", "NO-SPARE"}


def test_an_idle_log_is_no_fault_and_a_stuck_one_is() -> None:
    assert _codes(well(mark=90), well(mark=90, at=NOW - 1500)) == {"IDLE"}
    voters = [replica(n, end=100) for n in (1, 2, 3)]
    now = view(described(voters, mark=90), node(2), node(3))
    assert _codes(now) == {"STUCK"}


def test_numbers_of_voters() -> None:
    for count, expected in ((1, "FEW-VOTERS"), (2, "FEW-VOTERS"), (4, "EVEN-VOTERS")):
        voters = [replica(number) for number in range(1, count + 1)]
        others = [node(number) for number in range(2, count + 1)]
        assert _codes(view(described(voters), *others)) == {expected}


def test_a_controller_that_does_not_vote_is_told() -> None:
    quorum = described([replica(n) for n in (1, 2, 3)], [replica(4)])
    now = view(quorum, node(2, controllers=(1, 2, 3, 4)), node(3), node(4))
    (finding,) = health(well(mark=90, at=NOW - 1500), now).findings
    assert (finding.code, "quorum add-controller" in finding.advice) == ("KT-LIVE-STANDBY", True)


def test_a_controller_that_is_only_registered_is_no_reason_to_exit_1() -> None:
    """A registration outlives its node, as after remove-controller or a recovery."""
    voters = [replica(n) for n in (1, 2, 3)]
    for others in ([], [gone(4)]):
        now = view(described(voters), node(2, controllers=(1, 4)), node(3), *others)
        report = health(well(mark=90, at=NOW - 1500), now)
        assert report.is_well, report.findings
        (finding,) = [one for one in report.findings if one.code == "KT-LIVE-STALE-REGISTRATION"]
        assert "does not fetch" in finding.text
        assert "kraftool quorum add-controller" not in finding.advice


def test_a_registered_controller_that_fetches_and_cannot_be_reached_is_missed() -> None:
    quorum = described([replica(n) for n in (1, 2, 3)], [replica(4)])
    now = view(quorum, node(2, controllers=(1, 4)), node(3), gone(4))
    assert {"STANDBY", "UNREACHED"} <= _codes(now)
    assert not health(now, now).is_well


def test_a_voter_that_cannot_be_reached_is_missed_and_any_node_without_a_leader() -> None:
    quorum = described([replica(1), replica(2), replica(3)])
    now = view(quorum, node(2), gone(3))
    assert not health(now, now).is_well
    leaderless = QuorumView(nodes=(node(1, leader=None), node(2, leader=None), gone(4)))
    severities = {one.code: one.severity for one in health(leaderless, leaderless).findings}
    assert severities["KT-LIVE-UNREACHED"] is Severity.WARNING


def test_levels_that_a_node_does_not_support_or_does_not_apply() -> None:
    quorum = described([replica(n) for n in (1, 2, 3)])
    older = {"kraft.version": (0, 1), "metadata.version": (7, 29)}
    assert _codes(view(quorum, node(2, supported=older), node(3))) == {"FEATURE-RANGE"}
    behind = node(3, finalized={"kraft.version": 1, "metadata.version": 29})
    now = view(quorum, node(2), behind)
    assert _codes(now) == set(), "it may be about to"
    assert _codes(now, view(replace(quorum, high_watermark=90), node(2), behind)) >= {
        "FEATURES-DIFFER"
    }


def test_static_voters_and_those_that_only_metadata_calls_dynamic() -> None:
    voters = [
        replace(replica(n), replica=replica(n).replica._replace(directory_id=None))
        for n in (1, 2, 3)
    ]
    quorum = described(voters)
    assert _codes(view(quorum, node(2), node(3))) == {"FALSE-UPGRADE"}
    static = {"metadata.version": 30}
    leader = node(1, quorum=quorum, finalized=static)
    now = QuorumView(nodes=(leader, node(2, finalized=static), node(3, finalized=static)))
    assert _codes(now) == {"STATIC"}


def test_nodes_of_two_clusters() -> None:
    quorum = described([replica(n) for n in (1, 2, 3)])
    other = replace(node(3), cluster_id="another", endpoint=Endpoint("x", 1))
    assert "CLUSTER-ID" in _codes(view(quorum, node(2), other))


def test_of_nodes_of_two_clusters_only_that_is_said() -> None:
    """Leader 7 of another quorum, with a follower, is among the bootstrap addresses."""
    quorum = described([replica(n) for n in (1, 2, 3)])
    theirs = described([replica(7), replica(8)], epoch=9, leader=7)
    others = [
        node(7, leader=7, epoch=9, quorum=theirs, controllers=(7, 8)),
        node(8, leader=7, epoch=9, controllers=(7, 8)),
    ]
    for epoch in (9, 3, 5):
        apart = [
            replace(
                one,
                cluster_id="another",
                epoch=epoch,
                quorum=None if one.quorum is None else replace(theirs, leader_epoch=epoch),
            )
            for one in others
        ]
        now = view(quorum, node(2), node(3), *apart)
        findings = health(now, now).findings
        codes = {finding.code.removeprefix("KT-LIVE-") for finding in findings}
        assert codes <= {"CLUSTER-ID", "IDLE", "FEW-VOTERS", "NO-SPARE"}, (epoch, codes)
        assert "CLUSTER-ID" in codes
        advice = " ".join(finding.advice for finding in findings)
        assert "add-controller" not in advice
        assert "resigns" not in " ".join(finding.kind.meaning for finding in findings)
        follower = view(quorum, node(2), node(3), apart[1])
        codes = {finding.code for finding in health(follower, follower).findings}
        assert codes <= {"KT-LIVE-CLUSTER-ID", "KT-LIVE-IDLE"}, (epoch, codes)
