"""The time after which an election counts as failed, and how often nodes ask meanwhile.

Owns what follows from the configured timeouts for a simulation. They may be an hour, and a node
that knows no leader asks for one again and again, as often as messages go and come back: with
patient timeouts that would be nearly all that there is to simulate.
"""

from __future__ import annotations

from dataclasses import replace

from kraftool.decoders.error_codes import Error
from kraftool.raft.messages import FetchResponse
from kraftool.raft.settings import Timing
from kraftool.reports.election.case import ElectionCase, NodeCase
from kraftool.sim.conditions import Conditions

_LEAST_HORIZON_MS = 60_000
_ROUNDS = 10
_MESSAGES = 20
"""So many messages, one after another, have their time besides."""


def unhurried(case: ElectionCase) -> ElectionCase:
    """The same nodes, whose retry backoff is in proportion to their timeouts, if they are longer
    than Kafka's defaults."""
    return replace(case, nodes=tuple(map(_unhurried, case.nodes)))


def _unhurried(node: NodeCase) -> NodeCase:
    timing = node.settings.timing
    backoff = _backoff_ms(timing)
    if backoff <= timing.retry_backoff_ms:
        return node
    slower = replace(timing, retry_backoff_ms=backoff)
    return replace(node, settings=replace(node.settings, timing=slower))


def _backoff_ms(timing: Timing) -> int:
    """Kafka's defaults give its default, 20 ms. It is a small part of the shortest timeout."""
    election, fetch = timing.election_timeout_ms, timing.fetch_timeout_ms
    return min(max(election // 50, fetch // 100), min(election, fetch) // 5)


def idle_ms(case: ElectionCase) -> int:
    """Return what an answer takes that knows no leader either; 0 with timeouts no longer than
    Kafka's.
    """
    timings = [node.settings.timing for node in case.nodes]
    pause = max(map(_backoff_ms, timings), default=0)
    if pause <= Timing().retry_backoff_ms:
        return 0
    return min(pause, *(timing.request_timeout_ms // 4 for timing in timings))


def is_idle(body: object) -> bool:
    """True if a message only says that the leader is not known here."""
    return isinstance(body, FetchResponse) and body.error is not Error.NONE and body.leader_id < 0


def horizon_ms(case: ElectionCase, conditions: Conditions) -> int:
    """A run that has no leader by then has none."""
    nodes = [node for node in case.nodes if node.id not in conditions.down]
    longest = max(map(_round_ms, nodes), default=0)
    slow = _MESSAGES * conditions.longest_ms
    starts = conditions.longest_start_ms(len(nodes))
    return max(starts + _ROUNDS * longest + slow, _LEAST_HORIZON_MS)


def _round_ms(node: NodeCase) -> int:
    """Until a leader is given up, and an election is lost."""
    timing = node.settings.timing
    election = 2 * timing.election_timeout_ms + timing.election_backoff_max_ms
    return timing.fetch_timeout_ms + election
