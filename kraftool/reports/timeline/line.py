"""One line of the log: batches told to it in offset order become events.

Owns the order of events within a batch, gaps in time, and what a metadata transaction hides. Where
nodes disagree a line is forked, and each side goes on by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby

from kraftool.reports.findings.finding import Severity
from kraftool.reports.timeline import partitions, quorum, registrations, settings
from kraftool.reports.timeline.batches import PARTITIONS, Content, LogBatch, Stretch, Watched
from kraftool.reports.timeline.event_words import duration
from kraftool.reports.timeline.events import Category, Event, Rank, Visibility
from kraftool.reports.timeline.knowledge import Knowledge

Teller = Callable[[Watched, int, Knowledge], Iterator[Event]]
GroupTeller = Callable[[Sequence[Watched], int, Knowledge], Iterator[Event]]

_TELLERS: dict[str, Teller] = {
    "LeaderChangeMessage": quorum.leader_change,
    "VotersRecord": quorum.voters,
    "KRaftVersionRecord": quorum.kraft_version,
    "FeatureLevelRecord": quorum.feature_level,
    "BeginTransactionRecord": quorum.begin,
    "EndTransactionRecord": quorum.end,
    "AbortTransactionRecord": quorum.end,
    "RegisterBrokerRecord": registrations.register_broker,
    "UnregisterBrokerRecord": registrations.unregister_broker,
    "FenceBrokerRecord": registrations.fence_or_unfence,
    "UnfenceBrokerRecord": registrations.fence_or_unfence,
    "BrokerRegistrationChangeRecord": registrations.change_broker,
    "RegisterControllerRecord": registrations.register_controller,
    "UnregisterControllerRecord": registrations.unregister_controller,
    "TopicRecord": partitions.create_topic,
    "RemoveTopicRecord": partitions.delete_topic,
    PARTITIONS: partitions.count_partitions,
    "ClearElrRecord": partitions.clear_elr,
    "ZkMigrationStateRecord": quorum.zk_migration,
    "ClientQuotaRecord": settings.quota,
    "AccessControlEntryRecord": settings.add_acl,
    "RemoveAccessControlEntryRecord": settings.remove_acl,
    "UserScramCredentialRecord": settings.set_scram,
    "RemoveUserScramCredentialRecord": settings.remove_scram,
    "DelegationTokenRecord": settings.set_token,
    "RemoveDelegationTokenRecord": settings.remove_token,
}
_GROUPED: dict[str, GroupTeller] = {
    "PartitionChangeRecord": partitions.changes,
    "ConfigRecord": settings.configs,
}
"""Of these, the ones that come together in a batch are one event."""
NOT_SHOWN = ("NoOpRecord", "PartitionRecord", "ProducerIdsRecord")
"""No events come of these; PartitionRecords are counted."""
SHOWN = tuple(name for name in (*_TELLERS, *_GROUPED) if name != PARTITIONS)
_SILENT = 3
"""So many times the longest time between idle records is no idling any more."""
_NO_IDLE = (
    "no two idle records before it (metadata.max.idle.interval.ms), so there may or may not have"
    " been an active controller"
)
_CLOCK_BACK_MS = 1000
"""Clocks of controllers differ by a little; more than this is told."""


def _told(
    records: Sequence[Watched], epoch: int, known: Knowledge, *, is_control: bool
) -> Iterator[Event]:
    """The events of the records of one batch."""
    for name, of_one in groupby(records, lambda record: record.name):
        group = _GROUPED.get(name)
        if group is not None:
            yield from group(tuple(of_one), epoch, known)
            continue
        teller = _TELLERS.get(name)
        for record in of_one:
            if teller is not None and (record.is_control or not is_control):
                yield from teller(record, epoch, known)


@dataclass(slots=True)
class LogBranch:
    """One course of the log, and the nodes that follow it."""

    nodes: set[int] = field(default_factory=set)
    known: Knowledge = field(default_factory=Knowledge)
    gaps_ms: int = 10_000
    list_topics: bool = False
    present: tuple[int, ...] = ()
    """The nodes that have the batch that is being told."""
    disputed: bool = False
    """True if another line has gone another way."""

    def fork(self, nodes: set[int]) -> LogBranch:
        """Another line, the same up to here, for nodes that go another way."""
        other = LogBranch(nodes, self.known.forked(), self.gaps_ms, self.list_topics, disputed=True)
        self.nodes -= nodes
        self.disputed = True
        for line in (self, other):
            line.known.pending = [
                replace(event, nodes=tuple(n for n in event.nodes if n in line.nodes))
                for event in line.known.pending
            ]
        return other

    def seed(self, records: Iterable[Watched], epoch: int | None, *, state: bool) -> None:
        """Learn what a snapshot says; without `state` only the names of topics."""
        known = self.known
        for record in records:
            if record.name == "TopicRecord":
                known.topics[record.data["topicId"]] = record.data["name"]
            elif state:
                for _ in _told([record], epoch or 0, known, is_control=False):
                    pass
        if state:
            known.last_epoch = epoch
        known.leadership = known.transaction = None
        for broker in known.metadata.brokers.values():
            broker.fenced_at = None

    def tell(
        self, batch: LogBatch, content: Content | None, nodes: tuple[int, ...]
    ) -> Iterator[Event]:
        """The events of the next batch. An idle one has no content to look at."""
        if batch.stretch is not None and not self._is_smooth(batch.stretch):
            for one in batch.batches():
                yield from self.tell(one, one.content() if not one.is_idle else None, nodes)
            return
        known, self.present = self.known, nodes
        if known.first_offset is None:
            known.first_offset, known.first_timestamp = batch.base, batch.timestamp
        if known.last_timestamp is not None:
            yield from self._events(self._time(batch, known.last_timestamp))
        records = content.records if content is not None else ()
        if batch.epoch != known.last_epoch:
            known.idle_in_epoch = known.idle_wait_ms = 0
            known.last_idle = None
            elected = records and records[0].name == "LeaderChangeMessage"
            began = known.last_epoch is not None or (known.from_start and batch.base == 0)
            if not elected and began and batch.epoch > (known.last_epoch or 0):
                lost = quorum.lost_election(batch.base, batch.epoch, batch.timestamp, known)
                yield from self._events(iter((lost,)))
        known.new_topics.clear()
        events = _told(records, batch.epoch, known, is_control=batch.is_control)
        yield from self._events(events)
        if batch.is_control and known.transaction is not None:
            known.transaction.controls += batch.last - batch.base + 1
        stretch = batch.stretch
        if stretch is not None and stretch.idle:
            self._idle(stretch.first_idle, stretch.last_idle, stretch.idle)
            known.idle_wait_ms = max(known.idle_wait_ms, stretch.longest_idle_wait)
        elif batch.is_idle or (content is not None and content.has_idle):
            self._idle(batch.timestamp, batch.max_timestamp, 1)
        known.last_epoch = batch.epoch
        known.last_timestamp = batch.max_timestamp
        known.last_offset = batch.last

    def _is_smooth(self, stretch: Stretch) -> bool:
        """True if no time in it is one to tell of, or too long for idling."""
        longest = max(stretch.longest_wait, stretch.longest_idle_wait)
        return longest <= self.gaps_ms and stretch.shortest_wait >= -_CLOCK_BACK_MS

    def _idle(self, first: int, last: int, count: int) -> None:
        """Take note of idle records, whose first and last were written at these times."""
        known = self.known
        known.idle_in_epoch += count
        if known.last_idle is not None:
            waited = first - known.last_idle
            if waited <= self.gaps_ms:
                known.idle_wait_ms = max(known.idle_wait_ms, waited)
        known.last_idle = last

    def _events(self, events: Iterator[Event]) -> Iterator[Event]:
        """Let events out, or keep them until their transaction has ended."""
        known = self.known
        for raw_event in events:
            if raw_event.category is Category.TOPICS and not self.list_topics:
                continue
            event = replace(raw_event, nodes=self.present, disputed=self.disputed)
            if event.type == "transaction-began":
                known.pending.append(event)
            elif event.type in ("transaction-committed", "transaction-aborted"):
                aborted = event.type == "transaction-aborted"
                yield from self._release(Visibility.ABORTED if aborted else Visibility.VISIBLE)
                yield event
            elif known.transaction is not None and event.transactional:
                known.pending.append(event)
            else:
                yield event

    def _release(self, visibility: Visibility) -> Iterator[Event]:
        pending, self.known.pending = self.known.pending, []
        for event in pending:
            yield replace(event, visibility=visibility)

    def end(self) -> Iterator[Event]:
        """Yield what is left where the log ends."""
        yield from self._release(Visibility.OPEN)
        event = quorum.still_open(self.known)
        if event is not None:
            yield from self._events(iter((event,)))

    def _time(self, batch: LogBatch, last: int) -> Iterator[Event]:
        passed = batch.timestamp - last
        if passed > self.gaps_ms:
            yield self._gap(batch, last, passed)
        elif passed < -_CLOCK_BACK_MS:
            yield Event(
                category=Category.GAPS,
                type="clock-back",
                offset=batch.base,
                epoch=batch.epoch,
                timestamp=batch.timestamp,
                rank=Rank.GAP,
                what=f"time goes back by {duration(-passed)}",
                details=("the clocks of controllers differ, or somebody set one",),
                severity=Severity.WARNING,
                data={"milliseconds": passed, "from": last},
            )

    def _gap(self, batch: LogBatch, last: int, passed: int) -> Event:
        known = self.known
        elected = batch.epoch != known.last_epoch
        every = known.idle_wait_ms
        silent = every > 0 and passed > _SILENT * every
        if silent:
            words = f"idle records were {duration(every)} apart at most before it"
            details = [f"{words}: there was no active controller, or none that could write"]
        elif every > 0:
            details = [f"idle records were up to {duration(every)} apart before it too"]
        else:
            details = [_NO_IDLE]
        if elected:
            details.append(f"epoch {batch.epoch} begins after it")
        return Event(
            category=Category.GAPS,
            type="gap",
            offset=batch.base,
            epoch=known.last_epoch,
            timestamp=last,
            rank=Rank.GAP,
            what=f"no record for {duration(passed)}",
            details=tuple(details),
            severity=Severity.WARNING if silent else Severity.INFO,
            data={
                "milliseconds": passed,
                "from": last,
                "to": batch.timestamp,
                "idleRecordsBefore": known.idle_in_epoch,
                "idleWaitMs": every or None,
                "newEpoch": elected,
            },
        )
