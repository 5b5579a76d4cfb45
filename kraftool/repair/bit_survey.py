"""The flipped bits of a directory's log and checkpoints.

Owns that a file counts as explained only if nothing else is wrong with it: each damaged batch has
one flipped bit, and with all of them put back the log is whole, but for a torn tail, or Kafka could
load the checkpoint. It refuses to judge one batch (`decoders/bit_flip.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from kraftool.decoders.bit_flip import ExpectedBatch, flipped_bit
from kraftool.decoders.names import parse_checkpoint_name, write_segment_name
from kraftool.decoders.walk import Faulty, Walk, WalkState
from kraftool.repair.fingerprints import fingerprint_of
from kraftool.repair.flipped_bit import FlippedBit
from kraftool.repair.log_survey import SegmentFile, survey_log
from kraftool.repair.plan import Edit
from kraftool.repair.plan_file import target_of
from kraftool.repair.restored_file import flipped_edit, pieced_opener, put_back
from kraftool.repair.snapshot_survey import complaint_of
from kraftool.repair.survey import LogBreak, Survey, SurveyedLog
from kraftool.storage.entry import Entry, EntryPlace
from kraftool.storage.source import ByteSource

MOST_BITS = 8
"""In one log or checkpoint. More is no accident of single bits."""


def flipped_files(
    survey: Survey, segments: Sequence[SegmentFile], entries: Sequence[Entry]
) -> tuple[Edit, ...]:
    """Put back the bits of the files that flipped bits alone explain, by the files' names."""
    bits: dict[str, tuple[FlippedBit, ...]] = {}
    if survey.log is not None and survey.log.broken is not None:
        bits |= _of_log(survey.log, segments, survey.quorum_state.leader_epoch)
    by_name = {entry.basename: entry for entry in entries if entry.place is EntryPlace.PARTITION}
    for snapshot in survey.live_snapshots:
        if not snapshot.intact:
            bits[snapshot.name] = _of_snapshot(by_name[snapshot.name])
    flipped = []
    for name, own in sorted(bits.items()):
        before = survey.file(target_of(name))
        if not own or before is None:
            continue
        with _patched(name, by_name[name].open, own)() as source:
            after = fingerprint_of(source)
        flipped.append(flipped_edit(before.target, before.fingerprint, after, own))
    return tuple(flipped)


def _patched(
    name: str, opener: Callable[[], ByteSource], bits: Sequence[FlippedBit]
) -> Callable[[], ByteSource]:
    """A function that opens a file with these bits put back."""
    with opener() as source:
        size = source.size()
    assert size is not None, "a file of the metadata partition has a size"
    pieces = put_back(target_of(name), size, bits)
    return pieced_opener(name, pieces, lambda piece: opener())


@dataclass(slots=True)
class _Segments:
    """Segments, and the bits that are put back so far."""

    files: dict[int, SegmentFile]
    bits: dict[int, list[FlippedBit]]

    def file(self, base: int) -> SegmentFile:
        file, bits = self.files[base], self.bits.get(base, ())
        name = write_segment_name(base, ".log")
        return replace(file, open=_patched(name, file.open, bits)) if bits else file

    def all(self) -> list[SegmentFile]:
        return [self.file(file) for file in self.files]


def _of_log(
    log: SurveyedLog, segments: Sequence[SegmentFile], known_epoch: int
) -> dict[str, tuple[FlippedBit, ...]]:
    """The bits of a log by segment; empty if something else is damaged, too."""
    state = _Segments({segment.base_offset: segment for segment in segments}, {})
    for _ in range(MOST_BITS):
        broken = log.broken
        if broken is None:
            break
        bit = _at_break(log, broken, state)
        if bit is None:
            break
        state.bits.setdefault(broken.segment, []).append(bit)
        again = survey_log(state.all(), known_epoch=known_epoch)
        if again is None or again.log.intact_end <= log.intact_end:
            return {}
        log = again.log
    if log.broken is not None and not log.broken.torn:
        return {}
    return {write_segment_name(base, ".log"): tuple(bits) for base, bits in state.bits.items()}


def _at_break(log: SurveyedLog, broken: LogBreak, state: _Segments) -> FlippedBit | None:
    place = ExpectedBatch(
        position=broken.position, next_offset=broken.offset, epoch=max(log.last_epoch, -1)
    )
    with state.file(broken.segment).open() as source:
        flip = flipped_bit(source.read_at, place)
    if flip is None or (broken.position == 0 and flip.batch.base_offset != broken.segment):
        return None
    return FlippedBit.of(flip)


def _of_snapshot(entry: Entry) -> tuple[FlippedBit, ...]:
    """The bits of a checkpoint; empty if Kafka could not load it even then."""
    name = parse_checkpoint_name(entry.basename)
    if name is None:
        return ()
    bits: list[FlippedBit] = []
    while len(bits) < MOST_BITS:
        with _patched(entry.basename, entry.opener, bits)() as source:
            place = _first_damage(Walk(source.read_at, WalkState(next_offset=0)), name.epoch)
            flip = None if place is None else flipped_bit(source.read_at, place)
        if flip is None:
            break
        bits.append(FlippedBit.of(flip))
    whole = replace(entry, opener=_patched(entry.basename, entry.opener, bits))
    return tuple(bits) if bits and not complaint_of(whole, name.epoch) else ()


def _first_damage(walk: Walk, epoch: int) -> ExpectedBatch | None:
    """The place of the first batch that is not as a checkpoint of this epoch has it."""
    next_offset = 0
    for item in walk:
        if isinstance(item, Faulty) or item.epoch != epoch:
            position = item.position
            return ExpectedBatch(position=position, next_offset=next_offset, epoch=epoch)
        next_offset = item.last_offset + 1
    return None
