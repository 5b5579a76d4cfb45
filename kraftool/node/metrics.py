"""The node's raft metrics, by Kafka's names, as Prometheus reads them.

Owns the names (Kafka's `raft-metrics`, as the JMX exporter spells them) and what is counted. A
scrape reads the core as it is at that moment; only rates and latencies are kept between steps.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from kraftool.net.guests import ConnectionLimit, Guests
from kraftool.raft.events import AppendBatches, Effect, Event, ResponseReceived
from kraftool.raft.messages import FetchResponse
from kraftool.raft.names import NO_ID, UNKNOWN
from kraftool.raft.raft import Raft
from kraftool.raft.roles import (
    Candidate,
    Follower,
    Leader,
    Prospective,
    Resigned,
    Role,
    Unattached,
)

_PREFIX = "kafka_server_raft_metrics_"
OWN_PREFIX = "kraftool_node_"
_STATES: dict[type, str] = {
    Leader: "leader",
    Candidate: "candidate",
    Prospective: "prospective",
    Follower: "follower",
    Resigned: "resigned",
    Unattached: "unattached",
}


class MetricSample(NamedTuple):
    """One number, with what it is."""

    name: str
    kind: str
    """gauge or counter."""
    help: str
    value: float
    labels: tuple[tuple[str, str], ...] = ()


def state_name(raft: Raft) -> str:
    """Kafka's current-state: an observer that follows is `observer`, a voted one `…-voted`."""
    role = raft.role
    name = _STATES[type(role)]
    if isinstance(role, Follower | Unattached) and not raft.is_voter:
        return "observer" if isinstance(role, Follower) else name
    if isinstance(role, Unattached | Prospective) and role.voted is not None:
        return f"{name}-voted"
    return name


class RaftMetrics:
    """Counts what happens, and gives the samples of a scrape."""

    def __init__(self, now_ms: int) -> None:
        self.began_ms = now_ms
        self._fetched = self._appended = self._steps = self._elections = self._leaders = 0
        self.refused = 0
        """Messages that the core would not have."""
        self._busy_s = 0.0
        self._role: Role | None = None
        self._election_began_ms: int | None = None
        self._election_ms_sum = self._election_ms_max = 0

    def stepped(
        self, raft: Raft, event: Event | None, effects: list[Effect], took_s: float
    ) -> None:
        """Take note of a step."""
        self._steps += 1
        self._busy_s += took_s
        fetched = isinstance(event, ResponseReceived) and isinstance(event.response, FetchResponse)
        for effect in effects:
            if isinstance(effect, AppendBatches):
                count = sum(batch.next_offset - batch.base_offset for batch in effect.batches)
                if fetched:
                    self._fetched += count
                else:
                    self._appended += count
        if raft.role is not self._role:
            self._changed(raft)

    def _changed(self, raft: Raft) -> None:
        role, self._role = raft.role, raft.role
        if isinstance(role, Candidate):
            self._elections += 1
            self._election_began_ms = raft.now_ms
        elif isinstance(role, Leader | Follower) and self._election_began_ms is not None:
            took = raft.now_ms - self._election_began_ms
            self._election_began_ms = None
            self._leaders += isinstance(role, Leader)
            self._election_ms_sum += took
            self._election_ms_max = max(self._election_ms_max, took)

    def samples(self, raft: Raft) -> Iterator[MetricSample]:
        """Yield what a scrape sees."""
        role, log = raft.role, raft.log
        end = log.end
        known = UNKNOWN if role.high_watermark is None else role.high_watermark
        voted = role.voted if not isinstance(role, Leader | Resigned) else None
        unknown = 0
        if isinstance(role, Leader):
            unknown = sum(
                not voter.endpoints.get(raft.settings.default_listener)
                for voter in raft.control.voters
            )
        gauges: tuple[tuple[str, str, float], ...] = (
            ("current_leader", "The leader's id; -1 if unknown", _id(role.leader_id)),
            ("current_vote", "Node that this node voted for; -1 for none", _id(voted and voted.id)),
            ("current_epoch", "The quorum epoch", role.epoch),
            (
                "high_watermark",
                "High watermark: offset up to which the log is committed; -1 if unknown",
                known,
            ),
            ("log_start_offset", "Where the log begins", log.start_offset),
            ("log_end_offset", "Where the log ends", end.offset),
            ("log_end_epoch", "The epoch of the last record", end.epoch),
            ("number_of_voters", "The voters of the newest voter set", len(raft.control.voters)),
            ("number_unknown_voter_connections", "Voters without an endpoint", unknown),
            (
                "number_of_observers",
                "Observers that the leader knows; 0 elsewhere",
                len(role.replicas.observers) if isinstance(role, Leader) else 0,
            ),
            ("witness", "1 for a voter that is elected only as a last resort", raft.is_witness),
            ("election_latency_max", "The longest election, in ms", self._election_ms_max),
            (
                "poll_idle_ratio_avg",
                "The share of time in which the core had nothing to do",
                1.0 - min(self._busy_s * 1000 / max(raft.now_ms - self.began_ms, 1), 1.0),
            ),
        )
        for name, text, value in gauges:
            yield MetricSample(_PREFIX + name, "gauge", text, value)
        yield MetricSample(
            OWN_PREFIX + "leads_without_controller", "gauge",
            "1 while this node leads: the cluster has no active controller",
            float(isinstance(role, Leader) and role.hands_over),
        )  # fmt: skip
        now = state_name(raft)
        states = sorted(
            {now, "observer", "unattached-voted", "prospective-voted", *_STATES.values()}
        )
        for state in states:
            yield MetricSample(
                f"{_PREFIX}current_state", "gauge", "1 for the state that the node is in",
                float(state == now), (("state", state),),
            )  # fmt: skip
        counters = (
            ("append_records_total", "Records appended as the leader", self._appended),
            ("fetch_records_total", "Records appended as a follower", self._fetched),
            ("elections_total", "Elections that this node stood in", self._elections),
            ("election_latency_ms_total", "Milliseconds in elections", self._election_ms_sum),
            ("refused_messages_total", "Messages that no honest node sends", self.refused),
            ("steps_total", "Steps of the core", self._steps),
        )
        for name, text, count in counters:
            yield MetricSample(_PREFIX + name, "counter", text, count)


def samples_of(guests: Guests) -> Iterator[MetricSample]:
    """The connections of the listeners; Kafka has no metrics of these by its names."""
    gauges = (
        ("connections", "Connections that are open", len(guests)),
        (
            "connections_authenticating",
            "Connections that have not passed TLS and SASL yet",
            guests.authenticating,
        ),
    )
    for name, text, value in gauges:
        yield MetricSample(OWN_PREFIX + name, "gauge", text, value)
    for refusal in ConnectionLimit:
        yield MetricSample(
            f"{OWN_PREFIX}connections_refused_total", "counter",
            "Connections that were refused, by the limit that they were over",
            guests.refused[refusal], (("limit", str(refusal)),),
        )  # fmt: skip


def _id(value: int | None) -> int:
    return NO_ID if value is None else value
