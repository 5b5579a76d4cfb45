"""EndQuorumEpoch: a leader that resigns tells the voters, and whom it would like to see next.

Owns both sides, the patience of each successor, and what a resigned leader does until it ends.
"""

from __future__ import annotations

from collections.abc import Sequence

from kraftool.decoders.error_codes import Error
from kraftool.raft import leadership, rules, transitions
from kraftool.raft.events import Reply, RequestReceived
from kraftool.raft.messages import EndQuorumEpochRequest, EndQuorumEpochResponse
from kraftool.raft.names import ReplicaKey
from kraftool.raft.raft import Raft
from kraftool.raft.roles import Follower, Resigned


def request(raft: Raft, event: RequestReceived, epoch_request: EndQuorumEpochRequest) -> None:
    """Shorten the wait for the leader that ends, by the place in its list."""
    top = rules.top_error(raft, epoch_request)
    if top is not Error.NONE:
        raft.emit(
            Reply(request_id=event.request_id, response=EndQuorumEpochResponse(top_error=top))
        )
        return
    error = rules.voter_error(raft, epoch_request.leader_id, epoch_request.leader_epoch)
    if error is Error.NONE:
        endpoints = epoch_request.leader_endpoints or raft.control.voters.endpoints_of(
            epoch_request.leader_id
        )
        rules.follow(raft, epoch_request.leader_id, epoch_request.leader_epoch, endpoints)
        role = raft.role
        if isinstance(role, Follower) and role.leader_id == epoch_request.leader_id:
            wait = backoff_ms(
                raft.key, epoch_request.preferred_candidates, raft.timing.election_backoff_max_ms
            )
            role.fetch_deadline_ms = raft.now_ms + wait
    leader_id, epoch = leadership.who_leads(raft)
    raft.emit(
        Reply(
            request_id=event.request_id,
            response=EndQuorumEpochResponse(
                error=error,
                leader_id=leader_id,
                leader_epoch=epoch,
                endpoints=leadership.endpoints_for(raft, event.listener),
            ),
        )
    )


def backoff_ms(local: ReplicaKey | None, candidates: Sequence[ReplicaKey], longest_ms: int) -> int:
    """Return how long to wait before an election: nothing for the first in the list, or without a
    list; twice as long for each place further down; the longest for who is not in it.
    """
    if not candidates:
        return 0
    places = [
        place
        for place, candidate in enumerate(candidates)
        if local is not None and local.is_known_as(candidate)
    ]
    if not places:
        return longest_ms
    place = places[0]
    if place == 0:
        return 0
    return min(longest_ms, (longest_ms >> (len(candidates) - 1)) << (place - 1))


def response(raft: Raft, source_id: int, answer: EndQuorumEpochResponse) -> bool:
    """Tell no more whom it has reached."""
    if rules.failed_on_top(answer.top_error):
        return False
    handled = rules.common(raft, answer)
    if handled is not None:
        return handled
    if answer.error is not Error.NONE:
        return False
    if isinstance(raft.role, Resigned):
        raft.role.unacknowledged.discard(source_id)
    return True


def poll_resigned(raft: Raft, role: Resigned) -> None:
    """Tell everyone who has not heard; then go on in the next epoch, so that nobody is told any
    more that this node leads."""
    for voter_id in sorted(role.unacknowledged & raft.control.voters.voters.keys()):
        if raft.is_waiting_for(voter_id):
            continue
        raft.send_to_voter(
            voter_id,
            EndQuorumEpochRequest(
                cluster_id=raft.settings.cluster_id,
                leader_id=role.local.id,
                leader_epoch=role.epoch,
                preferred_candidates=role.successors,
            ),
        )
    if raft.is_shutting_down:
        return
    if raft.now_ms >= role.election_deadline_ms:
        transitions.to_unattached(raft, role.epoch + 1)
    else:
        raft.wake_at(role.election_deadline_ms)
