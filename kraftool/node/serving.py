"""The node's answers on its listeners.

Owns the table of requests (`APIS`), the permission that each takes, ApiVersions, and the step from
Kafka's requests to the core's and back. `authorization.py` decides what a client may do, and
`controlling.py` answers for the active controller. A node without a controller sends Kafka's
brokers and controllers on to the leader, and does not offer the requests of clients. A broker sends
those on in envelopes (`envelope.py`).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import replace
from enum import Enum
from typing import NamedTuple

from kraftool.controller.acl_filters import can_be_read, describe_acls
from kraftool.controller.acl_hosts import host_of
from kraftool.controller.answers import refused_answer
from kraftool.controller.authorizer import Client
from kraftool.controller.describe_configs import describe_configs, refused_description
from kraftool.controller.permissions import Permissions
from kraftool.controller.reassignments import list_partition_reassignments
from kraftool.controller.refused import RequestRefused
from kraftool.decoders import schema
from kraftool.decoders.codec import Value
from kraftool.decoders.error_codes import Error
from kraftool.decoders.rpc_frames import RequestFrame
from kraftool.image.features import FeaturesImage
from kraftool.image.image import EMPTY, MetadataImage
from kraftool.image.metadata_version import KRAFT_VERSION, METADATA_VERSION
from kraftool.net.server import Peer
from kraftool.node import envelope, feature_update, token_requests
from kraftool.node.authorization import Authorization
from kraftool.node.controlling import Controlling
from kraftool.node.describe_cluster import controllers_at, describe_cluster
from kraftool.node.refusals import say_not_loaded, say_refused
from kraftool.node.runner import RefusedMessage, Runner
from kraftool.raft.messages import ANSWERED_BY
from kraftool.raft.names import VersionRange
from kraftool.raft.raft import Raft
from kraftool.raft.roles import Leader
from kraftool.raft.wire import requests, responses

UPDATE_FEATURES = "UpdateFeatures"
_ALTER_ACLS = ("CreateAcls", "DeleteAcls")
_COME_BACK_S = 1.0
HEARTBEAT_DEADLINE_MS = 1000
"""Half of Kafka's default broker.heartbeat.interval.ms: a heartbeat that waited longer counts as a
sign of life only."""
OF_ITEMS = ""
"""In the place of an operation: each topic, resource or owner takes a permission of its own."""


class Family(Enum):
    """The part of the node that answers a request."""

    CORE = "the raft core"
    NODE = "the node itself"
    CONTROLLER = "the active controller"
    TOKENS = "the active controller, for authenticated clients"
    FORWARDED = "whoever answers the request in it"


class Api(NamedTuple):
    """A request that the node serves."""

    low: int
    high: int
    family: Family
    operation: str = "CLUSTER_ACTION"
    """What Kafka's ControllerApis authorizes on the cluster; OF_ITEMS for single items."""
    needs_controller: bool = False
    """True if only a node that runs a controller offers it. One without answers the others, too:
    whoever finds an api missing goes on asking the same node, after another leads."""
    is_forwardable: bool = False
    """True if a broker may send it on for a client."""


def _of_clients(low: int, high: int, operation: str, family: Family = Family.CONTROLLER) -> Api:
    """A request of clients, which brokers send on to a node that runs a controller."""
    return Api(low, high, family, operation, needs_controller=True, is_forwardable=True)


APIS: Mapping[str, Api] = {
    "Fetch": Api(4, 18, Family.CORE),
    "ApiVersions": Api(0, 4, Family.NODE),
    "Vote": Api(0, 2, Family.CORE),
    "BeginQuorumEpoch": Api(0, 1, Family.CORE),
    "EndQuorumEpoch": Api(0, 1, Family.CORE),
    "DescribeQuorum": Api(0, 2, Family.CORE, "DESCRIBE", is_forwardable=True),
    "FetchSnapshot": Api(0, 1, Family.CORE),
    UPDATE_FEATURES: Api(0, 2, Family.CONTROLLER, "ALTER", is_forwardable=True),
    "DescribeCluster": Api(0, 2, Family.NODE, "ALTER"),
    "DescribeConfigs": Api(1, 4, Family.NODE, OF_ITEMS, needs_controller=True),
    "DescribeAcls": Api(1, 3, Family.NODE, "DESCRIBE", needs_controller=True),
    "DescribeUserScramCredentials": Api(0, 0, Family.NODE, OF_ITEMS, needs_controller=True),
    "AddRaftVoter": Api(0, 1, Family.CORE, "ALTER", is_forwardable=True),
    "RemoveRaftVoter": Api(0, 0, Family.CORE, "ALTER", is_forwardable=True),
    "UpdateRaftVoter": Api(0, 0, Family.CORE),
    "AllocateProducerIds": Api(0, 0, Family.CONTROLLER, is_forwardable=True),
    "AlterPartition": Api(2, 3, Family.CONTROLLER),
    "AssignReplicasToDirs": Api(0, 0, Family.CONTROLLER),
    "BrokerHeartbeat": Api(0, 2, Family.CONTROLLER),
    "BrokerRegistration": Api(0, 4, Family.CONTROLLER),
    "ControllerRegistration": Api(0, 0, Family.CONTROLLER),
    "Envelope": Api(0, 0, Family.FORWARDED),
    "CreateTopics": _of_clients(2, 7, OF_ITEMS),
    "DeleteTopics": _of_clients(1, 6, OF_ITEMS),
    "CreatePartitions": _of_clients(0, 3, OF_ITEMS),
    "AlterPartitionReassignments": _of_clients(0, 1, "ALTER"),
    "ListPartitionReassignments": _of_clients(0, 0, "DESCRIBE", Family.NODE),
    "ElectLeaders": _of_clients(0, 2, "ALTER"),
    "IncrementalAlterConfigs": _of_clients(0, 1, OF_ITEMS),
    "AlterConfigs": _of_clients(0, 2, OF_ITEMS),
    "UnregisterBroker": _of_clients(0, 0, "ALTER"),
    "UnregisterController": _of_clients(0, 0, "ALTER"),
    "AlterClientQuotas": _of_clients(0, 1, "ALTER_CONFIGS"),
    "CreateDelegationToken": _of_clients(1, 3, OF_ITEMS, Family.TOKENS),
    "RenewDelegationToken": _of_clients(1, 2, OF_ITEMS, Family.TOKENS),
    "ExpireDelegationToken": _of_clients(1, 2, OF_ITEMS, Family.TOKENS),
    "DescribeDelegationToken": Api(1, 3, Family.NODE, OF_ITEMS, needs_controller=True),
    "CreateAcls": _of_clients(1, 3, "ALTER"),
    "DeleteAcls": _of_clients(1, 3, "ALTER"),
    "AlterUserScramCredentials": _of_clients(0, 0, "ALTER"),
}
"""The versions that Kafka 4.3's controllers serve. `Offered.runs_controller` knows a node that runs
a controller by CreateTopics."""


def served(*, with_controller: bool) -> dict[str, tuple[int, int]]:
    """The versions of each request that a node offers."""
    return {
        name: (api.low, api.high)
        for name, api in APIS.items()
        if with_controller or not api.needs_controller
    }


def _leads_no_more(raft: Raft) -> bool:
    return not isinstance(raft.role, Leader)


class Serving:
    """Answers requests, by the core or by the image."""

    def __init__(
        self,
        runner: Runner,
        image: Callable[[], MetadataImage | None],
        *,
        features: Mapping[str, VersionRange],
        authorization: Authorization,
        features_offset: Callable[[], int] = lambda: -1,
        controlling: Controlling | None = None,
    ) -> None:
        """`features`: the levels that the node supports. `features_offset`: of the image in which
        the finalized ones changed last.
        `controlling`: what runs the active controller, on a node with one."""
        self._runner = runner
        self._image = image
        self._features = features
        self._authorization = authorization
        self._features_offset = features_offset
        self._controlling = controlling
        self._leading: asyncio.Task[bool] | None = None
        """What all wait for to whom this node is no controller."""
        self.served = served(with_controller=controlling is not None)

    async def answer(
        self, peer: Peer, frame: RequestFrame, *, is_forwarded: bool = False
    ) -> Value | None:
        """The body of the answer; None where the connection is to be closed, as Kafka does.
        `is_forwarded`: a broker sent it on for a client."""
        if frame.name == "ApiVersions":
            return self.api_versions(frame.version)
        if frame.name not in self.served or not can_be_read(frame.name, frame.body):
            return None
        client = Client(peer.principal, host_of(peer.host))
        permissions = self._authorization.permissions(client)
        if permissions is None:
            say_not_loaded(peer, frame, is_forwarded=is_forwarded)
            return await self._answer(
                peer, frame, Permissions(lambda *_: False), Error.UNKNOWN_SERVER_ERROR
            )
        operation = APIS[frame.name].operation
        is_allowed = operation == OF_ITEMS or permissions.allows(operation, "CLUSTER")
        refusal = None if is_allowed else Error.CLUSTER_AUTHORIZATION_FAILED
        try:
            return await self._answer(peer, frame, permissions, refusal, is_forwarded=is_forwarded)
        finally:
            for refused in permissions.refused:
                say_refused(peer, frame, refused, is_forwarded=is_forwarded)

    async def _answer(
        self,
        peer: Peer,
        frame: RequestFrame,
        permissions: Permissions,
        refusal: Error | None,
        *,
        is_forwarded: bool = False,
    ) -> Value | None:
        """`refusal`: why the client is refused; None if it may ask."""
        match APIS[frame.name].family:
            case Family.CORE:
                return await self._ask_core(peer, frame, refusal)
            case Family.CONTROLLER:
                return await self._ask_controller(
                    peer, frame, permissions, refusal, is_forwarded=is_forwarded
                )
            case Family.TOKENS:
                return await self._ask_for_token(
                    peer, frame, permissions, refusal, is_forwarded=is_forwarded
                )
            case Family.FORWARDED:
                if refusal is not None or self._controlling is None:
                    return await self._no_controller(frame, refusal)
                return await self._open_envelope(peer, frame)
        match frame.name:
            case "DescribeConfigs":
                return self._describe_configs(frame, permissions, refusal)
            case "DescribeAcls":
                return self._describe_acls(frame, refusal)
            case "ListPartitionReassignments":
                return await self._list_reassignments(frame, refusal)
            case "DescribeDelegationToken" | "DescribeUserScramCredentials":
                # Kafka's controllers offer these, and fail at them: brokers answer them.
                refused = RequestRefused(Error.UNKNOWN_SERVER_ERROR)
                return refused_answer(frame.name, frame.body, refused)
        raft, listener = self._runner.raft, peer.listener.upper()
        return describe_cluster(
            frame,
            raft,
            controllers_at(listener, raft, self._image()),
            permissions,
            refusal,
            cluster_id=self._runner.settings.cluster_id,
        )

    async def _ask_core(
        self, peer: Peer, frame: RequestFrame, refusal: Error | None
    ) -> Value | None:
        request = requests.from_kafka(frame.name, frame.body)
        if refusal is not None:
            refused = ANSWERED_BY[type(request)](top_error=refusal)
            return responses.to_kafka(frame.name, refused, frame.version)
        try:
            response = await self._runner.ask(request, peer.listener.upper())
        except RefusedMessage:
            return None
        return responses.to_kafka(frame.name, response, frame.version)

    async def _ask_controller(
        self,
        peer: Peer,
        frame: RequestFrame,
        permissions: Permissions,
        refusal: Error | None,
        *,
        is_forwarded: bool,
    ) -> Value:
        if refusal is not None:
            return await self._no_controller(frame, refusal)
        if self._controlling is None:
            if frame.name == UPDATE_FEATURES:
                return await feature_update.update_features(self._runner, frame)
            return await self._no_controller(frame, None)
        if frame.name in _ALTER_ACLS and not self._authorization.uses_acls:
            text = self._authorization.why_no_acls
            refused = RequestRefused(Error.SECURITY_DISABLED, text)
            return refused_answer(frame.name, frame.body, refused)
        timeout_ms = frame.body.get("timeoutMs")
        if frame.name == "BrokerHeartbeat":
            timeout_ms = HEARTBEAT_DEADLINE_MS
        return await self._controlling.ask(
            frame.name,
            frame.version,
            frame.body,
            timeout_ms=timeout_ms,
            permissions=permissions,
            is_forwarded=is_forwarded,
            principal=peer.principal,
            client_id=frame.client_id,
        )

    async def _ask_for_token(
        self,
        peer: Peer,
        frame: RequestFrame,
        permissions: Permissions,
        refusal: Error | None,
        *,
        is_forwarded: bool,
    ) -> Value:
        refused = token_requests.refused(
            peer, frame.name, frame.body, permissions, is_forwarded=is_forwarded
        )
        if refused is not None:
            return refused
        return await self._ask_controller(
            peer, frame, permissions, refusal, is_forwarded=is_forwarded
        )

    async def _no_controller(self, frame: RequestFrame, refusal: Error | None) -> Value:
        """Refuse a client, or send it on to the leader. As long as this node leads they come back
        at once, so that the answer takes its time."""
        error = refusal
        if error is None:
            if self._leading is None or self._leading.done():
                until = self._runner.until(_leads_no_more, _COME_BACK_S)
                self._leading = asyncio.get_running_loop().create_task(until)
            await asyncio.shield(self._leading)
            error = Error.NOT_CONTROLLER
        return refused_answer(frame.name, frame.body, RequestRefused(error))

    async def _open_envelope(self, peer: Peer, frame: RequestFrame) -> Value:
        """Answer the request in it as if its client had sent it here."""
        opened = envelope.opened(frame.body)
        if isinstance(opened, Error):
            return {"errorCode": int(opened), "responseData": None}
        inner = opened.request
        low, high = self.served.get(inner.name, (0, -1))
        if not low <= inner.version <= high:
            # A broker that has no connection to the controller yet offers its clients everything.
            # At this error alone it closes the client's connection, and the client asks for
            # ApiVersions again; any other becomes UNKNOWN_SERVER_ERROR.
            return {"errorCode": int(Error.UNSUPPORTED_VERSION), "responseData": None}
        if not APIS[inner.name].is_forwardable:
            return {"errorCode": int(Error.INVALID_REQUEST), "responseData": None}
        if not can_be_read(inner.name, inner.body):
            return {"errorCode": int(Error.UNSUPPORTED_VERSION), "responseData": None}
        client = replace(
            peer, principal=opened.principal, has_token=opened.has_token, host=opened.host
        )
        body = await self.answer(client, inner, is_forwarded=True)
        if body is None or envelope.says_not_controller(inner.name, body):
            return {"errorCode": int(Error.NOT_CONTROLLER), "responseData": None}
        return {"errorCode": int(Error.NONE), "responseData": envelope.sealed(inner, body)}

    def api_versions(self, version: int) -> Value:
        """Return what is served, and the levels of features: supported, and finalized in the
        image.
        """
        body: Value = {
            "errorCode": 0,
            "apiKeys": [
                {"apiKey": key, "minVersion": low, "maxVersion": high}
                for key, (low, high) in sorted(
                    (schema.message(f"{name}Request").api_key or 0, versions)
                    for name, versions in self.served.items()
                )
            ],
            "throttleTimeMs": 0,
        }
        if version >= 3:
            image = self._image()
            body["supportedFeatures"] = [
                {"name": name, "minVersion": levels.min, "maxVersion": levels.max}
                for name, levels in self._features.items()
                # A minimum of 0 is what older clients cannot read.
                if levels.min > 0 or version >= 4
            ]
            finalized = self._finalized(image.features if image is not None else None)
            body["finalizedFeatures"] = [
                {"name": name, "maxVersionLevel": level, "minVersionLevel": level}
                for name, level in finalized.items()
            ]
            body["finalizedFeaturesEpoch"] = self._features_offset()
            body["zkMigrationReady"] = False
        return body

    def _finalized(self, features: FeaturesImage | None) -> dict[str, int]:
        levels = {KRAFT_VERSION: self._runner.raft.control.kraft_version}
        if features is not None:
            levels |= features.finalized
            if features.metadata_version is not None:
                levels[METADATA_VERSION] = features.metadata_version
        return {name: level for name, level in levels.items() if level > 0}

    def _describe_acls(self, frame: RequestFrame, refusal: Error | None) -> Value:
        refused = None if refusal is None else RequestRefused(refusal)
        if refused is None and not self._authorization.uses_acls:
            text = "No Authorizer is configured on the broker"
            refused = RequestRefused(Error.SECURITY_DISABLED, text)
        if refused is not None:
            return refused_answer(frame.name, frame.body, refused) | {"resources": []}
        image = self._image() or EMPTY
        return describe_acls(image.acls.by_id.values(), frame.body)

    def _describe_configs(
        self, frame: RequestFrame, permissions: Permissions, refusal: Error | None
    ) -> Value:
        if refusal is not None:
            return refused_description(frame.body, refusal)
        assert self._controlling is not None, "only such a node offers it"
        settings = self._controlling.settings
        return describe_configs(
            self._image() or EMPTY,
            frame.body,
            permissions,
            node_id=settings.node_id,
            static_configs=settings.static_configs,
        )

    async def _list_reassignments(self, frame: RequestFrame, refusal: Error | None) -> Value:
        """Return what is moving in the image. A leader first replays what it has committed, so that
        a client sees the reassignments whose answers it has."""
        if refusal is not None:
            return refused_answer(frame.name, frame.body, RequestRefused(refusal))
        role = self._runner.raft.role
        committed = (role.high_watermark or 0) if isinstance(role, Leader) else 0
        await self._runner.until(lambda _: self._replayed_to() >= committed, _COME_BACK_S)
        topics = (self._image() or EMPTY).topics
        # A thread: it may be a million partitions to look through.
        return await asyncio.to_thread(list_partition_reassignments, topics, frame.body)

    def _replayed_to(self) -> int:
        image = self._image()
        return 0 if image is None else image.provenance.last_offset + 1
