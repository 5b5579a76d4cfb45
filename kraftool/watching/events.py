"""Changes between one poll and the next, as events with a time and a sentence.

Owns the comparison and its words. It keeps what it needs of earlier polls, such as the time since
when a node is down. `poll_history.py` owns the list of events and its bound.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from kraftool.client.judgement import judge
from kraftool.client.model import NodeAnswer, QuorumView, leader_end
from kraftool.client.not_asked import reason
from kraftool.client.thresholds import LAG_RECORDS, SILENT_MS, leader_clock
from kraftool.raft.messages import DescribeQuorumResponse, ReplicaState
from kraftool.raft.names import Endpoint, ReplicaKey
from kraftool.reports.findings.status import Status
from kraftool.reports.text.words import listed, many
from kraftool.storage.lock import LockState
from kraftool.watching.directory_reading import DirectoryReading
from kraftool.watching.number_words import age
from kraftool.watching.picture import WatchEvent

_Reported = tuple[Status, str]
_LATE_MS = 2_000
"""A shorter delay of the dashboard hides no event."""


@dataclass(slots=True)
class EventDetector:
    """Compares each poll with the ones before it."""

    _view: QuorumView | None = None
    _led: tuple[int | None, int | None] | None = None
    """Leader and epoch of the last poll; None before the first one."""
    _last_leader: tuple[int | None, int | None] | None = None
    """The last leader that was seen, and its epoch."""
    _first_epoch: int | None = None
    """The newest epoch that any node knew when one was known first."""
    _leaderless_ms: int | None = None
    """Since when no node leads."""
    _led_ms: int = 0
    """Since when the present leader leads its epoch."""
    _down_ms: dict[int | Endpoint, int] = field(default_factory=dict)
    """Since when a node does not answer, by its id, or by its address if that is all we know."""
    _answered: set[int | Endpoint] = field(default_factory=set)
    """The nodes that have answered since watching began."""
    _silent: set[ReplicaKey] = field(default_factory=set)
    _behind: set[ReplicaKey] = field(default_factory=set)
    _observers: set[ReplicaKey] = field(default_factory=set)
    """Every observer that a leader reported and did not drop."""
    _has_majority: bool = True
    _voters: frozenset[ReplicaKey] = frozenset()
    _readings: dict[str, DirectoryReading] = field(default_factory=dict)
    _readable: dict[str, DirectoryReading] = field(default_factory=dict)
    """The last poll at each directory that could be read."""

    def take(
        self,
        at_ms: int,
        view: QuorumView | None,
        directories: Iterable[DirectoryReading],
        late_ms: int = 0,
    ) -> tuple[WatchEvent, ...]:
        """Return the events of this poll. `late_ms`: how late the dashboard was since the last."""
        events: list[_Reported] = []
        if late_ms >= _LATE_MS:
            events.append((Status.NOTE, f"the dashboard itself was {age(late_ms)} late"))
        events += [] if view is None else [*self._live(at_ms, view)]
        for reading in directories:
            before = self._readings.get(reading.path)
            if before is not None and before.at_ms:
                readable = before if before.is_readable else self._readable.get(reading.path)
                events += _of_problem(before, reading)
                if reading.is_readable and readable is not None:
                    events += _of_directory(readable, reading)
            self._readings[reading.path] = reading
            if reading.is_readable:
                self._readable[reading.path] = reading
        return tuple(
            WatchEvent(timestamp=at_ms, status=status, reason=words) for status, words in events
        )

    @property
    def down_since_ms(self) -> Mapping[int, int]:
        """Return since when each node does not answer, by its id."""
        return {key: since for key, since in self._down_ms.items() if isinstance(key, int)}

    def has_begun(self, epoch: int) -> bool:
        """True if an epoch began while we watched."""
        return self._first_epoch is not None and epoch > self._first_epoch

    # --- live nodes ---------------------------------------------------------------------------

    def _live(self, at_ms: int, view: QuorumView) -> Iterator[_Reported]:
        yield from self._answers(at_ms, view)
        yield from self._leadership(at_ms, view)
        quorum = view.quorum
        if quorum is not None:
            yield from self._membership(at_ms, quorum)
            yield from self._progress(view, quorum)
            if self._view is not None:
                yield from _features(self._view, view)
        self._view = view

    def _answers(self, at_ms: int, view: QuorumView) -> Iterator[_Reported]:
        """Report the nodes that stopped answering, and those that answer again."""
        for node in view.nodes:
            name, key = _name(node), _key(node)
            if node.waiting_ms is not None:
                continue  # It is late, which is no change yet.
            if node.is_reached:
                self._answered.add(key)
                since = self._down_ms.pop(key, None)
                if since is not None:
                    yield Status.GOOD, f"{name} answers again, after {age(at_ms - since)}"
            elif key not in self._down_ms:
                self._down_ms[key] = at_ms
                words = "stopped answering" if key in self._answered else "does not answer"
                why = reason(node)
                yield Status.WARN, f"{name} {words}" + ("" if why.startswith("it ") else f": {why}")
        for key in self._down_ms.keys() - {_key(node) for node in view.nodes}:
            del self._down_ms[key]

    def _leadership(self, at_ms: int, view: QuorumView) -> Iterator[_Reported]:
        leader = view.leader
        if self._first_epoch is None:
            self._first_epoch = view.epoch
        if leader is None and any(node.waiting_ms is not None for node in view.nodes):
            return  # The node whose answer is overdue may lead.
        led = (None, view.epoch) if leader is None else (leader.node_id, leader.epoch)
        before, self._led = self._led, led
        if led != before:
            self._led_ms = at_ms
        if leader is None:
            self._leaderless_ms = at_ms if self._leaderless_ms is None else self._leaderless_ms
            if before is None and not view.reached:
                yield Status.BAD, "watching begins: no node can be reached"
            elif before is None:
                yield Status.BAD, "watching begins: no node leads"
            elif before[0] is not None:
                yield Status.BAD, f"node {before[0]} leads no longer, and no other node leads"
            elif led != before:
                yield Status.WARN, f"epoch {view.epoch} begins, without a leader"
            return
        since, self._leaderless_ms = self._leaderless_ms, None
        last, self._last_leader = self._last_leader, led
        status = Status.BAD if view.lacks_controller else Status.GOOD
        without = ", without a controller" if view.lacks_controller else ""
        if before is None:
            yield status, f"watching begins: node {led[0]} leads epoch {led[1]}{without}"
        elif led != before:
            gap = "" if since is None else f" ({age(at_ms - since)} without a leader)"
            words = "leads epoch" if not self.has_begun(led[1] or 0) else "elected, epoch"
            words = "leads again, epoch" if led == last else words
            yield status, f"node {led[0]} {words} {led[1]}{without}{gap}"

    def _membership(self, at_ms: int, quorum: DescribeQuorumResponse) -> Iterator[_Reported]:
        voters = frozenset(voter.replica for voter in quorum.voters)
        before, self._voters = self._voters, voters
        if before and before != voters:
            replaced = {key.id for key in voters - before} & {key.id for key in before - voters}
            for key in sorted(voters - before, key=str):
                words = "has another directory id" if key.id in replaced else "was added"
                yield Status.NOTE, f"voter {key.id} {words}"
            for key in sorted(before - voters, key=str):
                if key.id not in replaced:
                    yield Status.NOTE, f"voter {key.id} was removed"
        observers = {observer.replica for observer in quorum.observers}
        for key in sorted(observers - self._observers - before, key=str) if before else ():
            yield Status.NOTE, f"observer {key.id} appeared"
        # A new leader does not know of observers until they find it and fetch from it.
        was = None if self._view is None else self._view.quorum
        same = was is not None and was.leader_epoch == quorum.leader_epoch
        lost = (
            {observer.replica for observer in was.observers} if was is not None and same else set()
        )
        if at_ms - self._led_ms > SILENT_MS:
            lost = self._observers
        for key in sorted((self._observers & lost) - observers, key=str):
            self._observers.discard(key)
            if key not in voters:
                yield Status.WARN, f"observer {key.id} is gone: it fetches no longer"
        self._observers |= observers

    def _progress(self, view: QuorumView, quorum: DescribeQuorumResponse) -> Iterator[_Reported]:
        clock, end = leader_clock(quorum), leader_end(view)
        for role, replicas in (("voter", quorum.voters), ("observer", quorum.observers)):
            for replica in replicas:
                if replica.replica.id != quorum.leader_id:
                    yield from self._replica(f"{role} {replica.replica.id}", replica, clock, end)
        judgement = judge(view)
        had, self._has_majority = self._has_majority, not judgement.is_lost
        if had and not self._has_majority:
            count = many(len(quorum.voters), "voter")
            fetching = len(judgement.fetching)
            yield Status.BAD, f"only {fetching} of {count} keep up: nothing can be committed"
        elif not had and self._has_majority:
            yield Status.GOOD, "a majority of the voters keeps up again"

    def _replica(
        self, name: str, replica: ReplicaState, clock: int, end: int
    ) -> Iterator[_Reported]:
        key = replica.replica
        if replica.last_fetch_timestamp < 0:
            return
        silent_ms = clock - replica.last_fetch_timestamp
        if silent_ms > SILENT_MS:
            if key not in self._silent:
                self._silent.add(key)
                yield Status.WARN, f"{name} stopped fetching {age(silent_ms)} ago"
        elif key in self._silent:
            self._silent.discard(key)
            yield Status.GOOD, f"{name} fetches again"
        lag = end - replica.log_end_offset
        if lag > LAG_RECORDS:
            if key not in self._behind:
                self._behind.add(key)
                yield Status.WARN, f"{name} fell {lag:,} records behind"
        elif key in self._behind and replica.log_end_offset >= 0:
            self._behind.discard(key)
            yield Status.GOOD, f"{name} caught up"


def _name(node: NodeAnswer) -> str:
    return f"node at {node.endpoint}" if node.node_id is None else f"node {node.node_id}"


def _key(node: NodeAnswer) -> int | Endpoint:
    return node.endpoint if node.node_id is None else node.node_id


def _features(before: QuorumView, now: QuorumView) -> Iterator[_Reported]:
    """Report feature levels that changed, as leaders report them."""
    if before.leader is None or now.leader is None:
        return
    old, new = before.leader.offered, now.leader.offered
    if min(old.finalized_epoch, new.finalized_epoch) < 0:
        return
    for name in sorted({*old.finalized, *new.finalized}):
        was, level = old.finalized.get(name, 0), new.finalized.get(name, 0)
        if was != level:
            yield Status.NOTE, f"{name} went from level {was} to {level}"


# --- directories ------------------------------------------------------------------------------


def _of_problem(before: DirectoryReading, now: DirectoryReading) -> Iterator[_Reported]:
    path = now.path
    if now.problem != before.problem:
        if now.problem:
            yield Status.WARN, f"{path}: {now.problem}"
        else:
            yield Status.GOOD, f"{path} can be read again"


def _of_directory(before: DirectoryReading, now: DirectoryReading) -> Iterator[_Reported]:
    """Compare two polls of a directory that could be read."""
    path = now.path
    if {before.lock, now.lock} == {LockState.HELD, LockState.FREE}:
        if now.lock is LockState.HELD:
            yield Status.NOTE, f"{path}: a process holds its lock now"
        else:
            yield Status.WARN, f"{path}: its process exited, nobody holds its lock"
    was, end = before.log_end_offset, now.log_end_offset
    if was is not None and end is not None and end < was:
        # Kafka truncated it, somebody restored an older one, or it is damaged from there on.
        yield Status.WARN, f"{path}: its log end went back from {was:,} to {end:,}"
    if before.is_complete:
        for snapshot in now.snapshots:
            if snapshot not in before.snapshots and (
                not before.snapshots or snapshot > before.snapshots[-1]
            ):
                yield Status.NOTE, f"{path}: new snapshot at offset {snapshot.offset:,}"
        if before.voters is not None and now.voters is not None:
            was_ids = {voter.id for voter in before.voters.voters}
            ids = {voter.id for voter in now.voters.voters}
            if was_ids != ids:
                yield Status.NOTE, f"{path}: the voters are now {listed(sorted(ids))}"
