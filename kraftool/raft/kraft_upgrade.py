"""kraft.version from 0 to 1: the static voters become records of the log.

Owns when that is possible: every voter has told its directory id and that it supports the level.
"""

from __future__ import annotations

from kraftool.decoders.error_codes import Error
from kraftool.raft.events import Refused, UpgradeKRaftVersion
from kraftool.raft.names import VoterSet
from kraftool.raft.raft import Raft
from kraftool.raft.records import ControlRecord, KRaftVersion, Voters
from kraftool.raft.roles import Leader


def upgrade(raft: Raft, event: UpgradeKRaftVersion) -> None:
    """Append what the level takes, or say why not."""
    records = planned(raft, event)
    if isinstance(records, Refused):
        raft.emit(records)
    elif records and not event.validate_only:
        leader = raft.role
        assert isinstance(leader, Leader), "planned() says so"
        leader.volatile_voters, leader.upgrading_to = None, event.level
        leader.accumulator.append_control(records, raft.now_ms)


def planned(raft: Raft, event: UpgradeKRaftVersion) -> list[ControlRecord] | Refused:
    """The records of an upgrade; none where the level is there already."""
    leader = raft.role
    if not isinstance(leader, Leader) or event.epoch < leader.epoch:
        reason = f"not the leader of epoch {event.epoch}"
        return Refused(error=Error.NOT_LEADER_OR_FOLLOWER, reason=reason)
    if event.epoch > leader.epoch:
        reason = f"epoch {event.epoch} has not begun: it is {leader.epoch}"
        return Refused(error=None, reason=reason)
    level = leader.upgrading_to if leader.upgrading_to is not None else raft.control.kraft_version
    if event.level == level:
        return []
    refused = _refused(raft, leader, event.level, level)
    if refused is not None:
        return refused
    voters = leader.volatile_voters
    assert voters is not None, "the check above says so"
    records: list[ControlRecord] = [KRaftVersion(event.level)]
    last = raft.control.voter_sets.last
    if last is None or last[1] != voters:
        records.append(Voters(voters))
    return records


def _refused(raft: Raft, leader: Leader, wanted: int, level: int) -> Refused | None:
    invalid = Error.INVALID_UPDATE_VERSION
    if wanted < level or leader.upgrading_to is not None:
        return Refused(error=invalid, reason=f"kraft.version {wanted} after {level}")
    voters = leader.volatile_voters
    if voters is None:
        return Refused(error=invalid, reason=f"there is no way from {level} to {wanted}")
    if voters.ids != raft.control.voters.ids:
        return Refused(error=None, reason="the voters that are known are not those that count")
    return _unfit(voters, wanted)


def _unfit(voters: VoterSet, wanted: int) -> Refused | None:
    lacking = sorted(voter.key.id for voter in voters if not voter.kraft_version.holds(wanted))
    if lacking:
        named = ", ".join(map(str, lacking))
        reason = f"no kraft.version {wanted} is known of: voters {named}"
        return Refused(error=Error.INVALID_UPDATE_VERSION, reason=reason)
    nameless = sorted(voter.key.id for voter in voters if voter.key.directory_id is None)
    if nameless:
        named = ", ".join(map(str, nameless))
        return Refused(error=None, reason=f"no directory id is known of: voters {named}")
    return None
