"""The places at which Kafka's next start cuts a directory's log, and what is lost with that.

Owns which segments Kafka recovers by themselves. Where the index of a damaged segment is missing or
damaged, Kafka cuts that segment alone, before it recovers the log, and keeps the segments behind
it.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from kraftool.directory.directory_summary import base_offset
from kraftool.directory.file_report import FileReport
from kraftool.directory.metadata_summary import MetadataSummary
from kraftool.reports.files.log_findings import KEEP_COPY, USE_INTACT, loss, offsets


def lost_by(
    file: FileReport,
    segments: Sequence[FileReport],
    files: Sequence[FileReport],
    summary: MetadataSummary,
) -> str | None:
    """Return what Kafka's start takes away of the log because of damage in a segment."""
    for segment, after in pairwise(segments):
        cut = _cut(segment)
        if cut is None or _has_indexes(files, segment):
            continue
        if file is segment:
            return _hole(cut, base_offset(after))
    for segment in segments:
        cut = _cut(segment)
        if cut is not None and (segment is segments[-1] or _has_indexes(files, segment)):
            return _loss_of(summary, cut)
    return _loss_of(summary, None)


def _cut(segment: FileReport) -> int | None:
    """Return where Kafka cuts a segment; None if all of its bytes are batches."""
    log = segment.log
    if log is None or not log.walked.is_cut:
        return None
    return log.intact_end_offset if log.intact_end_offset is not None else base_offset(segment)


def _has_indexes(files: Sequence[FileReport], segment: FileReport) -> bool:
    """True if Kafka takes a segment's indexes: it recovers a segment without them by itself."""
    stem = segment.file.removesuffix(".log")
    names = (f"{stem}.index", f"{stem}.timeindex")
    indexes = {file.file: file for file in files if file.is_live and file.file in names}
    return f"{stem}.index" in indexes and not any(file.errors for file in indexes.values())


def _loss_of(summary: MetadataSummary, cut: int | None) -> str | None:
    """Return what is lost of a directory's log that Kafka cuts at an offset."""
    log, loaded = summary.log, summary.loaded_snapshot
    if log is None:
        return None
    return loss(
        cut,
        log.end,
        loaded.offset if loaded is not None else 0,
        intact=loaded is None or loaded.intact,
    )


def _hole(cut: int, resumes: int) -> str:
    """Return what is lost where Kafka cuts one segment alone, and the next one begins at
    `resumes`.
    """
    return (
        f"{KEEP_COPY}the index of this segment is missing or damaged, so Kafka cuts only this"
        f" segment, at offset {cut}, and keeps the later ones. {offsets(resumes - cut)} are"
        " then missing in the middle of the log, and a controller may stop at a record after"
        f" them{USE_INTACT}"
    )
