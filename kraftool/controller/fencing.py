"""The records that take a broker out of the cluster, bring it back, or prepare its end.

Owns their order: leadership moves before a broker is fenced, and after it is unfenced, so that no
state in between has a fenced leader. There can be one for each partition of a broker: they are
worked out while they are taken.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from kraftool.controller.partition_changes import change_of, usual_election
from kraftool.controller.partition_index import PartitionKey
from kraftool.controller.state import ControllerState
from kraftool.image.cluster import BrokerRegistration
from kraftool.image.replay import RecordValue, WrittenRecord

Records = Iterator[WrittenRecord]


def fence(state: ControllerState, broker: BrokerRegistration) -> Records:
    """Move what it leads, then fence it."""
    yield from move_away(state, broker.id, state.partitions.with_isr(broker.id))
    yield _registration_change(broker, 0, fenced=1)


def unfence(state: ControllerState, broker: BrokerRegistration) -> Records:
    """Unfence it, then let partitions without a leader have one again."""

    def can_lead(broker_id: int) -> bool:
        return broker_id == broker.id or state.is_active(broker_id)

    yield _registration_change(broker, 0, fenced=-1)
    yield from _changes(state, state.partitions.leaderless(), can_lead=can_lead)


def begin_controlled_shutdown(state: ControllerState, broker: BrokerRegistration) -> Records:
    """Say that it will stop, then move what it leads."""
    if not broker.in_controlled_shutdown:
        yield _registration_change(broker, 1, inControlledShutdown=1)
    yield from move_away(state, broker.id, state.partitions.with_isr(broker.id))


def unregister(state: ControllerState, broker: BrokerRegistration) -> Records:
    """Take it out of every ISR and forget it."""
    in_isr, in_elr = state.partitions.with_isr(broker.id), state.partitions.with_elr(broker.id)
    yield from move_away(state, broker.id, (*in_isr, *in_elr))
    value = {"brokerId": broker.id, "brokerEpoch": broker.epoch}
    yield "UnregisterBrokerRecord", 0, value


def after_restart(state: ControllerState, broker_id: int, *, is_clean: bool) -> Records:
    """Return what the last life of a broker leaves to do when a new one registers."""
    in_isr = state.partitions.with_isr(broker_id)
    if is_clean or not state.is_elr_enabled:
        return move_away(state, broker_id, in_isr)

    def can_lead(other: int) -> bool:
        return other != broker_id and state.is_active(other)

    return _changes(
        state,
        (*in_isr, *state.partitions.with_elr(broker_id)),
        can_lead=can_lead,
        leaves=broker_id,
        unclean_shutdown=broker_id,
    )


def directories_offline(
    state: ControllerState, broker: BrokerRegistration, offline: Iterable[str]
) -> Records:
    """Move what a broker leads from directories that failed, then forget these."""
    failed = [directory for directory in broker.directories if directory in offline]
    if not failed:
        return
    for directory in failed:
        keys = state.partitions.with_directory(directory, state.topics())
        yield from move_away(state, broker.id, keys)
    remaining = [directory for directory in broker.directories if directory not in offline]
    yield _registration_change(broker, 2, logDirs=remaining)


def directories_cordoned(broker: BrokerRegistration, cordoned: list[str] | None) -> Records:
    """Note the directories that get no new replicas; None is what a broker says that is behind."""
    known = broker.cordoned_directories
    if cordoned is not None and (known is None or set(known) != set(cordoned)):
        yield _registration_change(broker, 3, cordonedLogDirs=cordoned)


def move_away(state: ControllerState, broker_id: int, keys: Iterable[PartitionKey]) -> Records:
    """Take a broker out of the ISR and the leadership of partitions."""

    def can_lead(other: int) -> bool:
        return other != broker_id and state.is_active(other)

    return _changes(state, keys, can_lead=can_lead, leaves=broker_id)


def _changes(
    state: ControllerState,
    keys: Iterable[PartitionKey],
    *,
    can_lead: Callable[[int], bool],
    leaves: int | None = None,
    unclean_shutdown: int | None = None,
) -> Records:
    for key in keys:
        record = change_of(
            state,
            key,
            election=usual_election(state, key),
            leaves=leaves,
            can_lead=can_lead,
            unclean_shutdown=unclean_shutdown,
        )
        if record is not None:
            yield record


def _registration_change(
    broker: BrokerRegistration, version: int, **changes: object
) -> WrittenRecord:
    value: RecordValue = {"brokerId": broker.id, "brokerEpoch": broker.epoch, **changes}
    return "BrokerRegistrationChangeRecord", version, value
