"""Whatever a controller is asked, its state stays one that a cluster can live with."""

from __future__ import annotations

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from kraftool.controller.controller import ActiveController
from kraftool.controller.partition_index import PartitionIndex, PartitionKey
from kraftool.decoders.error_codes import Error
from kraftool.image.loader import ImageLoader
from kraftool.image.topics import NO_LEADER, PartitionRegistration
from tests.controller.bench import Bench, Sequential, directory, incarnation

BROKERS = st.integers(0, 4)


class ControlledCluster(RuleBasedStateMachine):
    """Brokers come, go and fall silent, topics are created and moved, ISRs change, controllers
    follow on each other."""

    def __init__(self) -> None:
        super().__init__()
        self.bench = Bench(
            elr=True, static_configs={"min.insync.replicas": "2"}, most_records_at_once=2
        )
        self.loader = ImageLoader()
        self.offset = 3
        self.topics = 0
        self.lives: dict[int, int] = {}
        self.before: dict[PartitionKey, PartitionRegistration] = {}
        self.follow()

    def follow(self) -> None:
        """Replay what was appended, as everybody else does."""
        for name, _, value in self.bench.records:
            self.loader.replay(self.offset, name, value)
            self.offset += 1
        self.bench.records = []
        assert self.offset == self.bench.active.next_offset

    @rule(broker_id=BROKERS, is_new=st.booleans())
    def register(self, broker_id: int, is_new: bool) -> None:
        life = self.lives[broker_id] = self.lives.get(broker_id, 0) + is_new
        self.bench.register(
            broker_id,
            incarnationId=incarnation(broker_id, life),
            logDirs=[directory(broker_id), directory(broker_id, 2)],
        )
        self.follow()

    @rule(broker_id=BROKERS, fences=st.booleans(), stops=st.booleans(), loses=st.booleans())
    def beat(self, broker_id: int, fences: bool, stops: bool, loses: bool) -> None:
        lost = [directory(broker_id)] if loses else []
        self.bench.beat(broker_id, wantFence=fences, wantShutDown=stops, offlineLogDirs=lost)
        self.follow()

    @rule(broker_id=BROKERS)
    def beat_well(self, broker_id: int) -> None:
        self.bench.beat(broker_id)
        self.follow()

    @rule(ms=st.sampled_from([100, 2_000, 10_000, 300_000]))
    def pass_time(self, ms: int) -> None:
        self.bench.pass_time(ms)
        self.follow()

    @rule(partitions=st.integers(1, 3), replicas=st.integers(1, 4))
    def create(self, partitions: int, replicas: int) -> None:
        made = self.bench.create(
            f"topic-{self.topics}", numPartitions=partitions, replicationFactor=replicas
        )
        self.topics += made["errorCode"] == Error.NONE
        self.follow()

    @rule(data=st.data())
    def alter(self, data: st.DataObject) -> None:
        if not self.topics:
            return
        name = f"topic-{data.draw(st.integers(0, self.topics - 1))}"
        partition = self.bench.partition(name)
        if partition.leader == NO_LEADER:
            return
        others = [replica for replica in partition.replicas if replica != partition.leader]
        chosen: list[int] = (
            data.draw(st.lists(st.sampled_from(others), unique=True)) if others else []
        )
        recovery = min(partition.leader_recovery_state, int(not chosen))
        self.bench.alter(name, [partition.leader, *chosen], leaderRecoveryState=recovery)
        self.follow()

    @rule(
        data=st.data(), replicas=st.none() | st.lists(BROKERS, unique=True, min_size=1, max_size=4)
    )
    def reassign(self, data: st.DataObject, replicas: list[int] | None) -> None:
        if not self.topics:
            return
        name = f"topic-{data.draw(st.integers(0, self.topics - 1))}"
        partitions = [{"partitionIndex": 0, "replicas": replicas}]
        body = {"timeoutMs": 1_000, "topics": [{"name": name, "partitions": partitions}]}
        self.bench.ask("AlterPartitionReassignments", 1, body)
        self.follow()

    @rule(broker_id=BROKERS)
    def unregister(self, broker_id: int) -> None:
        self.bench.ask("UnregisterBroker", 0, {"brokerId": broker_id})
        self.follow()

    @rule()
    def another_controller(self) -> None:
        """All is committed; the next one knows no more than that."""
        old = self.bench.active
        self.bench.active = ActiveController(
            self.bench.settings,
            Sequential(),
            old._new_id,
            image=self.loader.image(),
            next_offset=self.offset + 1,
            registered_at={},
            now_ms=self.bench.now_ms,
        )
        self.offset += 1  # the record that begins its epoch
        step = self.bench.active.activate(self.bench.now_ms, has_open_transaction=False)
        self.bench.take(step)
        self.follow()

    @invariant()
    def partitions_can_be_lived_with(self) -> None:
        image = self.loader.image()
        now = {
            PartitionKey(topic.id, number): partition
            for topic in image.topics.by_id.values()
            for number, partition in topic.partitions.items()
        }
        assert set(self.before) <= set(now), "a partition is lost"
        for key, partition in now.items():
            assert set(partition.isr) <= set(partition.replicas)
            assert not set(partition.elr) & set(partition.isr)
            assert {*partition.adding_replicas, *partition.removing_replicas} <= {
                *partition.replicas
            }
            assert len(partition.directories) == len(partition.replicas)
            assert partition.leader == NO_LEADER or partition.leader in partition.isr
            old = self.before.get(key)
            if old is not None and old != partition:
                assert partition.partition_epoch > old.partition_epoch
                assert partition.leader_epoch >= old.leader_epoch
                assert partition.leader == old.leader or partition.leader_epoch > old.leader_epoch
        self.before = now

    @invariant()
    def no_fenced_broker_leads(self) -> None:
        image = self.loader.image()
        for topic in image.topics.by_id.values():
            for partition in topic.partitions.values():
                if partition.leader != NO_LEADER:
                    leader = image.cluster.brokers.get(partition.leader)
                    assert leader is not None
                    assert not leader.fenced

    @invariant()
    def the_index_is_that_of_the_topics(self) -> None:
        anew = PartitionIndex.of(self.loader.image().topics)
        kept = self.bench.active.state.partitions
        for broker_id in (NO_LEADER, *range(5)):
            assert set(kept.with_isr(broker_id)) == set(anew.with_isr(broker_id))
            assert set(kept.with_elr(broker_id)) == set(anew.with_elr(broker_id))
            assert kept.is_leader_of_any(broker_id) == anew.is_leader_of_any(broker_id)
        assert set(kept.leaderless()) == set(anew.leaderless())
        assert set(kept.not_led_by_preferred()) == set(anew.not_led_by_preferred())
        topics = list(self.loader.image().topics.by_id.values())
        for broker_id in range(5):
            for number in (1, 2):
                name = directory(broker_id, number)
                assert set(kept.with_directory(name, topics)) == set(
                    anew.with_directory(name, topics)
                )


TestControlledCluster = ControlledCluster.TestCase
