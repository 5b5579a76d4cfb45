"""Records what the nodes of a real Kafka quorum say to each other into tests/raft/golden.

    PYTHONPATH=. python tests/interop/wirerecord.py --out tests/raft/golden

Owns which exchanges are kept: one or two of each kind, as `kind` tells them apart, and all probes.
An existing recording is replaced only when the new one came to its end.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from kraftool.decoders import rpc_frames
from tests.interop import kafka, wirecontext
from tests.interop.wireproxy import Exchange, Proxy
from tests.interop.wirequorum import SCENARIOS, Quorum

VERSION = "4.3.0"
OF_A_KIND = 2
_TRIES = 3
LONGEST = 4000
"""Bytes of a response; a longer one is kept only where there is no shorter."""
FAMILIES = {
    "Vote", "BeginQuorumEpoch", "EndQuorumEpoch", "Fetch", "FetchSnapshot", "DescribeQuorum",
    "AddRaftVoter", "RemoveRaftVoter", "UpdateRaftVoter",
}  # fmt: skip


@dataclass(slots=True, kw_only=True)
class Recording:
    """Everything that was said, with the state in which it was taken."""

    cluster_id: str
    keys: dict[int, str]
    """Node id to directory id."""
    exchanges: list[Exchange]
    marks: list[tuple[float, str]]
    taken: dict[int, list[wirecontext.Taken]] = field(default_factory=dict)
    epochs: list[list[int]] = field(default_factory=list)
    """Of the log that all nodes agree on in the end: epoch and start offset."""
    steps: list[str] = field(default_factory=list)

    def scene(self, exchange: Exchange) -> str:
        """What was being done at the time."""
        return [name for at, name in self.marks if at <= exchange.asked_ms][-1]

    def context(self, exchange: Exchange) -> wirecontext.Taken | None:
        """How the node stood that took it, if its log has it."""
        name = rpc_frames.apis()[exchange.api_key]
        node = re.match(r"raft-client-(\d+)$", exchange.asker)
        for taken in self.taken.get(exchange.node_id, []):
            if (
                (taken.api, taken.version) == (name, exchange.version)
                and taken.correlation_id == exchange.correlation_id
                and (node is None or taken.asker_id in (None, int(node[1])))
                and exchange.asked_ms - 20 <= taken.at_ms <= exchange.answered_ms + 20
            ):
                return taken
        return None


def record(scenario: str, root: Path) -> Recording:
    """Run a quorum through everything; on a busy machine, again with a new one.

    There a leader may lose its followers at any time: the nodes are then not what the scene says.
    """
    for number in range(1, _TRIES):
        try:
            return _recorded(scenario, root / str(number))
        except (kafka.KafkaFailed, OSError) as error:
            print(f"try {number} of {scenario}: {error}", *error.__notes__, sep="\n")
    return _recorded(scenario, root / str(_TRIES))


def _recorded(scenario: str, root: Path) -> Recording:
    marks: list[tuple[float, str]] = []

    def mark(scene: str) -> None:
        marks.append((time.time() * 1000, scene))

    with Proxy() as proxy, Quorum(VERSION, root, proxy) as quorum:
        mark("formatting")
        try:
            SCENARIOS[scenario](quorum, mark)
        except Exception as error:
            error.add_note(f"while {marks[-1][1]}; {_last_roles(quorum)}")
            raise
        recording = Recording(
            cluster_id=quorum.id,
            keys={node.id: node.directory_id for node in quorum.nodes.values()},
            exchanges=list(proxy.exchanges),
            marks=marks,
            steps=quorum.steps,
        )
    for number in recording.keys:
        text = quorum.log_of(number).read_text(errors="replace")
        recording.taken[number] = wirecontext.read(text)
    recording.epochs = _epochs(recording)
    return recording


def _last_roles(quorum: Quorum) -> str:
    """What each node last became, for whoever looks into a run that failed."""
    listed = []
    for number in quorum.nodes:
        log = quorum.log_of(number)
        text = log.read_text(errors="replace") if log.exists() else ""
        roles = re.findall(r"^(\d+) .*Completed transition to (.{150})", text, re.MULTILINE)
        listed.append(f"node {number}: {roles[-3:]}")
    return "; ".join(listed)


def _epochs(recording: Recording) -> list[list[int]]:
    starts: dict[int, int] = {}
    for taken in recording.taken.values():
        for request in taken:
            if request.state["role"] == "Leader":
                starts[request.state["epoch"]] = request.state["epochStart"]
    return [list(item) for item in sorted(starts.items())]


def kind(exchange: Exchange, state: dict[str, Any] | None) -> tuple[Any, ...]:
    """What makes an exchange unlike another."""
    asked = rpc_frames.decode_request(exchange.request)
    assert exchange.response is not None, "answered exchanges have kinds"
    answer = rpc_frames.decode_response(exchange.response, asked.name, asked.version).body
    parts: list[Any] = [asked.name, asked.version, state["role"] if state else None]
    parts.append(answer.get("errorCode"))
    topics: list[Any] = answer["topics"] if "topics" in answer else answer.get("responses", [])
    for topic in topics:
        for part in topic.get("partitions", []):
            parts += [part.get("errorCode"), part.get("voteGranted")]
            leader = part.get("currentLeader", part)
            parts.append(leader.get("leaderId", -1) >= 0)
            parts.append((part.get("divergingEpoch") or {}).get("epoch", -1) >= 0)
            parts.append((part.get("snapshotId") or {}).get("epoch", -1) >= 0)
            parts.append(bool(part.get("records")) or bool(part.get("position")))
    for topic in asked.body.get("topics", []):
        for part in topic.get("partitions", []) if isinstance(topic, dict) else []:
            parts.append(part.get("preVote"))
    return tuple(parts)


def chosen(recording: Recording) -> list[tuple[Exchange, wirecontext.Taken | None]]:
    """The exchanges that are worth keeping, in the order in which they were asked."""
    kept: list[tuple[Exchange, wirecontext.Taken | None]] = []
    seen: Counter[tuple[Any, ...]] = Counter()
    answered = [
        exchange
        for exchange in recording.exchanges
        if exchange.response is not None and exchange.api_key in rpc_frames.apis()
    ]
    for exchange in sorted(answered, key=lambda one: len(one.response or b"") > LONGEST):
        name = rpc_frames.apis()[exchange.api_key]
        context = recording.context(exchange) if name in FAMILIES else None
        if name in FAMILIES and exchange.asker != "probe":
            state = context.state if context else None
            what = (*kind(exchange, state), bool(context and context.waited))
        elif name in FAMILIES:
            what = (name, exchange.version, exchange.request[8:], exchange.node_id)
        else:
            what = (name, exchange.version)
        if seen[what] < (OF_A_KIND if name in FAMILIES else 1):
            seen[what] += 1
            kept.append((exchange, context))
    return sorted(kept, key=lambda pair: pair[0].asked_ms)


def _is_unsaid(exchange: Exchange) -> bool:
    """Whether it is an answer that Kafka failed to encode."""
    if rpc_frames.apis()[exchange.api_key] != "FetchSnapshot" or exchange.response is None:
        return False
    answer = rpc_frames.decode_response(exchange.response, "FetchSnapshot", exchange.version)
    return bool(answer.body["errorCode"] == -1)


def written(recording: Recording) -> str:
    """The golden file."""
    states: list[str] = []
    pairs = []
    for exchange, context in chosen(recording):
        state = None
        if context is not None:
            text = json.dumps(context.state)
            if text not in states:
                states.append(text)
            state = states.index(text)
        pairs.append(
            {
                "scene": recording.scene(exchange),
                "asker": exchange.asker,
                "node": exchange.node_id,
                "api": rpc_frames.apis()[exchange.api_key],
                "version": exchange.version,
                "request": exchange.request.hex(),
                "response": (exchange.response or b"").hex(),
                "state": state,
                "waited": bool(context and context.waited),
                "meant": context.error if context and _is_unsaid(exchange) else None,
            }
        )
    lines = [
        "{",
        f'"kafka": "{VERSION}",',
        f'"cluster": "{recording.cluster_id}",',
        f'"directories": {json.dumps({str(k): v for k, v in recording.keys.items()})},',
        f'"epochs": {json.dumps(recording.epochs)},',
        '"states": [',
        ",\n".join(states),
        "],",
        '"pairs": [',
        ",\n".join(map(json.dumps, pairs)),
        "]",
        "}",
    ]
    return "\n".join(lines) + "\n"


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", type=Path, required=True, help="the folder of the golden files")
    out: Path = parser.parse_args(arguments).out
    if problem := kafka.available(VERSION):
        print(problem, file=sys.stderr)
        return 2
    out.mkdir(parents=True, exist_ok=True)
    sections = []
    for scenario in SCENARIOS:
        with tempfile.TemporaryDirectory(prefix="kafka-record-") as temporary:
            recording = record(scenario, Path(temporary) / "nodes")
        text = written(recording)
        target = out / f"kafka-{VERSION}-{scenario}.json"
        target.write_text(text)
        steps = "\n".join(f"  {step}" for step in recording.steps)
        sections.append(f"Steps of {target.name}, in order:\n{steps}\n")
        print(f"{target}: {len(json.loads(text)['pairs'])} pairs, {len(text)} bytes")
    source = _SOURCE.format(date=f"{datetime.now(UTC):%Y-%m-%d}")
    (out / "SOURCE").write_text("\n".join([source, *sections]))
    return 0


_SOURCE = """\
Requests and responses between the controllers of Apache Kafka 4.3.0 (released jars), taken down by
a proxy in front of each.
Command: PYTHONPATH=. python tests/interop/wirerecord.py --out tests/raft/golden
Date: {date}

Frames are whole (header and body, without the four bytes of size), in hex. A pair's `state` counts
into `states`: how the node stood that was asked, read from the TRACE log of its raft layer: role,
epoch, leader with endpoints, vote, whether it has fetched since it follows, high watermark, log end
as [offset, epoch], start of the leader's epoch, log start, snapshots, static voters, voter sets and
kraft.version by offset, and the leader's table: replica, the offset it fetched last, whether it was
ever caught up. `waited`: something else happened before the answer went out. `meant`: the error in
the raft layer's answer where Kafka failed to encode that answer, and sent error -1. `epochs` are
those of the log on which all nodes agree in the end. Askers called `probe` are requests of our own
(tests/interop/wireprobes.py).
"""

if __name__ == "__main__":
    sys.exit(main())
