"""Changes of a partition: its next ISR and ELR, its leader, and the record of the change.

Owns Kafka's order of decisions (its PartitionChangeBuilder): a reassignment is completed, then the
ELR is worked out, then a leader is chosen, then the record gets what differs. A record with nothing
in it is none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple

from kraftool.controller.partition_index import PartitionKey
from kraftool.controller.state import ControllerState
from kraftool.controller.topic_configs import allows_unclean_election, has_min_insync_replicas
from kraftool.image.metadata_version import (
    DIRECTORIES_LEVEL,
    NO_EPOCH_BUMP_LEVEL,
    partition_version,
)
from kraftool.image.replay import RecordValue, WrittenRecord
from kraftool.image.topics import (
    NO_LEADER,
    NO_LEADER_CHANGE,
    RECOVERING,
    PartitionRegistration,
    Replicas,
)


class Election(Enum):
    """The limit of an election: which replicas it may elect."""

    PREFERRED = "preferred"
    """The first replica leads if it can."""
    ONLINE = "online"
    """The leader stays if it can, else a replica that is in sync leads."""
    UNCLEAN = "unclean"
    """If none is in sync, any replica that is there leads; records may be lost."""


class _Elected(NamedTuple):
    leader: int
    is_unclean: bool = False


@dataclass(slots=True, kw_only=True)
class PartitionChange:
    """A change in the making: what is wanted, then `record`, once."""

    key: PartitionKey
    partition: PartitionRegistration
    state: ControllerState
    can_lead: Callable[[int], bool]
    """Returns True if a broker may lead; its directory is checked separately."""
    election: Election = Election.ONLINE
    isr: Replicas
    recovery: int
    unclean_shutdown: int | None = None
    """A broker that did not shut down cleanly: it may have lost what others think it has."""
    assigned: tuple[int, str] | None = None
    """A broker, and the directory that its replica is in."""
    replicas: Replicas
    removing: Replicas
    adding: Replicas
    elr: Replicas = field(init=False)
    has_elr: bool = field(init=False)

    def __post_init__(self) -> None:
        self.has_elr, self.elr = self.state.is_elr_enabled, self.partition.elr

    def record(self) -> WrittenRecord | None:
        """The PartitionChangeRecord; None where nothing changes."""
        value: RecordValue = {}
        self._complete_reassignment()
        self._work_out_elr()
        self._elect(value)
        if "leader" not in value and not set(self.replicas).issuperset(self.partition.replicas):
            value["leader"] = self.partition.leader  # named again, so that its epoch goes up
        self._write_elr(value)
        self._write_isr(value)
        self._write_last_known_leader(value)
        self._write_assignment(value)
        if self.recovery != self.partition.leader_recovery_state:
            value["leaderRecoveryState"] = self.recovery
        if not value:
            return None
        value = {"partitionId": self.key.number, "topicId": self.key.topic_id, **value}
        return "PartitionChangeRecord", partition_version(self.state.level), value

    def _complete_reassignment(self) -> None:
        """Drop the replicas that are to go, once all that are to come are in sync."""
        if not self.removing and not self.adding:
            return
        isr = _without(self.isr, self.removing)
        replicas = _without(self.replicas, self.removing)
        if not isr or not replicas or not set(self.adding) <= set(isr):
            return
        if len(self.adding) < len(self.removing) and not set(replicas) <= set(isr):
            return
        self.isr, self.replicas = isr, replicas
        self.removing = self.adding = ()

    def _work_out_elr(self) -> None:
        if not self.has_elr:
            return
        if has_min_insync_replicas(self.state, self.key, len(self.isr)):
            self.elr = ()
            return
        candidates = {*self.elr, *self.partition.isr} - set(self.isr) - {self.unclean_shutdown}
        self.elr = tuple(sorted(broker_id for broker_id in candidates if broker_id is not None))

    def _elect(self, value: RecordValue) -> None:
        elected = self._elected()
        if elected.leader == self.partition.leader:
            return
        if elected.leader in self.elr:
            self.isr = (elected.leader,)
            self.elr = _without(self.elr, self.isr)
        value["leader"] = elected.leader
        if elected.is_unclean:
            value["isr"] = [elected.leader]
            if self.partition.leader_recovery_state != RECOVERING:
                value["leaderRecoveryState"] = RECOVERING

    def _elected(self) -> _Elected:
        first = (self.replicas[0],) if self.election is Election.PREFERRED else ()
        for broker_id in (*first, self.partition.leader, *self.replicas):
            if self._is_in_sync(broker_id) and self._may_lead(broker_id):
                return _Elected(broker_id)
        last_known = self.partition.last_known_elr
        if (
            self.has_elr
            and not self.elr
            and not self.isr
            and len(last_known) == 1
            and self._may_lead(last_known[0])
        ):
            return _Elected(last_known[0], is_unclean=True)
        if self.election is Election.UNCLEAN:
            for broker_id in self.replicas:
                if self._may_lead(broker_id):
                    return _Elected(broker_id, is_unclean=True)
        return _Elected(NO_LEADER)

    def _is_in_sync(self, broker_id: int) -> bool:
        return broker_id in self.isr or (not self.isr and broker_id in self.elr)

    def _may_lead(self, broker_id: int) -> bool:
        partition = self.partition
        if not self.can_lead(broker_id) or broker_id not in partition.replicas:
            return False
        directory = partition.directories[partition.replicas.index(broker_id)]
        return self.state.has_online_directory(broker_id, directory)

    def _write_elr(self, value: RecordValue) -> None:
        if "isr" in value or not self.has_elr:
            self.elr = ()
        if self.elr != self.partition.elr:
            value["eligibleLeaderReplicas"] = list(self.elr)

    def _write_isr(self, value: RecordValue) -> None:
        partition = self.partition
        if "isr" not in value and (self.isr or self.has_elr) and self.isr != partition.isr:
            value["isr"] = list(self.isr)
        # Before 3.6 brokers relied on a new leader epoch where the ISR lost a member.
        if (
            self.state.level < NO_EPOCH_BUMP_LEVEL
            and "leader" not in value
            and "isr" in value
            and not set(partition.isr) <= set(value["isr"])
        ):
            value["leader"] = partition.leader

    def _write_last_known_leader(self, value: RecordValue) -> None:
        if not self.has_elr:
            return
        leader, known = value.get("leader", NO_LEADER_CHANGE), self.partition.last_known_elr
        if leader == NO_LEADER and not known:
            value["lastKnownElr"] = [self.partition.leader]
        elif leader >= 0 and known:
            value["lastKnownElr"] = []

    def _write_assignment(self, value: RecordValue) -> None:
        partition = self.partition
        is_as_before = (
            self.replicas is partition.replicas
            and self.removing is partition.removing_replicas
            and self.adding is partition.adding_replicas
            and self.assigned is None
        )
        if is_as_before and all(partition.directories):
            return  # nearly always
        if self.state.level >= DIRECTORIES_LEVEL:
            there = dict(zip(partition.replicas, partition.directories, strict=True))
            if self.assigned is not None:
                there.update([self.assigned])
            directories = tuple(
                there.get(broker_id) or self.state.default_directory(broker_id)
                for broker_id in self.replicas
            )
            if directories != partition.directories:
                value["directories"] = list(directories)
        for name, after, before in (
            ("replicas", self.replicas, partition.replicas),
            ("removingReplicas", self.removing, partition.removing_replicas),
            ("addingReplicas", self.adding, partition.adding_replicas),
        ):
            if after != before:
                value[name] = list(after)


def _without(replicas: Iterable[int], others: Iterable[int]) -> Replicas:
    return tuple(broker_id for broker_id in replicas if broker_id not in others)


def change_of(
    state: ControllerState,
    key: PartitionKey,
    *,
    election: Election,
    isr: Replicas | None = None,
    leaves: int | None = None,
    recovery: int | None = None,
    can_lead: Callable[[int], bool] | None = None,
    unclean_shutdown: int | None = None,
    assigned: tuple[int, str] | None = None,
    replicas: Replicas | None = None,
    removing: Replicas | None = None,
    adding: Replicas | None = None,
) -> WrittenRecord | None:
    """The record of a partition's change; what is not named stays as it is. `leaves`: a broker
    that leaves the ISR."""
    partition = state.partition(key)
    assert partition is not None, "whoever asks has seen the partition"
    if isr is None:
        isr = partition.isr if leaves is None else _without(partition.isr, (leaves,))
    change = PartitionChange(
        key=key,
        partition=partition,
        state=state,
        can_lead=can_lead or state.is_active,
        election=election,
        isr=isr,
        recovery=partition.leader_recovery_state if recovery is None else recovery,
        unclean_shutdown=unclean_shutdown,
        assigned=assigned,
        replicas=partition.replicas if replicas is None else replicas,
        removing=partition.removing_replicas if removing is None else removing,
        adding=partition.adding_replicas if adding is None else adding,
    )
    return change.record()


def usual_election(state: ControllerState, key: PartitionKey) -> Election:
    """Return how far an election goes that nobody asked for: as far as the topic allows."""
    return Election.UNCLEAN if allows_unclean_election(state, key) else Election.ONLINE
