"""What the digest's scenarios of the controller's core (QC) and of producer ids say."""

from __future__ import annotations

import pytest

from kraftool.controller.activation import CannotActivate, activation
from kraftool.controller.decision import Decision
from kraftool.decoders.error_codes import Error
from tests.controller.bench import Bench, bootstrap

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
    told = bench.ask("CreateTopics", 7, body, deadline_ms=bench.now_ms - 1)
    assert [topic["errorCode"] for topic in told["topics"]] == [Error.REQUEST_TIMED_OUT]
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
