"""What the digest's scenarios of brokers and heartbeats (CC, HB) say of a controller."""

from __future__ import annotations

import pytest

from kraftool.controller.heartbeats import Heartbeats, Session
from kraftool.decoders.error_codes import Error
from tests.controller.bench import SESSION_MS, Bench, directory, incarnation, ranges

RESERVED = "AAAAAAAAAAAAAAAAAAAAAQ"


def test_cc1_another_cluster_id_is_refused() -> None:
    assert Bench().register(1, clusterId="other")["errorCode"] == Error.INCONSISTENT_CLUSTER_ID


def test_cc2_another_life_waits_for_the_end_of_the_session() -> None:
    bench = Bench().with_brokers([1])
    second = {"incarnationId": incarnation(1, 2)}
    assert bench.register(1, **second)["errorCode"] == Error.DUPLICATE_BROKER_REGISTRATION
    bench.pass_time(SESSION_MS + 1)
    epoch = bench.active.next_offset
    assert bench.register(1, **second)["brokerEpoch"] == epoch


def test_cc3_who_never_sent_a_heartbeat_has_no_session() -> None:
    bench = Bench()
    bench.register(1)
    assert "errorCode" not in bench.register(1, incarnationId=incarnation(1, 2))


def test_cc4_the_same_life_keeps_its_epoch_and_its_fencing() -> None:
    bench = Bench().with_brokers([1])
    before = bench.active.state.broker(1)
    assert before is not None
    assert bench.register(1)["brokerEpoch"] == before.epoch
    after = bench.active.state.broker(1)
    assert after is not None
    assert not after.fenced


@pytest.mark.parametrize(("level", "version"), [(7, 1), (8, 2), (17, 3), (30, 4)])
def test_cc7_the_version_of_a_registration_is_that_of_the_level(level: int, version: int) -> None:
    bench = Bench(level)
    bench.register(1)
    assert [(name, used) for name, used, _ in bench.records] == [("RegisterBrokerRecord", version)]


@pytest.mark.parametrize(
    "directories", [[], [RESERVED], [directory(1), directory(1)], [directory(2)]]
)
def test_cc9_directories_that_cannot_be_are_refused(directories: list[str]) -> None:
    bench = Bench().with_brokers([2])
    answer = bench.register(1, logDirs=directories)
    assert answer["errorCode"] == Error.INVALID_REGISTRATION


def test_cc10_to_12_features_have_to_cover_what_is_finalized() -> None:
    bench = Bench()
    known = dict.fromkeys(bench.active.state.feature_levels, (0, 9))
    known |= {"metadata.version": (7, 29), "kraft.version": (0, 1)}
    assert bench.register(1, features=ranges(known))["errorCode"] == Error.UNSUPPORTED_VERSION
    del known["metadata.version"]
    assert bench.register(1, features=ranges(known))["errorCode"] == Error.INVALID_REGISTRATION
    known["metadata.version"] = (7, 30)
    del known["group.version"]
    assert bench.register(1, features=ranges(known))["errorCode"] == Error.UNSUPPORTED_VERSION


@pytest.mark.parametrize(("level", "error"), [(14, Error.UNSUPPORTED_VERSION), (15, None)])
def test_cc13_controllers_register_from_3_7_on(level: int, error: Error | None) -> None:
    bench = Bench(level)
    body = {
        "controllerId": 3000,
        "incarnationId": incarnation(3000, 1),
        "zkMigrationReady": False,
        "listeners": [],
        "features": [],
    }
    assert bench.ask("ControllerRegistration", 0, body).get("errorCode") == error
    assert bench.names == ([] if error else ["RegisterControllerRecord"])


def test_cc15_new_replicas_go_to_the_only_directory_or_to_none() -> None:
    bench = Bench()
    bench.register(1, logDirs=[directory(1)])
    bench.register(2, logDirs=[directory(2), directory(2, 2)])
    state = bench.active.state
    assert state.default_directory(1) == directory(1)
    assert state.default_directory(2) == "AAAAAAAAAAAAAAAAAAAAAQ"  # the broker decides
    assert state.default_directory(9) == "AAAAAAAAAAAAAAAAAAAAAQ"
    old = Bench(16)
    old.register(1, version=1)
    assert old.active.state.default_directory(1) == "AAAAAAAAAAAAAAAAAAAAAA"


def test_hb1_a_session_lasts_as_long_as_its_timeout_and_is_of_one_epoch() -> None:
    heartbeats = Heartbeats(10)
    heartbeats.heard(Session(1, 5), 0)
    assert heartbeats.has_valid_session(Session(1, 5), 10)
    assert not heartbeats.has_valid_session(Session(1, 5), 11)
    assert not heartbeats.has_valid_session(Session(1, 6), 10)


def test_hb2_expired_sessions_are_taken_one_by_one() -> None:
    heartbeats = Heartbeats(10)
    for broker_id, at_ms in enumerate((0, 5, 20)):
        heartbeats.heard(Session(broker_id, 1), at_ms)
    assert heartbeats.take_expired(11) == Session(0, 1)
    assert heartbeats.take_expired(11) is None
    assert heartbeats.take_expired(16) == Session(1, 1)


def test_hb3_a_broker_is_unfenced_once_it_has_read_its_registration() -> None:
    bench = Bench()
    bench.register(1)
    registered = bench.active.next_offset - 1
    behind = bench.beat(1, currentMetadataOffset=registered - 1)
    assert (behind["isCaughtUp"], behind["isFenced"]) == (False, True)
    there = bench.beat(1, currentMetadataOffset=registered)
    assert (there["isCaughtUp"], there["isFenced"]) == (True, False)


def test_hb4_a_fenced_broker_may_stop_at_once() -> None:
    bench = Bench()
    bench.register(1)
    assert bench.beat(1, wantFence=True)["isFenced"]
    assert bench.beat(1, wantShutDown=True)["shouldShutDown"]


def test_hb5_who_leads_nothing_may_stop_at_once() -> None:
    bench = Bench().with_brokers([1, 2])
    bench.assigned("foo", [1, 2])
    assert bench.beat(2, wantShutDown=True)["shouldShutDown"]
    leader = bench.beat(1, wantShutDown=True)
    assert (leader["shouldShutDown"], leader["isFenced"]) == (False, False)


def test_hb6_who_led_stops_once_all_others_know_it() -> None:
    bench = Bench().with_brokers([1, 2])
    bench.assigned("foo", [1, 2])
    bench.beat(2, currentMetadataOffset=5)
    bench.beat(1, wantShutDown=True)
    assert bench.names == ["BrokerRegistrationChangeRecord", "PartitionChangeRecord"]
    assert bench.partition("foo").leader == 2
    assert not bench.beat(1, wantShutDown=True)["shouldShutDown"]
    bench.beat(2)
    assert bench.beat(1, wantShutDown=True)["shouldShutDown"]


def test_hb10_another_epoch_is_stale() -> None:
    bench = Bench()
    assert bench.beat(1)["errorCode"] == Error.STALE_BROKER_EPOCH
    bench.register(1)
    assert bench.beat(1, brokerEpoch=99)["errorCode"] == Error.STALE_BROKER_EPOCH


def test_hb11_a_heartbeat_that_waited_too_long_is_a_sign_of_life_only() -> None:
    bench = Bench()
    bench.register(1)
    late = bench.beat(1, deadline_ms=bench.now_ms - 1)
    assert late["errorCode"] == Error.REQUEST_TIMED_OUT
    assert bench.active.timed_out_heartbeats == 1
    broker = bench.active.state.broker(1)
    assert broker is not None
    assert broker.fenced


def test_who_falls_silent_is_fenced_by_the_timer() -> None:
    bench = Bench().with_brokers([1])
    bench.pass_time(SESSION_MS)
    assert bench.names == []
    bench.pass_time(SESSION_MS // 8)
    assert bench.names == ["BrokerRegistrationChangeRecord"]
    broker = bench.active.state.broker(1)
    assert broker is not None
    assert broker.fenced


def test_rd16_partitions_leave_a_directory_that_failed() -> None:
    bench = Bench()
    bench.register(1, logDirs=[directory(1), directory(1, 2)])
    bench.beat(1)
    bench.with_brokers([2])
    bench.assigned("foo", [1, 2])
    topic_id = bench.active.state.topic_id("foo")
    broker = bench.active.state.broker(1)
    assert broker is not None
    assigned = {
        "brokerId": 1,
        "brokerEpoch": broker.epoch,
        "directories": [
            {
                "id": directory(1),
                "topics": [{"topicId": topic_id, "partitions": [{"partitionIndex": 0}]}],
            }
        ],
    }
    bench.ask("AssignReplicasToDirs", 0, assigned)
    bench.beat(1, offlineLogDirs=[directory(1), directory(7)])
    assert bench.names == ["PartitionChangeRecord", "BrokerRegistrationChangeRecord"]
    assert (bench.partition("foo").leader, bench.partition("foo").isr) == (2, (2,))
    after = bench.active.state.broker(1)
    assert after is not None
    assert after.directories == (directory(1, 2),)


def test_rd18_cordoned_directories_are_noted_when_they_change() -> None:
    bench = Bench()
    bench.register(1)
    bench.beat(1, cordonedLogDirs=[])
    assert ("BrokerRegistrationChangeRecord", 3) in [record[:2] for record in bench.records]
    bench.beat(1, cordonedLogDirs=[])
    assert bench.names == []
    bench.beat(1, cordonedLogDirs=None)
    assert bench.names == []
