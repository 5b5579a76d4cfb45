"""A decision with very many records takes turns, in which the node looks after other things."""

from __future__ import annotations

import gc
import weakref
from collections import deque

import pytest

from kraftool.controller.controller import ControllerRequest, Step
from tests.controller.bench import SESSION_MS, Bench

_PARTITIONS = 50
_AT_ONCE = 10


def cluster(most_records_at_once: int, *, elr: bool = False) -> Bench:
    """Brokers 1 and 2, each with every partition."""
    bench = Bench(elr=elr, most_records_at_once=most_records_at_once)
    bench.with_brokers([1, 2])
    bench.create("foo", numPartitions=_PARTITIONS, replicationFactor=2)
    return bench


def epoch(bench: Bench, broker_id: int) -> int:
    broker = bench.active.state.broker(broker_id)
    assert broker is not None
    return broker.epoch


def silence(bench: Bench) -> None:
    """Let the session of broker 1 end, and not that of broker 2."""
    bench.now_ms += SESSION_MS + 1
    bench.active.heard(2, epoch(bench, 2), bench.now_ms)


def producer_ids(bench: Bench, number: int) -> ControllerRequest:
    body = {"brokerId": 2, "brokerEpoch": epoch(bench, 2)}
    return ControllerRequest(number=number, api="AllocateProducerIds", version=0, body=body)


def test_a_fence_of_many_partitions_takes_turns_and_nothing_is_decided_between() -> None:
    bench = cluster(_AT_ONCE)
    silence(bench)
    queue: deque[ControllerRequest] = deque()
    steps = [bench.active.turn(bench.now_ms, queue)]
    queue.append(producer_ids(bench, 77))
    while bench.active.is_busy:
        assert len(queue) == 1, "a request waits while a decision is carried out"
        steps.append(bench.active.turn(bench.now_ms, queue))
    assert all(step.record_count <= _AT_ONCE for step in steps)
    assert sum(step.record_count for step in steps) == _PARTITIONS + 2, (
        "the request is decided in the last turn"
    )
    assert len(steps) == _PARTITIONS // _AT_ONCE + 1
    broker = bench.active.state.broker(1)
    assert broker is not None
    assert broker.fenced
    turns(bench, queue)
    bench.commit()
    assert bench.answers[77]["producerIdStart"] == 0


def turns(bench: Bench, queue: deque[ControllerRequest]) -> list[Step]:
    steps = [bench.active.turn(bench.now_ms, queue)]
    while queue or bench.active.is_busy:
        steps.append(bench.active.turn(bench.now_ms, queue))
    return steps


@pytest.mark.parametrize("elr", [False, True])
@pytest.mark.parametrize("what", ["fence", "shutdown", "unregister", "restart", "unfence"])
def test_records_are_the_same_in_one_turn_or_in_many(what: str, elr: bool) -> None:
    records = []
    for at_once in (3, 10_000):
        bench = cluster(at_once, elr=elr)
        match what:
            case "fence":
                silence(bench)
                bench.turns()
            case "shutdown":
                bench.beat(1, wantShutDown=True)
            case "unregister":
                bench.ask("UnregisterBroker", 0, {"brokerId": 1})
            case "restart":
                bench.now_ms += SESSION_MS + 1
                bench.register(1, incarnationId="A-second-life-of-it-AA")
            case "unfence":
                bench.now_ms += SESSION_MS + 1
                bench.turns()
                bench.pass_time(10)  # each broker in a turn of its own
                bench.beat(2)
        assert len(bench.records) > _AT_ONCE
        records.append(bench.records)
    assert records[0] == records[1]


def test_requests_that_fill_a_turn_leave_the_others_to_the_next_one() -> None:
    bench = cluster(2)
    queue = deque(producer_ids(bench, number) for number in range(100, 105))
    step = bench.active.turn(bench.now_ms, queue)
    assert step.record_count == 2
    assert len(queue) == 3
    turns(bench, queue)
    bench.commit()
    assert [bench.answers[number]["producerIdStart"] for number in range(100, 105)] == [
        1000 * block for block in range(5)
    ]


def test_a_turn_is_light_if_it_is_about_few_partitions_and_says_so() -> None:
    """Others, and those with a task that is due, are for a thread."""
    bench = cluster(_AT_ONCE)
    active, now_ms = bench.active, bench.now_ms

    def request(api: str, **body: object) -> deque[ControllerRequest]:
        return deque([ControllerRequest(number=1, api=api, version=1, body=body)])

    def beat(broker_id: int, **wants: object) -> deque[ControllerRequest]:
        body = {"brokerId": broker_id, "wantFence": False, "wantShutDown": False, **wants}
        return request("BrokerHeartbeat", **body)

    def creation(partitions: int) -> deque[ControllerRequest]:
        topic = {"numPartitions": partitions, "assignments": [], "configs": []}
        return request("CreateTopics", topics=[topic])

    assert active.is_light(now_ms, deque())
    assert active.is_light(now_ms, beat(1))
    assert active.is_light(now_ms, creation(200))
    assert not active.is_light(now_ms, beat(1, wantFence=True))
    assert not active.is_light(now_ms, beat(1, wantShutDown=True))
    assert not active.is_light(now_ms, beat(1, offlineLogDirs=["x"]))
    assert not active.is_light(now_ms, beat(7)), "an unknown broker"
    assert not active.is_light(now_ms, creation(5_000))
    assert not active.is_light(now_ms, creation(200) + creation(200))
    assert not active.is_light(now_ms, request("UnregisterBroker", brokerId=1))
    assert not active.is_light(now_ms + SESSION_MS, deque()), "a broker may have to be fenced"
    silence(bench)
    bench.active.turn(bench.now_ms, deque())
    assert bench.active.is_busy
    assert not active.is_light(bench.now_ms, deque())


def test_a_controller_that_ends_is_gone_at_once() -> None:
    """A node looks for unreachable cycles rarely; the index of 300,000 partitions is large."""
    bench = cluster(_AT_ONCE)
    index = weakref.ref(bench.active.state.partitions)
    bench.active._new_id = str  # the bench's own refers to the bench
    gc.disable()
    try:
        del bench
        assert index() is None
    finally:
        gc.enable()
