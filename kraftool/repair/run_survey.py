"""A damaged log restored from the runs of good batches that other nodes' logs have.

Owns the new content of each segment: the node's own good bytes, and between them the batches of
other nodes that belong there (`log_runs.py`). Each node gets back the log that it had, and no
other: no vote, no promise and no uncommitted tail changes. Damage that nobody can fill stays as it
is. It refuses to judge the restored log: it is surveyed like any other.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from kraftool.decoders.names import write_segment_name
from kraftool.repair.fingerprints import fingerprint_of
from kraftool.repair.log_runs import BatchKey, LogCopies, PlacedBatch, good_batches, runs_of
from kraftool.repair.log_survey import SegmentFile
from kraftool.repair.plan import Edit, Piece, RestoredRun
from kraftool.repair.plan_file import target_of
from kraftool.repair.read_directory import ReadDirectory
from kraftool.repair.restored_file import PiecedSource, joined, slice_of
from kraftool.repair.survey import Survey
from kraftool.storage.source import ByteSource

_LEAST_EQUAL = 0.9
"""So much of a damaged batch at the very end must be as another node has it."""


def with_runs_restored(directories: Mapping[str, ReadDirectory]) -> dict[str, ReadDirectory]:
    """Return the directories by host, each damaged one with what the other logs of its cluster
    give. Flipped bits are put back before that."""
    made = dict(directories)
    batches: dict[str, Sequence[PlacedBatch]] = {}
    read = {name: directory for name, directory in directories.items() if directory.segments}
    for name, directory in read.items():
        if directory.best.intact:
            continue
        cluster = directory.survey.identity.cluster_id
        kin = [other for other in read if read[other].survey.identity.cluster_id == cluster]
        for kin_name in kin if len(kin) > 1 else ():
            if kin_name not in batches:
                batches[kin_name] = good_batches(read[kin_name].segments)
        copies = LogCopies({kin_name: batches[kin_name] for kin_name in kin if kin_name in batches})
        restored = _Restoring(name, read, copies).survey()
        whole = [read[kin_name].best for kin_name in kin if kin_name != name]
        if restored is not None and not any(_has_all_of(survey, restored) for survey in whole):
            made[name] = replace(directory, restored=restored)
    return made


def _has_all_of(best: Survey, restored: Survey) -> bool:
    """True if one undamaged directory goes as far: it alone is the simpler source."""
    return (
        best.log is not None
        and best.intact
        and best.state is not None
        and best.state.whole
        and best.end.rank >= restored.end.rank
    )


@dataclass(frozen=True, slots=True)
class _Part:
    """Bytes of a segment: the node's own, or a batch of another one."""

    segment: int
    piece: Piece
    run: RestoredRun | None = None


@dataclass(slots=True)
class _Restoring:
    """One damaged log."""

    name: str
    directories: Mapping[str, ReadDirectory]
    copies: LogCopies

    def survey(self) -> Survey | None:
        """The survey of the restored log; None if other logs do not bring it further."""
        own = self.copies.nodes.get(self.name, ())
        if not own:
            return None
        edits = tuple(self._edits(list(self._parts(own))))
        if not edits:
            return None
        directory = self.directories[self.name]
        restored = directory.again(edits, self._open) if directory.again else None
        return restored if restored and _is_better(restored, directory.survey) else None

    def _parts(self, own: Sequence[PlacedBatch]) -> Iterator[_Part]:
        """All of the log in its order."""
        runs = list(runs_of(own))
        first = self.directories[self.name].segments[0].base_offset
        place, before = (first, 0), None
        for run in runs:
            start = before.end_offset if before is not None else first
            filling: list[BatchKey] = []
            if start < run[0].key.base_offset:
                filling = self.copies.between(before, start, run[0].key)
            if filling:
                yield from self._filled(filling)
            else:
                yield from self._own(place, (run[0].segment, run[0].position))
            place = run[0].segment, run[0].position
            yield from self._own(place, (run[-1].segment, run[-1].end))
            place, before = (run[-1].segment, run[-1].end), run[-1].key
        last = self._last_segment()
        left = last.base_offset, self._size(last)
        assert before is not None, "there is a run"
        filling = []
        if last.base_offset == place[0] and left > place:
            filling = self.copies.after(before, left[1] - place[1])
        if filling and self._looks_like(filling, last, place[1]):
            yield from self._filled(filling)
        else:
            yield from self._own(place, left)

    def _own(self, begin: tuple[int, int], end: tuple[int, int]) -> Iterator[_Part]:
        """The node's own bytes between two places, in each segment."""
        for segment in self.directories[self.name].segments:
            start = begin[1] if segment.base_offset == begin[0] else 0
            stop = end[1] if segment.base_offset == end[0] else self._size(segment)
            if begin[0] <= segment.base_offset <= end[0] and start < stop:
                target = target_of(write_segment_name(segment.base_offset, ".log"))
                yield _Part(segment.base_offset, Piece(file=target, start=start, end=stop))

    def _filled(self, filling: Sequence[BatchKey]) -> Iterator[_Part]:
        """Batches of other nodes, from as few nodes as can be."""
        bases = [segment.base_offset for segment in self.directories[self.name].segments]
        source = ""
        for key in filling:
            places = self.copies.places(key)
            if source not in places:
                source = max(places, key=lambda node: (self._run_length(node, key, filling), node))
            place = places[source]
            target = target_of(write_segment_name(place.segment, ".log"))
            yield _Part(
                max(base for base in bases if base <= key.base_offset),
                Piece(file=target, source=source, start=place.position, end=place.end),
                RestoredRun(source=source, first_offset=key.base_offset, end_offset=key.end_offset),
            )

    def _run_length(self, node: str, key: BatchKey, filling: Sequence[BatchKey]) -> int:
        rest = filling[filling.index(key) :]
        return next(
            (
                number
                for number, batch_key in enumerate(rest)
                if node not in self.copies.places(batch_key)
            ),
            len(rest),
        )

    def _looks_like(self, filling: Sequence[BatchKey], last: SegmentFile, position: int) -> bool:
        """True if the damaged bytes at the end are almost those of other nodes' batches."""
        parts = self._filled(filling)
        pieces = tuple(piece for part in parts for piece in self._on_disk(part.piece))
        wanted = PiecedSource("", pieces, self._open).read_at(
            0, sum(piece.size for piece in pieces)
        )
        with last.open() as source:
            there = source.read_at(position, len(wanted))
        equal = sum(one == other for one, other in zip(wanted, there, strict=False))
        return len(there) == len(wanted) and equal >= _LEAST_EQUAL * len(wanted)

    def _edits(self, parts: Sequence[_Part]) -> Iterator[Edit]:
        survey = self.directories[self.name].survey
        for segment in sorted({part.segment for part in parts if part.run is not None}):
            own = [part for part in parts if part.segment == segment]
            target = target_of(write_segment_name(segment, ".log"))
            file = survey.file(target)
            assert file is not None, "a segment that was read is a file"
            pieces = joined(one for part in own for one in self._on_disk(part.piece))
            yield Edit(
                target=target,
                before=file.fingerprint,
                after=fingerprint_of(PiecedSource(target.name, pieces, self._open)),
                pieces=pieces,
                runs=tuple(_joined_runs(part.run for part in own if part.run is not None)),
            )

    def _on_disk(self, piece: Piece) -> Iterator[Piece]:
        """A slice of a segment, whose flipped bits are put back, of what the disk has."""
        for edit in self.directories[piece.source or self.name].survey.flipped:
            if edit.target == piece.file:
                for part in slice_of(edit.pieces, piece.start, piece.end):
                    yield replace(part, source=piece.source if part.file else "")
                return
        yield piece

    def _open(self, piece: Piece) -> ByteSource:
        opener = self.directories[piece.source or self.name].open
        assert opener is not None, "a log with segments was read"
        assert piece.file is not None, "each piece is of a file"
        return opener(piece.file)

    def _last_segment(self) -> SegmentFile:
        return self.directories[self.name].segments[-1]

    def _size(self, segment: SegmentFile) -> int:
        target = target_of(write_segment_name(segment.base_offset, ".log"))
        file = self.directories[self.name].survey.file(target)
        return file.fingerprint.size if file is not None else 0


def _joined_runs(runs: Iterator[RestoredRun]) -> Iterator[RestoredRun]:
    last: RestoredRun | None = None
    for run in runs:
        if last is not None and (last.source, last.end_offset) == (run.source, run.first_offset):
            last = replace(last, end_offset=run.end_offset)
            continue
        if last is not None:
            yield last
        last = run
    if last is not None:
        yield last


def _is_better(one: Survey, other: Survey) -> bool:
    """True if more of a log can be trusted."""
    if one.log is None or other.log is None:
        return False
    return one.intact or (
        one.log.intact_end > other.log.intact_end or (bool(one.log.rest) and not other.log.rest)
    )
