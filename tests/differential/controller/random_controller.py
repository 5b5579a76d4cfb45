"""Random starts and steps for two controllers.

Owns what is plausible: brokers that register, send heartbeats and fall silent, leaders that change
ISRs, topics with and without assignments; and, more rarely, what no honest node sends. It looks at
kraftool's state, which is equal to Kafka's as long as the trial goes on.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable
from random import Random

from kraftool.decoders.framing import encode_record
from kraftool.image.metadata_version import (
    CONTROLLER_UNREGISTRATION_LEVEL,
    ELR_VERSION,
    FEATURES,
    KAFKA_4_4_LEVEL,
    METADATA_VERSION,
    OLDEST_KRAFT_LEVEL,
    RELEASE_RANGES,
    release_levels,
)
from kraftool.image.replay import WrittenRecord
from tests.differential.controller.our_controller import OurController
from tests.differential.controller.random_configs import ConfigRequests
from tests.differential.controller.random_quotas import QuotaRequests
from tests.differential.controller.random_reassignments import ReassignmentRequests
from tests.differential.controller.random_requests import (
    BROKERS,
    CLUSTER_ID,
    NODE_ID,
    SESSION_MS,
    Body,
    Command,
)
from tests.differential.controller.random_security import SecurityRequests

SMALL_BATCHES, LARGE_BATCHES = 4, 10_000
"""With so small ones activation takes several, and new topics would not fit into one."""
ACLS_WANTED = (0,) * 39 + (12_000,)
"""More than one request may remove."""
PARTITIONS_WANTED = (0, 0, 0, 0, 0, 300, 1_000, 5_000)


def random_start(random: Random, kafka: str) -> Command:
    """A cluster that has not begun, and a node's settings."""
    newest = RELEASE_RANGES[kafka.rpartition(".")[0]][METADATA_VERSION][1]
    levels = [OLDEST_KRAFT_LEVEL, 8, 11, 12, 13, 14, 15, 17, 21, 23, 25, newest]
    if newest >= KAFKA_4_4_LEVEL:
        # What a release changed, kraftool does from its metadata.version on.
        levels = [*range(KAFKA_4_4_LEVEL, newest)]
    level = random.choice([*levels, newest, newest, newest])
    features = {**release_levels(level)}
    if level >= 23:
        features[ELR_VERSION] = random.randint(0, 1)
    features.pop("kraft.version", None)
    records: list[WrittenRecord] = [
        ("FeatureLevelRecord", 0, {"name": name, "featureLevel": value})
        for name, value in features.items()
        if value
    ]
    configs = {}
    if random.random() < 0.3:
        configs["unclean.leader.election.enable"] = "true"
    if random.random() < 0.3:
        configs["min.insync.replicas"] = "2"
    if random.random() < 0.1:
        configs["log.retention.hours"] = "5"
    return {
        "command": "start",
        "nodeId": NODE_ID,
        "clusterId": CLUSTER_ID,
        "kraftVersion": random.randint(0, 1),
        "features": RELEASE_RANGES[kafka.rpartition(".")[0]],
        "voters": [NODE_ID, 3001] if random.random() < 0.1 else [NODE_ID],
        "bootstrap": [b64encode(encode_record(*record)).decode() for record in records],
        "configs": configs,
        "seed": random.randrange(1 << 48),
        "now": 1_000_000,
        "defaultReplicationFactor": random.randint(1, 3),
        "defaultPartitions": random.randint(1, 4),
        "sessionTimeoutMs": SESSION_MS,
        "maxIdleMs": 500,
        "leaderImbalanceCheckMs": 30_000,
        "uncleanElectionCheckMs": 41_000,
        "tokenSecretKey": None if random.random() < 0.1 else "secret",
        "tokenMaxLifetimeMs": random.choice([60_000, 1 << 62]),
        "tokenExpiryMs": random.choice([20_000, 200_000]),
        "tokenCheckMs": 37_000,
        "maxBatchRecords": random.choice([LARGE_BATCHES, LARGE_BATCHES, 40, SMALL_BATCHES]),
    }


class RandomSteps(ReassignmentRequests, ConfigRequests, QuotaRequests, SecurityRequests):
    """The steps of one trial, each made when the one before was taken."""

    def __init__(self, random: Random, ours: OurController) -> None:
        super().__init__(random, ours)
        self.epoch = 1
        self.uncommitted: list[Command] = []
        """Batches that both have appended."""
        if ours.settings.max_batch_records == LARGE_BATCHES:
            self.partitions_wanted = random.choice(PARTITIONS_WANTED)
            self.acls_wanted = random.choice(ACLS_WANTED)
        self.throttles = random.random() < 0.2
        quotas = 8 if self.throttles else 3
        if ours.settings.max_batch_records == SMALL_BATCHES:
            quotas = 0
        newest = ours.settings.features[METADATA_VERSION][1]
        has_unregistration = newest >= CONTROLLER_UNREGISTRATION_LEVEL
        self._makers: list[tuple[Callable[[], Command], int]] = [
            (self._heartbeat, 40),
            (self._commit, 20),
            (self._advance, 15),
            (self._register_broker, 9),
            (self._create_topics, 0 if ours.settings.max_batch_records == SMALL_BATCHES else 7),
            (self._create_partitions, 0 if ours.settings.max_batch_records == SMALL_BATCHES else 3),
            (self._delete_topics, 2),
            (self._elect_leaders, 4),
            (self._alter_configs, 0 if ours.settings.max_batch_records == SMALL_BATCHES else 6),
            (self._alter_partition, 12),
            (self._assign_directories, 3),
            (self._alter_reassignments, 8),
            (self._list_committed, 2),
            (self._allocate_producer_ids, 2),
            (self._register_controller, 1),
            (self._unregister_broker, 1),
            (self._update_features, 2),
            (self._alter_client_quotas, quotas),
            (self._create_topics, quotas if self.throttles else 0),
            (self._create_partitions, quotas if self.throttles else 0),
            (self._delete_topics, quotas if self.throttles else 0),
            (self._delegation_token, 4),
            (self._unregister_controller, 1 if has_unregistration else 0),
            (self._create_acls, 0 if ours.settings.max_batch_records < LARGE_BATCHES else 5),
            (self._delete_acls, 0 if ours.settings.max_batch_records < LARGE_BATCHES else 3),
            (self._alter_scram, 0 if ours.settings.max_batch_records == SMALL_BATCHES else 4),
            (self._fall_silent, 2),
            (self._lose_leadership, 1),
        ]

    def next(self) -> Command:
        if self.ours.active is None:
            return self._follow_or_lead()
        makers, weights = zip(*self._makers, strict=True)
        maker: Callable[[], Command] = self.random.choices(makers, weights)[0]
        return maker()

    # The node's life

    def _follow_or_lead(self) -> Command:
        """What is not committed when leadership is lost may be lost, too."""
        if self.random.random() < 0.2:
            return self._request("BrokerHeartbeat", 0, 1, self._heartbeat_body(0, 5))
        if self.random.random() < 0.1:
            return self._list_reassignments()
        if self.uncommitted:
            if self.random.random() < 0.5:
                return self._commit()
            self.end_offset = self.uncommitted[0]["baseOffset"]
            self.uncommitted.clear()
        self.epoch += 1
        self.end_offset += 1  # the LeaderChange record
        return {"command": "lead", "epoch": self.epoch, "endOffset": self.end_offset}

    def _lose_leadership(self) -> Command:
        if self.ours.loader.open_transaction is not None:
            # Kafka 4.3 and 4.4 take back a Begin that is committed when they stop being the active
            # controller, and then end at its End. kraftool keeps it.
            return self._advance()
        self.epoch += 1
        return {"command": "follow", "epoch": self.epoch}

    def _commit(self) -> Command:
        if not self.uncommitted:
            return self._advance()
        count = self.random.choice([len(self.uncommitted), len(self.uncommitted), 1])
        batches = self.uncommitted[:count]
        del self.uncommitted[:count]
        return {"command": "commit", "batches": batches}

    def _list_committed(self) -> Command:
        """List reassignments, but only if all is committed: Kafka shows parts of what is not."""
        return self._commit() if self.uncommitted else self._list_reassignments()

    def _advance(self) -> Command:
        ms = self.random.choice([1, 100, 600, 1_200, 3_000])
        ms += self.random.randrange(97)
        if self.random.random() < 0.02:
            ms += self.random.choice([SESSION_MS, 45_000])
        ends = [token.expiration_timestamp - self.ours.now_ms for token in self._tokens()]
        soon = [left_ms for left_ms in ends if 0 < left_ms < SESSION_MS]
        if soon and self.random.random() < 0.2:
            ms = min(soon)
        return {"command": "advance", "now": self.ours.now_ms + ms}

    def _fall_silent(self) -> Command:
        self._silent = {broker_id for broker_id in BROKERS if self.random.random() < 0.2}
        return self._advance()

    def _update_features(self) -> Command:
        random, state = self.random, self._state
        names = [METADATA_VERSION, METADATA_VERSION, ELR_VERSION, *FEATURES, "no.such.feature"]
        updates: list[Body] = []
        for name in dict.fromkeys(random.choices(names, k=random.choice([1, 1, 1, 2, 3]))):
            level = random.choice([0, 1, 1, 2, -1])
            if name == METADATA_VERSION:
                level = max(state.level + random.choice([-9, -2, -1, 0, 1, 1, 2, 3, 9]), -1)
            finalized = state.finalized().get(name, 0)
            kind = 1 if level >= finalized else random.choice([2, 3])
            if random.random() < 0.1:
                kind = random.randrange(5)
            updates.append({"feature": name, "maxVersionLevel": level, "upgradeType": kind})
        body: Body = {"timeoutMs": 1_000, "featureUpdates": updates}
        # What a release changed is kraftool's from its metadata.version on: no lower one there.
        wanted = {item["feature"]: item["maxVersionLevel"] for item in updates}
        goes_back = wanted.get(METADATA_VERSION, state.level) < KAFKA_4_4_LEVEL <= state.level
        if random.random() < 0.1 or goes_back:
            body["validateOnly"] = True
        return self._request("UpdateFeatures", 1, 2, body)

    def _allocate_producer_ids(self) -> Command:
        broker_id = self.random.choice(BROKERS)
        broker = self._state.broker(broker_id)
        body = {"brokerId": broker_id, "brokerEpoch": broker.epoch if broker is not None else 4}
        return self._request("AllocateProducerIds", 0, 0, body)
