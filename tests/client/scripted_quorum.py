"""A quorum of three nodes that answer as Kafka's, and a broker; what they say is the test's."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Callable
from dataclasses import replace

from kraftool.decoders.codec import Value
from kraftool.decoders.error_codes import Error
from kraftool.decoders.rpc_frames import RequestFrame
from kraftool.net.guests import Listener
from kraftool.net.server import Peer, Server
from kraftool.raft.messages import DescribeQuorumResponse, FetchResponse
from kraftool.raft.names import Endpoint
from kraftool.raft.wire import responses
from tests.client.views import NOW, described, replica

SERVED = {
    "ApiVersions": (0, 4),
    "Fetch": (13, 18),
    "DescribeQuorum": (0, 2),
    "DescribeCluster": (0, 2),
}
BROKERS = {
    "ApiVersions": (0, 4),
    "Metadata": (0, 13),
    "DescribeQuorum": (0, 2),
    "DescribeCluster": (0, 2),
}
KEYS = {
    "ApiVersions": 18,
    "Fetch": 1,
    "Metadata": 3,
    "DescribeQuorum": 55,
    "DescribeCluster": 60,
}
BROKER = 10
MISMATCHED_ENDPOINT_TYPE = 114


class Quorum:
    """Three nodes as Kafka's answer; what is advertised may lead nowhere."""

    def __init__(
        self, *, leader: int | None, advertised: dict[int, Endpoint] | None = None
    ) -> None:
        self.leader = leader
        self.bound: dict[int, Endpoint] = {}
        self._advertised = advertised
        self.told_voters = False
        """Whether the leader names the voters' endpoints, which are where they listen."""
        self.fetched_as: set[int] = set()
        self.cluster_id, self.epoch = "cluster", 5
        self.registered: tuple[int, ...] = (1, 2, 3)
        self.high_watermarks = [100]
        """What its leader says, one after the other; the last one from then on."""
        self.clock_ms: Callable[[], int] = lambda: NOW
        """When its voters have fetched, by the leader's clock."""
        self.servers: dict[int, Server] = {}
        self.broker: Endpoint | None = None

    def endpoint(self, number: int) -> Endpoint:
        return (self._advertised or self.bound)[number]

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        async with contextlib.AsyncExitStack() as stack:
            for number in (1, 2, 3):

                async def handle(
                    peer: Peer, request: RequestFrame, number: int = number
                ) -> Value | None:
                    return self.answer(number, request)

                listener = Listener(name="CONTROLLER", host="127.0.0.1", port=0)
                server = self.servers[number] = Server([listener], handle, SERVED)
                await server.start()
                stack.push_async_callback(server.close)
                self.bound[number] = server.bound["CONTROLLER"]
            yield

    @contextlib.asynccontextmanager
    async def with_broker(self) -> AsyncIterator[Endpoint]:
        """The quorum, and a broker as Kafka's: it passes DescribeQuorum on to the leader."""

        async def handle(peer: Peer, request: RequestFrame) -> Value | None:
            if request.name == "ApiVersions":
                return _offered(BROKERS)
            if request.name == "DescribeCluster":
                wrong = request.body["endpointType"] != 1
                return {
                    "errorCode": MISMATCHED_ENDPOINT_TYPE if wrong else 0,
                    "clusterId": "" if wrong else self.cluster_id,
                    "brokers": [],
                }
            assert request.name == "DescribeQuorum", "a broker is asked nothing else"
            assert self.leader is not None, "it would wait for a leader"
            return self.answer(self.leader, request)

        async with self.running():
            listener = Listener(name="BROKER", host="127.0.0.1", port=0)
            server = Server([listener], handle, BROKERS)
            await server.start()
            try:
                yield server.bound["BROKER"]
            finally:
                await server.close()

    def answer(self, number: int, request: RequestFrame) -> Value:
        if request.name == "ApiVersions":
            return _offered(SERVED)
        if request.name == "DescribeCluster":
            brokers = [
                {"brokerId": broker_id, "host": where.host, "port": where.port, "rack": None}
                for broker_id in self.registered
                for where in [self.endpoint(broker_id)]
            ]
            return {
                "errorCode": 0,
                "clusterId": self.cluster_id,
                "controllerId": -1 if self.leader is None else self.leader,
                "brokers": brokers if self.leader is not None else [],
            }
        leads = number == self.leader
        if request.name == "DescribeQuorum":
            answer = DescribeQuorumResponse(error=Error.NOT_LEADER_OR_FOLLOWER)
            if leads:
                mark = self.high_watermarks[0]
                self.high_watermarks = self.high_watermarks[1:] or [mark]
                clock_ms = self.clock_ms()
                voters = [replica(node_id, fetched=clock_ms) for node_id in self.registered]
                answer = described(voters, leader=number, epoch=self.epoch, mark=mark)
                if self.told_voters:
                    nodes = {id_: {"CONTROLLER": self.bound[id_]} for id_ in self.registered}
                    answer = replace(answer, nodes=nodes)
                else:
                    answer = replace(answer, nodes={})
            return responses.to_kafka("DescribeQuorum", answer, request.version)
        self.fetched_as.add(request.body["replicaState"]["replicaId"])
        response = FetchResponse(
            error=Error.FENCED_LEADER_EPOCH,
            leader_id=-1 if self.leader is None else self.leader,
            leader_epoch=self.epoch,
            endpoints={} if self.leader is None else {"X": self.endpoint(self.leader)},
        )
        return responses.to_kafka("Fetch", response, request.version)


def _offered(served: dict[str, tuple[int, int]]) -> Value:
    keys = [
        {"apiKey": KEYS[name], "minVersion": low, "maxVersion": high}
        for name, (low, high) in served.items()
    ]
    return {"errorCode": 0, "apiKeys": keys}
