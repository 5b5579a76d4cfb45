"""The one judgement of a live quorum: grades, tolerance, and who may stop, on one picture."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from kraftool.client.between_polls import earlier_poll
from kraftool.client.grades import Grade
from kraftool.client.health import health
from kraftool.client.judgement import Judgement, judge
from kraftool.client.model import NodeAnswer, QuorumView
from kraftool.client.quorum_json import health_document
from kraftool.client.stopping import StopVerdict, may_stop
from kraftool.net.errors import Failure
from kraftool.raft.messages import ReplicaState
from kraftool.reports.findings.finding import Severity
from kraftool.watching import summary
from kraftool.watching.directory_reading import DirectoryReading
from kraftool.watching.picture import Picture, WatchHistory
from kraftool.watching.quorum import QuorumReport, quorum_report
from tests.client.views import (
    NOW,
    described,
    gone,
    node,
    replica,
    view,
    well,
    without_controller,
)
from tests.tui.recording import pictures

BEFORE = NOW - 1500
THEN = well(mark=90, at=BEFORE)
KAFKAS = tuple(node(node_id, runs_controller=True) for node_id in (2, 3))
UNTRUSTED = replace(
    gone(3), problem="certificate verify failed", failure=Failure.SERVER_CERTIFICATE
)
"""A voter with a certificate that nobody accepts: it still fetches."""


def _late(answer: NodeAnswer, ms: int = 1200) -> NodeAnswer:
    return replace(answer, waiting_ms=ms)


def _quorum(
    *others: NodeAnswer, voters: Sequence[ReplicaState] = (), mark: int = 100
) -> QuorumView:
    return view(described(voters or [replica(n) for n in (1, 2, 3)], mark=mark), *others)


def _report(now: QuorumView, before: QuorumView | None = THEN) -> QuorumReport:
    return quorum_report(Picture(at_ms=NOW, view=now, history=WatchHistory(before=before)))


def _grades(judgement: Judgement) -> dict[int, Grade]:
    return {voter.id: voter.grade for voter in judgement.voters}


def _restart_cells(report: QuorumReport) -> dict[int | None, str]:
    return {
        replica.id: summary.cells(report, replica)[summary.RESTART].text
        for replica in report.replicas
    }


# --- equal verdicts -------------------------------------------------------------------------------

_PICTURES = {
    "all ready": (THEN, _quorum(*KAFKAS)),
    "one poll": (None, _quorum(*KAFKAS)),
    "one refuses": (
        THEN,
        _quorum(KAFKAS[0], gone(3), voters=[replica(1), replica(2), replica(3, fetched=BEFORE)]),
    ),
    "one out of reach": (THEN, _quorum(KAFKAS[0], UNTRUSTED)),
    "one silent": (
        THEN,
        _quorum(*KAFKAS, voters=[replica(1), replica(2), replica(3, fetched=BEFORE)]),
    ),
    "one behind": (THEN, _quorum(*KAFKAS, voters=[replica(1), replica(2), replica(3, end=89)])),
    "one astray": (THEN, _quorum(KAFKAS[0], node(3, leader=None, epoch=5))),
    "two of two": (None, view(described([replica(1), replica(2)]), KAFKAS[0])),
    "one of one": (None, view(described([replica(1)]))),
    "a new leader": (view(described([replica(1)], epoch=4), *KAFKAS), _quorum(*KAFKAS)),
    "no majority": (
        THEN,
        _quorum(gone(2), gone(3), voters=[replica(1), *(replica(n, fetched=0) for n in (2, 3))]),
    ),
    "no leader": (THEN, QuorumView(nodes=(gone(1), *(node(n, leader=None) for n in (2, 3))))),
    "stuck": (THEN, _quorum(*KAFKAS, voters=[replica(n, end=120) for n in (1, 2, 3)], mark=90)),
    "stuck for long": (
        well(mark=90, at=NOW - 5000),
        _quorum(*KAFKAS, voters=[replica(n, end=120) for n in (1, 2, 3)], mark=90),
    ),
    "nothing committed": (THEN, _quorum(*KAFKAS, mark=-1)),
    "nothing committed for long": (
        well(mark=-1, at=NOW - 5000),
        _quorum(*KAFKAS, mark=-1),
    ),
    "only registered": (
        THEN,
        _quorum(*KAFKAS, gone(9)),
    ),
    "two clusters": (THEN, _quorum(KAFKAS[0], replace(KAFKAS[1], cluster_id="another"))),
    "a voter added": (
        THEN,
        view(
            described([replica(n) for n in (1, 2, 3, 4)]),
            *(node(n, runs_controller=True) for n in (2, 3, 4)),
        ),
    ),
    "no controller": (without_controller(end=90, at=BEFORE), without_controller()),
    "leader late": (
        THEN,
        QuorumView(nodes=(_late(_quorum(*KAFKAS).nodes[0]), *KAFKAS)),
    ),
    "two late": (THEN, _quorum(*map(_late, KAFKAS))),
}
_RECORDED = [
    (name, number)
    for name in ("healthy", "leader-killed", "no-leader", "uncommitted-voter")
    for number in range(len(pictures(name)))
]


def _hold_equal(picture: Picture) -> None:
    """The dashboard, health and may-stop say the same of one picture."""
    now, before = picture.view, picture.history.before
    assert now is not None
    report = quorum_report(picture)
    judged = health(before or now, now).judgement
    if now.quorum is not None:
        assert report.tolerance.failures == judged.failures
        assert report.tolerance.is_lost == judged.is_lost
        document = health_document(health(before or now, now)).health
        assert document.ready_voters == judged.ready
        severities = {
            finding.severity
            for finding in health(before or now, now).findings
            if finding.code.removeprefix("KT-LIVE-")
            in ("NO-SPARE", "NO-MAJORITY", "FEW-VOTERS", "NO-CONTROLLER", "ONE-CONTROLLER")
        }
        assert bool(severities) is (judged.failures == 0), "each says that no voter can be lost"
    every = health(before or now, now, judgement=report.judgement).findings
    found = [f for f in every if f.severity is not Severity.INFO]
    stated = [s for s in report.statements if s.severity is not Severity.INFO]
    in_directories = {s.code for s in stated if s.subject in {d.path for d in picture.directories}}
    in_directories.add("KT-LIVE-VOTER-CHANGE")  # only a directory shows that it is not committed
    meant = {(s.code, s.subject) for s in stated if s.code not in in_directories}
    away = {node.node_id for node in now.nodes if not node.is_current}
    unseen = {("KT-LIVE-SILENT", f"voter {node_id}") for node_id in away}
    expected = {(f.code, f.file) for f in found} - unseen
    if before is None:
        expected.discard(("KT-LIVE-STUCK", ""))  # one poll does not show it
    assert meant == expected, "one mute serves both"
    assert judged.failures is None or not judged.failures or len(judged.ready) > judged.majority
    if judged.failures:
        for voter_id in judged.ready:
            assert may_stop(judged, voter_id).verdict is StopVerdict.YES
    for status in report.replicas:
        if status.restart is None or status.grade is Grade.DOWN:
            continue
        allowed = may_stop(judged, status.id or 0).verdict is StopVerdict.YES
        if report.voters.is_uncommitted:
            allowed = False  # may-stop sees the change between its looks
        assert status.restart.is_safe is allowed, (status.id, status.restart.reason)


@pytest.mark.parametrize("name", _PICTURES)
def test_the_dashboard_health_and_may_stop_agree_on_one_picture(name: str) -> None:
    before, now = _PICTURES[name]
    _hold_equal(Picture(at_ms=NOW, view=now, history=WatchHistory(before=before)))


@pytest.mark.parametrize(("name", "number"), _RECORDED)
def test_they_agree_on_what_real_quorums_answered(name: str, number: int) -> None:
    _hold_equal(pictures(name)[number])


@pytest.mark.parametrize("name", _PICTURES)
def test_a_verdict_is_never_better_than_what_was_seen(name: str) -> None:
    """No voter can be lost unless more than a majority answers, knows the leader and fetches."""
    before, now = _PICTURES[name]
    judged = judge(now, before)
    if judged.failures:
        assert now.leader is not None
        answering = [
            answer
            for answer in now.current
            if (answer.epoch, answer.leader_id) == (now.epoch, now.leader.node_id)
        ]
        assert len(answering) >= judged.majority + judged.failures


# --- grades ---------------------------------------------------------------------------------------


def test_a_voter_that_nobody_can_reach_is_no_spare_although_it_fetches() -> None:
    report = _report(_quorum(KAFKAS[0], UNTRUSTED))
    assert report.judgement is not None
    assert _grades(report.judgement)[3] is Grade.OUT_OF_REACH
    assert report.judgement.fetching == (1, 2, 3)
    assert report.tolerance.failures == 0
    assert not report.tolerance.is_lost
    assert _restart_cells(report) == {1: "✖ no", 2: "✖ no", 3: "✓ yes"}, "it runs: not 'start it'"
    reasons = [statement.reason for statement in report.statements]
    assert reasons[0] == (
        "Node 3 (ctl-3:9093): it fetches from the leader, but it cannot be reached from here:"
        " certificate verify failed."
    )
    assert (
        "No voter can be lost: 2 of 3 voters are ready, 2 are needed; voter 3 does not"
        in (reasons[1])
    )
    judged = health(THEN, _quorum(KAFKAS[0], UNTRUSTED))
    assert {f.code: f.severity for f in judged.findings} == {
        "KT-LIVE-UNREACHED": Severity.WARNING,
        "KT-LIVE-NO-SPARE": Severity.WARNING,
    }


def test_only_a_refusal_or_a_timeout_is_down() -> None:
    silent = [replica(1), replica(2), replica(3, fetched=NOW - 9000)]
    for failure, grade in (
        (Failure.REFUSED, Grade.DOWN),
        (Failure.TIMED_OUT, Grade.DOWN),
        (Failure.SERVER_CERTIFICATE, Grade.REJECTS),
        (Failure.NO_LOGIN, Grade.REJECTS),
    ):
        now = _quorum(KAFKAS[0], replace(gone(3), failure=failure), voters=silent)
        report = _report(now)
        assert report.judgement is not None
        assert _grades(report.judgement)[3] is grade
        assert (_restart_cells(report)[3] == "✓ start it") is (grade is Grade.DOWN)
        assert report.tolerance.failures == 0


def test_a_process_that_holds_the_lock_here_is_not_started_again() -> None:
    paused = replace(gone(3), problem="no answer within 5 s", failure=Failure.TIMED_OUT)
    silent = [replica(1), replica(2), replica(3, fetched=NOW - 9000)]
    judged = judge(
        _quorum(KAFKAS[0], paused, voters=silent), THEN, holders={3: "pid 812 holds its lock"}
    )
    assert _grades(judged)[3] is Grade.HANGS
    standing = judged.standing(3)
    assert standing is not None
    assert standing.reason.startswith("pid 812 holds its lock but does not answer (no answer")


def test_the_watched_directory_of_a_paused_process_names_it() -> None:
    from kraftool.directory.metadata_summary import NodeIds
    from kraftool.storage.lock import LockState

    paused = replace(gone(3), problem="no answer within 5 s", failure=Failure.TIMED_OUT)
    silent = [replica(1), replica(2), replica(3, fetched=NOW - 9000)]
    look = DirectoryReading(
        path="data-3",
        at_ms=NOW,
        node=NodeIds(node_id=3, cluster_id="cluster"),
        lock=LockState.HELD,
        lock_pid=812,
    )
    picture = Picture(
        at_ms=NOW,
        view=_quorum(KAFKAS[0], paused, voters=silent),
        directories=(look,),
        history=WatchHistory(before=THEN),
    )
    report = quorum_report(picture)
    assert _restart_cells(report)[3] != "✓ start it"
    assert any(
        "Node 3 (ctl-3:9093): pid 812 holds its lock but does not answer" in statement.reason
        for statement in report.statements
    )


def test_a_voter_whose_address_is_unknown_does_not_count() -> None:
    judged = judge(_quorum(KAFKAS[0]), THEN)
    assert _grades(judged)[3] is Grade.UNASKED
    assert judged.failures == 0


# --- late is not down -----------------------------------------------------------------------------


def test_a_late_answer_makes_the_verdict_unknown_and_no_node_down() -> None:
    three = _quorum(*KAFKAS)
    for late in (
        QuorumView(nodes=(_late(three.nodes[0]), *KAFKAS)),
        _quorum(_late(KAFKAS[0]), KAFKAS[1]),
        _quorum(*map(_late, KAFKAS)),
    ):
        report = _report(late)
        assert report.judgement is not None
        assert report.leader_id == 1, "the last leader stays named"
        assert report.tolerance.failures is None
        assert not report.tolerance.is_lost
        assert not any(replica.is_down for replica in report.replicas)
        assert "✓ yes" not in _restart_cells(report).values()
        assert not [s for s in report.statements if s.severity is not Severity.INFO]
        current = [answer.node_id for answer in late.current if answer.node_id is not None]
        for node_id in current:
            assert may_stop(report.judgement, node_id).verdict is StopVerdict.NOT_NOW


def test_one_late_voter_of_five_leaves_what_is_certain() -> None:
    """With it two may fail, without it one: the number is unknown, and nothing is bad."""
    five = [replica(n) for n in range(1, 6)]
    kafkas = [node(n, runs_controller=True) for n in range(2, 6)]
    before = view(described([replica(n, end=90, fetched=BEFORE) for n in range(1, 6)], mark=90))
    now = _quorum(*kafkas[:3], _late(kafkas[3]), voters=five)
    judged = judge(now, before)
    assert judged.failures is None
    assert judged.overdue_ms is None, "a majority and the leader answer"
    assert may_stop(judged, 2).verdict is StopVerdict.YES, "three others are ready"


def test_two_looks_at_one_answer_of_a_slow_leader_are_not_compared() -> None:
    """Then no voter would have fetched between them."""
    now = _quorum(*(replace(answer, asked_ms=NOW + 2000) for answer in KAFKAS))
    assert earlier_poll([_quorum(*KAFKAS)], now) is None
    later = QuorumView(nodes=tuple(replace(answer, asked_ms=NOW + 1500) for answer in now.nodes))
    first = _quorum(*KAFKAS)
    assert earlier_poll([first], later) is first


# --- one rule for all sizes -----------------------------------------------------------------------


def test_a_quorum_of_several_voters_without_a_spare_is_a_warning_everywhere() -> None:
    """Two of two are no better than two of three."""
    two = view(described([replica(1), replica(2)]), KAFKAS[0])
    one = view(described([replica(1)]))
    of_three = _PICTURES["one refuses"][1]
    for now, before, severity in (
        (two, None, Severity.WARNING),
        (of_three, THEN, Severity.WARNING),
        (one, None, Severity.INFO),
    ):
        report = _report(now, before)
        said = [s for s in report.statements if s.reason.startswith("No voter can be lost")]
        assert [statement.severity for statement in said] == [severity]
        judged = health(before or now, now)
        assert judged.is_well is (severity is Severity.INFO)
        assert judged.judgement.failures == report.tolerance.failures == 0


@pytest.mark.parametrize(("end", "grade"), [(90, Grade.READY), (89, Grade.BEHIND)])
def test_a_voter_counts_only_with_the_last_committed_record(end: int, grade: Grade) -> None:
    voters = [replica(1), replica(2), replica(3, end=end)]
    assert _grades(judge(_quorum(*KAFKAS, voters=voters), THEN))[3] is grade
