"""DescribeCluster: the controllers, as those who talk to controllers only ask for them.

Owns the answer. Its list has voters, and all registered controllers that this listener's name
reaches.
"""

from __future__ import annotations

from kraftool.controller.permissions import CLUSTER_OPERATIONS, Permissions
from kraftool.decoders.codec import Value
from kraftool.decoders.error_codes import Error
from kraftool.decoders.rpc_frames import RequestFrame
from kraftool.image.image import MetadataImage
from kraftool.raft.names import NO_ID
from kraftool.raft.raft import Raft

_CONTROLLERS = 2
"""The endpoint type."""
_NOT_ASKED = -(1 << 31)
"""Of the operations that a client may do, if it did not ask for them."""


def describe_cluster(
    frame: RequestFrame,
    raft: Raft,
    controllers: dict[int, tuple[str, int]],
    permissions: Permissions,
    refusal: Error | None,
    *,
    cluster_id: str | None,
) -> Value:
    """Return the answer. `refusal`: why the client is refused; None if it may ask."""
    error, text = refusal or Error.NONE, None
    asks_for_others = frame.version >= 1 and frame.body.get("endpointType", 1) != _CONTROLLERS
    if refusal is None and asks_for_others:
        error, text = Error.INVALID_REQUEST, "a controller describes controllers only"
    nodes: list[Value] = []
    if error is Error.NONE:
        for node_id, (host, port) in sorted(controllers.items()):
            node = {"brokerId": node_id, "host": host, "port": port, "rack": None}
            nodes.append(node | ({"isFenced": False} if frame.version >= 2 else {}))
    leader = raft.leader_id
    return {
        "throttleTimeMs": 0,
        "errorCode": int(error),
        "errorMessage": text,
        **({"endpointType": _CONTROLLERS} if frame.version >= 1 else {}),
        "clusterId": cluster_id,
        "controllerId": NO_ID if leader is None or error is not Error.NONE else leader,
        "brokers": nodes,
        "clusterAuthorizedOperations": _operations(frame, permissions, error),
    }


def controllers_at(
    listener: str, raft: Raft, image: MetadataImage | None
) -> dict[int, tuple[str, int]]:
    """Return where voters and, as Kafka says it, all registered controllers are reached."""
    addresses = {}
    for voter in raft.control.voters:
        endpoint = voter.endpoints.get(listener)
        if endpoint is not None:
            addresses[voter.key.id] = endpoint.host, endpoint.port
    for controller in image.cluster.controllers.values() if image is not None else ():
        for registered in controller.listeners:
            if registered.name.upper() == listener:
                addresses[controller.id] = registered.host, registered.port
    return addresses


def _operations(frame: RequestFrame, permissions: Permissions, error: Error) -> int:
    """Return the operations on the cluster that the client may do, a bit for each."""
    if error is not Error.NONE or not frame.body.get("includeClusterAuthorizedOperations"):
        return _NOT_ASKED
    if not permissions.allows("DESCRIBE", "CLUSTER", is_tried=False):
        return 0
    return sum(
        1 << number
        for number, operation in CLUSTER_OPERATIONS.items()
        if permissions.allows(operation, "CLUSTER", is_tried=False)
    )
