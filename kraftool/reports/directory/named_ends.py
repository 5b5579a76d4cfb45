"""Files that name offsets beyond the end of a log that is whole: the log lost its end, or is gone.

Kafka creates the files of a segment together, and notes where an epoch starts before it writes the
first batch. At start it deletes what is beyond the end of the log. So a directory shows the loss
only until Kafka starts on it. This module does not say which records were lost: only other nodes
show that.

quorum-state alone is no trace of a log: an operator or a plan may have written it. A plan that
removes a log removes these traces too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kraftool.decoders.checkpoint_files import LEADER_EPOCH_CHECKPOINT
from kraftool.decoders.kinds import FileKind
from kraftool.decoders.names import parse_segment_name
from kraftool.directory.directory_summary import base_offset
from kraftool.directory.file_report import FileReport
from kraftool.directory.log_summary import LogSummary
from kraftool.directory.node_directory import NodeDirectory
from kraftool.reports.findings.finding import Finding
from kraftool.reports.findings.kinds import log as log_kinds

_INDEXES = frozenset({FileKind.OFFSET_INDEX, FileKind.TIME_INDEX, FileKind.TXN_INDEX})
_OF_SEGMENTS = _INDEXES | {FileKind.PRODUCER_STATE}


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
            file.file, f"the log ends at {end}, but {words} {offset}", offset=offset
        )


def trace_of_log(case: NodeDirectory) -> str:
    """Return which file shows that a directory without a .log file had one; empty if none does."""
    if any(case.all_of(FileKind.LOG)) or case.is_log_unread or case.is_unlisted or case.cut:
        return ""
    if case.epoch_checkpoint:
        epoch, offset = case.epoch_checkpoint[-1]
        return f"{LEADER_EPOCH_CHECKPOINT} has epoch {epoch} from offset {offset} on"
    files = (file for file in case.files if file.is_live and file.kind in _OF_SEGMENTS)
    names = sorted(file.basename for file in files if parse_segment_name(file.basename) is not None)
    return f"{names[-1]} belongs to a segment" if names else ""


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
        if name is None or not file.is_live or file.kind not in _INDEXES:
            continue
        if name.base_offset >= end and name.base_offset not in with_log:
            yield name.base_offset, file, "there is an index of a segment that begins at"
