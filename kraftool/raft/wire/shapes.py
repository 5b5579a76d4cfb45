"""The shapes that all the protocol's messages share: one topic, one partition, endpoints by name.

Owns how absence looks on the wire: -1 for an id, zeros for a directory id, an empty list for what a
version lacks.
"""

from __future__ import annotations

from kraftool.decoders.codec import Value
from kraftool.decoders.error_codes import Error
from kraftool.decoders.names import METADATA_TOPIC
from kraftool.decoders.wire import ZERO_UUID
from kraftool.raft.names import NO_ID, Endpoint, Endpoints, ReplicaKey, upper


class NotSendable(Exception):
    """A version cannot say what is to be said; the network answers as Kafka's does, with 35."""


def one_partition(
    partition: Value, *, index: str = "partitionIndex", name: str = "topicName"
) -> list[Value]:
    """The metadata partition's part of a message."""
    return [{name: METADATA_TOPIC, "partitions": [{index: 0, **partition}]}]


def the_partition(
    value: Value,
    *,
    topics: str = "topics",
    index: str = "partitionIndex",
    name: str = "topicName",
    wanted: str = METADATA_TOPIC,
) -> Value | None:
    """The metadata partition's part of a message; None where it names anything else, or more."""
    listed = value[topics]
    if len(listed) != 1 or listed[0][name] != wanted or len(listed[0]["partitions"]) != 1:
        return None
    partition: Value = listed[0]["partitions"][0]
    return partition if partition[index] == 0 else None


def uuid_of(key: ReplicaKey | None) -> str:
    return ZERO_UUID if key is None or key.directory_id is None else key.directory_id


def key_of(node_id: int, directory_id: str = ZERO_UUID) -> ReplicaKey | None:
    """A replica key as it came; None without an id."""
    if node_id < 0:
        return None
    return ReplicaKey(node_id, None if directory_id == ZERO_UUID else directory_id)


def id_of(key: ReplicaKey | None) -> int:
    return NO_ID if key is None else key.id


def listeners(endpoints: Endpoints) -> list[Value]:
    """Endpoints with their names, in a request."""
    return [
        {"name": name, "host": endpoint.host, "port": endpoint.port}
        for name, endpoint in endpoints.items()
    ]


def endpoints(listed: list[Value]) -> dict[str, Endpoint]:
    return upper(
        {listener["name"]: Endpoint(listener["host"], listener["port"]) for listener in listed}
    )


def node_endpoints(leader_id: int, known: Endpoints) -> list[Value]:
    """Return where the leader is, in a response."""
    return [
        {"nodeId": leader_id, "host": endpoint.host, "port": endpoint.port}
        for endpoint in known.values()
    ]


def endpoint_of(listed: list[Value], leader_id: int, listener: str) -> dict[str, Endpoint]:
    """The leader's endpoint of a response, under the listener that was asked."""
    for node in listed:
        if node["nodeId"] == leader_id and leader_id >= 0:
            return {listener: Endpoint(node["host"], node["port"])}
    return {}


def error_of(code: int) -> Error:
    """Kafka's error; one that the protocol does not know is like any unexpected one."""
    try:
        return Error(code)
    except ValueError:
        return Error.UNKNOWN_SERVER_ERROR
