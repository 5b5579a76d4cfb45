"""Files that name offsets beyond the end of a log that is whole: the log lost its end.

Kafka creates the files of a segment together, and notes where an epoch starts before it writes the
first batch. At start it deletes what is beyond the end of the log. So a directory shows the loss
only until Kafka starts on it. This module does not say which records were lost: only other nodes
show that.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kraftool.decoders.kinds import FileKind
from kraftool.decoders.names import parse_segment_name
from kraftool.directory.directory_summary import base_offset
from kraftool.directory.file_report import FileReport
from kraftool.directory.log_summary import LogSummary
from kraftool.directory.node_directory import NodeDirectory
from kraftool.reports.findings.finding import Finding
from kraftool.reports.findings.kinds import log as log_kinds

_OF_SEGMENTS = frozenset({FileKind.OFFSET_INDEX, FileKind.TIME_INDEX, FileKind.TXN_INDEX})


def named_ends(case: NodeDirectory) -> Iterator[Finding]:
    """Yield a finding for the file that names the highest offset beyond the end of the log."""
    log, segments = case.summary.log, list(case.all_of(FileKind.LOG))
    if log is None or case.is_running or case.cut:
        return
    end = log.end
    if not all(file.log is not None and _is_whole(file.log) for file in segments):
        return  # a damaged or unread segment has a finding of its own
    named = [
        *_epochs(case, end),
        *_without_log(case.files, {base_offset(file) for file in segments}, end),
    ]
    if named:
        offset, file, words = max(named, key=lambda item: item[0])
        yield log_kinds.END_LOST.at(
            file.name, f"the log ends at {end}, but {words} {offset}", offset=offset
        )


def _is_whole(log: LogSummary) -> bool:
    """True if no fault hides the end. A whole segment may have findings: verify-log adds some."""
    return log.is_metadata and log.is_whole


_Named = tuple[int, FileReport, str]


def _epochs(case: NodeDirectory, end: int) -> Iterator[_Named]:
    file = case.one(FileKind.LEADER_EPOCH_CHECKPOINT)
    for entry in case.epoch_checkpoint:
        if file is not None and entry.start_offset > end:
            yield entry.start_offset, file, f"epoch {entry.epoch} begins at"


def _without_log(
    files: Sequence[FileReport], with_log: set[int | None], end: int
) -> Iterator[_Named]:
    for file in files:
        name = parse_segment_name(file.basename)
        if name is None or not file.is_live or file.kind not in _OF_SEGMENTS:
            continue
        if name.base_offset >= end and name.base_offset not in with_log:
            yield name.base_offset, file, "there is an index of a segment that begins at"
