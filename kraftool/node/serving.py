"""What the node answers on its listeners.

Owns the step from Kafka's requests to the core's and back, who may ask (super.users, where an
authorizer is configured), ApiVersions and DescribeCluster. Of what an active controller does
beside, only an upgrade of kraft.version is done (`feature_update.py`); Kafka's brokers and
controllers are sent on to the leader, and other apis are not offered.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping

from kraftool.decoders import schema
from kraftool.decoders.addresses import shown_address
from kraftool.decoders.codec import Value
from kraftool.decoders.error_codes import Error
from kraftool.decoders.rpc_frames import RequestFrame
from kraftool.image.features import FeaturesImage
from kraftool.image.image import MetadataImage
from kraftool.image.metadata_version import KRAFT_VERSION, METADATA_VERSION
from kraftool.net.lines import Limit, claimed
from kraftool.net.server import Peer
from kraftool.node import feature_update
from kraftool.node.narration import say
from kraftool.node.runner import RefusedMessage, Runner
from kraftool.raft.messages import ANSWERED_BY
from kraftool.raft.names import NO_ID, VersionRange
from kraftool.raft.roles import Leader
from kraftool.raft.wire import requests, responses

UPDATE_FEATURES = "UpdateFeatures"
OF_ACTIVE_CONTROLLER = (
    "AllocateProducerIds",
    "AlterPartition",
    "AssignReplicasToDirs",
    "BrokerHeartbeat",
    "BrokerRegistration",
    "ControllerRegistration",
    "Envelope",
)
"""What Kafka's brokers and controllers ask of the active controller. They are told that this is
none: whoever finds an api missing goes on asking the same node, after another leads, too."""
SERVED: Mapping[str, tuple[int, int]] = {
    "Fetch": (4, 18),
    "ApiVersions": (0, 4),
    "Vote": (0, 2),
    "BeginQuorumEpoch": (0, 1),
    "EndQuorumEpoch": (0, 1),
    "DescribeQuorum": (0, 2),
    "FetchSnapshot": (0, 1),
    UPDATE_FEATURES: (0, 2),
    "DescribeCluster": (0, 2),
    "AddRaftVoter": (0, 1),
    "RemoveRaftVoter": (0, 0),
    "UpdateRaftVoter": (0, 0),
    **{
        name: (versions.low, versions.high)
        for name in OF_ACTIVE_CONTROLLER
        for versions in [schema.message(f"{name}Request").versions]
    },
}
"""The versions that Kafka 4.3's controllers serve. CreateTopics is not among them as long as the
node runs no controller: `Offered.runs_controller` recognizes a witness by that."""
_BY_KEY = sorted(
    (schema.message(f"{name}Request").api_key or 0, versions) for name, versions in SERVED.items()
)
_COME_BACK_S = 1.0
_CONTROLLERS = 2
"""DescribeCluster's endpoint type."""
_NO_OPERATIONS = -(1 << 31)


_OPERATIONS: Mapping[str, str] = {
    "DescribeQuorum": "DESCRIBE",
    "DescribeCluster": "DESCRIBE",
    UPDATE_FEATURES: "ALTER",
    "AddRaftVoter": "ALTER",
    "RemoveRaftVoter": "ALTER",
}
"""What Kafka's ControllerApis authorizes on the cluster; CLUSTER_ACTION for every other request."""


class Serving:
    """Answers requests, by the core or by the image."""

    def __init__(
        self,
        runner: Runner,
        image: Callable[[], MetadataImage | None],
        *,
        features: Mapping[str, VersionRange],
        is_allowed: Callable[[str], bool],
    ) -> None:
        """`features`: the levels that the node supports. `is_allowed`: by a principal, such as
        User:ANONYMOUS."""
        self._runner = runner
        self._image = image
        self._features = features
        self._is_allowed = is_allowed

    async def answer(self, peer: Peer, frame: RequestFrame) -> Value | None:
        """The body of the answer; None where the connection is to be closed, as Kafka does."""
        if frame.name == "ApiVersions":
            return self.api_versions(frame.version)
        if frame.name not in SERVED:
            return None
        allowed = self._is_allowed(peer.principal)
        if not allowed:
            _say_refused(peer, frame)
        if frame.name == "DescribeCluster":
            return self._describe_cluster(frame, peer.listener, allowed=allowed)
        if frame.name in OF_ACTIVE_CONTROLLER:
            return await self._no_controller(allowed=allowed)
        if frame.name == UPDATE_FEATURES:
            if not allowed:
                return feature_update.answer(Error.CLUSTER_AUTHORIZATION_FAILED, "", frame.version)
            return await feature_update.update_features(self._runner, frame)
        request = requests.from_kafka(frame.name, frame.body)
        if not allowed:
            refused = ANSWERED_BY[type(request)](top_error=Error.CLUSTER_AUTHORIZATION_FAILED)
            return responses.to_kafka(frame.name, refused, frame.version)
        try:
            response = await self._runner.ask(request, peer.listener.upper())
        except RefusedMessage:
            return None
        return responses.to_kafka(frame.name, response, frame.version)

    async def _no_controller(self, *, allowed: bool) -> Value:
        """Send it on to the leader. As long as this node leads they come back at once, so that the
        answer takes its time."""
        if not allowed:
            return {"errorCode": int(Error.CLUSTER_AUTHORIZATION_FAILED)}
        await self._runner.until(lambda raft: not isinstance(raft.role, Leader), _COME_BACK_S)
        return {"errorCode": int(Error.NOT_CONTROLLER)}

    def api_versions(self, version: int) -> Value:
        """What is served, and the levels of features: supported, and finalized in the image."""
        body: Value = {
            "errorCode": 0,
            "apiKeys": [
                {"apiKey": key, "minVersion": low, "maxVersion": high}
                for key, (low, high) in _BY_KEY
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
            known = image is not None and image.provenance.last_offset >= 0
            body["finalizedFeaturesEpoch"] = (
                image.provenance.last_offset if known and image is not None else -1
            )
            body["zkMigrationReady"] = False
        return body

    def _finalized(self, features: FeaturesImage | None) -> dict[str, int]:
        found = {KRAFT_VERSION: self._runner.raft.control.kraft_version}
        if features is not None:
            found |= features.finalized
            if features.metadata_version is not None:
                found[METADATA_VERSION] = features.metadata_version
        return {name: level for name, level in found.items() if level > 0}

    def _describe_cluster(self, frame: RequestFrame, listener: str, *, allowed: bool) -> Value:
        raft = self._runner.raft
        error, text = Error.NONE, None
        if not allowed:
            error = Error.CLUSTER_AUTHORIZATION_FAILED
        elif frame.version >= 1 and frame.body.get("endpointType", 1) != _CONTROLLERS:
            error, text = Error.INVALID_REQUEST, "a controller describes controllers only"
        nodes: list[Value] = []
        if error is Error.NONE:
            for voter in sorted(raft.control.voters, key=lambda each: each.key.id):
                endpoint = voter.endpoints.get(listener.upper())
                if endpoint is not None:
                    nodes.append(
                        {
                            "brokerId": voter.key.id,
                            "host": endpoint.host,
                            "port": endpoint.port,
                            "rack": None,
                            **({"isFenced": False} if frame.version >= 2 else {}),
                        }
                    )
        leader = raft.leader_id
        return {
            "throttleTimeMs": 0,
            "errorCode": int(error),
            "errorMessage": text,
            **({"endpointType": _CONTROLLERS} if frame.version >= 1 else {}),
            "clusterId": self._runner.settings.cluster_id,
            "controllerId": NO_ID if leader is None or error is not Error.NONE else leader,
            "brokers": nodes,
            "clusterAuthorizedOperations": _NO_OPERATIONS,
        }


def _say_refused(peer: Peer, frame: RequestFrame) -> None:
    operation = _OPERATIONS.get(frame.name, "CLUSTER_ACTION")
    say(
        "not authorized",
        logging.WARNING,
        limit=Limit(key=(peer.listener, peer.host, peer.principal, operation)),
        principal=claimed(peer.principal),
        operation=operation,
        resource="Cluster:kafka-cluster",
        request=frame.name,
        listener=peer.listener,
        address=shown_address(peer.host, peer.port),
    )
