"""What metadata and fetches together tell of brokers and partitions, at each threshold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from kraftool.client.cluster_health import (
    HOUR_MS,
    SNAPSHOT_AGE_MS,
    ClusterHealth,
    cluster_health,
)
from kraftool.client.health import health
from kraftool.client.model import QuorumView
from kraftool.client.observer import LOG, ControllerStart, Observation
from kraftool.client.thresholds import SILENT_MS
from kraftool.decoders.control import ControlRecordType
from kraftool.image.image import EMPTY
from kraftool.image.loader import OpenTransaction
from kraftool.raft.messages import ReplicaState
from kraftool.raft.names import OffsetAndEpoch, ReplicaKey
from kraftool.reports.findings.finding import Severity
from kraftool.reports.state.replay import Control
from kraftool.reports.state.summary import state_counts
from tests.client.views import NOW, described, endpoint, gone, node, replica, view, well
from tests.image.metadata import (
    INCARNATION,
    Told,
    broker,
    config,
    feature,
    partition,
    replayed,
    topic,
)

TOPIC, BROKER = 2, 4
RANGES = [
    {"name": "metadata.version", "minSupportedVersion": 7, "maxSupportedVersion": 30},
    {"name": "kraft.version", "minSupportedVersion": 0, "maxSupportedVersion": 1},
]


def _broker(number: int, **fields: Any) -> Told:
    return broker(number, **{"fenced": False, "features": RANGES, **fields})


def _controller(number: int) -> Told:
    return "RegisterControllerRecord", {
        "controllerId": number,
        "incarnationId": INCARNATION,
        "zkMigrationReady": False,
        "endPoints": [],
        "features": RANGES,
    }


CLUSTER: tuple[Told, ...] = (
    feature("metadata.version", 30),
    *map(_controller, (1, 2, 3)),
    *(_broker(number) for number in (11, 12, 13)),
    topic(),
)


def _observed(*records: Told, **fields: Any) -> Observation:
    defaults: dict[str, Any] = {
        "image": replayed(*CLUSTER, *records),
        "name": "node 1 (ctl-1:9093)",
        "leader_id": 1,
        "end_offset": 100,
        "snapshot_id": None,
    }
    return Observation(**{**defaults, **fields})


def _partition(number: int = 0, **fields: Any) -> Told:
    replicas = {"replicas": [11, 12, 13], "isr": [11, 12, 13], "leader": 11}
    return partition(number, **{**replicas, **fields})


def _observer(number: int, *, fetched: int = NOW) -> ReplicaState:
    return ReplicaState(
        replica=ReplicaKey(number, f"observer-{number}"),
        log_end_offset=100,
        last_fetch_timestamp=fetched,
        last_caught_up_timestamp=fetched,
    )


def _view(*observers: ReplicaState) -> QuorumView:
    voters = [replica(number) for number in (1, 2, 3)]
    return view(described(voters, observers), node(2), node(3))


FETCHING = _view(*map(_observer, (11, 12, 13)))


def _judged(
    *records: Told, now: QuorumView = FETCHING, before: QuorumView = FETCHING, **fields: Any
) -> ClusterHealth:
    return cluster_health(_observed(*records, **fields), now, before)


def _codes(report: ClusterHealth) -> set[str]:
    return {finding.code.removeprefix("KT-") for finding in report.findings}


def _text(report: ClusterHealth, code: str) -> str:
    return next(finding.text for finding in report.findings if finding.code == f"KT-{code}")


def test_a_cluster_that_is_well_has_no_finding() -> None:
    report = _judged(_partition())
    assert _codes(report) == set()
    assert report.registered_brokers == (11, 12, 13)
    assert report.controllers == (1, 2, 3)
    assert (report.topics, report.partitions) == (1, 1)


@pytest.mark.parametrize(
    ("now", "shutdown", "cause"),
    [
        (FETCHING, False, "fetching metadata, so it is running"),
        (_view(_observer(11), _observer(12)), False, "not fetching metadata either"),
        (_view(_observer(11), _observer(12)), True, "shut down in order"),
        (_view(*map(_observer, (11, 12)), _observer(13, fetched=NOW - SILENT_MS - 1)), False,
         "not fetching metadata either"),
    ],
)  # fmt: skip
def test_a_fenced_broker_is_told_with_what_fetches_say_of_it(
    now: QuorumView, shutdown: bool, cause: str
) -> None:
    gone_broker = _broker(13, epoch=11, fenced=True, inControlledShutdown=shutdown)
    report = _judged(gone_broker, now=now, before=now)
    assert _codes(report) == {"LIVE-FENCED"}
    assert report.fenced_brokers == (13,)
    assert report.not_fetching_brokers == ()
    assert cause in _text(report, "LIVE-FENCED")
    assert "broker 13 (1 of 3)" in _text(report, "LIVE-FENCED")


def test_an_active_broker_that_does_not_fetch_is_told_and_not_at_the_first_look() -> None:
    two = _view(_observer(11), _observer(12))
    assert _judged(now=two, before=two).not_fetching_brokers == (13,)
    assert _codes(_judged(now=two, before=two)) == {"LIVE-BROKER-ABSENT"}
    assert _judged(now=two, before=FETCHING).not_fetching_brokers == ()


def test_a_broker_in_controlled_shutdown_is_no_warning() -> None:
    report = _judged(_broker(13, epoch=11, inControlledShutdown=True))
    assert report.shutting_down_brokers == (13,)
    (finding,) = report.findings
    assert (finding.code, finding.severity) == ("KT-LIVE-SHUTTING-DOWN", Severity.INFO)


def test_partitions_short_of_replicas() -> None:
    report = _judged(
        _partition(0),
        _partition(1, isr=[11, 12]),
        _partition(2, isr=[11], leader=11),
        # Replicas that are being added do not count yet.
        _partition(3, replicas=[11, 12, 13], addingReplicas=[13], isr=[11, 12]),
    )
    assert (
        report.under_replicated_partitions,
        report.reassigning_partitions,
        report.offline_partitions,
    ) == (2, 1, 0)
    counts = state_counts(report.observation.image)
    assert (counts.under_replicated_partitions, counts.reassigning_partitions) == (2, 1)
    assert _codes(report) == {"LIVE-UNDER-REPLICATED", "LIVE-REASSIGNING"}
    words = _text(report, "LIVE-UNDER-REPLICATED")
    assert "2 partitions without replicas of brokers 12, 13: foo-1, foo-2" in words


@pytest.mark.parametrize(
    ("configs", "expected"),
    [
        ((), 0),
        ((config(TOPIC, "foo", "min.insync.replicas", "2"),), 1),
        ((config(BROKER, "", "min.insync.replicas", "2"),), 1),
        ((config(BROKER, "11", "min.insync.replicas", "2"),), 1),
        ((config(BROKER, "12", "min.insync.replicas", "2"),), 0),
        (
            (
                config(BROKER, "", "min.insync.replicas", "2"),
                config(TOPIC, "foo", "min.insync.replicas", "1"),
            ),
            0,
        ),
        ((config(TOPIC, "foo", "min.insync.replicas", "many"),), 0),
    ],
)
def test_min_insync_replicas_is_the_topics_then_the_leaders_then_the_clusters(
    configs: Sequence[Told], expected: int
) -> None:
    report = _judged(_partition(isr=[11]), *configs)
    assert report.under_min_isr_partitions == expected
    assert state_counts(report.observation.image).under_min_isr_partitions == expected
    assert ("LIVE-UNDER-MIN-ISR" in _codes(report)) is bool(expected)


def test_no_more_replicas_are_wanted_than_there_are() -> None:
    """As Kafka 4 does; that the setting is above the replicas is doctor's."""
    report = _judged(
        _partition(replicas=[11, 12], isr=[11, 12]),
        config(TOPIC, "foo", "min.insync.replicas", "3"),
    )
    assert report.under_min_isr_partitions == 0
    assert _codes(report) == {"SIG-MIN-ISR"}


def test_offline_partitions_are_told_by_doctors_rule() -> None:
    records = (
        _broker(13, epoch=11, fenced=True),
        _partition(replicas=[13], isr=[13], leader=-1),
    )
    report = _judged(*records)
    assert (
        report.offline_partitions,
        report.under_min_isr_partitions,
        report.under_replicated_partitions,
    ) == (1, 1, 0)
    assert "LIVE-UNDER-MIN-ISR" not in _codes(report), "it is said once"
    assert "SIG-OFFLINE" in _codes(report)
    assert "until broker 13 is back" in _text(report, "SIG-OFFLINE")


def test_leaders_that_are_not_the_first_replica() -> None:
    def led(by: int, count: int) -> list[Told]:
        return [_partition(index, leader=by if index < count else 11) for index in range(20)]

    assert _judged(*led(12, 2)).not_preferred_leader_partitions == 2
    assert _codes(_judged(*led(12, 2))) == set()
    report = _judged(*led(12, 3))
    assert _codes(report) == {"LIVE-IMBALANCE"}
    assert "first replica of 20 partitions, and others lead 3" in _text(report, "LIVE-IMBALANCE")
    assert "kafka-leader-election.sh --bootstrap-server one:9092 " in report.findings[0].advice
    # A fenced broker leads nothing, which is no imbalance.
    assert "LIVE-IMBALANCE" not in _codes(_judged(*led(12, 3), _broker(11, epoch=11, fenced=True)))


def test_a_level_that_a_registered_node_does_not_support() -> None:
    ranges = [{"name": "metadata.version", "minSupportedVersion": 7, "maxSupportedVersion": 25}]
    report = _judged(_broker(13, epoch=11, features=ranges))
    assert _codes(report) == {"SIG-FEATURE-RANGE"}
    assert "broker 13" in _text(report, "SIG-FEATURE-RANGE")


@pytest.mark.parametrize(
    ("newest", "level", "severity"),
    [(29, 30, Severity.INFO), (30, 29, Severity.INFO), (29, 29, Severity.ERROR)],
)
def test_a_registration_that_excludes_the_next_level_is_an_error(
    newest: int, level: int, severity: Severity
) -> None:
    """The leader supports 30. With (29, 30) there is no next level that it supports."""
    ranges = [{"name": "metadata.version", "minSupportedVersion": 7, "maxSupportedVersion": newest}]
    left = _controller(4)[0], {**_controller(4)[1], "features": ranges}
    now = _at_level(level)
    report = health(now, now, _judged(left, now=now, before=now))
    (finding,) = [one for one in report.findings if one.code == "KT-LIVE-STALE-REGISTRATION"]
    assert finding.severity is severity
    assert ("refuses an upgrade to 30 (4.3-IV0)" in finding.text) == (severity is Severity.ERROR)


def _at_level(level: int) -> QuorumView:
    quorum = described([replica(number) for number in (1, 2, 3)], [*map(_observer, (11, 12, 13))])
    levels = {"kraft.version": 1, "metadata.version": level}
    leader = node(1, quorum=quorum, finalized=levels)
    return QuorumView(
        nodes=(leader, node(2, finalized=levels), node(3, finalized=levels, controllers=(1, 4)))
    )


def test_a_voter_that_has_not_registered_as_a_controller() -> None:
    records = ("UnregisterControllerRecord", {"controllerId": 3})
    assert _codes(_judged(records)) == {"SIG-NOT-REGISTERED"}


def _leaders(*ages: int) -> tuple[Control, ...]:
    return tuple(
        Control(offset=10 + number, epoch=number, timestamp=NOW - age, file="log", value={})
        for number, age in enumerate(ages)
    )


def test_elections_within_the_hour() -> None:
    once = _judged(leader_changes=_leaders(5, HOUR_MS + 1))
    assert (once.leader_changes, _codes(once)) == (1, set())
    rolling = _judged(leader_changes=_leaders(5, 6, 7))
    assert [finding.severity for finding in rolling.findings] == [Severity.INFO]
    many = _judged(leader_changes=_leaders(5, 6, 7, 8))
    assert [(finding.code, finding.severity) for finding in many.findings] == [
        ("KT-LIVE-ELECTIONS", Severity.WARNING)
    ]
    first = replace(_leaders(5)[0], offset=0)
    assert _judged(leader_changes=(first,)).leader_changes == 0


MINUTE_MS = 60_000
TEN = [minute * MINUTE_MS for minute in (55, 50, 45, 40, 35, 30, 25, 20, 15, 10)]
"""Ages of ten elections within an hour, the last of them ten minutes ago."""


def _starts(*ages: int, ids: Sequence[int] = (1, 2, 3)) -> tuple[ControllerStart, ...]:
    return tuple(
        ControllerStart(ids[number % len(ids)], NOW_LATE - age) for number, age in enumerate(ages)
    )


NOW_LATE = 2 * HOUR_MS


def _late(ages: Sequence[int], starts: tuple[ControllerStart, ...] = ()) -> list[Severity]:
    """Return the severities of KT-LIVE-ELECTIONS for elections of these ages."""
    at = view(described([replica(n, fetched=NOW_LATE) for n in (1, 2, 3)]), node(2), node(3))
    changes = tuple(
        Control(offset=10 + n, epoch=n, timestamp=NOW_LATE - age, file="log", value={})
        for n, age in enumerate(ages)
    )
    report = _judged(now=at, before=at, leader_changes=changes, controller_starts=starts)
    return [one.severity for one in report.findings if one.code == "KT-LIVE-ELECTIONS"]


def test_elections_that_restarts_explain_are_a_note() -> None:
    """Two rolling restarts: a leader stops, another one is elected, and the node is back."""
    rolling = TEN[:6]
    back = _starts(*(age - MINUTE_MS for age in rolling))
    assert _late(rolling, back) == [Severity.INFO]
    assert _late(rolling) == [Severity.WARNING], "no start explains them"
    long_after = _starts(*(age - 11 * MINUTE_MS for age in rolling[:1]))
    assert _late(rolling, long_after) == [Severity.WARNING]


def test_elections_without_a_restart_are_a_warning_beside_those_with_one() -> None:
    back = _starts(*(age - MINUTE_MS for age in TEN[:6]))
    assert _late(TEN, back) == [Severity.WARNING]
    assert _late(TEN[:9], back) == [Severity.INFO], "three are no more than the voters"


def test_one_more_election_beside_explained_ones_is_a_note() -> None:
    """A leader that was paused after a rolling restart: all is well again, so nothing goes on."""
    back = _starts(*(age - MINUTE_MS for age in TEN[:5]))
    assert _late([*TEN[:5], 30_000], back) == [Severity.INFO]
    assert _late([*TEN[:5], 40_000, 30_000, 20_000, 10_000], back) == [Severity.WARNING]


def test_a_controller_that_starts_again_and_again_explains_no_election() -> None:
    crashing = _starts(*(age - MINUTE_MS for age in TEN), ids=(2,))
    assert _late(TEN, crashing) == [Severity.WARNING]


def test_since_when_leader_and_voters_are_the_same() -> None:
    def control(age: int, epoch: int = 5, file: str = LOG) -> Control:
        return Control(offset=9, epoch=epoch, timestamp=NOW - age, file=file, value={})

    voters = {ControlRecordType.KRAFT_VOTERS: control(20)}
    assert _judged(leader_changes=(control(50, 4), control(40))).stable_since == NOW - 40
    assert _judged(leader_changes=(control(40),), controls=voters).stable_since == NOW - 20
    assert _judged(leader_changes=(control(40, 4),)).stable_since is None, "a newer one leads"
    snapshot: dict[str, Any] = {
        "snapshot_id": OffsetAndEpoch(50, 5),
        "snapshot_timestamp": NOW - 90,
    }
    of_snapshot = {ControlRecordType.KRAFT_VOTERS: control(0, file="50-5.checkpoint")}
    assert _judged(controls=of_snapshot, **snapshot).stable_since == NOW - 90
    assert _judged(leader_changes=(control(40),), **snapshot).stable_since == NOW - 40
    older: dict[str, Any] = {**snapshot, "snapshot_id": OffsetAndEpoch(50, 4)}
    assert _judged(**older).stable_since is None, "its first record is not committed"


def test_an_old_snapshot_and_an_open_transaction() -> None:
    id = OffsetAndEpoch(50, 4)
    late = 10 * SNAPSHOT_AGE_MS
    then = view(
        described([replica(voter, fetched=late) for voter in (1, 2, 3)], []), node(2), node(3)
    )

    def of_age(age_ms: int) -> ClusterHealth:
        return _judged(now=then, before=then, snapshot_id=id, snapshot_timestamp=late - age_ms)

    assert "LIVE-SNAPSHOT-AGE" not in _codes(of_age(SNAPSHOT_AGE_MS))
    report = of_age(SNAPSHOT_AGE_MS + 1)
    assert "LIVE-SNAPSHOT-AGE" in _codes(report)
    assert "50 since" in _text(report, "LIVE-SNAPSHOT-AGE")
    report = _judged(open_transaction=OpenTransaction(offset=77))
    assert _codes(report) == {"LIVE-TRANSACTION-OPEN"}


# --- beside the quorum ----------------------------------------------------------------------------


def test_health_says_which_of_quorum_and_cluster_is_not_well() -> None:
    fenced = _judged(_broker(13, epoch=11, fenced=True))
    report = health(FETCHING, FETCHING, fenced)
    assert not report.is_well
    assert report.is_quorum_well
    assert report.cluster_health is fenced
    lost = view(described([replica(1), replica(2), replica(3)]), node(2), gone(3))
    assert not health(lost, lost, fenced).is_quorum_well


def test_a_warning_about_the_quorum_in_its_metadata_is_not_one_about_the_cluster() -> None:
    elections = _judged(leader_changes=_leaders(5, 6, 7, 8))
    report = health(FETCHING, FETCHING, elections)
    assert (report.is_quorum_well, report.is_cluster_well) == (False, True)
    both = _judged(_broker(13, epoch=11, fenced=True), leader_changes=_leaders(5, 6, 7, 8))
    report = health(FETCHING, FETCHING, both)
    assert (report.is_quorum_well, report.is_cluster_well) == (False, False)
    fenced = health(FETCHING, FETCHING, _judged(_broker(13, epoch=11, fenced=True)))
    assert (fenced.is_quorum_well, fenced.is_cluster_well) == (True, False)


def test_what_could_not_be_read_is_said() -> None:
    report = health(well(), well(at=NOW), unobserved="it answers CLUSTER_AUTHORIZATION_FAILED")
    by_code = {finding.code: finding for finding in report.findings}
    assert by_code["KT-LIVE-UNOBSERVED"].severity is Severity.WARNING
    assert "CLUSTER_AUTHORIZATION_FAILED" in by_code["KT-LIVE-UNOBSERVED"].text
    leaderless = QuorumView(nodes=(node(1, leader=None), node(2, leader=None)))
    report = health(leaderless, leaderless, unobserved="no node leads")
    by_code = {finding.code: finding for finding in report.findings}
    assert by_code["KT-LIVE-UNOBSERVED"].severity is Severity.INFO
    assert "KT-LIVE-NO-LEADER" in by_code


def test_a_voter_that_runs_on_another_directory() -> None:
    other = ReplicaState(
        replica=ReplicaKey(3, "elsewhere"), log_end_offset=100, last_fetch_timestamp=NOW,
        last_caught_up_timestamp=NOW,
    )  # fmt: skip
    voters = [replica(1), replica(2), replica(3, fetched=-1)]
    now = view(described(voters, [other]), node(2), node(3))
    by_code = {finding.code: finding for finding in health(now, now).findings}
    assert "elsewhere" in by_code["KT-LIVE-OTHER-DIRECTORY"].text
    assert now.directory_id(3) == "elsewhere"


def test_a_voter_that_moved_is_told_with_who_answers_elsewhere() -> None:
    stranger = replace(node(3), node_id=None, endpoint=endpoint(9), leader_id=1)
    now = view(described([replica(1), replica(2), replica(3)]), node(2), gone(3))
    now = QuorumView(nodes=(*now.nodes, stranger))
    by_code = {finding.code: finding for finding in health(now, now).findings}
    assert "ctl-9:9093" in by_code["KT-LIVE-ENDPOINT"].text
    assert "KT-LIVE-ENDPOINT" not in {finding.code for finding in health(well(), well()).findings}


def test_an_empty_cluster_is_no_trouble() -> None:
    observed = replace(_observed(), image=EMPTY)
    assert cluster_health(observed, well(), well()).partitions == 0


def test_an_observer_that_was_removed_is_no_fault_while_the_leader_lists_it() -> None:
    """Kafka's leader lists a removed voter for five minutes. A silent broker is a fault."""
    old = NOW - SILENT_MS - 1
    removed, voter_before = _observer(4, fetched=old), _observer(3, fetched=old)
    for silent, severity in (
        (removed, Severity.INFO),
        (voter_before, Severity.INFO),
        (_observer(13, fetched=old), Severity.WARNING),
    ):
        others = [_observer(number) for number in (11, 12, 13) if number != silent.replica.id]
        now = _view(*others, silent)
        report = health(now, now, cluster_health(_observed(_partition()), now, now))
        (finding,) = [one for one in report.findings if one.code == "KT-LIVE-SILENT"]
        assert (finding.file, finding.severity) == (f"observer {silent.replica.id}", severity)
        assert "KT-LIVE-OTHER-DIRECTORY" not in [one.code for one in report.findings]
        assert report.is_well == (severity is Severity.INFO)


def test_without_metadata_the_silence_of_any_observer_counts() -> None:
    now = _view(_observer(4, fetched=NOW - SILENT_MS - 1))
    assert not health(now, now, None, "not read").is_well
