"""What real quorums answered, as JSON, and a watcher that gives it again.

Owns the form of the recordings below fixtures/watch: the answers of nodes as they were given. All
that follows from them (history, reports) is computed anew.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from kraftool.client.model import NodeAnswer, QuorumView
from kraftool.net.api_versions import Offered
from kraftool.raft.messages import DescribeQuorumResponse, ReplicaState
from kraftool.raft.names import Endpoint, ReplicaKey
from kraftool.watching.directory_reading import DirectoryReading
from kraftool.watching.picture import Picture
from kraftool.watching.poll_history import Remembering
from kraftool.watching.sources import Sources
from kraftool.watching.watcher import Shown
from tests.support.places import FIXTURES

_CONTROLLER = {"Vote": (0, 2), "CreateTopics": (2, 7)}
"""The recorded nodes are Kafka's controllers. Which APIs they offered was not recorded."""
FOLDER = FIXTURES / "watch"


# --- to JSON ----------------------------------------------------------------------------------


def recorded(looks: Iterable[tuple[int, QuorumView]]) -> str:
    """Looks as text: one line each, so that a diff says which moment changed."""
    lines = [
        json.dumps({"atMs": at_ms, "nodes": [_answer(node) for node in view.nodes]})
        for at_ms, view in looks
    ]
    return "[\n" + ",\n".join(lines) + "\n]\n"


def _answer(answer: NodeAnswer) -> dict[str, Any]:
    return {
        "endpoint": _endpoint(answer.endpoint),
        "nodeId": answer.node_id,
        "askedMs": answer.asked_ms,
        "tookMs": answer.took_ms,
        "problem": answer.problem,
        "isReached": answer.is_reached,
        "clusterId": answer.cluster_id,
        "supported": {name: list(levels) for name, levels in answer.offered.supported.items()},
        "finalized": dict(answer.offered.finalized),
        "finalizedEpoch": answer.offered.finalized_epoch,
        "epoch": answer.epoch,
        "leaderId": answer.leader_id,
        "leaderEndpoint": None
        if answer.leader_endpoint is None
        else _endpoint(answer.leader_endpoint),
        "controllers": {str(key): _endpoint(value) for key, value in answer.controllers.items()},
        "quorum": None if answer.quorum is None else _quorum(answer.quorum),
    }


def _endpoint(endpoint: Endpoint) -> list[object]:
    return [endpoint.host, endpoint.port]


def _quorum(quorum: DescribeQuorumResponse) -> dict[str, Any]:
    return {
        "leaderId": quorum.leader_id,
        "leaderEpoch": quorum.leader_epoch,
        "highWatermark": quorum.high_watermark,
        "voters": [_replica(one) for one in quorum.voters],
        "observers": [_replica(one) for one in quorum.observers],
        "nodes": {
            str(key): {name: _endpoint(where) for name, where in value.items()}
            for key, value in quorum.nodes.items()
        },
    }


def _replica(replica: ReplicaState) -> list[object]:
    return [
        replica.replica.id,
        replica.replica.directory_id,
        replica.log_end_offset,
        replica.last_fetch_timestamp,
        replica.last_caught_up_timestamp,
    ]


# --- and back ---------------------------------------------------------------------------------


def views(name: str) -> tuple[tuple[int, QuorumView], ...]:
    """The looks of a recording, with the times at which they were taken."""
    loaded = json.loads((FOLDER / f"{name}.json").read_text())
    return tuple(
        (look["atMs"], QuorumView(nodes=tuple(map(_read_answer, look["nodes"])))) for look in loaded
    )


def _read_answer(answer: Mapping[str, Any]) -> NodeAnswer:
    supported = {name: (low, high) for name, (low, high) in answer["supported"].items()}
    where = answer["leaderEndpoint"]
    return NodeAnswer(
        endpoint=Endpoint(*answer["endpoint"]),
        node_id=answer["nodeId"],
        asked_ms=answer["askedMs"],
        took_ms=answer["tookMs"],
        problem=answer["problem"],
        is_reached=answer["isReached"],
        cluster_id=answer["clusterId"],
        offered=Offered(
            apis=_CONTROLLER if answer["isReached"] else {},
            supported=supported,
            finalized=answer["finalized"],
            finalized_epoch=answer["finalizedEpoch"],
        ),
        epoch=answer["epoch"],
        leader_id=answer["leaderId"],
        leader_endpoint=None if where is None else Endpoint(*where),
        controllers={int(key): Endpoint(*value) for key, value in answer["controllers"].items()},
        quorum=None if answer["quorum"] is None else _read_quorum(answer["quorum"]),
    )


def _read_quorum(quorum: Mapping[str, Any]) -> DescribeQuorumResponse:
    return DescribeQuorumResponse(
        leader_id=quorum["leaderId"],
        leader_epoch=quorum["leaderEpoch"],
        high_watermark=quorum["highWatermark"],
        voters=tuple(_read_replica(*voter) for voter in quorum["voters"]),
        observers=tuple(_read_replica(*observer) for observer in quorum["observers"]),
        nodes={
            int(key): {name: Endpoint(*where) for name, where in value.items()}
            for key, value in quorum["nodes"].items()
        },
    )


def _read_replica(
    number: int, directory_id: str | None, end: int, fetched: int, caught_up: int
) -> ReplicaState:
    return ReplicaState(
        replica=ReplicaKey(number, directory_id),
        log_end_offset=end,
        last_fetch_timestamp=fetched,
        last_caught_up_timestamp=caught_up,
    )


# --- pictures ---------------------------------------------------------------------------------


def pictures(name: str, directories: tuple[DirectoryReading, ...] = ()) -> tuple[Picture, ...]:
    """The pictures that a watcher of that quorum would have given."""
    remembering = Remembering()
    return tuple(
        Picture(
            at_ms=at_ms,
            view=view,
            directories=directories,
            history=remembering.take(at_ms, view, directories),
        )
        for at_ms, view in views(name)
    )


class Replayed:
    """A watcher that gives pictures that are there already: the first at once, each further one
    when `next` is called. It ends nothing: the last one stays."""

    def __init__(self, given: Iterable[Picture], sources: Sources | None = None) -> None:
        self.given = list(given)
        self.sources = sources or Sources()
        self.looks = 0
        self._news = asyncio.Event()
        self._shown = 0

    async def run(self, show: Shown) -> None:
        while True:
            show(replace(self.given[self._shown]))
            self._news.clear()
            await self._news.wait()
            self._shown = min(self._shown + 1, len(self.given) - 1)

    def next(self) -> None:
        self._news.set()

    def last(self) -> None:
        self._shown = len(self.given) - 2
        self._news.set()

    def poll_now(self) -> None:
        self.looks += 1
