"""The places at which Kafka's next start cuts a directory's log, segment by segment.

Owns which segments Kafka recovers by themselves. It refuses to say what is lost with a cut; that is
`log_loss.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from kraftool.reports.files.directory_summary import base_offset
from kraftool.reports.files.file_report import FileReport
from kraftool.reports.files.log_loss import hole, loss_of
from kraftool.reports.files.metadata_summary import MetadataSummary


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
            return hole(cut, base_offset(after))
    for segment in segments:
        cut = _cut(segment)
        if cut is not None and (segment is segments[-1] or _has_indexes(files, segment)):
            return loss_of(summary, cut)
    return loss_of(summary, None)


def _cut(segment: FileReport) -> int | None:
    """Return where Kafka cuts a segment; None if all of its bytes are batches."""
    log = segment.log
    if log is None or not log.walked.is_cut:
        return None
    return log.intact_end_offset if log.intact_end_offset is not None else base_offset(segment)


def _has_indexes(files: Sequence[FileReport], segment: FileReport) -> bool:
    """True if Kafka takes a segment's indexes: it recovers a segment without them by itself."""
    stem = segment.name.removesuffix(".log")
    names = (f"{stem}.index", f"{stem}.timeindex")
    indexes = {file.name: file for file in files if file.is_live and file.name in names}
    return f"{stem}.index" in indexes and not any(file.errors for file in indexes.values())
