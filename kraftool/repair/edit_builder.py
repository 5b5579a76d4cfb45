"""Edits that several cases make: quorum-state, meta.properties, a checkpoint by recipe, removals.

Owns the exact bytes. Which edit is right is for the case to say.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime

from kraftool.decoders import checkpoint_files, meta_properties, quorum_state
from kraftool.decoders.meta_properties import MetaProperties
from kraftool.decoders.names import (
    META_PROPERTIES,
    segment_offset,
    write_checkpoint_name,
    write_segment_name,
)
from kraftool.decoders.quorum_state import QuorumState
from kraftool.raft.names import VoterSet
from kraftool.raft.records import Batch, Voters
from kraftool.raft.wire.batches import encode
from kraftool.repair.plan import Edit, Expected, Fingerprint, Piece, SnapshotRecipe
from kraftool.repair.plan_file import PlanFile, PlanFileKind, is_acted_on
from kraftool.repair.survey import LEADER_EPOCHS, Survey, SurveyedLog, SurveyedState
from kraftool.reports.text.words import listed

LARGEST_EPOCH = (1 << 31) - 1

_QUORUM_STATE = PlanFile(kind=PlanFileKind.QUORUM_STATE, name=quorum_state.FILE_NAME)
_META = PlanFile(kind=PlanFileKind.META_PROPERTIES, name=META_PROPERTIES)
PARTITION_METADATA = PlanFile(
    kind=PlanFileKind.PARTITION_METADATA, name=checkpoint_files.PARTITION_METADATA
)
_OF_THE_LOG = frozenset(
    {
        PlanFileKind.SEGMENT,
        PlanFileKind.INDEX,
        PlanFileKind.TIME_INDEX,
        PlanFileKind.TRANSACTION_INDEX,
        PlanFileKind.PRODUCER_STATE,
        PlanFileKind.SNAPSHOT,
        PlanFileKind.LEADER_EPOCHS,
        PlanFileKind.OTHER,
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """The voters and the place that a quorum goes on with."""

    offset: int
    epoch: int
    kraft_version: int
    voters: VoterSet
    timestamp_ms: int


def before(survey: Survey, target: PlanFile) -> Fingerprint | None:
    file = survey.file(target)
    return file.fingerprint if file is not None else None


def written(survey: Survey, target: PlanFile, data: bytes, why: str) -> Edit:
    """A small file with these bytes, whatever was there."""
    return Edit(
        target=target,
        before=before(survey, target),
        after=Fingerprint.of(data),
        pieces=(Piece(data=data),),
        why=why,
    )


def quorum_state_of(
    survey: Survey, epoch: int, kraft_version: int, static_voters: Iterable[int], why: str
) -> Edit:
    """quorum-state that promises nothing but an epoch."""
    version = 1 if kraft_version > 0 else 0
    state = QuorumState(
        data_version=version,
        leader_epoch=epoch,
        current_voters=tuple(sorted(static_voters)) if version == 0 else (),
    )
    return written(survey, _QUORUM_STATE, quorum_state.encode(state), why)


def meta_properties_of(survey: Survey, meta: MetaProperties, now_ms: int, why: str) -> Edit:
    """meta.properties with these ids."""
    data = meta_properties.encode(meta, written_at=datetime.fromtimestamp(now_ms // 1000, UTC))
    return written(survey, _META, data, why)


def removals(
    survey: Survey,
    why: str,
    kinds: frozenset[PlanFileKind] = _OF_THE_LOG,
    *,
    but: frozenset[str] = frozenset(),
) -> tuple[Edit, ...]:
    """Everything of these kinds in the metadata partition's folder goes."""
    return tuple(
        Edit(target=file.target, before=file.fingerprint, why=why)
        for file in survey.files
        if file.target.kind in kinds and file.target.name not in but
    )


def removed(survey: Survey, name: str, why: str) -> Edit | None:
    """One file goes; None where it is not there."""
    for file in survey.files:
        if file.target.name == name:
            return Edit(target=file.target, before=file.fingerprint, why=why)
    return None


def epochs_removed(survey: Survey) -> tuple[Edit, ...]:
    """leader-epoch-checkpoint goes: Kafka makes it anew of the log, and would believe this one."""
    edit = removed(survey, LEADER_EPOCHS.name, "Kafka recreates it from the log")
    return (edit,) if edit is not None else ()


def jump_snapshot(state: SurveyedState, source: str, frame: Frame) -> Edit:
    """The checkpoint that a quorum goes on from. `source` is the host of the state, if another."""
    recipe = SnapshotRecipe(
        offset=frame.offset,
        epoch=frame.epoch,
        timestamp_ms=frame.timestamp_ms,
        last_contained_log_timestamp_ms=max(state.last_timestamp_ms, 0),
        kraft_version=frame.kraft_version,
        voters=frame.voters,
        state_offset=state.end_offset,
        records=state.records,
        records_sha256=state.records_sha256,
        source=source,
        log_start=state.log_start,
    )
    return Edit(
        target=PlanFile(
            kind=PlanFileKind.SNAPSHOT, name=write_checkpoint_name(frame.offset, frame.epoch)
        ),
        snapshot=recipe,
        why=f"the whole state at offset {state.end_offset}, with the new voters, beyond every log",
    )


def voters_appended(survey: Survey, frame: Frame, why: str) -> tuple[Edit, ...]:
    """A new segment at the log's end that begins with a VotersRecord, in the place of a torn tail.
    No whole batch changes. The segment before it is written to no more: the indexes of one that is
    have room for more entries, and some that a truncation left. Kafka makes them anew."""
    data = encode(
        Batch(
            base_offset=frame.offset,
            last_offset=frame.offset,
            epoch=frame.epoch,
            timestamp_ms=frame.timestamp_ms,
            control=(Voters(frame.voters),),
        )
    )
    target = PlanFile(kind=PlanFileKind.SEGMENT, name=write_segment_name(frame.offset, ".log"))
    edits: list[Edit] = []
    if survey.log is not None:
        edits += cut_at_break(survey, survey.log, "there is no whole batch there")
        broken = survey.log.broken
        last = survey.log.segments[-1:] if broken is None else (broken.segment,)
        edits += indexes_removed(survey, last)
    kept = {edit.target: edit for edit in edits if edit.target != target}
    return (*kept.values(), written(survey, target, data, why))


def cut_at_break(survey: Survey, log: SurveyedLog, why: str) -> tuple[Edit, ...]:
    """The log without what lies behind its break."""
    broken = log.broken
    if broken is None or broken.prefix is None:
        return ()
    edits = list(segment_cut(survey, broken.segment, broken.position, broken.prefix, why))
    edits += segments_removed(
        survey, [segment for segment in log.segments if segment > broken.segment], why
    )
    return tuple(edits)


def segment_cut(
    survey: Survey, segment: int, position: int, prefix: Fingerprint, why: str
) -> tuple[Edit, ...]:
    """A segment up to a position; its indexes go, since Kafka makes them anew."""
    target = PlanFile(kind=PlanFileKind.SEGMENT, name=write_segment_name(segment, ".log"))
    old = before(survey, target)
    if old == prefix:
        return ()
    edit = Edit(
        target=target,
        before=old,
        after=prefix,
        pieces=(Piece(file=target, end=position),),
        why=why,
    )
    return (edit, *indexes_removed(survey, [segment]))


def segments_removed(survey: Survey, segments: Iterable[int], why: str) -> tuple[Edit, ...]:
    """Whole segments go, with what belongs to them."""
    wanted = set(segments)
    edits = [
        removed(survey, write_segment_name(segment, ".log"), why) for segment in sorted(wanted)
    ]
    return (*(edit for edit in edits if edit is not None), *indexes_removed(survey, wanted))


def indexes_removed(survey: Survey, segments: Iterable[int]) -> tuple[Edit, ...]:
    """The indexes of changed segments go: Kafka makes them of the log."""
    edits = [
        removed(survey, write_segment_name(segment, suffix), "Kafka recreates it from the log")
        for segment in segments
        for suffix in (".index", ".timeindex", ".txnindex")
    ]
    return tuple(edit for edit in edits if edit is not None)


def restored_in_place(survey: Survey, restored: Iterable[Edit]) -> tuple[Edit, ...]:
    """Damaged files are restored on the disk, too. Kafka makes anew what it made of the log."""
    edits = tuple(
        Edit(
            target=edit.target,
            before=edit.before,
            after=edit.after,
            pieces=(Piece(file=edit.target, end=edit.after.size),),
            why="; ".join(bit.describe() for bit in edit.flipped)
            or f"restored: {listed(run.describe() for run in edit.runs)}",
        )
        for edit in restored
        if edit.after is not None
    )
    moved = [segment for edit in restored if edit.runs
             if (segment := segment_offset(edit.target.name)) is not None]  # fmt: skip
    return (*edits, *(epochs_removed(survey) if edits else ()), *indexes_removed(survey, moved))


def relied_on(survey: Survey, edits: Iterable[Edit]) -> tuple[Expected, ...]:
    """The files that a state is made of, or that Kafka acts on, and that no edit names."""
    edited = {edit.target for edit in edits}
    kinds = (PlanFileKind.SEGMENT, PlanFileKind.SNAPSHOT, PlanFileKind.META_PROPERTIES)
    return tuple(
        Expected(target=file.target, fingerprint=file.fingerprint)
        for file in survey.files
        if file.target not in edited
        and (
            file.target.kind in kinds
            or (file.target.kind is PlanFileKind.OTHER and is_acted_on(file.target.name))
        )
    )
