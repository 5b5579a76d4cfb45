"""A damaged log that is whole behind its newest snapshot, planned with as the state of both.

Kafka cuts such a log at the damage, and wipes what is left, since the snapshot is beyond it. Owns
the files as they are from the snapshot on, and the state that they lead to. It refuses to say what
the log is made of: a plan that keeps the log itself is `cases/log_damage.py`'s.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import replace

from kraftool.decoders.names import write_segment_name
from kraftool.repair.flipped_bit import with_content
from kraftool.repair.plan import Fingerprint, Piece, RestoredFile
from kraftool.repair.plan_file import PlanFile, PlanFileKind
from kraftool.repair.quorum_assessment import QuorumAssessment, with_surveys
from kraftool.repair.ranking import Host
from kraftool.repair.restored_file import pieced_opener
from kraftool.repair.survey import Survey, SurveyedLog
from kraftool.reports.logs.source import LogFile
from kraftool.reports.state.files import StateFiles

CASE = "rest-kept"
_NOTHING = Fingerprint(size=0, sha256=hashlib.sha256().hexdigest())


def from_snapshot_on(survey: Survey, log: SurveyedLog) -> tuple[RestoredFile, ...]:
    """The segments that have other bytes if the log begins at its newest snapshot."""
    first = log.rest[0]
    return tuple(_segments(survey, log, first.segment))


def _segments(survey: Survey, log: SurveyedLog, first: int) -> Iterator[RestoredFile]:
    begin = log.rest[0]
    for base in log.segments:
        name = write_segment_name(base, ".log")
        target = PlanFile(kind=PlanFileKind.SEGMENT, name=name)
        file = survey.file(target)
        if base > first or file is None:
            continue
        own = Piece(file=target, start=begin.start, end=begin.end)
        yield RestoredFile(
            target=target,
            before=file.fingerprint,
            after=begin.fingerprint if base == first else _NOTHING,
            pieces=(own,) if base == first else (),
            runs=(),
        )


def files_from_snapshot_on(files: StateFiles, survey: Survey, log: SurveyedLog) -> StateFiles:
    """The files of a directory, of which the log begins at its newest snapshot."""
    entries = {segment.entry.basename: segment.entry for segment in files.segments}
    openers = {
        restored_file.target.name: pieced_opener(
            restored_file, lambda piece: entries[_name(piece)].open()
        )
        for restored_file in from_snapshot_on(survey, log)
    }

    def changed(file: LogFile) -> LogFile:
        return replace(file, entry=with_content(file.entry, openers))

    return replace(files, segments=tuple(map(changed, files.segments)))


def _name(piece: Piece) -> str:
    assert piece.file is not None, "a piece of a segment"
    return piece.file.name


def with_whole_rests(standing: QuorumAssessment) -> QuorumAssessment:
    """The quorum with the logs up to where a state can be made of them.

    They stay damaged: a voter leads with a checkpoint of the state, and not with such a log.
    """
    made: dict[str, Survey] = {}
    for host in standing.hosts:
        survey = host.survey
        log, state = survey.log, survey.rest_state
        if log is None or state is None or not (state.whole and state.records_sha256):
            continue
        if survey.flipped or survey.restored_files:
            continue  # the files are not those of the disk any more
        end = replace(
            log,
            end_offset=state.end_offset,
            intact_end=state.end_offset,
            last_epoch=state.last_epoch,
        )
        files = from_snapshot_on(survey, log)
        made[host.name] = replace(survey, log=end, state=state, restored_files=files)
    return with_surveys(standing, made) if made else standing


def described(host: Host) -> str:
    """Return what the plan makes of a damaged log."""
    log, state = host.survey.log, host.survey.rest_state
    assert log is not None, "a log has a rest"
    assert log.broken is not None, "a log with a rest is damaged"
    assert state is not None, "a rest that is used leads to a state"
    newest = host.survey.whole_snapshots[-1]
    return (
        f"{host.name}: its log is damaged from offset {log.broken.offset} on"
        f" ({log.broken.reason}). The snapshot at {newest.offset} is beyond it, and the log is"
        f" whole from there on. The plan uses the state of both, at offset {state.end_offset}"
    )
