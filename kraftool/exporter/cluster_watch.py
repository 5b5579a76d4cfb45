"""One cluster, polled again and again: its quorum, its metadata, and its recorded endpoints.

Owns the pace of each. A node that hangs, metadata that takes long to read, and endpoints that do
not answer delay nothing else. Polls and judgement are those of the dashboard (`watching/`) and of
`quorum health` (`client/`).
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field

from kraftool.client.endpoint_checks import (
    EndpointCheck,
    check_endpoints,
    endpoint_findings,
    recorded_endpoints,
)
from kraftool.client.expectations import expecting
from kraftool.client.health import Health
from kraftool.client.model import QuorumView
from kraftool.client.target import Target
from kraftool.decoders.errors import KraftoolError
from kraftool.image.image import MetadataImage
from kraftool.image.state_hash import state_hash
from kraftool.reports.findings.finding import Finding, in_order
from kraftool.reports.findings.mutes import MutedFinding
from kraftool.watching.checkup import MetadataWatch
from kraftool.watching.picture import Picture
from kraftool.watching.quorum import QuorumReport, quorum_report
from kraftool.watching.safety import MetadataHealth
from kraftool.watching.sources import Sources
from kraftool.watching.task import Task
from kraftool.watching.watcher import Watcher

ENDPOINTS_EVERY_S = 60.0
_ENDPOINTS_AGAIN_S = 10.0
"""So long after the last time, if a controller answers differently since then."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchedCluster:
    """A cluster to watch, as the options or a file name it."""

    name: str
    """The value of the label `cluster`."""
    target: Target
    expected_voters: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class HashedState:
    """The hash of a cluster's metadata, and the offset that it belongs to."""

    value: str
    offset: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PollCounts:
    """The exporter's own work for a cluster."""

    polls: int = 0
    failures: int = 0
    """Polls in which no node was reached."""
    took_s: float = 0.0
    """How long the last poll took."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterState:
    """A cluster at a moment, polled and judged."""

    cluster: WatchedCluster
    at_s: float
    report: QuorumReport
    health: Health
    findings: tuple[Finding, ...]
    """Those of the health and of the endpoints, the worst first, without muted ones."""
    muted: tuple[MutedFinding, ...] = ()
    endpoints: tuple[EndpointCheck, ...] = ()
    hash: HashedState | None = None
    leader_changed_s: float | None = None
    """When the leader of now was seen for the first time, or its election by the log."""
    leaderless_since_s: float | None = None
    """Since when no node leads; None while one does."""
    counts: PollCounts = field(default_factory=PollCounts)

    @property
    def image(self) -> MetadataImage | None:
        cluster = self.health.cluster_health
        return None if cluster is None else cluster.observation.image


@dataclass(slots=True)
class _Leadership:
    """Since when there is this leader, or none."""

    epoch: int | None = None
    changed_s: float | None = None
    leaderless_s: float | None = None

    def take(self, report: QuorumReport, health: Health, at_s: float) -> None:
        if report.leader_id is None:
            if health.view.reached:
                self.leaderless_s = self.leaderless_s or at_s
            return
        self.leaderless_s = None
        if report.epoch != self.epoch:
            self.epoch, self.changed_s = report.epoch, at_s
        cluster = health.cluster_health
        for change in () if cluster is None else cluster.observation.leader_changes[-1:]:
            # The record of the election is more exact than the poll that saw it first.
            if change.epoch == report.epoch and change.timestamp > 0:
                self.changed_s = change.timestamp / 1000


@dataclass(slots=True)
class DialPace:
    """Says when to dial the recorded endpoints: every minute, and soon after a controller stops or
    starts to answer, or fails for another reason. A certificate that is refused is then read."""

    _dialed_s: float | None = None
    _answers: frozenset[tuple[object, ...]] = frozenset()

    def is_due(self, view: QuorumView, now_s: float) -> bool:
        """True if it is time to dial."""
        if self._dialed_s is None:
            return True
        is_changed = _answers(view) != self._answers
        every_s = _ENDPOINTS_AGAIN_S if is_changed else ENDPOINTS_EVERY_S
        return now_s - self._dialed_s >= every_s

    def dial(self, view: QuorumView, now_s: float) -> None:
        """Note that it is done."""
        self._dialed_s, self._answers = now_s, _answers(view)


def _answers(view: QuorumView) -> frozenset[tuple[object, ...]]:
    """Return who answers, and why others do not; one that is late counts by its last answer."""
    return frozenset((node.endpoint, node.is_reached, node.failure) for node in view.nodes)


class ClusterWatch:
    """Watches one cluster. `state` is the newest; None before the first poll."""

    def __init__(
        self,
        cluster: WatchedCluster,
        *,
        interval_s: float,
        with_metadata: bool = True,
        with_endpoints: bool = True,
        now: Callable[[], float] = time.time,
    ) -> None:
        self.cluster = cluster
        self.state: ClusterState | None = None
        self._interval_s, self._now = interval_s, now
        self._watcher = Watcher(Sources(target=cluster.target), patience_s=None)
        self._metadata_watch = MetadataWatch(cluster.target) if with_metadata else None
        self._with_endpoints = with_endpoints
        self._metadata: MetadataHealth | None = None
        self._hash: HashedState | None = None
        self._hashed: MetadataImage | None = None
        self._endpoints: tuple[EndpointCheck, ...] = ()
        self._dial_pace = DialPace()
        self._leadership = _Leadership()
        self._counts = PollCounts()
        self._reading: asyncio.Task[None] | None = None
        self._dialing: asyncio.Task[None] | None = None
        self._task = Task()

    async def run(self, polled: Callable[[ClusterState], None] = lambda _: None) -> None:
        """Poll every interval, until cancelled."""
        try:
            while True:
                began = time.monotonic()
                polled(await self.poll())
                await asyncio.sleep(max(self._interval_s - (time.monotonic() - began), 0.0))
        finally:
            await self.close()

    async def poll(self) -> ClusterState:
        """Poll once; what takes longer goes on meanwhile, and counts from a later poll on."""
        began = time.monotonic()
        picture = await self._watcher.poll()
        self._read_metadata(picture)
        self._dial(picture)
        took_s = time.monotonic() - began
        self.state = self._judged(picture, took_s)
        return self.state

    async def whole(self) -> ClusterState:
        """Poll twice and wait for everything, for whoever takes only one state."""
        await self.poll()
        for task in (self._reading, self._dialing):
            if task is not None:
                await task
        picture = await self._watcher.whole(self.cluster.target.access.timeout_s)
        self._dial(picture)
        if self._dialing is not None:
            await self._dialing
        self.state = self._judged(picture, self._counts.took_s)
        return self.state

    def _judged(self, picture: Picture, took_s: float) -> ClusterState:
        at_s = self._now()
        report = quorum_report(picture, self._metadata)
        view = picture.view
        assert view is not None, "a live quorum is watched"
        assert report.live is not None, "so it has a health"
        health = expecting(report.live, self.cluster.expected_voters)
        self._leadership.take(report, health, at_s)
        self._counts = PollCounts(
            polls=self._counts.polls + 1,
            failures=self._counts.failures + (not view.reached),
            took_s=took_s,
        )
        known = health.cluster_health
        absent = () if known is None else (*known.fenced_brokers, *known.not_fetching_brokers)
        found = endpoint_findings(self._endpoints, view, at_s, absent)
        return ClusterState(
            cluster=self.cluster,
            at_s=at_s,
            report=report,
            health=health,
            findings=tuple(in_order((*health.findings, *found))),
            endpoints=self._endpoints,
            hash=self._hash,
            leader_changed_s=self._leadership.changed_s,
            leaderless_since_s=self._leadership.leaderless_s,
            counts=self._counts,
        )

    # --- what takes longer ------------------------------------------------------------------------

    def _read_metadata(self, picture: Picture) -> None:
        watch, known, view = self._metadata_watch, self._metadata, picture.view
        if watch is None or view is None or view.leader is None:
            return
        if self._reading is not None and not self._reading.done():
            return
        if known is not None and not known.is_due(picture.at_ms):
            return

        async def read() -> None:
            with suppress(KraftoolError):  # the task was stopped
                self._metadata = await asyncio.to_thread(watch.read, view, self._task)
                if self._metadata.cluster is not None:
                    await asyncio.to_thread(self._take_hash, self._metadata)

        self._reading = asyncio.create_task(read())

    def _take_hash(self, metadata: MetadataHealth) -> None:
        assert metadata.cluster is not None, "the caller has read metadata"
        image = metadata.cluster.observation.image
        if self._hash is None or self._hashed is None or not _is_same(image, self._hashed):
            self._hash = HashedState(value=state_hash(image), offset=image.provenance.offset)
        else:
            self._hash = HashedState(value=self._hash.value, offset=image.provenance.offset)
        self._hashed = image

    def _dial(self, picture: Picture) -> None:
        view, now_s = picture.view, time.monotonic()
        if not self._with_endpoints or view is None or not view.reached:
            return
        if self._dialing is not None and not self._dialing.done():
            return
        is_complete = self._metadata_watch is None or self._metadata is not None
        if not is_complete or not self._dial_pace.is_due(view, now_s):
            return
        cluster = None if self._metadata is None else self._metadata.cluster
        image = None if cluster is None else cluster.observation.image
        recorded = recorded_endpoints(view, image)
        self._dial_pace.dial(view, now_s)

        async def dial() -> None:
            self._endpoints = await check_endpoints(recorded, self.cluster.target.access)

        self._dialing = asyncio.create_task(dial())

    async def close(self) -> None:
        """Stop what is still in progress."""
        self._task.stop()
        for task in (self._reading, self._dialing):
            if task is not None:
                task.cancel()
                with suppress(asyncio.CancelledError):
                    await task
        await self._watcher.close()


def _is_same(one: MetadataImage, other: MetadataImage) -> bool:
    """True if two images have the same metadata, whatever their offsets: no aspect has changed."""
    return all(
        getattr(one, name) is getattr(other, name)
        for name in MetadataImage.__dataclass_fields__
        if name != "provenance"
    )
