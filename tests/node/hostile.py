"""Requests that no honest node sends: what real nodes sent, with something of it changed."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

from kraftool.decoders.errors import KraftoolError
from kraftool.decoders.rpc_frames import RequestFrame, decode_request, encode_request
from tests.node.quorum import CLUSTER_ID, directory_id
from tests.raft.golden_replay import pairs


def mutated(value: Any, random_: random.Random) -> Any:
    """The same shape with some numbers, texts and lists other than they were."""
    match value:
        case bool():
            return random_.random() < 0.5 if random_.random() < 0.1 else value
        case int():
            if random_.random() < 0.15:
                return random_.choice((-1, 0, 1, value - 1, value + 1, value * 2, 2, 3, 100))
            return value
        case str():
            if random_.random() < 0.05:
                return random_.choice(("", "x", CLUSTER_ID, directory_id(1), directory_id(2)))
            return value
        case dict():
            return {key: mutated(item, random_) for key, item in value.items()}
        case list():
            made = [mutated(item, random_) for item in value]
            if made and random_.random() < 0.05:
                return made[:-1] if random_.random() < 0.5 else [*made, made[0]]
            return made
    return value


def recorded_requests() -> Iterator[tuple[str, int, Any]]:
    """Requests that real nodes sent, as values, of the cluster of the tests."""
    for pair in (*pairs("dynamic"), *pairs("static")):
        frame = decode_request(pair.request)
        ours = {"clusterId": CLUSTER_ID} if frame.body.get("clusterId") else {}
        yield frame.name, frame.version, {**frame.body, **ours}


def frame_of(name: str, version: int, body: Any) -> Any:
    """The frame if the catalogue can encode it: others never reach a node."""
    frame = RequestFrame(
        name=name, version=version, correlation_id=1, client_id="hostile", body=body
    )
    try:
        return decode_request(encode_request(frame))
    except (KraftoolError, ValueError, TypeError, OverflowError, AttributeError):
        return None
