"""The log's records replayed into an image, as a controller does that becomes active.

Owns where replaying begins and why it ends early. It begins at 0, or at the oldest snapshot that
covers the log's start, so that as much as possible of the log is replayed; in a stream, whose files
come in any order, at what has passed by. On the way it meets the newest snapshot, whose state has
to be the same. It refuses to go on behind damage, where Kafka cuts, or behind a gap.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from kraftool.decoders.batch import RecordBatch
from kraftool.decoders.names import CheckpointName, SegmentName
from kraftool.decoders.segment import BatchSpan
from kraftool.decoders.walk import Faulty, Item
from kraftool.image.image import EMPTY, MetadataImage
from kraftool.image.loader import ImageLoader
from kraftool.image.state_hash import state_hash
from kraftool.reports.findings.finding import Finding, Severity
from kraftool.reports.findings.kinds import log as log_kinds
from kraftool.reports.state.placed_records import PlacedRecords
from kraftool.reports.state.replay import Replay
from kraftool.reports.verify.log_states import LogStates, StateHash
from kraftool.reports.verify.snapshot_compare import differing
from kraftool.reports.verify.snapshot_replay import Base, LogState, NotingLoader
from kraftool.reports.verify.snapshot_values import VerifiedSnapshot
from kraftool.storage.entry import Entry

_NEVER = 1 << 64


@dataclass(slots=True)
class DirectoryReplay:
    """The one image that a pass over a directory makes."""

    log_start: int | None = None
    """The lowest segment's offset; None where the files come in an order of their own."""
    replay: Replay | None = None
    start: int = 0
    next: int = 0
    ended: str = ""
    """Why it went no further than `next`."""
    compared: NewestSnapshot | None = None
    """The snapshot whose state is compared on the way."""
    states: LogStates | None = None
    """Takes the states at the offsets of all snapshots, if another report compares them."""

    def wants(self, snapshot: CheckpointName) -> bool:
        """True if a snapshot may be what replaying begins with."""
        if snapshot.offset == 0 or self.ended or self.next > self.start:
            return False
        if self.log_start is None:
            return self.replay is None or snapshot.offset > self.start
        return self.log_start > 0 and self.replay is None and snapshot.offset >= self.log_start

    def take(self, snapshot: CheckpointName, image: MetadataImage, file: str) -> None:
        """Begin with a snapshot that was read whole."""
        self.replay = Replay(loader=NotingLoader(image))
        self.start = self.next = snapshot.offset
        if self.states is not None:
            self.states.base_offset, self.states.base_file = snapshot.offset, file
            self.states.passed(snapshot.offset)

    def segment(self, name: SegmentName) -> None:
        """A segment begins."""
        if self.ended:
            return
        if name.base_offset == 0 and self.next == self.start:
            self.replay, self.start, self.next = Replay(loader=NotingLoader(EMPTY)), 0, 0
        elif self.replay is None:
            self.ended = f"no snapshot that covers offset {name.base_offset} was read before it"
            self.start = self.next = name.base_offset
        elif name.base_offset > self.next:
            self.ended = f"the segment that begins at offset {self.next} was not read before"

    def batch(self, file: str, batch: RecordBatch) -> None:
        """Replay a batch, if it is the next one."""
        if self.ended or self.replay is None or batch.last_offset < self.next:
            return
        if batch.base_offset != self.next:
            self.ended = f"the next batch begins at offset {batch.base_offset}"
        else:
            before = len(self.replay.findings)
            reached = self.replay.batch(file, batch)
            self._reached(self.replay, before, reached)

    def span(self, file: str, span: BatchSpan, at: int, end: int) -> None:
        """Replay the batches of a span from one place to another, if they are the next ones."""
        while at < end and not self.ended and self.replay is not None:
            is_met = span.last_offset >= self._due - 1
            if is_met or span.base_offset_at(at) != self.next:
                batch = span.batch(at)
                self.batch(file, batch)
                at += batch.size
            else:
                before = len(self.replay.findings)
                at, reached = self.replay.span(file, span, at, end)
                self._reached(self.replay, before, reached)

    def _reached(self, replay: Replay, before: int, reached: int) -> None:
        """Note how far the log was replayed; `before`: the findings that there were before."""
        new = replay.findings[before:]
        if any(finding.code != log_kinds.REPLAY.code for finding in new):
            self.ended = "a record there cannot be decoded"
        self.next = reached
        if reached >= self._due:
            self._meet()

    @property
    def _due(self) -> int:
        """The next offset at which a state is compared."""
        due = self.states.due if self.states is not None else _NEVER
        if self.compared is not None and self.compared.is_due:
            due = min(due, self.compared.snapshot.offset)
        return due

    def _meet(self) -> None:
        """Compare the state here, unless the replay passed over it, or it is not the log's."""
        is_wanted = self.states is not None and self.states.passed(self.next)
        if is_wanted and self.states is not None and self.is_sound and not self._is_in_transaction:
            state = self.state()
            self.states.hashes[self.next] = StateHash(state_hash(state.image), state.scram_removals)
        compared = self.compared
        if compared is not None and compared.is_due and self.next >= compared.snapshot.offset:
            compared.meet(self)

    @property
    def is_sound(self) -> bool:
        """True if each record so far was replayed, and fits the state before it."""
        return self.replay is not None and not self.replay.findings and not self.ended

    @property
    def _is_in_transaction(self) -> bool:
        """True if a transaction is open: a snapshot of the state here would lack its records."""
        return self.replay is not None and self.replay.loader.open_transaction is not None

    def state(self) -> LogState:
        """The state so far. The replay has begun."""
        assert self.replay is not None, "nothing was replayed"
        assert isinstance(self.replay.loader, NotingLoader), "what this module makes"
        return self.replay.loader.state()

    def damage(self, item: Faulty) -> None:
        if not self.ended and self.replay is not None:
            is_batch = item.batch is not None
            self.ended = (
                "a batch there has a wrong CRC" if is_batch else "the bytes there are not a batch"
            )

    def findings(
        self, directory: str, end_offset: int | None, newest_snapshot: int
    ) -> Iterator[Finding]:
        """Yield what did not replay, and what was not replayed."""
        if self.replay is not None:
            for finding in self.replay.findings:
                if finding.code == log_kinds.REPLAY.code:
                    yield _weighed(finding, newest_snapshot)
            if self.replay.more_findings:
                text = f"{self.replay.more_findings} more records do not replay"
                yield log_kinds.REPLAY.at(directory, text)
        if end_offset is not None and self.next < end_offset and self.ended:
            text = f"records from offset {self.next} on were not replayed: {self.ended}"
            yield log_kinds.NOT_CHECKED.at(directory, text, offset=self.next)

    @property
    def replayed(self) -> tuple[int, int] | None:
        """The offsets that were replayed, the second exclusive."""
        return (self.start, self.next) if self.next > self.start else None


def _weighed(finding: Finding, newest_snapshot: int) -> Finding:
    """A record below the newest snapshot is not read again where that snapshot is."""
    if finding.offset is None or finding.offset >= newest_snapshot:
        return finding
    return log_kinds.REPLAY.at(
        finding.file,
        f"{finding.text}; this node starts from the snapshot at {newest_snapshot} and does not"
        " replay it",
        position=finding.position,
        offset=finding.offset,
        severity=Severity.WARNING,
    )


class SnapshotReplay:
    """One snapshot on its way into an image."""

    def __init__(self, name: CheckpointName, placed: PlacedRecords | None = None) -> None:
        self.name = name
        self.replay = Replay(loader=ImageLoader(), placed=placed)
        self._whole = True

    def __call__(self, item: Item) -> None:
        if isinstance(item, Faulty):
            self._whole = self._whole and not item.fault.cuts
        elif self._whole:
            self.replay.batch("", item, snapshot=True)

    def image(self) -> MetadataImage | None:
        """Return what it holds, if it was whole."""
        if not self._whole or self.replay.findings:
            return None
        self.replay.loader.end_batch(self.name.offset - 1, self.name.epoch, -1)
        return self.replay.loader.image()


class NewestSnapshot:
    """The newest snapshot, to be compared with what the log makes of its offset.

    Only its hash is kept. Older ones, and those in streams, whose files come in an order of their
    own, are verify-snapshot's.
    """

    def __init__(self, entry: Entry, name: CheckpointName, image: MetadataImage) -> None:
        self.snapshot = VerifiedSnapshot(
            file=entry.name,
            offset=name.offset,
            epoch=name.epoch,
            state_hash=state_hash(image),
            entry=entry,
        )
        self.is_due = True
        """True if replaying has not come as far yet."""
        self.is_compared = False
        self.findings: tuple[Finding, ...] = ()

    def meet(self, log: DirectoryReplay) -> None:
        """The log was replayed to this offset; or over it, which another rule tells."""
        self.is_due = False
        if log.next != self.snapshot.offset or not log.is_sound:
            return
        self.is_compared = True
        known = log.states.hashes.get(log.next) if log.states is not None else None
        state = log.state() if known is None or known.hash != self.snapshot.state_hash else None
        if state is not None and state_hash(state.image) != self.snapshot.state_hash:
            self.findings = tuple(differing(self.snapshot, state, Base(offset=log.start)))
