"""A directory's log, replayed once, with the state at each offset that is asked for.

Owns where replaying begins (at 0, or at the oldest whole snapshot that the log goes on from) and
where it ends: at damage, where Kafka would cut. It refuses to compare; whoever asks for an offset
is handed the state there. One image is in memory at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from kraftool.decoders.batch import RecordBatch
from kraftool.decoders.names import segment_offset
from kraftool.decoders.segment import BatchSpan
from kraftool.decoders.walk import Faulty, Walk
from kraftool.image.image import EMPTY, MetadataImage
from kraftool.image.loader import ImageLoader
from kraftool.image.replay import RecordValue
from kraftool.reports.state.replay import Progress, Replay
from kraftool.storage.entry import Entry, EntryPlace

_REMOVE = "RemoveUserScramCredentialRecord"


@dataclass(frozen=True, slots=True, kw_only=True)
class LogState:
    """The state at an offset."""

    image: MetadataImage
    scram_removals: frozenset[int]
    """The mechanisms of which a credential was removed since replaying began."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Base:
    """The state with which a replay begins."""

    offset: int = 0
    image: MetadataImage = EMPTY
    name: str = ""
    """The snapshot's; empty for the log's beginning."""


class NotingLoader(ImageLoader):
    """FileFindings what was removed on the way, by which an error of Kafka's is known."""

    by_itself = ImageLoader.by_itself | {_REMOVE}

    def __init__(self, image: MetadataImage) -> None:
        super().__init__(image)
        self.scram_removals: set[int] = set()

    def replay(self, offset: int, name: str, record: RecordValue) -> None:
        super().replay(offset, name, record)
        if name == _REMOVE:
            self.scram_removals.add(record["mechanism"])

    def state(self) -> LogState:
        """The state so far."""
        return LogState(image=self.image(), scram_removals=frozenset(self.scram_removals))


@dataclass(slots=True)
class SegmentsReplay:
    """Replays the segments of one directory."""

    base: Base
    wanted: list[int]
    """Offsets above the base's, rising."""
    at: Callable[[int, LogState], None]
    ended: str = ""
    """Why it ended before the last offset that was wanted."""
    end: int = 0
    _loader: NotingLoader = field(init=False)
    _replay: Replay = field(init=False)

    def __post_init__(self) -> None:
        self._loader = NotingLoader(self.base.image)
        self._replay = Replay(loader=self._loader)
        self.end = self.base.offset
        self.wanted = sorted({offset for offset in self.wanted if offset > self.end}, reverse=True)

    def run(self, segments: Sequence[Entry], progress: Progress) -> None:
        """Replay up to the last offset that is wanted, if the log gets there."""
        for number, segment in enumerate(segments):
            following = segments[number + 1] if number + 1 < len(segments) else None
            if following is not None and _base_offset(following) <= self.end:
                continue
            if self.ended or not self.wanted:
                return
            self._segment(segment, progress)
        if self.wanted and not self.ended:
            self.ended = f"the log ends at {self.end}"

    def _segment(self, entry: Entry, progress: Progress) -> None:
        with entry.open() as source:
            for walk_item in Walk(source.read_at).spans():
                if isinstance(walk_item, Faulty):
                    if walk_item.fault.cuts:
                        self.ended = f"the log is damaged at {self.end}"
                elif isinstance(walk_item, BatchSpan):
                    self._span(entry.name, walk_item)
                elif walk_item.last_offset >= self.end:
                    self._batch(entry.name, walk_item)
                if self.ended or not self.wanted:
                    return
                progress(entry.name, walk_item.position + walk_item.size)

    def _span(self, file: str, span: BatchSpan) -> None:
        """Replay the batches of a span; one by one, if a wanted offset may be among them."""
        at = span.at
        while at < span.end and self.wanted and not self.ended:
            is_next = span.base_offset_at(at) == self.end
            if is_next and span.last_offset + 1 < self.wanted[-1]:
                at, self.end = self._replay.span(file, span, at, span.end)
                continue
            batch = span.batch(at)
            if batch.last_offset >= self.end:
                self._batch(file, batch)
            at += batch.size

    def _batch(self, file: str, batch: RecordBatch) -> None:
        if batch.base_offset > self.end:
            self.ended = f"the log has a gap at {self.end}"
            return
        while self.wanted and not self.ended and self.wanted[-1] <= batch.last_offset:
            # Inside a batch; the next one begins there.
            if self.wanted[-1] > self.end:
                self._replay.batch(file, batch, start=self.end, below=self.wanted[-1])
                self.end = self.wanted[-1]
            self._reached()
        if self.wanted and not self.ended:
            self.end = self._replay.batch(file, batch, start=self.end)
            if self.wanted[-1] == self.end:
                self._reached()

    def _reached(self) -> None:
        findings = self._replay.findings
        if findings:
            first = findings[0]
            self.ended = f"a record of the log, at offset {first.offset}, cannot be replayed"
            return
        offset = self.wanted.pop()
        self.at(offset, self._loader.state())


def segments_of(entries: Sequence[Entry]) -> list[Entry]:
    """The live segments among some files, by offset."""
    segments = [
        entry
        for entry in entries
        if entry.place is EntryPlace.PARTITION and _base_offset(entry) >= 0
    ]
    return sorted(segments, key=_base_offset)


def log_start(segments: Sequence[Entry]) -> int | None:
    return _base_offset(segments[0]) if segments else None


def _base_offset(entry: Entry) -> int:
    offset = segment_offset(entry.basename)
    return -1 if offset is None else offset
