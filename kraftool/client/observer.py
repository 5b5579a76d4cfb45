"""The image of a live quorum's committed metadata, by an observer that nobody sees.

Owns how what is read becomes an image, and what control records said on the way: who led since
when, who votes. One that is kept is brought up to date by reading what came since.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from kraftool.client.asking import Access
from kraftool.client.model import QuorumView
from kraftool.client.observing import LIMIT_S, Progress, Reached, read_log, silent
from kraftool.decoders.batch import LOG_OVERHEAD, RecordBatch
from kraftool.decoders.control import ControlRecordType
from kraftool.decoders.fault import crc_fault
from kraftool.decoders.names import write_checkpoint_name
from kraftool.decoders.segment import LARGEST_BATCH, SMALLEST_LENGTH
from kraftool.image.image import MetadataImage, Provenance
from kraftool.image.loader import ImageLoader, OpenTransaction
from kraftool.net.errors import NetError
from kraftool.raft.names import OffsetAndEpoch
from kraftool.raft.records import Batch
from kraftool.reports.files.log_findings import snapshot_finding
from kraftool.reports.findings.finding import Finding
from kraftool.reports.findings.kinds import snapshot as snapshot_kinds
from kraftool.reports.state.replay import Control, Replay

_MOST_LEADERS = 1000
"""So many changes of leaders are kept; a log has one for each epoch that got a leader."""


LOG = "log"
"""The name of the log among the files of an observation; a snapshot has its own."""


class ControllerStart(NamedTuple):
    """A registration of a controller: it registers once it runs, with a new incarnation id."""

    node_id: int
    timestamp: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """Committed metadata at a moment, and where it was read."""

    image: MetadataImage
    name: str
    """Of the node whose log it is, in words."""
    leader_id: int | None
    end_offset: int
    """One beyond the last record replayed, an open transaction's included."""
    snapshot_id: OffsetAndEpoch | None
    """Of the snapshot that it began with; None where the log was read from 0."""
    snapshot_timestamp: int = -1
    """When the last record in that snapshot was appended, by the leader of then."""
    controls: dict[ControlRecordType, Control] = field(default_factory=dict)
    """The last of each type: LeaderChange, KRaftVersion, KRaftVoters."""
    leader_changes: tuple[Control, ...] = ()
    """The last ones of the log behind the snapshot, oldest first."""
    controller_starts: tuple[ControllerStart, ...] = ()
    """The last ones of the log behind the snapshot, oldest first."""
    open_transaction: OpenTransaction | None = None
    findings: tuple[Finding, ...] = ()
    """What did not fit, of which a controller would say the same."""


class SilentObserver:
    """Keeps up with a quorum. Nothing that it asks makes it a replica, or is counted as one."""

    def __init__(self, access: Access) -> None:
        self._access = access
        self._taker = ImageTaker()

    async def advance(
        self, view: QuorumView, progress: Progress = silent, limit_s: float = LIMIT_S
    ) -> Observation:
        """Read what was committed since the last time, from the leader of a view.

        Raises UnobservableError where no node tells it; what was read before is then kept.
        """
        reached = await read_log(
            view,
            self._access,
            self._taker,
            place=self._taker.place,
            progress=progress,
            limit_s=limit_s,
        )
        return self._taker.observation(reached)


async def observe(view: QuorumView, access: Access, progress: Progress = silent) -> Observation:
    """The committed metadata of a quorum, once. Raises UnobservableError."""
    return await SilentObserver(access).advance(view, progress)


class ImageTaker:
    """Replays what is committed, and keeps no more of it than a batch that is not whole yet."""

    def __init__(self) -> None:
        self.begin()

    def begin(self) -> None:
        self.replay = Replay()
        self.place = OffsetAndEpoch(0, 0)
        self.leaders: deque[Control] = deque(maxlen=_MOST_LEADERS)
        self.starts: deque[ControllerStart] = deque(maxlen=_MOST_LEADERS)
        self._incarnations: dict[int, str] = {}
        self.snapshot_id: OffsetAndEpoch | None = None
        self.snapshot_timestamp = -1
        self._rest = b""
        self._read = 0

    def snapshot(self, id: OffsetAndEpoch, position: int, chunk: bytes, size: int) -> None:
        name = write_checkpoint_name(*id)
        data = self._rest + chunk
        at = 0
        while len(data) - at >= LOG_OVERHEAD:
            length = int.from_bytes(data[at + 8 : at + LOG_OVERHEAD], "big", signed=True)
            if not SMALLEST_LENGTH <= length <= LARGEST_BATCH:
                where = position - len(self._rest) + at
                raise NetError(f"{name}, as it was sent, has no batch at position {where}")
            end = at + LOG_OVERHEAD + length
            if end > len(data):
                break
            where = position - len(self._rest) + at
            batch = RecordBatch.read(data[at:end], where)
            if not batch.is_valid:
                self.replay.add_finding(snapshot_finding(name, crc_fault(batch, None)))
            self.replay.batch(name, batch, snapshot=True)
            at = end
        self._rest = data[at:]
        if position + len(chunk) == size:
            self._end_snapshot(name, id)

    def _end_snapshot(self, name: str, id: OffsetAndEpoch) -> None:
        replay = self.replay
        if self._rest or ControlRecordType.SNAPSHOT_FOOTER not in replay.controls:
            text = "it has no SnapshotFooter: the last records may be missing"
            replay.add_finding(snapshot_kinds.FORM.at(name, text))
        header = replay.controls.get(ControlRecordType.SNAPSHOT_HEADER)
        if header is not None:
            self.snapshot_timestamp = header.value["lastContainedLogTimestamp"]
        provenance = Provenance(
            last_offset=id.offset - 1, last_epoch=id.epoch, last_timestamp=self.snapshot_timestamp
        )
        # What follows is replayed onto the image under its own name, with the log's offsets.
        replay.loader = ImageLoader(replace(replay.loader.image(), provenance=provenance))
        self.snapshot_id, self.place, self._rest = id, id, b""
        self._note_starts(None)

    def log(self, batches: Sequence[Batch], high_watermark: int) -> None:
        for fetched_batch in batches:
            if fetched_batch.last_offset >= high_watermark:
                return
            batch = RecordBatch.read(fetched_batch.data, self._read)
            self.replay.batch(LOG, batch, start=self.place.offset)
            self._read += fetched_batch.size
            self.place = OffsetAndEpoch(fetched_batch.next_offset, fetched_batch.epoch)
            self._note_starts(batch.header.max_timestamp)
            leader = self.replay.controls.get(ControlRecordType.LEADER_CHANGE)
            known = self.leaders[-1] if self.leaders else None
            if leader is not None and leader != known:
                self.leaders.append(leader)

    def _note_starts(self, timestamp: int | None) -> None:
        """Note the controllers that registered, by the time of the batch; None for a snapshot."""
        controllers = self.replay.loader.delta.cluster.controllers
        for node_id in [*controllers.keys()]:
            registration = controllers.get(node_id)
            assert registration is not None, "it is one of the keys"
            if self._incarnations.get(node_id) != registration.incarnation_id:
                self._incarnations[node_id] = registration.incarnation_id
                if timestamp is not None:
                    self.starts.append(ControllerStart(node_id, timestamp))

    def observation(self, reached: Reached) -> Observation:
        """Return what came of it."""
        replay = self.replay
        return Observation(
            image=replay.loader.image(),
            name=reached.leader.name,
            leader_id=reached.leader.node_id,
            end_offset=self.place.offset,
            snapshot_id=self.snapshot_id,
            snapshot_timestamp=self.snapshot_timestamp,
            controls=dict(replay.controls),
            leader_changes=tuple(self.leaders),
            controller_starts=tuple(self.starts),
            open_transaction=replay.loader.open_transaction,
            findings=tuple(replay.findings),
        )
