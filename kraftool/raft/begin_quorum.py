"""BeginQuorumEpoch: a leader makes itself known to voters that do not fetch from it.

Owns both sides: whom a leader tells and when, and what being told does.
"""

from __future__ import annotations

from kraftool.decoders.error_codes import Error
from kraftool.raft import leadership, rules
from kraftool.raft.events import Reply, RequestReceived
from kraftool.raft.messages import BeginQuorumEpochRequest, BeginQuorumEpochResponse
from kraftool.raft.names import UNKNOWN
from kraftool.raft.raft import Raft
from kraftool.raft.roles import Leader


def request(raft: Raft, event: RequestReceived, epoch_request: BeginQuorumEpochRequest) -> None:
    """Follow the leader, then say whether it was this node that was meant."""
    top = rules.top_error(raft, epoch_request)
    if top is not Error.NONE:
        raft.emit(
            Reply(request_id=event.request_id, response=BeginQuorumEpochResponse(top_error=top))
        )
        return
    error = rules.voter_error(raft, epoch_request.leader_id, epoch_request.leader_epoch)
    if error is Error.NONE:
        endpoints = epoch_request.leader_endpoints or raft.control.voters.endpoints_of(
            epoch_request.leader_id
        )
        rules.follow(raft, epoch_request.leader_id, epoch_request.leader_epoch, endpoints)
        if not rules.is_meant_for(raft, epoch_request.voter):
            error = Error.INVALID_VOTER_KEY
    leader_id, epoch = leadership.who_leads(raft)
    raft.emit(
        Reply(
            request_id=event.request_id,
            response=BeginQuorumEpochResponse(
                error=error,
                leader_id=leader_id,
                leader_epoch=epoch,
                endpoints=leadership.endpoints_for(raft, event.listener),
            ),
        )
    )


def response(raft: Raft, source_id: int, answer: BeginQuorumEpochResponse) -> bool:
    """Nothing follows from an acknowledgement: only fetches show that a voter follows."""
    if rules.failed_on_top(answer.top_error):
        return False
    handled = rules.common(raft, answer)
    if handled is not None:
        return handled
    return answer.error is Error.NONE


def poll(raft: Raft, leader: Leader) -> None:
    """Tell the voters that have not fetched lately, each time the timer comes round."""
    if raft.now_ms >= leader.begin_quorum_deadline_ms:
        patience = raft.timing.begin_quorum_ms
        for voter in raft.control.voters:
            known = leader.replicas.voters.get(voter.key.id)
            last = known.last_fetch_ms if known is not None else UNKNOWN
            if voter.key.id == leader.local.id or (last >= 0 and raft.now_ms - last < patience):
                continue
            raft.send_to_voter(
                voter.key.id,
                BeginQuorumEpochRequest(
                    cluster_id=raft.settings.cluster_id,
                    leader_id=leader.local.id,
                    leader_epoch=leader.epoch,
                    voter=voter.key,
                    leader_endpoints=leader.endpoints,
                ),
            )
        leader.begin_quorum_deadline_ms = raft.now_ms + patience
    raft.wake_at(leader.begin_quorum_deadline_ms)
