"""Reads from metrics if voters can call each other. Only kraftool's own nodes report that.

Owns the reading of these metrics over HTTP, and the checks that `may-stop` adds because of them.
kraftool reaches each voter itself, which says nothing of the network between two of them.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from kraftool.client.change import Check, blocked, caution, fine
from kraftool.client.model import QuorumView
from kraftool.raft.names import Endpoint
from kraftool.reports.text.words import numbered

_CONNECTED = "kraftool_node_voter_connected"
_ANSWER_AGE = "kraftool_node_voter_last_answer_age_ms"
_SAMPLE = re.compile(rb'^(\w+)\{voter="(\d+)"\} (\S+)$', re.MULTILINE)
_LONGEST_PAGE = 4 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class CallReport:
    """The calls of one voter to the others, as it reports them."""

    voter_id: int
    connected: Mapping[int, bool]
    """By the other voter's id; empty if it reports none."""
    answer_age_ms: Mapping[int, int]
    problem: str = ""
    """Why its metrics were not read."""

    def failed_call(self, other: int) -> str:
        """Return the sentence on a failed call to another voter, or empty."""
        if self.connected.get(other, True):
            return ""
        age_ms = self.answer_age_ms.get(other, -1)
        last = "it never did" if age_ms < 0 else f"it last did {age_ms / 1000:.0f} s ago"
        return f"voter {self.voter_id} cannot call voter {other} ({last})"


async def call_checks(
    metrics: Mapping[int, Endpoint], now: QuorumView, node_id: int, timeout_s: float
) -> list[Check]:
    """Return what the voters that would remain say of their calls to each other.

    Voters that kraftool does not reach are left out: they do not count anyway.
    """
    voters = {voter.replica.id for voter in now.voters}
    remaining = {node.node_id for node in now.reached if node.node_id in voters} - {node_id}
    asked = sorted(remaining & metrics.keys())
    if node_id not in voters or not asked:
        return []
    reports = await asyncio.gather(
        *(_read(voter_id, metrics[voter_id], timeout_s) for voter_id in asked)
    )
    return [*_checks(reports, sorted(voter_id for voter_id in remaining if voter_id is not None))]


def _checks(reports: list[CallReport], remaining: list[int]) -> Iterator[Check]:
    are_fine = []
    for report in reports:
        others = [other for other in remaining if other != report.voter_id]
        failed = [*filter(None, map(report.failed_call, others))]
        for sentence in failed:
            yield blocked(sentence, "check the network and the listeners between these two")
        unknown = [other for other in others if other not in report.connected]
        if report.problem:
            yield caution(
                f"voter {report.voter_id} does not say whether it can call the others:"
                f" {report.problem}",
                "check the address in --metrics",
            )
        elif unknown:
            yield caution(
                f"voter {report.voter_id} has not called {numbered('voter', unknown)} yet"
            )
        elif not failed:
            are_fine.append(report.voter_id)
    if are_fine:
        yield fine(f"{numbered('voter', are_fine)} can call the others that remain")


async def _read(voter_id: int, endpoint: Endpoint, timeout_s: float) -> CallReport:
    try:
        async with asyncio.timeout(timeout_s):
            page = await _page(endpoint)
    except TimeoutError:
        return _unread(voter_id, f"{endpoint} did not answer within {timeout_s:g} s")
    except OSError as error:
        return _unread(voter_id, f"{endpoint}: {error.strerror or error}")
    connected: dict[int, bool] = {}
    ages: dict[int, int] = {}
    for name, other, value in _SAMPLE.findall(page):
        if name == _CONNECTED.encode():
            connected[int(other)] = float(value) > 0
        elif name == _ANSWER_AGE.encode():
            ages[int(other)] = int(float(value))
    if voter_id in connected:
        named = f"{endpoint} has the metrics of another node, which calls voter {voter_id}"
        return _unread(voter_id, named)
    if not connected:
        return _unread(voter_id, f"{endpoint} has no metric {_CONNECTED}")
    return CallReport(voter_id=voter_id, connected=connected, answer_age_ms=ages)


def _unread(voter_id: int, problem: str) -> CallReport:
    return CallReport(voter_id=voter_id, connected={}, answer_age_ms={}, problem=problem)


async def _page(endpoint: Endpoint) -> bytes:
    """Raises OSError."""
    reader, writer = await asyncio.open_connection(endpoint.host, endpoint.port)
    try:
        host = str(endpoint)
        writer.write(f"GET /metrics HTTP/1.0\r\nHost: {host}\r\n\r\n".encode())
        pieces, size = [], 0
        while size < _LONGEST_PAGE and (piece := await reader.read(1 << 16)):
            pieces.append(piece)
            size += len(piece)
        return b"".join(pieces)
    finally:
        writer.transport.abort()
