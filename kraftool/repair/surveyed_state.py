"""The part of a survey that needs a replay: the state, and records that do not fit it."""

from __future__ import annotations

from dataclasses import replace

from kraftool.decoders.errors import KraftoolError
from kraftool.raft.names import OffsetAndEpoch
from kraftool.repair.log_survey import LogSurvey
from kraftool.repair.state_records import digest_of, records_of
from kraftool.repair.survey import (
    Misfit,
    Slice,
    Survey,
    SurveyedLog,
    SurveyedState,
)
from kraftool.reports.findings.kinds import log as log_kinds
from kraftool.reports.state.load import LoadedState

_MOST_MISFITS = 8


def why_no_end(loaded: LoadedState, offset: int) -> str:
    """Why no log can end at an offset: what is before it is part of something that is whole or
    nothing. Empty where one can."""
    opened, batch = loaded.open_transaction, loaded.divided_batch
    if opened is not None:
        return (
            f"offset {offset} is inside the metadata transaction that begins at offset"
            f" {opened.offset}, which cannot be split: a log can end at {opened.offset}, or"
            " where the transaction has ended"
        )
    if batch is not None:
        first, last = batch
        return (
            f"offset {offset} is inside a batch, of the offsets {first} to {last}, which"
            f" cannot be split: a log can end at {first} or at {last + 1}"
        )
    return ""


def epoch_before(log: SurveyedLog, offset: int) -> int:
    """The epoch of the last record below an offset."""
    return max((epoch.epoch for epoch in log.epochs if epoch.start_offset < offset), default=-1)


def with_replay(
    survey: Survey, log: SurveyedLog, loaded: LoadedState, read: LogSurvey
) -> SurveyedLog:
    """Return what the replay found out about the log."""
    opened = loaded.open_transaction
    findings = [
        finding
        for finding in loaded.findings
        if finding.code == log_kinds.REPLAY.code and finding.offset is not None
    ]
    misfits: list[Misfit] = []
    for finding in findings[:_MOST_MISFITS] if loaded.has_its_beginning else ():
        misfit = read.misfit(finding.offset or 0, finding.text)
        if misfit is not None and all(one.base_offset != misfit.base_offset for one in misfits):
            misfits.append(misfit)
    rest: tuple[Slice, ...] = ()
    whole = survey.whole_snapshots
    if log.broken is not None and not log.broken.torn and whole:
        newest = whole[-1]
        if log.intact_end <= newest.offset <= log.broken.end_offset:
            rest = read.rest_from(newest.offset, newest.epoch)
    return replace(
        log,
        open_transaction=opened.offset if opened is not None else None,
        misfits=tuple(misfits),
        rest=rest,
    )


def replayed_state(loaded: LoadedState, end: OffsetAndEpoch) -> SurveyedState:
    """The state to which a replay came, by its size and its hash."""
    image = loaded.image
    complaint, records, digest = "", 0, ""
    try:
        records_digest = digest_of(records_of(image))
        records, digest = records_digest.count, records_digest.sha256
    except KraftoolError as error:
        complaint = error.message
    return SurveyedState(
        end_offset=end.offset,
        last_epoch=end.epoch,
        last_timestamp_ms=image.provenance.last_timestamp,
        records=records,
        records_sha256=digest,
        whole=loaded.has_its_beginning,
        complaint=complaint,
        metadata_version=image.features.metadata_version,
        topics=len(image.topics.by_id),
        brokers=tuple(sorted(image.cluster.brokers)),
        controllers=tuple(sorted(image.cluster.controllers)),
    )
