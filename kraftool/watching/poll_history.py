"""Turns one poll after the other into a bounded history: samples, and elections seen.

Owns the bounds.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field

from kraftool.client.between_polls import earlier_poll
from kraftool.client.model import QuorumView, leader_end
from kraftool.watching.directory_reading import DirectoryReading
from kraftool.watching.events import EventDetector
from kraftool.watching.picture import ObservedElection, QuorumSample, WatchEvent, WatchHistory

MOST_SAMPLES = 300
MOST_ELECTIONS = 200
MOST_EVENTS = 200
_MOST_POLLS = 16
"""Enough for the pause between two polls that are compared, at the shortest interval."""


@dataclass(slots=True)
class Remembering:
    """Everything that was seen so far."""

    since_ms: int = 0
    _samples: deque[QuorumSample] = field(default_factory=lambda: deque(maxlen=MOST_SAMPLES))
    _elections: dict[int, ObservedElection] = field(default_factory=dict)
    """By epoch."""
    _count: int = 0
    _led: int = -1
    """The newest epoch of which a leader was seen."""
    _polls: deque[QuorumView] = field(default_factory=lambda: deque(maxlen=_MOST_POLLS))
    _detector: EventDetector = field(default_factory=EventDetector)
    _events: deque[WatchEvent] = field(default_factory=lambda: deque(maxlen=MOST_EVENTS))

    def take(
        self,
        at_ms: int,
        view: QuorumView | None,
        directories: Iterable[DirectoryReading],
        *,
        late_ms: int = 0,
    ) -> WatchHistory:
        """Add a poll; the history with it."""
        self.since_ms = self.since_ms or at_ms
        directories = tuple(directories)
        self._events.extend(self._detector.take(at_ms, view, directories, late_ms))
        before = None
        if view is not None:
            before = earlier_poll(self._polls, view)
            self._polls.append(view)
            sample = _sample(at_ms, view)
            self._see(sample)
            self._samples.append(sample)
        for directory in directories:
            for change in directory.leader_changes:
                self._elections[change.epoch] = ObservedElection(
                    epoch=change.epoch,
                    leader_id=change.leader_id,
                    timestamp=change.timestamp,
                    is_recorded=True,
                )
        for epoch in sorted(self._elections)[:-MOST_ELECTIONS]:
            del self._elections[epoch]
        return WatchHistory(
            since_ms=self.since_ms,
            samples=tuple(self._samples),
            elections=tuple(self._elections[epoch] for epoch in sorted(self._elections)),
            elections_seen=self._count,
            events=tuple(self._events),
            down_since_ms=self._detector.down_since_ms,
            before=before,
        )

    def _see(self, sample: QuorumSample) -> None:
        """An election is a leader of an epoch that began while we watched. The leader of an epoch
        that was known from the first is none: nobody saw since when it leads."""
        if sample.leader_id is None or sample.epoch is None or sample.epoch <= self._led:
            return
        self._led = sample.epoch
        if self._detector.has_begun(sample.epoch):
            self._count += 1
            seen = ObservedElection(
                epoch=sample.epoch,
                leader_id=sample.leader_id,
                timestamp=sample.at_ms,
                is_recorded=False,
            )
            self._elections.setdefault(sample.epoch, seen)


def _sample(at_ms: int, view: QuorumView) -> QuorumSample:
    quorum = view.quorum
    unreached = frozenset(
        node.node_id
        for node in view.nodes
        if node.node_id is not None and not node.is_reached and node.waiting_ms is None
    )
    if quorum is None or view.leader is None:
        return QuorumSample(at_ms=at_ms, epoch=view.epoch, leader_id=None, high_watermark=None,
                      leader_end=None, unreached=unreached)  # fmt: skip
    return QuorumSample(
        at_ms=at_ms,
        epoch=view.epoch,
        leader_id=view.leader.node_id,
        high_watermark=quorum.high_watermark if quorum.high_watermark >= 0 else None,
        leader_end=leader_end(view),
        ends={
            replica.replica: replica.log_end_offset
            for replica in (*quorum.voters, *quorum.observers)
            if replica.log_end_offset >= 0
        },
        voters=tuple(voter.replica for voter in quorum.voters),
        unreached=unreached,
    )
