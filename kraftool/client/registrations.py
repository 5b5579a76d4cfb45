"""Controllers that are registered and do not vote: those that run, and those that are gone.

Owns which registration has no running node, and what that prevents. Kafka removes no registration
by itself, so a node that is only registered is no part of the quorum.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from kraftool.client.model import QuorumView, is_of_cluster
from kraftool.client.thresholds import fetching
from kraftool.image.metadata_version import METADATA_VERSION, level_name
from kraftool.raft.messages import DescribeQuorumResponse
from kraftool.reports.findings.finding import Finding, Severity
from kraftool.reports.findings.kinds import live as kinds

if TYPE_CHECKING:
    from kraftool.image.cluster import ControllerRegistration


def is_only_registered(view: QuorumView, node_id: int | None) -> bool:
    """True if a leader knows that a node neither votes nor fetches; False without a leader."""
    quorum = view.quorum
    if quorum is None or node_id is None:
        return False
    is_voter = any(voter.replica.id == node_id for voter in quorum.voters)
    return not is_voter and node_id not in fetching(quorum, quorum.observers)


def registration_findings(
    view: QuorumView,
    quorum: DescribeQuorumResponse,
    registered: Mapping[int, ControllerRegistration],
) -> Iterator[Finding]:
    """Yield the controllers that do not vote. `registered` has the committed registrations, as far
    as the metadata was read; other nodes name the ids in any case."""
    cluster_id = None if view.leader is None else view.leader.cluster_id
    own = [node for node in view.nodes if is_of_cluster(node, cluster_id)]
    ids = {controller for node in own for controller in node.controllers} | {*registered}
    voters = {voter.replica.id for voter in quorum.voters}
    reached = {answer.node_id for answer in own if answer.is_reached}
    for node_id in sorted(ids - voters):
        name = f"node {node_id}"
        if node_id in reached or not is_only_registered(view, node_id):
            yield kinds.STANDBY.at(name, "a registered controller that is not a voter")
        else:
            yield _gone(view, name, registered.get(node_id))


def _gone(view: QuorumView, name: str, registration: ControllerRegistration | None) -> Finding:
    text = "registered, but it is not a voter and does not fetch"
    blocked = None if registration is None else blocked_level(view, registration)
    if blocked is None:
        return kinds.STALE_REGISTRATION.at(name, text)
    assert registration is not None, "its range blocks a level"
    supported = registration.features.get(METADATA_VERSION)
    range_words = "no level" if supported is None else f"{supported.min} to {supported.max}"
    level_words = f"{blocked} ({level_name(blocked)})" if level_name(blocked) else str(blocked)
    return kinds.STALE_REGISTRATION.at(
        name,
        f"{text}. It registered {METADATA_VERSION} {range_words}, so Kafka refuses an upgrade to"
        f" {level_words}",
        severity=Severity.ERROR,
    )


def blocked_level(view: QuorumView, registration: ControllerRegistration) -> int | None:
    """Return the next metadata.version, if the leader supports it and a registration does not."""
    if view.leader is None:
        return None
    offered = view.leader.offered
    level = offered.finalized.get(METADATA_VERSION)
    if level is None or offered.supported.get(METADATA_VERSION, (0, 0))[1] <= level:
        return None
    supported = registration.features.get(METADATA_VERSION)
    excludes = supported is None or not supported.min <= level + 1 <= supported.max
    return level + 1 if excludes else None
