"""Indexes against their segments and against each other, by their sizes and last entries.

Owns the checks that read no batch: entries beyond the end of the segment, zeros, and a shortened
index. `verify/log_indexes.py` compares each entry with the batches. Kafka starts with all of this,
because it recreates every index of the metadata log when it starts.
"""

from __future__ import annotations

from collections.abc import Iterator

from kraftool.decoders.indexes import OFFSET_ENTRY_SIZE, TIME_ENTRY_SIZE, OffsetPosition
from kraftool.decoders.kinds import FileKind
from kraftool.decoders.names import parse_segment_name
from kraftool.directory.directory_summary import base_offset
from kraftool.directory.file_report import EntryList, FileReport
from kraftool.directory.node_directory import NodeDirectory
from kraftool.reports.files.file_findings import file_findings
from kraftool.reports.files.severity_in_context import left_by_truncation
from kraftool.reports.findings.finding import Finding, Severity
from kraftool.reports.findings.kinds import log as log_kinds

_ENTRY_SIZES = {FileKind.OFFSET_INDEX: OFFSET_ENTRY_SIZE, FileKind.TIME_INDEX: TIME_ENTRY_SIZE}
_PREALLOCATED = 10 << 20
"""Bytes of an index that is written to, rounded down to whole entries. It is no setting of the
metadata log."""
_MORE_TIMES = 2
"""Kafka writes a time with an entry of the offset index at the most, another one when it closes the
segment; and a truncation may take an offset and leave its time."""
_REBUILT = "nothing to do: Kafka recreates the index when it starts"


def index_findings(case: NodeDirectory) -> Iterator[Finding]:
    """Yield what is odd about the indexes of a directory in which no Kafka runs."""
    if case.is_running:
        return
    files = [file for file in case.files if file.file not in case.cut]
    segments = {
        base_offset(report): report
        for report in files
        if report.kind is FileKind.LOG and report.is_live
    }
    counts: dict[int, dict[FileKind, FileReport]] = {}
    for file in files:
        name = parse_segment_name(file.basename)
        content = file.content
        if file.kind not in _ENTRY_SIZES or not file.is_live or name is None or file_findings(file):
            continue
        segment = segments.get(name.base_offset)
        if segment is None or segment.log is None or not isinstance(content, EntryList):
            continue
        counts.setdefault(name.base_offset, {})[file.kind] = file
        yield from _zeros(file, content, segment)
        is_active = name.base_offset == max(segments)
        yield from _beyond(file, content, segment, is_active=is_active)
    for pair in counts.values():
        yield from _short(pair)


def _zeros(file: FileReport, entries: EntryList, segment: FileReport) -> Iterator[Finding]:
    """Zeros at the end of a file that does not have the size of a preallocated one."""
    size = _ENTRY_SIZES[file.kind]
    if not entries.preallocated_size or file.size == _PREALLOCATED // size * size:
        return
    if segment.log is None or not segment.log.batches:
        return
    if entries.entries:
        yield log_kinds.INDEX_DIFFERS.at(
            file.file,
            "zeros follow the entries, and the file does not have the size of a preallocated one",
            position=entries.entries * size,
            found=f"{entries.preallocated_size} bytes of zeros",
            severity=Severity.INFO,
            advice=_REBUILT,
        )
    else:
        yield log_kinds.INDEX.at(
            file.file,
            "all bytes are zero, and the file does not have the size of a preallocated one",
            position=0,
            expected=f"entries, or {_PREALLOCATED // size * size} bytes",
            found=f"{entries.preallocated_size} bytes of zeros",
        )


def _beyond(
    file: FileReport, entries: EntryList, segment: FileReport, *, is_active: bool
) -> Iterator[Finding]:
    last = entries.last
    if not isinstance(last, OffsetPosition) or last.position < segment.size:
        return
    finding = log_kinds.INDEX_DIFFERS.at(
        file.file,
        "the last entry points beyond the end of the segment",
        offset=last.offset,
        expected=f"a position below {segment.size}",
        found=str(last.position),
    )
    if is_active:
        finding = left_by_truncation(finding, segment.log, roomy=entries.preallocated_size > 0)
    yield finding


def _short(pair: dict[FileKind, FileReport]) -> Iterator[Finding]:
    """An offset index that has fewer entries than the times that Kafka wrote with them."""
    index, times = pair.get(FileKind.OFFSET_INDEX), pair.get(FileKind.TIME_INDEX)
    if index is None or times is None:
        return
    offsets, moments = index.content, times.content
    if not isinstance(offsets, EntryList) or not isinstance(moments, EntryList):
        return
    least = moments.entries - _MORE_TIMES
    if offsets.entries < least and not offsets.preallocated_size:
        yield log_kinds.INDEX_DIFFERS.at(
            index.file,
            f"entries are missing at its end: the time index has {moments.entries}",
            position=offsets.entries * OFFSET_ENTRY_SIZE,
            expected=f"{least} entries or more",
            found=str(offsets.entries),
            severity=Severity.INFO,
            advice=_REBUILT,
        )
