"""What the digest's scenarios of the controller's core (QC) and of producer ids say."""

from __future__ import annotations

from collections import deque
from typing import Any

import pytest

from kraftool.controller import elections
from kraftool.controller.activation import CannotActivate, activation
from kraftool.controller.answers import answered_at_once
from kraftool.controller.decision import Decision
from kraftool.controller.timers import PeriodicTask
from kraftool.decoders.error_codes import Error
from kraftool.image.loader import ImageLoader
from kraftool.image.replay import ReplayError
from tests.controller.bench import Bench, bootstrap, decide_by, ranges

BEGIN, END, ABORT = "BeginTransactionRecord", "EndTransactionRecord", "AbortTransactionRecord"
LEVEL = "FeatureLevelRecord"


def activated(level: int | None, *, is_open: bool, first: int = 30) -> Decision:
    return activation(
        metadata_version=level,
        has_open_transaction=is_open,
        bootstrap=bootstrap(first)[:1],
        min_insync_replicas="1",
    )


def names(decision: Decision) -> list[str]:
    return [name for name, _, _ in decision.records]


def test_qc2_an_answer_waits_for_the_commit() -> None:
    bench = Bench().with_brokers([1])
    bench.holds = True
    broker = bench.active.state.broker(1)
    assert broker is not None
    asked = bench.send("AllocateProducerIds", 0, {"brokerId": 1, "brokerEpoch": broker.epoch})
    assert asked not in bench.answers
    bench.commit()
    assert bench.answers[asked]["producerIdStart"] == 0


def test_qc3_and_qc4_an_answer_without_records_waits_for_what_it_may_depend_on() -> None:
    bench = Bench().with_brokers([1])
    broker = bench.active.state.broker(1)
    assert broker is not None
    bench.holds = True
    bench.beat(1)  # nothing waits: it is answered at once
    first = bench.send("AllocateProducerIds", 0, {"brokerId": 1, "brokerEpoch": broker.epoch})
    beat = {
        "brokerId": 1,
        "brokerEpoch": broker.epoch,
        "currentMetadataOffset": bench.active.next_offset,
        "wantFence": False,
        "wantShutDown": False,
    }
    second = bench.send("BrokerHeartbeat", 0, beat)
    assert not {first, second} & set(bench.answers)
    assert bench.active.waiting() == [first, second]
    bench.commit()
    assert {first, second} <= set(bench.answers)


def test_qc5_a_request_that_waited_too_long_is_told_so() -> None:
    bench = Bench().with_brokers([1])
    body = {
        "topics": [
            {
                "name": "foo",
                "numPartitions": 1,
                "replicationFactor": 1,
                "assignments": [],
                "configs": [],
            }
        ],
        "timeoutMs": 1,
        "validateOnly": False,
    }
    answer = bench.ask("CreateTopics", 7, body, deadline_ms=bench.now_ms - 1)
    assert [topic["errorCode"] for topic in answer["topics"]] == [Error.REQUEST_TIMED_OUT]
    assert bench.active.state.topic_id("foo") is None


def test_qc7_and_qc8_batches_are_limited_and_atomic_ones_are_not_split() -> None:
    bench = Bench(max_batch_records=3)
    assert len(bench.records) > 3  # activation took several
    bench.with_brokers([1])
    with pytest.raises(AssertionError, match="too many for one batch"):
        bench.create("foo", numPartitions=3)


def test_qc9_a_no_op_record_is_written_again_and_again() -> None:
    bench = Bench(max_idle_ms=500)
    for _ in range(3):
        bench.pass_time(500)
        assert bench.names == ["NoOpRecord"]


def test_qc10_and_qc12_an_empty_log_gets_the_bootstrap_records() -> None:
    with_transaction = activated(None, is_open=False, first=13)
    assert names(with_transaction) == [BEGIN, LEVEL, END]
    assert not with_transaction.is_atomic
    before = activated(None, is_open=False, first=12)
    assert names(before) == [LEVEL]
    assert before.is_atomic


def test_qc13_a_log_with_a_level_gets_none() -> None:
    assert names(activated(30, is_open=False)) == []


def test_qc14_to_qc16_an_open_transaction_is_aborted() -> None:
    assert names(activated(None, is_open=True)) == [ABORT, BEGIN, LEVEL, END]
    aborted = activated(13, is_open=True)
    assert names(aborted) == [ABORT]
    assert aborted.is_atomic
    with pytest.raises(CannotActivate):
        activated(12, is_open=True)


def test_qc14_a_level_in_the_transaction_that_is_aborted_does_not_count() -> None:
    loader = ImageLoader()
    for offset, record in enumerate([("BeginTransactionRecord", 0, {"name": "b"}), *bootstrap()]):
        loader.replay(offset, record[0], record[2])
    loader.end_batch(2, 1, 0)
    assert loader.open_transaction is not None
    bench = Bench(image=loader.image(), has_open_transaction=True)
    assert bench.names[:3] == [ABORT, BEGIN, LEVEL]
    assert bench.active.state.level == 30


def test_qc17_with_elr_the_cluster_gets_a_minimum_of_its_own() -> None:
    bench = Bench(elr=True, static_configs={"min.insync.replicas": "2"})
    assert bench.names[-2:] == ["ConfigRecord", END]
    assert bench.records[-2][2]["value"] == "2"


def test_producer_ids_are_given_out_in_blocks_of_a_thousand() -> None:
    bench = Bench().with_brokers([1])
    broker = bench.active.state.broker(1)
    assert broker is not None
    body = {"brokerId": 1, "brokerEpoch": broker.epoch}
    blocks = [bench.ask("AllocateProducerIds", 0, body) for _ in range(3)]
    assert [block["producerIdStart"] for block in blocks] == [0, 1000, 2000]
    assert {block["producerIdLen"] for block in blocks} == {1000}
    stale = bench.ask("AllocateProducerIds", 0, {**body, "brokerEpoch": 1})
    assert stale["errorCode"] == Error.STALE_BROKER_EPOCH


def test_qc1_what_is_validated_only_is_not_there() -> None:
    bench = Bench().with_brokers([1])
    body = creation("foo") | {"validateOnly": True}
    assert bench.ask("CreateTopics", 7, body)["topics"][0]["errorCode"] == Error.NONE
    assert bench.active.state.topic_id("foo") is None
    assert bench.ask("CreateTopics", 7, creation("foo"))["topics"][0]["errorCode"] == Error.NONE
    assert bench.active.state.topic_id("foo") is not None


def test_qc6_empty_lists_need_no_controller() -> None:
    for api in ("CreateTopics", "AlterPartition"):
        assert answered_at_once(api, {"topics": []}) == {"topics": []}
    assert answered_at_once("CreateTopics", creation("foo")) is None


def test_qc18_a_record_that_cannot_be_replayed_is_a_fault(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    bench = Bench().with_brokers([1])
    removal = ("RemoveTopicRecord", 0, {"topicId": "A" * 21 + "Q"})
    wrong = Decision(answer={}, records=[removal])
    decide_by(monkeypatch, bench.active, "CreateTopics", lambda *_: wrong)
    with pytest.raises(ReplayError):
        bench.ask("CreateTopics", 7, creation("foo"))
    assert bench.active.handling is not None
    assert bench.active.handling.api == "CreateTopics"


def test_qc22_a_refusal_is_no_fault() -> None:
    bench = Bench().with_brokers([1])
    bench.create("foo")
    answer = bench.ask("CreateTopics", 7, creation("foo"))
    assert answer["topics"][0]["errorCode"] == Error.TOPIC_ALREADY_EXISTS
    assert bench.active.handling is None
    assert bench.create("bar")["errorCode"] == Error.NONE


def test_qc25_a_task_that_fails_is_told_and_tried_again_after_five_minutes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    bench = Bench(leader_imbalance_check_ms=1_000).with_brokers([1])

    def broken(_: object) -> None:
        raise ZeroDivisionError("broken on purpose")

    monkeypatch.setattr(elections, "elect_preferred", broken)
    failures = []
    for passed in range(1_000, 301_001, 1_000):
        step = bench.active.turn(bench.now_ms + passed, deque())
        failures += [(passed, task) for task, _ in step.failures]
        bench.active.heard(1, 0, bench.now_ms + passed)
    task = PeriodicTask.ELECT_PREFERRED
    assert failures == [(1_000, task), (301_000, task)]


@pytest.mark.parametrize(
    ("finalized", "supported", "error"),
    [(1, (0, 0), Error.UNSUPPORTED_VERSION), (1, (0, 1), None), (0, (0, 1), None)],
)
def test_qc28_a_broker_must_support_the_finalized_kraft_version(
    finalized: int, supported: tuple[int, int], error: Error | None
) -> None:
    bench = Bench()
    bench.active.kraft_version = finalized
    features = {"kraft.version": supported, "metadata.version": (7, 33)}
    features |= dict.fromkeys(bench.active.state.feature_levels, (0, 9))
    answer = bench.register(1, features=ranges(features))
    assert answer.get("errorCode") == error


def test_oc5_and_eq1_answers_come_in_order_as_far_as_it_is_committed() -> None:
    bench = Bench().with_brokers([1])
    bench.holds = True
    numbers = [bench.send("CreateTopics", 7, creation(name)) for name in ("foo", "bar", "baz")]
    ends = [bench.active.next_offset]
    assert bench.active.waiting() == numbers
    first = ends[0] - 1 - 2 * 2  # each creates a topic and a partition
    bench.commit(first - 1)
    assert bench.active.waiting() == numbers
    bench.commit(first)
    assert bench.active.waiting() == numbers[1:]
    bench.commit()
    assert bench.active.waiting() == []
    assert [bench.answers[number]["topics"][0]["name"] for number in numbers] == [
        "foo", "bar", "baz",
    ]  # fmt: skip


def test_oc6_to_oc8_what_a_transaction_did_is_seen_at_its_end_and_they_do_not_nest() -> None:
    loader = ImageLoader()
    for offset, (name, version, value) in enumerate(bootstrap()):
        del version
        loader.replay(offset, name, value)
    start = len(bootstrap())
    before = loader.image()
    loader.replay(start, BEGIN, {"name": "x"})
    with pytest.raises(ReplayError):
        loader.replay(start + 1, BEGIN, {"name": "y"})
    topic = {"name": "foo", "topicId": "T" * 21 + "A"}
    loader.replay(start + 1, "TopicRecord", topic)
    assert loader.image().topics == before.topics
    assert loader.delta.topics.id_of("foo") == topic["topicId"]
    loader.replay(start + 2, ABORT, {"reason": None})
    assert loader.delta.topics.id_of("foo") is None
    for record in (END, ABORT):
        with pytest.raises(ReplayError):
            loader.replay(start + 3, record, {"reason": None})


def creation(name: str) -> dict[str, Any]:
    topic = {
        "name": name,
        "numPartitions": 1,
        "replicationFactor": 1,
        "assignments": [],
        "configs": [],
    }
    return {"topics": [topic], "timeoutMs": 1_000, "validateOnly": False}
